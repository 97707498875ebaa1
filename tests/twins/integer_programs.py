"""Slow, obvious twins of what is known of tables of counts: one integer program for each question."""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, milp

from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints

__all__ = ["integer_bounds", "is_feasible", "recoded_bounds", "sum_bounds"]


def sum_bounds(constraints, cells, rows=None):
    """Return the least and the largest sum of some flat cells; None if there is no table."""
    rows = range(len(constraints.rows)) if rows is None else rows
    listed = constraints.rows
    matrix = np.zeros((len(rows), constraints.size))
    for at, row in enumerate(rows):
        matrix[at, listed.cells[listed.starts[row] : listed.starts[row + 1]]] = 1
    low = [int(listed.lower[row]) for row in rows]
    high = [np.inf if listed.upper[row] >= UNBOUNDED else int(listed.upper[row]) for row in rows]
    limits = [LinearConstraint(matrix, low, high)] if len(rows) else []
    wanted = np.zeros(constraints.size)
    wanted[cells] = 1
    found = []
    for sign in (1, -1):
        solved = milp(sign * wanted, constraints=limits, integrality=np.ones(constraints.size))
        if solved.status == 2:
            return None
        if solved.status in (3, 4) and sign < 0:
            found.append(UNBOUNDED)
            continue
        assert solved.status == 0, solved.message
        found.append(sign * round(solved.fun))
    return tuple(found)


def is_feasible(constraints: CountConstraints, rows=None) -> bool:
    """Tell whether a table satisfies some of the rows, or all."""
    return sum_bounds(constraints, [], rows) is not None


def recoded_bounds(constraints: CountConstraints, numbers, shape):
    """Return the bounds of each cell of a table whose cell each base cell adds to is numbered."""
    lower, upper = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for cell in range(lower.size):
        bounds = sum_bounds(constraints, np.flatnonzero(np.asarray(numbers) == cell))
        if bounds is None:
            raise NoNumbersError
        lower.flat[cell], upper.flat[cell] = bounds
    return lower, upper


def integer_bounds(constraints: CountConstraints):
    """Return the bounds of each cell."""
    return recoded_bounds(constraints, np.arange(constraints.size), constraints.shape)
