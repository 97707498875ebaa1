"""What a changed file is still good for: tables, numbers, intervals, and whether it can be told apart.

Intervals: the mean of the two shares that the one before and the one after have in each other: 1
where they are the same, 0 where they touch. Apart, it is 0, or with its sign minus the gap by the
length of each, on average (Karr and others 2006). An interval without length is covered or not;
apart from another it has no sign that could be told.

Tables: Hellinger's distance of two distributions p and q is sqrt(sum of (sqrt p - sqrt q)² / 2): 0
where they are equal, 1 where they have nothing in common. It is taken of every margin of up to
three variables, at a pass over the records for each with a changed variable, before and after. A
margin whose variables did not change, of the same records with the same weights, has 0 and is not
counted.

Numbers: IL1s is the sum over cells of |before - after| by sqrt(2) times the standard deviation of
the variable before, with divisor n - 1 (Yancey, Winkler and Creecy 2002). A variable that did not
vary has no such scale: where its cells moved the loss is not known. Cells that are missing before
or after are lost, counted, and not among those that moved.

Told apart: both files are put together, N records of which a share c are from after. A model gives
each record the probability e that it is from after; pMSE = sum of (e - c)² / N. It is 0 where
nothing tells them apart and c (1 - c) at most, where everything does.

- Saturated: e is the share of after in the class of records that look alike; exact.
- Logistic: main effects of the categories, and of their pairs while there are few enough parameters. Rare
  categories are put together. A small ridge keeps the answer finite where a category occurs on one side
  alone, as a suppressed cell does; Newton's method with halved steps, and no answer where it does not
  arrive.

The null: were the labels dealt by lot, the expected pMSE of a linear fit of rank r + 1 is exactly r
c (1 - c) / (N - 1), and that of the logistic fit is the same to first order; the ratio of pMSE to
it is about 1 for two samples of the same people, and below 1 for a file that is nearly a copy.
Snoke, Raab, Nowok, Dibben and Slavkovic, General and specific utility measures for synthetic data,
JRSS A 181 (2018). Weights count as records do, and N is still the number of records in the null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.classes import dense_numbers, equal_rows
from gamekeeper.algorithms.statistics import Step, chances, climb

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Number = TypeVar("Number", Fraction, float)


def signed_overlap(
    first: tuple[Number, Number], second: tuple[Number, Number]
) -> Number | int | None:
    """Return the overlap of two intervals, negative where they are apart; None if not known.

    Examples
    --------
    >>> signed_overlap((0.0, 4.0), (2.0, 6.0)), signed_overlap((0.0, 1.0), (2.0, 4.0))
    (0.5, -0.75)
    >>> signed_overlap((3.0, 3.0), (2.0, 4.0))
    0.5
    """
    common = min(first[1], second[1]) - max(first[0], second[0])
    lengths = [high - low for low, high in (first, second)]
    if min(lengths) < 0:
        raise ValueError("an interval ends before it begins")
    if common < 0 and 0 in lengths:
        return None
    shares = [common / length if length else 1 + common for length in lengths]
    return sum(shares) / 2  # type: ignore[return-value]


def overlap(first: tuple[Number, Number], second: tuple[Number, Number]) -> Number | int:
    """Return the overlap of two intervals, 0 where they are apart."""
    found = signed_overlap(first, second)
    return 0 if found is None or found < 0 else found


_DENSE = 1 << 20


@dataclass(frozen=True, slots=True)
class MarginDistance:
    """A margin, by the places of its variables, and how far it is from before."""

    variables: tuple[int, ...]
    distance: float


def hellinger(before: ArrayLike, after: ArrayLike) -> float:
    """Return the distance of two distributions, given as counts or sums of weights."""
    p, q = (np.asarray(counts, dtype=np.float64) for counts in (before, after))
    if not p.sum() or not q.sum():
        return 0.0 if p.sum() == q.sum() else 1.0
    apart = np.sqrt(p / p.sum()) - np.sqrt(q / q.sum())
    return min(1.0, float(np.sqrt((apart**2).sum() / 2)))


def entropy(counts: ArrayLike) -> float:
    """Return the entropy of a distribution in bits."""
    given = np.asarray(counts, dtype=np.float64)
    shares = given[given > 0] / given.sum() if given.sum() else given[:0]
    return max(0.0, float(-(shares * np.log2(shares)).sum()))


def margin_distances(
    before: Codes,
    after: Codes,
    *,
    most: int = 3,
    weights: tuple[ArrayLike, ArrayLike] | None = None,
) -> list[MarginDistance]:
    """Return the distance of every margin of 1 up to `most` variables.

    Equal codes mean the same in both tables. Weights are those of the records before and after.

    Examples
    --------
    >>> first, second = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]])
    >>> [(m.variables, m.distance) for m in margin_distances(first, second)]
    [((0,), 0.0), ((1,), 0.0), ((0, 1), 1.0)]
    """
    n_variables = before.shape[1]
    given = None if weights is None else tuple(np.asarray(w, dtype=np.float64) for w in weights)
    same_people = len(before) == len(after) and (
        given is None or bool(np.array_equal(given[0], given[1]))
    )
    changed = [
        not same_people or not np.array_equal(before[:, place], after[:, place])
        for place in range(n_variables)
    ]
    sizes = [
        1 + max(int(before[:, p].max(initial=0)), int(after[:, p].max(initial=0)))
        for p in range(n_variables)
    ]
    columns = [
        [np.ascontiguousarray(table[:, place], dtype=np.int64) for place in range(n_variables)]
        for table in (before, after)
    ]
    found: list[MarginDistance] = []
    kept: tuple[int, ...] | None = None
    cells: list[NDArray[np.int64]] = []
    places = range(n_variables)
    for chosen in (c for size in range(1, most + 1) for c in combinations(places, size)):
        if not any(changed[place] for place in chosen):
            found.append(MarginDistance(chosen, 0.0))
            continue
        if chosen[:-1] != kept:
            # Margins that differ in their last variable come one after the other.
            kept = chosen[:-1]
            cells = [np.zeros(len(table), np.int64) for table in (before, after)]
            for place in kept:
                cells = [
                    start * sizes[place] + own[place]
                    for start, own in zip(cells, columns, strict=True)
                ]
        last = chosen[-1]
        first, second = (
            start * sizes[last] + own[last] for start, own in zip(cells, columns, strict=True)
        )
        found.append(MarginDistance(chosen, hellinger(*_counted(first, second, given))))
    return found


def mean_distances(distances: Sequence[MarginDistance]) -> dict[int, float]:
    """Return the mean distance of margins by their number of variables."""
    by_size: dict[int, list[float]] = {}
    for margin in distances:
        by_size.setdefault(len(margin.variables), []).append(margin.distance)
    return {size: sum(own) / len(own) for size, own in sorted(by_size.items())}


def worst(distances: Sequence[MarginDistance], number: int) -> list[MarginDistance]:
    """Return the margins that are farthest from before; of equal ones those of fewer variables."""
    ordered = sorted(distances, key=lambda m: (-m.distance, len(m.variables), m.variables))
    return [margin for margin in ordered[:number] if margin.distance > 0]


def n_margins(n_variables: int, most: int = 3) -> int:
    """Return how many margins of 1 up to `most` variables there are."""
    return sum(comb(n_variables, size) for size in range(1, min(most, n_variables) + 1))


def _counted(
    before: NDArray[np.int64], after: NDArray[np.int64], weights: tuple[Floats, ...] | None
) -> tuple[Floats, Floats]:
    """Return how much there is in every cell, before and after."""
    top = max(int(before.max(initial=0)), int(after.max(initial=0))) + 1
    if top > max(_DENSE, 4 * len(before)):
        places = dense_numbers(np.concatenate((before, after)))
        before, after = places[: len(before)], places[len(before) :]
        top = int(places.max(initial=0)) + 1
    first, second = (None, None) if weights is None else weights
    return (
        np.bincount(before, first, top).astype(np.float64),
        np.bincount(after, second, top).astype(np.float64),
    )


@dataclass(frozen=True, slots=True)
class CellLoss:
    """IL1s of some variables; None where a variable that did not vary has moved cells."""

    total: float | None
    per_cell: float | None
    n_cells: int
    n_lost: int


def il1s(before: ArrayLike, after: ArrayLike) -> CellLoss:
    """Return how far cells moved.

    Examples
    --------
    >>> loss = il1s([[1.0], [3.0]], [[2.0], [3.0]])
    >>> round(loss.total, 6), loss.n_cells
    (0.5, 2)
    """
    old, new = (np.asarray(values, dtype=np.float64) for values in (before, after))
    there = np.isfinite(old) & np.isfinite(new)
    n_lost = int(np.count_nonzero(np.isfinite(old) & ~np.isfinite(new)))
    total = 0.0
    for place in range(old.shape[1]):
        known = old[np.isfinite(old[:, place]), place]
        both = there[:, place]
        moved = float(np.abs(old[both, place] - new[both, place]).sum())
        spread = float(known.std(ddof=1)) if len(known) > 1 and known.max() > known.min() else 0.0
        if moved and not spread:
            return CellLoss(None, None, int(there.sum()), n_lost)
        total += moved / (np.sqrt(2) * spread) if moved else 0.0
    n_cells = int(there.sum())
    return CellLoss(float(total), float(total / n_cells) if n_cells else None, n_cells, n_lost)


@dataclass(frozen=True, slots=True)
class Moments:
    """Means and covariances of the records that have all the numbers."""

    n_records: int
    means: Floats
    covariances: Floats


def complete_moments(values: ArrayLike, weights: ArrayLike | None = None) -> Moments:
    """Return the moments of records without a missing cell, by weight where weights are given.

    Covariances have the sum of weights as divisor.

    Examples
    --------
    >>> complete_moments([[1.0], [3.0], [np.nan]]).means.tolist()
    [2.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    whole = np.isfinite(numbers).all(axis=1)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    whole &= given > 0
    kept, share = numbers[whole], given[whole]
    n_columns = numbers.shape[1]
    if not len(kept):
        nothing = np.full((n_columns, n_columns), np.nan)
        return Moments(0, nothing[0], nothing)
    share = share / share.sum()
    means = (share[:, None] * kept).sum(axis=0)
    apart = kept - means
    covariances = np.empty((n_columns, n_columns))
    for row in range(n_columns):
        covariances[row] = (share[:, None] * apart[:, row : row + 1] * apart).sum(axis=0)
    return Moments(int(whole.sum()), means, covariances)


MOST_PARAMETERS = 150
"""With more parameters than this, pairs are left out."""

MOST_CATEGORIES = 12
"""Categories of a variable that count by themselves; all others are one."""

_RIDGE = 1e-6
_ENOUGH = 1e-10


@dataclass(frozen=True, slots=True)
class Propensity:
    """How well before and after are told apart.

    - `pmse`, `of_most`: None where the fit did not arrive; and as a share of the greatest possible.
    - `expected`, `ratio`: what it would be on average, were labels dealt by lot, and pMSE by that;
      None where nothing can differ.
    - `n_parameters`: free parameters besides the intercept; `has_pairs`: whether pairs are in the
      model.
    - `n_pooled`: how many variables have categories that were put together.
    """

    pmse: float | None
    of_most: float | None
    expected: float
    ratio: float | None
    n_parameters: int
    has_pairs: bool
    n_pooled: int = 0


def saturated_pmse(before: Sequence[int], after: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return pMSE by classes of equal records, and its share of the greatest possible, exactly.

    `before` and `after` have the number of records of each class.

    Examples
    --------
    >>> saturated_pmse([2, 0], [0, 2])
    (Fraction(1, 4), Fraction(1, 1))
    """
    old, new = [int(count) for count in before], [int(count) for count in after]
    total = sum(old) + sum(new)
    share = Fraction(sum(new), total)
    found = sum(
        (a + b) * (Fraction(b, a + b) - share) ** 2 for a, b in zip(old, new, strict=True) if a + b
    ) / Fraction(total)
    most = share * (1 - share)
    return found, found / most if most else Fraction(0)


def logistic_pmse(
    before: Codes,
    after: Codes,
    *,
    weights: tuple[ArrayLike, ArrayLike] | None = None,
    most_parameters: int = MOST_PARAMETERS,
) -> Propensity:
    """Return pMSE of a logistic model with main effects, and pairs while parameters are few.

    Equal codes mean the same in both tables. Weights are those of the records before and after.

    Examples
    --------
    >>> same = np.array([[0], [1], [1]])
    >>> logistic_pmse(same, same).pmse
    0.0
    """
    rows, old, new, n_records, n_pooled = _patterns(before, after, weights)
    share = float(new.sum() / (old.sum() + new.sum()))
    most = share * (1 - share)
    terms, n_columns, has_pairs = _terms(rows, most_parameters)
    rank = _rank(terms, n_columns)
    expected = rank * most / max(1, n_records - 1)
    if np.array_equal(old / old.sum(), new / new.sum()):
        ratio = 0.0 if expected else None
        return Propensity(0.0, 0.0, expected, ratio, rank, has_pairs, n_pooled)
    fitted = fit_logistic(terms, n_columns, old, new)
    if fitted is None:
        return Propensity(None, None, expected, None, rank, has_pairs, n_pooled)
    both = old + new
    pmse = float((both * (fitted - share) ** 2).sum() / both.sum())
    ratio = pmse / expected if expected else None
    of_most = pmse / most if most else None
    return Propensity(pmse, of_most, expected, ratio, rank, has_pairs, n_pooled)


def fit_logistic(
    terms: NDArray[np.int64], n_columns: int, misses: Floats, hits: Floats
) -> Floats | None:
    """Return the fitted probability of a hit per row, or None where the method does not arrive.

    A row is a class of equal records, of which there are so many before (misses) and after (hits);
    in each term it has the number of its coefficient, from 1, or 0 where the term adds none. Of the
    `n_columns` coefficients, all but the intercept have a small ridge.

    Examples
    --------
    >>> fit_logistic(np.zeros((1, 0), np.int64), 1, np.array([3.0]), np.array([1.0])).round(9)
    array([0.25])
    """
    from gamekeeper.algorithms.logistic_kernels import add_products, add_up

    total = misses + hits
    scale = total.sum()
    ridge = np.full(n_columns, _RIDGE)
    ridge[0] = 0.0
    share = hits.sum() / scale
    start = np.zeros(n_columns)
    start[0] = np.log(share) - np.log1p(-share)
    # Of the line whose height was asked last, as all lines are before their steps.
    at = np.empty(len(terms))

    def height(line: Floats) -> float:
        add_up(terms, line, at)
        gained = hits * at - total * np.logaddexp(0.0, at)
        return float(gained.sum() / scale - (ridge * line**2).sum() / 2)

    def step(line: Floats) -> Step | None:
        fitted = chances(at)
        slope, bend = np.zeros(n_columns), np.zeros((n_columns, n_columns))
        add_products(terms, total * fitted * (1 - fitted), hits - total * fitted, slope, bend)
        slope = slope / scale - ridge * line
        bend = (bend + np.tril(bend, -1).T) / scale
        bend[np.diag_indices_from(bend)] += np.maximum(ridge, 1e-15)
        try:
            way = np.linalg.solve(bend, slope)
        except np.linalg.LinAlgError:
            return None
        promised = float(slope @ way)
        return Step(way, promised, promised < _ENOUGH)

    return None if climb(start, height, step) is None else chances(at)


def _patterns(
    before: Codes, after: Codes, weights: tuple[ArrayLike, ArrayLike] | None
) -> tuple[NDArray[np.int64], Floats, Floats, int, int]:
    """Return the distinct rows of both files, with rare categories as one, and their weights.

    Also how many records there are, and how many variables have categories that are one.
    """
    n_first, n_records = len(before), len(before) + len(after)
    ranked = np.empty((n_records, before.shape[1]), np.uint8)
    n_pooled = 0
    for place in range(before.shape[1]):
        column = np.concatenate([before[:, place], after[:, place]])
        counts = np.bincount(column)
        n_pooled += int(np.count_nonzero(counts) > MOST_CATEGORIES)
        rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
        ranked[:, place] = np.minimum(rank, MOST_CATEGORIES - 1)[column]
    found = equal_rows(ranked)
    key, first = found.numbers, found.firsts
    given = None
    if weights is not None:
        given = np.concatenate([np.asarray(own, dtype=np.float64) for own in weights])
    sums = [
        np.bincount(key[rows], None if given is None else given[rows], len(first)).astype(
            np.float64
        )
        for rows in (slice(None, n_first), slice(n_first, None))
    ]
    return ranked[first].astype(np.int64), sums[0], sums[1], n_records, n_pooled


def _terms(rows: NDArray[np.int64], most_parameters: int) -> tuple[NDArray[np.int64], int, bool]:
    """Return the coefficients of every row: one per category but the first, and per pair of these.

    Also how many there are with the intercept, and whether pairs are among them: where they are few.
    """
    tops = [int(column.max(initial=0)) for column in rows.T]
    n_pairs = sum(a * b for a, b in combinations(tops, 2))
    has_pairs = n_pairs > 0 and sum(tops) + n_pairs <= most_parameters
    terms: list[NDArray[np.int64]] = []
    n_columns = 1
    for column, top in zip(rows.T, tops, strict=True):
        terms.append(np.where(column > 0, column + n_columns - 1, 0))
        n_columns += top
    for first, second in combinations(range(len(tops)), 2) if has_pairs else ():
        one, other = rows[:, first], rows[:, second]
        place = (one - 1) * tops[second] + other - 1
        terms.append(np.where((one > 0) & (other > 0), place + n_columns, 0))
        n_columns += tops[first] * tops[second]
    made = np.stack(terms, axis=1) if terms else np.zeros((len(rows), 0), np.int64)
    return np.ascontiguousarray(made), n_columns, has_pairs


def _rank(terms: NDArray[np.int64], n_columns: int) -> int:
    """Return how many free parameters there are besides the intercept."""
    from gamekeeper.algorithms.logistic_kernels import add_products

    ones = np.ones(len(terms))
    slope, gram = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    add_products(terms, ones, ones, slope, gram)
    return int(np.linalg.matrix_rank(gram + np.tril(gram, -1).T, hermitian=True)) - 1
