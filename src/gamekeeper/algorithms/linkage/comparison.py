"""One variable of two files, and how far apart two records are in it.

Numbers are float64 with NaN for missing, codes are int32 with 0 for missing. Distances are made for
a block of all pairs or for listed pairs; they are added to what is there, so that a sum over
variables needs one matrix. A pair costs a few operations.

Texts are compared once per pair of distinct texts, by edit distances that rapidfuzz normalizes to 0
(equal) to 1 (nothing in common). A small table of all distinct pairs is kept; larger ones are made
for the block that is asked for. One comparison of short texts costs some 0.1 µs.

Means over all pairs are found without making the pairs: absolute and relative distances by sorting
and running sums, squared ones by moments, codes by counts. O((n + m) log m) time, linear memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Reason

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


def mean_absolute(a: Floats, b: Floats) -> float:
    """Return the mean of |x - y| over all pairs.

    Examples
    --------
    >>> mean_absolute(np.array([0.0, 4.0]), np.array([1.0, 2.0]))
    2.0
    """
    centre = float(b.mean())
    x, y = a - centre, np.sort(b - centre)
    below = np.searchsorted(y, x)
    sums = np.concatenate(([0.0], np.cumsum(y)))
    total = x * (2 * below - len(y)) + sums[-1] - 2 * sums[below]
    return max(float(total.sum()) / (len(x) * len(y)), 0.0)


def mean_squared(a: Floats, b: Floats) -> float:
    """Return the mean of (x - y)^2 over all pairs.

    Examples
    --------
    >>> mean_squared(np.array([0.0, 4.0]), np.array([1.0, 2.0]))
    4.5
    """
    return float(a.var() + b.var() + (a.mean() - b.mean()) ** 2)


def mean_relative(a: Floats, b: Floats) -> float:
    """Return the mean of |x - y| / max(|x|, |y|) over all pairs, 0 where both are 0.

    With the ratio m of the smaller to the larger magnitude it is 1 - m for equal signs and 1 + m
    for opposite ones.

    Examples
    --------
    >>> mean_relative(np.array([1.0, 4.0]), np.array([2.0]))
    0.5
    """
    total = float(len(a) * len(b)) - np.count_nonzero(a == 0) * np.count_nonzero(b == 0)
    for sign in (1, -1):
        magnitudes = sign * a[sign * a > 0]
        total -= _sum_of_ratios(magnitudes, sign * b[sign * b > 0])
        total += _sum_of_ratios(magnitudes, -sign * b[sign * b < 0])
    return max(float(total) / (len(a) * len(b)), 0.0)


def mean_different(a: NDArray[np.integer], b: NDArray[np.integer]) -> float:
    """Return the share of all pairs of codes that differ.

    Examples
    --------
    >>> mean_different(np.array([1, 2]), np.array([2, 2]))
    0.5
    """
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    equal = np.bincount(a, minlength=size) @ np.bincount(b, minlength=size)
    return 1.0 - float(equal) / (len(a) * len(b))


def _sum_of_ratios(x: Floats, y: Floats) -> float:
    """Return the sum of min / max over all pairs of positive numbers."""
    if not len(x) or not len(y):
        return 0.0
    ordered = np.sort(y)
    below = np.searchsorted(ordered, x)
    sums = np.concatenate(([0.0], np.cumsum(ordered)))
    inverses = np.concatenate((np.cumsum(1 / ordered[::-1])[::-1], [0.0]))
    return float((sums[below] / x + x * inverses[below]).sum())


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
        from gamekeeper.algorithms.linkage.kernels import levels_of_distances

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
            *self._texts_of(*np.divmod(pairs, width)), scorer=self._scorer(), dtype=np.float64
        )
        return found[place]

    def mean_of(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> float:
        """Return the mean distance, kept, of 100,000 pairs of codes other than 0, by a fixed seed."""
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
            left, right, scorer=self._scorer(), score_cutoff=most, dtype=np.float64
        )

    def _scorer(self) -> Callable[..., Any]:
        from rapidfuzz.distance import OSA, JaroWinkler, Levenshtein

        measures: dict[str, Any] = dict(
            zip(TEXT_MEASURES, (Levenshtein, OSA, JaroWinkler), strict=True)
        )
        return measures[self._measure].normalized_distance

    def __repr__(self) -> str:
        return f"TextDistances({len(self._a)} x {len(self._b)} texts, {self._measure})"


Selection: TypeAlias = slice | NDArray[np.integer]
"""Some records of a file."""

_EVERYTHING: Final = slice(None)
# A mean over texts is exact up to this many pairs of distinct texts, and estimated beyond.
_EXACT_TEXT_PAIRS = 1_000_000


@dataclass(frozen=True, eq=False)
class Comparison:
    """One variable of two files and the distance of their records in it.

    `measure` says how two values are compared, `factor` what a difference of numbers is multiplied
    by. The values `a` and `b` are numbers with NaN, or codes with 0, for missing;
    `missing_distance` is the distance where one of two is. `table` has the distances of codes of
    the two files, `own_tables` of codes within each. `notes` are what a reader should know, such as
    that the variable is constant.
    """

    name: str
    measure: str
    a: NDArray[Any] = field(repr=False)
    b: NDArray[Any] = field(repr=False)
    factor: float = field(default=1.0, repr=False)
    missing_distance: float = field(default=0.0, repr=False)
    table: NDArray[np.float64] | None = field(default=None, repr=False)
    texts: TextDistances | None = field(default=None, repr=False)
    own_tables: tuple[NDArray[np.float64], NDArray[np.float64]] | None = field(
        default=None, repr=False
    )
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return len(self.a), len(self.b)

    @property
    def n_missing(self) -> tuple[int, int]:
        """The numbers of missing values in the two files."""
        return len(self.a) - len(observed(self.a)), len(self.b) - len(observed(self.b))

    def with_missing(self, distance: float) -> Comparison:
        """Return the same comparison with another distance where a value is missing."""
        return replace(self, missing_distance=distance)

    def own(self, side: int) -> Comparison:
        """Return the comparison of the first (0) or second (1) file with itself.

        Examples
        --------
        >>> a, b = np.array([1.0, 2.0]), np.array([2.0, 4.0])
        >>> Comparison("Age", "absolute", a, b).own(1).matrix().tolist()
        [[0.0, 2.0], [2.0, 0.0]]
        """
        values = self.b if side else self.a
        table = self.table if self.own_tables is None else self.own_tables[side]
        texts = None if self.texts is None else self.texts.own(side)
        return replace(self, a=values, b=values, table=table, texts=texts)

    def of_rows(self, rows: NDArray[np.integer]) -> Comparison:
        """Return the comparison of some records of the first file with all of the second."""
        return replace(self, a=self.a[rows])

    def matrix(self, rows: Selection = _EVERYTHING) -> Floats:
        """Return the distances of some records of the first file and all of the second.

        Examples
        --------
        >>> a, b = np.array([1.0, 2.0]), np.array([2.0, 4.0])
        >>> Comparison("Age", "absolute", a, b).matrix().tolist()
        [[1.0, 3.0], [0.0, 2.0]]
        """
        out = np.zeros((len(self.a[rows]), len(self.b)))
        self.add_matrix(out, 1.0, rows)
        return out

    def pairs(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Return the distance of each listed pair of records.

        Examples
        --------
        >>> a, b = np.array([1, 2, 0]), np.array([2, 2])
        >>> sex = Comparison("Sex", "different", a, b, missing_distance=0.25)
        >>> sex.pairs([0, 1, 2], [0, 1, 0]).tolist()
        [1.0, 0.0, 0.25]
        """
        i, j = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        out = np.zeros(len(i))
        self.add_pairs(out, 1.0, i, j)
        return out

    def add_matrix(self, out: Floats, weight: float, rows: Selection = _EVERYTHING) -> None:
        """Add the distances of a block times a weight to `out`; impossible stays impossible."""
        from gamekeeper.algorithms.linkage import kernels

        a, b = self.a[rows], self.b
        missing = _times(weight, self.missing_distance)
        if self.measure == "different":
            kernels.add_codes_matrix(out, a, b, weight, missing)
        elif self.texts is not None and not self.texts.is_kept:
            codes_a, a = _renumbered(a)
            codes_b, b = _renumbered(b)
            table = self.texts.table_of(codes_a, codes_b)
            kernels.add_table_matrix(out, a, b, table, weight, missing)
        elif self.texts is not None or self.table is not None:
            kernels.add_table_matrix(out, a, b, self._table(), weight, missing)
        else:
            number = _kernel_measure(self.measure)
            kernels.add_numbers_matrix(out, a, b, number, weight * self.factor, missing)

    def add_pairs(
        self, out: Floats, weight: float, rows: NDArray[np.integer], columns: NDArray[np.integer]
    ) -> None:
        """Add the distances of listed pairs times a weight to `out`."""
        from gamekeeper.algorithms.linkage import kernels

        missing = _times(weight, self.missing_distance)
        if self.measure == "different":
            kernels.add_codes_pairs(out, self.a, self.b, rows, columns, weight, missing)
        elif self.texts is not None:
            x, y = self.a[rows], self.b[columns]
            known = (x != 0) & (y != 0)
            out[~known] += missing
            out[known] += weight * self.texts.of_codes(x[known], y[known])
        elif self.table is not None:
            kernels.add_table_pairs(out, self.a, self.b, rows, columns, self.table, weight, missing)
        else:
            number = _kernel_measure(self.measure)
            factor = weight * self.factor
            kernels.add_numbers_pairs(out, self.a, self.b, rows, columns, number, factor, missing)

    def add_levels(
        self, out: Floats, limits: Floats, weights: Floats, rows: Selection = _EVERYTHING
    ) -> None:
        """Add the weight of the level of each pair of some records of the first file and all others.

        The level is how many of the rising limits the distance is above. A missing value adds
        nothing; an impossible pair stays impossible.

        Examples
        --------
        >>> age = Comparison("Age", "absolute", np.array([30.0]), np.array([30.0, 32.0, math.nan]))
        >>> out = np.zeros((1, 3))
        >>> age.add_levels(out, np.array([0.0]), np.array([4.0, -2.0]))
        >>> out.tolist()
        [[4.0, -2.0, 0.0]]
        """
        from gamekeeper.algorithms.linkage import kernels

        a, b = self.a[rows], self.b
        if self.measure == "different":
            same, other = (weights[int(np.searchsorted(limits, d))] for d in (0.0, 1.0))
            kernels.add_code_weights(out, a, b, same, other)
        elif self.texts is not None:
            levels = self.texts.levels(limits)
            if levels is None:
                codes_a, a = _renumbered(a)
                codes_b, b = _renumbered(b)
                levels = self.texts.levels_of(codes_a, codes_b, limits)
            kernels.add_level_matrix(out, a, b, levels, weights)
        elif self.table is not None:
            levels = kernels.levels_of_distances(self.table, limits)
            levels[np.isinf(self.table)] = len(weights)
            kernels.add_level_matrix(out, a, b, levels, np.append(weights, np.inf))
        else:
            number, order = _kernel_measure(self.measure), self._rising
            kernels.add_number_levels(out, a, b[order], order, number, self.factor, limits, weights)

    def mean_distance(self) -> float:
        """Return the mean distance over all pairs of observed values that are possible.

        Nearly all pairs of records belong to different people, so this is the distance to expect
        where two records have nothing to do with each other. It is exact, except for texts with
        very many distinct pairs, where it is the mean of 100,000 pairs drawn with a fixed seed.
        NaN where there is no such pair.
        """
        # Sorted, so that neither sums nor what is drawn hang on the order of records.
        a, b = np.sort(observed(self.a)), np.sort(observed(self.b))
        if not len(a) or not len(b):
            return math.nan
        if self.measure == "different":
            return mean_different(a, b)
        if self.texts is not None and self.texts.n_cells > _EXACT_TEXT_PAIRS:
            return self.texts.mean_of(a, b)
        if self.texts is not None or self.table is not None:
            table = self._table()
            weights = np.outer(
                np.bincount(a - 1, minlength=table.shape[0]),
                np.bincount(b - 1, minlength=table.shape[1]),
            ).astype(np.float64)
            possible = np.isfinite(table)
            weights[~possible] = 0
            if not weights.any():
                return math.nan
            return float(np.average(np.where(possible, table, 0), weights=weights))
        means = {"squared": mean_squared, "relative": mean_relative}
        return self.factor * means.get(self.measure, mean_absolute)(a, b)

    def largest_distance(self) -> float:
        """Return the largest distance that observed values allow; NaN where none are observed.

        For numbers it is the largest of any pair of records, for relative distances 1, or 2 where
        signs differ, for texts 1.
        """
        a, b = observed(self.a), observed(self.b)
        if not len(a) or not len(b):
            return math.nan
        if self.measure == "different" or self.texts is not None:
            return 1.0
        if self.table is not None:
            return float(self.table[np.isfinite(self.table)].max(initial=0.0))
        lowest, highest = min(a.min(), b.min()), max(a.max(), b.max())
        if self.measure == "relative":
            return 2.0 if lowest < 0 < highest else 1.0
        range_ = float(max(a.max() - b.min(), b.max() - a.min()))
        return self.factor * (range_**2 if self.measure == "squared" else range_)

    @cached_property
    def _rising(self) -> NDArray[np.intp]:
        """Where the observed numbers of the second file are, in rising order."""
        return np.argsort(self.b, kind="stable")[: len(observed(self.b))]

    def _table(self) -> NDArray[np.float64]:
        if self.texts is not None:
            return self.texts.table
        assert self.table is not None
        return self.table


def require_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Refuse no variable at all, and variables of different files."""
    asked = "Variables of two files were to be compared."
    if not comparisons:
        do = "Give one that both files have."
        raise InputError(Reason.NOTHING_GIVEN, asked, "No variable was given.", do)
    shapes = {c.shape for c in comparisons}
    if len(shapes) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            f"The variables are for {len(shapes)} different numbers of records.",
            "Give variables of the same two files.",
        )


def notes_of(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """Return what a reader should know of some variables."""
    return tuple(note for comparison in comparisons for note in comparison.notes)


def _times(weight: float, distance: float) -> float:
    return distance if math.isinf(distance) else weight * distance


def _kernel_measure(measure: str) -> int:
    from gamekeeper.algorithms.linkage.kernels import ABSOLUTE, RELATIVE, SQUARED

    return {"squared": SQUARED, "relative": RELATIVE}.get(measure, ABSOLUTE)


def observed(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values that are not missing: numbers other than NaN, codes other than 0."""
    known = ~np.isnan(values) if values.dtype.kind == "f" else values != 0
    return values[known]


def _renumbered(codes: Codes) -> tuple[Codes, Codes]:
    """Return the distinct codes above 0, and the codes numbered by them from 1."""
    distinct = np.unique(codes)
    distinct = distinct[distinct > 0]
    places = np.where(codes > 0, np.searchsorted(distinct, codes) + 1, 0)
    return distinct, places.astype(np.int32)
