"""Checks of the worked examples of exact bounds, given everything that is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bounds.integer_bounds import integer_bounds
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    kept_axes,
)
from gamekeeper.algorithms.releases.schemes import parse_scheme
from tests.reference.cases import Case, ShapeError
from tests.reference.tables_feasible import check_feasible_tables

__all__ = ["tables_bounds"]


def tables_bounds(case: Case) -> None:
    constraints = released_constraints(case, _margin)
    try:
        found = integer_bounds(constraints)
    except NoNumbersError:
        case.compare("status", "infeasible")
        # Bounds that were expected and do not exist are a difference.
        case.compare("lower", None)
        case.compare("upper", None)
    else:
        case.compare("status", "ok")
        case.compare("lower", found.lower.tolist())
        case.compare("upper", _or_null(found.upper))
        if not found.tight.all():
            case.check("lower", "proven", True, False)
    check_feasible_tables(case, constraints)


def released_constraints(
    case: Case, margin: Callable[[Sequence[str], Sequence[int], dict[str, Any]], CountMargin]
) -> CountConstraints:
    """Return what the tables that a case releases tell, each read as a margin."""
    variables = case.needs("variables")
    names = [variable["name"] for variable in variables]
    shape = tuple(variable["levels"] for variable in variables)
    return CountConstraints(
        shape, tuple(margin(names, shape, table) for table in case.needs("release"))
    )


def released_axes(names: Sequence[str], table: dict[str, Any]) -> list[int]:
    missing = [name for name in table["margin"] if name not in names]
    if missing:
        raise ShapeError(f"there is no variable '{missing[0]}'")
    return [names.index(name) for name in table["margin"]]


def _margin(names: Sequence[str], shape: Sequence[int], table: dict[str, Any]) -> CountMargin:
    axes = released_axes(names, table)
    published = np.array(table["published"], object)
    if table["scheme"]["type"] == "interval":
        return kept_axes(shape, axes, published[..., 0], published[..., 1])
    hidden = published == None  # noqa: E711 - one by one
    # A zero can be published under every scheme, and its limits are replaced.
    counts = np.where(hidden, 0, published).astype(np.int64)
    lower, upper = parse_scheme(table["scheme"]).limits(counts)
    return kept_axes(
        shape, axes, np.where(hidden, 0, lower), np.where(hidden, UNBOUNDED, upper)
    )  # fmt: skip


def _or_null(upper: NDArray[np.int64]) -> Any:
    limits = upper.astype(object)
    limits[upper >= UNBOUNDED] = None
    return limits.tolist()
