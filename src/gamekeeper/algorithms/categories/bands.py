"""Bands of a number, such as ages or incomes: read from answers, and the partition graph they make.

A band is a half-open interval [low, high). It can be written by its half-open bounds ('16-25',
'65-inf') or as forms print whole numbers, with both ends included ('16-24', '25 to 34', '65+', '65
and over', 'under 16', and whatever else `printed_band` reads). The graph grows by the corrected
`add_node` of Smith and Elliot, appendix 1.1: a new band is attached to the sinks that it holds or
cuts, a sink that is cut gets its parts as children, and a remainder on both sides becomes two
bands. So the sinks are the intervals between neighbouring cut points of all bands. Adding a band
costs the number of sinks.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from gamekeeper.algorithms.categories import printed_band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

Bound = int | Fraction | float
"""A whole number, an exact fraction, or an infinity."""


class BandStyle(StrEnum):
    """How a written band is meant: '16-25' half-open, or '16-24' with both ends included."""

    HALF_OPEN = "half-open"
    INCLUSIVE = "inclusive"


@dataclass(frozen=True, slots=True, order=True)
class Band:
    """The half-open interval from `low` up to, but without, `high`."""

    low: Bound
    high: Bound

    def name(self, style: BandStyle) -> str:
        """Return the band as it is written in a style.

        Examples
        --------
        >>> Band(16, 25).name(BandStyle.INCLUSIVE), Band(65, math.inf).name(BandStyle.HALF_OPEN)
        ('16-24', '65-inf')
        """
        if style is BandStyle.HALF_OPEN:
            return f"{_written(self.low)}-{_written(self.high)}"
        if self.low == -math.inf:
            return "any" if self.high == math.inf else f"under {_written(self.high)}"
        if self.high == math.inf:
            return f"{_written(self.low)}+"
        last = self.high - 1
        if last == self.low:
            return _written(self.low)
        return f"{_written(self.low)}-{_written(last)}"

    def holds(self, other: Band) -> bool:
        """Tell whether another band lies within this one."""
        return self.low <= other.low and other.high <= self.high

    def within(self, space: Band) -> Band:
        """Return the band with open ends closed by the range of the variable.

        Examples
        --------
        >>> parse_band("under 16", BandStyle.INCLUSIVE).within(Band(0, math.inf)).low
        0
        """
        return Band(
            space.low if self.low == -math.inf else self.low,
            space.high if self.high == math.inf else self.high,
        )

    def overlap(self, other: Band) -> Band | None:
        """Return what two bands share, if anything."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Band(low, high) if low < high else None

    def without(self, other: Band) -> list[Band]:
        """Return what is left of this band, on one side or both, without another that it meets."""
        sides = (Band(self.low, other.low), Band(other.high, self.high))
        return [side for side in sides if side.low < side.high]


_NUMBER = r"-?\d{1,30}(?:,\d{3}){0,10}(?:\.\d{1,30})?"
_NOTATION: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<low>{_NUMBER}|-inf)\s*(?:-|to)\s*(?P<high>{_NUMBER}|inf|infinity|∞)",
        rf"(?P<low>{_NUMBER})\s*(?:\+|(?:and|or) (?:over|above|older|more|upwards))",
        rf"(?:>=|≥|at least|from) ?(?P<low>{_NUMBER})",
        rf"(?:<|under|below|less than|younger than) ?(?P<high>{_NUMBER})",
        "any",
    )
)
_SMALLER_THAN_YEARS = ("month", "week", "day", "hour", "minute")


@lru_cache(maxsize=4_096)
def parse_band(text: str, style: BandStyle) -> Band:
    """Read one band as it is written.

    In the inclusive style anything that `printed_band` reads will do, as long as its ends are
    whole numbers. Currencies, periods and years are passed over; smaller times are not, because
    6 months are not 6 of what a band without a unit counts.

    Examples
    --------
    >>> parse_band("65 and over", BandStyle.INCLUSIVE).low
    65
    >>> parse_band("16 to 24", BandStyle.INCLUSIVE) == parse_band("16-25", BandStyle.HALF_OPEN)
    True
    >>> parse_band("de 1 000 à 1 999 €", BandStyle.INCLUSIVE).name(BandStyle.INCLUSIVE)
    '1000-1999'
    """
    band = _printed(text) if style is BandStyle.INCLUSIVE else _noted(text)
    if band is not None and band.low < band.high:
        return band
    raise InputError(
        Reason.BAD_BAND,
        f"The band {quoted([text])} was to be read.",
        f"It is not a band in the {style.value} style.",
        "Write it as 16-24, 25 to 34, 65+, 65 and over, under 16 or <16."
        if style is BandStyle.INCLUSIVE
        else "Write it as 16-25, 65-inf, 65+ or <16, the upper bound not included.",
    )


def _printed(text: str) -> Band | None:
    if text.endswith("-inf"):
        text = text.removesuffix("-inf") + "+"
    read = printed_band.read_band(text)
    if read is None or read.unit in _SMALLER_THAN_YEARS:
        return None
    ends = (read.low, read.high)
    if any(end is not None and end.denominator != 1 for end in ends):
        return None
    low, high = (None if end is None else end.numerator for end in ends)
    return Band(
        -math.inf if low is None else low + (not read.has_low),
        math.inf if high is None else high + read.has_high,
    )


def _noted(text: str) -> Band | None:
    plain = re.sub(r"[‐‑‒–—−]", "-", " ".join(text.lower().split()))
    for pattern in _NOTATION:
        if match := pattern.fullmatch(plain):
            ends = match.groupdict()
            return Band(_number(ends.get("low") or "-inf"), _number(ends.get("high") or "inf"))
    return None


def check_bands(bands: Mapping[str, Band]) -> list[Problem]:
    """Return a problem for every gap and every overlap of bands that should cover a range.

    Examples
    --------
    >>> bands = {"16-24": Band(16, 25), "26+": Band(26, math.inf)}
    >>> [problem.reason.value for problem in check_bands(bands)]
    ['bands-gap']
    """
    problems: list[Problem] = []
    ordered = sorted(bands.items(), key=lambda item: (item[1].low, item[1].high))
    for number, (name, band) in enumerate(ordered):
        for other_name, other in ordered[number + 1 :]:
            if other.low >= band.high:
                break
            shared = Band(other.low, min(band.high, other.high))
            problems.append(
                Problem(
                    Reason.BANDS_OVERLAP,
                    f"bands {quoted([name])} and {quoted([other_name])}",
                    f"both hold {_spoken(shared)}.",
                    "Give every number one band.",
                )
            )
    before, highest = ordered[0] if ordered else ("", Band(0, 0))
    for name, band in ordered[1:]:
        if band.low > highest.high:
            problems.append(
                Problem(
                    Reason.BANDS_GAP,
                    f"between band {quoted([before])} and band {quoted([name])}",
                    f"no band holds {_spoken(Band(highest.high, band.low))}.",
                    "Add a band for it.",
                )
            )
        if band.high > highest.high:
            before, highest = name, band
    return problems


class BandGraph:
    """A partition graph of bands that grows band by band.

    The first bands cover the range of the variable without gap or overlap.

    Examples
    --------
    >>> grown = BandGraph(["0-18", "18-inf"], BandStyle.HALF_OPEN)
    >>> grown.add("16-21").graph.sinks
    ('0-16', '16-18', '18-21', '21-inf')
    """

    def __init__(self, first: Iterable[str], style: BandStyle) -> None:
        self.style = style
        self._children: dict[Band, list[Band]] = {}
        given = list(first)
        bands, problems = _parsed(given, style)
        problems += check_bands(bands)
        if problems or not bands:
            raise InputError(
                Reason.BAD_BAND,
                f"A partition graph that starts from {count_of(len(given), 'band')} was asked for.",
                f"They have {count_of(len(problems), 'fault')}." if problems else "There are none.",
                "Start from bands that cover the range of the variable without gap or overlap.",
                problems=problems,
            )
        for band in bands.values():
            self._children[band] = []
        self.space = Band(
            min(band.low for band in bands.values()), max(band.high for band in bands.values())
        )

    @classmethod
    def of(cls, bands: Iterable[str], style: BandStyle, space: Band) -> BandGraph:
        """Build from the range of the variable and any bands within it, in sorted order."""
        grown = cls([space.name(style)], style)
        given = list(bands)
        parsed, problems = _parsed(given, style)
        parsed = {name: band.within(space) for name, band in parsed.items()}
        problems += [
            Problem(
                Reason.BAD_BAND,
                f"band {quoted([name])}",
                f"is not within the range {space.name(style)} of the variable.",
                "Widen the range or correct the band.",
            )
            for name, band in parsed.items()
            if not space.holds(band)
        ]
        if problems:
            raise InputError(
                Reason.BAD_BAND,
                f"A partition graph of {count_of(len(given), 'band')} was asked for.",
                f"It has {count_of(len(problems), 'fault')}.",
                problems=problems,
            )
        for band in sorted(parsed.values()):
            grown._insert(band)
        return grown

    def add(self, text: str) -> BandGraph:
        """Add one band; a band that is there already changes nothing. Returns the same object."""
        band = parse_band(text, self.style).within(self.space)
        if not self.space.holds(band):
            raise InputError(
                Reason.BAD_BAND,
                f"The band {quoted([text])} was to be added.",
                f"It is not within {self.space.name(self.style)}, the range of the variable.",
                "Start from a wider range: earlier categorizations would leave the new part out.",
            )
        self._insert(band)
        return self

    @property
    def graph(self) -> PartitionGraph:
        """The partition graph, its sinks in ascending order."""
        names = {band: band.name(self.style) for band in self._children}
        sinks = sorted(band for band, below in self._children.items() if not below)
        return PartitionGraph(
            {
                names[band]: [names[child] for child in below]
                for band, below in self._children.items()
            },
            order=[names[band] for band in sinks],
        )

    @property
    def bands(self) -> dict[str, Band]:
        """Every category of the graph with its band."""
        return {band.name(self.style): band for band in sorted(self._children)}

    def _insert(self, band: Band) -> None:
        if band in self._children:
            return
        sinks = [node for node, below in self._children.items() if not below]
        own = self._children[band] = list[Band]()
        for sink in sinks:
            shared = sink.overlap(band)
            if shared == sink:
                own.append(sink)
            elif shared is not None:
                if shared != band:
                    own.append(shared)
                parts = [shared, *sink.without(band)]
                for part in parts:
                    self._children.setdefault(part, [])
                self._children[sink] = parts


def _parsed(texts: Iterable[str], style: BandStyle) -> tuple[dict[str, Band], list[Problem]]:
    bands: dict[str, Band] = {}
    problems: list[Problem] = []
    for text in texts:
        try:
            bands[text] = parse_band(text, style)
        except InputError as error:
            problems.append(Problem(error.reason, f"band {quoted([text])}", error.found, error.do))
    return bands, problems


def _number(text: str) -> Bound:
    if text in ("inf", "infinity", "∞", "-inf"):
        return -math.inf if text.startswith("-") else math.inf
    exact = Fraction(text.replace(",", ""))
    return exact.numerator if exact.denominator == 1 else exact


def _written(bound: Bound) -> str:
    if isinstance(bound, Fraction):
        decimal = float(bound)
        return repr(decimal) if Fraction(repr(decimal)) == bound else str(bound)
    return str(bound)


def _spoken(band: Band) -> str:
    if band.low == -math.inf:
        return f"anything under {_written(band.high)}"
    if band.high == math.inf:
        return f"{_written(band.low)} or more"
    if isinstance(band.low, int) and band.high == band.low + 1:
        return _written(band.low)
    return f"{_written(band.low)} to below {_written(band.high)}"


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
    plain = [printed_band.plain_text(text) for text in numeric if len(text) <= printed_band.LONGEST]
    decimal = _decimal_sign(plain)
    shared = _shared_words(plain)
    clear = {
        text: band
        for text in texts
        if (band := printed_band.read_band(text, decimal=decimal)) is not None
    }
    found = dict(clear)
    for text in numeric:
        if (
            text not in found
            and (band := printed_band.read_band(text, decimal=decimal, shared=shared)) is not None
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
    outside = printed_band.BRACKETS.sub("", plain)
    if any(c.isdigit() for c in outside):
        return ""
    return " ".join(part[1:-1] for part in printed_band.BRACKETS.findall(plain))


def _partly(
    texts: Sequence[str], part: Callable[[str], str], decimal: str, shared: frozenset[str]
) -> dict[str, printed_band.Printed]:
    """Read a part of each text, if at least two have it as bands that do not overlap.

    'Mild (under 10)', 'Severe (10 or more)' are bands with names; 'Adult (16 or over)', 'Child
    (under 16)', 'Adult man (16 or over)' are not.
    """
    found: dict[str, printed_band.Printed] = {}
    for text in texts:
        if len(text) <= printed_band.LONGEST and (rest := part(printed_band.plain_text(text))):
            band = printed_band.read_plain(rest, decimal, shared, nothing_is_zero=False)
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
        words = {w.group() for w in printed_band.WORD.finditer(text)}
        counts.update(
            {printed_band.stem(word) for word in words if not (word.isdigit() or word in "()[]")}
        )
    needed = max(2, -(-len(plain) // 3))
    return frozenset(word for word, count in counts.items() if count >= needed)


def _read_nothing(
    texts: Sequence[str], found: dict[str, printed_band.Printed], shared: frozenset[str]
) -> None:
    """Let 'none' or 'no cars' be 0 among answers that count."""
    some = next(iter(found.values()))
    if some.unit in ("year", "month"):
        return
    for text in texts:
        if text in found or any(c.isdigit() for c in text):
            continue
        band = printed_band.read_band(text, shared=shared, nothing_is_zero=True)
        if band is not None and band.is_exact and band.low == 0:
            found[text] = band


def _upright(found: dict[str, printed_band.Printed]) -> dict[str, printed_band.Printed]:
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


def _together(texts: Sequence[str], found: dict[str, printed_band.Printed]) -> PrintedBands:
    units = {band.unit for band in found.values() if band.unit}
    periods = {band.period for band in found.values() if band.period}
    factors: dict[str, Fraction] = {}
    unit = next(iter(units), "")
    if len(units) > 1:
        sizes = next(
            (s for s in (printed_band.TIME_UNITS, printed_band.CALENDAR_UNITS) if units <= set(s)),
            None,
        )
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
    above = [
        text
        for text in texts
        if text not in ends and printed_band.plain_text(text) in printed_band.BEYOND
    ]
    below = [
        text
        for text in texts
        if text not in ends and printed_band.plain_text(text) in printed_band.SHORT_OF
    ]
    found: dict[str, Ends] = {}
    if len(above) == 1 and high < math.inf:
        found[above[0]] = (high, math.inf)
    if len(below) == 1 and low > -math.inf:
        found[below[0]] = (-math.inf, low)
    return found


def _ends(
    found: Mapping[str, printed_band.Printed], step: Fraction, factors: Mapping[str, Fraction]
) -> tuple[dict[str, Ends], tuple[str, ...]]:
    """Return half-open intervals; shared and missing ends are settled with the neighbours."""

    def size(band: printed_band.Printed) -> Fraction:
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
