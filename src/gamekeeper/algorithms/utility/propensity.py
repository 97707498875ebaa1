"""Whether records of before and after can be told apart: pMSE, the mean squared propensity.

Both files are put together, N records of which a share c are from after. A model gives each record the
probability e that it is from after; pMSE = sum of (e - c)² / N. It is 0 where nothing tells them apart and
c (1 - c) at most, where everything does.

- Saturated: e is the share of after in the class of records that look alike; exact.
- Logistic: main effects of the categories, and of their pairs while there are few enough parameters. Rare
  categories are put together. A small ridge keeps the answer finite where a category occurs on one side
  alone, as a suppressed cell does; Newton's method with halved steps, and no answer where it does not
  arrive.

The null: were the labels dealt by lot, the expected pMSE of a linear fit of rank r + 1 is exactly
r c (1 - c) / (N - 1), and that of the logistic fit is the same to first order; the ratio of pMSE to it is
about 1 for two samples of the same people, and below 1 for a file that is nearly a copy. It can also be
found by dealing labels (`dealt_null`). Snoke, Raab, Nowok, Dibben and Slavkovic, General and specific
utility measures for synthetic data, JRSS A 181 (2018). Weights count as records do, and N is still the number
of records in the null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Codes = NDArray[Any]

MOST_PARAMETERS = 150
"""With more parameters than this, pairs are left out."""

MOST_CATEGORIES = 12
"""Categories of a variable that count by themselves; all others are one."""

_RIDGE = 1e-6
_MOST_STEPS = 100
_MOST_HALVINGS = 40
_ENOUGH = 1e-10


@dataclass(frozen=True, slots=True)
class Propensity:
    """How well before and after are told apart.

    Attributes
    ----------
    pmse
        None where the fit did not arrive.
    of_most
        pMSE as a share of the greatest possible.
    expected
        What it would be on average, were labels dealt by lot.
    ratio
        pMSE by that; None where nothing can differ.
    n_parameters
        Free parameters besides the intercept.
    has_pairs
        Whether pairs of variables are in the model.
    """

    pmse: float | None
    of_most: float | None
    expected: float
    ratio: float | None
    n_parameters: int
    has_pairs: bool


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

    Parameters
    ----------
    before, after
        A row per record, a column per variable; equal codes mean the same in both.
    weights
        The weights of the records before and after.
    most_parameters
        Pairs are left out where there would be more parameters.

    Examples
    --------
    >>> same = np.array([[0], [1], [1]])
    >>> logistic_pmse(same, same).pmse
    0.0
    """
    rows, old, new, n_records = _patterns(before, after, weights)
    share = float(new.sum() / (old.sum() + new.sum()))
    most = share * (1 - share)
    design, has_pairs = _design(rows, most_parameters)
    rank = _rank(design, old + new)
    expected = rank * most / max(1, n_records - 1)
    if np.array_equal(old / old.sum(), new / new.sum()):
        return Propensity(0.0, 0.0, expected, 0.0 if expected else None, rank, has_pairs)
    fitted = fit_logistic(design, old, new)
    if fitted is None:
        return Propensity(None, None, expected, None, rank, has_pairs)
    both = old + new
    pmse = float((both * (fitted - share) ** 2).sum() / both.sum())
    ratio = pmse / expected if expected else None
    return Propensity(pmse, pmse / most if most else None, expected, ratio, rank, has_pairs)


def dealt_null(
    before: Codes,
    after: Codes,
    draws: NDArray[np.float64],
    *,
    most_parameters: int = MOST_PARAMETERS,
) -> list[float]:
    """Return pMSE for labels dealt by lot, once per row of `draws`: a number for each record.

    Dealings at which the fit does not arrive are left out.
    """
    both = np.concatenate((before, after))
    found: list[float] = []
    for row in draws:
        order = np.argsort(row, kind="stable")
        first, second = both[order[: len(before)]], both[order[len(before) :]]
        dealt = logistic_pmse(first, second, most_parameters=most_parameters)
        if dealt.pmse is not None:
            found.append(dealt.pmse)
    return found


def fit_logistic(design: Floats, misses: Floats, hits: Floats) -> Floats | None:
    """Return the fitted probability of a hit per row, or None where Newton's method does not arrive.

    The first column of the design is the intercept; a small ridge is on all others.
    """
    total = misses + hits
    scale = total.sum()
    ridge = np.full(design.shape[1], _RIDGE)
    ridge[0] = 0.0
    share = hits.sum() / scale
    line = np.zeros(design.shape[1])
    line[0] = np.log(share) - np.log1p(-share)
    height = _height(design, misses, hits, line, ridge, scale)
    for _ in range(_MOST_STEPS):
        fitted = _chances(design @ line)
        slope = design.T @ (hits - total * fitted) / scale - ridge * line
        bend = (design * (total * fitted * (1 - fitted))[:, None]).T @ design / scale
        bend[np.diag_indices_from(bend)] += ridge
        bend[0, 0] += 1e-15
        try:
            step = np.linalg.solve(bend, slope)
        except np.linalg.LinAlgError:
            return None
        promised = float(slope @ step)
        if promised < _ENOUGH:
            return fitted
        size = 1.0
        for _ in range(_MOST_HALVINGS):
            tried = _height(design, misses, hits, line + size * step, ridge, scale)
            if tried >= height + 1e-4 * size * promised:
                break
            size /= 2
        else:
            return fitted if promised < np.sqrt(_ENOUGH) * 1e-3 else None
        line, height = line + size * step, tried
    return None


def _chances(at: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(at, -700, 700)))


def _height(
    design: Floats, misses: Floats, hits: Floats, line: Floats, ridge: Floats, scale: float
) -> float:
    at = design @ line
    gained = hits * at - (hits + misses) * np.logaddexp(0.0, at)
    return float(gained.sum() / scale - (ridge * line**2).sum() / 2)


def _patterns(
    before: Codes, after: Codes, weights: tuple[ArrayLike, ArrayLike] | None
) -> tuple[NDArray[np.int64], Floats, Floats, int]:
    """Return the distinct rows of both files, with rare categories as one, and their weights."""
    both = np.concatenate((before, after)).astype(np.int64)
    n_first = len(before)
    columns: list[NDArray[np.int64]] = []
    for column in both.T:
        _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
        rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
        columns.append(np.minimum(rank[places], MOST_CATEGORIES - 1))
    table = np.stack(columns, axis=1) if columns else np.zeros((len(both), 0), np.int64)
    key = np.zeros(len(both), np.int64)
    for column in table.T:
        _, key = np.unique(key * MOST_CATEGORIES + column, return_inverse=True)
    _, first = np.unique(key, return_index=True)
    given = (
        np.ones(len(both))
        if weights is None
        else np.concatenate([np.asarray(own, dtype=np.float64) for own in weights])
    )
    sums = [np.zeros(len(first)), np.zeros(len(first))]
    np.add.at(sums[0], key[:n_first], given[:n_first])
    np.add.at(sums[1], key[n_first:], given[n_first:])
    return table[first], sums[0], sums[1], len(both)


def _design(rows: NDArray[np.int64], most_parameters: int) -> tuple[Floats, bool]:
    """Return a column per category but the first, and per pair of them where they are few."""
    main = [
        [(rows[:, place] == code) for code in range(1, int(rows[:, place].max(initial=0)) + 1)]
        for place in range(rows.shape[1])
    ]
    columns = [column for own in main for column in own]
    n_pairs = sum(len(a) * len(b) for a, b in combinations(main, 2))
    has_pairs = n_pairs > 0 and len(columns) + n_pairs <= most_parameters
    if has_pairs:
        columns += [x & y for a, b in combinations(main, 2) for x in a for y in b]
    columns = [column for column in columns if column.any()]
    made = np.ones((len(rows), 1 + len(columns)))
    for place, column in enumerate(columns, 1):
        made[:, place] = column
    return made, has_pairs


def _rank(design: Floats, counts: Floats) -> int:
    """Return how many free parameters there are besides the intercept."""
    used = design[counts > 0]
    return int(np.linalg.matrix_rank(used.T @ used)) - 1 if len(used) else 0
