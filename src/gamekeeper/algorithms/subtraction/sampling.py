"""SAP of a release from random orderings of the people, each of them decided exactly.

Known people are the first n of an ordering. Recovering a zero is monotone in n, so each ordering
has a first n at which a zero is recovered, found by bisection with an exact decision for each n
tried. SAP is the distribution function of this first n: one set of orderings serves every n, the
curve never falls, and its interval for each n is that of Clopper and Pearson. For single cells and
for numbers of zeros there is a first n for each cell; there the stated error is that of Hoeffding's
inequality, sqrt(log(2 / (1 - confidence)) / (2 draws)), for each probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.subtraction.oracle import RecoveryOracle
from gamekeeper.algorithms.subtraction.probability import SubtractionRisk
from gamekeeper.algorithms.subtraction.recovered_zeros import RecoveredZeros
from gamekeeper.errors import LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import share_text

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CHUNK = 4_000_000
_LONGEST = 4_000_000


@dataclass(frozen=True)
class Drawing:
    """How orderings are drawn.

    Attributes
    ----------
    draws
        How many.
    confidence
        The confidence of the interval of each probability.
    seed
        The seed.
    progress
        Called with the number of orderings done and of all of them.
    """

    draws: int = 10_000
    confidence: float = 0.95
    seed: int = 0
    progress: Progress | None = None

    @property
    def words(self) -> str:
        """What was done, for people."""
        return (
            f"{self.draws:,} orderings of the people drawn, each decided exactly; "
            f"{share_text(self.confidence)} interval for each n"
        )


def sampled_risk(
    constraints: CountConstraints,
    truth: Integers,
    asked: Integers,
    drawing: Drawing,
    *,
    within: NDArray[np.bool_] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> SubtractionRisk:
    """Return SAP of a release; exactly where it is the same for nobody and everybody known."""
    oracle = RecoveryOracle(constraints, truth, within=within, among=among)
    population, draws = int(oracle.everybody.sum()), drawing.draws
    if oracle.recovered_at_once or not len(oracle.candidates):
        answer = Fraction(int(oracle.recovered_at_once))
        start = 0 if oracle.recovered_at_once else None
        method = "exact, as it is the same for nobody and everybody known"
        return SubtractionRisk.exactly(
            asked, (answer,) * len(asked), population, method, start, start
        )
    n_known = np.minimum(asked, population)
    first = np.concatenate(
        [
            oracle.first_recoveries(orders)
            for orders in _orderings(oracle.everybody, n_known, drawing)
        ]
    )
    hits = np.searchsorted(np.sort(first), n_known, side="right")
    lower, upper = _interval(hits, draws, drawing.confidence)
    # Nobody and everybody known are decided, not drawn.
    decided = (n_known == 0) | (n_known == population)
    values = np.where(decided, n_known > 0, hits / draws)
    return SubtractionRisk(
        asked, values, population, drawing.words,
        np.where(decided, values, lower), np.where(decided, values, upper), draws=draws,
    )  # fmt: skip


def sampled_zeros(
    constraints: CountConstraints, truth: Integers, asked: Integers, drawing: Drawing
) -> tuple[RecoveredZeros, Floats]:
    """Return the numbers of recovered zeros of a release and the probability for each cell."""
    oracle = RecoveryOracle(constraints, truth)
    population = int(truth.sum())
    n_known = np.minimum(asked, population)
    first = np.concatenate(
        [oracle.cell_recoveries(orders) for orders in _orderings(truth, n_known, drawing)]
    )
    shares = np.zeros((len(asked), len(oracle.candidates) + 1))
    cells = np.zeros((len(asked), len(truth)))
    for place, known in enumerate(n_known):
        recovered = first <= known if known < population else np.ones_like(first, np.bool_)
        numbers = np.bincount(recovered.sum(axis=1), minlength=shares.shape[1])
        shares[place] = numbers / drawing.draws
        cells[place, oracle.candidates] = recovered.mean(axis=0)
    error = math.sqrt(math.log(2 / (1 - drawing.confidence)) / (2 * drawing.draws))
    return RecoveredZeros(asked, shares, cells.sum(axis=1), error=error), cells


def _orderings(truth: Integers, n_known: Integers, drawing: Drawing) -> Iterator[Integers]:
    """Yield random orderings of the people, each as the cells they are in.

    They go as far as the largest number of known people that has to be drawn for: what everybody
    recovers is decided without.
    """
    population = int(truth.sum())
    length = int(n_known[n_known < population].max(initial=0))
    if length > _LONGEST:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Orderings of {length:,} people were to be drawn.",
            f"The limit is {_LONGEST:,}.",
            "Ask for smaller numbers of known people.",
        )
    rng = np.random.default_rng(drawing.seed)
    draws = drawing.draws
    step = max(1, min(draws, _CHUNK // max(length, 1), max(100, draws // 50)))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        counts = _drawn_counts(rng, truth, length, size)
        people = np.tile(np.arange(len(truth)), size)
        met = np.repeat(people, counts.reshape(-1)).reshape(size, length)
        yield rng.permuted(met, axis=1)
        if drawing.progress is not None:
            drawing.progress(start + size, draws)


def _drawn_counts(
    rng: np.random.Generator, truth: Integers, length: int, size: int
) -> NDArray[np.int64]:
    """Return how many people of each cell are among the first of each ordering."""
    if length == int(truth.sum()):
        return np.tile(truth, (size, 1))
    # One cell after the other: the library's own method refuses more than a billion people.
    left = np.full(size, length, np.int64)
    rest = int(truth.sum())
    counts = np.zeros((size, len(truth)), np.int64)
    for cell, number in enumerate(truth.tolist()):
        rest -= number
        if number:
            counts[:, cell] = rng.hypergeometric(number, rest, left) if rest else left
        left = left - counts[:, cell]
    return counts


def _interval(hits: NDArray[np.integer], draws: int, confidence: float) -> tuple[Floats, Floats]:
    """Return the interval of Clopper and Pearson, which has at least the stated confidence."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    some = np.maximum(hits, 1)
    not_all = np.minimum(hits, draws - 1)
    lower = np.where(hits > 0, betaincinv(some, draws - some + 1, tail), 0.0)
    upper = np.where(hits < draws, betaincinv(not_all + 1, draws - not_all, 1 - tail), 1.0)
    return lower, upper
