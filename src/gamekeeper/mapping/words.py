"""Numbers and lists as people would write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from gamekeeper.errors import count_of, on_one_line

__all__ = [
    "asking_text",
    "categories_text",
    "joined",
    "listed",
    "number_text",
    "percent_text",
    "short",
]

_LABEL_LETTERS = 80


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


def percent_text(share: Fraction) -> str:
    """Return a share in percent, and as a fraction besides where two decimals are not exact.

    Examples
    --------
    >>> percent_text(Fraction(1, 5)), percent_text(Fraction(1, 3))
    ('20%', '1/3, about 33.33%')
    """
    text = f"{number_text(100 * share)}%"
    return text if (share * 10_000).denominator == 1 else f"{share}, about {text}"


def short(text: str, most: int = _LABEL_LETTERS) -> str:
    r"""Return a text on one line, without what cannot be seen, cut after so many letters.

    Examples
    --------
    >>> short("one\ntwo three", 8)
    'one two…'
    """
    return on_one_line(" ".join(text[: 10 * most].split()), most)


def listed(names: Sequence[str], most: int) -> str:
    """Return names with semicolons, and the number of those left out.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a; b; and 1 more'
    """
    shown = "; ".join(short(name) for name in names[:most])
    return f"{shown}; and {len(names) - most:,} more" if len(names) > most else shown


def joined(parts: Sequence[str]) -> str:
    """Return parts of a sentence with commas and a last "and".

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


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
