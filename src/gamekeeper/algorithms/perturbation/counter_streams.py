"""Random numbers that do not depend on who draws them.

A counter-based generator gives the number at any place of a stream without those before it: here
the place is the identity of a record, so that what is drawn for it is the same whatever the order
of records and however many work at it. The stream itself is named by a seed and by words, such as
the step of a recipe and a variable; streams of other names have nothing to do with each other.

The generator is Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, Parallel random numbers:
as easy as 1, 2, 3; 2011), checked against the published vectors. Its key are 64 bits of a SHA-256
of seed and words; its counter are the 64 bits of the record and 32 of the number of the draw. Costs
some forty operations on whole arrays a draw; two draws of 53 bits come from one counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint64]

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10


def philox(
    counter: tuple[Words, Words, Words, Words], key: tuple[int, int]
) -> tuple[Words, Words, Words, Words]:
    """Return the four words of 32 bits, each in 64, of many counters under one key.

    Examples
    --------
    >>> nothing = np.zeros(1, dtype=np.uint64)
    >>> [f"{int(word[0]):08x}" for word in philox((nothing,) * 4, (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (
            (p1 >> _HALF) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _HALF) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return c0, c1, c2, c3


@dataclass(frozen=True, slots=True)
class CounterStream:
    """A stream of random numbers with a place for each record.

    `purpose` says in words what the numbers are for: the step, the variable.

    Examples
    --------
    >>> stream = CounterStream(7, ("1 pram", "Sex"))
    >>> numbers = stream.uniform([3, 1, 2])
    >>> bool((numbers == stream.uniform([2, 1, 3])[[2, 1, 0]]).all())
    True
    """

    seed: int
    purpose: tuple[str, ...]

    def bits(self, records: ArrayLike, draw: int = 0) -> Words:
        """Return 64 random bits for each record; another `draw` gives others."""
        record = np.asarray(records).astype(np.uint64)
        turn = np.full(record.shape, draw >> 1, dtype=np.uint64)
        counter = (record & _LOW, record >> _HALF, turn, np.zeros_like(record))
        words = philox(counter, self._key())
        high, low = (words[2], words[3]) if draw & 1 else (words[0], words[1])
        return (high << _HALF) | low

    def uniform(self, records: ArrayLike, draw: int = 0) -> NDArray[np.float64]:
        """Return a number from 0 to below 1 for each record."""
        return (self.bits(records, draw) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, records: ArrayLike, draw: int = 0) -> NDArray[np.float64]:
        """Return a standard normal number for each record."""
        from scipy.special import ndtri

        # Half a step up: 0 has no quantile.
        return ndtri(self.uniform(records, draw) + 2.0**-54)

    def order(self, records: ArrayLike, draw: int = 0) -> NDArray[np.int64]:
        """Return places of the records in a random order; the same records come in the same order."""
        ids = np.asarray(records).astype(np.uint64)
        return np.lexsort((ids, self.bits(ids, draw)))

    def _key(self) -> tuple[int, int]:
        told = repr((int(self.seed), self.purpose)).encode("utf-8", "surrogatepass")
        key = int.from_bytes(sha256(told).digest()[:8], "little")
        return key & 0xFFFFFFFF, key >> 32
