"""Rank swapping: two records whose values are near in rank exchange them.

Records are ranked by their value, equal ones by lot. From the lowest rank on, a record that has no
partner yet takes one of those without partner at most L = floor(share n) ranks above it, each with the
same chance; a record for which none is left stays as it is. So all values stay, and none moves further
than L ranks. Where values are equal, a rank is any rank with that value, and the distance between two
values is the smallest between their ranks.

Moore, Controlled data-swapping techniques for masking public use microdata sets (1996), with partners
drawn from all that are free in the window. Time n log n, memory some five numbers per record.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.perturbation.mdav import Floats, checked_numbers
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, exact_percent


def swapped_within(n_records: int, share: Fraction) -> int:
    """Return how many ranks a value may move, or raise where that is none.

    Examples
    --------
    >>> swapped_within(10, Fraction(1, 4))
    2
    """
    limit = int(share * n_records)
    if not 0 < share <= 1 or limit < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Values of {count_of(n_records, 'record')} were to change places within"
            f" {exact_percent(share)} of the ranks.",
            "That is less than one rank." if share <= 1 else "That is more than all.",
            "Give a share above 0, up to 1, of which there is a rank at least.",
        )
    return limit


def rank_swapped(values: ArrayLike, share: Fraction, draws: NDArray[np.float64]) -> Floats:
    """Return the values of one variable with partners exchanged.

    `share` of the ranks is how far a value may move. There are two draws per record, from 0 to
    below 1: one ranks equal values, one chooses a partner.

    Examples
    --------
    >>> rank_swapped([3, 1, 2, 4], Fraction(1, 4), np.full((4, 2), 0.5)).tolist()
    [4.0, 2.0, 1.0, 3.0]
    """
    numbers = checked_numbers(np.asarray(values, dtype=np.float64)[:, None])[:, 0]
    limit = swapped_within(len(numbers), share)
    from gamekeeper.algorithms.perturbation.rank_swapping_kernels import partners

    order = np.lexsort((draws[:, 0], numbers))
    partner = partners(np.ascontiguousarray(draws[order, 1]), limit)
    changed = np.empty_like(numbers)
    changed[order] = numbers[order[partner]]
    return changed


class SwapCheck(NamedTuple):
    """What became of the values of one variable."""

    same_values: bool
    rank_differences: list[int]
    within_limit: bool
    unchanged: int


def check_swap(before: ArrayLike, after: ArrayLike, share: Fraction) -> SwapCheck:
    """Tell whether values only changed places, and how many ranks each moved.

    A value that was not there before is as far away as the place where it would stand.

    Examples
    --------
    >>> check_swap([1, 2, 3], [2, 1, 3], Fraction(1, 3))
    SwapCheck(same_values=True, rank_differences=[1, 1, 0], within_limit=True, unchanged=1)
    """
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    ordered = np.sort(old)
    first_old, last_old = _ranks(ordered, old)
    first_new, last_new = _ranks(ordered, new)
    apart = np.maximum(0, np.maximum(first_new - last_old, first_old - last_new))
    return SwapCheck(
        same_values=bool(np.array_equal(ordered, np.sort(new))),
        rank_differences=apart.tolist(),
        within_limit=bool((apart <= int(share * len(old))).all()),
        unchanged=int(np.count_nonzero(old == new)),
    )


def _ranks(ordered: Floats, values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first = np.searchsorted(ordered, values, "left")
    return first, np.maximum(first, np.searchsorted(ordered, values, "right") - 1)
