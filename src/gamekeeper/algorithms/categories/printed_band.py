"""One band as people print it.

A text is cut into numbers, known words (`band_words`) and others, and the order of its parts is
looked up among the few orders that mean a band. Unknown words make it no band. The cost is linear
in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gamekeeper.algorithms.categories.band_words import (
    NOTHING,
    TIMES,
    VOCABULARY,
    Part,
    plain_text,
)

LONGEST = 300
"""No longer text is a band."""
_MOST_PARTS = 40

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,12})?(?![\d])"
    r"|\d{1,30}(?:[.,]\d{1,12})?)(?:[.,]-(?!\d))?(?P<tail>k\b|s\b|m\b(?!\w))?"
)
WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?|\S")
_BEFORE_A_WORD = {True: r"(?![^\W\d])", False: r"(?!\w)"}  # 'CHF100' is money, 'e8' is a name
BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_PASSED_OVER = ("\\", '"', "'")
TIME_UNITS = {"minute": 1, "hour": 60, "day": 1440, "week": 10_080}
CALENDAR_UNITS = {"month": 1, "year": 12}


class _Meaning(NamedTuple):
    """Which of the numbers, by its place, is each end of a band; None at an open end."""

    low: int | None
    high: int | None
    has_low: bool = True
    has_high: bool = True


# Of one number or another, which is a band only where the one follows the other.
_EITHER = ("n|n", "n&n")
_MEANINGS: dict[str, _Meaning] = {
    shape: meaning
    for shapes, meaning in (
        ("n-n ntn on&n on-n ontn fntn fn-n fn&n n-tn", _Meaning(0, 1)),
        ("gn&ln gnln n+&ln gntn gn-n gn&tn", _Meaning(0, 1)),
        ("nt<n n-<n n<n ont<n fnt<n gn&<n gn<n n+&<n", _Meaning(0, 1, has_high=False)),
        ("n+<n n&<n fn&<n gnt<n on<n fn<n on&<n", _Meaning(0, 1, has_high=False)),
        (">n&ln >nln >ntn >n-n >n&tn >n&n", _Meaning(0, 1, has_low=False)),
        (">n&<n >n<n >nt<n", _Meaning(0, 1, has_low=False, has_high=False)),
        ("n+ fn gn s+", _Meaning(0, None)),
        (">n >s", _Meaning(0, None, has_low=False)),
        ("<n <s", _Meaning(None, 0, has_high=False)),
        ("ln tn n_ o<n", _Meaning(None, 0)),
        ("n", _Meaning(0, 0)),
        ("n|n n&n", _Meaning(0, 1)),
        ("*", _Meaning(None, None)),
    )
    for shape in shapes.split()
}
"""The parts in order, without units and fillers, and what they mean."""


@dataclass(frozen=True, slots=True)
class _Token:
    part: Part
    text: str


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed band: its ends as numbers, which of them belong to it, and in what it counts.

    `low` or `high` is None at an open end. `unit` is a time, a currency or a measure, `period`
    the time in which it is earned or spent; both are empty where nothing is said.
    """

    low: Fraction | None
    high: Fraction | None
    has_low: bool = True
    has_high: bool = True
    unit: str = ""
    period: str = ""
    is_exact: bool = False
    decimals: int = 0


def _phrase_at(plain: str, place: int) -> re.Match[str] | None:
    """Return the longest word of the vocabulary that begins at a place, if any."""
    return _beginning_with(plain[place]).match(plain, place)


@lru_cache(maxsize=256)
def _beginning_with(first: str) -> re.Pattern[str]:
    """Return what finds words of the vocabulary that begin with a character.

    Made when it is needed: for all words at once it would take as long as to open a store.
    """
    return re.compile(
        "|".join(
            (r"(?<![^\W\d])" if first.isalpha() else "")
            + re.escape(phrase)
            + (_BEFORE_A_WORD[VOCABULARY[phrase][0] is Part.UNIT] if phrase[-1].isalpha() else "")
            for phrase in sorted(VOCABULARY, key=len, reverse=True)
            if phrase[0] == first
        )
        or r"(?!)"  # none begins so
    )


def read_band(
    text: str,
    *,
    decimal: str = "",
    shared: frozenset[str] = frozenset(),
    nothing_is_zero: bool = False,
) -> Printed | None:
    """Read one band, or return None.

    Examples
    --------
    >>> band = read_band("Between £1,000 and £1,999 a week")
    >>> str(band.low), str(band.high), band.unit, band.period
    ('1000', '1999', '£', 'week')
    >>> read_band("18 bis unter 25 Jahre").has_high, read_band("Grade 4") is None
    (False, True)
    """
    if len(text) > LONGEST:
        return None
    plain = plain_text(text).strip("\"' ")
    whole = read_plain(plain, decimal, shared, nothing_is_zero=nothing_is_zero)
    if whole is None and BRACKETS.search(plain):
        outside = " ".join(BRACKETS.sub(" ", plain).split())
        whole = read_plain(outside, decimal, shared, nothing_is_zero=nothing_is_zero)
    return whole


def read_plain(
    plain: str, decimal: str, shared: frozenset[str], *, nothing_is_zero: bool
) -> Printed | None:
    """Read one band from what `plain_text` leaves of a text."""
    tokens = _tokens(plain, decimal, shared, nothing_is_zero)
    if tokens is None:
        return None
    units = {t.text for t in tokens if t.part is Part.UNIT}
    periods = {t.text for t in tokens if t.part is Part.PERIOD}
    if len(periods) > 1:
        return None
    kept = [t for t in tokens if t.part not in (Part.UNIT, Part.PERIOD, Part.FILLER)]
    shape = re.sub("&+", "&", "".join(t.part for t in kept)).replace("o&", "o").strip("&")
    meaning = _MEANINGS.get(shape)
    if meaning is None:
        return None
    own = [t for t in tokens if t.part in (Part.NUMBER, Part.DECADE, Part.UNIT)]
    numbers = _scaled([t.text for t in own if t.part is not Part.UNIT])
    if len(units) > 1:
        ends = _in_one_unit(own, numbers)
        if ends is None:
            return None
        numbers, unit = ends
    else:
        unit = next(iter(units), "")
    if shape in _EITHER and numbers[1] != numbers[0] + 1:
        return None
    return Printed(
        None if meaning.low is None else numbers[meaning.low],
        None if meaning.high is None else numbers[meaning.high],
        meaning.has_low,
        meaning.has_high,
        unit=unit,
        period=next(iter(periods), ""),
        is_exact=shape == "n",
        decimals=max((_decimals(t.text) for t in own if t.part is not Part.UNIT), default=0),
    )


def _tokens(
    plain: str, decimal: str, shared: frozenset[str], nothing_is_zero: bool
) -> list[_Token] | None:
    tokens: list[_Token] = []
    place = 0
    while place < len(plain):
        if len(tokens) > _MOST_PARTS:
            return None
        if plain[place] == " ":
            place += 1
            continue
        number = _NUMBER.match(plain, place)
        if number is not None and number["sign"] and tokens and tokens[-1].part is Part.NUMBER:
            number = None  # the sign is a dash between two numbers
        if number is not None:
            value = _value(number["digits"], decimal)
            if value is None:
                return None
            sign = "-" if number["sign"] == "-" else ""
            tail = number["tail"] or ""
            part = Part.DECADE if tail == "s" else Part.NUMBER
            text = f"{sign}{value}"
            place = number.end()
            after = WORD.match(plain, place + 1) if plain[place : place + 1] == " " else None
            times = TIMES.get(tail)
            if after is not None and after.group() in TIMES and after.group() not in ("m", "k"):
                times = TIMES[after.group()]
                place = after.end()
            if times is not None:
                text += f"e{len(str(times)) - 1}"
            tokens.append(_Token(part, text))
            continue
        phrase = _phrase_at(plain, place)
        if phrase is not None:
            tokens.append(_Token(*VOCABULARY[phrase.group()]))
            place = phrase.end()
            continue
        word = WORD.match(plain, place)
        assert word is not None
        if plain[word.end() : word.end() + 1].isdigit() and word.group()[0].isalpha():
            return None  # 'E8' is a name
        if stem(word.group()) in shared:
            if _is_plain_tail(plain, place, shared):
                break
            place = word.end()
            continue
        place = word.end()
        if nothing_is_zero and word.group() in NOTHING:
            tokens.append(_Token(Part.NUMBER, "0"))
            continue
        if word.group() in _PASSED_OVER:
            continue
        return None
    return tokens


def _is_plain_tail(plain: str, place: int, shared: frozenset[str]) -> bool:
    """Tell whether only shared words follow, none of which says how far a band reaches.

    In '3 cars or vans in household' the 'or' is not one between numbers.
    """
    if any(stem(word.group()) not in shared for word in WORD.finditer(plain, place)):
        return False
    telling = (Part.UNIT, Part.PERIOD, Part.OR_MORE, Part.OR_LESS)
    while place < len(plain):
        phrase = _phrase_at(plain, place)
        if phrase is not None and VOCABULARY[phrase.group()][0] in telling:
            return False
        place = place + 1 if phrase is None else phrase.end()
    return True


def _value(digits: str, decimal: str) -> str | None:
    """Return the digits with a point before decimals and nothing between thousands."""
    signs = [c for c in digits if c in ".,' "]
    if not signs:
        return digits
    last, tail = signs[-1], len(digits) - digits.rindex(signs[-1]) - 1
    grouped = tail == 3 and not digits.startswith("0") and decimal != last
    if last in "' " or (grouped and (len(set(signs)) == 1 or signs.count(last) > 1)):
        if len(set(signs)) > 1:
            return None
        return "".join(c for c in digits if c.isdigit())
    if signs.count(last) > 1 or last in "' ":
        return None
    whole, _, part = digits.rpartition(last)
    return f"{''.join(c for c in whole if c.isdigit())}.{part}"


def _decimals(text: str) -> int:
    digits, _, exponent = text.partition("e")
    return max(0, len(digits.partition(".")[2]) - int(exponent or 0))


def _scaled(texts: Sequence[str]) -> list[Fraction]:
    """Return numbers; in '10-20k' both are thousands."""
    if len(texts) == 2 and "e" in texts[1] and "e" not in texts[0]:
        low, high = Fraction(texts[0]), Fraction(texts[1].split("e")[0])
        if low < high:
            return [Fraction(f"{texts[0]}e{texts[1].split('e')[1]}"), Fraction(texts[1])]
    return [Fraction(text) for text in texts]


def _in_one_unit(
    tokens: Sequence[_Token], numbers: Sequence[Fraction]
) -> tuple[list[Fraction], str] | None:
    """Bring '1 hour and 3 days' or '6 months to 2 years' to the larger unit; else None."""
    of_numbers: list[str] = []
    unit = ""
    for token in reversed(tokens):
        if token.part is Part.UNIT:
            unit = token.text
        else:
            of_numbers.append(unit)
    of_numbers.reverse()
    for sizes in (TIME_UNITS, CALENDAR_UNITS):
        if of_numbers and all(name in sizes for name in of_numbers):
            largest = max(of_numbers, key=lambda name: sizes[name])
            scaled = [
                number * Fraction(sizes[name], sizes[largest])
                for number, name in zip(numbers, of_numbers, strict=True)
            ]
            return scaled, largest
    return None


def stem(word: str) -> str:
    """Return a word without the ending of a plural, as far as that can be told."""
    for ending in ("en", "es", "s", "n", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)] + "~"
    return word + "~"
