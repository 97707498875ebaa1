"""Who cannot be told from whom on a key, by comparing all pairs; 0 is a missing cell."""

from __future__ import annotations

from collections.abc import Sequence
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
