"""Measures of a Bayesian intruder: models fitted to the sample, calibrated by the sample itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gamekeeper.algorithms.models.fitting.annealing import anneal
from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.mc3 import sample_models
from gamekeeper.algorithms.models.fitting.occam import occams_window
from gamekeeper.algorithms.models.fitting.result import SearchResult
from gamekeeper.attack.judging.scores import RecordEstimates, SampleData, Scores
from gamekeeper.attack.models.sampling import estimate_sample

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
    found = estimate_sample(sample.codes, sample.levels, sample.fraction, search, seed=sample.seed)
    uniques, estimate = found.classes[sample.uniques], found.estimate
    chance = float(estimate.file.pr_cm_given_um.value)
    return Scores(
        estimate.p_match[uniques],
        match=estimate.p_match[uniques],
        unique=estimate.p_unique[uniques],
        pr_cm_given_um=None if np.isnan(chance) else chance,
        records=RecordEstimates(
            estimate.p_match[found.classes], estimate.expected_size[found.classes]
        ),
    )
