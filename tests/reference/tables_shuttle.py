"""Checks of the worked examples of the generalized shuttle algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gamekeeper.algorithms.bounds.shuttle import Shuttle
from gamekeeper.algorithms.releases.constraints import CountMargin, kept_axes
from gamekeeper.algorithms.releases.schemes import parse_scheme
from tests.reference.cases import Case
from tests.reference.tables_bounds import released_axes, released_constraints

__all__ = ["tables_shuttle"]


def tables_shuttle(case: Case) -> None:
    shuttle = Shuttle(released_constraints(case, _margin)).run()
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


def _margin(names: Sequence[str], shape: Sequence[int], table: dict[str, Any]) -> CountMargin:
    axes = released_axes(names, table)
    limits = parse_scheme(table["scheme"]).limits(table["published"])
    return kept_axes(shape, axes, *limits)
