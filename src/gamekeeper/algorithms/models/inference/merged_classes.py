"""Classes with categories of a variable merged, or the variable left out, under the same models.

The models give the probability of a merged class by summing over the categories in question, those
that were not sampled included. A merged class counts as one record, like every class in
`population_model`: of its own records in the margin of a cell, each counts 1/f. Where strata were
sampled with different fractions, a record of a merged class stands for as many people as those of its
cells do on average, weighted by their probabilities.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.decomposable.adjacency_masks import AdjacencyLike
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, JunctionTree, junction_tree
from gamekeeper.algorithms.models.inference.cell_fractions import CellFractions
from gamekeeper.algorithms.models.inference.merged_cells import CellGrid, LogMargins
from gamekeeper.algorithms.models.latent.latent_classes import LatentClasses
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What latent classes weigh beside all decomposable models: a choice by experiment.
LATENT_SHARE = 0.4
_LARGEST = 3
# Classes are taken in stretches with so many cells, which bounds the memory.
_CELLS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True, repr=False)
class MergedClasses:
    """Classes of up to three records after merging categories of a variable.

    Attributes
    ----------
    members
        A class of the original table that each merged class holds.
    counts, records
        Records of the merged class, or its households where the table counts those: 1, 2 or 3, which is
        all that the calibration uses. And its records.
    log_expected
        The log of its expected count, pooled over models.
    fractions
        The sampling fraction of each merged class; None where those of cells were not given.
    """

    members: Integers
    counts: Integers
    records: Integers
    log_expected: Floats
    fractions: Floats | None = None

    def __repr__(self) -> str:
        return f"MergedClasses({count_of(len(self.counts), 'class', 'classes')} of up to 3 records)"


def merge_classes(
    table: ClassTable,
    models: Sequence[AdjacencyLike | JunctionTree],
    variable: int,
    recode: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    fractions: CellFractions | None = None,
    latent: LatentClasses | None = None,
) -> MergedClasses:
    """Merge categories of a variable and sum cell probabilities over what is merged.

    Parameters
    ----------
    table
        The classes of the sample.
    models
        Decomposable graphs as adjacency masks, or junction trees.
    variable
        The variable whose categories are merged.
    recode
        The new code of each of its codes; all into one, which leaves the variable out, if not
        given.
    weights
        Of the models; equal if not given.
    fractions
        The sampling fractions of cells, where strata differ.
    latent
        A latent class model to average with.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> merged = merge_classes(table, [[0, 0]], 1)
    >>> merged.counts, np.exp(merged.log_expected).round(3)
    (array([2, 1]), array([1.5, 1. ]))
    """
    mapping = checked_recode(table, variable, recode)
    shares = np.ones(len(models)) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum()
    others = (1 << table.n_variables) - 1 ^ 1 << variable
    new_codes = mapping[table.rows[:, variable]]
    (merged,) = class_numbers(np.stack([table.numbers(others), new_codes], axis=1))
    _, first = np.unique(merged, return_index=True)
    sizes = table.totals(merged).astype(np.int64)
    small = np.flatnonzero(sizes <= _LARGEST)
    chosen, counts = first[small], sizes[small]
    without, with_it = _factors(models, shares, variable)
    pooled = np.zeros(len(small))
    for mask, power in without.items():
        if power:
            pooled += power * np.log(table.margin(mask)[chosen] - counts + 1)
    grid = CellGrid(table, variable, mapping, merged, small)
    margins = {
        mask: LogMargins(table, mask, variable, grid.place_of)
        for mask in {mask for factors in with_it for mask, _ in factors}
    }
    stands_for = np.zeros(len(small))
    step = max(1, _CELLS_AT_ONCE // max(grid.most_cells, 1))
    for begin in range(0, len(small), step):
        own = slice(begin, begin + step)
        cells = grid.cells(own, chosen[own], counts[own])
        logs = {mask: margin.of(cells) for mask, margin in margins.items()}
        people = None
        if fractions is not None:
            rows = table.rows[cells.members].astype(np.int64)
            rows[:, variable] = grid.codes[cells.places]
            people = fractions.people_per_record(rows)
        for factors, share in with_it.items():
            chance = np.zeros(len(cells.places))
            for mask, power in factors:
                with np.errstate(invalid="ignore"):
                    chance += power * logs[mask]
            # A clique without records makes the cell impossible, whatever its separators hold.
            chance = np.exp(np.where(np.isnan(chance), -np.inf, chance))
            total = np.add.reduceat(chance, cells.starts)
            pooled[own] += share * np.log(total)
            if people is not None:
                stands_for[own] += share * np.add.reduceat(chance * people, cells.starts) / total
    pooled += np.log(table.n_records)
    if latent is not None:
        _, codes = np.unique(mapping, return_inverse=True)
        rows = table.rows[chosen].astype(np.int64)
        rows[:, variable] = codes[rows[:, variable]]
        pooled = averaged(pooled, latent.merged(variable, codes).log_expected(rows, counts))
    return MergedClasses(
        chosen,
        counts,
        np.bincount(merged, weights=table.records).astype(np.int64)[small],
        pooled,
        # Means round, and nobody stands for less than one.
        None if fractions is None else 1 / np.maximum(stands_for, 1.0),
    )


def averaged(log_expected: Floats, by_latent: Floats) -> Floats:
    """Return the mean of log expected counts of decomposable models and of latent classes."""
    return (1 - LATENT_SHARE) * log_expected + LATENT_SHARE * by_latent


def _factors(
    models: Sequence[AdjacencyLike | JunctionTree], shares: Floats, variable: int
) -> tuple[dict[int, float], dict[tuple[tuple[int, int], ...], float]]:
    """Return the margins of which the models are products, apart by whether they hold a variable.

    Those without it come with their mean power over models, the others as products with the share
    of the models that have the same.
    """
    without: defaultdict[int, float] = defaultdict(float)
    with_it: defaultdict[tuple[tuple[int, int], ...], float] = defaultdict(float)
    for model, share in zip(models, shares.tolist(), strict=True):
        tree = model if isinstance(model, JunctionTree) else junction_tree(model)
        powers = Counter(tree.cliques)
        powers.subtract(tree.separators)
        for mask, power in powers.items():
            if not mask >> variable & 1:
                without[mask] += share * power
        held = sorted((m, p) for m, p in powers.items() if p and m >> variable & 1)
        with_it[tuple(held)] += share
    return without, with_it


def checked_recode(table: ClassTable, variable: int, recode: ArrayLike | None) -> Integers:
    """Return the new code of each code of a variable; all 0 if none are given."""
    known = 0 <= variable < table.n_variables
    n_codes = table.levels[variable] if known else 0
    mapping = np.zeros(n_codes, dtype=np.int64) if recode is None else np.asarray(recode)
    if not known or mapping.shape != (n_codes,) or not np.issubdtype(mapping.dtype, np.integer):
        raise InputError(
            Reason.BAD_OPTION,
            f"Categories of variable {variable} were to be merged or left out.",
            f"There are {count_of(table.n_variables, 'variable')}, and {count_of(n_codes, 'code')}"
            f" for {mapping.size:,} new ones.",
            "Name a variable from 0 up, and give one whole number for each of its codes.",
        )
    return mapping.astype(np.int64)
