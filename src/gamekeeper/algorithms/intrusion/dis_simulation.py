"""Data intrusion simulation (DIS) by its special method: records are really removed and matched.

A round removes some records at random, copies each back with the sampling fraction as probability
and matches all of them against the file. The estimate is the ratio of totals over rounds, correct
unique matches to unique matches, with the standard error of a ratio (delta method over rounds).
For a perturbed release, the removed records are matched by their original keys.

Elliot and Manning 2003, whose Table 1 is that of one record per round. With more, the ratio tends
to that of dis_special.py, not to the general formula. Cost: a sort of what is removed in a block of rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.intrusion.dis import released_counts
from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results.result import Progress

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

    Parameters
    ----------
    released
        The class of each record of the release, as numbers 0, 1, ... (see `algorithms.class_numbers`).
    fraction
        The sampling fraction, or one for each record.
    original
        The class of each record before it was perturbed, -1 for a key that no released record has.
        By default the release is not perturbed.
    removed
        How many records a round removes together.
    rounds
        The most rounds.
    seed
        The same arguments and seed give the same result.
    tolerance
        The simulation stops when the standard error is no larger, and neither is what a single
        unique match weighs; 0 uses all rounds.
    progress
        Called with the rounds that are done and the most rounds.

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
