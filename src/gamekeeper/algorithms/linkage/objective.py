"""One cost per pair of records from the distances of several variables.

- Weighted sum: equal weights, given ones, or weights estimated as one over the mean distance of
  all pairs, so that every variable adds the same to a pair taken at random.
- Fellegi-Sunter: the largest weight less the weight of the pair, so that the least total cost is
  the largest total weight.
- Lexicographic, in `lexicographic`, and Mahalanobis, in `mahalanobis`.

`cost_matrix` and `cost_pairs` build costs a block at a time, so that memory is one matrix, or one
number per candidate pair. Impossible pairs cost infinity in every objective.

Lenz, A graph theoretical approach to record linkage (2003), phase 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.algorithms.linkage.comparison import Comparison, notes_of, require_comparisons
from gamekeeper.algorithms.linkage.fellegi_sunter import FellegiSunterModel
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.float64]

_ASKED = "Distances of several variables were to be combined into one cost."
# A block of 2 MB stays in the cache while one variable after the other is added to it.
_CELLS_AT_ONCE = 2**18
_PAIRS_AT_ONCE = 2**20


class Objective(Protocol):
    """What makes costs of pairs."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        ...

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        ...

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        ...


def cost_matrix(objective: Objective, *, progress: Progress | None = None) -> Floats:
    """Return the costs of all pairs; told progress in rows.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_categories, compare_numbers
    >>> age, sex = compare_numbers([30, 40], [31, 40]), compare_categories([1, 2], [1, 1])
    >>> cost_matrix(weighted_sum([age, sex], [0.1, 2.0])).tolist()
    [[0.1, 1.0], [2.9, 2.0]]
    """
    n_rows, n_columns = objective.shape
    out = np.zeros((n_rows, n_columns))
    height = max(_CELLS_AT_ONCE // max(n_columns, 1), 1)
    for first in range(0, n_rows, height):
        rows = slice(first, min(first + height, n_rows))
        objective.add_block(out[rows], rows)
        if progress is not None:
            progress(rows.stop, n_rows)
    return out


def cost_pairs(
    objective: Objective, candidates: CandidatePairs, *, progress: Progress | None = None
) -> Floats:
    """Return the cost of each candidate pair, in their order; told progress in pairs."""
    if candidates.shape != objective.shape:
        raise _bad(
            f"The candidates are for {candidates.shape[0]:,} x {candidates.shape[1]:,} records, the "
            f"variables for {objective.shape[0]:,} x {objective.shape[1]:,}.",
            "Take both from the same two files.",
        )
    out = np.empty(candidates.n_pairs)
    rows = candidates.rows()
    for part in candidates.blocks(_PAIRS_AT_ONCE):
        out[part] = objective.pairs(rows[part], candidates.columns[part])
        if progress is not None:
            progress(part.stop, candidates.n_pairs)
    return out


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """The sum over variables of weight times distance."""

    comparisons: tuple[Comparison, ...]
    weights: tuple[float, ...]
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return self.comparisons[0].shape

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        for comparison, weight in zip(self.comparisons, self.weights, strict=True):
            comparison.add_matrix(out, weight, rows)

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        out = np.zeros(len(rows))
        for comparison, weight in zip(self.comparisons, self.weights, strict=True):
            comparison.add_pairs(out, weight, rows, columns)
        return out


def weighted_sum(
    comparisons: Sequence[Comparison],
    weights: Literal["equal", "estimated"] | Sequence[float] = "equal",
) -> WeightedSum:
    """Combine variables by a weighted sum.

    Parameters
    ----------
    comparisons
        The variables of the two files.
    weights
        "equal" (all 1), one number of at least 0 per variable, or "estimated": one over the mean
        distance of all pairs of observed values, scaled to a mean of 1. No truth is needed, since
        nearly all pairs belong to different people. It puts variables of different units and
        ranges on one scale, and gives more to variables in which a small distance is rare; it knows
        nothing of how much noise each carries. A variable without any distance gets weight 0.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_numbers
    >>> near, far = compare_numbers([0, 1], [0, 1]), compare_numbers([0, 9], [0, 9])
    >>> [round(weight, 6) for weight in weighted_sum([near, far], "estimated").weights]
    [1.8, 0.2]
    """
    require_comparisons(comparisons)
    notes = notes_of(comparisons)
    if isinstance(weights, str):
        if weights not in ("equal", "estimated"):
            raise _bad(f"The weights are '{weights}'.", "Give 'equal', 'estimated' or numbers.")
        if weights == "equal":
            return WeightedSum(tuple(comparisons), (1.0,) * len(comparisons), notes)
        means = np.array([c.mean_distance() for c in comparisons])
        found = np.divide(1.0, means, out=np.zeros_like(means), where=means > 0)
        if not found.any():
            raise _bad("No variable has a distance above 0.", "Give a variable that varies.")
        found = found / found.mean()
        notes += tuple(
            f"'{c.name}' tells no records apart and has weight 0."
            for c, weight in zip(comparisons, found, strict=True)
            if not weight
        )
    else:
        found = np.asarray(weights, np.float64)
        if found.shape != (len(comparisons),):
            fault = f"{found.size} weights were given for {len(comparisons)} variables."
        elif not (np.isfinite(found).all() and (found >= 0).all()):
            fault = "A weight is negative or not a finite number."
        else:
            fault = "" if found.any() else "All weights are 0."
        if fault:
            raise _bad(fault, "Give one number of at least 0 per variable, one of them above 0.")
    return WeightedSum(tuple(comparisons), tuple(found.tolist()), notes)


@dataclass(frozen=True, eq=False)
class FellegiSunterCost:
    """The largest weight less the weight of the pair."""

    comparisons: tuple[Comparison, ...]
    model: FellegiSunterModel
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return self.comparisons[0].shape

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        out += self.model.largest_weight
        for comparison, limits, weights in self._parts():
            comparison.add_levels(out, limits, -weights, rows)
        # Rounding can leave the best pair a little below 0.
        np.maximum(out, 0.0, out=out)

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        from gamekeeper.algorithms.linkage.distance_kernels import add_level_weights

        out = np.full(len(rows), self.model.largest_weight)
        for comparison, limits, weights in self._parts():
            plain = comparison.with_missing(math.nan)
            add_level_weights(out, plain.pairs(rows, columns), limits, -weights)
        return np.maximum(out, 0.0, out=out)

    def _parts(self) -> list[tuple[Comparison, Floats, Floats]]:
        return [
            (comparison, np.asarray(limits, np.float64), weights)
            for comparison, limits, weights in zip(
                self.comparisons, self.model.limits, self.model.weights, strict=True
            )
        ]


def fellegi_sunter_cost(
    comparisons: Sequence[Comparison], model: FellegiSunterModel
) -> FellegiSunterCost:
    """Combine variables by the weights of a fitted model; a missing value has weight 0.

    Costs are not negative, since no pair has more than the largest weight.
    """
    require_comparisons(comparisons)
    if tuple(c.name for c in comparisons) != model.names:
        raise _bad(
            f"The model has {len(model.names)} variables, and they are not the {len(comparisons)} "
            "given ones.",
            "Give the variables that the model was fitted to, in the same order.",
        )
    return FellegiSunterCost(tuple(comparisons), model, (*notes_of(comparisons), *model.notes))


def _bad(found: str, do: str) -> InputError:
    return InputError(Reason.BAD_OPTION, _ASKED, found, do)
