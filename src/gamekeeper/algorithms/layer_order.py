"""The order of nodes within their layers, such that few edges cross.

Edges join neighbouring layers only; a longer edge passes through a dummy node on every layer
between its ends. From several starts the layers are sorted by the barycentres of their neighbours,
downwards and upwards in turn (Sugiyama, Tagawa and Toda, Methods for visual understanding of
hierarchical system structures, 1981). Then single nodes move to where they cause fewest
crossings, until no move helps. To find the least number of crossings is NP-hard even for two
layers, so the outcome is good and not always the best.

A sweep costs O(m log m) for m edges; a round of moves costs the cube of the widest layer, in numpy.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_crossings", "order_layers"]

_Order = list[list[int]]
_Gap = Sequence[tuple[int, int]]

_SWEEPS = 24
_PATIENCE = 6
_KICKS = 60
# The number of kicks times the sum of squares of layer sizes stays below this.
_KICK_WORK = 300_000
# Beyond this width the table of all pairs on a layer takes too long.
_MOVES_BELOW = 1_000


def order_layers(
    layers: Sequence[Sequence[int]], gaps: Sequence[_Gap], *, keep_lowest: bool = False
) -> _Order:
    """Return the layers with their nodes from left to right.

    Parameters
    ----------
    layers
        The nodes of each layer from the top. The given order is one of the starts, so it decides
        among orders that are equally good.
    gaps
        For each layer but the lowest the pairs that join it with the next.
    keep_lowest
        Whether the lowest layer stays in the given order.

    Examples
    --------
    >>> order_layers([[0, 1], [2, 3]], [[(0, 3), (1, 2)]], keep_lowest=True)
    [[1, 0], [2, 3]]
    """
    search = _Search(layers, gaps, keep_lowest)
    best, fewest = search.improved(search.starts[0])
    for start in search.starts[1:]:
        order, crossings = search.improved(start)
        if crossings < fewest:
            best, fewest = order, crossings
    chance = random.Random(1)
    work = sum(len(layer) ** 2 for layer in layers)
    order, level = best, fewest
    for _ in range(min(_KICKS, _KICK_WORK // max(work, 1)) if fewest else 0):
        tried, crossings = search.improved(search.kicked(order, chance))
        if crossings <= level:
            order, level = tried, crossings
        if crossings < fewest:
            best, fewest = tried, crossings
    return best


def count_crossings(order: Sequence[Sequence[int]], gaps: Sequence[_Gap]) -> int:
    """Return how often edges cross between layers in this order.

    Examples
    --------
    >>> count_crossings([[0, 1], [2, 3]], [[(0, 3), (1, 2)]])
    1
    """
    places = {node: place for layer in order for place, node in enumerate(layer)}
    crossings = 0
    for gap in gaps:
        passed: list[int] = []
        for _, lower in sorted((places[upper], places[lower]) for upper, lower in gap):
            at = bisect_right(passed, lower)
            crossings += len(passed) - at
            passed.insert(at, lower)
    return crossings


class _Search:
    def __init__(
        self, layers: Sequence[Sequence[int]], gaps: Sequence[_Gap], keep_lowest: bool
    ) -> None:
        self._layers = layers
        self._gaps = gaps
        self._movable = len(layers) - keep_lowest
        self._above: dict[int, list[int]] = {node: [] for layer in layers for node in layer}
        self._below: dict[int, list[int]] = {node: [] for layer in layers for node in layer}
        for gap in gaps:
            for upper, lower in gap:
                self._below[upper].append(lower)
                self._above[lower].append(upper)
        given = [list(layer) for layer in layers]
        self.starts = given, self._along(self._below, given), self._along(self._above, given[::-1])

    def kicked(self, order: _Order, chance: random.Random) -> _Order:
        """Return an order with some nodes of one layer reversed."""
        kicked = [list(layer) for layer in order]
        layer = chance.choice([layer for layer in kicked[: self._movable] if len(layer) > 1])
        start, stop = sorted(chance.sample(range(len(layer) + 1), 2))
        layer[start:stop] = reversed(layer[start:stop])
        return kicked

    def _along(self, onwards: dict[int, list[int]], layers: _Order) -> _Order:
        """Nodes in the order in which they are met when paths are followed to their ends."""
        met: dict[int, None] = {}
        for layer in layers:
            for first in layer:
                waiting = [first]
                while waiting:
                    node = waiting.pop()
                    if node not in met:
                        met[node] = None
                        waiting += reversed(onwards[node])
        place = {node: number for number, node in enumerate(met)}
        order = [sorted(layer, key=place.__getitem__) for layer in self._layers]
        if self._movable < len(order):
            order[-1] = list(self._layers[-1])
        return order

    def improved(self, start: _Order) -> tuple[_Order, int]:
        """Return a better order and the number of its crossings."""
        order = [list(layer) for layer in start]
        best, fewest = start, count_crossings(start, self._gaps)
        fruitless = 0
        for sweep in range(_SWEEPS):
            # Upwards first: the order of the lowest layer is the one that is given.
            self._sort(order, upwards=sweep % 2 == 0, backwards=sweep % 4 > 1)
            crossings = count_crossings(order, self._gaps)
            fruitless += 1
            if crossings < fewest:
                best, fewest = [list(layer) for layer in order], crossings
                fruitless = 0
            if fruitless == _PATIENCE or not fewest:
                break
        if fewest:
            best = [list(layer) for layer in best]
            self._move(best)
            fewest = count_crossings(best, self._gaps)
        return best, fewest

    def _sort(self, order: _Order, *, upwards: bool, backwards: bool) -> None:
        """Sort each layer by the mean places of neighbours on the layer before it.

        Nodes without any stay where they are. `backwards` reverses those that are equal.
        """
        numbers = range(len(order) - 2, -1, -1) if upwards else range(1, self._movable)
        neighbours = self._below if upwards else self._above
        for number in numbers:
            layer = order[number]
            place = {node: at for at, node in enumerate(order[number + (1 if upwards else -1)])}
            means = {
                node: sum(map(place.__getitem__, neighbours[node])) / len(neighbours[node])
                for node in (reversed(layer) if backwards else layer)
                if neighbours[node]
            }
            sorted_nodes = iter(sorted(means, key=means.__getitem__))
            order[number] = [next(sorted_nodes) if node in means else node for node in layer]

    def _move(self, order: _Order) -> None:
        """Move single nodes within their layers as long as that saves crossings."""
        rounds = [*range(len(order)), *range(len(order) - 2, 0, -1)]
        stale = 0
        for number in rounds * _SWEEPS:
            stale += 1
            if number < self._movable and len(order[number]) <= _MOVES_BELOW:
                moved = _best_moves(self._gains(order, number))
                if moved is not None:
                    order[number] = [order[number][at] for at in moved]
                    stale = 0
            if stale > len(rounds):
                break

    def _gains(self, order: _Order, number: int) -> NDArray[np.float32]:
        """Return for each pair on a layer the crossings saved when the second stands first."""
        layer = order[number]
        gains = np.zeros((len(layer), len(layer)), dtype=np.float32)
        for other, neighbours in ((number - 1, self._above), (number + 1, self._below)):
            if 0 <= other < len(order):
                place = {node: at for at, node in enumerate(order[other])}
                joined = np.zeros((len(layer), len(place)), dtype=np.float32)
                for at, node in enumerate(layer):
                    for neighbour in neighbours[node]:
                        joined[at, place[neighbour]] = 1
                crossings = joined @ (np.cumsum(joined, axis=1) - joined).T
                gains += crossings - crossings.T
        return gains


def _best_moves(gains: NDArray[np.float32]) -> list[int] | None:
    """Return a better order of a layer, or None; `gains[a, b]` is saved when b comes before a."""
    size = len(gains)
    order = np.arange(size)
    sums = np.zeros((size, size + 1), dtype=np.float32)
    has_moved = False
    while True:
        np.cumsum(gains[np.ix_(order, order)], axis=1, out=sums[:, 1:])
        saved = sums.max(axis=1) - sums.diagonal()
        helpful = np.flatnonzero(saved > 0)
        if not len(helpful):
            return order.tolist() if has_moved else None
        has_moved = True
        for node in order[helpful[np.argsort(-saved[helpful], kind="stable")]].tolist():
            at = int(np.flatnonzero(order == node)[0])
            row = np.concatenate(([0], np.cumsum(gains[node, order])))
            slot = int(row.argmax())
            if row[slot] > row[at]:
                order = np.insert(np.delete(order, at), slot - (slot > at), node)
