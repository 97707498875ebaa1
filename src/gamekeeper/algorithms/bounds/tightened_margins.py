"""Published sums with the tightest limits that follow from all of them.

The limits of a margin are replaced by the exact bounds of its sums. The feasible tables are the
same, but a search that only looks at one row at a time then sees what follows from several: sums
over one margin that leave the total no choice, say. Without it, proving that a sample leaves no
other table can take a search over everything.
"""

from __future__ import annotations

from gamekeeper.algorithms.bounds.integer_bounds import MOST_PROGRAMS, sum_bounds
from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin

# A row takes two programs at most, of a few milliseconds each.
MOST_ROWS = 3_000


def tightened_margins(
    constraints: CountConstraints, *, max_rows: int = MOST_ROWS
) -> CountConstraints:
    """Return constraints with the same tables and the tightest limits of each published sum.

    With more rows than `max_rows` they are returned as they are.

    Examples
    --------
    Two sums of 2 to 4, and a total of 0 to 4: both are 2.

    >>> known = CountConstraints.of((2,), [((0,), [2, 2], [4, 4]), ((), 0, 4)])
    >>> [margin.upper.tolist() for margin in tightened_margins(known).margins]
    [[2, 2], [4]]
    """
    if sum(margin.lower.size for margin in constraints.margins) > max_rows:
        return constraints
    return CountConstraints(
        constraints.shape, tuple(_tightened(constraints, margin) for margin in constraints.margins)
    )


def _tightened(constraints: CountConstraints, margin: CountMargin) -> CountMargin:
    if margin.exact:
        return margin
    found = sum_bounds(constraints, margin, max_programs=MOST_PROGRAMS)
    return CountMargin(
        margin.groups, found.lower.reshape(margin.shape), found.upper.reshape(margin.shape)
    )
