"""Linear programs over a base table, with bounds proven in whole numbers.

For any multipliers y of the rows A, a sum c x of cells is y A x + (c - y A) x, and each of the
two is at most what the limits of rows and cells allow. So multipliers prove an upper bound of c x
whatever they are. They come from a linear program in floating point, are rounded to fractions,
and the proof is checked in whole numbers: no tolerance enters a bound. The multipliers of a
program without a solution prove in the same way that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear_programs import program_by_rows, silent_solver
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints

Integers = NDArray[np.int64]

# Divisible by all numbers up to 16: multipliers at vertices are mostly simple fractions.
_DENOMINATOR = 720720


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What a linear program told.

    Attributes
    ----------
    most
        A proven upper bound of the sum, or None.
    is_impossible
        Whether it is proven that no table is within the limits.
    values
        The cells where the sum is largest, as floats, or None.
    """

    most: int | None
    is_impossible: bool
    values: NDArray[np.float64] | None


class LinearRelaxation:
    """The rows of some constraints as a linear program whose limits change."""

    def __init__(self, constraints: CountConstraints) -> None:
        import highspy
        from scipy.sparse import csr_array

        rows = constraints.rows
        self._size = constraints.size
        self._matrix = csr_array(
            (np.ones(len(rows.cells), np.int64), rows.cells, rows.starts),
            shape=(len(rows), self._size),
        )
        self._columns = np.arange(self._size, dtype=np.int32)
        self._rows = np.arange(len(rows), dtype=np.int32)
        self._highspy: Any = highspy
        # Without a presolve the basis stays, and a program without a solution gives its proof.
        self._solver: Any = silent_solver(presolve="off", solver="simplex")
        program = program_by_rows(
            (np.zeros(self._size), np.full(self._size, np.inf)),
            (np.zeros(len(rows)), np.full(len(rows), np.inf)),
            rows.starts,
            rows.cells,
        )
        self._solver.passModel(program)

    def largest(
        self, weights: Integers, cells: tuple[Integers, Integers], rows: tuple[Integers, Integers]
    ) -> Relaxed:
        """Bound a weighted sum of cells from above, within limits of cells and of rows."""
        solver = self._solver
        solver.changeColsCost(self._size, self._columns, -weights.astype(np.float64))
        solver.changeColsBounds(self._size, self._columns, *_limits(*cells))
        solver.changeRowsBounds(len(self._rows), self._rows, *_limits(*rows))
        solver.run()
        status = solver.getModelStatus()
        if status == self._highspy.HighsModelStatus.kOptimal:
            solution = solver.getSolution()
            multipliers = -np.asarray(solution.row_dual)
            most = self._proven(multipliers, weights, cells, rows)
            return Relaxed(most, False, np.asarray(solution.col_value))
        if status == self._highspy.HighsModelStatus.kInfeasible:
            ray = np.asarray(solver.getDualRay()[2])
            if ray.size and np.any(ray):
                ray = ray / np.abs(ray).max()
                nothing = np.zeros_like(weights)
                for multipliers in (ray, -ray):
                    most = self._proven(multipliers, nothing, cells, rows)
                    if most is not None and most < 0:
                        return Relaxed(None, True, None)
        return Relaxed(None, False, None)

    def _proven(
        self,
        multipliers: NDArray[np.float64],
        weights: Integers,
        cells: tuple[Integers, Integers],
        rows: tuple[Integers, Integers],
    ) -> int | None:
        """Return the bound that multipliers prove, rounded down; None if it is infinite."""
        whole = np.rint(multipliers * _DENOMINATOR).astype(np.int64)
        whole[(whole > 0) & (rows[1] >= UNBOUNDED)] = 0
        left = weights * _DENOMINATOR - self._matrix.T @ whole
        if np.any((left > 0) & (cells[1] >= UNBOUNDED)):
            return None
        return (_most(whole, *rows) + _most(left, *cells)) // _DENOMINATOR


def _most(factors: Integers, lower: Integers, upper: Integers) -> int:
    """Return the largest value of a weighted sum, in numbers of any length."""
    ends = np.where(factors > 0, upper, lower)
    some = np.flatnonzero(factors)
    return sum(a * b for a, b in zip(factors[some].tolist(), ends[some].tolist(), strict=True))


def _limits(lower: Integers, upper: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return lower.astype(np.float64), np.where(upper >= UNBOUNDED, np.inf, upper.astype(np.float64))
