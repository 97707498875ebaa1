"""Data intrusion simulation (DIS): the probability of a correct match given a unique one.

A record is removed from the file of n records and copied back with the sampling fraction as
probability; then it is matched against the file. Removed one at a time, sample uniques that are
copied back give correct unique matches, and records in pairs that are not give false ones:

    DIS = U f / (U f + P (1 - f)),    U sample uniques, P records in classes of two

(the thesis counts the pairs themselves, P = 2 n2). It is a ratio of expectations: consistent, not
unbiased. Elliot and Manning 2003; Skinner and Elliot 2002.

By the special method a round removes b of the n records at random, copies each back with the
sampling fraction as probability and matches all b against the file. With b = 1, the table of
outcomes of Elliot and Manning, the expected correct unique matches over the expected unique matches
are the general formula; when b records are removed together, other outcomes exist and the ratio
differs by a relative order of b/n. `special_dis` has it exactly, at the cost of as many fractions
as there are class sizes. `simulate_dis` really removes and matches: the estimate is the ratio of
totals over rounds, with the standard error of a ratio (delta method over rounds); the mean of the
ratio over rounds is another number. For a perturbed release, the removed records are matched by
their original keys. Cost: a sort of what is removed in a block of rounds.

Which keys an intruder with models would take: the surest, or as many as a cost allows. `top` takes
the keys with the highest probability of a match. The other two take keys in order of their expected
population size until as many people have them as have the key of a sample unique, so that a search
costs as much as the search for any sample unique: `mcmcmc1` by the true numbers of people, which
only an experiment knows, `mcmcmc2` by the expected ones. Smith's thesis, chapter 7. Values that
differ in their last digits only, as sums in another order do, are taken for equal; of equal ones
the cell with the lower number comes first, whatever the way in which they were computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.prompt_syntax import FractionLike, parse_fraction
from gamekeeper.results import Progress

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]


def dis(n_uniques: int, n_paired: int, fraction: FractionLike) -> Fraction | None:
    """Return DIS by the general method, or None where it is 0/0.

    `n_paired` is the number of *records* in classes of two (P), twice the number of such classes.
    The sampling fraction (f) is above 0 and up to 1.

    Examples
    --------
    >>> dis(1019, 118, "1%")
    Fraction(1019, 12701)
    >>> dis(0, 0, "1%") is None
    True
    """
    return stratified_dis([(n_uniques, n_paired, fraction)])


def stratified_dis(strata: Iterable[tuple[int, int, FractionLike]]) -> Fraction | None:
    """Return DIS where the sampling fraction differs by stratum, or None where it is 0/0.

    A record is copied back with the fraction of its own stratum, so U f and P (1 - f) become sums
    over strata; classes are those of the whole file. `strata` has of each its sample uniques, its
    records in classes of two, and its fraction.

    Examples
    --------
    >>> stratified_dis([(10, 4, "1/10"), (2, 2, "1/2")])
    Fraction(10, 33)
    """
    correct, false = Fraction(0), Fraction(0)
    problems: list[Problem] = []
    for number, (n_uniques, n_paired, given) in enumerate(strata, start=1):
        if min(n_uniques, n_paired) < 0:
            where = f"stratum {number}"
            problems.append(Problem(Reason.BAD_OPTION, where, "A number of records is negative."))
        fraction = parse_fraction(given)
        correct += n_uniques * fraction
        false += n_paired * (1 - fraction)
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "DIS was asked for.",
            "It needs numbers of records, 0 or more.",
            problems=problems,
        )
    return correct / (correct + false) if correct + false else None


def diverged_dis(
    released: NDArray[np.integer[Any]], original: NDArray[np.integer[Any]], fraction: FractionLike
) -> Fraction | None:
    """Return DIS of a perturbed release that is attacked with the original keys.

    One record at a time is removed from the release, copied back as released with the sampling
    fraction as probability, and matched by its original key. A unique match is correct where the
    record itself was copied back and still has that key; where its key was changed, it may find
    another record instead. None where no unique match is possible.

    Classes are numbers 0, 1, ... that mean the same key in both; in `original`, -1 is a key that no
    released record has.

    Examples
    --------
    Records 0 and 2 have swapped keys, so both find the other where they should find themselves.

    >>> diverged_dis(np.array([1, 2, 0, 3]), np.array([0, 2, 1, 3]), "1/2")
    Fraction(1, 3)
    """
    counts, own = released_counts(released, original)
    fraction = parse_fraction(fraction)
    correct = int(np.count_nonzero((counts == 1) & own)) * fraction
    copied = int(np.count_nonzero(counts == 1)) * fraction
    not_copied = int(np.count_nonzero(counts - own == 1)) * (1 - fraction)
    return correct / (copied + not_copied) if copied + not_copied else None


def released_counts(
    released: NDArray[np.integer[Any]], original: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return per record the released records with its original key, and whether it is one of them.

    Examples
    --------
    >>> counts, own = released_counts(np.array([0, 0, 1]), np.array([0, 1, -1]))
    >>> counts, own
    (array([2, 1, 0]), array([ True, False, False]))
    """
    given = (np.asarray(released), np.asarray(original))
    is_numbered = given[0].min(initial=0) >= 0 and given[1].min(initial=0) >= -1
    if given[0].shape != given[1].shape or not is_numbered:
        raise InputError(
            Reason.BAD_OPTION,
            f"A release of {len(given[0]):,} records was to be attacked with the originals.",
            f"There are {len(given[1]):,} originals, or some classes have no valid number.",
            "Give the class of every record in both files: 0, 1, ..., in the originals also -1"
            " for a key that no released record has.",
        )
    most = max(int(ids.max(initial=-1)) for ids in given)
    sizes = np.bincount(given[0], minlength=most + 2)
    # The number -1 takes the last place, where no record is.
    return sizes[given[1]].astype(np.int64), given[0] == given[1]


@dataclass(frozen=True, slots=True)
class SpecialDis:
    """Expected correct and all unique matches of one round of the special method."""

    correct: Fraction
    unique: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """The ratio of the two, what a ratio of totals over many rounds tends to."""
        return self.correct / self.unique if self.unique else None


def special_dis(
    structure: Mapping[int, int], fraction: str | float | Fraction, removed: int = 1
) -> SpecialDis:
    """Return what one round of the special method gives on average, for any number removed.

    Of a class of size s, a removed record matches uniquely if the rest of its class is removed
    too and one of the s is copied back, or if all but one of the rest are removed and none is
    copied back. The other removed records are a simple random sample.

    `structure` has the number of classes of each size; 1 up to all records are `removed` together.
    With 1 the ratio equals `dis`.

    Examples
    --------
    >>> special_dis({1: 3, 2: 2}, "2/5", removed=2).ratio
    Fraction(17, 44)
    """
    fraction = parse_fraction(fraction)
    n_records = _checked_size(structure, removed)
    correct, unique = Fraction(0), Fraction(0)
    for size, n_classes in structure.items():
        if 1 <= size <= removed + 1:
            none_back = n_classes * size * (1 - fraction) ** (size - 1)
            orders = math.perm(n_records, size)
            all_gone = Fraction(math.perm(removed, size), orders)
            one_left = Fraction(math.perm(removed, size - 1) * (n_records - removed), orders)
            correct += none_back * fraction * all_gone
            unique += none_back * (size * fraction * all_gone + (size - 1) * one_left)
    return SpecialDis(correct, unique)


def _checked_size(structure: Mapping[int, int], removed: int) -> int:
    n_records = sum(size * n_classes for size, n_classes in structure.items())
    if (
        min((*structure.keys(), *structure.values()), default=0) < 0
        or not 1 <= removed <= n_records
    ):
        raise InputError(
            Reason.BAD_OPTION,
            f"Removing {removed:,} of {n_records:,} records was asked for.",
            "At least one record must be removed and no more than there are.",
            "Give the number of classes of each size, and fewer records to remove.",
        )
    return n_records


# Attacks between two looks at the standard error; fixed, since the stream of random numbers is
# used block by block and results must not depend on anything but the arguments.
_ATTACKS_PER_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class DisStep:
    """The estimate after so many rounds; None before the first unique match."""

    rounds: int
    estimate: float | None
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class DisSimulation:
    """The outcome of a simulation.

    `estimate` is the ratio of totals, `mean_of_ratios` the mean over rounds with a unique match;
    they differ when several records are removed together. `converged` says that the standard error
    and the weight of a single match are within the tolerance. None where nothing matched uniquely.
    """

    estimate: float | None
    standard_error: float | None
    mean_of_ratios: float | None
    n_unique: int
    n_correct: int
    rounds: int
    removed: int
    seed: int
    tolerance: float
    converged: bool
    steps: tuple[DisStep, ...]


def simulate_dis(
    released: NDArray[np.integer[Any]],
    fraction: str | float | Fraction | NDArray[np.floating[Any]],
    *,
    original: NDArray[np.integer[Any]] | None = None,
    removed: int = 1,
    rounds: int = 200_000,
    seed: int = 0,
    tolerance: float = 0.005,
    progress: Progress | None = None,
) -> DisSimulation:
    """Estimate the probability of a correct match given a unique match by simulation.

    - `released`, `original`: the class of each record, as numbers 0, 1, ... (see
      `algorithms.classes`), in the release and before it was perturbed, -1 for a key that no
      released record has. By default the release is not perturbed.
    - `fraction`: the sampling fraction, or one for each record.
    - `removed`, `rounds`: how many records a round removes together, and the most rounds.
    - `tolerance`: the simulation stops when the standard error is no larger, and neither is what a
      single unique match weighs; 0 uses all rounds. Progress is in rounds.

    Examples
    --------
    >>> classes = np.array([0, 1, 2, 3, 3, 4, 4, 5, 5, 5])
    >>> found = simulate_dis(classes, "1/2", seed=1)
    >>> found.converged, abs(found.estimate - 3 / 7) < 4 * found.standard_error
    (True, True)
    """
    classes = np.asarray(released)
    shares = _checked_shares(classes, fraction, removed, rounds, tolerance)
    attacked = classes if original is None else np.asarray(original)
    counts, own = released_counts(classes, attacked)
    # Queries for a key that nobody has must not meet the classes of the round before.
    n_numbers = int(max(classes.max(initial=0), attacked.max(initial=0))) + 2
    lists = (classes.astype(np.int64) + 1, attacked.astype(np.int64) + 1)
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    tally = _Tally()
    steps: list[DisStep] = []
    converged = False
    per_block = max(1, _ATTACKS_PER_BLOCK // removed)
    while tally.rounds < rounds and not converged:
        n = min(per_block, rounds - tally.rounds)
        drawn = _draw(generator, len(classes), removed, n)
        copied = generator.random(drawn.shape) < shares[drawn]
        place = np.arange(n, dtype=np.int64)[:, np.newaxis] * n_numbers
        gone = np.sort((place + lists[0][drawn])[~copied])
        asked = place + lists[1][drawn]
        lost = np.searchsorted(gone, asked, "right") - np.searchsorted(gone, asked, "left")
        unique = counts[drawn] - lost == 1
        tally.add(unique.sum(axis=1), (unique & copied & own[drawn]).sum(axis=1))
        steps.append(DisStep(tally.rounds, tally.estimate, tally.standard_error))
        error = tally.standard_error
        settled = tally.n_unique * tolerance >= 1
        converged = settled and error is not None and error <= tolerance
        if progress is not None:
            progress(tally.rounds, rounds)
    return DisSimulation(
        tally.estimate,
        tally.standard_error,
        tally.ratios / tally.n_ratios if tally.n_ratios else None,
        tally.n_unique,
        tally.n_correct,
        tally.rounds,
        removed,
        seed,
        tolerance,
        converged,
        tuple(steps),
    )


@dataclass(slots=True)
class _Tally:
    rounds: int = 0
    n_unique: int = 0
    n_correct: int = 0
    unique_squares: int = 0
    correct_squares: int = 0
    products: int = 0
    ratios: float = 0.0
    n_ratios: int = 0

    def add(self, unique: NDArray[np.int64], correct: NDArray[np.int64]) -> None:
        self.rounds += len(unique)
        self.n_unique += int(unique.sum())
        self.n_correct += int(correct.sum())
        self.unique_squares += int(unique @ unique)
        self.correct_squares += int(correct @ correct)
        self.products += int(unique @ correct)
        matched = unique > 0
        self.ratios += float((correct[matched] / unique[matched]).sum())
        self.n_ratios += int(matched.sum())

    @property
    def estimate(self) -> float | None:
        return self.n_correct / self.n_unique if self.n_unique else None

    @property
    def standard_error(self) -> float | None:
        """Of a ratio of totals; sums are integers, so the squares lose nothing."""
        if not self.n_unique or self.rounds < 2:
            return None
        ratio = Fraction(self.n_correct, self.n_unique)
        squares = (
            self.correct_squares - 2 * ratio * self.products + ratio * ratio * self.unique_squares
        )
        return math.sqrt(squares * self.rounds / (self.rounds - 1)) / self.n_unique


def _draw(generator: np.random.Generator, n: int, removed: int, rounds: int) -> NDArray[np.int64]:
    """Draw `removed` different records for each round."""
    if removed * (removed - 1) > n:
        sets = [generator.choice(n, removed, replace=False, shuffle=False) for _ in range(rounds)]
        return np.array(sets, dtype=np.int64)
    drawn = generator.integers(n, size=(rounds, removed))
    while removed > 1:
        # At most some 40 % of rounds draw a record twice; they are drawn again as a whole.
        ordered = np.sort(drawn, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(again):
            break
        drawn[again] = generator.integers(n, size=(len(again), removed))
    return drawn


def _checked_shares(
    classes: NDArray[Any],
    fraction: str | float | Fraction | NDArray[np.floating[Any]],
    removed: int,
    rounds: int,
    tolerance: float,
) -> NDArray[np.float64]:
    problems = [
        Problem(Reason.BAD_OPTION, name, f"{given} was given.", do)
        for name, given, is_right, do in (
            ("removed", removed, 1 <= removed <= len(classes), "Give 1 up to all records."),
            ("rounds", rounds, rounds >= 1, "Give 1 or more."),
            ("tolerance", tolerance, 0 <= tolerance < 1, "Give 0 up to 1, such as 0.005."),
        )
        if not is_right
    ]
    shares = np.zeros(0)
    if isinstance(fraction, np.ndarray):
        shares = fraction.astype(np.float64)
        n_wrong = int(np.count_nonzero(~((shares > 0) & (shares <= 1))))
        if n_wrong or shares.shape != classes.shape:
            found = (
                f"There are {shares.size:,} for {len(classes):,} records; {n_wrong:,} are wrong."
            )
            do = "Give a sampling fraction above 0 and up to 1 for each record."
            problems.append(Problem(Reason.BAD_OPTION, "fraction", found, do))
    else:
        try:
            shares = np.full(len(classes), float(parse_fraction(fraction)))
        except InputError as error:
            problems.append(Problem(error.reason, "fraction", error.found, error.do))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            f"A simulated intrusion into {len(classes):,} records was asked for.",
            "It cannot be done as asked.",
            problems=problems,
        )
    return shares


# What sums in another order may differ by, relatively.
_EQUAL = 1e-9


def choose_cells(
    chance: Floats,
    expected: Floats,
    sample: NDArray[np.integer[Any]],
    population: NDArray[np.integer[Any]],
    *,
    top: int = 10,
) -> dict[str, Cells]:
    """Return the cells that each of the three ways takes.

    Of cells without a record in the sample, the probability of a match and the expected population
    size do not matter.

    Examples
    --------
    >>> chance, size = np.array([0.9, 0.2, 0.5]), np.array([1.1, 5.0, 2.0])
    >>> found = choose_cells(chance, size, np.array([1, 2, 1]), np.array([1, 6, 3]), top=1)
    >>> {name: np.flatnonzero(cells).tolist() for name, cells in found.items()}
    {'top': [0], 'mcmcmc1': [0, 2], 'mcmcmc2': [0, 2]}
    """
    sampled = np.flatnonzero(sample > 0)
    best = np.zeros(len(sample), dtype=bool)
    best[sampled[_ranked(-chance[sampled])[:top]]] = True
    order = sampled[_ranked(expected[sampled])]
    alone = sample == 1
    return {
        "top": best,
        "mcmcmc1": _until(order, population, float(population[alone].sum())),
        "mcmcmc2": _until(order, expected, float(expected[alone].sum())),
    }


def _ranked(values: Floats) -> NDArray[np.int64]:
    """Return places by rising value, equal ones by their place.

    Examples
    --------
    >>> _ranked(np.array([0.1 + 0.2, 0.3, 0.1])).tolist()
    [2, 0, 1]
    """
    order = np.argsort(values, kind="stable")
    rising = values[order]
    # Where values are infinite their differences are not numbers, and none is a step.
    with np.errstate(invalid="ignore"):
        steps = np.diff(rising) > _EQUAL * np.abs(rising[1:])
    levels = np.concatenate([np.zeros(min(len(order), 1), np.int64), np.cumsum(steps)])
    return order[np.lexsort((order, levels))]


def _until(order: NDArray[np.integer[Any]], people: NDArray[Any], most: float) -> Cells:
    """Return the first cells of an order that have no more people than a given number."""
    chosen = np.zeros(len(people), dtype=bool)
    reached = np.cumsum(people[order], dtype=np.float64)
    n_taken = int(np.searchsorted(reached, most * (1 + _EQUAL), side="right"))
    chosen[order[:n_taken]] = True
    return chosen
