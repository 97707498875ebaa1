"""Random feasible tables: independent draws, weighted draws, or walks that reach every table.

A part of a release with few states is drawn from exactly (`independent_parts`). Otherwise tables
are drawn cell by cell from a distribution that is not quite the wanted one, and weighted by the
ratio (sequential importance sampling, Chen, Diaconis, Holmes and Liu 2005). A draw can end where no
count is left. Such a dead end is a draw of weight 0: estimates of totals divide by all draws and
stay unbiased, and what is handed out are the draws that are tables. Each draw of a cell looks at
all cells of the rows that it is in, so that a table takes time with the sum of the squares of the
lengths of its rows: where margins have few cells and the table has many, a single draw can take
minutes, which is told before.

A walk mixes three moves, each of which leaves the wanted distribution as it is: slides along a
lattice move by a step drawn from its conditional distribution; new counts for a few cells with the
others fixed, and a whole new table, both proposed by the sequential draw and accepted or not by the
rule of Metropolis and Hastings.

Lattice moves keep all known sums. The rows with one possible sum are brought to echelon form by
unimodular operations on the columns (Hermite's normal form); the columns that are then zero are a
basis of all integer vectors that leave those sums alone. Sums and differences of two of them that
are short join them: in a two-way table they are the swaps of four cells. The cost is cubic in the
cells.

Moves of a basis alone need not connect all tables without going below zero; the walk reaches every
table all the same. Tightening only removes counts that no feasible table has, so when a draw has
followed a feasible table y so far, the next cell's count in y is within its limits; every count
within the limits has positive probability, hence y is proposed as a whole with positive probability
q(y). In each round it is proposed from any table x and accepted with probability min(1, f(y) q(x) /
f(x) q(y)) > 0 wherever the weights f(x), f(y) are positive. So all tables of positive weight can
follow each other within one round, and since x may follow x the walk has no period: it converges to
f whatever the release. This needs no Markov basis.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import in_threads
from gamekeeper.algorithms.feasible import independent_parts
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.statistics import effective_size, r_hat
from gamekeeper.budget import require_memory, workers_of
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


# Measured on two-way tables of 30² to 100² cells, on three-way tables of 10³ and 15³, and on 8 to 11
# binary axes with margins of one and of two: 0.7 to 2.1 times this.
_SECONDS = 1e-7


@dataclass(frozen=True, slots=True)
class DrawingTime:
    """How much processor time may be spent on the tables of a release, from now on.

    `draws` tables will be drawn in all, pilots with them.
    """

    seconds: float | None
    draws: int
    started: float = field(default_factory=time.process_time)

    def require(self, part: independent_parts.TablePart) -> None:
        """Refuse draws of a part that would take too long."""
        if self.seconds is None:
            return
        squares = float((np.diff(part.starts).astype(np.float64) ** 2).sum())
        needed = self.draws * _SECONDS * squares
        if time.process_time() - self.started + needed <= self.seconds:
            return
        raise LimitError(
            Reason.TOO_LARGE,
            f"Random tables of {count_of(part.n_cells, 'open cell')} that depend on each other were"
            " to be drawn.",
            f"{count_of(self.draws, 'draw')} would take about {needed:,.0f} s of processor time,"
            f" and the limit is {self.seconds:,.0f} s.",
            "Bound the cells instead (gamekeeper tables bounds), attack tables of fewer axes or"
            " categories, ask for fewer draws (--draws), or allow more time (--max-seconds).",
        )

    def require_left(self) -> None:
        """End a search when the time is over."""
        if self.seconds is not None and time.process_time() - self.started > self.seconds:
            raise LimitError(
                Reason.TOO_LARGE,
                "All feasible tables were to be visited one by one.",
                f"The search has not ended within {self.seconds:,.0f} s of processor time.",
                "Allow more time (--max-seconds), or attack tables of fewer axes or categories.",
            )


UNLIMITED = DrawingTime(None, 0)


_MOST_CELLS = 1500
_MOST_MOVES = 4000
_SHORT = 8


def kernel_basis(rows: Integers) -> Integers:
    """Return a basis, one vector per line, of the integer vectors that every row maps to 0.

    Examples
    --------
    >>> kernel_basis(np.array([[1, 1, 0], [0, 1, 1]]))
    array([[ 1, -1,  1]])
    """
    n = rows.shape[1]
    reduced, columns = rows.astype(np.int64).copy(), np.eye(n, dtype=np.int64)
    free = np.ones(n, bool)
    for row in range(len(rows)):
        while True:
            nonzero = np.flatnonzero(free & (reduced[row] != 0))
            if len(nonzero) < 2:
                break
            size = np.abs(reduced[row, nonzero])
            # A short pivot keeps the basis short.
            length = np.abs(columns[:, nonzero]).sum(axis=0)
            pivot = nonzero[np.lexsort((length, size))[0]]
            others = nonzero[nonzero != pivot]
            times = reduced[row, others] // reduced[row, pivot]
            reduced[:, others] -= np.outer(reduced[:, pivot], times)
            columns[:, others] -= np.outer(columns[:, pivot], times)
        free[nonzero] = False
    basis = columns[:, free].T
    # The sign of a move is of no matter; the first entry is positive for definiteness.
    first = np.argmax(basis != 0, axis=1)
    signs = np.sign(basis[np.arange(len(basis)), first])
    return basis * signs[:, None]


def lattice_moves(part: independent_parts.TablePart) -> Integers:
    """Return moves of a part, one per line; none if there are too many cells for it."""
    if part.n_cells > _MOST_CELLS:
        return np.zeros((0, part.n_cells), np.int64)
    basis = kernel_basis(part.matrix()[part.row_lower == part.row_upper])
    moves = [basis]
    n_moves = len(basis)
    for place, move in enumerate(basis):
        for other in (basis[place + 1 :] - move, basis[place + 1 :] + move):
            short = other[np.abs(other).sum(axis=1) <= _SHORT]
            moves.append(short)
            n_moves += len(short)
        if n_moves > _MOST_MOVES:
            break
    return np.concatenate(moves)


SamplingMethod = Literal["auto", "exact", "importance", "chain"]
"""Independent draws, weighted ones, or dependent ones of walks; "auto" takes the first that serves."""

_MOST_COUNTS = 100_000_000
_EXACT_STEPS = 2_000_000
_BLOCK = 200
_CHAINS = 4
_ROUNDS = 25
_PILOT = 200
_ENOUGH = 0.1
_LEAST_BURN_IN = 50
_START_DRAWS = 100
_START_NODES = 200_000
# On average one table in ten has a count that is drawn evenly.
_EVEN = 0.1


@dataclass(frozen=True, eq=False)
class PartSample:
    """Draws of one part, counted from the lower limits of its cells.

    - `tables`, `log_weights`: the draws and the logs of their weights; dead ends have minus
      infinity.
    - `method`: "exact", "importance" or "chain".
    - `log_total`, `relative_error`: the log of an estimate of the weight of all tables and its
      relative standard error; not a number for a walk.
    - `n_chains`: walks, whose draws follow each other; 0 for independent draws. `acceptance` is the
      share of proposed whole tables that a walk accepted.
    """

    tables: Integers
    log_weights: Floats
    method: str
    log_total: float
    relative_error: float
    n_chains: int = 0
    acceptance: float = float("nan")

    @cached_property
    def r_hat(self) -> Floats:
        """The potential scale reduction of each cell, 1 for independent draws."""
        if not self.n_chains:
            return np.ones(self.tables.shape[1])
        return np.array([r_hat(self._series(cell)) for cell in range(self.tables.shape[1])])

    @cached_property
    def effective_sizes(self) -> Floats:
        """How many independent draws the draws are worth, for each cell."""
        if not self.n_chains:
            return np.full(self.tables.shape[1], worth(self.log_weights))
        return np.array(
            [effective_size(self._series(cell)) for cell in range(self.tables.shape[1])]
        )

    def _series(self, cell: int) -> Floats:
        return self.tables[:, cell].reshape(self.n_chains, -1).astype(np.float64)


def sample_part(
    part: independent_parts.TablePart,
    *,
    draws: int,
    seed: np.random.SeedSequence,
    method: SamplingMethod = "auto",
    workers: int | None = None,
    within: DrawingTime = UNLIMITED,
    start: Callable[[], Integers | None] = lambda: None,
    progress: Progress | None = None,
) -> PartSample:
    """Draw from one part; a walk is taken where all weighted draws are dead ends.

    The same seed gives the same tables, whatever the number of workers. `start` gives a table of the
    part, or None, where draws find none to start a walk from.
    """
    steps = _EXACT_STEPS
    if method in ("auto", "exact"):
        try:
            tables, log_total = independent_parts.draw_part(
                part, steps, draws, np.random.default_rng(seed)
            )
        except independent_parts.TooManySteps:
            if method == "exact":
                raise LimitError(
                    Reason.TOO_LARGE,
                    "Independent draws of feasible tables were asked for.",
                    f"A part of {count_of(part.n_cells, 'open cell')} takes more than "
                    f"{steps:,} steps.",
                    "Choose the method 'importance' or 'chain'.",
                ) from None
        else:
            return PartSample(tables, np.zeros(draws), "exact", log_total, 0.0)
    within.require(part)
    drawer = _Drawer(part)
    first, second, third = seed.spawn(3)
    if method == "auto":
        pilot = drawer.draw(_PILOT, first, workers)
        method = "importance" if worth(pilot[1]) >= _ENOUGH * _PILOT else "chain"
    if method == "importance":
        tables, logs = drawer.draw(draws, second, workers, progress)
        log_total, error = _total_weight(logs)
        if np.isfinite(log_total):
            return PartSample(tables, logs, "importance", log_total, error)
    return drawer.walk(draws, third, workers, start, progress)


def estimate_part(part: independent_parts.TablePart, *, draws: int) -> tuple[float, float]:
    """Return the log of an estimate of the weight of all tables, and its relative standard error.

    Minus infinity if every draw was a dead end.
    """
    return _total_weight(_Drawer(part).draw(draws, np.random.SeedSequence(0), 1)[1])


def require_short(widths: Integers) -> None:
    """Refuse cells with so many possible counts that these cannot be listed."""
    together = int(widths.sum()) + len(widths)
    if together > _MOST_COUNTS:
        raise LimitError(
            Reason.TOO_LARGE,
            "Distributions of the counts of cells were asked for.",
            f"The cells have {together:,} possible counts together; the limit is {_MOST_COUNTS:,}.",
            "Counts that are known so badly say little; publish or give narrower limits.",
        )


class _Drawer:
    """A part as the compiled kernels take it, with the shape of its draws."""

    def __init__(self, part: independent_parts.TablePart) -> None:
        from gamekeeper.algorithms.feasible.enumeration_kernels import limits_of, problem_of
        from gamekeeper.algorithms.feasible.sampling_kernels import Shape, fit_tilt

        require_short(part.widths)
        self.part = part
        self.problem = problem_of(part)
        n, n_rows = part.n_cells, part.n_rows
        cell_offsets, cell_logs = _flat(part.cell_logs or (None,) * n)
        row_offsets, row_logs = _flat(part.row_logs or (None,) * n_rows)
        self.shape = Shape(
            cell_offsets, cell_logs, row_offsets, row_logs, np.zeros(n), np.zeros(n_rows), _EVEN / n
        )
        fit_tilt(self.problem, limits_of(part), self.shape, self._scratch())

    def draw(
        self,
        draws: int,
        seed: np.random.SeedSequence,
        workers: int | None,
        progress: Progress | None = None,
    ) -> tuple[Integers, Floats]:
        """Return tables with log weights; blocks have seeds of their own, whoever draws them."""
        from gamekeeper.algorithms.feasible.enumeration_kernels import limits_of
        from gamekeeper.algorithms.feasible.sampling_kernels import draw_tables

        self._require_room(draws)
        tables = np.zeros((draws, self.part.n_cells), np.int64)
        logs = np.zeros(draws)
        starts = range(0, draws, _BLOCK)
        seeds = seed.spawn(len(starts))

        def work(block: int) -> None:
            place = slice(starts[block], starts[block] + _BLOCK)
            draw_tables(
                self.problem, limits_of(self.part), self.shape, self._scratch(),
                np.random.default_rng(seeds[block]), tables[place], logs[place],
            )  # fmt: skip

        def tell(done: int, _: int | None) -> None:
            if progress is not None:
                progress(min(done * _BLOCK, draws), draws)

        list(in_threads(work, range(len(starts)), workers_of(workers), progress=tell))
        return tables, logs

    def walk(
        self,
        draws: int,
        seed: np.random.SeedSequence,
        workers: int | None,
        start: Callable[[], Integers | None],
        progress: Progress | None,
    ) -> PartSample:
        """Return draws of several walks; a fifth of the rounds goes before the first draw."""
        from gamekeeper.algorithms.feasible.enumeration_kernels import limits_of
        from gamekeeper.algorithms.feasible.sampling_kernels import walk

        n = self.part.n_cells
        per_chain = -(-draws // _CHAINS)
        burn_in = max(_LEAST_BURN_IN, per_chain // 4)
        self._require_room(_CHAINS * (burn_in + per_chain))
        moves = lattice_moves(self.part)
        compiled = _compiled_moves(self.part, moves)
        seeds = seed.spawn(_CHAINS + 1)
        generators = [np.random.default_rng(one) for one in seeds[1:]]
        states = self._starts(seeds[0], workers, start)
        rounds = np.zeros((_CHAINS, burn_in + per_chain, n), np.int64)
        tally = np.zeros((_CHAINS, 4), np.int64)
        limits = [limits_of(self.part) for _ in range(_CHAINS)]

        def work(first: int, chain: int) -> None:
            walk(
                self.problem, limits[chain], self.shape, self.part.widths, compiled,
                self._scratch(), generators[chain], states[chain],
                rounds[chain, first : first + _ROUNDS], 30 * n, 1 + n // 100,
                tally[chain],
            )  # fmt: skip

        n_rounds = rounds.shape[1]
        for first in range(0, n_rounds, _ROUNDS):
            list(in_threads(partial(work, first), range(_CHAINS), workers_of(workers)))
            if progress is not None:
                progress(min(first + _ROUNDS, n_rounds) * draws // n_rounds, draws)
        tables = rounds[:, burn_in:].reshape(-1, n)
        return PartSample(
            tables, np.zeros(len(tables)), "chain", float("nan"), float("nan"), _CHAINS,
            float(tally[:, 1].sum() / tally[:, 0].sum()),
        )  # fmt: skip

    def _require_room(self, draws: int) -> None:
        """Refuse draws that cannot be kept, once as they are made and once as they are counted."""
        require_memory(
            f"{count_of(draws, 'table')} of {count_of(self.part.n_cells, 'open cell')} were to be"
            " drawn.",
            2 * 8 * draws * (self.part.n_cells + 1),
            "Their counts",
            "Ask for fewer draws (--draws)",
        )

    def _scratch(self) -> tuple[Floats, ...]:
        from gamekeeper.algorithms.feasible.sampling_kernels import Scratch

        n, n_rows = self.part.n_cells, self.part.n_rows
        return Scratch(
            np.zeros(n), np.zeros(n_rows), np.zeros(n), np.zeros(n),
            np.empty(int(self.part.widths.max()) + 1),
        )  # fmt: skip

    def _starts(
        self,
        seed: np.random.SeedSequence,
        workers: int | None,
        start: Callable[[], Integers | None],
    ) -> Integers:
        """Return a table to start each walk from: drawn, else searched for, else as given."""
        from gamekeeper.algorithms.feasible.enumeration_kernels import (
            begin_search,
            limits_of,
            search,
        )
        from gamekeeper.algorithms.feasible.sampling_kernels import log_weight_of

        tables, logs = self.draw(_START_DRAWS, seed, workers)
        alive = np.flatnonzero(np.isfinite(logs))
        if len(alive):
            return tables[np.resize(alive, _CHAINS)]
        one = np.zeros((1, self.part.n_cells), np.int64)
        limits, state = limits_of(self.part, deep=True), begin_search(self.part)
        status = search(self.problem, limits, state, one, True, 1, _START_NODES)
        found: Integers | None = one[0]
        if not state.numbers[1]:
            if status == 0:
                raise NoNumbersError()
            found = start()
        if found is None or not np.isfinite(log_weight_of(self.problem, self.shape, found)):
            raise LimitError(
                Reason.TOO_LARGE,
                "A walk among feasible tables was asked for.",
                f"No table to start from was found among {_START_NODES:,} attempts.",
                "Draw from a release with fewer cells or margins.",
            )
        return np.tile(found, (_CHAINS, 1))


def _flat(logs: tuple[Floats | None, ...]) -> tuple[Integers, Floats]:
    """Return where the log weights of each begin, -1 without, and all of them in one array."""
    logs = tuple(None if one is None or np.all(one == one[0]) else one for one in logs)
    lengths = np.array([0 if one is None else len(one) for one in logs], np.int64)
    offsets = np.cumsum(lengths) - lengths
    given = [one for one in logs if one is not None]
    return np.where(lengths > 0, offsets, -1), np.concatenate(given) if given else np.zeros(0)


def _compiled_moves(part: independent_parts.TablePart, moves: Integers) -> tuple[Integers, ...]:
    from gamekeeper.algorithms.feasible.sampling_kernels import Moves

    changed = moves @ part.matrix().T
    at, cells = np.nonzero(moves)
    row_at, changed_rows = np.nonzero(changed)
    numbers = np.arange(len(moves) + 1)
    return Moves(
        np.searchsorted(at, numbers), cells, moves[at, cells],
        np.searchsorted(row_at, numbers), changed_rows, changed[row_at, changed_rows],
    )  # fmt: skip


def worth(logs: Floats) -> float:
    """Return the effective number of weighted draws (Kong 1992)."""
    if not np.isfinite(logs).any():
        return 0.0
    weights = np.exp(logs - logs.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def _total_weight(logs: Floats) -> tuple[float, float]:
    """Return the log of the mean weight and its relative standard error."""
    top = logs.max()
    if not np.isfinite(top):
        return float("-inf"), float("nan")
    weights = np.exp(logs - top)
    mean = weights.mean()
    spread = weights.std(ddof=1) if len(weights) > 1 else float("nan")
    return float(np.log(mean) + top), float(spread / mean / np.sqrt(len(weights)))


def estimate_tables(
    constraints: CountConstraints,
    *,
    draws: int,
    seed: int = 0,
    workers: int | None = None,
    within: DrawingTime = UNLIMITED,
) -> tuple[float, float] | None:
    """Return an unbiased estimate of the number of feasible tables, and its standard error.

    None where all draws of a part are dead ends, `NoNumbersError` if there is no table. The estimate
    is infinite where it is too large for a float. The same seed gives the same estimate, whatever
    the number of workers.

    Examples
    --------
    >>> known = CountConstraints.of((3, 3), [((0,), [2, 2, 2]), ((1,), [2, 2, 2])])
    >>> number, error = estimate_tables(known, draws=1000, seed=1)
    >>> abs(number - 21) < 4 * error
    True
    """
    split = proper_split(constraints, None)
    found = [
        sample_part(
            part,
            draws=draws,
            seed=np.random.SeedSequence([seed, number]),
            method="importance",
            workers=workers,
            within=within,
            start=lambda part=part: start_of_part(constraints, split, part),
        )
        for number, part in enumerate(split.parts)
    ]
    if any(sample.n_chains for sample in found):
        return None
    log_total = sum(sample.log_total for sample in found)
    # The largest float is near exp(709).
    number = math.exp(log_total) if log_total < 700 else math.inf
    error = math.sqrt(sum(sample.relative_error**2 for sample in found))
    return number, number * error if error else 0.0


def proper_split(
    constraints: CountConstraints, weights: independent_parts.TableWeights | None
) -> independent_parts.SplitTables:
    """Return the parts of tables that are to be drawn; refuse if they go on for ever.

    Under a Poisson prior, cells without an upper limit are cut where a mass of 1e-18 is left.
    """
    caps = None
    if weights is not None and weights.means is not None:
        means = np.asarray(weights.means, np.float64).reshape(-1)
        required = np.zeros(constraints.size, np.int64)
        for margin in constraints.margins:
            np.maximum(required, margin.lower.reshape(-1)[margin.cells], out=required)
        # Bernstein's inequality: a Poisson count exceeds its mean by more than t with a probability
        # below exp(-t²/(2 (mean + t/3))). Whatever a row asks for at least comes on top.
        beyond = 14 + np.sqrt(190 + 83 * means)
        caps = required + np.ceil(means + beyond).astype(np.int64)
    split = independent_parts.split_tables(constraints, weights, caps=caps)
    if len(split.unbounded):
        raise InputError(
            Reason.BAD_OPTION,
            "Feasible tables were to be drawn or averaged, all with the same weight.",
            f"{count_of(len(split.unbounded), 'cell')} of the table "
            "can be as large as you like, so there are infinitely many tables.",
            "Give an upper limit for the hidden counts or a total, or choose the prior 'poisson'"
            " (--prior poisson).",
        )
    require_short(split.upper - split.lower)
    return split


def start_of_part(
    constraints: CountConstraints,
    split: independent_parts.SplitTables,
    part: independent_parts.TablePart,
) -> Integers | None:
    """Return the part of some feasible table, by integer programming."""
    from gamekeeper.algorithms.bounds.integer_bounds import feasible_table

    table = feasible_table(constraints)
    if table is None:
        raise NoNumbersError()
    found = np.asarray(table, np.int64).reshape(-1)[part.cells] - part.least
    return found if (found <= part.widths).all() else None
