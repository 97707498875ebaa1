"""How sample uniques fare when the key or the sampling fraction changes, record by record.

A record that is unique on a part of the key is unique on every larger part, so a sample unique is
special (unique on a proper part) exactly if it stays unique when some one variable is removed: one
count per variable decides it, without a search. Smaller parts need the search.

A sample unique stays unique in every thinner sample. What a fraction does shows the other way
round: of the uniques of a thinner sample some have a twin in the whole one. And where the
population is known, a unique of a class of F people is still unique after m of the N - n others
joined the sample with probability C(N-n-F+1, m) / C(N-n, m), exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.uniques.class_sizes import class_sizes
from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unique_flags(
    codes: NDArray[Any], missing: str, counts: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Tell for every record whether no other has its key.

    Where a row of codes stands for several records, `counts` says for how many.

    Examples
    --------
    >>> unique_flags(np.array([[1], [2], [1]]), "category").tolist()
    [False, True, False]
    >>> unique_flags(np.array([[1], [2]]), "category", np.array([2, 1])).tolist()
    [False, True]
    """
    if not codes.shape[1]:
        return np.full(len(codes), (len(codes) if counts is None else counts.sum()) == 1)
    (numbers,) = class_numbers(codes)
    _, places = np.unique(numbers, return_index=True)
    records = np.bincount(numbers, counts).astype(np.int64)
    return (class_sizes(codes[places], records, missing=missing) == 1)[numbers]


class KeyParts:
    """The whole key, and the key without each of its variables, with classes numbered once.

    Rows of codes are records, or different keys, of which `counts` says how many records have them.
    Among some records, given by their rows, each counts once.

    Examples
    --------
    >>> parts = KeyParts(np.array([[1, 1], [2, 1], [2, 2]]), "category")
    >>> parts.unique_without_each().tolist()
    [[False, True], [False, False], [True, False]]
    >>> parts.unique(records=np.array([0, 2])).tolist()
    [True, True]
    """

    def __init__(
        self,
        codes: NDArray[Any],
        missing: str,
        counts: NDArray[np.int64] | None = None,
        *,
        max_seconds: float | None = MAX_SECONDS,
    ) -> None:
        """Number the classes of every part, where records fall into classes."""
        self.codes = codes
        self.counts = counts
        self.missing = missing
        self.max_seconds = max_seconds
        self._numbers: dict[int | None, NDArray[np.int64]] = {}
        if missing in ("category", "exclude"):
            for without in (None, *range(codes.shape[1])):
                self._numbers[without] = class_numbers(self._part(without))[0]

    def unique(
        self, without: int | None = None, records: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Tell which records are unique among the given ones, with a variable left out or none."""
        counts = self.counts if records is None else None
        if without in self._numbers:
            numbers = self._numbers[without]
            numbers = numbers if records is None else numbers[records]
            return (np.bincount(numbers, counts) == 1)[numbers]
        part = self._part(without)
        return unique_flags(part if records is None else part[records], self.missing, counts)

    def unique_without_each(self, records: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """Tell for every record and variable whether the record is unique without it."""
        places = range(self.codes.shape[1])
        return np.column_stack([self.unique(place, records) for place in places])

    def special(self, largest: int, records: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """Tell which records are unique on a part of the key of at most so many variables."""
        if largest >= self.codes.shape[1] - 1:
            return np.asarray(self.unique_without_each(records).any(axis=1))
        codes = self.codes if records is None else self.codes[records]
        found = find_minimal_uniques(
            codes,
            counts=self.counts if records is None else None,
            missing="category" if self.missing == "exclude" else self.missing,
            max_size=largest,
            listing=False,
            workers=1,
            max_seconds=self.max_seconds,
        )
        flags = np.zeros(len(codes), dtype=np.bool_)
        flags[found.records] = found.counts.any(axis=1)
        return flags

    def _part(self, without: int | None) -> NDArray[Any]:
        return self.codes if without is None else np.delete(self.codes, without, axis=1)


def chances_to_stay_unique(
    population_sizes: NDArray[np.int64], n_sample: int, n_population: int, n_larger: int
) -> NDArray[np.float64]:
    """Return the chance of sample uniques to be unique still in a larger simple random sample.

    `population_sizes` are the sizes F of their classes in the population.

    Examples
    --------
    >>> chances_to_stay_unique(np.array([1, 2, 3]), 2, 6, 4).round(4)
    array([1.    , 0.5   , 0.1667])
    """
    outside, joining = n_population - n_sample, n_larger - n_sample
    sizes, places = np.unique(population_sizes, return_inverse=True)
    return np.array([_chance(outside, joining, int(size) - 1) for size in sizes])[places]


def _chance(outside: int, joining: int, twins: int) -> float:
    """Return the chance that none of the twins is among those who join."""
    if outside - twins < joining:
        return 0.0
    # C(outside - twins, joining) / C(outside, joining), term by term over the fewer of both.
    few, many = sorted((twins, joining))
    return math.prod(1 - many / (outside - step) for step in range(few))


def levels_survived(
    codes: NDArray[Any],
    place: int,
    levels: Sequence[NDArray[np.int64]],
    missing: str,
    counts: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """Tell for every record and coarser coding of one variable whether the record is unique."""
    flags = np.empty((len(codes), len(levels)), dtype=np.bool_)
    coarse = codes.astype(np.int64)
    for number, new_codes in enumerate(levels):
        coarse[:, place] = new_codes[codes[:, place]]
        flags[:, number] = unique_flags(coarse, missing, counts)
    return flags
