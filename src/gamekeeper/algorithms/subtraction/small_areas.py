"""SAP of many small tables at once, such as one per small area.

Populations up to 56 are worked out together by a compiled loop, with numbers of samples as whole
numbers, so that each probability is the exact rational rounded once: exactly 0 and exactly 1 mean
what they say, and one tenth is the same tenth everywhere. Larger ones are worked out one by one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.subtraction.probability import numbers_of_people, subtraction_risk
from gamekeeper.algorithms.subtraction.recovery_rule import recovery_rule
from gamekeeper.errors import InputError, Reason

Floats = NDArray[np.float64]


def small_area_risks(
    counts: ArrayLike,
    upper: ArrayLike,
    *,
    n: Iterable[int],
    lower: ArrayLike | None = None,
    total_upper: ArrayLike | None = None,
) -> Floats:
    """Return SAP of each table for each number of known people.

    Parameters
    ----------
    counts, upper, lower
        True counts and limits of the cells; the first axis is the table.
    n
        The numbers of known people.
    total_upper
        The upper limit of the total of each table, where totals are published.

    Examples
    --------
    >>> small_area_risks([[1, 2], [2, 2]], [[1, 3], [2, 2]], n=[1, 2]).round(3).tolist()
    [[0.333, 0.667], [0.0, 0.333]]
    """
    true = np.asarray(counts)
    if true.ndim < 2:
        raise InputError(
            Reason.MALFORMED,
            "The probability of recovering zeros was asked for many tables.",
            f"Their counts have {true.ndim} axes.",
            "Give an axis for the tables and at least one for their cells.",
        )
    n_tables = len(true)
    # One check of all limits; totals are checked below, each for its own table.
    recovery_rule(true, upper, lower=lower)
    flat = true.reshape(n_tables, -1).astype(np.int64)
    high = np.asarray(upper).reshape(n_tables, -1)
    low = np.zeros_like(flat) if lower is None else np.asarray(lower).reshape(n_tables, -1)
    asked = numbers_of_people(n, 0)
    totals = flat.sum(axis=1)
    most = None if total_upper is None else np.asarray(total_upper)
    if most is not None and most.shape != (n_tables,):
        raise InputError(
            Reason.MALFORMED,
            "The probability of recovering zeros was asked for many tables and their totals.",
            f"The limits of the totals have the shape {most.shape}.",
            f"Give one for each of the {n_tables:,} tables.",
        )
    if most is not None and bool(np.any(most < totals)):
        raise InputError(
            Reason.CONFLICTING_COUNTS,
            "The probability of recovering zeros was asked for many tables and their totals.",
            f"The upper limit of the total is below the true one in {int((most < totals).sum())}.",
            "Give limits that hold.",
        )
    return _risks(flat, low, high, most, asked)


def _risks(
    counts: NDArray[np.int64],
    lower: NDArray[np.generic],
    upper: NDArray[np.generic],
    total_upper: NDArray[np.generic] | None,
    asked: NDArray[np.int64],
) -> Floats:
    from gamekeeper.algorithms.subtraction.kernels import LARGEST_SMALL_POPULATION, small_tables

    totals = counts.sum(axis=1)
    relevant = np.equal(counts, upper)
    gives_away = np.zeros(len(counts), np.bool_)
    unsure = np.zeros(counts.shape, np.bool_)
    if total_upper is not None:
        gives_away = np.equal(total_upper, totals)
        unsure = np.greater(counts, lower) & gives_away[:, None]
        known = gives_away & ~unsure.any(axis=1)
        relevant = relevant | known[:, None]
        gives_away = gives_away & ~known
    out = np.zeros((len(counts), len(asked)))
    small = totals <= LARGEST_SMALL_POPULATION
    found = np.zeros((int(small.sum()), len(asked)))
    small_tables(counts[small], relevant[small], unsure[small], gives_away[small], asked, found)
    out[small] = found
    for table in np.flatnonzero(~small):
        rule = recovery_rule(
            counts[table],
            upper[table],
            lower=lower[table],
            total_upper=None if total_upper is None else int(total_upper[table]),
        )
        out[table] = subtraction_risk(rule, n=asked.tolist(), exact_up_to=0).values
    return out
