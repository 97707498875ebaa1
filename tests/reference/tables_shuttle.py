"""Checks of the worked examples of the generalized shuttle algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gamekeeper.algorithms.bounds.shuttle import Shuttle
from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin, kept_axes
from gamekeeper.algorithms.releases.schemes import parse_scheme
from tests.reference.cases import Case, ShapeError

__all__ = ["tables_shuttle"]


def tables_shuttle(case: Case) -> None:
    shuttle = Shuttle(_constraints(case)).run()
    lower, upper = shuttle.lower, shuttle.upper
    case.compare("n_nodes", shuttle.n_nodes)
    case.compare("n_dependencies", shuttle.n_dependencies)
    case.compare("shuttle_lower", lower.tolist())
    case.compare("shuttle_upper", upper.tolist())
    tight = shuttle.tighten()
    case.compare("tight_lower", tight.lower.tolist())
    case.compare("tight_upper", tight.upper.tolist())
    is_tight = np.array_equal(lower, tight.lower) and np.array_equal(upper, tight.upper)
    case.compare("tight", is_tight and tight.is_complete)


def _constraints(case: Case) -> CountConstraints:
    variables = case.needs("variables")
    names = [variable["name"] for variable in variables]
    shape = tuple(variable["levels"] for variable in variables)
    margins = tuple(_margin(names, shape, table) for table in case.needs("release"))
    return CountConstraints(shape, margins)


def _margin(names: Sequence[str], shape: Sequence[int], table: dict[str, Any]) -> CountMargin:
    missing = [name for name in table["margin"] if name not in names]
    if missing:
        raise ShapeError(f"there is no variable '{missing[0]}'")
    axes = [names.index(name) for name in table["margin"]]
    limits = parse_scheme(table["scheme"]).limits(table["published"])
    return kept_axes(shape, axes, *limits)
