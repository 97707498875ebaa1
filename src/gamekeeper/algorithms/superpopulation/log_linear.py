"""Log-linear Poisson models of the table of keys, and the risk of a file that follows from them.

The count of a cell in the population is Poisson, and each of its people is sampled with chance pi; so
that, given one in the sample, F - 1 is Poisson with mean mu = lambda (1 - pi) / pi, with lambda the
expected count of the cell in the sample. Then P(F=1) = exp(-mu), E[1/F] = (1 - exp(-mu)) / mu, and
tau1 and tau2 are their sums over the sample uniques. lambda comes from a model with main effects, which
has a closed form, or with all interactions of two variables, by iterative proportional fitting to all
two-way margins over all cells. Skinner and Holmes 1998; Elamir and Skinner 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Fitted two-way margins agree with those of the file to that share of the records.
_AGREES = 1e-8
_MOST_ROUNDS = 2_000


@dataclass(frozen=True, slots=True)
class LogLinearRisk:
    """What a model says of the sample uniques: P(F=1) and E[1/F] of each, and the sums."""

    p_unique: Floats
    p_match: Floats

    @property
    def tau1(self) -> float:
        """The expected number of sample uniques that are population uniques."""
        return float(self.p_unique.sum())

    @property
    def tau2(self) -> float:
        """The expected number of right matches when each is matched to one person of its class."""
        return float(self.p_match.sum())

    def __repr__(self) -> str:
        return f"LogLinearRisk(tau1={self.tau1:.6g}, tau2={self.tau2:.6g})"


def poisson_risk(expected: Floats, fraction: Floats | float) -> LogLinearRisk:
    """Return the risk of sample uniques from the expected counts of their cells in the sample.

    Examples
    --------
    >>> poisson_risk(np.array([0.5]), 0.5)
    LogLinearRisk(tau1=0.606531, tau2=0.786939)
    """
    mean = expected * (1 - fraction) / fraction
    p_match = np.divide(-np.expm1(-mean), mean, out=np.ones_like(mean), where=mean > 0)
    return LogLinearRisk(np.exp(-mean), p_match)


def main_effects(
    codes: NDArray[np.integer[Any]],
    rows: NDArray[np.integer[Any]],
    counts: NDArray[np.int64] | None = None,
) -> Floats:
    """Return the expected counts of the cells of some records under independence of all variables.

    Parameters
    ----------
    codes
        One line per record, one column per variable.
    rows
        The records whose cells are wanted.
    counts
        How many records each line stands for; one if None.

    Examples
    --------
    >>> main_effects(np.array([[1, 1], [1, 2], [2, 1], [2, 1]]), np.array([1]))
    array([0.5])
    """
    n_records = len(codes) if counts is None else int(counts.sum())
    expected = np.full(len(rows), float(n_records))
    for place in range(codes.shape[1]):
        margin = np.bincount(codes[:, place], counts)
        expected *= margin[codes[rows, place]] / n_records
    return expected


def n_cells(codes: NDArray[np.integer[Any]]) -> int:
    """Return how many cells the table of all categories that occur has."""
    product = 1
    for place in range(codes.shape[1]):
        product *= len(np.unique(codes[:, place]))
    return product


def two_way_effects(
    codes: NDArray[np.integer[Any]],
    rows: NDArray[np.integer[Any]],
    counts: NDArray[np.int64] | None = None,
) -> Floats | None:
    """Return expected counts under all interactions of two variables; None if that did not settle.

    With fewer than three variables the model has every count as it is. The whole table is held in
    memory: see `n_cells`. Parameters are those of `main_effects`.

    Examples
    --------
    >>> two_way_effects(np.array([[1, 1], [1, 2], [2, 1], [2, 1]]), np.array([1]))
    array([1.])
    """
    columns = [
        np.unique(codes[:, place], return_inverse=True)[1] for place in range(codes.shape[1])
    ]
    shape = tuple(int(column.max(initial=0)) + 1 for column in columns)
    cells = np.ravel_multi_index(columns, shape)
    whole = np.bincount(cells, counts, minlength=int(np.prod(shape))).astype(np.float64)
    if len(shape) < 3:
        return whole[cells[rows]]
    observed = whole.reshape(shape)
    pairs = list(combinations(range(len(shape)), 2))
    others = [tuple(axis for axis in range(len(shape)) if axis not in pair) for pair in pairs]
    targets = [observed.sum(axis=axes, keepdims=True) for axes in others]
    fitted = np.full(shape, observed.sum() / observed.size)
    for _ in range(_MOST_ROUNDS):
        worst = 0.0
        for axes, target in zip(others, targets, strict=True):
            margin = fitted.sum(axis=axes, keepdims=True)
            worst = max(worst, float(np.abs(margin - target).max()))
            fitted *= np.divide(target, margin, out=np.zeros_like(target), where=margin > 0)
        if worst <= _AGREES * observed.sum():
            return fitted.ravel()[cells[rows]]
    return None
