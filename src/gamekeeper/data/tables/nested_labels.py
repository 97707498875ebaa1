"""Labels that hold each other by the way they are written: codes by prefix, ranges, bands.

'A' may hold 'A01' and 'A02', 'DE1' may hold 'DE11', '10' may hold '10.1', 'C10-C12' holds 'C11',
'0-14' holds '0-4'. What merely begins alike does not: '1' and '10', 'R1' and 'R10' where regions
are numbered, 'North' and 'North East', 'I' and 'II', 'N' and 'NE'.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.errors import InputError

Nested = dict[int, tuple[int, ...]]
"""For each label that may hold others, by number, the others that are next below it."""

_CODE = re.compile(r"[^\W_]+(?:[._:/-]?[^\W_]+)*")
_PHRASE = re.compile(r"\s*(?:[:>|;/,–—-]\s|\()")
_RANGE = re.compile(r"([A-Za-z]+)(\d*)\s?[-–]\s?([A-Za-z]*)(\d*)", re.ASCII)
_PARTS = re.compile(r"([A-Za-z]+)(\d*)", re.ASCII)
# 'A.2' is a code, although 'a' is a word for 'up to' somewhere.
_DOTTED_CODE = re.compile(r"[A-Za-z][.:/-]\d+")
_AGE_CODE = re.compile(r"Y_?(?:(GE)|(LT))?_?(\d+)(-\d+)?")
_ROMAN = frozenset("IVXLCDM")
_COMPASS = frozenset("NESW")
_SEPARATORS = "._:/-"
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LONGEST_STEM = 4
_LONGEST_LETTERS = 3
_FEW_GAPS = 0.7
_MOST_BANDS = 1_000


def nested_codes(labels: Sequence[str]) -> Nested:
    """Return the codes that may hold others because these begin with them.

    One part is enough where letters are followed by digits; where a number or a word goes on, it
    takes two, and numbers that count on ('R1' to 'R12') are no codes. Bare numbers are plain ones
    unless all of them make up levels of codes.

    Examples
    --------
    >>> nested_codes(["A", "A01", "A02", "B"]), nested_codes(["1", "2", "10", "11"])
    ({0: (1, 2)}, {})
    """
    numbered = _numbered(labels)
    sure: dict[int, list[int]] = {}
    doubtful: dict[int, list[int]] = {}
    for place, beginnings in _beginnings(labels):
        for whole in beginnings:
            doubt = _doubt(labels[whole], labels[place][len(labels[whole]) :], numbered)
            if doubt is not None:
                (doubtful if doubt else sure).setdefault(whole, []).append(place)
                break
    for whole, parts in doubtful.items():
        if len(parts) > 1 or whole in sure:
            sure.setdefault(whole, []).extend(parts)
    return {whole: tuple(sorted(set(parts))) for whole, parts in sorted(sure.items())}


def begins_alike(labels: Sequence[str]) -> Nested:
    """Return every label that others begin with, whatever it means: for counts to decide.

    Examples
    --------
    >>> begins_alike(["1", "11", "12", "2", "North", "North East"])
    {0: (1, 2), 4: (5,)}
    """
    found: dict[int, list[int]] = {}
    for place, beginnings in _beginnings(labels):
        whole = next(beginnings, None)
        if whole is not None:
            found.setdefault(whole, []).append(place)
    return {whole: tuple(parts) for whole, parts in sorted(found.items())}


def _beginnings(labels: Sequence[str]) -> Iterator[tuple[int, Iterator[int]]]:
    """Return for each label, by number, the others that it begins with, the longest first."""
    places = {label: place for place, label in enumerate(labels)}
    for label, place in places.items():
        shorter = (places.get(label[:end].rstrip()) for end in range(len(label) - 1, 0, -1))
        yield place, (whole for whole in shorter if whole is not None and whole != place)


def nested_ranges(labels: Sequence[str]) -> Nested:
    """Return ranges of codes that hold at least two other labels.

    Examples
    --------
    >>> nested_ranges(["B-E", "B", "C", "D", "F"]), nested_ranges(["C10-C12", "C10", "C11"])
    ({0: (1, 2, 3)}, {0: (1, 2)})
    """
    codes = {
        place: match for place, label in enumerate(labels) if (match := _PARTS.fullmatch(label))
    }
    found: Nested = {}
    for place, label in enumerate(labels):
        if (ends := _range(label)) is None:
            continue
        stem, first, other, last = ends
        parts = tuple(
            at
            for at, code in codes.items()
            if (
                code[1] == stem and len(code[2]) == len(first) and first <= code[2] <= last.zfill(len(first))
                if first
                else not code[2] and len(code[1]) == len(stem) and stem <= code[1] <= other
            )
        )  # fmt: skip
        if len(parts) > 1:
            found[place] = parts
    return found


def nested_bands(labels: Sequence[str]) -> Nested:
    """Return bands of numbers that hold another band, or at least two single numbers.

    Examples
    --------
    >>> nested_bands(["0-14", "0-4", "5-14", "15+"]), nested_bands(["1-4", "5-9", "10+", "10"])
    ({0: (1, 2)}, {})
    """
    bands = {place: band for place, label in enumerate(labels) if (band := _band(label))}
    wide = {place: band for place, band in bands.items() if band.high - band.low > 1}
    if len(bands) > _MOST_BANDS:
        return {}
    found: Nested = {}
    for place, band in wide.items():
        inside = {at: own for at, own in bands.items() if own != band and band.holds(own)}
        if len(inside) < 2 and not inside.keys() & wide.keys():
            continue
        found[place] = tuple(
            at
            for at, own in inside.items()
            if not any(own != other and other.holds(own) for other in inside.values())
        )
    return found


def _numbered(labels: Sequence[str]) -> dict[str, bool]:
    """Return, by what stands before a number, whether labels are merely counted: 'R1' to 'R12'."""
    found: dict[str, set[str]] = {}
    for label in labels:
        stem = label.rstrip(_DIGITS)
        if stem != label:
            found.setdefault(stem, set()).add(label[len(stem) :])
    return {stem: _counts_on(stem, numbers) for stem, numbers in found.items()}


def _counts_on(stem: str, numbers: set[str]) -> bool:
    """Whether numbers count on with few gaps. Bare ones do, unless they are written as codes."""
    has_zeros = any(len(number) > 1 and number[0] == "0" for number in numbers)
    if not (stem or has_zeros or _has_levels(numbers)):
        return True
    values = {int(number) for number in numbers}
    return len(values) >= _FEW_GAPS * (max(values) - min(values) + 1)


def _has_levels(numbers: set[str]) -> bool:
    """Whether numbers are codes of several levels, as 1, 11, 12, 2, 21, 22 are in occupations.

    Each but the shortest goes on from another by one digit, those from the same one count on from 0
    or 1, and this is so of several from two at least.
    """
    shortest = min(map(len, numbers))
    digits: dict[str, list[int]] = {}
    for number in sorted(numbers):
        if len(number) > shortest:
            digits.setdefault(number[:-1], []).append(int(number[-1]))
    return sum(len(own) > 1 for own in digits.values()) > 1 and all(
        whole in numbers and own[0] <= 1 and own == [*range(own[0], own[0] + len(own))]
        for whole, own in digits.items()
    )


def _doubt(whole: str, rest: str, numbered: Mapping[str, bool]) -> bool | None:
    """Return whether it is doubtful that a code goes on with the rest; None where it does not."""
    part = whole + rest
    if " " in part:
        return True if _PHRASE.match(rest) else None
    band = _band(part)
    if not _CODE.fullmatch(part) or _range(part) or (band and band.high - band.low > 1):
        return None
    last, after = whole[-1], rest[0]
    has_digits = any(letter.isdecimal() for letter in part)
    stem = len(whole) - len(whole.rstrip(_LETTERS))
    if after in _SEPARATORS:
        is_number = whole.isdecimal() and rest[1:].isdecimal()
        return is_number or not has_digits or stem > _LONGEST_STEM
    if last.isdecimal():
        if after.isdecimal():
            return None if numbered[whole.rstrip(_DIGITS)] else True
        return whole.isdecimal()
    if after.isdecimal():
        return stem > _LONGEST_STEM
    letters = set(part.upper())
    is_code = stem <= _LONGEST_LETTERS and whole.isupper() and len(rest) == 1
    return True if is_code and not (letters <= _ROMAN or letters <= _COMPASS) else None


def _range(label: str) -> tuple[str, str, str, str] | None:
    """Return the letters and digits of both ends of a range of codes, 'C10-C12' or 'B-E'."""
    match = _RANGE.fullmatch(label)
    if match is None:
        return None
    stem, first, other, last = match.groups()
    if first and last and other in ("", stem) and int(first) < int(last):
        return stem, first, stem, last
    return (stem, "", other, "") if not first and len(stem) == len(other) and stem < other else None


def _band(label: str) -> Band | None:
    """Return the band that a label stands for, also as a code of Eurostat ('Y15-64', 'Y_GE65')."""
    if not any(letter.isdecimal() for letter in label) or _DOTTED_CODE.fullmatch(label):
        return None
    if match := _AGE_CODE.fullmatch(label):
        first = int(match[3])
        if match[1] or match[2]:
            return Band(first, math.inf) if match[1] else Band(-math.inf, first)
        label = f"{match[3]}{match[4] or ''}"
    try:
        return parse_band(label, BandStyle.INCLUSIVE)
    except InputError:
        return None
