"""Linear programs handed to HiGHS: a solver that says nothing, a program by rows, and a run of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PRIMAL, DUAL = 4, 1
"""The simplex methods, as HiGHS numbers them."""


def silent_solver(**options: bool | float | str) -> Any:
    """Return a solver of one thread that prints nothing, with options of HiGHS."""
    import highspy

    highs = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    return highs


def program_by_rows(
    columns: tuple[NDArray[np.float64], NDArray[np.float64]],
    rows: tuple[NDArray[np.float64], NDArray[np.float64]],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    factors: NDArray[Any] | None = None,
) -> Any:
    """Return a program without costs: limits of columns and rows, and each row's members.

    Limits are smallest and largest values, infinite where there is none. Members are the columns of
    one row after the other, from `starts` on, which has an end; each counts once, or by its factor.
    """
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns[0]), len(rows[0])
    model.col_cost_ = np.zeros(len(columns[0]))
    model.col_lower_, model.col_upper_ = columns
    model.row_lower_, model.row_upper_ = rows
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = starts.astype(np.int32)
    model.a_matrix_.index_ = members.astype(np.int32)
    model.a_matrix_.value_ = (
        np.ones(len(members)) if factors is None else factors.astype(np.float64)
    )
    return model


def run_again_if_needed(highs: Any) -> Any:
    """Run, and once more from scratch unless a warm start ended well; return the status."""
    import highspy

    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        highs.clearSolver()
        highs.run()
    return highs.getModelStatus()
