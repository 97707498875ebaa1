"""Dates of a column, in the ways people write them, and what could not be read.

2031-05-01 and 20310501 are read as they stand, 1.5.2031, 1/5/2031 and 1-5-2031 day first, unless more
values of the column with that mark can be read month first. Where all can be read either way, dates of
the other file may tell: the reading that has more of them is chosen. Nothing else is guessed: two digits of a
year have no century.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

_WHOLE = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?:[T ].*)?")
_BARE = re.compile(r"(\d{4})(\d{2})(\d{2})")
_SMALL_FIRST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})(?:[T ].*)?")
_YEARS = range(1800, 2200)


@dataclass(frozen=True, eq=False)
class ReadDates:
    """Days of distinct values, NaN where a value is no date; how they are written, in words.

    `is_ambiguous` where all values with a mark can be read day first and month first; `by_other` says
    which of these was chosen by other dates, nothing where they did not tell.
    """

    days: NDArray[np.float64]
    ways: tuple[str, ...]
    is_ambiguous: bool
    by_other: str = ""

    @property
    def n_bad(self) -> int:
        """The number of values that are no dates."""
        return int(np.count_nonzero(np.isnan(self.days)))


def read_dates(values: Sequence[str], other: Sequence[float] = ()) -> ReadDates:
    """Read distinct values of a column as dates; `other` has days that they may agree with.

    Examples
    --------
    >>> found = read_dates(["2031-05-01", "20310501", "5/13/2031", "31.2.2031"])
    >>> found.days.tolist(), found.ways
    ([741563.0, 741563.0, 741575.0, nan], ('year-month-day', 'yearmonthday', 'month/day/year'))
    """
    month_first: set[str] = set()
    is_ambiguous, days_of_other = False, set(other)
    chosen: dict[str, None] = {}
    for mark in "./-":
        small = [m for m in map(_SMALL_FIRST.fullmatch, values) if m and m[2] == mark]
        days_first = [_day(int(m[4]), int(m[3]), int(m[1])) for m in small]
        months_first = [_day(int(m[4]), int(m[1]), int(m[3])) for m in small]
        n_day, n_month = (
            sum(not math.isnan(x) for x in side) for side in (days_first, months_first)
        )
        if n_month > n_day:
            month_first.add(mark)
        # Where all could be either, which it is remains a guess.
        is_open = bool(small) and n_day == n_month and days_first != months_first
        is_ambiguous |= is_open
        shared = [len(days_of_other.intersection(side)) for side in (days_first, months_first)]
        if is_open and shared[0] != shared[1]:
            chosen["day first" if shared[0] > shared[1] else "month first"] = None
            if shared[1] > shared[0]:
                month_first.add(mark)
    days: list[float] = []
    ways: dict[str, None] = {}
    for value in values:
        day, way = _read(value, month_first)
        days.append(day)
        if not math.isnan(day):
            ways[way] = None
    return ReadDates(np.array(days, np.float64), tuple(ways), is_ambiguous, " and ".join(chosen))


def _read(value: str, month_first: set[str]) -> tuple[float, str]:
    whole = _WHOLE.fullmatch(value)
    if whole:
        return _day(int(whole[1]), int(whole[2]), int(whole[3])), "year-month-day"
    bare = _BARE.fullmatch(value)
    if bare:
        return _day(int(bare[1]), int(bare[2]), int(bare[3])), "yearmonthday"
    small = _SMALL_FIRST.fullmatch(value)
    if not small:
        return math.nan, ""
    mark = small[2]
    if mark in month_first:
        return _day(int(small[4]), int(small[1]), int(small[3])), f"month{mark}day{mark}year"
    return _day(int(small[4]), int(small[3]), int(small[1])), f"day{mark}month{mark}year"


def _day(year: int, month: int, day: int) -> float:
    if year not in _YEARS:
        return math.nan
    try:
        return float(date(year, month, day).toordinal())
    except ValueError:
        return math.nan
