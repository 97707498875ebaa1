"""The answers to a question as bands, read together.

Among answers to one question more is known than of one alone, and used:

- words that a third or more of the numeric answers share, such as an unknown currency or 'in
  household', are passed over;
- '10.000' is ten thousand, unless the same sign is followed by other than three digits elsewhere;
- bands that share an end ('10-20', '20-30') have it in the upper one; an end that nobody has
  ('under 27,499', '27,500 to ...'; '55-64', 'over 65') goes to the open band, and a note says so;
- an answer printed to decimals ('18.5 to 24.9') reaches up to the next decimal;
- months among years, or hours among days, are brought to the larger unit, exactly;
- 'older' or 'more' alone is what lies above all others, 'younger' or 'less' what lies below;
- one answer that is not a band leaves the rest alone, and is named.

Nothing here knows which variable is meant. The cost is linear in the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from gamekeeper.algorithms.categories.band_words import BEYOND, SHORT_OF, plain_text
from gamekeeper.algorithms.categories.printed_band import (
    BRACKETS,
    CALENDAR_UNITS,
    LONGEST,
    TIME_UNITS,
    WORD,
    Printed,
    read_band,
    read_plain,
    stem,
)

Ends = tuple[Fraction | float, Fraction | float]
"""The half-open interval from low up to, but without, high; an open end is an infinity."""


@dataclass(frozen=True, slots=True)
class PrintedBands:
    """The answers to a question read together.

    `ends` has those of every answer that is a band, counted in `unit` (and per `period`). `unread`
    names the others, and `notes` says what was made of ends that neighbours shared or left out.
    `step` is the distance between neighbouring numbers: 1 for whole numbers, less where decimals or
    smaller units are printed.
    """

    ends: Mapping[str, Ends] = field(default_factory=dict[str, Ends])
    unread: tuple[str, ...] = ()
    unit: str = ""
    period: str = ""
    step: Fraction = Fraction(1)
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every end is a whole number."""
        return all(
            isinstance(end, float) or end.denominator == 1
            for pair in self.ends.values()
            for end in pair
        )


def read_bands(answers: Sequence[str]) -> PrintedBands:
    """Read the answers to one question together.

    Examples
    --------
    >>> read = read_bands(["Under 1.500 €", "1.500 - 2.000 €", "2.000 € and more", "Refused"])
    >>> {text: tuple(map(str, ends)) for text, ends in read.ends.items()}
    {'Under 1.500 €': ('-inf', '1500'), '1.500 - 2.000 €': ('1500', '2000'), '2.000 € and more': ('2000', 'inf')}
    >>> read.unread, read.unit
    (('Refused',), '€')
    """
    texts = list(dict.fromkeys(answers))
    numeric = [text for text in texts if any(c.isdigit() for c in text)]
    plain = [plain_text(text) for text in numeric if len(text) <= LONGEST]
    decimal = _decimal_sign(plain)
    shared = _shared_words(plain)
    clear = {text: band for text in texts if (band := read_band(text, decimal=decimal)) is not None}
    found = dict(clear)
    for text in numeric:
        if (
            text not in found
            and (band := read_band(text, decimal=decimal, shared=shared)) is not None
        ):
            found[text] = band
    if all(band.is_exact for band in found.values()):
        found = clear  # 'Round 1', 'Round 2' are names with numbers in them
    for part in (_after_colon, _in_brackets):
        found.update(_partly([t for t in numeric if t not in found], part, decimal, shared))
    if len(found) >= 2 and not any(band.low == 0 == band.high for band in found.values()):
        _read_nothing(texts, found, shared)
    return _together(texts, _upright({text: found[text] for text in texts if text in found}))


def _after_colon(plain: str) -> str:
    return plain.rpartition(": ")[2] if ": " in plain else ""


def _in_brackets(plain: str) -> str:
    outside = BRACKETS.sub("", plain)
    if any(c.isdigit() for c in outside):
        return ""
    return " ".join(part[1:-1] for part in BRACKETS.findall(plain))


def _partly(
    texts: Sequence[str], part: Callable[[str], str], decimal: str, shared: frozenset[str]
) -> dict[str, Printed]:
    """Read a part of each text, if at least two have it as bands that do not overlap.

    'Mild (under 10)', 'Severe (10 or more)' are bands with names; 'Adult (16 or over)', 'Child
    (under 16)', 'Adult man (16 or over)' are not.
    """
    found: dict[str, Printed] = {}
    for text in texts:
        if len(text) <= LONGEST and (rest := part(plain_text(text))):
            band = read_plain(rest, decimal, shared, nothing_is_zero=False)
            if band is not None and not (band.low is None and band.high is None):
                found[text] = band
    lows = sorted((-math.inf if b.low is None else b.low, i) for i, b in enumerate(found.values()))
    bands = list(found.values())
    for (_, one), (low, _) in pairwise(lows):
        high = bands[one].high
        if high is None or high > low:
            return {}
    return found if len(found) >= 2 else {}


def _decimal_sign(plain: Sequence[str]) -> str:
    """Return the sign that is followed by other than three digits somewhere, if only one is."""
    signs = {
        match.group(1)
        for text in plain
        for match in re.finditer(r"\d([.,])(?:\d{1,2}|\d{4,})(?!\d)", text)
    }
    signs |= {m.group(1) for text in plain for m in re.finditer(r"(?<!\d)0([.,])\d", text)}
    return signs.pop() if len(signs) == 1 else ""


def _shared_words(plain: Sequence[str]) -> frozenset[str]:
    """Return the stems of words that at least a third of the numeric answers have."""
    if len(plain) < 2:
        return frozenset()
    counts: Counter[str] = Counter()
    for text in plain:
        words = {w.group() for w in WORD.finditer(text)}
        counts.update({stem(word) for word in words if not (word.isdigit() or word in "()[]")})
    needed = max(2, -(-len(plain) // 3))
    return frozenset(word for word, count in counts.items() if count >= needed)


def _read_nothing(texts: Sequence[str], found: dict[str, Printed], shared: frozenset[str]) -> None:
    """Let 'none' or 'no cars' be 0 among answers that count."""
    some = next(iter(found.values()))
    if some.unit in ("year", "month"):
        return
    for text in texts:
        if text in found or any(c.isdigit() for c in text):
            continue
        band = read_band(text, shared=shared, nothing_is_zero=True)
        if band is not None and band.is_exact and band.low == 0:
            found[text] = band


def _upright(found: dict[str, Printed]) -> dict[str, Printed]:
    """Turn ranges printed from high to low, where several are; drop single ones."""
    turned = [
        t for t, b in found.items() if b.low is not None and b.high is not None and b.low > b.high
    ]
    upright = dict(found)
    for text in turned:
        band = found[text]
        if len(turned) > 1:
            upright[text] = replace(
                band, low=band.high, high=band.low, has_low=band.has_high, has_high=band.has_low
            )
        else:
            del upright[text]
    return upright


def _together(texts: Sequence[str], found: dict[str, Printed]) -> PrintedBands:
    units = {band.unit for band in found.values() if band.unit}
    periods = {band.period for band in found.values() if band.period}
    factors: dict[str, Fraction] = {}
    unit = next(iter(units), "")
    if len(units) > 1:
        sizes = next((s for s in (TIME_UNITS, CALENDAR_UNITS) if units <= set(s)), None)
        if sizes is None:
            common = Counter(b.unit for b in found.values() if b.unit).most_common(1)[0][0]
            found = {t: b for t, b in found.items() if b.unit in ("", common)}
            unit = common
        else:
            unit = max(units, key=lambda name: sizes[name])
            factors = {name: Fraction(sizes[name], sizes[unit]) for name in units}
    if len(periods) > 1:
        common = Counter(b.period for b in found.values() if b.period).most_common(1)[0][0]
        found = {t: b for t, b in found.items() if b.period in ("", common)}
        periods = {common}
    decimals = max((band.decimals for band in found.values()), default=0)
    step = Fraction(1, 10**decimals)
    ends, notes = _ends(found, step, factors)
    ends.update(_beyond(texts, ends))
    unread = tuple(text for text in texts if text not in ends)
    smallest = min((factors.get(b.unit, Fraction(1)) * step for b in found.values()), default=step)
    return PrintedBands(ends, unread, unit, next(iter(periods), ""), smallest, notes)


def _beyond(texts: Sequence[str], ends: Mapping[str, Ends]) -> dict[str, Ends]:
    """Let 'older' among bands be what lies above the highest, and 'younger' what lies below."""
    if len(ends) < 2:
        return {}
    low = min(own[0] for own in ends.values())
    high = max(own[1] for own in ends.values())
    above = [text for text in texts if text not in ends and plain_text(text) in BEYOND]
    below = [text for text in texts if text not in ends and plain_text(text) in SHORT_OF]
    found: dict[str, Ends] = {}
    if len(above) == 1 and high < math.inf:
        found[above[0]] = (high, math.inf)
    if len(below) == 1 and low > -math.inf:
        found[below[0]] = (-math.inf, low)
    return found


def _ends(
    found: Mapping[str, Printed], step: Fraction, factors: Mapping[str, Fraction]
) -> tuple[dict[str, Ends], tuple[str, ...]]:
    """Return half-open intervals; shared and missing ends are settled with the neighbours."""

    def size(band: Printed) -> Fraction:
        return factors.get(band.unit, Fraction(1))

    starts = {b.low * size(b) for b in found.values() if b.low is not None and b.has_low}
    lasts = {b.high * size(b) for b in found.values() if b.high is not None and b.has_high}
    stops = {b.high * size(b) for b in found.values() if b.high is not None and not b.has_high}
    ends: dict[str, Ends] = {}
    notes: list[str] = []
    for text, band in found.items():
        factor = size(band)
        unit_step = step * factor
        low: Fraction | float = -math.inf
        if band.low is not None:
            low = band.low * factor
            if not band.has_low:
                next_free = low not in lasts and low not in stops
                if low in stops or (next_free and low - unit_step in lasts):
                    notes.append(f"{text!r} is read with {low} in it: no other answer has it")
                else:
                    low += unit_step
        high: Fraction | float = math.inf
        if band.high is not None:
            high = band.high * factor
            after = high + unit_step
            if band.is_exact:
                high = after
            elif band.has_high:
                if high in starts and after not in starts and high != low:
                    notes.append(f"{text!r} is read without {high}, which another answer has")
                else:
                    high = after
            elif high not in starts and after in starts:
                notes.append(f"{text!r} is read with {high} in it: no other answer has it")
                high = after
        if low < high:
            ends[text] = (low, high)
    return ends, tuple(notes)
