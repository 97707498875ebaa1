"""Where nodes stand along their layers: near their neighbours, in order, without overlap.

The sum of squared distances between joined nodes is made small, layer by layer, downwards and
upwards in turn. For one layer with its neighbours held still this is a weighted isotonic
regression, solved exactly by pooling adjacent violators (Ayer and others, An empirical
distribution function for sampling with incomplete information, 1955). The objective is convex and
the layers do not constrain each other, so the rounds lead to the optimum. Edges weigh more the
nearer they are to the widest layer. So nodes above it are centred over their children, and nodes
below it under their parents.

Then threads are made straight where there is room: paths without branches, above all the dummy
nodes of long edges. Gansner and others (1993) and Brandes and Köpf (Fast and simple horizontal
coordinate assignment, 2001) state the aims; theirs are other ways to reach them. On our graphs,
which have one very wide layer, squares gave narrower drawings than four averaged alignments and
centred parents better than sums of absolute distances.

A round costs O(nodes + edges).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["horizontal_positions"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Flags = NDArray[np.bool_]

_ROUNDS = 100
_STILL = 0.05
_STRAIGHTENINGS = 3
# How much more the edges on the side of the widest layer weigh than those on the other side.
_CENTRING = 4.0
# Long edges should be straight, so edges between dummy nodes weigh most.
_WEIGHTS = (1.0, 2.0, 8.0)
_DUMMY_GAP = 0.5
_HELD = 1e6
_IDLE = 1e-3


def horizontal_positions(
    order: Sequence[Sequence[int]],
    gaps: Sequence[Sequence[tuple[int, int]]],
    widths: Mapping[int, float],
    *,
    n_nodes: int,
    node_gap: float,
) -> dict[int, float]:
    """Return the horizontal position of the centre of every node.

    Parameters
    ----------
    order
        The nodes of each layer from left to right.
    gaps
        For each layer but the lowest the pairs that join it with the next.
    widths
        Of every node.
    n_nodes
        Nodes from this number on are dummies, bends of long edges.
    node_gap
        Room between neighbours on a layer; dummies need less.

    Examples
    --------
    >>> widths = {0: 20, 1: 20, 2: 20}
    >>> horizontal_positions([[0], [1, 2]], [[(0, 1), (0, 2)]], widths, n_nodes=3, node_gap=10)
    {0: 0.0, 1: -15.0, 2: 15.0}
    """
    rows = _Rows(order, gaps, widths, n_nodes, node_gap)
    rows.relax()
    for _ in range(_STRAIGHTENINGS):
        rows.straighten()
        rows.relax(hold_threads=True)
    rows.unbend()
    return {
        node: x
        for row, positions in zip(order, rows.x, strict=True)
        for node, x in zip(row, positions.tolist(), strict=True)
    }


class _Gap(NamedTuple):
    """The edges between two rows: places of their ends, and how much each weighs."""

    uppers: _Ints
    lowers: _Ints
    weights: _Floats


class _Rows:
    """The layers; a node is known by the number of its row and its place in the row."""

    def __init__(
        self,
        order: Sequence[Sequence[int]],
        gaps: Sequence[Sequence[tuple[int, int]]],
        widths: Mapping[int, float],
        n_nodes: int,
        node_gap: float,
    ) -> None:
        place = {node: at for row in order for at, node in enumerate(row)}
        self._gaps = [
            _Gap(
                np.array([place[upper] for upper, _ in gap], dtype=np.int64),
                np.array([place[lower] for _, lower in gap], dtype=np.int64),
                np.array(_WEIGHTS)[[(upper >= n_nodes) + (lower >= n_nodes) for upper, lower in gap]],
            )
            for gap in gaps
        ]
        self._offsets: list[_Floats] = []
        self.x: list[_Floats] = []
        for row in order:
            rooms = [
                (widths[left] + widths[right]) / 2
                + node_gap * (_DUMMY_GAP if max(left, right) >= n_nodes else 1)
                for left, right in pairwise(row)
            ]
            offsets = np.cumsum([0.0, *rooms])
            self._offsets.append(offsets)
            self.x.append(offsets - offsets[-1] / 2)
        self._widest = int(np.argmax([offsets[-1] for offsets in self._offsets]))
        self._threads = [
            [(number, place[node]) for number, node in thread] for thread in _threads(order, gaps)
        ]
        self._is_dummy = [np.array(row) >= n_nodes for row in order]
        self._threaded = [np.zeros(len(row), dtype=bool) for row in order]
        for thread in self._threads:
            for number, at in thread:
                self._threaded[number][at] = True

    def relax(self, *, hold_threads: bool = False) -> None:
        """Move all nodes towards their neighbours."""
        self._settle(
            [self._threaded[number] * hold_threads for number in range(len(self.x))],
            [gap.weights for gap in self._gaps],
            _CENTRING,
        )

    def unbend(self) -> None:
        """Move dummies only, so that long edges become straight lines where nothing is in the way."""
        self._settle(
            [~is_dummy for is_dummy in self._is_dummy],
            [np.ones(len(gap.weights)) for gap in self._gaps],
            1.0,
        )

    def _settle(
        self, held: Sequence[_Flags], weights: Sequence[_Floats], centring: float
    ) -> None:
        """Move nodes that are not held until all are still."""
        numbers = range(len(self.x))
        for sweep in range(_ROUNDS):
            moved = 0.0
            for number in numbers if sweep % 2 else reversed(numbers):
                x = self.x[number]
                sums, totals = self._pulls(number, weights, centring)
                # Nodes without neighbours stay, so far as others let them.
                stay = np.where(held[number], _HELD, np.where(totals == 0, _IDLE, 0.0))
                totals += stay
                wanted = (sums + stay * x) / totals
                self.x[number] = _in_order(wanted, totals, self._offsets[number])
                moved = max(moved, float(np.abs(self.x[number] - x).max()))
            if moved < _STILL:
                break

    def _pulls(
        self, number: int, weights: Sequence[_Floats], centring: float
    ) -> tuple[_Floats, _Floats]:
        """Return for a row the weighted sums of neighbours' positions, and the sums of weights."""
        size = len(self.x[number])
        sums, totals = np.zeros(size), np.zeros(size)
        if number > 0:
            gap = self._gaps[number - 1]
            weight = weights[number - 1] * (centring if self._widest < number else 1.0)
            sums += np.bincount(gap.lowers, weight * self.x[number - 1][gap.uppers], size)
            totals += np.bincount(gap.lowers, weight, size)
        if number < len(self._gaps):
            gap = self._gaps[number]
            weight = weights[number] * (centring if self._widest > number else 1.0)
            sums += np.bincount(gap.uppers, weight * self.x[number + 1][gap.lowers], size)
            totals += np.bincount(gap.uppers, weight, size)
        return sums, totals

    def straighten(self) -> None:
        """Give each thread one position, or a few, without moving other nodes."""
        for thread in self._threads:
            run: list[tuple[int, int]] = []
            low, high = -np.inf, np.inf
            for number, at in thread:
                x, offsets = self.x[number], self._offsets[number]
                first = x[at - 1] + offsets[at] - offsets[at - 1] if at else -np.inf
                last = (
                    x[at + 1] + offsets[at] - offsets[at + 1] if at + 1 < len(x) else np.inf
                )
                if max(low, first) > min(high, last):
                    self._set(run, low, high)
                    run, low, high = [], -np.inf, np.inf
                run.append((number, at))
                low, high = max(low, first), min(high, last)
            self._set(run, low, high)

    def _set(self, run: Sequence[tuple[int, int]], low: float, high: float) -> None:
        """Move the nodes of a run to one position, as near to its neighbours as it may be."""
        wanted = weight = 0.0
        first, first_at = run[0]
        last, last_at = run[-1]
        if first > 0:
            gap = self._gaps[first - 1]
            joined = gap.lowers == first_at
            pull = gap.weights[joined] * (_CENTRING if self._widest < first else 1.0)
            wanted += float(pull @ self.x[first - 1][gap.uppers[joined]])
            weight += float(pull.sum())
        if last < len(self._gaps):
            gap = self._gaps[last]
            joined = gap.uppers == last_at
            pull = gap.weights[joined] * (_CENTRING if self._widest > last else 1.0)
            wanted += float(pull @ self.x[last + 1][gap.lowers[joined]])
            weight += float(pull.sum())
        if not weight:
            wanted, weight = sum(float(self.x[number][at]) for number, at in run), len(run)
        position = min(max(wanted / weight, low), high)
        for number, at in run:
            self.x[number][at] = position


def _threads(
    order: Sequence[Sequence[int]], gaps: Sequence[Sequence[tuple[int, int]]]
) -> list[list[tuple[int, int]]]:
    """Return paths on which nothing branches, longest first, as pairs of row and node."""
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for upper, lower in (pair for gap in gaps for pair in gap):
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    following = {
        upper: lowers[0]
        for upper, lowers in below.items()
        if len(lowers) == 1 and len(above[lowers[0]]) == 1
    }
    followers = set(following.values())
    threads: list[list[tuple[int, int]]] = []
    for number, row in enumerate(order):
        for node in row:
            if node in following and node not in followers:
                thread = [(number, node)]
                while (node := following.get(node, -1)) >= 0:
                    thread.append((number + len(thread), node))
                threads.append(thread)
    return sorted(threads, key=len, reverse=True)


def _in_order(wanted: _Floats, weights: _Floats, offsets: _Floats) -> _Floats:
    """Return the positions nearest to those wanted that keep the order and the room between."""
    means: list[float] = []
    totals: list[float] = []
    sizes: list[int] = []
    for mean, total in zip((wanted - offsets).tolist(), weights.tolist(), strict=True):
        size = 1
        while means and means[-1] >= mean:
            other = totals.pop()
            mean = (mean * total + means.pop() * other) / (total + other)
            total += other
            size += sizes.pop()
        means.append(mean)
        totals.append(total)
        sizes.append(size)
    return np.repeat(means, sizes) + offsets
