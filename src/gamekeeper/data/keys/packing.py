"""Keys as few integers: the codes of a key are the digits of one number, or of several.

A number takes as many variables as fit in 63 bits, so that the twelve variables of a census file
are grouped as one column. Numbers are in the order of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gamekeeper.data.engine.gate import matrix_type

_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class KeyPacking:
    """How the columns of a key become numbers; `groups` are the places packed together."""

    columns: tuple[str, ...]
    n_codes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns with the numbers."""
        return tuple(f"k{number}" for number in range(len(self.groups)))

    def expressions(self) -> list[str]:
        """Return the numbers as plain SQL."""
        return [
            f"{self._digits(group)} AS {name}"
            for name, group in zip(self.names, self.groups, strict=True)
        ]

    def unpack(self, numbers: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes of keys, one row per key, given the columns with their numbers."""
        rows = len(numbers[0])
        codes = np.empty((rows, len(self.columns)), dtype=matrix_type(self.n_codes))
        for number, group in zip(numbers, self.groups, strict=True):
            rest = number
            for place in reversed(group):
                rest, codes[:, place] = np.divmod(rest, self.n_codes[place])
        return codes

    def _digits(self, group: tuple[int, ...]) -> str:
        text = f"CAST({self.columns[group[0]]} AS BIGINT)"
        for place in group[1:]:
            text = f"({text} * {self.n_codes[place]} + {self.columns[place]})"
        return text


def pack_keys(columns: Sequence[str], n_codes: Sequence[int]) -> KeyPacking:
    """Return how to pack the columns of a key.

    Examples
    --------
    >>> pack_keys(["v0", "v1"], [3, 10]).expressions()
    ['(CAST(v0 AS BIGINT) * 10 + v1) AS k0']
    """
    groups: list[list[int]] = []
    span = 1
    for place, count in enumerate(n_codes):
        if not groups or span * count > _LARGEST:
            groups.append([])
            span = 1
        groups[-1].append(place)
        span *= count
    return KeyPacking(tuple(columns), tuple(n_codes), tuple(map(tuple, groups)))
