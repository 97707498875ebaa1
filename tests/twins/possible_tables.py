"""Random releases of tiny tables, and every table of counts that they leave possible."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin

SHAPES = [(2,), (3,), (4,), (5,), (2, 2), (2, 3), (3, 2), (2, 2, 2), (1, 4)]


@st.composite
def groupings(draw, length):
    """Draw groups of the categories of an axis, numbered from 0 without gaps."""
    kind = draw(st.sampled_from(["kept", "out", "grouped"]))
    if kind == "kept":
        return np.arange(length)
    if kind == "out":
        return np.zeros(length, np.int64)
    labels = draw(st.lists(st.integers(0, 2), min_size=length, max_size=length))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


@st.composite
def group_margins(draw, shape):
    """Draw a margin without limits."""
    groups = tuple(draw(groupings(length)) for length in shape)
    sizes = tuple(int(group.max()) + 1 for group in groups)
    nothing = np.zeros(sizes, np.int64)
    return CountMargin(groups, nothing, np.full(sizes, UNBOUNDED))


@st.composite
def releases(draw, can_conflict=True):
    """Draw margins of a table: exact, perturbed, suppressed or grouped, perhaps with a mistake."""
    shape = draw(st.sampled_from(SHAPES))
    truth = np.array(
        draw(st.lists(st.integers(0, 3), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    ).reshape(shape)  # fmt: skip
    margins = []
    for _ in range(draw(st.integers(1, 4))):
        margin = draw(group_margins(shape))
        sums = margin.sums(truth)
        lower, upper = sums.copy(), sums.copy()
        for place in np.ndindex(sums.shape):
            kind = draw(st.sampled_from(["exact", "exact", "within", "hidden", "capped"]))
            if kind == "within":
                lower[place] = max(0, sums[place] - draw(st.integers(0, 2)))
                upper[place] = sums[place] + draw(st.integers(0, 2))
            elif kind != "exact":
                lower[place] = 0
                upper[place] = UNBOUNDED if kind == "hidden" else sums[place]
            if can_conflict and draw(st.integers(0, 11)) == 0:
                lower[place] += 1
                upper[place] = min(UNBOUNDED, upper[place] + 1)
        margins.append(CountMargin(margin.groups, lower, upper))
    return CountConstraints(shape, tuple(margins))


def largest_values(constraints):
    """Return how large each cell need be taken.

    A cell without an upper limit goes up to the largest lower limit of its sums: more fulfils no
    sum that this does not fulfil.
    """
    most = np.full(constraints.size, UNBOUNDED)
    enough = np.zeros(constraints.size, np.int64)
    for margin in constraints.margins:
        most = np.minimum(most, margin.upper.reshape(-1)[margin.cells])
        enough = np.maximum(enough, margin.lower.reshape(-1)[margin.cells])
    return np.where(most >= UNBOUNDED, enough, most)


def all_tables(constraints):
    """Return every table, one per row."""
    most = largest_values(constraints)
    tables = np.zeros((1, 0), np.int64)
    for cell in range(constraints.size):
        values = np.arange(most[cell] + 1)
        tables = np.column_stack(
            [np.repeat(tables, len(values), axis=0), np.tile(values, len(tables))]
        )
        for margin in constraints.margins:
            row = margin.cells[cell]
            members = margin.cells == row
            sums = tables[:, members[: cell + 1]].sum(axis=1)
            fits = sums <= margin.upper.reshape(-1)[row]
            fits &= (
                sums + most[cell + 1 :][members[cell + 1 :]].sum() >= margin.lower.reshape(-1)[row]
            )
            tables = tables[fits]
    return tables


def any_table(constraints):
    """Tell whether there is a table, by filling cell after cell; most have one that is soon found."""
    most = largest_values(constraints)
    rows = [
        (np.flatnonzero(margin.cells == row), int(low), int(high))
        for margin in constraints.margins
        for row, (low, high) in enumerate(zip(margin.lower.flat, margin.upper.flat, strict=True))
    ]
    of_cell = [[row for row in rows if cell in row[0]] for cell in range(constraints.size)]

    def fits(table, cell):
        for members, low, high in of_cell[cell]:
            total = sum(table[k] for k in members if k <= cell)
            left = sum(int(most[k]) for k in members if k > cell)
            if total > high or total + left < low:
                return False
        return cell + 1 == constraints.size or any(
            fits((*table, value), cell + 1) for value in range(most[cell + 1] + 1)
        )

    return any(fits((value,), 0) for value in range(most[0] + 1))


def is_unbounded(constraints):
    """Return for each cell whether no sum with an upper limit holds it."""
    return np.all(
        [margin.upper.reshape(-1)[margin.cells] >= UNBOUNDED for margin in constraints.margins],
        axis=0,
    )


def bounds_by_enumeration(constraints, sums=None):
    """Return the bounds of every cell, or of sums given by a number for each cell; flat."""
    tables = all_tables(constraints)
    sums = np.arange(constraints.size) if sums is None else sums
    totals = np.stack([tables[:, sums == k].sum(axis=1) for k in range(sums.max() + 1)])
    upper = totals.max(axis=1)
    upper[np.unique(sums[is_unbounded(constraints)])] = UNBOUNDED
    return totals.min(axis=1), upper


def pairs_of_three(first, second, third):
    """Return the constraints x0 + x1 = first, x1 + x2 = second, x0 + x2 = third."""
    margins = []
    for alone, total in ((2, first), (0, second), (1, third)):
        groups = np.zeros(3, np.int64)
        groups[alone] = 1
        margins.append(
            CountMargin((groups,), np.array([total, 0]), np.array([total, UNBOUNDED]))
        )  # fmt: skip
    return CountConstraints((3,), tuple(margins))
