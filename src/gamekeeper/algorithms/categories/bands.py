"""Bands of a number, such as ages or incomes, and the partition graph they make.

A band is a half-open interval [low, high). It can be written by its half-open bounds ('16-25',
'65-inf') or as forms print whole numbers, with both ends included ('16-24', '25 to 34', '65+',
'65 and over', 'under 16', and whatever else `printed_band` reads). The graph grows by the
corrected `add_node` of Smith and Elliot, appendix 1.1: a new band is attached to the sinks that
it holds or cuts, a sink that is cut gets its parts as children, and a remainder on both sides
becomes two bands. So the sinks are the intervals between neighbouring cut points of all bands.
Adding a band costs the number of sinks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.printed_band import read_band
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
    """Return a band of whole numbers as forms print it."""
    if text.endswith("-inf"):
        text = text.removesuffix("-inf") + "+"
    read = read_band(text)
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
    """Return a band in half-open notation."""
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

    Parameters
    ----------
    first
        Bands that cover the range of the variable without gap or overlap.
    style
        How bands are written.

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
