"""Checks of the worked examples of match probabilities and of averaging over models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gamekeeper.algorithms.decomposable.graphs import decomposable_graphs, edges_of
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, log_cell_probabilities
from gamekeeper.algorithms.models.match_probability import (
    Poisson,
    expected_size,
    set_match,
    single_unit,
)
from gamekeeper.algorithms.models.population_model import printed_estimate
from tests.reference.cases import Case
from tests.reference.counting import margin_scores
from tests.reference.numbers import nearly

__all__ = ["match_probability"]

_RELATIVE = 1e-12


def match_probability(case: Case) -> None:
    """Check measures on a grid of (f, mean), or an average over all decomposable models."""
    if "grid" in case.given:
        _check_grid(case)
    else:
        _check_average(case)


def _check_grid(case: Case) -> None:
    grid = case.needs("grid")
    counts = np.array([f for f, _ in grid], dtype=np.int64)
    law = Poisson(np.array([mean for _, mean in grid], dtype=np.float64))
    found = {
        "f": counts,
        "lambda": law.mean,
        "set_match": set_match(counts, law),
        "single_unit": single_unit(counts, law),
        "expected_F": expected_size(counts, law),
    }
    if not case.defines("values"):
        return
    case.check("values", "in number", len(case.expected["values"]), len(grid))
    for place, wanted in enumerate(case.expected["values"][: len(grid)]):
        _check_fields(case, "values", wanted, found, place)


def _check_average(case: Case) -> None:
    rows = np.array(case.needs("rows"), dtype=np.int64)
    levels = case.needs("levels")
    classes, counts = np.unique(rows, axis=0, return_counts=True)
    table = ClassTable(classes, counts, levels)
    scores = margin_scores(rows, levels, precision=case.given.get("lambda_prior", 1.0))
    models = list(decomposable_graphs(len(levels)))
    logs = np.array([scores.log_marginal_likelihood(model) for model in models])
    best = models[int(logs.argmax())]
    fraction = case.needs("pi")
    average = printed_estimate(table, models, fraction=fraction, weights=np.exp(logs - logs.max()))
    if case.defines("best_model"):
        edges = [list(edge) for edge in edges_of(best)]
        case.check("best_model", "", case.expected["best_model"], edges)
    if not case.defines("cells"):
        return
    p = np.exp(log_cell_probabilities(table, [best])[0])
    found = {
        "f": counts,
        "best_model_p": p,
        "best_model_lambda": len(rows) * (1 - fraction) / fraction * p,
        "avg_set_match": average.p_match_set,
        "avg_single_unit": average.p_match,
        "avg_expected_F": average.expected_size,
    }
    cells = case.expected["cells"]
    case.check("cells", "in order", [cell["cell"] for cell in cells], classes.tolist())
    for place, cell in enumerate(cells[: len(classes)]):
        numbers = {name: wanted for name, wanted in cell.items() if name != "cell"}
        _check_fields(case, "cells", numbers, found, place)


def _check_fields(
    case: Case, field: str, wanted: Mapping[str, Any], found: Mapping[str, Any], place: int
) -> None:
    """Compare every number of one line; a number nobody computes here is a fault."""
    for name in {**found, **wanted}:
        value = float(found[name][place]) if name in found else None
        near = nearly(wanted.get(name), value, relative=_RELATIVE, absolute=0.0)
        case.check(field, f"{name} of {place}", wanted.get(name), near)
