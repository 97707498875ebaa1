"""Bounds of cells in closed form for decomposable releases, and joined from components for others.

In a decomposable release of exact margins a cell is at most the smallest clique count it is part
of, and at least the sum of its clique counts less the sum of its separator counts, or 0. There is
one separator per edge of a junction tree; the empty one has the total. These bounds are tight.

Where a component is no exact margin, its cells have bounds instead of counts: take upper ones for
the first rule and lower ones for the second. With tight bounds of the components the result is
tight, for tables of the components that agree on the (exact) separators always fit together, and
each can be chosen by itself. Axes that no margin has are free: the people of a cell can all be in
one category or all elsewhere, so that the upper bound stays and the lower bound is 0.

With perturbed margins in the place of the exact ones the same rules, upper limits of separators
subtracted from lower limits of cliques, give limits that hold but are seldom tight.

Smith's thesis, chapter 2; Dobra and Fienberg, Bounds for cell entries in contingency tables given
marginal totals and decomposable graphs, 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bounds.joined import BoundsPair, JoinedBounds
from gamekeeper.algorithms.releases.constraints import (
    CountConstraints,
    CountMargin,
    NoTableError,
    kept_axes,
)
from gamekeeper.algorithms.releases.margin_agreement import (
    first_rows,
    require_agreement,
    rows_within,
)
from gamekeeper.algorithms.releases.structure import (
    ReleaseStructure,
    release_structure,
)
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of

Axes = tuple[int, ...]
Integers = NDArray[np.int64]

Solve: TypeAlias = Callable[[CountConstraints], BoundsPair]
"""Returns lower and upper bounds of every cell of a component's table."""


def closed_bounds(constraints: CountConstraints) -> BoundsPair:
    """Return the tight bounds of every cell of a decomposable release of exact margins.

    There may be margins of other kinds, as long as the exact ones imply their sums.

    Raises
    ------
    NoTableError
        If margins contradict each other; with the rows that do.

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
    components is exact.

    Parameters
    ----------
    solve
        Returns bounds of every cell of a component, from what is known of its table. Components
        that are exact margins are not asked for.

    Raises
    ------
    NoTableError
        If margins contradict each other, or if `solve` raises it for a component; with rows of
        all constraints.

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
        except NoTableError as error:
            raise NoTableError(sorted({row for r in error.rows for row in rows(r)})) from None
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
    """Return the counts of some axes that are part of an exact margin."""
    margin = constraints.margins[_holder(constraints, axes)]
    return _common(constraints.shape, axes).sums(margin.lower)


def _holder(constraints: CountConstraints, axes: Axes) -> int:
    """Return the number of the smallest exact margin that has some axes."""
    having = [
        (margin.lower.size, number)
        for number, margin in enumerate(constraints.margins)
        if margin.plain and margin.exact and set(axes) <= set(margin.axes)
    ]
    return min(having)[1]


def _common(shape: tuple[int, ...], axes: Axes) -> CountMargin:
    """Return the margin over some axes, for its sums only."""
    return kept_axes(shape, axes, np.zeros([shape[axis] for axis in axes], np.int64))


def _within(margin: CountMargin, component: Axes) -> CountMargin:
    """Return a margin as one of the component's table."""
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
