"""How sample uniques fare when the key or the sampling fraction changes, record by record.

A record that is unique on a part of the key is unique on every larger part, so a sample unique is
special (unique on a proper part) exactly if it stays unique when some one variable is removed: one
count per variable decides it, without a search. Smaller parts need the search.

A sample unique stays unique in every thinner sample. What a fraction does shows the other way
round: to the reader of a thinner sample the whole file is a sample with a larger fraction, in which
some of its uniques have a twin. They are told apart as special or random on the thinner sample
alone; the paper expects the random ones to lose their uniqueness more often. And where the
population is known, a unique of a class of F people is still unique after m of the N - n others
joined the sample with probability C(N-n-F+1, m) / C(N-n, m), exactly.

Elliot and Manning 2003 (Table 2) list what distinguishes a special unique: two things that people
notice and four that the data show. Here the four are counted on a file for both kinds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.algorithms.uniques.scores import class_sizes
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.experiments.harness import draw_records, sample_size
from gamekeeper.prompt_syntax import MAX_SECONDS
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, fraction_text, number_text, percent_text


def unique_flags(
    codes: NDArray[Any], missing: str, counts: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Tell for every record whether no other has its key.

    Where a row of codes stands for several records, `counts` says for how many.

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


@dataclass(frozen=True, slots=True)
class GroupCount:
    """How many of how many have a property; an expected number need not be whole."""

    number: float
    total: float

    @property
    def share(self) -> float | None:
        """The share; None of nothing."""
        return self.number / self.total if self.total else None

    @property
    def words(self) -> str:
        """The count in words."""
        if self.share is None:
            return "there are none"
        return (
            f"{number_text(round(self.number, 1))} of {number_text(round(self.total, 1))} "
            f"({percent_text(self.share)})"
        )


@dataclass(frozen=True, slots=True)
class PropertyLine:
    """One property, as in the paper: what it expects of both kinds, and what was counted.

    - `test`: what was tried on the file; empty for what only people can judge.
    - `special`, `random`: the counts; None where it is a matter for people.
    """

    name: str
    test: str
    expected_special: str
    expected_random: str
    special: GroupCount | None
    random: GroupCount | None

    @property
    def words(self) -> str:
        """The line as a sentence."""
        if self.special is None or self.random is None:
            return f"{self.name}: a matter for people, not counted."
        return (
            f"{self.name} ({self.test}): special uniques {self.special.words}; "
            f"random uniques {self.random.words}."
        )


@dataclass(frozen=True, repr=False)
class SpecialProperties(Result):
    """The properties of special and random uniques, one line each."""

    tells_of_records = False

    lines: tuple[PropertyLine, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        counted = sum(line.special is not None for line in self.lines)
        return {"lines": len(self.lines), "counted": counted}

    def sentences(self) -> list[str]:
        """Return every line as a sentence."""
        return [line.words for line in self.lines]

    def to_arrow(self) -> pa.Table:
        """Return one line per property and test; without numbers where people must judge."""
        texts = ("property", "test", "expected_special", "expected_random")
        numbers = ("special", "of_special", "special_share", "random", "of_random", "random_share")
        columns = {**dict.fromkeys(texts, "string"), **dict.fromkeys(numbers, "float64")}
        rows = [
            (
                line.name,
                line.test,
                line.expected_special,
                line.expected_random,
                *_numbers(line.special),
                *_numbers(line.random),
                line.words,
            )
            for line in self.lines
        ]
        return arrow_table({**columns, "in_words": "string"}, rows)


def _numbers(count: GroupCount | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if count is None else (count.number, count.total, count.share)


@dataclass(frozen=True, slots=True)
class Kept:
    """Uniques of thinner samples, over all rounds, and those of them unique in the whole file.

    The standard error of the share is that of a ratio over the rounds; None for fewer than two.
    """

    uniques: int
    kept: int
    standard_error: float | None

    @property
    def share(self) -> float | None:
        """The share that is unique in the whole file; None where there was no such unique."""
        return self.kept / self.uniques if self.uniques else None


@dataclass(frozen=True, slots=True)
class Thinning:
    """What became of the uniques of thinner samples of one share of the file."""

    fraction: Fraction
    rounds: int
    special: Kept
    random: Kept


def thin(
    parts: KeyParts,
    unique: NDArray[np.bool_],
    fraction: Fraction,
    *,
    rows: NDArray[np.int64] | None = None,
    special_size: int,
    rounds: int,
    seed: int,
    number: int = 0,
) -> Thinning:
    """Draw thinner samples, and follow their special and random uniques into the whole file.

    `unique` tells which rows of the key are unique in the whole file, `fraction` the share of it that
    a thinner sample has, `rows` the row of the key of each record (its own if None), `special_size`
    the most variables of a part of the key that makes a unique special. A series of samples has a
    stream of its own, by its `number`.
    """
    n_records = len(unique if rows is None else rows)
    counts = np.zeros((rounds, 2, 2), dtype=np.int64)
    for turn in range(rounds):
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, turn)))
        size = max(1, sample_size(n_records, fraction))
        drawn = draw_records(n_records, size, generator)
        drawn = drawn if rows is None else rows[drawn]
        alone = parts.unique(records=drawn)
        is_special = parts.special(special_size, drawn)
        for kind, chosen in enumerate((alone & is_special, alone & ~is_special)):
            counts[turn, kind] = chosen.sum(), (chosen & unique[drawn]).sum()
    return Thinning(fraction, rounds, _kept(counts[:, 0]), _kept(counts[:, 1]))


def _kept(counts: NDArray[np.int64]) -> Kept:
    uniques, kept = (int(total) for total in counts.sum(axis=0))
    rounds = len(counts)
    error = None
    if rounds > 1 and uniques:
        gaps = counts[:, 1] - kept / uniques * counts[:, 0]
        error = math.sqrt(float((gaps**2).sum()) * rounds / (rounds - 1)) / uniques
    return Kept(uniques, kept, error)


@dataclass(frozen=True, slots=True)
class Removal:
    """How many uniques are no longer unique without a variable."""

    variable: str
    special: GroupCount
    random: GroupCount


@dataclass(frozen=True, slots=True)
class Coarsening:
    """How many uniques are no longer unique with a coarser coding of a variable."""

    variable: str
    level: int
    n_categories: int
    special: GroupCount
    random: GroupCount


@dataclass(frozen=True, slots=True)
class Growth:
    """How many uniques are expected to be unique no longer in a larger sample."""

    fraction: Fraction
    special: GroupCount
    random: GroupCount


@dataclass(frozen=True, slots=True)
class Trials:
    """Everything that was tried on the uniques of a file."""

    removals: tuple[Removal, ...]
    coarsenings: tuple[Coarsening, ...]
    thinnings: tuple[Thinning, ...]
    growths: tuple[Growth, ...]


def property_lines(
    special: NDArray[np.bool_],
    smallest: NDArray[np.int64],
    trials: Trials,
    population_unique: NDArray[np.bool_] | None,
) -> tuple[PropertyLine, ...]:
    """Return the lines of the paper's table, with one for every trial.

    Of every sample unique it is told whether it is special, the size of its smallest minimal sample
    unique (-1 where that is not known), and whether it is unique in the population (None where that
    is not known). The removal of every key variable is among the trials.
    """
    n_variables = len(trials.removals)
    lines = [
        PropertyLine("Spontaneously recognisable", "", "maybe", "no", None, None),
        PropertyLine("Appears unusual", "", "maybe", "no", None, None),
    ]
    removal = "Sensitive to removal of key variables"
    lines += [
        PropertyLine(
            removal,
            f"unique no longer without {line.variable}",
            "only to its contributing variables",
            "yes",
            line.special,
            line.random,
        )
        for line in trials.removals
    ]
    fraction = "Sensitive to changes in sampling fraction"
    lines += [
        PropertyLine(
            fraction,
            f"unique in {fraction_text(line.fraction)} of the file, not in the whole, "
            f"{count_of(line.rounds, 'round')}",
            "no",
            "yes",
            _lost(line.special),
            _lost(line.random),
        )
        for line in trials.thinnings
    ]
    lines += [
        PropertyLine(
            fraction,
            f"expected to be unique no longer at {fraction_text(line.fraction)} of the population",
            "no",
            "yes",
            line.special,
            line.random,
        )
        for line in trials.growths
    ]
    lines += [
        PropertyLine(
            "Sensitive to changes in geographical or other detail",
            f"unique no longer with {line.variable} in "
            f"{count_of(line.n_categories, 'category', 'categories')}, level {line.level}",
            "no",
            "yes",
            line.special,
            line.random,
        )
        for line in trials.coarsenings
    ]
    half = n_variables // 2
    few = (smallest >= 0) & (smallest <= half)
    lines.append(
        PropertyLine(
            "Uniqueness arises from few variables",
            f"unique on {half} of the {n_variables} key variables or fewer",
            "small number of variables",
            "large number of variables",
            *both_kinds(few, special),
        )
    )
    if population_unique is not None:
        lines.append(
            PropertyLine(
                "Unique in the population",
                "no other person has the key",
                "more often",
                "less often",
                *both_kinds(population_unique, special),
            )
        )
    return tuple(lines)


def both_kinds(values: NDArray[Any], special: NDArray[np.bool_]) -> tuple[GroupCount, GroupCount]:
    """Add up what holds of uniques, or their chances of it, for special and for random ones."""
    n_special = int(special.sum())
    return (
        GroupCount(float(values[special].sum()), n_special),
        GroupCount(float(values[~special].sum()), len(special) - n_special),
    )


def _lost(kept: Kept) -> GroupCount:
    return GroupCount(kept.uniques - kept.kept, kept.uniques)
