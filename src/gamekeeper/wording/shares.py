"""Shares in percent: as exact as they are known, and no further."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from gamekeeper.wording.numbers import digits_text, number_text, three_digits

_A_MILLIONTH = 1e-6


def exact_percent(share: Fraction) -> str:
    """Return a share that somebody chose, and as a fraction besides where two decimals are not it.

    Examples
    --------
    >>> exact_percent(Fraction(1, 5)), exact_percent(Fraction(1, 3))
    ('20%', '1/3, about 33.33%')
    """
    text = f"{number_text(100 * share)}%"
    return text if (share * 10_000).denominator == 1 else f"{share}, about {text}"


def percent_text(share: float | None) -> str:
    """Return a share that was counted or measured, to a tenth of a percent; a dash for none.

    Examples
    --------
    >>> percent_text(0.1234), percent_text(None)
    ('12.3%', '—')
    """
    return "—" if share is None else f"{share:.1%}"


def percent_range(low: float, high: float) -> str:
    """Return the ends of an interval of measured shares.

    Examples
    --------
    >>> percent_range(0.1234, 0.5)
    '12.3% to 50.0%'
    """
    return f"{percent_text(low)} to {percent_text(high)}"


def share_text(share: Fraction | float) -> str:
    """Return a share with three digits, however small: of a risk, a tenth of a percent is much.

    Examples
    --------
    >>> share_text(Fraction(2, 3)), share_text(0.0000123), share_text(6.21e-07)
    ('66.7%', '0.00123%', 'less than one in a million')
    """
    if 0 < share < _A_MILLIONTH:
        return "less than one in a million"
    return f"{three_digits(100 * share)}%"


def fraction_text(fraction: Fraction | None) -> str:
    """Return a sampling fraction in percent, with four digits.

    Examples
    --------
    >>> fraction_text(Fraction(1, 50)), fraction_text(Fraction(1, 3)), fraction_text(None)
    ('2%', '33.33%', 'not known')
    """
    return "not known" if fraction is None else f"{digits_text(fraction * 100, 4)}%"


def fractions_text(fractions: Iterable[Fraction]) -> str:
    """Return some sampling fractions.

    Examples
    --------
    >>> fractions_text([Fraction(1, 50), Fraction(1, 10)])
    '2%, 10%'
    """
    return ", ".join(map(fraction_text, fractions))
