"""Whether values, or households, that changed places did only that: what swapping must keep.

A household moves as a whole, nothing but geography changes, and the number of households of each
profile in each area stays: a profile is the sorted list of what the people of a household have in
the variables that were matched on. Swapping itself is not done here; this checks anybody's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Record = Mapping[str, Any]


class HouseholdSwap(NamedTuple):
    """What became of households."""

    households_whole: bool
    only_geography_changed: bool
    moved_households: list[Any]
    profile_by_area_counts_kept: bool


def check_household_swap(
    before: Sequence[Record],
    after: Sequence[Record],
    *,
    household: str,
    geography: Sequence[str],
    match_on: Sequence[str],
) -> HouseholdSwap:
    """Compare records before and after, in the same order.

    Examples
    --------
    >>> before = [{"hh": 1, "area": "A", "sex": "f"}, {"hh": 2, "area": "B", "sex": "f"}]
    >>> after = [{"hh": 1, "area": "B", "sex": "f"}, {"hh": 2, "area": "A", "sex": "f"}]
    >>> check_household_swap(
    ...     before, after, household="hh", geography=["area"], match_on=["sex"]
    ... ).moved_households
    [1, 2]
    """
    only = len(before) == len(after) and all(
        {**old, **dict.fromkeys(geography)} == {**new, **dict.fromkeys(geography)}
        for old, new in zip(before, after, strict=False)
    )
    homes = dict.fromkeys(record[household] for record in before)
    places = [_places(records, household, geography) for records in (before, after)]
    # Whole is who lives in one place afterwards, if all did so before.
    whole = all(len(places[1].get(home, ())) == 1 for home in homes if len(places[0][home]) == 1)
    counts = [_profiles(records, household, geography, match_on) for records in (before, after)]
    return HouseholdSwap(
        households_whole=whole,
        only_geography_changed=only,
        moved_households=[home for home in homes if places[0][home] != places[1].get(home)],
        profile_by_area_counts_kept=counts[0] == counts[1],
    )


def _places(
    records: Sequence[Record], household: str, geography: Sequence[str]
) -> dict[Any, set[tuple[Any, ...]]]:
    found: dict[Any, set[tuple[Any, ...]]] = {}
    for record in records:
        place = tuple(record[name] for name in geography)
        found.setdefault(record[household], set()).add(place)
    return found


def _profiles(
    records: Sequence[Record], household: str, geography: Sequence[str], match_on: Sequence[str]
) -> Counter[tuple[Any, ...]]:
    people: dict[Any, list[tuple[str, ...]]] = {}
    places: dict[Any, tuple[Any, ...]] = {}
    for record in records:
        people.setdefault(record[household], []).append(tuple(str(record[n]) for n in match_on))
        places.setdefault(record[household], tuple(record[name] for name in geography))
    return Counter((places[home], tuple(sorted(members))) for home, members in people.items())


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


def _ranks(
    ordered: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first = np.searchsorted(ordered, values, "left")
    return first, np.maximum(first, np.searchsorted(ordered, values, "right") - 1)
