"""Worked examples of assignments: exact, all optima, and the two greedy heuristics."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.assignment.dense import greedy_global, greedy_rows, solve_assignment
from gamekeeper.algorithms.assignment.sparse import assignment_margins
from tests.reference.cases import Case, ShapeError
from tests.reference.numbers import check_number, nearly

__all__ = ["LINKAGE_ASSIGNMENT", "assignment"]

_SAME = 1e-12


def assignment(case: Case) -> None:
    costs = np.asarray(case.needs("w")) if "w" in case.given else _weighted(case)
    if case.defines("w"):
        for row, expected in enumerate(case.expected["w"]):
            for column, cost in enumerate(expected):
                found = float(costs[row, column])
                check_number(case, "w", cost, found, f"of {row}, {column}")
    solved = solve_assignment(costs)
    if case.defines("exact"):
        check_number(case, "exact", case.expected["exact"], solved.cost)
    if case.defines("optimal_assignments"):
        optima = case.expected["optimal_assignments"]
        found = solved.columns.tolist()
        case.check("optimal_assignments", "holding the one found", True, found in optima)
        margins = assignment_margins(costs, solved)
        fixed = [len({columns[i] for columns in optima}) == 1 for i in range(len(found))]
        case.check("optimal_assignments", "in all", fixed, margins.in_every_optimum.tolist())
        case.check("optimal_assignments", "only one", len(optima) == 1, margins.is_unique)
        every = [list(columns) for columns in _optima(costs, solved.cost)]
        case.check("optimal_assignments", "", sorted(optima), sorted(every))
    for name, heuristic in (("greedy_global", greedy_global), ("greedy_rows", greedy_rows)):
        if case.defines(name):
            links, expected = heuristic(costs), case.expected[name]
            case.check(name, "cost", expected["cost"], nearly(expected["cost"], links.cost))
            case.check(name, "assignment", expected["assignment"], links.columns.tolist())
    if case.defines("correct_links"):
        _check_correct_links(case, solved.columns.tolist())


def _check_correct_links(case: Case, found: list[int]) -> None:
    """Compare with the values of all optima: a solver may find any of them."""
    allowed: list[int] = case.expected["correct_links"]
    n_correct = _n_correct(found)
    case.check("correct_links", "", allowed, allowed if n_correct in allowed else [n_correct])
    if case.defines("optimal_assignments"):
        attained = {_n_correct(columns) for columns in case.expected["optimal_assignments"]}
        case.check("correct_links", "of no optimum", [], sorted(set(allowed) - attained))


def _n_correct(columns: list[int]) -> int:
    return sum(row == column for row, column in enumerate(columns))


def _weighted(case: Case) -> NDArray[np.float64]:
    """Return the weighted sum of the distances of each variable."""
    costs: Any = 0.0
    kinds, scales, weights = (case.needs(name) for name in ("kinds", "scales", "weights"))
    columns = zip(
        zip(*case.needs("A"), strict=True), zip(*case.needs("B"), strict=True), strict=True
    )
    for kind, scale, weight, (a, b) in zip(kinds, scales, weights, columns, strict=True):
        if kind not in ("num", "nom", "ord"):
            raise ShapeError(f"there is no kind of variable '{kind}'")
        left, right = np.asarray(a)[:, None], np.asarray(b)[None, :]
        apart = (left != right) * 1.0 if kind == "nom" else np.abs(left - right)
        costs = costs + weight * apart / scale
    return costs


def _optima(costs: NDArray[Any], least: float) -> list[tuple[int, ...]]:
    n_rows, n_columns = costs.shape
    rows = np.arange(n_rows)
    return [
        columns
        for columns in itertools.permutations(range(n_columns), n_rows)
        if costs[rows, list(columns)].sum() <= least + _SAME
    ]


LINKAGE_ASSIGNMENT = {"assignment": assignment}
"""The kinds checked here; they join the runner's."""
