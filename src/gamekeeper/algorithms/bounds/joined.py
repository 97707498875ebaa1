"""Bounds of the cells of a table, kept as terms over a few axes each.

The upper bound of a cell is the smallest of its upper terms, the lower bound the sum of its lower
terms, or 0. Each term has one number for each combination of the categories of its axes. Terms come
in an order in which each has further axes, so that only the last is combined at full size: a table
of bounds costs a few operations per cell, and little memory beside the two results. Single cells
need no table at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
BoundsPair: TypeAlias = tuple[Integers, Integers]
"""Lower and upper bounds, of one shape."""

_MOST_CELLS = 100_000_000


@dataclass(frozen=True, eq=False)
class JoinedBounds:
    """Bounds of all cells as terms: a cell is read off without making the table.

    Attributes
    ----------
    lower_terms
        For each component its lower bounds less the counts of its separator; their sum, or 0, is
        the lower bound. An axis has length 1 where it is not part of the component.
    upper_terms
        For each component its upper bounds; the smallest is the upper bound.
    is_free
        Whether some axis is in no margin, so that no cell must have anybody.

    Examples
    --------
    >>> rows, columns = np.array([[3], [1]]), np.array([[2, 2]])
    >>> joined = JoinedBounds((2, 2), (rows, columns - 4), (rows, columns), False)
    >>> [bounds.tolist() for bounds in joined.table()]
    [[[1, 1], [0, 0]], [[2, 2], [1, 1]]]
    """

    shape: tuple[int, ...]
    lower_terms: tuple[Integers, ...]
    upper_terms: tuple[Integers, ...]
    is_free: bool

    def table(self) -> BoundsPair:
        """Return lower and upper bounds of all cells, or refuse a table too large to hold."""
        size = math.prod(self.shape)
        if size > _MOST_CELLS:
            raise LimitError(
                Reason.TOO_LARGE,
                f"Bounds of a table with {len(self.shape)} axes were asked for.",
                f"It has {count_of(size, 'cell')}, some {16 * size >> 20:,} MiB of bounds;"
                f" the limit is {_MOST_CELLS:,}.",
                "Keep fewer axes (--keep of tables bounds), or join categories (--group of tables bounds); in"
                " Python, ask for single cells.",
            )
        upper = _spread(np.minimum, UNBOUNDED, self.upper_terms, self.shape)
        lower = _spread(np.add, 0, () if self.is_free else self.lower_terms, self.shape)
        np.maximum(lower, 0, out=lower)
        return lower, upper

    def at(self, cells: ArrayLike) -> BoundsPair:
        """Return lower and upper bounds of single cells, given as rows of categories."""
        places = np.asarray(cells, np.int64)
        if places.ndim != 2 or places.shape[1] != len(self.shape):
            raise InputError(
                Reason.MALFORMED,
                "Bounds of single cells were asked for.",
                f"The cells came as an array of the shape {places.shape}.",
                f"Give a row of {len(self.shape)} categories for each cell.",
            )
        outside = ((places < 0) | (places >= np.array(self.shape, np.int64))).any(axis=1)
        if outside.any():
            raise InputError(
                Reason.BAD_OPTION,
                f"Bounds of {count_of(len(places), 'single cell')} were asked for.",
                f"{count_of(int(outside.sum()), 'cell')} are not in the table, the first in row"
                f" {int(np.argmax(outside))}.",
                f"Number the categories from 0; the table has the shape {self.shape}.",
            )
        lower = np.zeros(len(places), np.int64)
        upper = np.full(len(places), UNBOUNDED, np.int64)
        for term in self.upper_terms:
            np.minimum(upper, _picked(term, places), out=upper)
        if not self.is_free:
            for term in self.lower_terms:
                lower += _picked(term, places)
        return np.maximum(lower, 0), upper


def _spread(
    combine: np.ufunc, start: int, terms: Sequence[Integers], shape: tuple[int, ...]
) -> Integers:
    """Combine terms into a table of their axes, and copy it along all others."""
    whole = np.full((1,) * len(shape), start, np.int64)
    for term in terms:
        whole = np.asarray(combine(whole, term))
    return whole if whole.shape == shape else np.broadcast_to(whole, shape).copy()


def _picked(term: Integers, places: Integers) -> Integers:
    """Return a term's number for each of some cells."""
    return term[
        tuple(places[:, axis] if length > 1 else 0 for axis, length in enumerate(term.shape))
    ]
