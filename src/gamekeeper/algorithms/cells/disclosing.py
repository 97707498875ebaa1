"""Counts that say something of everybody else: empty cells, and cells that a few leave empty.

People of one kind, a row, are spread over the categories of what a table is about. If nobody is in one
of them, it is known of each that they are not in it (`zero`). If k or fewer are in it and others are in
the row, these k, who know themselves, know it of the others (`disclosure`, k-disclosive): subtracting
themselves leaves a zero, which is that the attack with k known people succeeds in that row.

A category that nobody can be in tells nothing, and neither does a row that nobody is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def disclosing_zeros(
    counts: NDArray[Any], about: Sequence[int], totals: Sequence[int], impossible: Mask
) -> Mask:
    """Return the cells that nobody is in, of rows that somebody is in.

    Parameters
    ----------
    counts
        How many are in each cell, with subtotals, one dimension per axis.
    about
        The axes that the table is about; the others make the rows.
    totals
        The place of the total on each axis.
    impossible
        The cells that nobody can be in.

    Examples
    --------
    >>> counts = np.array([[1, 3, 0, 4], [4, 2, 1, 7], [5, 5, 1, 11]])
    >>> disclosing_zeros(counts, [1], [2, 3], np.zeros((3, 4), bool)).nonzero()
    (array([0]), array([2]))
    """
    in_row, is_row = _rows(counts, about, totals)
    return (counts == 0) & (in_row > 0) & ~is_row & ~impossible


def disclosing_counts(
    counts: NDArray[Any], about: Sequence[int], totals: Sequence[int], k: int
) -> Mask:
    """Return the cells of at most k people whose rows have others.

    Examples
    --------
    >>> counts = np.array([[1, 3, 0, 4], [4, 2, 1, 7], [5, 5, 1, 11]])
    >>> disclosing_counts(counts, [1], [2, 3], 1)[:2, :3].nonzero()
    (array([0, 1]), array([0, 2]))
    """
    in_row, is_row = _rows(counts, about, totals)
    return (counts > 0) & (counts <= k) & (in_row > counts) & ~is_row


def _rows(
    counts: NDArray[Any], about: Sequence[int], totals: Sequence[int]
) -> tuple[NDArray[Any], Mask]:
    """Return how many are in the row of each cell, and which cells are whole rows."""
    in_row = counts
    is_row = np.ones(counts.shape, bool)
    for axis in about:
        in_row = np.take(in_row, [totals[axis]], axis=axis)
        at = np.arange(counts.shape[axis]) == totals[axis]
        is_row &= at.reshape([-1 if other == axis else 1 for other in range(counts.ndim)])
    return np.broadcast_to(in_row, counts.shape), is_row
