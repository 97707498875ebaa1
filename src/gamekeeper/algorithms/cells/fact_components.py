"""Open numbers that hang together: components of linear facts, each to be solved by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.linear_facts import NO_LIMIT, LinearFacts

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FactComponent:
    """Open numbers that hang together, and the rows that join them.

    Attributes
    ----------
    numbers, rows
        Which numbers and rows of the facts they are.
    facts
        The facts about these numbers alone, with all others at their only value.
    """

    numbers: Integers
    rows: Integers
    facts: LinearFacts


def components(
    facts: LinearFacts, lower: Integers, upper: Integers, wanted: Integers
) -> list[FactComponent]:
    """Return the open numbers that hang together with wanted ones, by component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    is_open = lower < upper
    entry_open = is_open[facts.members]
    rows, numbers = facts.entry_rows[entry_open], facts.members[entry_open]
    n, m = len(lower), facts.n_rows
    graph = coo_array((np.ones(len(rows), np.int8), (rows, m + numbers)), shape=(m + n, m + n))
    _, labels = connected_components(graph, directed=False)
    chosen = np.unique(labels[m + wanted[is_open[wanted]]])
    row_label = np.where(np.bincount(rows, minlength=m) > 0, labels[:m], -1)
    order_rows = np.argsort(row_label, kind="stable")
    number_label = np.where(is_open, labels[m:], -1)
    order_numbers = np.argsort(number_label, kind="stable")
    found: list[FactComponent] = []
    for label in chosen.tolist():
        own_rows = order_rows[slice(*np.searchsorted(row_label[order_rows], [label, label + 1]))]
        own = order_numbers[
            slice(*np.searchsorted(number_label[order_numbers], [label, label + 1]))
        ]
        found.append(_component(facts, lower, upper, own, own_rows))
    return found


def _component(
    facts: LinearFacts, lower: Integers, upper: Integers, numbers: Integers, rows: Integers
) -> FactComponent:
    place = np.full(len(lower), -1, np.int64)
    place[numbers] = np.arange(len(numbers))
    lengths = np.diff(facts.starts)[rows]
    at = np.repeat(facts.starts[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    at = at + np.arange(len(at))
    of = np.repeat(np.arange(len(rows)), lengths)
    members, factors = facts.members[at], facts.factors[at]
    inside = place[members] >= 0
    known = np.zeros(len(rows), object)
    np.add.at(known, of[~inside], factors[~inside].astype(object) * lower[members[~inside]])
    low = _less(facts.low[rows], known)
    high = _less(facts.high[rows], known)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of[inside], minlength=len(rows)))])
    own = LinearFacts(
        lower[numbers], upper[numbers], starts.astype(np.int64), place[members[inside]],
        factors[inside], low, high, facts.whole, facts.scale,
    )  # fmt: skip
    return FactComponent(numbers, rows, own)


def _less(limits: Integers, known: NDArray[Any]) -> Integers:
    endless = np.abs(limits) >= NO_LIMIT
    return np.where(
        endless, limits, np.clip(limits.astype(object) - known, -NO_LIMIT, NO_LIMIT)
    ).astype(np.int64)
