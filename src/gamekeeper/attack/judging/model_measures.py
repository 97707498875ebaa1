"""Measures of a Bayesian intruder: models fitted to the sample, calibrated by the sample itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gamekeeper.algorithms.annealing import anneal
from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.clique_scores import MarginScores
from gamekeeper.algorithms.junction_tree import ClassTable
from gamekeeper.algorithms.mc3 import sample_models
from gamekeeper.algorithms.occam import occams_window
from gamekeeper.algorithms.population_model import calibrated_estimate, recommended_precisions
from gamekeeper.algorithms.search_result import SearchResult
from gamekeeper.attack.judging.scores import SampleData, Scores

__all__ = ["annealing", "mc3", "occam"]

# Samples of a comparison run beside each other, so that a search has one thread.
_CHAINS = 2


def mc3(sample: SampleData) -> Scores:
    """Score by models that Markov chains visit, averaged."""
    return _scores(
        sample,
        lambda scores: sample_models(scores, chains=_CHAINS, seed=sample.seed, workers=1),
    )


def annealing(sample: SampleData) -> Scores:
    """Score by the best models that simulated annealing finds."""
    return _scores(
        sample, lambda scores: anneal(scores, restarts=_CHAINS, seed=sample.seed, workers=1)
    )


def occam(sample: SampleData) -> Scores:
    """Score by the models of Occam's window, averaged."""
    return _scores(sample, lambda scores: occams_window(scores, seed=sample.seed, workers=1))


def _scores(sample: SampleData, search: Callable[[MarginScores], SearchResult]) -> Scores:
    (numbers,) = class_numbers(sample.codes)
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    # The missing cell has code 0, whether it occurs or not.
    table = ClassTable(sample.codes[first], counts, [level + 1 for level in sample.levels])
    found = [
        search(MarginScores(sample.codes, sample.levels, precision=precision))
        for precision in recommended_precisions(len(sample.codes))
    ]
    estimate = calibrated_estimate(
        table,
        [model for result in found for model in result.models],
        fraction=float(sample.fraction),
        weights=np.concatenate([result.weights for result in found]),
        seed=sample.seed,
    )
    uniques = numbers[sample.uniques]
    chance = float(estimate.file.pr_cm_given_um.value)
    return Scores(
        estimate.p_match[uniques],
        match=estimate.p_match[uniques],
        unique=estimate.p_unique[uniques],
        pr_cm_given_um=None if np.isnan(chance) else chance,
    )
