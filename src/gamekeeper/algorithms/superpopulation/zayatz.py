"""Population uniques by Zayatz: sizes of classes in the population are taken to be those of the sample.

Of a class of the population with F people, a sample of n of N has exactly one with probability
p(F) = F C(N-F, n-1) / C(N, n). With w(F) the share of the sample's classes that have size F, a class
with one record in the sample is one with one person in the population with probability

    Pr(F=1 | f=1) = w(1) p(1) / sum_F w(F) p(F)

Times the sample uniques that is the number of them that are population uniques. Classes of the
population are larger than those of a sample, so that this errs upwards for small fractions. Zayatz
1991. Linear in the number of different sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from gamekeeper.algorithms.superpopulation.class_structure import sizes_and_numbers


@dataclass(frozen=True, slots=True)
class ZayatzEstimate:
    """The chance that a sample unique is a population unique, and how many in the file would be."""

    pr_population_unique: float
    uniques_of_both: float


def estimate_zayatz(structure: Mapping[int, int], population: int) -> ZayatzEstimate | None:
    """Return the estimate, or None where the sample has no unique.

    `structure` has how many classes of the sample there are of each size; `population` is the number
    of people, at least that of the records.

    Examples
    --------
    >>> found = estimate_zayatz({1: 2, 2: 1}, 8)
    >>> found is not None and round(found.pr_population_unique, 6)
    0.636364
    """
    sizes, numbers = sizes_and_numbers(structure)
    n, people = float(sizes @ numbers), float(population)
    if not structure.get(1) or people < n:
        return None
    # A class larger than what is left outside the sample cannot have one record in it.
    possible = people - sizes >= n - 1
    of_size = sizes[possible]
    log_one = (
        np.log(of_size)
        + gammaln(people - of_size + 1)
        - gammaln(people - of_size - n + 2)
        - gammaln(n)
    )
    weighted = numbers[possible] * np.exp(log_one - log_one[0])
    chance = float(weighted[0] / weighted.sum())
    return ZayatzEstimate(chance, structure[1] * chance)
