"""Random sets of tables with subtotals, of one base: what is published, and the truth behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import LinearFacts
from gamekeeper.algorithms.releases.cell_system import (
    AxisNodes,
    CellSystem,
    Kind,
    axis_nodes,
    cell_system,
)

Integers = NDArray[np.int64]

__all__ = ["RandomTables", "random_tables"]

# Nested, not nested, two ways of one whole, and none at all.
_AXES = (
    ({}, ("p", "q")),
    ({}, ("p", "q", "r")),
    ({"A": [["a", "b"]]}, ("a", "b", "A", "c")),
    ({"A": [["a", "b"]], "S": [["b", "c"]], "Total": [["A", "c"], ["a", "S"]]}, ("a", "b", "c", "A", "S")),
    ({"A": [["a", "b"]], "B": [["c", "d"]]}, ("a", "b", "c", "d", "A", "B")),
    ({"A": [["a", "b"]], "S": [["b", "c"]], "Total": [["A", "c"], ["a", "S"]]}, ("A", "S")),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class RandomTables:
    """Tables of one base.

    Attributes
    ----------
    system, facts
        The cells, and what is known of those that are open.
    open_cells
        The cell of each number of the facts.
    hidden
        The numbers of the facts whose bounds are asked for.
    shape
        The atoms of each axis.
    sums
        For each cell, which atoms of the base it is the sum of.
    values
        What is published of each cell; -1 where nothing is.
    """

    system: CellSystem
    facts: LinearFacts
    open_cells: Integers
    hidden: Integers
    shape: tuple[int, ...]
    sums: NDArray[np.bool_]
    values: Integers
    truth: Integers


def random_tables(
    rng: np.random.Generator, *, n_axes: int, most: int, hide: float, whole: bool
) -> RandomTables:
    """Return random tables: which axes they have, what they hide and what is in them."""
    chosen = [_AXES[int(rng.integers(len(_AXES)))] for _ in range(n_axes)]
    axes = [axis_nodes(parts, used, ["Total"]) for parts, used in chosen]
    listed: list[Integers] = []
    for _ in range(int(rng.integers(1, 4))):
        kept = [at for at in range(n_axes) if rng.random() < 0.7]
        rows = [
            [
                _used(axis, own[1]) if at in kept else [axis.total]
                for at, (axis, own) in enumerate(zip(axes, chosen, strict=True))
            ]
        ][0]
        table = np.array(list(product(*rows)), np.int64).reshape(-1, n_axes)
        if rng.random() < 0.3:
            # Some levels are left out altogether.
            at = int(rng.integers(n_axes))
            table = table[table[:, at] != axes[at].total] if at in kept else table
        listed.append(table)
    return _made(rng, axes, listed, most=most, hide=hide, whole=whole)


def _used(axis: AxisNodes, labels: Sequence[str]) -> list[int]:
    return [*(axis.number[label] for label in labels), axis.total]


def _made(
    rng: np.random.Generator,
    axes: list[AxisNodes],
    listed: list[Integers],
    *,
    most: int,
    hide: float,
    whole: bool,
) -> RandomTables:
    system = cell_system(axes, listed)
    shape = tuple(axis.n_atoms for axis in axes)
    truth = rng.integers(0, most + 1, shape)
    members = np.zeros((system.n_cells, truth.size), bool)
    for cell, nodes in enumerate(system.nodes):
        inside = np.ones(shape, bool)
        for at, (axis, node) in enumerate(zip(axes, nodes, strict=True)):
            along = np.zeros(axis.n_atoms, bool)
            along[axis.atoms[node]] = True
            inside &= along.reshape([-1 if k == at else 1 for k in range(len(axes))])
        members[cell] = inside.reshape(-1)
    values = members @ truth.reshape(-1)
    is_open = (system.kinds != Kind.LISTED) | (rng.random(system.n_cells) < hide)
    open_cells = np.flatnonzero(is_open)
    number = np.full(system.n_cells, -1, np.int64)
    number[open_cells] = np.arange(len(open_cells))
    rows = []
    for equation in range(system.n_equations):
        whole_cell, parts = system.equation(equation)
        own = {}
        known = 0
        for cell, factor in [(whole_cell, 1), *((int(part), -1) for part in parts)]:
            if number[cell] >= 0:
                own[int(number[cell])] = own.get(int(number[cell]), 0) + factor
            else:
                known += factor * int(values[cell])
        assert own or known == 0
        rows.append((own, -known, -known))
    facts = LinearFacts.of([(0, None)] * len(open_cells), rows, whole=whole)
    hidden = number[np.flatnonzero(is_open & (system.kinds == Kind.LISTED))]
    return RandomTables(
        system, facts, open_cells, hidden, shape, members, np.where(is_open, -1, values), truth
    )
