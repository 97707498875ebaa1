"""Open numbers that hang together by rows: each component is a problem of its own.

Limits fix some numbers, and make some rows say nothing that the limits of their numbers do not say.
What remains falls into components: numbers are tied by the rows that they share.

What is asked for are sums of numbers, most of them of one. To the rows of a component comes one row
without limits for each sum, so that a sum can be held at a value as any row is.

A number is without upper limit and free upwards if no row is ever hurt by raising it: it is in no row
whose upper limit its factor brings nearer. It has no largest value, wherever anything satisfies the
rows. A smaller value of it serves all of its rows, whatever the other numbers are, as soon as it
makes up for their worst. So searches cut it there, which keeps every number finite, leaves all others
as many values as they had, and takes no least value away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import NO_LIMIT, Integers, LinearFacts, row_sums

Flags = NDArray[np.bool_]


class SearchLimits(NamedTuple):
    """Limits of the numbers and of the rows of a component, those of sums among them."""

    lower: Integers
    upper: Integers
    row_lower: Integers
    row_upper: Integers

    def copied(self) -> SearchLimits:
        """Return the same, to be changed in place."""
        return SearchLimits(*(limits.copy() for limits in self))


@dataclass(frozen=True, eq=False)
class Component:
    """Open numbers that hang together, with the rows that join them.

    - `numbers`, `rows`: which they are among all. All else speaks of places in these lists.
    - `facts`: the facts of these numbers alone, with all others at their only value.
    - `sums`: the sums that are asked for, as far as they are within this component, by number.
    - `sum_starts`, `sum_members`: the numbers of each.
    """

    numbers: Integers
    rows: Integers
    facts: LinearFacts
    sums: Integers
    sum_starts: Integers
    sum_members: Integers

    @property
    def n_rows(self) -> int:
        """The number of rows, without those of sums."""
        return self.facts.n_rows

    def members_of(self, place: int) -> Integers:
        """Return the numbers of a sum."""
        return self.sum_members[self.sum_starts[place] : self.sum_starts[place + 1]]

    def totals(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the sums that are asked for."""
        return row_sums(self.sum_starts, numbers[self.sum_members])

    @cached_property
    def is_single(self) -> Flags:
        """Whether each sum is of one number."""
        return np.diff(self.sum_starts) == 1

    @cached_property
    def cuts(self) -> Integers:
        """Where each number is cut that is endless and free upwards; `NO_LIMIT` for the others."""
        facts = self.facts
        cuts = np.where(facts.upper >= NO_LIMIT, facts.lower, NO_LIMIT)
        if not np.any(cuts < NO_LIMIT) or not facts.is_small:
            return np.full(len(cuts), NO_LIMIT)
        rows, members, factors = facts.entry_rows, facts.members, facts.factors.astype(np.int64)
        least, most = facts.ends(facts.lower, facts.upper)
        is_up = factors > 0
        # What serves is the limit that raising a number comes nearer to.
        hurts = np.where(is_up, facts.high[rows] < NO_LIMIT, facts.low[rows] > -NO_LIMIT)
        serves = np.where(is_up, facts.low[rows] > -NO_LIMIT, facts.high[rows] < NO_LIMIT)
        worst = np.where(is_up, least[rows], most[rows])
        own = np.where(np.abs(facts.lower[members]) >= NO_LIMIT, 0, facts.lower[members]) * factors
        aim = np.where(is_up, facts.low[rows], facts.high[rows])
        is_open = serves & (np.abs(worst) >= NO_LIMIT)
        needed = np.zeros(len(members), np.int64)
        at = np.flatnonzero(serves & ~is_open)
        needed[at] = -(-(aim[at] - worst[at] + own[at]) // factors[at])
        np.maximum.at(cuts, members, np.where(cuts[members] < NO_LIMIT, needed, NO_LIMIT))
        cuts[members[hurts | is_open]] = NO_LIMIT
        cuts[facts.lower <= -NO_LIMIT] = NO_LIMIT
        return cuts

    @cached_property
    def is_free(self) -> Flags:
        """Whether each number is endless and free upwards."""
        return self.cuts < NO_LIMIT

    @cached_property
    def system(self) -> LinearFacts:
        """The facts, with endless numbers cut, and a row without limits for each sum."""
        facts = self.facts
        n = len(self.sums)
        ones = np.ones(len(self.sum_members), np.int8)
        return LinearFacts(
            facts.lower,
            np.minimum(facts.upper, self.cuts),
            np.concatenate([facts.starts, facts.starts[-1] + self.sum_starts[1:]]),
            np.concatenate([facts.members, self.sum_members]),
            np.concatenate([facts.short_factors, ones]),
            np.concatenate([facts.low, np.full(n, -NO_LIMIT)]),
            np.concatenate([facts.high, np.full(n, NO_LIMIT)]),
            facts.whole,
            facts.scale,
        )

    @cached_property
    def is_finite(self) -> bool:
        """Whether every number has both limits, cut ones among them."""
        system = self.system
        return bool(np.all(system.lower > -NO_LIMIT) and np.all(system.upper < NO_LIMIT))

    def limits(self) -> SearchLimits:
        """Return the limits of numbers and rows; they are not to be changed."""
        system = self.system
        return SearchLimits(system.lower, system.upper, system.low, system.high)

    def propagate(self, limits: SearchLimits, rows: Integers, n_rows: int) -> bool:
        """Tighten limits of numbers in place, beginning with the first of some rows.

        Returns whether nothing contradicts. There is a place in `rows` for each row.
        """
        from gamekeeper.algorithms.linear.kernels import propagate

        system = self.system
        starts, of_numbers, _ = system.by_number
        broken = propagate(
            system.starts, system.members, system.factors, limits.row_lower, limits.row_upper,
            starts, of_numbers, limits.lower, limits.upper, system.endless, system.whole,
            rows, n_rows,
        )  # fmt: skip
        return broken < 0

    def admits(self, numbers: Integers, limits: SearchLimits) -> bool:
        """Return whether whole numbers are within limits."""
        if np.any(numbers < limits.lower) or np.any(numbers > limits.upper):
            return False
        totals = self.system.sums(numbers)
        return not (np.any(totals < limits.row_lower) or np.any(totals > limits.row_upper))


def components(
    facts: LinearFacts, lower: Integers, upper: Integers, sums: Integers, *, every: bool = False
) -> list[Component]:
    """Return the open numbers that hang together, by component.

    `sums` gives the number of the sum that each number belongs to, or -1. Components without any are
    left out, and so are numbers that no row says anything of; with `every`, only these numbers are.
    """
    is_open = lower < upper
    least, most = facts.ends(lower, upper)
    says = (facts.low > least) | (facts.high < most)
    of = facts.entry_rows
    low, high = _without_known(facts, lower, is_open)
    kept = says[of] & is_open[facts.members]
    rows, members, factors = of[kept], facts.members[kept], facts.factors[kept]
    # Rows stand in the place of cells, so that components come in the order of their first rows.
    of_row, label = connected(members, rows, len(lower), facts.n_rows)
    tied = np.zeros(len(lower), np.bool_)
    tied[members] = True
    wanted = is_open & tied if every else is_open & (sums >= 0)
    chosen = np.unique(label[wanted])
    own_numbers = _by_label(np.where(is_open, label, -1), chosen)
    own_entries = _by_label(of_row[rows], chosen)
    place = np.full(len(lower), -1, np.int64)
    found: list[Component] = []
    for numbers, entries in zip(own_numbers, own_entries, strict=True):
        place[numbers] = np.arange(len(numbers))
        own_rows, row_of = np.unique(rows[entries], return_inverse=True)
        own = LinearFacts(
            lower[numbers], upper[numbers], _starts(row_of, len(own_rows)),
            place[members[entries]], factors[entries], low[own_rows], high[own_rows],
            facts.whole, facts.scale,
        )  # fmt: skip
        asked = np.flatnonzero(sums[numbers] >= 0)
        asked = asked[np.argsort(sums[numbers[asked]], kind="stable")]
        labels, sum_of = np.unique(sums[numbers[asked]], return_inverse=True)
        found.append(Component(numbers, own_rows, own, labels, _starts(sum_of, len(labels)), asked))
    return found


def _starts(of: Integers, n: int) -> Integers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(of, minlength=n))])


def _without_known(
    facts: LinearFacts, lower: Integers, is_open: Flags
) -> tuple[Integers, Integers]:
    """Return the limits of the rows less what is known in them."""
    kind: Any = np.int64 if facts.is_small else object
    values = np.where(is_open, 0, lower)[facts.members].astype(kind) * facts.factors.astype(kind)
    known = row_sums(facts.starts, values)
    found: list[Integers] = []
    for limits in (facts.low, facts.high):
        is_endless = np.abs(limits) >= NO_LIMIT
        left = np.where(is_endless, 0, limits).astype(kind) - known
        if kind is object:
            left = np.array([max(-NO_LIMIT, min(NO_LIMIT, one)) for one in left], np.int64)
        found.append(np.where(is_endless, limits, left).astype(np.int64))
    return found[0], found[1]


def _by_label(labels: Integers, chosen: Integers) -> Iterator[Integers]:
    """Return the places of each of some labels, sorted once for all of them."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    for first, last in zip(
        np.searchsorted(ordered, chosen), np.searchsorted(ordered, chosen + 1), strict=True
    ):
        yield order[first:last]


def connected(
    of_row: Integers, of_cell: Integers, n_rows: int, n_cells: int
) -> tuple[Integers, Integers]:
    """Return the number of the component of each cell and of each row.

    Entry k says that the row `of_row[k]` holds the cell `of_cell[k]`. What is in no entry is alone.

    Examples
    --------
    >>> rows, cells = np.array([0, 0, 1]), np.array([0, 2, 1])
    >>> [numbers.tolist() for numbers in connected(rows, cells, 2, 4)]
    [[0, 1, 0, 2], [0, 1]]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array(
        (np.ones(len(of_row), np.int8), (of_row + n_cells, of_cell)),
        shape=(n_cells + n_rows, n_cells + n_rows),
    )
    numbers = connected_components(graph, directed=False)[1].astype(np.int64)
    return numbers[:n_cells], numbers[n_cells:]
