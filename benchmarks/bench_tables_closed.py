"""Bounds in closed form of a large table, and the attributions that zeros allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.bounds.attributions import find_attributions, people_within
from gamekeeper.algorithms.bounds.frechet import closed_bounds, join_closed
from gamekeeper.algorithms.releases.constraints import CountConstraints

__all__ = ["rows"]


def _release(
    shape: Sequence[int], margins: Sequence[tuple[int, ...]], seed: int
) -> CountConstraints:
    """Return exact margins of a table of Poisson counts."""
    table = np.random.default_rng(seed).poisson(0.5, tuple(shape))
    axes = range(len(shape))
    return CountConstraints.of(
        shape,
        [(kept, table.sum(axis=tuple(a for a in axes if a not in kept))) for kept in margins],
    )


def rows() -> Iterator[Row]:
    """Measure by shape of the release."""
    threes = [(axis, axis + 1, axis + 2) for axis in range(5)]
    shapes: dict[str, Sequence[tuple[int, ...]]] = {
        "chain of margins of three axes": threes,
        "star of margins of two axes": [(0, axis) for axis in range(1, 7)],
        "margins of one axis": [(axis,) for axis in range(7)],
    }
    for name, margins in shapes.items():
        known = _release((10,) * 7, margins, 1)
        yield measured(
            f"closed bounds, 10 million cells, {name}",
            lambda known=known: closed_bounds(known),
            output=lambda bounds: bounds[0].size,
            aim="seconds",
        )[0]
    known = _release((10,) * 7, threes, 1)
    cells = np.random.default_rng(2).integers(0, 10, (100_000, 7))
    yield measured(
        "closed bounds of 100,000 single cells",
        lambda: join_closed(known).at(cells),
        output=lambda bounds: bounds[0].size,
    )[0]
    table = np.random.default_rng(3).poisson(0.3, (5, 5, 5, 5, 5, 4, 4, 2))
    people = people_within(table, table)
    for most in (5, 8):
        yield measured(
            f"attributions with up to {most} conditions, 100,000 cells of 8 axes",
            lambda most=most: find_attributions(table == 0, people, max_conditions=most),
            output=len,
            memory=False,
        )[0]
