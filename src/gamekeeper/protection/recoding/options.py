"""What can be asked of a search for a recoding, and recoding by rules (`--recode "Age=width 5"`).

What a steward wants of categories that are searched for:

- *Keep* a cut or a category: of "Age: 18" no category has people below 18 and others; of "Status:
  widowed" none has widowed people and others.
- *Forbid* a category: "Age: 16-24".
- *At least* so many categories.

Wishes that no categorization grants are found before the search, all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from operator import ne
from typing import ClassVar

import numpy as np

from gamekeeper.algorithms.categories.bands import Band
from gamekeeper.algorithms.recoding_search.cuts import most_categories
from gamekeeper.data.coding.codebook import MISSING, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import matched_names, number_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import Option, defaulting, option
from gamekeeper.prompt_syntax import names_of, number_pairs_of, pairs_of
from gamekeeper.protection import step
from gamekeeper.protection.recoding.sources import (
    KeyCategories,
    Places,
    unknown_variable,
)
from gamekeeper.protection.suppression_problem import HouseholdVariables
from gamekeeper.wording import count_of, did_you_mean, folded, quoted

_searching = defaulting(partial(Option, panel="Recoding by search"))


class Loss(StrEnum):
    """How the loss of a variable is counted."""

    BITS = "bits"
    SHARE = "share"


def _whole_pairs(typed: Sequence[str]) -> dict[str, float]:
    """Return pairs with whole numbers; others are left for the check of the request to refuse."""
    pairs = number_pairs_of("--at-least VARIABLE=NUMBER", typed)
    return {name: int(value) if value == int(value) else value for name, value in pairs.items()}


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What a recoding must reach, what it may choose, and what counts as a loss."""

    k: int = _searching(3, "Every class has at least so many records.", least=1)
    most_records: int = _searching(0, "So many records may be in smaller classes.", least=0)
    most_share: float = _searching(0.0, "The same as a share of all records.", least=0, most=1)
    most_classes: int | None = _searching(
        None, "There are at most so many classes: the right matches to be expected.", least=1
    )
    most_is: int | None = _searching(
        None, "The intruder score IS of every record is at most this.", least=0
    )
    weighted: bool = _searching(
        False, "Classes are counted by weights: in people and not in records."
    )
    household_variables: HouseholdVariables = ()
    variables: tuple[str, ...] = _searching(
        (),
        "The key variables that may be recoded; all of them by default.",
        flags="--recodable",
        read=names_of,
    )
    loss: Loss = _searching(
        Loss.BITS, "What is lost: bits, or the mean share of what each variable tells."
    )
    factors: Mapping[str, float] = _searching(
        {},
        "VARIABLE=NUMBER: how dear it is; its loss is multiplied by so much.",
        flags="--factor",
        read=partial(number_pairs_of, "--factor VARIABLE=NUMBER"),
    )
    ways: tuple[str, ...] = _searching(
        (),
        "A recoding whose categories may be chosen, several for a variable: 'Age=width 5'.",
        flags="--way",
    )
    levels: Mapping[str, str] = _searching(
        {},
        "VARIABLE=FILE: a file of levels, one row per value and a column per level.",
        flags="--levels",
        read=partial(pairs_of, "--levels VARIABLE=FILE"),
    )
    whole_levels: bool = _searching(
        False, "One level, or one of the ways, for all values of a variable; no mixtures."
    )
    observed: tuple[str, ...] = _searching(
        (),
        "A variable that may only be categorized as some form of the environment does it.",
        flags="--observed",
        read=names_of,
    )
    together: bool = _searching(
        True,
        "Whether a variable may be put together wholly, as if it were left out.",
        flags="--together/--no-together",
    )
    keep: tuple[str, ...] = _searching(
        (), "A cut or category that stays: 'Age: 18' keeps those below 18 apart.", flags="--keep"
    )
    forbid: tuple[str, ...] = _searching(
        (), "A category that may not be chosen: 'Age: 16-24'.", flags="--forbid"
    )
    at_least: Mapping[str, int] = _searching(
        {},
        "VARIABLE=NUMBER: at least so many categories of it.",
        flags="--at-least",
        read=_whole_pairs,
    )
    seconds: float = _searching(
        30.0, "After so long the best so far is taken, with what is proven.", least=0
    )


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
            where = f"{option} {quoted([text])}"
            fault = "that is not VARIABLE: CATEGORY."
            problems.append(Problem(Reason.BAD_OPTION, where, fault, 'Write "Age: 18".'))
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
    """Return the categories left; a wish not granted is a problem, one on unknown ones is passed over."""
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
        except InputError as fault:
            problems.append(Problem(fault.reason, wish.where, fault.found, fault.do))
            faulty.add(wish.variable)
            continue
        left[wish.variable] = _only(left[wish.variable], is_allowed)
    for name, own in left.items():
        if name not in faulty:
            told = [wish.where for wish in wishes if wish.variable == name]
            problems += _too_many(own, at_least.get(name, 1), told)
    return left


def _not_granted(reason: Reason, found: str, do: str = "") -> InputError:
    return InputError(reason, "Categories were wished for.", found, do)


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
            raise _not_granted(
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
    raise _not_granted(Reason.UNKNOWN_NAME, told, do)


def _is_within(side: frozenset[int], category: Places) -> bool:
    inside = sum(place in side for place in category)
    return inside in (0, len(category))


def _only(own: KeyCategories, is_allowed: Callable[[Places], bool]) -> KeyCategories:
    names = {category: name for category, name in own.names.items() if is_allowed(category)}
    ways = own.ways
    if ways is not None:
        ways = tuple(way for way in ways if all(tuple(block) in names for block in way.blocks()))
    return replace(own, names=names, ways=ways)


def _too_many(own: KeyCategories, least: int, wishes: Sequence[str]) -> list[Problem]:
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


@dataclass(frozen=True, kw_only=True)
class Recoding(step.Step):
    """Put categories together by rules."""

    do: ClassVar[str] = "recode"
    iso: ClassVar[str] = "generalization: rounding, top and bottom coding, combining attributes"
    rules: tuple[str, ...] = option(
        (), "One rule per variable: VARIABLE=WAY, as --recode takes it.", flags="--recode"
    )
    groups: Mapping[str, Mapping[str, Sequence[str]]] = option(
        {}, "Values to put together, by variable and name, for what no rule can write."
    )
    strict: bool = option(True, "Whether groups may only name values that the file has.")

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Recode a file; no record is copied."""
        made = step.recoded_by(self.rules, table, setting, strict=self.strict)
        recodes = [*made.recodes, *(self._grouped(table, name) for name in self.groups)]
        changed = table.recoded(recodes)
        variables = {recode.variable: step.VariableChange(recode) for recode in recodes}
        told = [
            f"{quoted([recode.variable])}:"
            f" {count_of(len(recode.codes) - 1, 'category becomes', 'categories become')}"
            f" {len(recode.words) - 1:,}."
            for recode in recodes
        ]
        log = step.ChangeLog(table.n_records, variables)
        return step.protected_by(self, table, changed, log, setting, told=told)

    def _grouped(self, table: CodedTable, name: str) -> Recode:
        variable = table.codebook[name]
        place = {value: code for code, value in enumerate(variable.values) if code != MISSING}
        label = list(variable.words)
        for group, values in self.groups[name].items():
            unknown = sum(value not in place for value in values)
            if unknown and self.strict:
                asked = f"Values of {quoted([name])} were to be put together."
                found = f"{count_of(unknown, 'value is', 'values are')} not in the file."
                do = "Search anew, or give groups of values that the file has."
                raise InputError(Reason.UNKNOWN_NAME, asked, found, do)
            for value in values:
                if value in place:
                    label[place[value]] = group
        return Recode.by_words(name, label)
