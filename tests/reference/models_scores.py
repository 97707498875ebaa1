"""Checks of the worked examples of marginal likelihoods, posteriors of models and annealing."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from gamekeeper.algorithms.decomposable.dynamic_junction_tree import DynamicJunctionTree
from gamekeeper.algorithms.models.annealing import (
    acceptance_probability,
    cooling_schedule,
    exact_posterior,
)
from gamekeeper.algorithms.models.clique_scores import MarginScores
from tests.reference.cases import Case, ShapeError
from tests.reference.counting import margin_scores
from tests.reference.models_judging import is_rank_plot, rank_plots
from tests.reference.numbers import check_each, check_number

__all__ = ["extras", "models"]

_LARGEST = 6
# Probabilities are compared by their relative error alone: some are 1e-30 and still results.
_NONE = 0.0


def models(case: Case) -> None:
    levels = case.needs("levels")
    table = np.array(case.needs("table"), np.int64)
    if table.ndim != 2 or table.shape[1] != len(levels) + 1:
        raise ShapeError("the table has not a column per variable and one of counts")
    m = len(levels)
    scores = margin_scores(
        table[:, :m], levels, precision=float(case.given.get("lambda", 1.0)), counts=table[:, m]
    )
    case.compare("n", scores.n_records)
    chain = [[v, v + 1] for v in range(m - 1)]
    every = [[v, w] for v in range(m) for w in range(v + 1, m)]
    for name, edges in {
        "logml_independence": [],
        "logml_saturated": every,
        "logml_chain_0-1-2-...": chain,
    }.items():
        if case.defines(name):
            found = scores.log_marginal_likelihood(_graph(m, edges))
            check_number(case, name, case.expected[name], found)
    exact = exact_posterior(scores, most_variables=_LARGEST)
    case.compare("number_of_models", exact.n_models)
    for place, wanted in enumerate(case.expected.get("top_models") or ()):
        at = f"of {place}"
        case.check("top_models", f"edges {at}", wanted["edges"], _edges(exact.models[place]))
        check_number(
            case, "top_models", wanted["logml"], float(exact.log_scores[place]), f"logml {at}"
        )
        share = float(exact.weights[place])
        check_number(case, "top_models", wanted["posterior"], share, f"share {at}", absolute=_NONE)
    probabilities = exact.edge_probabilities()
    for name, wanted in (case.expected.get("edge_inclusion") or {}).items():
        v, w = (int(part) for part in name.split("-"))
        found = float(probabilities[v, w])
        check_number(case, "edge_inclusion", wanted, found, name, absolute=_NONE)
    if case.defines("moves_from_best_model"):
        _check_moves(case, scores, exact.best.tolist())


def _check_moves(case: Case, scores: MarginScores, best: list[int]) -> None:
    """Compare every legal change of one edge, and that no other is named."""
    field = "moves_from_best_model"
    wanted = case.expected[field]
    tree = DynamicJunctionTree.of_graph(best)
    pairs = list(combinations(range(len(best)), 2))
    legal = [[v, w, "add"] for v, w in pairs if tree.can_add(v, w)]
    legal += [[v, w, "delete"] for v, w in pairs if tree.can_delete(v, w)]
    named = sorted([*move["edge"], move["move"]] for move in wanted)
    case.check(field, "that are legal", named, sorted(legal))
    for move in wanted:
        v, w = move["edge"]
        if [v, w, move["move"]] in legal:
            found = scores.log_bayes_factor(best, v, w)
            check_number(case, field, move["log_bayes_factor"], found, f"for {v}-{w}")


def extras(case: Case) -> None:
    if is_rank_plot(case):
        rank_plots(case)
    elif "log_bayes_factor" in case.given:
        factors = case.needs("log_bayes_factor")
        for name, temperature in (("metropolis", 1.0), ("annealing", case.needs("T"))):
            chances = [acceptance_probability(factor, temperature) for factor in factors]
            check_each(case, name, chances, absolute=_NONE)
    elif "T0" in case.given:
        schedule = cooling_schedule(case.needs("T0"), case.needs("end"), case.needs("z"))
        case.compare("steps", len(schedule))
    else:
        raise ShapeError("it is about neither acceptance, nor a schedule, nor a rank plot")


def _graph(m: int, edges: list[Any]) -> list[int]:
    rows = [0] * m
    for v, w in edges:
        rows[v] |= 1 << w
        rows[w] |= 1 << v
    return rows


def _edges(model: Any) -> list[list[int]]:
    rows = model.tolist()
    return [[v, w] for v in range(len(rows)) for w in range(v + 1, len(rows)) if rows[v] >> w & 1]
