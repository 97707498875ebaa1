"""Prosecutor, journalist and marketer: what the sizes of classes mean to three kinds of attackers.

A prosecutor knows that somebody is in the file; the risk of a record is 1/f, with f the records of
its class. A journalist does not; the risk is 1/F, with F the people of the class in the population.
Of both there are the highest risk, the average over records, and the share of records above a
threshold. A marketer wants many records, not a certain one: the expected share of records that are
matched rightly, which is the average of 1/F (or of 1/f where the file is the population). El Emam
2013, chapters 16 to 19. Exact; linear in classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    """What an attacker may hope for: the highest risk, the average, and the share above a threshold.

    All are None where there is no record.
    """

    highest: Fraction | None
    average: Fraction | None
    at_risk: Fraction | None


def attacker_risk(records: Mapping[int, int], threshold: Fraction) -> AttackerRisk:
    """Return the risk of records whose class has a known number of members.

    Parameters
    ----------
    records
        How many records there are in classes of each size: of the file for a prosecutor, of the
        population for a journalist.
    threshold
        A record is at risk where one over that size is above the threshold.

    Examples
    --------
    >>> attacker_risk({1: 1, 3: 3}, Fraction(1, 3))
    AttackerRisk(highest=Fraction(1, 1), average=Fraction(1, 2), at_risk=Fraction(1, 4))
    """
    held = {size: n for size, n in records.items() if n > 0}
    n_records = sum(held.values())
    if not n_records:
        return AttackerRisk(None, None, None)
    total = sum((Fraction(n, size) for size, n in held.items()), Fraction(0))
    exposed = sum(n for size, n in held.items() if Fraction(1, size) > threshold)
    return AttackerRisk(Fraction(1, min(held)), total / n_records, Fraction(exposed, n_records))


def estimated_risk(
    sizes: NDArray[np.integer[Any]],
    people: NDArray[np.floating[Any]],
    threshold: Fraction,
    counts: NDArray[np.int64] | None = None,
) -> tuple[float, float, float]:
    """Return a journalist's highest and average risk and share at risk, F estimated per record.

    Where one stands for several records, `counts` says for how many.

    Examples
    --------
    >>> estimated_risk(np.array([1, 0]), np.array([17.5, 0.0]), Fraction(1, 20))
    (0.05714285714285714, 0.05714285714285714, 1.0)
    """
    counted = np.asarray(sizes) > 0
    if not counted.any():
        return float("nan"), float("nan"), float("nan")
    # The population holds at least the sample, whatever the weights say.
    risk = 1 / np.maximum(people[counted], sizes[counted])
    each = None if counts is None else counts[counted]
    average, at_risk = (np.average(x, weights=each) for x in (risk, risk > float(threshold)))
    return float(risk.max()), float(average), float(at_risk)
