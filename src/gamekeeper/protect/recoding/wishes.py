"""What a steward wants of categories that are searched for.

- *Keep* a cut or a category: of "Age: 18" no category has people below 18 and others; of "Status:
  widowed" none has widowed people and others.
- *Forbid* a category: "Age: 16-24".
- *At least* so many categories.

Wishes that no categorization grants are found before the search, all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import ne

import numpy as np

from gamekeeper.algorithms.categories.bands import Band
from gamekeeper.algorithms.recoding_search.masters import most_categories
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.reading.column_names import matched_names
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.errors import Problem, Reason
from gamekeeper.protect.recoding.categories import KeyCategories, Places
from gamekeeper.protect.recoding.sources import unknown_variable
from gamekeeper.wording import count_of, did_you_mean, folded, quoted


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish about a variable, as it was typed for an option: "Age: 18"."""

    variable: str
    text: str
    option: str

    @property
    def where(self) -> str:
        """What it is called in an error."""
        return f"{self.option} {quoted([f'{self.variable}: {self.text}'])}"


def parse_wishes(
    typed: Sequence[str], keys: Sequence[str], option: str, problems: list[Problem]
) -> list[Wish]:
    """Return wishes of the form VARIABLE: CATEGORY; what cannot be read is added to the problems.

    Examples
    --------
    >>> parse_wishes(["age: 18"], ["Age", "Sex"], "keep", [])
    [Wish(variable='Age', text='18', option='keep')]
    """
    found: list[Wish] = []
    for text in typed:
        name, colon, category = (part.strip() for part in text.partition(":"))
        if not (name and colon and category):
            problems.append(
                Problem(
                    Reason.BAD_OPTION,
                    f"{option} {quoted([text])}",
                    "that is not VARIABLE: CATEGORY.",
                    'Write "Age: 18".',
                )
            )
            continue
        (own,) = matched_names([name], keys)
        if own in keys:
            found.append(Wish(own, category, option))
        else:
            problems.append(unknown_variable(name, keys, option))
    return found


def granted(
    known: Mapping[str, KeyCategories],
    wishes: Sequence[Wish],
    at_least: Mapping[str, int],
    problems: list[Problem],
    decimal: str = ".",
) -> dict[str, KeyCategories]:
    """Return the categories that are left; every wish that cannot be granted is added to the problems.

    Wishes about a variable whose categories are not known are passed over.
    """
    left = dict(known)
    faulty: set[str] = set()
    for wish in wishes:
        if wish.variable not in left:
            continue
        every = known[wish.variable]
        try:
            if wish.option == "keep":
                is_allowed = partial(_is_within, _side(every, wish.text, decimal))
            else:
                is_allowed = partial(ne, _named(every, wish.text))
        except _NotGranted as fault:
            problems.append(Problem(fault.reason, wish.where, fault.found, fault.do))
            faulty.add(wish.variable)
            continue
        left[wish.variable] = _only(left[wish.variable], is_allowed)
    for name, own in left.items():
        if name not in faulty:
            told = [wish.where for wish in wishes if wish.variable == name]
            problems += _too_many(own, at_least.get(name, 1), told)
    return left


class _NotGranted(Exception):  # noqa: N818 - caught above, and told as a problem
    def __init__(self, reason: Reason, found: str, do: str = "") -> None:
        super().__init__(found)
        self.reason, self.found, self.do = reason, found, do


def _side(own: KeyCategories, text: str, decimal: str) -> frozenset[int]:
    """Return the places on one side of a cut: those of a category, or those from a number on."""
    number = number_of(text, decimal)
    is_ordered = all(place is not None for place in own.where[MISSING + 1 :])
    if number is not None and is_ordered:
        return _from_number(own, number)
    return frozenset(_named(own, text))


def _from_number(own: KeyCategories, number: Fraction) -> frozenset[int]:
    side: set[int] = set()
    for place, where in enumerate(own.where):
        if where is None:
            continue
        low, high = (where.low, where.high) if isinstance(where, Band) else (where, where)
        if low >= number:
            side.add(place)
        elif isinstance(where, Band) and high > number:
            raise _NotGranted(
                Reason.BAD_OPTION,
                "a value of the file, or a finest category, lies across it.",
                "Keep a cut that the file has.",
            )
    return frozenset(side)


def _named(own: KeyCategories, text: str) -> Places:
    asked = folded(text)
    exact = [category for category, name in own.names.items() if name == text]
    near = [category for category, name in own.names.items() if folded(name) == asked]
    values = [
        (code,)
        for code in own.codes
        if text in (own.variable.values[code], own.variable.words[code])
    ]
    found = exact or near or values
    if found and found[0] != (MISSING,):
        return found[0]
    do = "'gamekeeper look FILE --values' lists what the file has."
    if own.may_show:
        # Names of the file's own values are not shown.
        codes = {(code,) for code in range(own.variable.n_codes)}
        do = did_you_mean(text, [name for c, name in own.names.items() if c not in codes])
    told = f"it is no category that {quoted([own.variable.name])} may get."
    raise _NotGranted(Reason.UNKNOWN_NAME, told, do)


def _is_within(side: frozenset[int], category: Places) -> bool:
    inside = sum(place in side for place in category)
    return inside in (0, len(category))


def _only(own: KeyCategories, is_allowed: Callable[[Places], bool]) -> KeyCategories:
    names = {category: name for category, name in own.names.items() if is_allowed(category)}
    ways = own.ways
    if ways is not None:
        ways = tuple(way for way in ways if all(block in names for block in way))
    return replace(own, names=names, ways=ways)


def _too_many(own: KeyCategories, least: int, wishes: Sequence[str]) -> list[Problem]:
    """Return the problem of wishes that leave no categorization of a variable, if they do."""
    where = f"variable {quoted([own.variable.name])}"
    choice = own.choice(np.zeros(own.variable.n_codes), 1.0, 1)
    most = most_categories(choice)
    if most is None:
        found = "no categorization is left by what is to be kept, forbidden and observed."
        do = f"Leave out one of these wishes: {', '.join(wishes) or 'observed'}."
        return [Problem(Reason.BAD_OPTION, where, found, do)]
    if most - 1 < least and own.n_places > 1:
        asked = count_of(least, "category", "categories")
        found = f"at least {asked} are asked for, and at most {most - 1:,} can be had."
        return [Problem(Reason.BAD_OPTION, where, found, "Ask for fewer (--at-least).")]
    return []
