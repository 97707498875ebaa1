"""Numbers written as text, read exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)

# Python refuses to read longer ones.
_LONGEST = 4_000


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


def floats_of(texts: Iterable[str], decimal: str) -> NDArray[np.float64]:
    """Return the numbers that values are written as, NaN where one is not a number."""
    read = (number_of(text, decimal) for text in texts)
    return np.array([np.nan if number is None else float_of(number) for number in read])
