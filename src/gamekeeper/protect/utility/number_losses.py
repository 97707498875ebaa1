"""What the numbers of a file lost: how far cells moved, means, deviations, and how they vary together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.utility.number_loss import complete_moments, il1s
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.numerals import float_of, number_of
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.utility.result import NumberLoss, PairLoss

Floats = NDArray[np.float64]


def number_losses(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog | None,
    weights: tuple[Floats, Floats] | None,
    weight: str,
    decimal: str,
    in_tables: Sequence[str],
) -> tuple[tuple[NumberLoss, ...], dict[str, tuple[Floats, Floats]]]:
    """Return what numeric columns lost, and all numbers that analyses may use."""
    usable = usable_numbers(before, after, decimal)
    shown = {
        name: pair
        for name, pair in usable.items()
        if name in before.numbers
        # A changed amount that was coded is a number all the same.
        or (name not in in_tables and log is not None and name in log.variables)
    }
    lines: list[NumberLoss] = []
    for name, (old, new) in shown.items():
        if name == weight:
            continue
        loss = None
        if log is not None:
            own = old if log.records is None else old[log.records]
            loss = il1s(own[:, None], new[:, None])
        plain = [complete_moments(values[:, None]) for values in (old, new)]
        weighted = (
            [None, None]
            if weights is None
            else [
                _finite(complete_moments(values[:, None], own).means[0])
                for values, own in zip((old, new), weights, strict=True)
            ]
        )
        n_there = max(1, int(np.isfinite(old).sum()))
        lines.append(
            NumberLoss(
                name,
                None if loss is None else loss.per_cell,
                0.0 if loss is None else loss.n_lost / n_there,
                *(_finite(moments.means[0]) for moments in plain),
                *(_finite(np.sqrt(moments.covariances[0, 0])) for moments in plain),
                *weighted,
            )
        )
    return tuple(lines), usable


def usable_numbers(
    before: CodedTable, after: CodedTable, decimal: str
) -> dict[str, tuple[Floats, Floats]]:
    """Return what both files have as numbers: numeric columns, and variables all of whose values are."""
    usable: dict[str, tuple[Floats, Floats]] = {}
    for name in before.numbers:
        if name in after.numbers:
            usable[name] = before.number(name), after.number(name)
    for variable in before.codebook:
        if variable.name in usable or variable.name not in after.codebook:
            continue
        read = [_as_numbers(table, variable.name, decimal) for table in (before, after)]
        if read[0] is not None and read[1] is not None:
            usable[variable.name] = read[0], read[1]
    return usable


def _as_numbers(table: CodedTable, name: str, decimal: str) -> Floats | None:
    values = [number_of(v, decimal) for v in table.codebook[name].values[MISSING + 1 :]]
    if any(value is None for value in values):
        return None
    numbers = np.array([np.nan, *(float_of(value or Fraction(0)) for value in values)])
    return None if np.isinf(numbers).any() else numbers[table.codes(name)]


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def pair_losses(
    numbers: Mapping[str, tuple[Floats, Floats]], weights: tuple[Floats, Floats] | None
) -> tuple[PairLoss, ...]:
    """Return how every two numbers vary together, before and after."""
    found: list[PairLoss] = []
    for one, other in combinations(numbers, 2):
        tables = [np.stack([numbers[one][n], numbers[other][n]], axis=1) for n in (0, 1)]
        covariances, correlations = zip(*(_varied(table, None) for table in tables), strict=True)
        by_weight: list[tuple[float | None, ...]] = [(None, None), (None, None)]
        if weights is not None:
            both = zip(tables, weights, strict=True)
            by_weight = list(zip(*(_varied(table, own) for table, own in both), strict=True))
        found.append(
            PairLoss(one, other, *covariances, *correlations, *by_weight[0], *by_weight[1])
        )
    return tuple(found)


def _varied(table: Floats, weights: Floats | None) -> tuple[float | None, float | None]:
    """Return covariance and correlation of two numbers; None where they are not known."""
    found = complete_moments(table, weights)
    covariance = _finite(found.covariances[0, 1])
    spread = np.sqrt(found.covariances[0, 0] * found.covariances[1, 1])
    if covariance is None or not spread > 0:
        return covariance, None
    return covariance, float(np.clip(covariance / spread, -1, 1))


def moved_correlations(
    numbers: dict[str, tuple[Floats, Floats]],
) -> tuple[float | None, float | None]:
    """Return by how much correlations, and their eigenvalues, moved at most."""
    columns = [pair for pair in numbers.values() if not np.array_equal(*pair, equal_nan=True)]
    if len(numbers) < 2 or not columns:
        return None, None
    shown: list[Floats] = []
    for number in (0, 1):
        table = np.stack([pair[number] for pair in numbers.values()], axis=1)
        found = complete_moments(table)
        spread = np.sqrt(np.diag(found.covariances))
        if not found.n_records or not (spread > 0).all():
            return None, None
        shown.append(found.covariances / np.outer(spread, spread))
    apart = np.abs(shown[1] - shown[0]).max()
    values = [np.linalg.eigvalsh(matrix) for matrix in shown]
    return float(apart), float(np.abs(values[1] - values[0]).max())
