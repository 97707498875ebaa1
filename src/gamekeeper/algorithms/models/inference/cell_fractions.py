"""The sampling fraction of a cell, where strata were sampled with different fractions.

Let a class have r_h records in expectation from stratum h, sampled with the fraction pi_h. Then
r_h (1-pi_h)/pi_h of its people are outside the sample in expectation, and a record of the class
stands for

    w = sum of s_h / pi_h,  s_h = r_h / sum of r

people on average: the class is sampled with 1/w, the harmonic mean of the fractions over the records
that such a class would have. Where the key tells the stratum, that is the fraction of the stratum.
Where it does not, the records of the class have different fractions, and the one record of a sample
unique says little of the s_h: taking its own fraction would make those from the dense strata look
unique too often. So the shares are learnt from all records that agree on those key variables that
tell the fraction: variables are added, the best first, while the probability of the fractions given
their values rises (Dirichlet prior of precision 1 for each combination of values). With no such
variable every cell has the fraction of the file, records over people. A combination that no record
has takes the fraction of the one without the variable that was added last.

Cost: one count of the records for each variable tried, so K for each variable that is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.integer[Any]]


class CellFractions:
    """Sampling fractions of cells, by the key variables that tell them.

    Attributes
    ----------
    variables
        These key variables by number, the most telling first.
    lowest, highest
        The smallest and the largest fraction of a record.
    """

    def __init__(
        self,
        variables: tuple[int, ...],
        codes: Integers,
        fractions: Floats,
        counts: Integers,
    ) -> None:
        self.variables = variables
        self.lowest, self.highest = float(fractions.min()), float(fractions.max())
        values, group = np.unique(fractions, return_inverse=True)
        self._steps = [
            _mean_by_key(codes[:, :n], 1 / values, group, counts) for n in range(len(variables) + 1)
        ]

    def __repr__(self) -> str:
        return (
            f"CellFractions({self.lowest:.4g} to {self.highest:.4g},"
            f" told by {count_of(len(self.variables), 'variable')})"
        )

    def people_per_record(self, rows: Codes) -> Floats:
        """Return how many people of the population a record of each cell stands for."""
        found = np.full(len(rows), self._steps[0][1][0])
        codes = rows[:, list(self.variables)].astype(np.int64)
        for n, (keys, people) in enumerate(self._steps[1:], start=1):
            known, asked = class_numbers(keys, codes[:, :n])
            place = np.full(int(max(known.max(), asked.max(initial=0))) + 1, -1)
            place[known] = np.arange(len(known))
            at = place[asked]
            found = np.where(at >= 0, people[at], found)
        return found

    def of(self, rows: Codes) -> Floats:
        """Return the sampling fraction of each cell."""
        return 1 / self.people_per_record(rows)


def learn_fractions(
    codes: Codes, fractions: ArrayLike, counts: Integers | None = None
) -> CellFractions:
    """Learn from the records of a sample with which fraction the people of a cell were sampled.

    Parameters
    ----------
    codes
        A row for each record, a column for each key variable.
    fractions
        The sampling fraction of each record, above 0 and up to 1.
    counts
        How many records each row stands for; one if None.

    Examples
    --------
    The first variable tells the stratum, the second does not.

    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 9)
    >>> found = learn_fractions(rows, np.where(rows[:, 0] == 0, 0.01, 0.2))
    >>> found.variables, found.of(np.array([[0, 1], [1, 7]])).round(6)
    ((0,), array([0.01, 0.2 ]))
    """
    given = np.asarray(fractions, dtype=np.float64)
    _check(codes, given)
    each = np.ones(len(codes), dtype=np.int64) if counts is None else counts
    values, group = np.unique(given, return_inverse=True)
    chosen: list[int] = []
    best = _log_probability(np.zeros(len(codes), dtype=np.int64), group, len(values), each)
    classes = np.zeros(len(codes), dtype=np.int64)
    while len(values) > 1 and len(chosen) < codes.shape[1]:
        tried = {
            v: class_numbers(np.stack([classes, codes[:, v].astype(np.int64)], axis=1))[0]
            for v in range(codes.shape[1])
            if v not in chosen
        }
        scores = {
            v: _log_probability(found, group, len(values), each) for v, found in tried.items()
        }
        first = max(scores, key=lambda v: scores[v])
        if scores[first] <= best:
            break
        chosen.append(first)
        best, classes = scores[first], tried[first]
    return CellFractions(tuple(chosen), codes[:, chosen].astype(np.int64), given, each)


def _mean_by_key(
    codes: Integers, people: Floats, group: Integers, counts: Integers
) -> tuple[Integers, Floats]:
    """Return the distinct keys and the mean over their records, given that of each group.

    Records of a group are counted first, so that the mean does not depend on who stands for whom.
    """
    (classes,) = class_numbers(codes)
    _, first = np.unique(classes, return_index=True)
    cells, line = np.unique(classes * len(people) + group, return_inverse=True)
    records = np.bincount(line, counts)
    of_cell = people[cells % len(people)]
    sums = np.bincount(cells // len(people), records * of_cell)
    means = sums / np.bincount(cells // len(people), records)
    # Sums round; where all are equal the mean is that number.
    low, high = np.full(len(first), np.inf), np.zeros(len(first))
    np.minimum.at(low, cells // len(people), of_cell)
    np.maximum.at(high, cells // len(people), of_cell)
    return codes[first], np.where(low == high, low, means)


def _log_probability(classes: Integers, group: Integers, n_groups: int, counts: Integers) -> float:
    """Return the log probability of the groups of records given their classes."""
    from scipy.special import gammaln

    totals = np.bincount(classes, counts)
    cells = np.bincount(classes * n_groups + group, counts)
    share = 1 / n_groups
    filled = cells[cells > 0]
    above = (gammaln(filled + share) - gammaln(share)).sum()
    return float(above - gammaln(totals + 1.0).sum())


def _check(codes: Codes, fractions: Floats) -> None:
    right = codes.ndim == 2 and fractions.shape == (len(codes),)
    if not right or not len(codes) or not bool(np.all((fractions > 0) & (fractions <= 1))):
        raise InputError(
            Reason.BAD_OPTION,
            "Sampling fractions of cells were to be learnt from records.",
            f"There are {fractions.size:,} fractions for {count_of(len(codes), 'record')},"
            " or some are outside of (0, 1].",
            "Give at least one record, and a share of the population for each.",
        )
