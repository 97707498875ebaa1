"""Whether known people recover a zero of any release, exactly: for all samples, or for drawn ones.

The release is any set of constraints on a table. A cell with s_j = c_j is a recovered zero exactly
if no table of whole numbers fits the release, has every known person and has more than c_j in j.
Propagation and branching decide most questions within microseconds; what they cannot decide in
some thousand steps goes to an integer programme.

The samples s <= c of a small table form a lattice. Those that recover a zero in a cell j are closed
upwards among the samples that hold all of j: knowing more people never hurts. So one question
settles many samples: a table with more people in j settles every sample within it, a sample for
which there is none, lowered as far as that stays so, settles every sample that contains it. The
number of questions is of the order of the extreme samples on either side, not of all samples.
Samples are weighed by the product of binomials c over s, in whole numbers.

Otherwise known people are the first n of a random ordering. Recovering a zero is monotone in n, so
each ordering has a first n at which a zero is recovered, found by bisection with an exact decision
for each n tried. SAP is the distribution function of this first n: one set of orderings serves
every n, the curve never falls, and its interval for each n is that of Clopper and Pearson. For
single cells and for numbers of zeros there is a first n for each cell; there the stated error is
that of Hoeffding's inequality, sqrt(log(2 / (1 - confidence)) / (2 draws)), for each probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    NoTableError,
)
from gamekeeper.algorithms.subtraction.probability import SubtractionRisk
from gamekeeper.algorithms.subtraction.recovered_zeros import RecoveredZeros
from gamekeeper.errors import LimitError, Problem, Reason, refuse
from gamekeeper.results import Progress
from gamekeeper.wording import share_text

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# A step looks at every cell; with thousands of them an integer programme is the faster way.
_MOST_NODES, _FEWEST_NODES = 2_000, 50
_CELLS_LOOKED_AT = 200_000
_KEPT = 256


def checked_truth(constraints: CountConstraints, truth: ArrayLike) -> Integers:
    """Return the true table, flat, or refuse one that contradicts the release."""
    given = np.asarray(truth)
    problems: list[Problem] = []
    if given.size != constraints.size:
        found = f"{given.size:,} cells, not {constraints.size:,}."
        problems.append(Problem(Reason.MALFORMED, "true table", found))
    elif (
        not bool(np.equal(np.mod(given.astype(np.float64), 1), 0).all()) or given.min(initial=0) < 0
    ):
        found = "not all counts are whole numbers from 0 up."
        problems.append(Problem(Reason.BAD_COUNT, "true table", found))
    elif not constraints.admits(given):
        rows = constraints.rows
        sums = rows.sums(given.astype(np.int64).reshape(-1))
        n_wrong = int(np.sum((sums < rows.lower) | (sums > rows.upper)))
        found = f"it does not fit {n_wrong:,} of {len(rows):,} published counts."
        problems.append(Problem(Reason.CONFLICTING_COUNTS, "true table", found))
    refuse(
        problems,
        "The probability of recovering zeros of a release was asked for.",
        "The true table cannot have led to this release.",
        "Give the table that the release was made from.",
    )
    return given.astype(np.int64).reshape(-1)


class RecoveryOracle:
    """Answers whether a sample recovers a zero in a cell; cells are flat.

    The zeros of the cells `within` count, and the people of the cells `among` can be known; all if
    not given. A search takes `max_nodes` steps before a question goes to an integer programme; by
    default 2,000, and fewer above 100 cells. `everybody` are the people who can be known, by cell;
    `candidates` the cells in which a zero is recovered when everybody is known; `recovered_at_once`
    says whether one is when nobody is.
    """

    def __init__(
        self,
        constraints: CountConstraints,
        truth: Integers,
        *,
        within: NDArray[np.bool_] | None = None,
        among: NDArray[np.bool_] | None = None,
        max_nodes: int | None = None,
    ) -> None:
        from gamekeeper.algorithms.linear.kernels import propagate

        if max_nodes is None:
            fewer = _CELLS_LOOKED_AT // max(constraints.size, 1)
            max_nodes = min(_MOST_NODES, max(_FEWEST_NODES, fewer))
        self.max_nodes = max_nodes
        self._constraints = constraints
        self.truth = truth
        self.everybody = truth if among is None else np.where(among, truth, 0)
        rows = constraints.rows
        cell_starts, cell_rows, factors = constraints.facts.by_number
        self._rows = (
            rows.starts, rows.cells, factors, rows.lower, rows.upper, cell_starts, cell_rows,
        )  # fmt: skip
        self._sums = rows.sums(truth)
        lower, upper = (limits.reshape(-1).copy() for limits in constraints.cell_limits())
        every = np.arange(len(rows), dtype=np.int64)
        wrong = int(propagate(*self._rows, lower, upper, UNBOUNDED, True, every, len(rows)))
        if wrong >= 0:
            raise NoTableError([wrong])
        self._limits = (lower, upper)
        n_cells = constraints.size
        kept = max(8, min(_KEPT, 20_000_000 // max(n_cells, 1)))
        self._pool = (
            np.zeros((kept, n_cells), np.int64),
            np.zeros((kept, n_cells), np.int64),
            np.zeros(kept, np.int64),
        )
        self._sizes = np.zeros(2, np.int64)
        nobody = np.zeros(n_cells, np.int64)
        self.candidates = np.array(
            [
                cell
                for cell in range(n_cells)
                if (within is None or within[cell])
                and (among is None or among[cell])
                and self.recovers(self.everybody, cell)
            ],
            np.int64,
        )
        self.recovered_at_once = any(
            truth[cell] == 0 and self.recovers(nobody, int(cell)) for cell in self.candidates
        )

    def recovers(self, sample: Integers, cell: int) -> bool:
        """Return whether a sample that holds all people of a cell recovers a zero there."""
        from gamekeeper.algorithms.subtraction.kernels import ASKED, NONE, UNDECIDED

        none, nothing = np.empty(0, np.int64), np.empty((0, 0), np.int64)
        answer = self._run(none, nothing, ASKED, 0, 0, nothing, np.append(sample, cell))
        if answer == UNDECIDED:
            return self._settle(sample, cell)
        return answer == NONE

    def larger_table(self, sample: Integers, cell: int) -> Integers | None:
        """Return a table with the sample and more than the truth in a cell, or None."""
        if self.recovers(sample, cell):
            return None
        tables = self._pool[0]
        fits = (tables[:, cell] > self.truth[cell]) & np.all(tables >= sample, axis=1)
        return tables[int(np.flatnonzero(fits)[0])].copy()

    def first_recoveries(self, orders: Integers) -> Integers:
        """Return for each ordering of the people how many must be known to recover a zero.

        For use where everybody together recovers one and nobody none.
        """
        from gamekeeper.algorithms.subtraction.kernels import ANY

        first = np.zeros((len(orders), 1), np.int64)
        self._go_through(orders, ANY, first)
        return first[:, 0]

    def cell_recoveries(self, orders: Integers) -> Integers:
        """Return the same for each of the candidates by itself, a column for each."""
        from gamekeeper.algorithms.subtraction.kernels import EACH

        first = np.zeros((len(orders), len(self.candidates)), np.int64)
        self._go_through(orders, EACH, first)
        return first

    def _go_through(self, orders: Integers, purpose: int, first: Integers) -> None:
        """Fill in what is found for all orderings, and settle what the kernel cannot decide."""
        asked = np.zeros(self._constraints.size + 1, np.int64)
        last = min(int(self.truth.sum()), orders.shape[1] + 1)
        candidates = self.candidates.copy()
        done = 0
        while done < len(orders):
            done = self._run(candidates, orders, purpose, done, last, first, asked)
            if done < len(orders):
                self._settle(asked[:-1].copy(), int(asked[-1]))

    def _run(
        self,
        candidates: Integers,
        orders: Integers,
        purpose: int,
        done: int,
        last: int,
        first: Integers,
        asked: Integers,
    ) -> int:
        from gamekeeper.algorithms.subtraction.kernels import find_recoveries

        return int(
            find_recoveries(
                *(self._rows, self._sums, self._limits, self.truth, candidates, self._pool),
                *(self._sizes, orders, purpose, done, last, first, asked, self.max_nodes),
            )
        )

    def _settle(self, sample: Integers, cell: int) -> bool:
        """Decide by an integer programme and keep the answer; return whether recovered."""
        from gamekeeper.algorithms.bounds.integer_bounds import feasible_table

        known = sample.copy()
        known[cell] = self.truth[cell] + 1
        table = feasible_table(self._constraints.at_least(known.reshape(self._constraints.shape)))
        tables, samples, of_cell = self._pool
        is_recovered = table is None
        place = int(self._sizes[int(is_recovered)]) % len(tables)
        if table is None:
            samples[place], of_cell[place] = sample, cell
        else:
            tables[place] = np.asarray(table, np.int64).reshape(-1)
        self._sizes[int(is_recovered)] += 1
        return is_recovered


@dataclass(frozen=True)
class LatticeCounts:
    """Numbers of samples by size: for each number of recovered zeros, and for each cell that recovers one."""

    by_zeros: tuple[tuple[int, ...], ...]
    by_cell: tuple[tuple[int, ...], ...]


def lattice_size(truth: Integers) -> float:
    """Return the number of samples of a table, as known people per cell; at most 1e300.

    Examples
    --------
    >>> lattice_size(np.array([2, 0, 3]))
    12.0
    """
    digits = float(np.log10(truth + 1.0).sum())
    return float(np.prod(truth + 1.0)) if digits < 300 else 1e300


def lattice_counts(oracle: RecoveryOracle) -> LatticeCounts:
    """Return how many samples of each size recover how many zeros, and in which cells."""
    truth = oracle.everybody
    kept = np.flatnonzero(truth)
    shape = tuple(int(truth[cell]) + 1 for cell in kept)
    zeros = np.zeros(shape, np.int16)
    nothing = (0,) * (int(truth.sum()) + 1)
    by_cell: list[tuple[int, ...]] = [nothing] * len(truth)
    for cell in oracle.candidates:
        recovered = _recovering(oracle, int(cell), kept, shape)
        zeros += recovered
        by_cell[int(cell)] = _by_size(recovered, shape)
    most = int(zeros.max())
    by_zeros = tuple(_by_size(zeros == number, shape) for number in range(most + 1))
    return LatticeCounts(by_zeros, tuple(by_cell))


def _recovering(
    oracle: RecoveryOracle, cell: int, kept: Integers, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return which samples recover a zero in a cell."""
    truth = oracle.everybody
    recovered = np.zeros(shape, np.bool_)
    settled = np.ones(shape, np.bool_)
    # Only samples that hold all of the cell can recover a zero in it.
    full = tuple(slice(int(truth[c]), None) if c == cell else slice(None) for c in kept)
    settled[full] = False
    flat = settled.reshape(-1)
    sample = np.zeros(len(truth), np.int64)
    while True:
        # The largest sample that is not settled, in the order of the array.
        last = flat.size - 1 - int(np.argmin(flat[::-1]))
        if flat[last]:
            return recovered
        sample[kept] = np.unravel_index(last, shape)
        if not _ask(oracle, cell, sample, kept, settled):
            continue
        for c in kept:
            if c == cell:
                continue
            while sample[c] > 0:
                sample[c] -= 1
                if not _ask(oracle, cell, sample, kept, settled):
                    sample[c] += 1
                    break
        above = tuple(slice(int(sample[c]), None) for c in kept)
        recovered[above] = True
        settled[above] = True


def _ask(
    oracle: RecoveryOracle, cell: int, sample: Integers, kept: Integers, settled: NDArray[np.bool_]
) -> bool:
    """Return whether a sample recovers a zero; otherwise all samples within the table are settled."""
    table = oracle.larger_table(sample, cell)
    if table is None:
        return True
    settled[tuple(slice(0, int(table[c]) + 1) for c in kept)] = True
    return False


def _by_size(samples: NDArray[np.bool_], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the weight of chosen samples by the number of people, in whole numbers."""
    population = sum(length - 1 for length in shape)
    fits = math.comb(population, population // 2) < 2**62
    weights = samples.astype(np.int64 if fits else object)[..., None]
    # One axis after the other becomes a part of the last, which counts people.
    for length in reversed(shape):
        size = length - 1
        known = weights.shape[-1]
        summed = np.zeros((*weights.shape[:-2], known + size), weights.dtype)
        for number in range(length):
            summed[..., number : number + known] += (
                math.comb(size, number) * weights[..., number, :]
            )
        weights = summed
    return tuple(int(weight) for weight in weights.reshape(-1))


_CHUNK = 4_000_000
_LONGEST = 4_000_000


@dataclass(frozen=True)
class Drawing:
    """How many orderings are drawn, with the confidence of the interval of each probability."""

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
