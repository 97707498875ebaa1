"""Minimal sample uniques by walking the lattice of sets of variables, smallest first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def agreement(own: Sequence[int], other: Sequence[int], policy: str) -> int:
    """Return the variables on which a record cannot be told from another one, as bits."""
    agreed = 0
    for variable, (a, b) in enumerate(zip(own, other, strict=True)):
        if (
            a == b != 0
            or (a == b and policy == "category")
            or (policy == "wildcard" and 0 in (a, b))
        ):
            agreed |= 1 << variable
    return agreed


def minimal_uniques(
    rows: Sequence[Sequence[int]], policy: str = "category", max_size: int = 64
) -> dict[int, set[tuple[int, ...]]]:
    """Return the MSUs of every sample unique up to a size; 0 is a missing cell."""
    found = {}
    for number, own in enumerate(rows):
        others = {agreement(own, q, policy) for other, q in enumerate(rows) if other != number}
        usable = [v for v, code in enumerate(own) if code or policy == "category"]
        whole = sum(1 << v for v in usable)
        if any(agreed & whole == whole for agreed in others):
            continue
        minimal: dict[int, tuple[int, ...]] = {}
        for size in range(min(len(usable), max_size) + 1):
            for chosen in combinations(usable, size):
                bits = sum(1 << v for v in chosen)
                if any(smaller & bits == smaller for smaller in minimal):
                    continue
                if not any(agreed & bits == bits for agreed in others):
                    minimal[bits] = chosen
        found[number] = set(minimal.values())
    return found
