"""A slow, obvious twin of matching groups: the best rows where it is said which labels correspond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["best_rows"]


def best_rows(
    rows_a: Sequence[Sequence[int]],
    rows_b: Sequence[Sequence[int]],
    mappings: Sequence[Mapping[int, int]],
) -> tuple[int, list[list[int]]]:
    """Return in how many places labels correspond at the best rows of B, and all best rows."""
    similarity = 0
    every: list[list[int]] = []
    for row in rows_a:
        wanted = [mapping.get(label) for mapping, label in zip(mappings, row, strict=True)]
        agreeing = [
            sum(label == other for label, other in zip(wanted, candidate, strict=True))
            for candidate in rows_b
        ]
        similarity += max(agreeing)
        every.append([k for k, number in enumerate(agreeing) if number == max(agreeing)])
    return similarity, every
