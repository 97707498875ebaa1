"""What a variable or a category adds to the risk of a file, without fitting models anew.

Leaving a variable out, or putting some of its categories into one, merges classes. The models give
the probability of a merged class by summing over the categories in question, those that were not
sampled included; sample uniques that survive have another class size in the population. The risk of
the file with the variable over the risk without it is the relative risk of including it. A category
can also be suppressed: sample uniques that have it no longer count.

The probabilities of merged classes are those of `merged_classes`. The calibration is repeated on them,
with the prior of the level that the whole file has, which takes milliseconds; and each record is held
to what was inferred of it before: merging makes no class smaller and nobody unique. Smith's thesis,
chapter 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gamekeeper.algorithms.decomposable.adjacency_masks import AdjacencyLike
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, JunctionTree
from gamekeeper.algorithms.models.inference.cell_fractions import CellFractions
from gamekeeper.algorithms.models.inference.file_measures import FileEstimate, FinerClasses
from gamekeeper.algorithms.models.inference.merged_classes import checked_recode, merge_classes
from gamekeeper.algorithms.models.inference.population_model import (
    PopulationEstimate,
    calibrated_estimate,
    file_from_rates,
)


def risk_without(
    table: ClassTable,
    models: Sequence[AdjacencyLike | JunctionTree],
    variable: int,
    recode: ArrayLike | None = None,
    *,
    fraction: float | CellFractions,
    weights: ArrayLike | None = None,
    whole: PopulationEstimate | None = None,
) -> FileEstimate:
    """Return the file measures after leaving a variable out, or merging its categories.

    The relative risk of the variable is a measure of the whole file over the one returned here; of
    the expected numbers tau1 and tau2 it is at least 1. Parameters are those of `merge_classes` and
    `calibrated_estimate`; `fraction` is one, or the sampling fractions of cells, and `whole` is the
    calibrated estimate of the whole file, which is made if it is not given. Intervals have the
    probability of its intervals, whose ends they are held to.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> risk_without(table, [[0, 0]], 1, fraction=0.5).n_uniques
    1
    """
    by_cell = fraction if isinstance(fraction, CellFractions) else None
    if whole is None:
        each = fraction.of(table.rows) if isinstance(fraction, CellFractions) else fraction
        whole = calibrated_estimate(table, models, fraction=each, weights=weights)
    merged = merge_classes(
        table, models, variable, recode, weights=weights, fractions=by_cell, latent=whole.latent
    )
    share = merged.fractions if isinstance(fraction, CellFractions) else fraction
    assert share is not None
    # A merged class of one record holds one class, of that record.
    is_alone = merged.records == 1
    alone = merged.members[is_alone]
    finer = FinerClasses(
        whole.p_unique[alone], whole.p_match[alone], whole.expected_size[alone], whole.file
    )
    return file_from_rates(
        merged.log_expected,
        merged.counts,
        alone=is_alone,
        fraction=share,
        interval=whole.interval,
        finer=finer,
        level=None if whole.calibration is None else whole.calibration.prior,
        n_records=table.n_records,
        one_each=whole.calibration is not None and not whole.calibration.repeats.possible,
        in_question=whole.calibration is not None and whole.calibration.repeats_in_question,
    )


@dataclass(frozen=True, slots=True)
class SuppressedSums:
    """File measures over the sample uniques that do not have a category."""

    n_uniques: int
    tau1: float
    tau2: float
    pr_cm_given_um: float


def suppressed_sums(
    table: ClassTable, estimate: PopulationEstimate, variable: int
) -> tuple[SuppressedSums, ...]:
    """Return for each category of a variable the measures without the sample uniques that have it.

    Pr(CM|UM) is NaN where no sample unique is left.

    Examples
    --------
    >>> from gamekeeper.algorithms.models.inference.population_model import calibrated_estimate
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> found = calibrated_estimate(table, [[0, 0]], fraction=0.5)
    >>> [left.n_uniques for left in suppressed_sums(table, found, 0)]
    [1, 2]
    """
    checked_recode(table, variable, None)
    alone = table.records == 1
    codes = table.rows[alone, variable]
    columns = (
        np.ones(len(codes)),
        estimate.p_unique[alone],
        estimate.p_match[alone],
        estimate.expected_size[alone],
    )
    left = [
        values.sum() - np.bincount(codes, weights=values, minlength=table.levels[variable])
        for values in columns
    ]
    found: list[SuppressedSums] = []
    for uniques, tau1, tau2, people in zip(*left, strict=True):
        n = round(float(uniques))
        # Differences of sums can fall below 0 by rounding.
        sums = (max(float(tau1), 0.0), max(float(tau2), 0.0)) if n else (0.0, 0.0)
        found.append(SuppressedSums(n, *sums, n / float(people) if n else float("nan")))
    return tuple(found)
