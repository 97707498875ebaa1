"""Parts of a release that do not bear on each other, and the published tables among them.

Cells bear on each other when they share a published sum. Tables that fit a release are put
together from tables that fit each of its parts, so whether a zero is recovered in a cell depends on
the known people of its own part alone. Numbers of samples that recover no zero are then products
of polynomials, one for each part. A part whose sums are single cells, or single cells and their
total, needs no search (see `recovery_rule`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.components import connected
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.algorithms.subtraction.recovery_rule import RecoveryRule, recovery_rule

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReleasePart:
    """Cells of a release that bear on each other.

    Attributes
    ----------
    cells
        Their flat numbers in the base table.
    truth
        Their true counts.
    constraints
        What is published about them, as a table with one axis.
    rule
        When zeros are recovered, where the part is a table alone or with its total.
    """

    cells: Integers
    truth: Integers = field(repr=False)
    constraints: CountConstraints
    rule: RecoveryRule | None


def release_parts(constraints: CountConstraints, truth: Integers) -> list[ReleasePart]:
    """Return the parts of a release; all cells that nothing else bears on are one part.

    Examples
    --------
    >>> known = CountConstraints.of(
    ...     (2, 2), [((0, 1), [[0, 0], [1, 1]], [[2, 2], [3, 3]]), ((0,), [1, 4])]
    ... )
    >>> [part.cells.tolist() for part in release_parts(known, np.array([1, 0, 2, 2]))]
    [[0, 1], [2, 3]]
    """
    rows = constraints.rows
    lengths = np.diff(rows.starts)
    telling = _tells(constraints)
    tells = telling & (lengths > 1)
    of_row = np.repeat(np.arange(len(rows)), lengths)
    kept = tells[of_row]
    numbers, _ = connected(of_row[kept], rows.cells[kept], len(rows), constraints.size)
    alone = np.bincount(numbers)[numbers] == 1
    members = [np.flatnonzero(alone)] if alone.any() else []
    together = np.flatnonzero(~alone)
    order = together[np.argsort(numbers[together], kind="stable")]
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    members += np.split(order, cuts) if len(order) else []
    return [_part(constraints, truth[cells], cells, telling) for cells in members]


def release_rule(constraints: CountConstraints, truth: Integers) -> RecoveryRule | None:
    """Return when zeros are recovered if the release is a table, alone or with its total.

    Examples
    --------
    >>> known = CountConstraints.of((2,), [((0,), [1, 1], [9, 9]), ((), 0, 4)])
    >>> release_rule(known, np.array([3, 1])).unsure.tolist()
    [True, False]
    """
    rows = constraints.rows
    lengths = np.diff(rows.starts)
    single = lengths == 1
    total = (lengths == constraints.size) & ~single
    tells = _tells(constraints)
    if np.any(tells & ~single & ~total):
        return None
    lower, upper = _single_limits(constraints, single)
    total &= tells
    total_upper = int(rows.upper[total].min()) if total.any() else None
    return recovery_rule(truth, upper, lower=lower, total_upper=total_upper)


def _tells(constraints: CountConstraints) -> NDArray[np.bool_]:
    """Whether each sum tells something that the limits of its single cells do not.

    The margins of an exact table tell nothing more than the table, whoever is taken out of it: what
    follows from other sums still follows when cells are known to be larger.
    """
    rows = constraints.rows
    lengths = np.diff(rows.starts)
    single = lengths == 1
    tells = (rows.lower > 0) | (rows.upper < UNBOUNDED)
    if not len(rows) or not single.any():
        return tells
    lower, upper = _single_limits(constraints, single)
    of_row = np.repeat(np.arange(len(rows)), lengths)
    least = np.bincount(of_row, lower[rows.cells], minlength=len(rows))
    most = np.bincount(of_row, upper[rows.cells].astype(np.float64), minlength=len(rows))
    # In floating point: counts are below 2**53, and what is larger is no proof.
    is_exact = most < UNBOUNDED
    follows = is_exact & (least >= rows.lower) & (most <= rows.upper)
    return tells & (single | ~follows)


def _single_limits(
    constraints: CountConstraints, single: NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """Return the limits of cells by the rows that have no other cell."""
    rows = constraints.rows
    lower = np.zeros(constraints.size, np.int64)
    upper = np.full(constraints.size, UNBOUNDED, np.int64)
    cells = rows.cells[rows.starts[:-1][single]]
    np.maximum.at(lower, cells, rows.lower[single])
    np.minimum.at(upper, cells, rows.upper[single])
    return lower, upper


def _part(
    constraints: CountConstraints,
    truth: Integers,
    cells: Integers,
    telling: NDArray[np.bool_],
) -> ReleasePart:
    margins: list[CountMargin] = []
    before = 0
    for margin in constraints.margins:
        sums, groups = np.unique(margin.cells[cells], return_inverse=True)
        # A sum that tells nothing may reach beyond the part.
        tells = telling[before : before + margin.lower.size][sums]
        lower = np.where(tells, margin.lower.reshape(-1)[sums], 0)
        upper = np.where(tells, margin.upper.reshape(-1)[sums], UNBOUNDED)
        before += margin.lower.size
        margins.append(CountMargin((groups.reshape(-1),), lower, upper))
    part = CountConstraints((len(cells),), tuple(margins))
    return ReleasePart(cells, truth, part, release_rule(part, truth))
