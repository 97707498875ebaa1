"""The probability that some of given cells is fully known, in floating point, for large populations.

A population is cut into its cells and put together again, two parts at a time, the smallest first
(`kernels.merge`). Equal parts are put together once. Only the numbers of known people
that matter for what was asked are followed down to the parts. For all numbers of known people this
takes time of the order of N^1.5, and the error stays below 1e-12 (about 1e-14 where it was
compared with exact rationals).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import LimitError, Reason

ERROR = 1e-12
"""The stated absolute error of probabilities in floating point."""

_MOST_FACTORS = 100_000_000

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def some_cell_known(sizes: Iterable[int], population: int, asked: Integers) -> Floats:
    """Return the probability that a cell of `sizes` is fully known, for each number of people.

    Examples
    --------
    >>> some_cell_known([2, 1], 4, np.arange(5)).round(6).tolist()
    [0.0, 0.25, 0.666667, 1.0, 1.0]
    """
    cells = [int(size) for size in sizes]
    if not cells:
        return np.zeros(len(asked))
    if min(cells) == 0:
        return np.ones(len(asked))
    leaves = [(("cell", size), size) for size in sorted(cells)]
    rest = population - sum(cells)
    if rest:
        leaves.append((("rest", rest), rest))

    def known_of(name: object, numbers: Integers) -> Floats:
        kind, size = cast("tuple[str, int]", name)
        return ((numbers == size) & (kind == "cell")).astype(np.float64)

    return _put_together(_Tree(leaves), known_of, asked)


def some_part_recovered(curves: Sequence[Floats], asked: Integers) -> Floats:
    """Return the probability that a zero is recovered in a part of a population cut into parts.

    A curve holds the probability for its part from nobody to everybody of it known.

    Examples
    --------
    >>> parts = [np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0])]
    >>> some_part_recovered(parts, np.arange(4)).round(6).tolist()
    [0.0, 0.333333, 1.0, 1.0]
    """
    if any(curve[0] == 1.0 for curve in curves):
        return np.ones(len(asked))
    leaves = sorted(((number, len(c) - 1) for number, c in enumerate(curves)), key=lambda x: x[1])
    people: list[tuple[object, int]] = [leaf for leaf in leaves if leaf[1]]
    if not people:
        return np.zeros(len(asked))
    return _put_together(
        _Tree(people), lambda name, numbers: curves[cast("int", name)][numbers], asked
    )


def _put_together(
    tree: _Tree, known_of: Callable[[object, Integers], Floats], asked: Integers
) -> Floats:
    """Follow what is asked down to the leaves of a tree, and put them together from there."""
    from gamekeeper.algorithms.subtraction.kernels import merge, spread

    if not len(asked):
        return np.zeros(0)
    wanted, place = np.unique(asked, return_inverse=True)
    root = len(tree.sizes) - 1
    # The numbers of known people that are needed of each part.
    first, last = [2**62] * (root + 1), [-1] * (root + 1)
    first[root], last[root] = int(wanted[0]), int(wanted[-1])
    for part in range(root, -1, -1):
        children = tree.children[part]
        if children is None:
            continue
        low, high, size = first[part], last[part], tree.sizes[part]
        widest = min(max(low, size // 2), high)
        far = float(spread(widest, *(tree.sizes[child] for child in children)))
        for child in children:
            own = tree.sizes[child]
            least = max(0, low - (size - own), int(low * (own / size) - far) - 1)
            most = min(own, high, int(high * (own / size) + far) + 2)
            first[child], last[child] = min(first[child], least), max(last[child], most)
    known: list[Floats] = []
    for part in range(root + 1):
        numbers = np.arange(first[part], last[part] + 1) if part < root else wanted
        children = tree.children[part]
        if children is None:
            known.append(known_of(tree.names[part], numbers))
            continue
        a, b = children
        known.append(
            merge(numbers, known[a], first[a], tree.sizes[a], known[b], first[b], tree.sizes[b])
        )
    return known[-1][place]


def all_known(size: int, population: int, asked: Integers) -> Floats:
    """Return the probability that `size` given people are all among n known ones.

    Examples
    --------
    >>> all_known(2, 4, np.arange(5)).round(6).tolist()
    [0.0, 0.0, 0.166667, 0.5, 1.0]
    """
    unknown = population - asked.astype(np.float64)
    # The product over the given people has as many roundings as there are of them, that over the
    # unknown people is small before it has many, so that neither error is more than 1e-13.
    if size * size <= population:
        found = np.ones(len(asked))
        for k in range(size):
            found *= np.maximum(population - unknown - k, 0.0) / (population - k)
        return found
    # Beyond this the product over the unknown people is below exp(-40).
    most = min(population, 40 * (population // size + 1))
    if most > _MOST_FACTORS:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Probabilities for cells of {size:,} of {population:,} people were asked for.",
            f"They are products of {most:,} numbers; the limit is {_MOST_FACTORS:,}.",
            "Take a part of the table, or join categories.",
        )
    left = population - np.arange(most, dtype=np.float64)
    shares = np.concatenate(([1.0], np.cumprod(np.maximum(left - size, 0.0) / left)))
    return np.where(unknown <= most, shares[np.minimum(unknown, most).astype(np.int64)], 0.0)


class _Tree:
    """Parts of a population, children before parents, those of the same name once."""

    def __init__(self, leaves: Sequence[tuple[object, int]]) -> None:
        self.names: list[object] = []
        self.sizes: list[int] = []
        self.children: list[tuple[int, int] | None] = []
        self._numbers: dict[object, int] = {}
        heap = [(size, self._part(name, size, None)) for name, size in leaves]
        heapq.heapify(heap)
        while len(heap) > 1:
            one, other = heapq.heappop(heap), heapq.heappop(heap)
            pair, size = (one[1], other[1]), one[0] + other[0]
            heapq.heappush(heap, (size, self._part(("pair", *pair), size, pair)))

    def _part(self, name: object, size: int, children: tuple[int, int] | None) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.sizes)
            self.names.append(name)
            self.sizes.append(size)
            self.children.append(children)
        return self._numbers[name]
