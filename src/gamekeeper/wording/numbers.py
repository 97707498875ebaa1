"""Counts and numbers as people would write them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

_A_MILLIONTH, _A_TENTH = 1e-6, 0.1
_LARGE = 10**15
_SHORT_POWER = 9


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count_of(1, "form"), count_of(3, "category", "categories")
    ('1 form', '3 categories')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def be(number: int) -> str:
    """Return the verb for so many.

    Examples
    --------
    >>> be(1), be(0)
    ('is', 'are')
    """
    return "is" if number == 1 else "are"


def there_are(number: int, singular: str, plural: str = "") -> str:
    """Return the beginning of a sentence that says how many there are.

    Examples
    --------
    >>> there_are(1, "problem"), there_are(1200, "class", "classes")
    ('There is 1 problem', 'There are 1,200 classes')
    """
    return f"There {be(number)} {count_of(number, singular, plural)}"


def number_text(value: Fraction | float) -> str:
    """Return a number with at most two decimals, ∞ where it is unbounded.

    Examples
    --------
    >>> number_text(Fraction(359, 31)), number_text(3.0), number_text(math.inf)
    ('11.58', '3', '∞')
    """
    if value == math.inf:
        return "∞"
    return f"{float(value):,.2f}".rstrip("0").rstrip(".")


def digits_text(number: Fraction | float, digits: int = 6) -> str:
    """Return a number with so many digits that count, and never as a power of ten.

    Examples
    --------
    >>> digits_text(1234.5678), digits_text(1e-7), digits_text(2.5e16), digits_text(1234, 2)
    ('1,234.57', '0.0000001', '25,000,000,000,000,000', '1,200')
    """
    text = f"{float(number):,.{digits}g}"
    return f"{Decimal(text):,f}" if "e" in text else text


def three_digits(number: Fraction | float) -> str:
    """Return an estimate for reading: three digits, or all before the point where there are more.

    Examples
    --------
    >>> three_digits(0.030523), three_digits(Fraction(2, 3)), three_digits(64.7058)
    ('0.0305', '0.667', '64.7')
    >>> three_digits(12345.6), three_digits(0.0000123), three_digits(6.21e-07)
    ('12,346', '0.0000123', 'less than 0.000001')
    """
    if 0 < number < _A_MILLIONTH:
        return "less than 0.000001"
    return digits_text(number, 3) if number < 100 else f"{float(number):,.0f}"


def expected_text(number: Fraction | float) -> str:
    """Return an expected number of people or records: nothing below a tenth of one.

    Examples
    --------
    >>> expected_text(1154.3), expected_text(0.42), expected_text(6.21e-07), expected_text(0)
    ('1,154', '0.42', 'fewer than 0.1', '0')
    """
    if 0 < number < _A_TENTH:
        return "fewer than 0.1"
    return f"{float(number):,.0f}" if number >= 10 else three_digits(number)


def people_text(number: Fraction | float) -> str:
    """Return how many people are met on average: one decimal where they are few.

    Examples
    --------
    >>> people_text(1), people_text(2.5), people_text(Fraction(359, 31)), people_text(87604.6)
    ('1 person', '2.5 people', '11.6 people', '87,605 people')
    """
    met = float(number)
    said = number_text(met if met == math.inf else round(met, 1 if met < 100 else None))
    return f"{said} {'person' if said == '1' else 'people'}"


def times_text(number: float) -> str:
    """Return how often something would be so by chance, in words.

    Examples
    --------
    >>> times_text(1.0), times_text(0.02), times_text(1234.5), times_text(1e-9)
    ('about once', 'about 0.02 times', 'about 1,234 times', 'less than once in a million times')
    """
    if 0 < number < _A_MILLIONTH:
        return "less than once in a million times"
    if 0.95 <= number < 1.05:
        return "about once"
    said = f"{number:,.0f}" if number >= 10 else digits_text(number, 2)
    return f"about {said} times"


def large_text(number: int) -> str:
    """Return an exact count of any size, by its length where nobody reads all its digits.

    Examples
    --------
    >>> large_text(1_234_567), large_text(7 * 10**400)
    ('1,234,567', 'more than a million billion (a number of 401 digits)')
    """
    if number < _LARGE:
        return f"{number:,}"
    digits = Decimal(number).adjusted() + 1
    return f"more than a million billion (a number of {digits:,} digits)"


def magnitude_text(number: float) -> str:
    """Return how much there would be to do, which can be more than a float holds.

    Examples
    --------
    >>> magnitude_text(1_234_567), magnitude_text(7 * 10**400)
    ('1,234,567', 'more than a billion (a number of 401 digits)')
    """
    return f"{number:,.0f}" if number < 10**_SHORT_POWER else power_text(math.log10(number))


def power_text(power: float) -> str:
    """Return an estimate of any size, given as a power of ten.

    Examples
    --------
    >>> power_text(3.5), power_text(412.34)
    ('about 3,162', 'more than a billion (a number of 413 digits)')
    """
    if power < _SHORT_POWER:
        return f"about {10**power:,.0f}"
    return f"more than a billion (a number of {math.floor(power) + 1:,} digits)"


def shape_text(shape: Iterable[int]) -> str:
    """Return the shape of a table, which has one cell if it has no axes.

    Examples
    --------
    >>> shape_text([2, 3]), shape_text([])
    ('2 x 3', '1')
    """
    return " x ".join(map(str, shape)) or "1"


def memory_text(n_bytes: float) -> str:
    """Return an amount of memory in gigabytes, a small one in megabytes.

    Examples
    --------
    >>> memory_text(3.2e9), memory_text(40e6)
    ('3.2 GB', '40 MB')
    """
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:,.0f} MB"


def duration_text(seconds: float) -> str:
    """Return how long something takes, roughly.

    Examples
    --------
    >>> duration_text(12.3), duration_text(900), duration_text(9000), duration_text(200_000)
    ('12 seconds', '15 minutes', '2.5 hours', '2.3 days')
    """
    for least, unit, name in ((172_800, 86_400, "days"), (7_200, 3_600, "hours")):
        if seconds >= least:
            return f"{digits_text(seconds / unit, 2)} {name}"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{max(seconds, 1):.0f} seconds"


def cell_text(cell: Any) -> str:
    """Return a cell of a table as people read it: four digits, thousands apart, a dash for none.

    Examples
    --------
    >>> cell_text(0.123456), cell_text(12345), cell_text(None), cell_text(1e-7)
    ('0.1235', '12,345', '—', '1e-07')
    """
    if cell is None:
        return "—"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 10_000 else f"{cell:.4g}"
    return str(cell)


def categories_text(number: float) -> str:
    """Return a number of categories with its noun.

    Examples
    --------
    >>> categories_text(1), categories_text(math.inf)
    ('1 category', 'any level of detail')
    """
    if number == math.inf:
        return "any level of detail"
    return count_of(int(number), "category", "categories")


def asking_text(n_asking: int, n_forms: int, n_set_aside: int) -> str:
    """Say how many of the forms ask for a variable, and how many of those are set aside.

    Examples
    --------
    >>> asking_text(9, 46, 1)
    '9 of 46 forms ask for it, 1 of them set aside'
    """
    if n_forms == 1:
        text = "the one form asks for it" if n_asking else "the one form does not ask for it"
        return f"{text}, and is set aside" if n_set_aside else text
    asking = "asks" if n_asking == 1 else "ask"
    text = f"{n_asking or 'none'} of {n_forms:,} forms {asking} for it"
    if not n_set_aside:
        return text
    if n_set_aside == n_asking:
        return f"{text}, and is set aside" if n_asking == 1 else f"{text}, all of them set aside"
    return f"{text}, {n_set_aside} of them set aside"
