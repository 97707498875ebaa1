"""Simple and stratified random samples of a population, with design weights."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.sampling_fraction import FractionLike, parse_fraction
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

WEIGHT = "Weight"
"""The column with the design weights of a sample."""


def sample_population(
    table: pa.Table, fraction: float | str | Fraction, *, seed: int, stratify_by: str = ""
) -> pa.Table:
    """Draw a random sample without replacement, in file order, and add its design weights.

    Parameters
    ----------
    table
        The population, one row per person.
    fraction
        The sampling fraction, above 0 and up to 1; a float means its shortest decimal form, so
        that 0.02 is 1/50. '2%' and '1/50' can be given too.
    seed
        One seed gives one sample of a table, on every platform.
    stratify_by
        The variable whose categories are the strata; missing values are a stratum too. Without
        it the sample is simple. Each stratum gives its share of the sample, up to rounding, and
        at least one person, so that its weights can sum to the people in it.

    Returns
    -------
    pyarrow.Table
        The rows in the sample with the column 'Weight': people per sampled person, by stratum.

    Examples
    --------
    >>> from gamekeeper.data.population import make_population
    >>> sample = sample_population(make_population(1000), 0.02, seed=1)
    >>> sample.num_rows, sum(sample["Weight"].to_pylist())
    (20, 1000.0)
    """
    import pyarrow as pa

    exact = _exact(fraction)
    _check(table, exact, seed, stratify_by)
    stratum = _strata(table, stratify_by)
    sizes = np.bincount(stratum)
    taken = _shares(sizes, exact)
    # A stable sort by stratum, then by chance, puts those to be taken first in their stratum.
    chance = np.random.PCG64(np.random.SeedSequence(int(seed))).random_raw(table.num_rows)
    order = np.lexsort((chance, stratum))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.sort(order[rank < np.repeat(taken, sizes)])
    weight = (sizes / taken)[stratum[chosen]]
    return table.take(pa.array(chosen)).append_column(WEIGHT, pa.array(weight))


def _exact(fraction: FractionLike) -> Fraction:
    """Return the sampling fraction, or 0 where it is none."""
    try:
        return parse_fraction(fraction)
    except InputError:
        return Fraction(0)


def _check(table: pa.Table, fraction: Fraction, seed: object, stratify_by: str) -> None:
    names: list[str] = table.column_names
    problems: list[Problem] = []
    if not table.num_rows:
        problems.append(Problem(Reason.NOTHING_GIVEN, "table", "It has no rows."))
    if not fraction:
        found = "It is not a number above 0 and up to 1."
        problems.append(Problem(Reason.BAD_OPTION, "fraction", found, "Write 0.02, 1/50 or 2%."))
    if not isinstance(seed, Integral) or seed < 0:
        found = "It is not a whole number of 0 or more."
        problems.append(Problem(Reason.BAD_OPTION, "seed", found, "Give such a number."))
    if stratify_by and stratify_by not in names:
        found = f"The table has no column '{stratify_by}'."
        near = did_you_mean(stratify_by, names)
        problems.append(Problem(Reason.UNKNOWN_NAME, "stratify_by", found, near))
    if WEIGHT in names:
        found = f"It has a column '{WEIGHT}' already."
        problems.append(Problem(Reason.DUPLICATE, "table", found, "Rename or drop that column."))
    refuse(
        problems,
        "A sample of a population was asked for.",
        "What was given cannot be used.",
        "Correct these:",
    )


def _strata(table: pa.Table, stratify_by: str) -> NDArray[np.int64]:
    """Return the number of the stratum of each row, in the order of first appearance."""
    if not stratify_by:
        return np.zeros(table.num_rows, dtype=np.int64)
    column = table[stratify_by].combine_chunks()
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _shares(sizes: NDArray[np.int64], fraction: Fraction) -> NDArray[np.int64]:
    """Return how many to take of each stratum: whole shares, then by largest remainder."""
    exact = [int(size) * fraction for size in sizes]
    whole = [math.floor(share) for share in exact]
    wanted = math.floor(sum(exact) + Fraction(1, 2))
    remainders = sorted(range(len(exact)), key=lambda at: (whole[at] - exact[at], at))
    for at in remainders[: wanted - sum(whole)]:
        whole[at] += 1
    return np.maximum(np.array(whole, dtype=np.int64), 1)
