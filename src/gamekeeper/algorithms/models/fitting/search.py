"""Searches over decomposable models: sampling, annealing, Occam's window, and all of them.

The first three are in modules of their own; the last is for few variables, and for tests of the
others.
"""

from __future__ import annotations

import time

import numpy as np

from gamekeeper.algorithms.models.fitting.annealing import anneal
from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.mc3 import sample_models
from gamekeeper.algorithms.models.fitting.occam import neighbours, occams_window
from gamekeeper.algorithms.models.fitting.result import SearchResult, edge_shares, posterior_weights
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import count_of

__all__ = ["SearchResult", "anneal", "exact_posterior", "occams_window", "sample_models"]

_MOST_VARIABLES = 5
_MODELS = (1, 1, 2, 8, 61, 822, 18154, 617675)


def exact_posterior(scores: MarginScores, *, most_variables: int = _MOST_VARIABLES) -> SearchResult:
    """Return every decomposable model with its posterior probability, under a uniform prior.

    Parameters
    ----------
    scores
        The scores of the records.
    most_variables
        The number of variables up to which to do it: 5 have 822 models, 6 have 18,154.

    Examples
    --------
    >>> table = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5)
    >>> exact = exact_posterior(MarginScores(table, [2, 2, 2]))
    >>> exact.n_models, exact.best.tolist(), round(float(exact.weights[0]), 4)
    (8, [2, 1, 0], 0.7685)
    """
    m = scores.n_variables
    if m > most_variables:
        known = f"{_MODELS[m]:,}" if m < len(_MODELS) else "millions of"
        raise LimitError(
            Reason.TOO_LARGE,
            f"All decomposable models of {count_of(m, 'variable')} were asked for.",
            f"There are {known} models; the limit is {count_of(most_variables, 'variable')}.",
            "Sample models instead, or raise most_variables.",
        )
    started = time.perf_counter()
    # Legal single edges connect all decomposable models (Frydenberg and Lauritzen 1989).
    empty = (0,) * m
    found = {empty}
    waiting = [empty]
    n_compared = 0
    while waiting:
        model = waiting.pop()
        for other, _ in neighbours(scores, model):
            n_compared += 1
            if other not in found:
                found.add(other)
                waiting.append(other)
    models = np.array(sorted(found), np.uint64).reshape(len(found), m)
    log_scores = scores.of_graphs(models)
    order = np.argsort(-log_scores, kind="stable")
    models, log_scores = models[order], log_scores[order]
    weights = posterior_weights(log_scores)
    return SearchResult(
        method="exact",
        models=models,
        log_scores=log_scores,
        weights=weights,
        visits=np.zeros(len(models), np.int64),
        chain_edges=edge_shares(models, weights)[None],
        proposals=n_compared,
        seconds=time.perf_counter() - started,
    )
