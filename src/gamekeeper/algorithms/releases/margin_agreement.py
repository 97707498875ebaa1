"""Whether published margins agree where they overlap, with the rows that contradict each other.

Two exact margins must have the same sums over the axes they share, and any other margin whose axes
all belong to an exact one must contain the sums of that one. For a decomposable release of exact
margins this is also enough for a table to exist (Vorob'ev 1962; Dobra and Fienberg 2001).

The rows named are irreducible: without any one of them there is a table. With more people counted
on one side than on the other, all counts of the smaller side are needed, and of the larger side as
many, the largest first, as exceed it. Costs a pass over both margins of each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import (
    CountConstraints,
    CountMargin,
    NoTableError,
    kept_axes,
)

Integers = NDArray[np.int64]


def require_agreement(constraints: CountConstraints) -> None:
    """Raise NoTableError with rows that contradict each other, if margins do.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 5])])
    >>> try:
    ...     require_agreement(known)
    ... except NoTableError as error:
    ...     print(error.rows)
    (0, 1, 3)
    """
    margins, starts = constraints.margins, first_rows(constraints)
    for margin, start in zip(margins, starts, strict=True):
        impossible = margin.upper < np.maximum(margin.lower, 0)
        if impossible.any():
            raise NoTableError([start + int(np.argmax(impossible))])
    known = [at for at, margin in enumerate(margins) if margin.plain and margin.exact]
    largest = [
        at
        for at in known
        if not any(set(margins[at].axes) < set(margins[other].axes) for other in known)
    ]
    for at in largest:
        within = [other for other in range(len(margins)) if other != at and other not in largest]
        for other in within:
            if set(margins[other].axes) <= set(margins[at].axes):
                _compare(constraints, starts, at, other)
    for at, other in combinations(largest, 2):
        _compare_shared(constraints, starts, at, other)


def first_rows(constraints: CountConstraints) -> list[int]:
    """Return the number of each margin's first row, without making the rows.

    Examples
    --------
    >>> first_rows(CountConstraints.of((2, 3), [((0,), [3, 1]), ((1,), [2, 1, 1])]))
    [0, 2]
    """
    sizes = [0, *(margin.lower.size for margin in constraints.margins)]
    return [int(start) for start in np.cumsum(sizes)[:-1]]


def rows_within(margin: CountMargin, groups: Sequence[Integers], cell: Sequence[int]) -> Integers:
    """Return which of a margin's cells a cell of a coarser margin adds up, as flat numbers.

    Examples
    --------
    >>> fine = kept_axes((2, 3), (0, 1), [[3, 1, 0], [2, 1, 1]])
    >>> rows_within(fine, kept_axes((2, 3), (1,), [5, 2, 1]).groups, (0, 1)).tolist()
    [1, 4]
    """
    chosen = [
        np.zeros(1, np.int64) if size == 1 else np.flatnonzero(group == at)
        for size, group, at in zip(margin.shape, groups, cell, strict=True)
    ]
    numbers = np.arange(margin.lower.size, dtype=np.int64).reshape(margin.shape)
    return numbers[np.ix_(*chosen)].reshape(-1)


def _compare(constraints: CountConstraints, starts: list[int], exact: int, other: int) -> None:
    """Compare the sums of an exact margin with one that they imply."""
    fine, coarse = constraints.margins[exact], constraints.margins[other]
    sums = coarse.sums(fine.lower)
    wrong = (sums < coarse.lower) | (sums > coarse.upper)
    if not wrong.any():
        return
    flat = int(np.argmax(wrong))
    cell = np.unravel_index(flat, coarse.shape)
    rows = rows_within(fine, coarse.groups, [int(at) for at in cell])
    if sums[cell] > coarse.upper[cell]:
        rows = _exceeding(rows, fine.lower.reshape(-1)[rows], int(coarse.upper[cell]))
    raise NoTableError(sorted([starts[other] + flat, *(starts[exact] + rows).tolist()]))


def _compare_shared(constraints: CountConstraints, starts: list[int], a: int, b: int) -> None:
    """Compare two exact margins by the sums over the axes that they share."""
    one, two = constraints.margins[a], constraints.margins[b]
    shared = [axis for axis in one.axes if axis in two.axes]
    empty = np.zeros([constraints.shape[axis] for axis in shared], np.int64)
    common = kept_axes(constraints.shape, shared, empty)
    difference = common.sums(one.lower) - common.sums(two.lower)
    if not difference.any():
        return
    cell = np.unravel_index(int(np.argmax(difference != 0)), difference.shape)
    more, fewer = (a, b) if difference[cell] > 0 else (b, a)
    at = [int(place) for place in cell]
    small = rows_within(constraints.margins[fewer], common.groups, at)
    large = rows_within(constraints.margins[more], common.groups, at)
    limit = int(constraints.margins[fewer].lower.reshape(-1)[small].sum())
    large = _exceeding(large, constraints.margins[more].lower.reshape(-1)[large], limit)
    rows = [*(starts[fewer] + small).tolist(), *(starts[more] + large).tolist()]
    raise NoTableError(sorted(rows))


def _exceeding(rows: Integers, counts: Integers, limit: int) -> Integers:
    """Return rows, those of the largest counts first, until their sum exceeds a limit."""
    order = np.argsort(-counts, kind="stable")
    n_rows = int(np.argmax(np.cumsum(counts[order]) > limit)) + 1
    return rows[order[:n_rows]]
