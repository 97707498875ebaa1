"""Draws by whole-number weights, the same on every platform.

A table of weights has one row per situation and one column per outcome; those of Norland are in
files beside this one. Weights are whole numbers
and so is every step of a draw, so no rounding of floating point numbers can change a population.
Each draw has a random stream of its own, found from the seed, the block of households and the
number of the draw; who comes first in a block therefore does not depend on how many follow. Only
the raw stream of PCG64 is used, which numpy promises never to change.

A draw costs one binary search in the table.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_BITS = 32
_NORLAND = Path(__file__).with_name("norland")


class Draws:
    """The random numbers of one block of households, one stream per call."""

    def __init__(self, seed: int, block: int) -> None:
        self._seed = seed
        self._block = block
        self._calls = 0

    def raw(self, number: int) -> Integers:
        """Return whole numbers from 0 to 2**32 - 1."""
        source = np.random.SeedSequence(self._seed, spawn_key=(self._block, self._calls))
        self._calls += 1
        stream = np.random.PCG64(source).random_raw(number)
        return (stream >> np.uint64(64 - _BITS)).astype(np.int64)

    def below(self, limits: Integers) -> Integers:
        """Return for each limit a whole number from 0 to it, itself left out."""
        return (self.raw(len(limits)) * limits) >> _BITS

    def happens(self, per_mille: Integers) -> NDArray[np.bool_]:
        """Return for each entry whether something of that chance, in thousandths, happens."""
        return self.raw(len(per_mille)) * 1000 < per_mille << _BITS


class Chances:
    """Weights of outcomes by situation, ready for draws."""

    def __init__(self, table: Integers) -> None:
        table = np.atleast_2d(table)
        reached = np.cumsum(table, axis=1)
        totals = reached[:, -1:]
        # A total of 2**31 or more would overflow when it is scaled to 32 bits.
        assert (table >= 0).all()
        assert ((totals > 0) & (totals < 1 << 31)).all()
        rows = np.arange(len(table), dtype=np.int64)[:, np.newaxis] << _BITS
        self._limits = (rows + (reached << _BITS) // totals).ravel()
        self._n_outcomes = table.shape[1]

    def draw(self, draws: Draws, rows: Integers) -> Integers:
        """Return for each row of the table that is given the number of an outcome."""
        sought = (rows << _BITS) + draws.raw(len(rows))
        found = np.searchsorted(self._limits, sought, side="right")
        return found.astype(np.int64) - rows * self._n_outcomes


def tables(name: str) -> dict[str, Integers]:
    """Return the tables of a file by their names: situations down, outcomes across.

    A table whose entries are named one by one is a row. One of anchors runs straight between them.

    Examples
    --------
    >>> tables("lives")["without spouse by sex"]
    array([[4, 4, 4, 4, 5, 7],
           [5, 4, 4, 4, 4, 4]])
    """
    return {title: _table(written) for title, written in listed(name).items()}


def listed(name: str) -> dict[str, Any]:
    """Return what a file of Norland lists."""
    return json.loads((_NORLAND / f"{name}.json").read_text(encoding="utf-8"))


def _table(written: dict[str, Any]) -> Integers:
    if "rows" in written:
        return np.array(list(written["rows"].values()), dtype=np.int64)
    lines = (
        {int(at): weight for at, weight in anchors.items()}
        for anchors in written["anchors"].values()
    )
    return np.stack([anchored(anchors, written["outcomes"]) for anchors in lines])


def anchored(anchors: dict[int, int], n_outcomes: int) -> Integers:
    """Return weights that run straight from anchor to anchor, and are 0 before and after.

    Examples
    --------
    >>> anchored({1: 10, 3: 20}, 5)
    array([ 0, 10, 15, 20,  0])
    """
    line = np.zeros(n_outcomes, dtype=np.int64)
    for start, end in pairwise(anchors):
        steps = np.arange(end - start + 1)
        rise = anchors[end] - anchors[start]
        line[start : end + 1] = anchors[start] + rise * steps // (end - start)
    return line


def band_of(values: Integers, *starts: int) -> Integers:
    """Return the number of the band of each value; a band begins at each start but the first.

    Examples
    --------
    >>> band_of(np.array([3, 18, 70]), 18, 65)
    array([0, 1, 2])
    """
    return np.searchsorted(np.array(starts), values, side="right").astype(np.int64)


def crossed(*factors: Integers) -> Integers:
    """Return the products of every row of each factor with every row of the others.

    Examples
    --------
    >>> crossed(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 10]])).tolist()
    [[1, 0], [1, 20], [3, 0], [3, 40]]
    """
    table = factors[0]
    for factor in factors[1:]:
        table = (table[:, np.newaxis] * factor).reshape(-1, table.shape[-1])
    return table
