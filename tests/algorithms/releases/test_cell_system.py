"""Cells and their sums: tables in a ring, levels that are left out, names of the same thing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from gamekeeper.algorithms.linear.facts import LinearFacts
from gamekeeper.algorithms.linear.search import FactSearch
from gamekeeper.algorithms.releases.cell_system import Kind, axis_nodes, cell_system


def ring(rng, *, n=4, size=2):
    """Tables of neighbouring axes in a ring, each with its finest cells alone, some hidden."""
    axes = [axis_nodes({}, list(map(str, range(size))), ["Total"]) for _ in range(n)]
    truth = rng.integers(0, 4, (size,) * n)
    tables, hidden, values = [], [], []
    for first in range(n):
        pair = sorted((first, (first + 1) % n))
        rows = []
        for a, b in itertools.product(range(size), repeat=2):
            nodes = [axis.total for axis in axes]
            nodes[pair[0]], nodes[pair[1]] = a, b
            rows.append(nodes)
            values.append(truth.sum(axis=tuple(k for k in range(n) if k not in pair))[a, b])
            hidden.append(rng.random() < 0.35)
        tables.append(np.array(rows))
    return axes, tables, truth, np.array(hidden), np.array(values)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [3, 4, 5])
def test_tables_in_a_ring_are_joined_through_cells_that_nobody_published(n, seed):
    axes, tables, truth, hidden, values = ring(np.random.default_rng([n, seed]), n=n)
    system = cell_system(axes, tables)
    assert system.is_joined
    assert (system.kinds == Kind.UNPUBLISHED).any()
    cells = np.concatenate(system.tables)
    known = {
        int(cell): int(value)
        for cell, value, is_hidden in zip(cells, values, hidden, strict=True)
        if not is_hidden
    }
    rows = []
    for number in range(system.n_equations):
        whole, parts = system.equation(number)
        rows.append(({whole: 1, **{int(part): -1 for part in parts}}, 0, 0))
    limits = [(known.get(cell, 0), known.get(cell)) for cell in range(system.n_cells)]
    facts = LinearFacts.of(limits, rows, whole=False)
    wanted = [int(cell) for cell, is_hidden in zip(cells, hidden, strict=True) if is_hidden]
    search = FactSearch(facts, wanted)
    search.run()
    found = search.found()
    members = []
    for nodes in system.nodes[cells]:
        inside = np.ones(truth.shape, bool)
        for at, (axis, node) in enumerate(zip(axes, nodes, strict=True)):
            along = np.isin(np.arange(axis.n_atoms), axis.atoms[node])
            inside &= along.reshape([-1 if k == at else 1 for k in range(n)])
        members.append(inside.reshape(-1).astype(float))
    matrix = np.array(members)
    for at in range(len(wanted)):
        place = np.flatnonzero(hidden)[at]
        for sign, bound in ((1, found.least[at]), (-1, found.most[at])):
            program = linprog(
                sign * matrix[place], A_eq=matrix[~hidden], b_eq=values[~hidden], method="highs"
            )
            if program.status == 3:
                assert bound is None
            else:
                assert float(bound) == pytest.approx(sign * program.fun, abs=1e-6)


def test_too_many_cells_between_tables_are_not_made_and_that_is_told():
    axes, tables, *_ = ring(np.random.default_rng(1))
    assert not cell_system(axes, tables, most_unpublished=3).is_joined


def test_two_names_of_one_thing_are_one_cell():
    axis = axis_nodes({"A": [["a"]]}, ["A", "a", "b"], ["Total", "All"])
    assert axis.number["A"] == axis.number["a"]
    assert axis.number["Total"] == axis.number["All"]


def test_a_level_without_rows_is_passed_over_and_a_part_without_rows_is_not():
    parts = {"A": [["A1", "A2"]], "A1": [["x", "y"]], "A2": [["z"]], "Total": [["A", "B"]]}
    axis = axis_nodes(parts, ["A", "x", "z"], ["Total"])
    told = {
        axis.labels[node]: [axis.labels[p] for p in way]
        for node, ways in enumerate(axis.splits)
        for way in ways
    }
    # 'A1' has no rows of its own: its parts stand for it, of which 'y' has none.
    assert told["A"] == ["x", "rest of A", "z"]
    assert told["Total"] == ["A", "rest of Total"]
