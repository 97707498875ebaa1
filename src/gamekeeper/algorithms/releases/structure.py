"""The structure of a release: its graph of axes and its components, and whether margins agree.

Two axes of the base table are joined if some margin has both. A release of exact margins is
decomposable if no cycle of more than three axes is without a chord and every maximal clique is a
margin itself. Any other release still falls into irreducible components: sets of axes that hold
every margin, in a tree of running intersection, where what two neighbours share (their separator)
lies within a margin whose counts are all known. Tables of the components that fit the release then
fit together, however each was chosen, so that a component can be worked on by itself. A component
that is such a margin itself needs no work. An empty separator needs the total, which every exact
margin gives.

The components are the cliques of a minimal triangulation, united wherever a separator is not known.
This is the finest decomposition: axes that known sums separate at all are on two sides of a
separator in the tree that is part of these sums, and its edge is kept. Polynomial in the number of
axes, and independent of their categories. Smith's thesis, chapter 2; Dobra and Fienberg 2001;
Leimer, Optimal decomposition by clique separators, 1993; Berry, Blair, Heggernes and Peyton,
Maximum cardinality search for computing minimal triangulations, 2004.

Two exact margins must have the same sums over the axes they share, and any other margin whose axes
all belong to an exact one must contain the sums of that one. For a decomposable release of exact
margins this is also enough for a table to exist (Vorob'ev 1962; Dobra and Fienberg 2001). The rows
named where they do not are irreducible: without any one of them there is a table. With more people
counted on one side than on the other, all counts of the smaller side are needed, and of the larger
side as many, the largest first, as exceed it. Costs a pass over both margins of each pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import DisjointSets
from gamekeeper.algorithms.decomposable import graphs
from gamekeeper.algorithms.decomposable.junction_tree import junction_tree
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin, kept_axes

Integers = NDArray[np.int64]
Axes = tuple[int, ...]


@dataclass(frozen=True)
class ReleaseStructure:
    """The graph of a release and its irreducible components in running intersection.

    - `graph`: the adjacency masks of the axes.
    - `margins`, `known`: the axes of each margin that is not within another one, and of each exact
      margin that is not within another exact one.
    - `components`: the axes of each irreducible component, a parent before its children; `parents`
      are positions, -1 for the first; `separators` what each but the first shares with its parent.
    - `free`: axes of more than one category that no margin has.
    """

    graph: graphs.Adjacency
    margins: tuple[Axes, ...]
    known: tuple[Axes, ...]
    components: tuple[Axes, ...]
    parents: tuple[int, ...]
    separators: tuple[Axes, ...]
    free: Axes

    @cached_property
    def unknown(self) -> tuple[int, ...]:
        """The positions of the components that are not margins with known counts."""
        return tuple(at for at, axes in enumerate(self.components) if axes not in self.known)

    @property
    def decomposable(self) -> bool:
        """Whether every component is a margin with known counts."""
        return bool(self.components) and not self.unknown


def release_structure(constraints: CountConstraints) -> ReleaseStructure:
    """Return the structure of what is known of a table of counts.

    Axes with one category take part in nothing.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2, 2), [((0, 1), [[3, 2], [1, 1]]), ((2,), [4, 3])])
    >>> structure = release_structure(known)
    >>> structure.decomposable, structure.components, structure.separators
    (True, ((0, 1), (2,)), ((),))
    """
    real = {axis for axis, length in enumerate(constraints.shape) if length > 1}
    axes = [tuple(a for a in margin.axes if a in real) for margin in constraints.margins]
    known = [
        kept
        for kept, margin in zip(axes, constraints.margins, strict=True)
        if margin.plain and margin.exact
    ]
    found = structure_of_axes(len(constraints.shape), axes, known)
    return replace(found, free=tuple(axis for axis in found.free if axis in real))


def structure_of_axes(
    n_axes: int, margins: Iterable[Sequence[int]], known: Iterable[Sequence[int]] | None = None
) -> ReleaseStructure:
    """Return the structure of a release from the axes of its margins; all are known if not told.

    Examples
    --------
    A cycle of four axes, and a fifth axis that hangs on one of them.

    >>> structure = structure_of_axes(5, [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)])
    >>> structure.decomposable, structure.components, structure.separators
    (False, ((0, 1, 2, 3), (3, 4)), ((3,),))
    """
    masks = [graphs.mask_of(axes) for axes in margins]
    sure = _maximal(masks if known is None else [graphs.mask_of(axes) for axes in known])
    graph = graphs.adjacency_of(
        n_axes, [edge for mask in masks for edge in graphs.pairs_within(mask)]
    )
    covered = 0
    for mask in masks:
        covered |= mask
    components, parents, separators = _components(graph, covered, sure)
    if masks and not covered:
        components, parents = [0], [-1]
    return ReleaseStructure(
        graph, _as_axes(_maximal(masks)), _as_axes(sure), _as_axes(components), tuple(parents),
        _as_axes(separators), tuple(graphs.members((1 << n_axes) - 1 & ~covered)),
    )  # fmt: skip


def minimal_ordering(adjacency: Sequence[int]) -> tuple[int, ...]:
    """Return an elimination ordering of which no fewer of the edges it adds would do.

    Examples
    --------
    >>> minimal_ordering([0b1010, 0b0101, 0b1010, 0b0101])
    (2, 3, 1, 0)
    """
    left = list(range(len(adjacency)))
    weights = [0] * len(adjacency)
    order: list[int] = []
    while left:
        v = max(left, key=lambda u: (weights[u], -u))
        left.remove(v)
        order.append(v)
        # A path through lighter ones would join its end to v in the triangulated graph.
        reached: list[int] = []
        for u in left:
            lighter = graphs.mask_of(w for w in left if weights[w] < weights[u])
            if graphs.reached_from(adjacency, v, within=lighter | 1 << u) >> u & 1:
                reached.append(u)
        for u in reached:
            weights[u] += 1
    return tuple(reversed(order))


def _components(
    graph: graphs.Adjacency, covered: int, known: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Return components, the position of their parents, and their separators."""
    added = graphs.fill_in(graph, minimal_ordering(graph))
    masks = list(graph)
    for v, w in added:
        masks[v] |= 1 << w
        masks[w] |= 1 << v
    tree = junction_tree(masks)
    cliques = [at for at, clique in enumerate(tree.cliques) if clique & covered]
    # Further trees of the forest hang on the first by nothing.
    hangs_on = {at: max(tree.parents[at], cliques[0]) for at in cliques[1:]}
    united = DisjointSets()
    for at, parent in hangs_on.items():
        if not any(tree.separators[at] & ~sums == 0 for sums in known):
            united.unite(parent, at)
    place: dict[object, int] = {}
    components: list[int] = []
    for at in cliques:
        root = united.find(at)
        if root not in place:
            place[root] = len(components)
            components.append(0)
        components[place[root]] |= tree.cliques[at]
    parents, separators = [-1] * len(components), [0] * len(components)
    for at, parent in hangs_on.items():
        mine, other = place[united.find(at)], place[united.find(parent)]
        if mine != other:
            parents[mine], separators[mine] = other, tree.separators[at]
    return components, parents, separators[1:]


def _maximal(masks: Sequence[int]) -> list[int]:
    distinct = sorted(set(masks), key=lambda mask: tuple(graphs.members(mask)))
    return [m for m in distinct if not any(m != other and m & ~other == 0 for other in distinct)]


def _as_axes(masks: Iterable[int]) -> tuple[Axes, ...]:
    return tuple(tuple(graphs.members(mask)) for mask in masks)


def require_agreement(constraints: CountConstraints) -> None:
    """Raise NoNumbersError with rows that contradict each other, if margins do.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 5])])
    >>> try:
    ...     require_agreement(known)
    ... except NoNumbersError as error:
    ...     print(error.rows)
    (0, 1, 3)
    """
    margins, starts = constraints.margins, first_rows(constraints)
    for margin, start in zip(margins, starts, strict=True):
        impossible = margin.upper < np.maximum(margin.lower, 0)
        if impossible.any():
            raise NoNumbersError([start + int(np.argmax(impossible))])
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
    raise NoNumbersError(sorted([starts[other] + flat, *(starts[exact] + rows).tolist()]))


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
    raise NoNumbersError(sorted(rows))


def _exceeding(rows: Integers, counts: Integers, limit: int) -> Integers:
    order = np.argsort(-counts, kind="stable")
    n_rows = int(np.argmax(np.cumsum(counts[order]) > limit)) + 1
    return rows[order[:n_rows]]
