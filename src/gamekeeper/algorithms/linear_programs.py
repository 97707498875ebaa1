"""Linear and integer programs handed to HiGHS: all that is known of how it is called.

HiGHS calculates in floating point. What it returns is a proposal, to be checked in whole numbers by
whoever asked.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Watch = Callable[[], bool]
"""Tells whether the work is to stop; it may raise `Cancelled`."""

PRIMAL, DUAL = 4, 1
"""The simplex methods, as HiGHS numbers them."""
_SLICE = 0.5
"""Seconds after which a linear program asks whether to go on."""


class Status(Enum):
    """How a program ended."""

    OPTIMAL = "optimal"
    EMPTY = "empty"
    ENDLESS = "endless"
    EMPTY_OR_ENDLESS = "empty or endless"
    STOPPED = "stopped"


def silent_solver(**options: bool | float | str) -> Any:
    """Return a solver of one thread that prints nothing, with options of HiGHS."""
    import highspy

    highs = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    return highs


def program_by_rows(
    columns: tuple[Floats, Floats],
    rows: tuple[Floats, Floats],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    factors: NDArray[Any] | None = None,
    *,
    costs: Floats | None = None,
    is_whole: bool = False,
) -> Any:
    """Return a program: limits of columns and rows, and each row's members.

    Limits are smallest and largest values, infinite where there is none. Members are the columns of
    one row after the other, from `starts` on, which has an end; each counts once, or by its factor.
    """
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns[0]), len(rows[0])
    model.col_cost_ = np.zeros(len(columns[0])) if costs is None else costs
    model.col_lower_, model.col_upper_ = columns
    model.row_lower_, model.row_upper_ = rows
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = starts.astype(np.int32)
    model.a_matrix_.index_ = members.astype(np.int32)
    model.a_matrix_.value_ = (
        np.ones(len(members)) if factors is None else factors.astype(np.float64)
    )
    if is_whole:
        model.integrality_ = [highspy.HighsVarType.kInteger] * len(columns[0])
    return model


def status_of(highs: Any) -> Status:
    """Return how the last run ended."""
    import highspy

    statuses = highspy.HighsModelStatus
    return {
        statuses.kOptimal: Status.OPTIMAL,
        statuses.kInfeasible: Status.EMPTY,
        statuses.kUnbounded: Status.ENDLESS,
        statuses.kUnboundedOrInfeasible: Status.EMPTY_OR_ENDLESS,
    }.get(highs.getModelStatus(), Status.STOPPED)


def run(highs: Any, watch: Watch | None = None) -> Status:
    """Run, and once more from scratch unless a warm start ended well.

    Every now and then it asks whether to go on, and if so, goes on from where it was.
    """
    import highspy

    for again in (False, True):
        if again:
            highs.clearSolver()
        while True:
            if watch is not None:
                highs.setOptionValue("time_limit", highs.getRunTime() + _SLICE)
            highs.run()
            if highs.getModelStatus() != highspy.HighsModelStatus.kTimeLimit or watch is None:
                break
            if watch():
                return Status.STOPPED
        if status_of(highs) is Status.OPTIMAL:
            break
    return status_of(highs)


def run_once(highs: Any, watch: Watch | None = None) -> Status:
    """Run until it ends, or an integer program until it is stopped: it cannot go on from where it was."""
    from gamekeeper.errors import Cancelled

    stopped: list[Cancelled] = []

    def look(event: Any) -> None:
        try:
            if stopped or (watch is not None and watch()):
                event.interrupt()
        except Cancelled as error:
            stopped.append(error)
            event.interrupt()

    if watch is not None:
        highs.cbMipInterrupt.subscribe(look)
    highs.run()
    if stopped:
        raise stopped[0]
    return status_of(highs)


def proof_of_nothing(highs: Any) -> Floats | None:
    """Return multiples of the rows, up to 1, that prove that there is no solution; None without."""
    _, exists, ray = highs.getDualRay()
    found = np.array(ray) if exists else np.zeros(0)
    size = np.abs(found).max(initial=0.0)
    return found / size if np.isfinite(size) and size > 0 else None


def ends_of(highs: Any) -> tuple[list[str], list[str]] | None:
    """Return the limit that each column and each row is at in the last run's corner.

    "lower", "upper", "basic", or "free" where a column has no limit and is not basic.
    """
    import highspy

    kinds = highspy.HighsBasisStatus
    names = {
        kinds.kLower: "lower",
        kinds.kUpper: "upper",
        kinds.kBasic: "basic",
        kinds.kZero: "free",
    }
    basis = highs.getBasis()
    if not basis.valid:
        return None
    columns, rows = (
        [names.get(one, "") for one in own] for own in (basis.col_status, basis.row_status)
    )
    return None if "" in columns or "" in rows else (columns, rows)
