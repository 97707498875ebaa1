"""Bounds in closed form of recoded and marginal tables of a decomposable release.

An axis that only one exact margin has can be recoded, or summed out, in that margin alone: every
table of the recoded release is the recoding of a table of the release, for the margin and the table
share the recoded axes and fit together. The recoded release is decomposable as well, and an axis
that is summed out may leave others with one margin. An axis that every margin has divides the table
into slices that have no sum in common, so that bounds of slices add up. Other recodings have no
closed form here.

Compare Asmussen and Edwards, Collapsibility and response variables in contingency tables, 1983,
where models are collapsed. Costs the closed form of the table that is added up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.bounds.frechet import closed_bounds
from gamekeeper.algorithms.bounds.joined import BoundsPair
from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin
from gamekeeper.algorithms.releases.margin_agreement import require_agreement
from gamekeeper.algorithms.releases.structure import release_structure

Integers = NDArray[np.int64]


def closed_sum_bounds(
    constraints: CountConstraints, groups: Sequence[ArrayLike]
) -> BoundsPair | None:
    """Return the tight bounds of every cell of a recoded table, or None without a closed form.

    Parameters
    ----------
    groups
        For each axis the group of each category, numbered from 0 without gaps; all 0 for an axis
        that is summed out.

    Returns
    -------
    Bounds with one axis for each axis of the base table, of length 1 where it is summed out.

    Examples
    --------
    Hair by eyes and hair by sex are known; eyes by sex follow within bounds.

    >>> hair_eyes, hair_sex = [[5, 1], [0, 4]], [[6, 0], [1, 3]]
    >>> known = CountConstraints.of((2, 2, 2), [((0, 1), hair_eyes), ((0, 2), hair_sex)])
    >>> lower, upper = closed_sum_bounds(known, [[0, 0], [0, 1], [0, 1]])
    >>> lower[0].tolist(), upper[0].tolist()
    ([[5, 0], [2, 3]], [[5, 0], [2, 3]])
    """
    if not release_structure(constraints).decomposable:
        return None
    require_agreement(constraints)
    asked = [np.asarray(group, np.int64) for group in groups]
    left = {
        axis: group
        for axis, group in enumerate(asked)
        if not np.array_equal(group, np.arange(len(group)))
    }
    known = _known_only(constraints)
    while True:
        components = release_structure(known).components
        single = [axis for axis in left if sum(axis in c for c in components) <= 1]
        if not single:
            break
        known = _recoded(known, single[0], left.pop(single[0]))
    if not all(axis in component for axis in left for component in components):
        return None
    lower, upper = closed_bounds(known)
    for axis, group in left.items():
        lower, upper = _added(lower, axis, group), _added(upper, axis, group)
    return lower, upper


def _known_only(constraints: CountConstraints) -> CountConstraints:
    """Return the constraints without margins that others imply."""
    margins: dict[tuple[int, ...], CountMargin] = {}
    for margin in constraints.margins:
        if margin.plain and margin.exact:
            margins[margin.axes] = margin
    largest = [
        margin
        for axes, margin in margins.items()
        if not any(set(axes) < set(other) for other in margins)
    ]
    return CountConstraints(constraints.shape, tuple(largest))


def _recoded(constraints: CountConstraints, axis: int, group: Integers) -> CountConstraints:
    """Return the constraints with the categories of an axis grouped."""
    length = int(group.max()) + 1
    margins: list[CountMargin] = []
    for margin in constraints.margins:
        counts, new = margin.lower, np.zeros(length, np.int64)
        if margin.shape[axis] > 1:
            counts, new = _added(counts, axis, group), np.arange(length, dtype=np.int64)
        groups = (*margin.groups[:axis], new, *margin.groups[axis + 1 :])
        margins.append(CountMargin(groups, counts, counts))
    shape = (*constraints.shape[:axis], length, *constraints.shape[axis + 1 :])
    return CountConstraints(shape, tuple(margins))


def _added(counts: Integers, axis: int, group: Integers) -> Integers:
    """Return counts with those of the same group on an axis added up."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max()) + 1))
    return np.add.reduceat(np.take(counts, order, axis), starts, axis)
