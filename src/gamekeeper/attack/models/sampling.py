"""What models say of the classes of a bare sample of codes: for experiments that draw many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.result import SearchResult
from gamekeeper.algorithms.models.inference.population_model import (
    PopulationEstimate,
    calibrated_estimate,
    recommended_precisions,
)


@dataclass(frozen=True, slots=True, repr=False)
class SampleEstimate:
    """The calibrated estimate of each class of a sample.

    `classes` has the number of each record's class, `first` a record of each.
    """

    classes: NDArray[np.int64]
    first: NDArray[np.int64]
    estimate: PopulationEstimate


def estimate_sample(
    codes: NDArray[np.unsignedinteger[Any]],
    levels: Sequence[int],
    fraction: Fraction,
    search: Callable[[MarginScores], SearchResult],
    *,
    seed: int = 0,
) -> SampleEstimate:
    """Search models at the recommended precisions, and infer the population sizes.

    `levels` counts the categories of each variable, with the missing cell where it occurs.
    """
    (classes,) = class_numbers(codes)
    _, first, counts = np.unique(classes, return_index=True, return_counts=True)
    # The missing cell has code 0, whether it occurs or not.
    table = ClassTable(codes[first], counts, [level + 1 for level in levels])
    precisions = recommended_precisions(len(codes))
    found = [search(scores) for scores in MarginScores.at_precisions(codes, levels, precisions)]
    estimate = calibrated_estimate(
        table,
        [model for result in found for model in result.models],
        fraction=float(fraction),
        weights=np.concatenate([result.weights for result in found]),
        seed=seed,
    )
    return SampleEstimate(classes, first, estimate)
