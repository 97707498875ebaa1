"""The generalized shuttle algorithm: bounds of the cells of every recoded table at once.

A node is the sum over a product of non-empty sets of categories, one per axis: a cell of the base
table, of a margin, or of any recoding of it. A dependency is a node with the set of one axis split
in two: the parent is the sum of two children. What was published bounds some nodes. Sweeps through
the dependencies pass bounds on between parents and children until nothing changes.

Every rule is monotone: from tighter bounds it derives tighter ones. So, by induction, no order of
visits gets past the loosest bounds within the given ones that no rule tightens, and every order
that stops has reached them: the fixed point is unique. It contains all feasible tables. It is tight
for exact decomposable releases, and need not be otherwise; `Shuttle.tighten` goes on from there to
exact bounds by trial and retraction.

Buzzigoli and Giusti (1999); Dobra and Fienberg (2001, 2008); Smith's thesis, chapter 2. With k
categories per axis there are the product of 2^k - 1 nodes; a sweep visits for each axis (3^k -
2^(k+1) + 1) / 2 dependencies times the nodes of the other axes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import magnitude_text, shape_text

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MAX_NODES = 2_000_000
"""The most nodes, of some 100 bytes each, that are made without being asked for explicitly."""

MAX_STEPS = 20_000
"""The most steps of search for one bound that are taken without being asked for explicitly."""

_DEPENDENCIES_AT_ONCE = 20_000_000


def node_count(shape: Iterable[int]) -> int:
    """Return the number of products of non-empty sets of categories."""
    return math.prod(2**length - 1 for length in shape)


def dependency_count(shape: Sequence[int]) -> int:
    """Return the number of splits of one axis of a node in two."""
    nodes = node_count(shape)
    if not nodes:
        return 0
    return sum((3**k - 2 ** (k + 1) + 1) // 2 * (nodes // (2**k - 1)) for k in shape)


class Shuttle:
    """Bounds of all nodes of a table, which can be looked at whenever the work pauses.

    A table of more than `max_nodes` nodes is refused with an estimate. `sweeps` says how often all
    dependencies were visited, and `is_finished` whether the fixed point is reached: a sweep has
    changed nothing.

    Examples
    --------
    >>> known = CountConstraints.of((2, 3), [((0,), [5, 5]), ((1,), [9, 1, 0])])
    >>> shuttle = Shuttle(known).run()
    >>> shuttle.lower.tolist(), shuttle.upper.tolist()
    ([[4, 0, 0], [4, 0, 0]], [[5, 1, 0], [5, 1, 0]])
    >>> lower, upper = shuttle.bounds_of([[0, 1], [0, 1, 1]])
    >>> upper.tolist()
    [[5, 1], [5, 1]]
    """

    def __init__(self, constraints: CountConstraints, *, max_nodes: int = MAX_NODES) -> None:
        self.constraints = constraints
        shape = constraints.shape
        self.n_nodes = node_count(shape)
        self.n_dependencies = dependency_count(shape)
        self.sweeps = 0
        self.is_finished = False
        self._has_failed = False
        _require_nodes(shape, self.n_nodes, self.n_dependencies, max_nodes)
        from gamekeeper.algorithms.bounds.shuttle_kernels import new_work

        sizes = np.array([2**length - 1 for length in shape], np.int64)
        self._work = new_work(sizes, constraints.size)
        self._cells = self._nodes_of([np.arange(length) for length in shape])
        rows = constraints.rows
        numbers = [self._nodes_of(margin.groups).reshape(-1) for margin in constraints.margins]
        self._row_nodes = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
        np.maximum.at(self._work.lower, self._row_nodes, rows.lower)
        np.minimum.at(self._work.upper, self._row_nodes, rows.upper)
        crossed = (self._work.lower > self._work.upper)[self._row_nodes]
        if np.any(crossed):
            node = self._row_nodes[np.argmax(crossed)]
            raise NoNumbersError(np.flatnonzero(self._row_nodes == node).tolist())
        # Of the feasible tables, one that cannot be reduced has no cell above the largest lower
        # limit of a row: else that cell could be less. A lower bound above what such a table can
        # hold shows that there is none, and ends rounds that would raise it for ever.
        self._largest = int(rows.lower.max(initial=0))
        self._ceiling = max(1, self._largest) * constraints.size

    @property
    def changes(self) -> int:
        """How often a bound was tightened."""
        from gamekeeper.algorithms.bounds.shuttle_kernels import N_CHANGES

        return int(self._work.numbers[N_CHANGES])

    @property
    def lower(self) -> Integers:
        """The lower bounds of the cells of the base table, as they are now."""
        return self._work.lower[self._cells]

    @property
    def upper(self) -> Integers:
        """The upper bounds of the cells of the base table, as they are now."""
        return self._work.upper[self._cells]

    def bounds_of(self, groups: Sequence[ArrayLike]) -> tuple[Integers, Integers]:
        """Return the bounds of a recoded table, as they are now.

        Each axis has the group of each category, from 0; all 0 for an axis that is summed out.
        """
        nodes = self._nodes_of(self._checked(groups))
        return self._work.lower[nodes], self._work.upper[nodes]

    def node_bounds(self, categories: Sequence[Collection[int]]) -> tuple[int, int]:
        """Return the bounds of one node, as they are now: for each axis a set of categories.

        Examples
        --------
        >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
        >>> Shuttle(known).run().node_bounds([{0, 1}, {1}])
        (2, 2)
        """
        shape = self.constraints.shape
        if len(categories) != len(shape) or any(
            not of_axis or not all(0 <= category < length for category in of_axis)
            for of_axis, length in zip(categories, shape, strict=False)
        ):
            raise InputError(
                Reason.BAD_OPTION,
                "The bounds of a sum of cells were asked for.",
                f"Its sets of categories do not fit a table of the shape {shape}.",
                "Give for each axis a set of one or more of its categories, numbered from 0.",
            )
        node = 0
        for of_axis, stride in zip(categories, self._work.strides, strict=True):
            node += (sum(1 << category for category in set(of_axis)) - 1) * int(stride)
        return int(self._work.lower[node]), int(self._work.upper[node])

    def sweep(self, progress: Progress | None = None) -> int:
        """Visit every dependency once; return how often a bound was tightened.

        The first sweep goes from large sums to small ones, the second back, and so on. Raises
        `NoNumbersError` when bounds contradict each other. If `progress` stops the work, the bounds
        tightened so far stay, and are valid.
        """
        from gamekeeper.algorithms.bounds.shuttle_kernels import sweep_nodes

        before = self.changes
        pieces = max(1, self.n_dependencies // _DEPENDENCIES_AT_ONCE)
        cuts = [self.n_nodes * piece // pieces for piece in range(pieces + 1)]
        for first, last in pairwise(cuts):
            if progress is not None:
                progress(self.sweeps, None)
            going_down = self.sweeps % 2 == 0
            if self._has_failed or not sweep_nodes(
                self._work, self._ceiling, going_down, first, last
            ):
                self._has_failed = True
                raise NoNumbersError
        self.sweeps += 1
        changed = self.changes - before
        self.is_finished = changed == 0
        return changed

    def run(self, progress: Progress | None = None) -> Shuttle:
        """Sweep until nothing changes; return the shuttle. `progress` is told how many sweeps."""
        while not self.is_finished:
            self.sweep(progress)
        return self

    def tighten(
        self,
        cells: Sequence[int] | None = None,
        *,
        groups: Sequence[ArrayLike] | None = None,
        max_steps: int = MAX_STEPS,
        progress: Progress | None = None,
    ) -> TightBounds:
        """Tighten bounds until they are exact, or until the steps are used up.

        The bounds of the shuttle itself are tightened; if `progress` stops the work, those proven
        so far stay. Asked for are some cells by their flat numbers, or all, of the base table, or
        of the table recoded by `groups`.

        Examples
        --------
        >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
        >>> tight = Shuttle(known).tighten()
        >>> tight.upper.tolist(), tight.is_complete
        ([[2, 2], [1, 1]], True)
        """
        from gamekeeper.algorithms.bounds.shuttle_tightening import Tightening

        base = [np.arange(length) for length in self.constraints.shape]
        view = base if groups is None else self._checked(groups)
        nodes = self._nodes_of(view)
        asked = np.arange(nodes.size) if cells is None else np.asarray(cells, np.int64)
        if np.any(asked < 0) or np.any(asked >= nodes.size):
            raise InputError(
                Reason.BAD_OPTION,
                "Tight bounds of some cells were asked for.",
                f"The table has the cells 0 to {nodes.size - 1}.",
                "Give flat numbers of its cells.",
            )
        if self._has_failed:
            raise NoNumbersError
        self.run(progress)
        search = Tightening(
            self.constraints, self._work, self._cells.reshape(-1), self._row_nodes,
            groups=view, nodes=nodes, largest=self._largest, ceiling=self._ceiling,
        )  # fmt: skip
        try:
            return search.run(np.unique(asked), max_steps, progress)
        except NoNumbersError:
            self._has_failed = True
            raise

    def _nodes_of(self, groups: Sequence[Integers]) -> Integers:
        n_axes = len(groups)
        nodes = np.zeros((1,) * n_axes, np.int64)
        for axis, (of_axis, stride) in enumerate(zip(groups, self._work.strides, strict=True)):
            masks = np.zeros(int(of_axis.max()) + 1, np.int64)
            np.bitwise_or.at(masks, of_axis, 1 << np.arange(len(of_axis)))
            along = [-1 if other == axis else 1 for other in range(n_axes)]
            nodes = nodes + ((masks - 1) * stride).reshape(along)
        return nodes

    def _checked(self, groups: Sequence[ArrayLike]) -> list[Integers]:
        made = [np.asarray(of_axis) for of_axis in groups]
        if len(made) != len(self.constraints.shape) or any(
            of_axis.shape != (length,)
            or of_axis.dtype.kind not in "iu"
            or not np.array_equal(np.unique(of_axis), np.arange(of_axis.max() + 1))
            for of_axis, length in zip(made, self.constraints.shape, strict=False)
        ):
            raise InputError(
                Reason.BAD_OPTION,
                "The bounds of a recoded table were asked for.",
                f"Its groups do not fit a table of the shape {self.constraints.shape}.",
                "Give for each axis the group of each category, numbered from 0 without a gap.",
            )
        return [of_axis.astype(np.int64) for of_axis in made]

    def __repr__(self) -> str:
        state = "finished" if self.is_finished else "not finished"
        return f"Shuttle({self.n_nodes:,} nodes, {self.sweeps} sweeps, {state})"


def _require_nodes(shape: tuple[int, ...], nodes: int, dependencies: int, most: int) -> None:
    words = shape_text(shape)
    if not all(shape):
        raise InputError(
            Reason.MALFORMED,
            "Bounds by the shuttle algorithm were asked for.",
            f"The table has the shape {words}: an axis is without categories.",
            "Give every axis a category, or leave the axis out.",
        )
    if nodes > most:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Bounds of a {words} table by the shuttle algorithm were asked for.",
            f"It has {magnitude_text(nodes)} sums of products of categories with"
            f" {magnitude_text(dependencies)} dependencies; the limit is {most:,} sums.",
            "Use integer programs, which need none of them, merge categories, or raise max_nodes"
            " (--max-nodes).",
        )


@dataclass(frozen=True, eq=False, repr=False)
class TightBounds:
    """Valid bounds of every cell, asked for or not, with what is proven of them.

    They are tight where a feasible table attains them; `n_open` of those asked for are not proven
    to be exact. `n_steps` and `n_tables` count steps of search and feasible tables found.
    """

    lower: Integers
    upper: Integers
    tight_lower: Flags
    tight_upper: Flags
    n_open: int
    n_steps: int
    n_tables: int

    @property
    def is_complete(self) -> bool:
        """Whether all bounds asked for are exact."""
        return self.n_open == 0

    def __repr__(self) -> str:
        return f"TightBounds({self.lower.size:,} cells, {self.n_open} open, {self.n_steps:,} steps)"
