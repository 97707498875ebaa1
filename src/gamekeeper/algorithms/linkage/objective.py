"""One cost per pair of records from the distances of several variables.

- Weighted sum: equal weights, given ones, or weights estimated as one over the mean distance of
  all pairs, so that every variable adds the same to a pair taken at random.
- Fellegi-Sunter: the largest weight less the weight of the pair, so that the least total cost is
  the largest total weight.
- Lexicographic: variables in their order of importance, as one cost in whole numbers. The total
  over all links is to be least in the first variable, among these least in the second, and so on.
  Numbers beyond 2^53 would be rounded, so they are refused.
- Mahalanobis: differences of numbers count by the inverse of the covariance, pooled within the two
  files: numbers are turned once so that the distance is Euclidean. A pair costs the number of
  variables. Mahalanobis (1936); its use for linkage in Torra, Abowd and Domingo-Ferrer (2006).

`cost_matrix` and `cost_pairs` build costs a block at a time, so that memory is one matrix, or one
number per candidate pair. Impossible pairs cost infinity in every objective.
Lenz, A graph theoretical approach to record linkage (2003), phase 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.algorithms.linkage.comparison import (
    Comparison,
    notes_of,
    observed,
    require_comparisons,
)
from gamekeeper.algorithms.linkage.fellegi_sunter import FellegiSunterModel
from gamekeeper.errors import InputError, LimitError, Reason
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

    Weights are "equal" (all 1), one number of at least 0 per variable, or "estimated": one over the
    mean distance of all pairs of observed values, scaled to a mean of 1. No truth is needed, since
    nearly all pairs belong to different people. It puts variables of different units and ranges on
    one scale, and gives more to variables in which a small distance is rare; it knows nothing of
    how much noise each carries. A variable without any distance gets weight 0.

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
        from gamekeeper.algorithms.linkage.kernels import add_level_weights

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


def _bad(found: str, do: str, asked: str = _ASKED) -> InputError:
    return InputError(Reason.BAD_OPTION, asked, found, do)


_ASKED_APART = "Mahalanobis distances between the records of two files were asked for."
_ASKED_IN_ORDER = "A lexicographic cost was asked for."
_EXACT = 2**53
_DEFAULT_STEPS = 100
_MOST_WHOLE_STEPS = 1_000


@dataclass(frozen=True, eq=False)
class LexicographicCost:
    """Whole numbers whose least total is least in the first variable, then in the second, ....

    A distance is rounded to a number of steps, and a step in one variable outweighs all that the
    later ones can add up to over a whole file of links.
    """

    comparisons: tuple[Comparison, ...]
    steps: tuple[int, ...]
    rates: tuple[float, ...]
    strides: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return self.comparisons[0].shape

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        for comparison, rate, stride in zip(
            self.comparisons, self.rates, self.strides, strict=True
        ):
            out += np.rint(comparison.matrix(rows) * rate) * stride

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        out = np.zeros(len(rows))
        for comparison, rate, stride in zip(
            self.comparisons, self.rates, self.strides, strict=True
        ):
            out += np.rint(comparison.pairs(rows, columns) * rate) * stride
        return out


def lexicographic_cost(
    comparisons: Sequence[Comparison], *, steps: Sequence[int | None] | None = None
) -> LexicographicCost:
    """Combine variables, the most important first, so that no later one can overturn an earlier.

    `steps` says for each variable into how many its largest distance is divided. By default, or
    where None: 1 for categories, the range for whole numbers and ranks of a range up to 1,000 (both
    exact), and 100 otherwise. The product over variables of (records x steps + 1) must stay within
    2^53, up to which whole numbers are exact; otherwise a LimitError says so.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_categories, compare_numbers
    >>> sex, age = compare_categories([1, 2], [1, 1]), compare_numbers([30, 40], [31, 40])
    >>> cost_matrix(lexicographic_cost([sex, age])).tolist()
    [[1.0, 10.0], [30.0, 21.0]]
    """
    require_comparisons(comparisons)
    given = [None] * len(comparisons) if steps is None else list(steps)
    if len(given) != len(comparisons) or any(step is not None and step < 1 for step in given):
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED_IN_ORDER,
            f"{len(given)} numbers of steps were given for {len(comparisons)} variables, or one is "
            "below 1.",
            "Give a whole number of at least 1 per variable, or None.",
        )
    n_links = min(comparisons[0].shape)
    chosen = [_steps(c) if s is None else s for c, s in zip(comparisons, given, strict=True)]
    rates: list[float] = []
    bases: list[int] = []
    for comparison, step in zip(comparisons, chosen, strict=True):
        largest = comparison.largest_distance()
        # Where all possible distances are 0, any rate will do except 0: 0 times infinity is NaN.
        rate = step / largest if largest > 0 else 1.0
        missing = comparison.missing_distance * rate
        most = max(step, round(missing) if math.isfinite(missing) else 0)
        rates.append(rate)
        bases.append(n_links * most + 1)
    if math.prod(bases) > _EXACT:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED_IN_ORDER,
            f"{len(chosen)} variables with {', '.join(map(str, chosen))} steps and {n_links:,} "
            f"links need whole numbers up to 2^{math.log2(math.prod(bases)):.0f}; up to 2^53 they "
            "are exact.",
            "Give fewer steps (--steps) or variables (--on), or use a weighted sum (--objective weighted).",
        )
    strides = tuple(math.prod(bases[k + 1 :]) for k in range(len(bases)))
    return LexicographicCost(
        tuple(comparisons), tuple(chosen), tuple(rates), strides, notes_of(comparisons)
    )


def _steps(comparison: Comparison) -> int:
    if comparison.measure == "different":
        return 1
    if comparison.measure == "absolute":
        a, b = observed(comparison.a), observed(comparison.b)
        whole = bool((a == np.rint(a)).all() and (b == np.rint(b)).all())
        range_ = comparison.largest_distance() / comparison.factor if comparison.factor else 0.0
        if whole and 0 < range_ <= _MOST_WHOLE_STEPS:
            return round(range_)
    return _DEFAULT_STEPS


@dataclass(frozen=True, eq=False)
class MahalanobisCost:
    """The squared Mahalanobis distance of several numbers.

    The least total of squares is the most likely set of links where noise is normal with a
    covariance proportional to that of the data.
    """

    a: Floats = field(repr=False)
    b: Floats = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return len(self.a), len(self.b)

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        from gamekeeper.algorithms.linkage.kernels import add_squares_matrix

        add_squares_matrix(out, self.a[rows], self.b)

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        from gamekeeper.algorithms.linkage.kernels import add_squares_pairs

        out = np.zeros(len(rows))
        add_squares_pairs(out, self.a, self.b, rows, columns)
        return out


def mahalanobis_cost(a: ArrayLike, b: ArrayLike) -> MahalanobisCost:
    """Combine numbers, one row per record, by the inverse of their covariance.

    A missing value (NaN) stands at the mean of the observed ones of both files, and a note says how
    many there are. The covariance is pooled within the files, so that a shift between them does not
    count. Where it is singular (constant variables, one a combination of others) its pseudo-inverse
    is taken: the directions without variance count for nothing, and a note says so.

    Examples
    --------
    >>> cost = mahalanobis_cost([[0, 0], [2, 0], [0, 4], [2, 4]], [[1, 2]])
    >>> cost.pairs(np.array([0]), np.array([0])).round(6).tolist()
    [1.5]
    """
    x, y = np.array(a, np.float64), np.array(b, np.float64)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or not x.size or not y.size:
        raise _bad(
            f"The files have numbers of shape {x.shape} and {y.shape}.",
            "Give one row per record and the same columns, at least one of each.",
            _ASKED_APART,
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise _bad("There is an infinite value.", "Give numbers, NaN for missing.", _ASKED_APART)
    notes = ()
    n_missing = int(np.isnan(x).sum() + np.isnan(y).sum())
    if n_missing:
        notes = (f"{n_missing:,} missing values stand at the mean of their variable.",)
    for k in range(x.shape[1]):
        known = np.concatenate((observed(x[:, k]), observed(y[:, k])))
        centre = known.mean() if len(known) else 0.0
        x[:, k] = np.where(np.isnan(x[:, k]), 0.0, x[:, k] - centre)
        y[:, k] = np.where(np.isnan(y[:, k]), 0.0, y[:, k] - centre)
    scatter = sum((f - f.mean(0)).T @ (f - f.mean(0)) for f in (x, y))
    covariance = np.atleast_2d(scatter) / max(len(x) + len(y) - 2, 1)
    # By the correlations, so that the units of variables do not decide what counts as singular.
    deviations = np.sqrt(np.diag(covariance))
    scales = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    values, vectors = np.linalg.eigh(covariance * np.outer(scales, scales))
    kept = values > len(values) * 1e-10 * max(float(values.max()), 0.0)
    if not kept.all():
        note = (
            f"The covariance has rank {int(kept.sum())} for {len(values)} variables; directions "
            "without variance count for nothing."
        )
        notes += (note,)
    whitening = scales[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    left, right = np.ascontiguousarray(x @ whitening), np.ascontiguousarray(y @ whitening)
    return MahalanobisCost(left, right, notes)
