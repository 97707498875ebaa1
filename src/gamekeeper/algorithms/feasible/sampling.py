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

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.feasible.drawing_time import UNLIMITED, DrawingTime
from gamekeeper.algorithms.feasible.independent_parts import (
    SplitTables,
    TablePart,
    TableWeights,
    split_tables,
)
from gamekeeper.algorithms.feasible.part_sampling import require_short, sample_part
from gamekeeper.algorithms.releases.constraints import CountConstraints, NoTableError
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]


def estimate_tables(
    constraints: CountConstraints,
    *,
    draws: int,
    seed: int = 0,
    workers: int | None = None,
    within: DrawingTime = UNLIMITED,
) -> tuple[float, float] | None:
    """Return an unbiased estimate of the number of feasible tables, and its standard error.

    None where all draws of a part are dead ends. The estimate is infinite where it is too large for
    a float. The same seed gives the same estimate, whatever the number of workers.

    Raises
    ------
    NoTableError
        If there is no feasible table.

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
