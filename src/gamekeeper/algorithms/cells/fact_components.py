"""Open numbers that hang together: components of linear facts, each to be solved by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.linear_facts import NO_LIMIT, LinearFacts
from gamekeeper.algorithms.releases.components import connected

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
    is_open = lower < upper
    entry_open = is_open[facts.members]
    rows, numbers = facts.entry_rows[entry_open], facts.members[entry_open]
    # Rows stand in the place of cells, so that components come in the order of their first rows.
    of_row, of_number = connected(numbers, rows, len(lower), facts.n_rows)
    chosen = np.unique(of_number[wanted[is_open[wanted]]])
    has_open = np.bincount(rows, minlength=facts.n_rows) > 0
    own_rows = _by_label(np.where(has_open, of_row, -1), chosen)
    own_numbers = _by_label(np.where(is_open, of_number, -1), chosen)
    return [
        _component(facts, lower, upper, *own) for own in zip(own_numbers, own_rows, strict=True)
    ]


def _by_label(labels: Integers, chosen: Integers) -> Iterator[Integers]:
    """Return the places of each of some labels, sorted once for all of them."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    for first, last in zip(
        np.searchsorted(ordered, chosen), np.searchsorted(ordered, chosen + 1), strict=True
    ):
        yield order[first:last]


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
