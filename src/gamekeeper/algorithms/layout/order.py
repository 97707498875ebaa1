"""The order of nodes within their layers, such that few edges cross.

Edges join neighbouring layers only; a longer edge passes through a dummy node on every layer
between its ends. The layers are sorted by the barycentres of their neighbours, downwards and
upwards in turn (Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical system
structures, 1981). Then single nodes move along their layers to where they cause fewest crossings,
until no move helps. Both are done from several starts, and again after some nodes of the best
order were reversed. To find the least number of crossings is NP-hard even for two layers, so the
outcome is good and not always the best.

A sweep costs O(m log m) for m edges, a round of moves the nodes times the edges of each layer, in
numpy. The number of starts goes down as that grows. Chance has a fixed seed.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Order = list[list[int]]
_Gap = Sequence[tuple[int, int]]

_SWEEPS = 24
_PATIENCE = 6
_KICKS = 40
# The work from one start or after one kick grows with the squares of layer sizes; what each layer
# costs besides is as much as this. Measured: 200,000 take about 0.2 s.
_LAYER_WORK = 1_000
_START_WORK = 1_000_000
_KICK_WORK = 200_000
# Beyond this width the table of all pairs on a layer takes too long.
_MOVES_BELOW = 1_000


def order_layers(
    layers: Sequence[Sequence[int]], gaps: Sequence[_Gap], *, keep_lowest: bool = False
) -> _Order:
    """Return the layers with their nodes from left to right.

    `gaps` has, for each layer but the lowest, the pairs that join it with the next. Nodes with the
    same neighbours stay in the given order, and so does the lowest layer where it is kept.

    Examples
    --------
    >>> order_layers([[0, 1], [2, 3]], [[(0, 3), (1, 2)]], keep_lowest=True)
    [[1, 0], [2, 3]]
    """
    search = _Search(layers, gaps, keep_lowest)
    work = sum(_LAYER_WORK + len(layer) ** 2 for layer in layers)
    best = search.improved(search.starts[0])
    for start in search.starts[1:] if best.crossings and work < _START_WORK else ():
        best = min(best, search.improved(start), key=_Found.cost)
    chance = random.Random(1)
    current = best
    for _ in range(min(_KICKS, _KICK_WORK // max(work, 1)) if best.crossings else 0):
        tried = search.improved(search.kicked(current.order, chance))
        if tried.crossings <= current.crossings:
            current = tried
        best = min(best, current, key=_Found.cost)
    return search.tidied(best.order)


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
        ends = sorted((places[upper], places[lower]) for upper, lower in gap)
        crossings += _inversions(lower for _, lower in ends)
    return crossings


def _inversions(numbers: Iterable[int]) -> int:
    """Return how many pairs have the larger number first."""
    found = 0
    passed: list[int] = []
    for number in numbers:
        at = bisect_right(passed, number)
        found += len(passed) - at
        passed.insert(at, number)
    return found


class _Found(NamedTuple):
    order: _Order
    crossings: int
    stretch: float

    def cost(self) -> tuple[int, float]:
        """Among orders with as many crossings the one with shorter edges is better."""
        return self.crossings, self.stretch


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
        """Return an order in which twice some neighbours on a layer are reversed."""
        kicked = [list(layer) for layer in order]
        choices = [layer for layer in kicked[: self._movable] if len(layer) > 1]
        for layer in chance.choices(choices, k=2):
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

    def improved(self, start: _Order) -> _Found:
        """Return a better order, if one is found, or else the same."""
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
        return _Found(best, fewest, self._stretch(best))

    def _stretch(self, order: _Order) -> float:
        """Return about how far edges go sideways, when every layer is centred."""
        aside = {
            node: at - len(layer) / 2 + 0.5 for layer in order for at, node in enumerate(layer)
        }
        return sum(abs(aside[upper] - aside[lower]) for gap in self._gaps for upper, lower in gap)

    def tidied(self, order: _Order) -> _Order:
        """Return an order with as many crossings that is nearer to the given one."""
        given = {node: at for layer in self._layers for at, node in enumerate(layer)}
        places = [[given[node] for node in layer] for layer in order]
        as_is = sum(map(_inversions, places))
        mirrored = sum(_inversions(reversed(layer)) for layer in places)
        if mirrored < as_is and self._movable == len(order):
            order = [layer[::-1] for layer in order]
        tidied: _Order = []
        for layer in order[: self._movable]:
            # Nodes with the same neighbours can change places at no cost.
            alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
            keys = [
                (tuple(sorted(self._above[node])), tuple(sorted(self._below[node])))
                for node in layer
            ]
            for node, key in zip(layer, keys, strict=True):
                alike.setdefault(key, []).append(node)
            turns = {
                key: iter(sorted(nodes, key=given.__getitem__)) for key, nodes in alike.items()
            }
            tidied.append([next(turns[key]) for key in keys])
        return [*tidied, *order[self._movable :]]

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
                ends = [
                    (at, place[end]) for at, node in enumerate(layer) for end in neighbours[node]
                ]
                owners, places = np.array(ends, dtype=np.int64).reshape(-1, 2).T
                joined = np.zeros((len(place), len(layer)), dtype=np.float32)
                joined[places, owners] = 1
                # For each neighbour of one node, the edges of the others that end before it.
                before = (np.cumsum(joined, axis=0) - joined)[places]
                with_edges, starts = np.unique(owners, return_index=True)
                crossings = np.zeros_like(gains)
                crossings[with_edges] = np.add.reduceat(before, starts, axis=0)
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
