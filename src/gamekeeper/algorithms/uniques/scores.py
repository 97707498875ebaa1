"""Scores of sample uniques: weights by size of minimal sample unique (MSU), and sums of them.

With ATT key variables and a MSU of s variables, the SUDA score of 2002 gives the weight
floor(10^power (2^(ATT-s) - 1) / C(ATT, s)) and the intermediate score IS the weight (ATT-s)!, the
number of paths from the MSU up to the whole key. POL = IS / ATT! is at most 1. Tools that search
up to M variables only use prod_{i=s}^{M-1} (ATT-i), here `TOOL_IS`. Every score of a record,
variable, category or file is a sum of such weights, so it follows from counts of MSUs by size.

Elliot and Manning 2003; Smith's thesis, chapter 8. Note that the 2002 weight is 0 for s = ATT and
does not fall steadily with s (ATT = 12: more for 11 variables than for 8). Weights are exact
integers; (ATT-s)! is beyond int64 for ATT-s > 20, where sums are Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Problem, Reason

_MOST_POWER = 18
_INT64_MOST = int(np.iinfo(np.int64).max)


class ScoreKind(StrEnum):
    """How a minimal sample unique is weighted by its size."""

    SUDA = "suda"
    IS = "is"
    TOOL_IS = "tool_is"


def size_weights(
    n_variables: int,
    kind: ScoreKind | str = ScoreKind.IS,
    *,
    power: int = 6,
    max_size: int | None = None,
) -> tuple[int, ...]:
    """Return the exact weight of a MSU of each size 0 .. max_size.

    Parameters
    ----------
    n_variables
        The number of key variables (ATT), at least 1.
    kind
        Which score: 'suda' (2002), 'is', or 'tool_is' (IS as tools with a largest size have it).
    power
        The power of ten of the SUDA score; each weight is cut to an integer after multiplying.
    max_size
        The largest size that was searched; all sizes by default. Only 'tool_is' depends on it.

    Examples
    --------
    >>> size_weights(4, "is")
    (24, 6, 2, 1, 1)
    >>> size_weights(4, "suda", power=2)
    (1500, 175, 50, 25, 0)
    >>> size_weights(4, "tool_is", max_size=3)
    (24, 6, 2, 1)
    """
    largest = n_variables if max_size is None else max_size
    problems = [
        Problem(Reason.BAD_OPTION, name, f"{found} was given.", do)
        for name, found, is_right, do in (
            ("n_variables", n_variables, n_variables >= 1, "Give 1 or more."),
            ("power", power, 0 <= power <= _MOST_POWER, f"Give 0 to {_MOST_POWER}."),
            ("max_size", largest, 0 <= largest <= n_variables, "Give 0 to the number of keys."),
        )
        if not is_right
    ]
    if kind not in set(ScoreKind):
        kinds = ", ".join(f"'{known}'" for known in ScoreKind)
        problems.append(Problem(Reason.BAD_OPTION, "kind", "It is not known.", f"Use {kinds}."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Weights of minimal sample uniques were asked for.",
            "They cannot be given as asked.",
            problems=problems,
        )
    sizes = range(largest + 1)
    if kind == ScoreKind.SUDA:
        return tuple(
            10**power * (2 ** (n_variables - size) - 1) // math.comb(n_variables, size)
            for size in sizes
        )
    top = n_variables if kind == ScoreKind.IS else largest
    return tuple(math.prod(n_variables - i for i in range(size, top)) for size in sizes)


def weigh(
    counts: NDArray[np.integer[Any]], weights: Sequence[int], *, exact: bool = True
) -> NDArray[Any]:
    """Return the score of every line of a table of MSU counts by size.

    Parameters
    ----------
    counts
        Numbers of MSUs; the last axis is the size 0 .. max_size. A line may be a record, a
        variable, a category or the whole file.
    weights
        What `size_weights` returned for the same sizes.
    exact
        Exact integers (int64 where every sum fits, else an array of Python integers) or, if
        false, float64 with a relative error of some 1e-16 per size.

    Examples
    --------
    >>> weigh(np.array([[0, 1, 0, 2, 0], [0, 0, 3, 0, 0]]), size_weights(4, "is"))
    array([8, 6])
    """
    if counts.shape[-1] != len(weights):
        raise InputError(
            Reason.BAD_OPTION,
            f"Counts for {counts.shape[-1]} sizes were to be weighted.",
            f"There are weights for {len(weights)} sizes.",
            "Use size_weights with the largest size that was searched.",
        )
    if not exact:
        return counts.astype(np.float64) @ np.array([float(weight) for weight in weights])
    most = counts.reshape(-1, len(weights)).max(axis=0, initial=0)
    if sum(int(n) * weight for n, weight in zip(most, weights, strict=True)) <= _INT64_MOST:
        # A weight that no MSU has may be beyond int64 by itself.
        small = [weight if n else 0 for n, weight in zip(most, weights, strict=True)]
        return counts.astype(np.int64) @ np.array(small, dtype=np.int64)
    lines = counts.reshape(-1, len(weights)).tolist()
    sums = np.empty(len(lines), dtype=object)
    sums[:] = [sum(n * weight for n, weight in zip(line, weights, strict=True)) for line in lines]
    return sums.reshape(counts.shape[:-1])


def proportions_of_lattice(
    scores: NDArray[Any], n_variables: int, *, exact: bool = False
) -> NDArray[Any]:
    """Return POL, the IS scores as shares of ATT!; exact fractions as an array of objects.

    Examples
    --------
    >>> proportions_of_lattice(np.array([6, 12]), 4)
    array([0.25, 0.5 ])
    >>> proportions_of_lattice(np.array([7]), 4, exact=True).tolist()
    [Fraction(7, 24)]
    """
    whole = math.factorial(n_variables)
    if exact:
        shares = np.empty(len(scores), dtype=object)
        shares[:] = [Fraction(int(score), whole) for score in scores]
        return shares
    return scores.astype(np.float64) / float(whole)


def percentages(levels: Iterable[int], total: int) -> tuple[float, ...] | None:
    """Return levels as percentages of the file's score, or None where that score is 0.

    A MSU of s variables counts for each of them, so the variables of a file sum to more than 100.

    Examples
    --------
    >>> percentages([4, 3, 3], 8)
    (50.0, 37.5, 37.5)
    """
    if total == 0:
        return None
    return tuple(float(Fraction(100 * int(level), int(total))) for level in levels)
