"""Numbers written as text, read exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)

# Brackets, notes and the name of what is counted: '(<5)', '<5*', 'n < 5', 'suppressed: 1-4'.
_AROUND = re.compile(r"^(?:(?:n|count|suppressed|hidden)\b)?[\s:\[(*]*|[\s\])*]*$")
_BELOW = re.compile(
    r"(?:<|less than|fewer than|under|below|unter|weniger als|moins de|menos de)\s*(\d.*)"
)
_AT_MOST = re.compile(
    r"(?:<=|=<|≤|⩽|≦|up to|at most|no more than|not more than|max\.?|maximum|bis zu|bis)\s*(\d.*)"
)
_OR_FEWER = re.compile(r"(\d[\d.,]*)\s*(?:or|and)\s*(?:fewer|less|under|below|lower)")
_BETWEEN = re.compile(
    r"(?:between\s+|from\s+)?(\d[\d.,]*)\s*(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|\u2212|to|and|bis|\.\.\.?|…)\s*(\d[\d.,]*)"
)
_ABOVE = re.compile(r"(?:>|more than|greater than|over|above|über|mehr als|plus de)\s*(\d.*)")
_AT_LEAST = re.compile(
    r"(?:>=|=>|≥|⩾|≧|at least|from|no fewer than|not less than|min\.?|ab)\s*(\d.*)"
)
_OR_MORE = re.compile(r"(\d[\d.,]*)\s*(?:\+|(?:or|and)\s*(?:more|over|above|greater|higher))")
# Which group of each pattern is the least, and which the largest; 0 for none.
_LIMITS = (
    (_BELOW, 0, 1),
    (_AT_MOST, 0, 1),
    (_OR_FEWER, 0, 1),
    (_BETWEEN, 1, 2),
    (_ABOVE, 1, 0),
    (_AT_LEAST, 1, 0),
    (_OR_MORE, 1, 0),
)
_LIKE_A_LIMIT = re.compile(
    r"[<>≤≥⩽⩾≦≧]|\b(?:than|under|below|over|above|most|least|fewer|less|more|up to)\b"
)
_NUMBER_IN = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b"
)

# Python refuses to read longer ones.
_LONGEST = 4_000
_LONGEST_LIMIT = 80


def number_of(text: str, decimal: str = ".") -> Fraction | None:
    """Return the number that a value is written as, exactly; None when it is not a number.

    Parameters
    ----------
    text
        A value as text. Spaces around it do not matter; thousands are not grouped.
    decimal
        The decimal mark of the file, `.` or `,`. The other mark is not read: it may group digits.

    Examples
    --------
    >>> number_of("007"), number_of("1,5", ","), number_of("1,5")
    (Fraction(7, 1), Fraction(3, 2), None)
    """
    bare = text.strip()
    if decimal == ",":
        bare = bare.replace(".", " ").replace(",", ".")
    is_number = len(bare) <= _LONGEST and _NUMBER.fullmatch(bare)
    return Fraction(bare) if is_number else None


def float_of(number: Fraction) -> float:
    """Return a number as a float; one that is too large for it is infinite, as its text would be."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Limits:
    """What a text such as '<5' says of a number; None where it says nothing.

    Attributes
    ----------
    low, high
        The least and the largest number.
    is_above, is_below
        Whether the number is above the one, and below the other, and not equal to it.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    is_above: bool = False
    is_below: bool = False

    def of_whole(self) -> tuple[int | None, int | None]:
        """Return the least and the largest whole number."""
        low, high = self.low, self.high
        least = None if low is None else math.floor(low) + 1 if self.is_above else math.ceil(low)
        most = None if high is None else math.ceil(high) - 1 if self.is_below else math.floor(high)
        return least, most


def limits_of(text: str, decimal: str = ".") -> Limits | None:
    """Return the limits that a text gives in place of a number; None where it gives none.

    Raises
    ------
    ValueError
        It gives limits that cannot be read.

    Examples
    --------
    >>> limits_of("<5").of_whole(), limits_of("1-4").of_whole(), limits_of("5 or fewer").of_whole()
    ((None, 4), (1, 4), (None, 5))
    >>> limits_of("5"), limits_of("North")
    (None, None)
    """
    bare = " ".join(text.casefold().split())
    is_short = len(bare) <= _LONGEST_LIMIT
    bare = _AROUND.sub("", bare) if is_short else bare
    if number_of(bare, decimal) is not None:
        return None
    for pattern, of_low, of_high in _LIMITS if is_short else ():
        match = pattern.fullmatch(bare)
        if match is None:
            continue
        low, high = (_grouped(match[own], decimal) if own else None for own in (of_low, of_high))
        is_read = (low is not None or not of_low) and (high is not None or not of_high)
        made = Limits(low, high, pattern is _ABOVE, pattern is _BELOW)
        if not is_read or (low is not None and high is not None and low > high):
            raise ValueError
        return made
    if _LIKE_A_LIMIT.search(bare) and _NUMBER_IN.search(bare):
        raise ValueError
    return None


def may_be_limit(text: str, decimal: str = ".") -> bool:
    """Whether a text that is no number has one in it, so that it may tell a limit in words unknown here.

    Examples
    --------
    >>> may_be_limit("LT5"), may_be_limit("one to four"), may_be_limit("c"), may_be_limit("-99")
    (True, True, False, False)
    """
    return number_of(text, decimal) is None and bool(_NUMBER_IN.search(text.casefold()))


def _grouped(text: str, decimal: str) -> Fraction | None:
    """Return a number whose thousands may be grouped."""
    mark = r"[, \u2009\u202f]" if decimal == "." else r"[. \u2009\u202f]"
    is_grouped = re.fullmatch(rf"\d{{1,3}}(?:{mark}\d{{3}})+", text)
    return number_of(re.sub(mark, "", text) if is_grouped else text, decimal)


def floats_of(texts: Iterable[str], decimal: str) -> NDArray[np.float64]:
    """Return the numbers that values are written as, NaN where one is not a number."""
    read = (number_of(text, decimal) for text in texts)
    return np.array([np.nan if number is None else float_of(number) for number in read])
