"""Distances between the distinct texts of two files, each pair of texts compared once.

Edit distances are normalized to 0 (equal) to 1 (nothing in common) by rapidfuzz. A small table of
all distinct pairs is kept; larger ones are made for the block that is asked for. One comparison
of short texts costs some 0.1 µs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

TEXT_MEASURES = ("levenshtein", "transposition", "jaro-winkler")
"""Insert, delete, replace; the same and swaps of neighbours; likeness with weight on beginnings."""

# Up to 16 MB are kept per variable.
_KEPT_CELLS = 2**21
# Levels take a byte: up to 16 MB are kept.
_KEPT_LEVELS = 2**24
_SAMPLED_PAIRS = 100_000


class TextDistances:
    """The distances between two lists of distinct texts; code k stands for text k - 1.

    Examples
    --------
    >>> texts = TextDistances(["anna", "bert"], ["anne"], "levenshtein")
    >>> texts.of_codes(np.array([1, 2]), np.array([1, 1])).tolist()
    [0.25, 1.0]
    """

    def __init__(self, texts_a: Sequence[str], texts_b: Sequence[str], measure: str) -> None:
        self._a = list(texts_a)
        self._b = list(texts_b)
        self._measure = measure
        self._keeps_levels = True
        self._levels: dict[tuple[float, ...], NDArray[np.int8]] = {}
        self._means: dict[tuple[int, ...], float] = {}

    def own(self, side: int) -> TextDistances:
        """Return the distances within the first (0) or the second (1) list."""
        texts = self._b if side else self._a
        found = TextDistances(texts, texts, self._measure)
        # Of a file with itself some records are compared: a table of all texts would not pay.
        found._keeps_levels = False
        return found

    @property
    def n_cells(self) -> int:
        """The number of pairs of distinct texts."""
        return len(self._a) * len(self._b)

    @property
    def is_kept(self) -> bool:
        """Whether the table of all pairs is small enough to be kept."""
        return self.n_cells <= _KEPT_CELLS

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """The distances of all pairs of distinct texts."""
        return self._cross(self._a, self._b)

    def table_of(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the distances of all pairs of the given codes, none of them 0."""
        return self._cross(*self._texts_of(a, b))

    def levels(self, limits: NDArray[np.float64]) -> NDArray[np.int8] | None:
        """Return how many of the rising limits each pair of texts is above; None if that is large."""
        key = tuple(limits.tolist())
        if not self._keeps_levels or self.n_cells > _KEPT_LEVELS:
            return None
        if key not in self._levels:
            self._levels[key] = self._above(self._a, self._b, limits)
        return self._levels[key]

    def levels_of(
        self, a: NDArray[np.integer], b: NDArray[np.integer], limits: NDArray[np.float64]
    ) -> NDArray[np.int8]:
        """Return how many of the limits all pairs of the given codes, none of them 0, are above."""
        return self._above(*self._texts_of(a, b), limits)

    def _texts_of(
        self, a: NDArray[np.integer], b: NDArray[np.integer]
    ) -> tuple[list[str], list[str]]:
        return [self._a[code - 1] for code in a.tolist()], [
            self._b[code - 1] for code in b.tolist()
        ]

    def _above(
        self, left: list[str], right: list[str], limits: NDArray[np.float64]
    ) -> NDArray[np.int8]:
        from gamekeeper.algorithms.linkage.distance_kernels import levels_of_distances

        # Beyond the last limit it does not matter how far: comparing stops early.
        return levels_of_distances(self._cross(left, right, most=float(limits[-1])), limits)

    def of_codes(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the distance of each listed pair of codes, none of them 0."""
        if self.is_kept and (len(a) >= self.n_cells or "table" in self.__dict__):
            return self.table[a - 1, b - 1]
        from rapidfuzz import process

        width = len(self._b) + 1
        pairs, place = np.unique(a.astype(np.int64) * width + b, return_inverse=True)
        found: NDArray[np.float64] = process.cpdist(
            *self._texts_of(*np.divmod(pairs, width)),
            scorer=self._scorer(),
            dtype=np.float64,
        )
        return found[place]

    def mean_of(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> float:
        """Return the mean distance of 100,000 pairs of the given codes, none of them 0.

        They are drawn with a fixed seed. The mean is kept: it is asked for several times.
        """
        key = len(a), len(b), crc32(a.tobytes()), crc32(b.tobytes())
        if key not in self._means:
            rng = np.random.default_rng(0)
            drawn = rng.choice(a, _SAMPLED_PAIRS), rng.choice(b, _SAMPLED_PAIRS)
            self._means[key] = float(self.of_codes(*drawn).mean(dtype=np.float64))
        return self._means[key]

    def _cross(
        self, left: list[str], right: list[str], most: float | None = None
    ) -> NDArray[np.float64]:
        from rapidfuzz import process

        return process.cdist(
            left,
            right,
            scorer=self._scorer(),
            score_cutoff=most,
            dtype=np.float64,
        )

    def _scorer(self) -> Callable[..., Any]:
        from rapidfuzz.distance import OSA, JaroWinkler, Levenshtein

        measures: dict[str, Any] = dict(
            zip(TEXT_MEASURES, (Levenshtein, OSA, JaroWinkler), strict=True)
        )
        return measures[self._measure].normalized_distance

    def __repr__(self) -> str:
        return f"TextDistances({len(self._a)} x {len(self._b)} texts, {self._measure})"
