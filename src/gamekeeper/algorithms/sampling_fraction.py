"""Shares of a whole, such as sampling fractions, read exactly."""

from __future__ import annotations

import re
from fractions import Fraction

from gamekeeper.errors import InputError, Reason

FractionLike = str | float | Fraction
"""How a fraction may be given: '2%', '1/50', 0.02, Fraction(1, 50)."""

_LONG_EXPONENT = re.compile(r"e[+-]?\d{4}", re.IGNORECASE)


def read_share(value: FractionLike) -> tuple[str, Fraction | None]:
    """Return what was written, and the number that it is; None where it is none.

    Examples
    --------
    >>> read_share(" 25 %"), read_share("a few")
    (('25 %', Fraction(1, 4)), ('a few', None))
    """
    text = repr(float(value)) if isinstance(value, float) else str(value).strip()
    # A long exponent would make a number of that many digits before its size is known.
    if _LONG_EXPONENT.search(text):
        return text, None
    try:
        exact = Fraction(text.removesuffix("%").strip())
    except (ValueError, ZeroDivisionError):
        return text, None
    return text, exact / 100 if text.endswith("%") else exact


def parse_fraction(value: FractionLike) -> Fraction:
    """Read a sampling fraction above 0 and up to 1 exactly: '0.02', '1/50', '2%', 0.02.

    A float is taken at its shortest decimal form, so that 0.1 means 1/10.

    Examples
    --------
    >>> parse_fraction("2%"), parse_fraction(0.1)
    (Fraction(1, 50), Fraction(1, 10))
    """
    text, exact = read_share(value)
    if exact is None or not 0 < exact <= 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"The sampling fraction '{text[:40]}' was asked for.",
            "A sampling fraction is a share of the population, above 0 and up to 1.",
            "Write it as 0.02, 1/50 or 2%.",
        )
    return exact
