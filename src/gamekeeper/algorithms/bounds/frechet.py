"""Bounds of cells in closed form for decomposable releases, and joined from components for others.

In a decomposable release of exact margins a cell is at most the smallest clique count it is part
of, and at least the sum of its clique counts less the sum of its separator counts, or 0. There is
one separator per edge of a junction tree; the empty one has the total. These bounds are tight.

Where a component is no exact margin, its cells have bounds instead of counts: take upper ones for
the first rule and lower ones for the second. With tight bounds of the components the result is
tight, for tables of the components that agree on the (exact) separators always fit together, and
each can be chosen by itself. Axes that no margin has are free: the people of a cell can all be in
one category or all elsewhere, so that the upper bound stays and the lower bound is 0. With
perturbed margins in the place of the exact ones the same rules, upper limits of separators
subtracted from lower limits of cliques, give limits that hold but are seldom tight.

Bounds are kept as terms with one number for each combination of the categories of a few axes: the
upper bound is the smallest upper term, the lower bound the sum of the lower terms, or 0. Each term
has further axes, so that only the last is combined at full size: a table of bounds costs a few
operations per cell, and little memory beside the two results. Single cells need no table at all.

An axis that only one exact margin has can be recoded, or summed out, in that margin alone: every
table of the recoded release is the recoding of a table of the release, for the margin and the table
share the recoded axes and fit together. The recoded release is decomposable as well, and an axis
that is summed out may leave others with one margin. An axis that every margin has divides the table
into slices that have no sum in common, so that bounds of slices add up. Other recodings have no
closed form here.

Smith's thesis, chapter 2; Dobra and Fienberg, Bounds for cell entries in contingency tables given
marginal totals and decomposable graphs, 2000. Compare Asmussen and Edwards, Collapsibility and
response variables in contingency tables, 1983, where models are collapsed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    kept_axes,
)
from gamekeeper.algorithms.releases.structure import (
    ReleaseStructure,
    first_rows,
    release_structure,
    require_agreement,
    rows_within,
)
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
BoundsPair: TypeAlias = tuple[Integers, Integers]
"""Lower and upper bounds, of one shape."""

_MOST_CELLS = 100_000_000


@dataclass(frozen=True, eq=False)
class JoinedBounds:
    """Bounds of all cells as terms: a cell is read off without making the table.

    `lower_terms`: for each component its lower bounds less the counts of its separator; their sum,
    or 0, is the lower bound. An axis has length 1 where it is not part of the component.
    `upper_terms`: for each component its upper bounds; the smallest is the upper bound. `is_free`:
    whether some axis is in no margin, so that no cell must have anybody.

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
    return term[
        tuple(places[:, axis] if length > 1 else 0 for axis, length in enumerate(term.shape))
    ]


Axes = tuple[int, ...]

Solve: TypeAlias = Callable[[CountConstraints], BoundsPair]
"""Returns lower and upper bounds of every cell of a component's table."""


def closed_bounds(constraints: CountConstraints) -> BoundsPair:
    """Return the tight bounds of every cell of a decomposable release of exact margins.

    There may be margins of other kinds, as long as the exact ones imply their sums. Where margins
    contradict each other, `NoNumbersError` has the rows that do.

    Examples
    --------
    >>> known = CountConstraints.of((2, 3), [((0,), [21, 11]), ((1,), [12, 11, 9])])
    >>> lower, upper = closed_bounds(known)
    >>> lower.tolist(), upper.tolist()
    ([[1, 0, 0], [0, 0, 0]], [[12, 11, 9], [11, 11, 9]])
    """
    return join_closed(constraints).table()


def component_bounds(constraints: CountConstraints, solve: Solve) -> BoundsPair:
    """Return bounds of every cell, joined from those of the irreducible components.

    They are tight if those of the components are. Margins may be of any kind; what separates
    components is exact. `solve` returns bounds of every cell of a component from what is known of
    its table; components that are exact margins are not asked for. Where margins contradict each
    other, or `solve` says so, `NoNumbersError` has rows of all constraints.

    Examples
    --------
    Exact ages, and jobs within limits; the two have nothing in common but the total.

    >>> known = CountConstraints.of((2, 2), [((0,), [4, 1]), ((1,), [1, 3], [2, 5])])
    >>> lower, upper = component_bounds(known, CountConstraints.cell_limits)
    >>> lower.tolist(), upper.tolist()
    ([[0, 2], [0, 0]], [[2, 4], [1, 1]])
    """
    return join_components(constraints, solve).table()


def join_closed(constraints: CountConstraints) -> JoinedBounds:
    """Return the bounds of a decomposable release of exact margins as terms.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> [term.tolist() for term in join_closed(known).lower_terms]
    [[[3], [1]], [[-2, -2]]]
    """
    structure = release_structure(constraints)
    if not structure.decomposable:
        raise _not_closed(structure)
    require_agreement(constraints)
    counts = [_known_counts(constraints, axes) for axes in structure.components]
    return _joined(constraints, structure, [(known, known) for known in counts])


def join_components(constraints: CountConstraints, solve: Solve) -> JoinedBounds:
    """Return the bounds of a release as terms, with `solve` for the components not known.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [4, 1]), ((1,), [1, 3], [2, 5])])
    >>> join_components(known, CountConstraints.cell_limits).at([[0, 1]])
    (array([2]), array([4]))
    """
    structure = release_structure(constraints)
    require_agreement(constraints)
    bounds: list[BoundsPair] = []
    for at, axes in enumerate(structure.components):
        if at not in structure.unknown:
            counts = _known_counts(constraints, axes)
            bounds.append((counts, counts))
            continue
        known, rows = component_constraints(constraints, structure, at)
        try:
            lower, upper = solve(known)
        except NoNumbersError as error:
            raise NoNumbersError(sorted({row for r in error.rows for row in rows(r)})) from None
        shape = [n if axis in axes else 1 for axis, n in enumerate(constraints.shape)]
        bounds.append((lower.reshape(shape), upper.reshape(shape)))
    return _joined(constraints, structure, bounds)


def component_constraints(
    constraints: CountConstraints, structure: ReleaseStructure, at: int
) -> tuple[CountConstraints, Callable[[int], list[int]]]:
    """Return what is known of a component's table, and which rows of the whole make a row of it.

    Separators that no exact margin of the component implies are added to it as margins.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [4, 1]), ((1,), [1, 3], [2, 5])])
    >>> part, rows = component_constraints(known, release_structure(known), 1)
    >>> part.shape, [margin.lower.tolist() for margin in part.margins], rows(2)
    ((2,), [[1, 3], [5]], [0, 1])
    """
    component = structure.components[at]
    shape = tuple(constraints.shape[axis] for axis in component)
    starts = first_rows(constraints)
    own = [
        number
        for number, margin in enumerate(constraints.margins)
        if {axis for axis in margin.axes if constraints.shape[axis] > 1} <= set(component)
    ]
    margins = [_within(constraints.margins[number], component) for number in own]
    exact = [set(m.axes) for m in margins if m.plain and m.exact]
    sums: list[tuple[int, CountMargin]] = []
    for separator in _separators_beside(structure, at):
        places = [component.index(axis) for axis in separator]
        if any(set(places) <= axes for axes in exact):
            continue
        holder = _holder(constraints, separator)
        common = _common(constraints.shape, separator)
        added = common.sums(constraints.margins[holder].lower)
        sums.append((holder, common))
        margins.append(kept_axes(shape, places, added.reshape([shape[p] for p in places])))
    part = CountConstraints(shape, tuple(margins))
    part_starts = first_rows(part)

    def rows(row: int) -> list[int]:
        number = max(n for n, start in enumerate(part_starts) if start <= row)
        cell = row - part_starts[number]
        if number < len(own):
            return [starts[own[number]] + cell]
        holder, common = sums[number - len(own)]
        place = [int(index) for index in np.unravel_index(cell, common.shape)]
        within = rows_within(constraints.margins[holder], common.groups, place)
        return (starts[holder] + within).tolist()

    return part, rows


def _joined(
    constraints: CountConstraints, structure: ReleaseStructure, bounds: Sequence[BoundsPair]
) -> JoinedBounds:
    lowers = [lower for lower, _ in bounds]
    for at, separator in enumerate(structure.separators, start=1):
        lowers[at] = lowers[at] - _known_counts(constraints, separator)
    return JoinedBounds(
        constraints.shape, tuple(lowers), tuple(upper for _, upper in bounds), bool(structure.free)
    )


def _known_counts(constraints: CountConstraints, axes: Axes) -> Integers:
    margin = constraints.margins[_holder(constraints, axes)]
    return _common(constraints.shape, axes).sums(margin.lower)


def _holder(constraints: CountConstraints, axes: Axes) -> int:
    having = [
        (margin.lower.size, number)
        for number, margin in enumerate(constraints.margins)
        if margin.plain and margin.exact and set(axes) <= set(margin.axes)
    ]
    return min(having)[1]


def _common(shape: tuple[int, ...], axes: Axes) -> CountMargin:
    return kept_axes(shape, axes, np.zeros([shape[axis] for axis in axes], np.int64))


def _within(margin: CountMargin, component: Axes) -> CountMargin:
    shape = [margin.shape[axis] for axis in component]
    groups = tuple(margin.groups[axis] for axis in component)
    return CountMargin(groups, margin.lower.reshape(shape), margin.upper.reshape(shape))


def _separators_beside(structure: ReleaseStructure, at: int) -> list[Axes]:
    beside = {
        separator
        for child, separator in enumerate(structure.separators, start=1)
        if at in (child, structure.parents[child])
    }
    return sorted(beside)


def _not_closed(structure: ReleaseStructure) -> InputError:
    n_other = len(structure.unknown)
    return InputError(
        Reason.BAD_OPTION,
        "Bounds in closed form were asked for.",
        f"The release is not decomposable: {n_other} of"
        f" {count_of(len(structure.components), 'irreducible component')} are no margins of their"
        " own with all counts known."
        if structure.components
        else "There are no margins.",
        "Join the bounds of the components, or solve integer programs.",
    )


def closed_sum_bounds(
    constraints: CountConstraints, groups: Sequence[ArrayLike]
) -> BoundsPair | None:
    """Return the tight bounds of every cell of a recoded table, or None without a closed form.

    Groups of the categories of each axis are numbered from 0 without gaps; all are 0 for an axis
    that is summed out, which has length 1 in the result.

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
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max()) + 1))
    return np.add.reduceat(np.take(counts, order, axis), starts, axis)
