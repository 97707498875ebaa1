"""How texts typed for options are read (names, pairs, shares); `Missing` and `Pool`. Light to import.

Typed are lists of names, pairs, and exact shares of a whole; chosen are bounds of searches, what a
missing cell means, and who works.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Final

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import quoted

Scalar = str | int | float | bool | None
"""A value of free metadata."""

_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")


def names_of(typed: Sequence[str]) -> tuple[str, ...]:
    """Return names from texts that may have several each, with commas between them.

    >>> names_of(["Age, Sex", "Region"])
    ('Age', 'Sex', 'Region')
    """
    return tuple(name.strip() for text in typed for name in text.split(",") if name.strip())


def pairs_of(written: str, typed: Sequence[str]) -> dict[str, str]:
    """Return pairs that are typed with an equals sign; `written` says how, for an error.

    >>> pairs_of("--kind COLUMN=KIND", ["Age=number", "Name = text"])
    {'Age': 'number', 'Name': 'text'}
    """
    option, form = written.split()
    pairs = [text.partition("=") for text in typed]
    problems = [
        Problem(Reason.BAD_OPTION, f"{option} {quoted([text])}", f"that is not {form}.")
        for text, (name, equals, value) in zip(typed, pairs, strict=True)
        if not equals or not name.strip() or not value.strip()
    ]
    if problems:
        found = f"{len(problems)} of {len(pairs)} cannot be read."
        raise _unfit_pairs(written, found, problems=problems)
    read: dict[str, str] = {}
    for name, _, value in pairs:
        if read.setdefault(name.strip(), value.strip()) != value.strip():
            found = f"{quoted([name.strip()])} is given twice, with two values."
            raise _unfit_pairs(written, found, "Give it once.")
    return read


def number_pairs_of(written: str, typed: Sequence[str]) -> dict[str, float]:
    """Return pairs whose second part is a number.

    >>> number_pairs_of("--weight COLUMN=NUMBER", ["Age=2", "Sex=0.5"])
    {'Age': 2.0, 'Sex': 0.5}
    """
    pairs = pairs_of(written, typed)
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise _unfit_pairs(written, "Not all of them have a number.") from None


def whole_pairs_of(written: str, typed: Sequence[str]) -> dict[str, int]:
    """Return pairs whose second part is a whole number of at least 1.

    >>> whole_pairs_of("--steps COLUMN=NUMBER", ["Age=10"])
    {'Age': 10}
    """
    pairs = number_pairs_of(written, typed)
    if any(not (number >= 1 and number.is_integer()) for number in pairs.values()):
        raise _unfit_pairs(written, "Not all of them have a whole number of at least 1.")
    return {name: int(number) for name, number in pairs.items()}


def _unfit_pairs(
    written: str, found: str, do: str = "", *, problems: Sequence[Problem] = ()
) -> InputError:
    asked = f"Pairs were given with {written.split()[0]}."
    return InputError(Reason.BAD_OPTION, asked, found, do or f"Write {written}.", problems=problems)


def values_of(typed: Sequence[str]) -> dict[str, Scalar]:
    """Return KEY=VALUE pairs; numbers, true, false and empty values are taken as such.

    >>> values_of(["sector=bank", "year=2030", "online=true"])
    {'sector': 'bank', 'year': 2030, 'online': True}
    """
    read: dict[str, Scalar] = {}
    for pair in typed:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key or key in read:
            raise InputError(
                Reason.BAD_OPTION,
                f"The metadata {quoted([pair])} were given.",
                "That key is given twice." if key in read else "That is not KEY=VALUE.",
                'Write each key once: year=2031, or "Form Type=On-line".',
            )
        read[key] = _value(value.strip())
    return read


def listed_values_of(typed: Sequence[str]) -> tuple[str | int | float | bool, ...]:
    """Return values of metadata, numbers and true and false as such.

    >>> listed_values_of(["bank", "2030", "true"])
    ('bank', 2030, True)
    """
    return tuple(value for text in typed if (value := _value(text.strip())) is not None)


def lists_of(typed: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return NAME=ITEM; ITEM pairs.

    >>> lists_of(["Age=0-15", "Marital status=widowed; divorced"])
    {'Age': ('0-15',), 'Marital status': ('widowed', 'divorced')}
    """
    read: dict[str, tuple[str, ...]] = {}
    for text in typed:
        name, equals, items = text.partition("=")
        name = name.strip()
        if not equals or not name or name in read:
            raise InputError(
                Reason.BAD_OPTION,
                f"The list {quoted([text])} was given.",
                "That name is given twice." if name in read else "That is not NAME=ITEM; ITEM.",
                'Write each name once: Age=0-15, or "Marital status=widowed; divorced".',
            )
        read[name] = tuple(item.strip() for item in items.split(";") if item.strip())
    return read


def _value(text: str) -> Scalar:
    if text in ("true", "false"):
        return text == "true"
    # 007, 1e5 and 1.10 are names more often than numbers: only what is written as a number is.
    if _NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        return number if str(number) == text else text
    return text or None


FractionLike = str | float | Fraction
"""How a fraction may be given: '2%', '1/50', 0.02, Fraction(1, 50)."""

_LONG_EXPONENT = re.compile(r"e[+-]?\d{4}", re.IGNORECASE)


def read_share(value: FractionLike) -> tuple[str, Fraction | None]:
    """Return what was written, and the number that it is; None where it is none.

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


MAX_NODES: Final = 100_000
"""The number of nodes above which a harmonization graph is refused or searched in part."""

MAX_MSUS = 250_000_000
"""Largest list of MSUs, of 2 to 8 bytes each, that is made without being asked for explicitly."""

MAX_SECONDS = 900.0
"""Longest search, in seconds of processor time, that is begun without being asked for."""

MAX_KEYS = 10_000
"""How many composite keys are looked at, unless told otherwise."""


class Missing(StrEnum):
    """How missing cells are read; the choice is printed with every result."""

    CATEGORY = "category"
    IGNORE = "ignore"
    WILDCARD = "wildcard"
    EXCLUDE = "exclude"

    @property
    def words(self) -> str:
        """The meaning in words.

        >>> Missing("wildcard").words
        'a missing cell matches anything'
        """
        return _WORDS[self]


_WORDS = {
    Missing.CATEGORY: "missing is a category of its own",
    Missing.IGNORE: "a missing cell never equals a value and never tells a record apart",
    Missing.WILDCARD: "a missing cell matches anything",
    Missing.EXCLUDE: "records with a missing cell are left out",
}


class Pool(StrEnum):
    """Who does blocks of work on this machine: threads of this process, or processes of their own."""

    PROCESSES = "processes"
    THREADS = "threads"
