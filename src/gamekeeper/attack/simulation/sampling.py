"""Records drawn from a notional population without replacement, simply or by strata.

A stratified sample is drawn with proportional allocation: the records are put in the order of
their strata, at random within a stratum, and every (N/n)-th one is taken from a random start. A
stratum of N_h records gives N_h n/N of them, rounded up or down, and every record of the
population has the same chance n/N. Strata may be as small as households, where most give none.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sample_size(n_records: int, fraction: Fraction) -> int:
    """Return the number of records in a sample: the nearest whole number, halves upwards.

    Examples
    --------
    >>> sample_size(10_000, Fraction(3, 100)), sample_size(10, Fraction(1, 4))
    (300, 3)
    """
    return math.floor(n_records * fraction + Fraction(1, 2))


def draw_records(
    n_records: int,
    n_drawn: int,
    generator: np.random.Generator,
    strata: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return the positions of the records of one sample, in ascending order.

    0 < n_drawn <= n_records; the sample depends on nothing but the generator. Strata are one number per
    record; neighbouring numbers share what rounding leaves over.

    Examples
    --------
    >>> halves = np.repeat(np.array([0, 1], np.int32), 10)
    >>> drawn = draw_records(20, 4, np.random.default_rng(1), halves)
    >>> np.bincount(halves[drawn]).tolist()
    [2, 2]
    """
    if strata is None:
        drawn = generator.choice(n_records, n_drawn, replace=False, shuffle=False)
    else:
        order = np.lexsort((generator.random(n_records), strata))
        # Whole numbers: with floats the last record could be taken twice or not at all.
        start = int(generator.integers(n_records))
        drawn = order[(np.arange(n_drawn, dtype=np.int64) * n_records + start) // n_drawn]
    return np.sort(drawn).astype(np.int64, copy=False)
