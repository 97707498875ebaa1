"""Checks of the numbers and lists of feasible tables in the worked examples of bounds."""

from __future__ import annotations

from gamekeeper.algorithms.feasible.counting import count_tables, list_tables
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import CountConstraints
from tests.reference.cases import Case

__all__ = ["check_feasible_tables"]


def check_feasible_tables(case: Case, constraints: CountConstraints) -> None:
    """Compare how many tables satisfy the constraints, and which.

    A number that is null stands for infinitely many tables or for one that nobody counted, so there
    is nothing to compare.
    """
    if not case.defines("n_feasible_tables") and not case.defines("feasible_tables"):
        return
    try:
        case.compare("n_feasible_tables", count_tables(constraints))
        if case.defines("feasible_tables"):
            found = list_tables(constraints).tolist()
            case.compare("feasible_tables", found, canonical=sorted)
    except NoNumbersError:
        case.compare("n_feasible_tables", 0)
        case.compare("feasible_tables", [])
