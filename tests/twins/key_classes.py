"""Who cannot be told from whom on a key, by comparing all pairs, and what classes leave to tell.

0 is a missing cell. Discernibility is the sum of the squared sizes of classes of records that look
alike (Bayardo and Agrawal 2005): as many as there are records where all differ, their square where
none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def in_class(r: Sequence[int], q: Sequence[int], missing: str) -> bool:
    """Tell whether record q is in the class of record r."""
    if missing == "ignore":
        return all(a in (0, b) for a, b in zip(r, q, strict=True))
    if missing == "wildcard":
        return all(a == b or 0 in (a, b) for a, b in zip(r, q, strict=True))
    return tuple(r) == tuple(q)


def classes_by_pairs(rows: Sequence[Sequence[int]], missing: str) -> list[list[int]]:
    """Return for each record the records in its class; none where it was not counted."""
    counted = [n for n, r in enumerate(rows) if missing != "exclude" or 0 not in r]
    return [
        [q for q in counted if in_class(r, rows[q], missing)] if n in counted else []
        for n, r in enumerate(rows)
    ]


def sizes_by_pairs(keys: Sequence[Sequence[int]], counts: Sequence[Any], missing: str) -> list[Any]:
    """Return how many records are in the class of each key, where a key has so many of its own."""
    return [
        sum(n for q, n in zip(keys, counts, strict=True) if in_class(r, q, missing)) for r in keys
    ]


def discernibility(class_sizes: Sequence[int]) -> int:
    """Return the sum of the squared sizes of classes.

    Examples
    --------
    >>> discernibility([1, 3])
    10
    """
    return sum(int(size) ** 2 for size in class_sizes)


def mean_class_size(class_sizes: Sequence[int]) -> Fraction:
    """Return how many records a class has on average.

    Examples
    --------
    >>> mean_class_size([1, 3])
    Fraction(2, 1)
    """
    sizes = [int(size) for size in class_sizes]
    return Fraction(sum(sizes), len(sizes)) if sizes else Fraction(0)
