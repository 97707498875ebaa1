"""Random feasible tables: independent draws, weighted draws, or walks that reach every table.

A part of a release (see `independent_parts`) with few states is drawn from exactly (`cellwise_sums`).
Otherwise tables are drawn cell by cell from a distribution that is not quite the wanted one, and
weighted by the ratio (sequential importance sampling, Chen, Diaconis, Holmes and Liu 2005). A draw
can end where no count is left. Such a dead end is a draw of weight 0: estimates of totals divide by
all draws and stay unbiased, and what is handed out are the draws that are tables.

A walk mixes three moves, each of which leaves the wanted distribution as it is: slides along a
lattice move by a step drawn from its conditional distribution; new counts for a few cells with the
others fixed, and a whole new table, both proposed by the sequential draw and accepted or not by the
rule of Metropolis and Hastings.

The walk reaches every table. Tightening only removes counts that no feasible table has, so when a
draw has followed a feasible table y so far, the next cell's count in y is within its limits; every
count within the limits has positive probability, hence y is proposed as a whole with positive
probability q(y). In each round it is proposed from any table x and accepted with probability
min(1, f(y) q(x) / f(x) q(y)) > 0 wherever the weights f(x), f(y) are positive. So all tables of
positive weight can follow each other within one round, and since x may follow x the walk has no
period: it converges to f whatever the release. This needs no Markov basis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.feasible.drawing_time import UNLIMITED, DrawingTime
from gamekeeper.algorithms.feasible.independent_parts import (
    SplitTables,
    TablePart,
    TableWeights,
    split_tables,
)
from gamekeeper.algorithms.feasible.part_sampling import (
    METHODS,
    PartSample,
    SamplingMethod,
    require_short,
    sample_part,
    worth,
)
from gamekeeper.algorithms.releases.constraints import CountConstraints, NoTableError
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_COUNTS = 500_000_000


@dataclass(frozen=True, eq=False, repr=False)
class TableSample:
    """Random feasible tables with what they are worth.

    Attributes
    ----------
    tables
        The tables, along the first axis.
    log_weights
        The logs of their weights: all the same for exact draws and walks.
    method
        "exact" (independent draws), "importance" or "chain"; the weakest that a part needed.
    n_dead
        Draws that ended without a table; not among `tables`.
    n_tables, n_tables_error
        An unbiased estimate of the number of feasible tables and its standard error; None for
        walks and for tables with weights. Infinity where it is too large for a float.
    log10_tables
        The decimal logarithm of that estimate.
    effective_size
        The number of independent draws that the tables are worth, for the worst cell.
    r_hat
        The largest potential scale reduction of a cell; near 1 when walks agree.
    acceptance
        The share of proposed whole tables that walks accepted; None without walks.
    seed
        The seed of the draws.
    """

    tables: Integers
    log_weights: Floats
    method: str
    n_dead: int
    n_tables: float | None
    n_tables_error: float | None
    log10_tables: float | None
    effective_size: float
    r_hat: float
    acceptance: float | None
    seed: int

    @property
    def weights(self) -> Floats:
        """The weights of the tables, which add up to 1."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.sum()

    def mean(self) -> Floats:
        """Return the estimated mean of each cell."""
        return np.tensordot(self.weights, self.tables, axes=1)

    def __repr__(self) -> str:
        return (
            f"TableSample(method={self.method!r}, tables={len(self.tables)}, "
            f"n_dead={self.n_dead}, effective_size={self.effective_size:.1f})"
        )


def sample_tables(
    constraints: CountConstraints,
    *,
    draws: int = 1000,
    seed: int = 0,
    method: SamplingMethod = "auto",
    weights: TableWeights | None = None,
    n_chains: int = 4,
    workers: int | None = None,
    within: DrawingTime = UNLIMITED,
    progress: Progress | None = None,
) -> TableSample:
    """Draw feasible tables at random.

    Parameters
    ----------
    constraints
        What is known of the table.
    draws
        The number of draws; those that are dead ends are not handed out.
    seed
        The same seed gives the same tables, whatever the number of workers.
    method
        "exact" gives independent draws and refuses where there are too many states; "importance"
        gives weighted independent draws, "chain" dependent ones of equal weight from several
        walks; "auto" takes for each part the first of them that serves.
    weights
        Weights of the tables; without, all feasible tables are equally likely.
    n_chains
        The number of walks.
    workers
        Threads to work in; all processors if not given.
    within
        The time that draws may take.
    progress
        Told how many draws are done.

    Raises
    ------
    NoTableError
        If there is no feasible table.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> sample = sample_tables(known, draws=100, seed=1)
    >>> sample.tables.shape, sample.method, all(known.admits(t) for t in sample.tables)
    ((100, 2, 2), 'exact', True)
    """
    _check(draws, method, n_chains)
    if draws * constraints.size > _MOST_COUNTS:
        raise LimitError(
            Reason.TOO_LARGE,
            f"{count_of(draws, 'table')} of {count_of(constraints.size, 'cell')} were asked for.",
            f"Together they have more than {_MOST_COUNTS:,} counts.",
            "Ask for fewer draws (--draws).",
        )
    split = proper_split(constraints, weights)
    found: list[PartSample] = []
    for number, part in enumerate(split.parts):
        found.append(
            sample_part(
                part,
                draws=draws,
                seed=np.random.SeedSequence([seed, number]),
                method=method,
                n_chains=n_chains,
                workers=workers,
                within=within,
                start=lambda part=part: start_of_part(constraints, split, part),
                progress=_share(progress, number, len(split.parts)),
            )
        )
        if progress is not None:
            progress((number + 1) * draws // len(split.parts), draws)
    return _joined(constraints, split, found, draws, seed, counts=weights is None)


def proper_split(constraints: CountConstraints, weights: TableWeights | None) -> SplitTables:
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
    split = split_tables(constraints, weights, caps=caps)
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


def _share(progress: Progress | None, number: int, n_parts: int) -> Progress | None:
    """Return what tells the progress of one of several parts as a share of the whole."""
    if progress is None:
        return None

    def tell(done: int, total: int | None) -> None:
        progress((number * (total or 0) + done) // n_parts, total)

    return tell


def _check(draws: int, method: str, n_chains: int) -> None:
    wrong = {
        "draws": (draws >= 1, "Give a number of 1 or more."),
        "n_chains": (n_chains >= 1, "Give a number of 1 or more."),
        "method": (method in METHODS, f"Choose one of {', '.join(METHODS)}."),
    }
    problems = [
        Problem(Reason.BAD_OPTION, name, "not a value that can be used.", must)
        for name, (holds, must) in wrong.items()
        if not holds
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Random feasible tables were asked for.",
            f"{count_of(len(problems), 'option')} cannot be used.",
            problems=problems,
        )


def _joined(
    constraints: CountConstraints,
    split: SplitTables,
    found: list[PartSample],
    draws: int,
    seed: int,
    *,
    counts: bool,
) -> TableSample:
    """Return whole tables from the draws of the parts."""
    flat = np.tile(split.lower, (draws, 1))
    logs = np.zeros(draws)
    for part, sample in zip(split.parts, found, strict=True):
        # Walks may have gone on for a round more than was asked for; their ends are evenly left out.
        chosen = np.linspace(0, len(sample.tables) - 1, draws).round().astype(np.int64)
        flat[:, part.cells] += sample.tables[chosen]
        logs += sample.log_weights[chosen]
    alive = np.isfinite(logs)
    if not alive.any():
        raise NoTableError()
    walks = [sample for sample in found if sample.n_chains]
    n_tables = n_tables_error = log10_tables = None
    if counts and not walks:
        log_total = sum(sample.log_total for sample in found)
        log10_tables = log_total / math.log(10)
        # The largest float is near exp(709).
        n_tables = math.exp(log_total) if log_total < 700 else math.inf
        error = math.sqrt(sum(sample.relative_error**2 for sample in found))
        n_tables_error = n_tables * error if error else 0.0
    sizes = [worth(logs), *(float(sample.effective_sizes.min()) for sample in walks)]
    methods = [sample.method for sample in found] or ["exact"]
    return TableSample(
        tables=flat[alive].reshape(-1, *constraints.shape),
        log_weights=logs[alive],
        method=max(methods, key=METHODS.index),
        n_dead=int((~alive).sum()),
        n_tables=n_tables,
        n_tables_error=n_tables_error,
        log10_tables=log10_tables,
        effective_size=min(sizes),
        r_hat=max((float(sample.r_hat.max()) for sample in walks), default=1.0),
        acceptance=min((sample.acceptance for sample in walks), default=None),
        seed=seed,
    )


def start_of_part(
    constraints: CountConstraints, split: SplitTables, part: TablePart
) -> Integers | None:
    """Return the part of some feasible table, by integer programming."""
    from gamekeeper.algorithms.bounds.integer_bounds import feasible_table

    table = feasible_table(constraints)
    if table is None:
        raise NoTableError()
    found = np.asarray(table, np.int64).reshape(-1)[part.cells] - part.least
    return found if (found <= part.widths).all() else None
