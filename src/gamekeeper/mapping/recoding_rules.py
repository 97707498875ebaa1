"""Ways to make the categories of a variable coarser, and how each is written.

A rule says nothing of the values of a file: it is the same on next year's file. It is one line of
text for a variable, `VARIABLE=WAY`; `recoding` turns it into codes.

=====================================  ==========================================================
``Age=0-15, 16-24, 25-64, 65+``        bands, as printed on a form
``Age=width 5`` , ``width 10 from 15``  bands of one width
``Age=top 80`` , ``bottom 15, top 80``  numbers beyond an end together
``Region=North: A | B; South: C | D``  groups by hand; all other categories stay
``Work=first 2``                       the first letters or digits
``Age=neighbours 3``                   so many neighbouring categories together
``Work=level 1``                       steps up the partition graph of the environment
``Work=code C9.002`` , ``as Census``    a code, or the categorization of a form
``Work=together``                      everything in one category
=====================================  ==========================================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.variables.codes import is_code
from gamekeeper.wording import count_of, quoted


@dataclass(frozen=True, slots=True)
class Bands:
    """Bands of a number, as printed: 0-15, 16-24, 65+."""

    bands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Width:
    """Bands of one width, the first of which begins at a number."""

    width: Fraction
    start: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Ends:
    """Numbers of a bottom or less are one category, those of a top or more another."""

    bottom: Fraction | None = None
    top: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Groups:
    """Categories put together by hand; all others stay. A group without a name has its members'."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class First:
    """The first letters or digits of values, as of codes of occupations or of postal codes."""

    letters: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """So many neighbouring categories together, in their order, from the lowest on."""

    number: int


@dataclass(frozen=True, slots=True)
class Level:
    """So many steps up the partition graph of the variable in the environment."""

    steps: int


@dataclass(frozen=True, slots=True)
class OfCode:
    """The categorization or harmonization that has a code in the environment."""

    code: str


@dataclass(frozen=True, slots=True)
class OfForm:
    """The categorization of a form of the environment."""

    form: str


@dataclass(frozen=True, slots=True)
class Together:
    """Everything in one category: as if the variable were left out."""


Way = Bands | Width | Ends | Groups | First | Neighbours | Level | OfCode | OfForm | Together


@dataclass(frozen=True, slots=True)
class RecodeRule:
    """How one variable is made coarser.

    Examples
    --------
    >>> RecodeRule("Age", Ends(top=Fraction(80))).text
    'Age=top 80'
    """

    variable: str
    way: Way

    @property
    def text(self) -> str:
        """As it is written at the prompt."""
        return f"{self.variable}={way_text(self.way)}"


def way_text(way: Way) -> str:
    """Return a way as it is written."""
    match way:
        case Bands(bands):
            return ", ".join(bands)
        case Width(width, start):
            return f"width {_number(width)}" + (f" from {_number(start)}" if start else "")
        case Ends(bottom, top):
            ends = (("bottom", bottom), ("top", top))
            return ", ".join(f"{name} {_number(end)}" for name, end in ends if end is not None)
        case Groups(groups):
            return "; ".join(
                f"{name}: {' | '.join(members)}" if name else " | ".join(members)
                for name, members in groups
            )
        case First(letters):
            return f"first {letters}"
        case Neighbours(number):
            return f"neighbours {number}"
        case Level(steps):
            return f"level {steps}"
        case OfCode(code):
            return f"code {code}"
        case OfForm(form):
            return f"as {form}"
        case Together():
            return "together"


def _number(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    text = f"{float(number):.15g}"
    return text if Fraction(text) == number else str(number)


HOW = (
    "Write VARIABLE=0-15, 16-64, 65+ (bands), width 5, top 80, bottom 15, first 2, neighbours 3,"
    " level 1, code C9.002, as FORM, together, or groups: North: A | B; South: C | D."
)
_NUMBER = r"-?\d{1,15}(?:\.\d{1,15})?"
_ENDS = re.compile(
    rf"(?P<one>top|bottom)\s+(?P<one_at>{_NUMBER})"
    rf"(?:\s*(?:,|\band\b)\s*(?P<two>top|bottom)\s+(?P<two_at>{_NUMBER}))?",
    re.IGNORECASE,
)
_WIDTH = re.compile(
    rf"width\s+(?P<width>{_NUMBER})(?:\s+from\s+(?P<start>{_NUMBER}))?", re.IGNORECASE
)
_COUNTED = re.compile(r"(?P<word>first|neighbou?rs|level)\s+(?P<number>\d{1,6})", re.IGNORECASE)
_CODE = re.compile(r"(?:code\s+)?(?P<code>\S+)", re.IGNORECASE)
_FORM = re.compile(r"as\s+(?P<form>\S.*)", re.IGNORECASE)


def parse_recodes(texts: Sequence[str]) -> tuple[RecodeRule, ...]:
    """Read recodings as they are typed; one error has all that cannot be read.

    Examples
    --------
    >>> [rule.way for rule in parse_recodes(["Age=top 80", "Region=North: A | B"])]
    [Ends(bottom=None, top=Fraction(80, 1)), Groups(groups=(('North', ('A', 'B')),))]
    """
    rules: list[RecodeRule] = []
    problems: list[Problem] = []
    for text in texts:
        name, equals, way = (part.strip() for part in text.partition("="))
        if not (equals and name and way):
            found = "that is not VARIABLE=WAY."
            problems.append(Problem(Reason.BAD_OPTION, f"recode {quoted([text])}", found))
            continue
        try:
            rules.append(RecodeRule(name, _way(way)))
        except InputError as error:
            where = f"recode of {quoted([name])}"
            problems += [Problem(error.reason, where, error.found, error.do)]
    counts = Counter(rule.variable.casefold() for rule in rules)
    problems += [
        Problem(
            Reason.DUPLICATE,
            f"variable {quoted([rule.variable])}",
            f"it has {counts[rule.variable.casefold()]} recodings.",
            "Give one for each variable.",
        )
        for rule in {rule.variable.casefold(): rule for rule in rules}.values()
        if counts[rule.variable.casefold()] > 1
    ]
    asked = f"{count_of(len(texts), 'recoding was', 'recodings were')} asked for."
    found = f"{count_of(len(problems), 'fault was', 'faults were')} found in them."
    refuse(problems, asked, found, HOW)
    return tuple(rules)


def parse_recode(text: str) -> RecodeRule:
    """Read one recoding as it is typed.

    Examples
    --------
    >>> parse_recode("Age = width 5").way
    Width(width=Fraction(5, 1), start=Fraction(0, 1))
    """
    return parse_recodes([text])[0]


def read_bands(texts: Sequence[str]) -> list[Band]:
    """Return bands that are typed, or raise where they overlap.

    Examples
    --------
    >>> read_bands(["16-24", "65+"])[0]
    Band(low=16, high=25)
    """
    bands = [parse_band(text, BandStyle.INCLUSIVE) for text in texts]
    for place, band in enumerate(bands):
        for other in range(place):
            if band.overlap(bands[other]) is not None:
                raise _fault(f"the bands {quoted([texts[other], texts[place]])} overlap.")
    return bands


def _way(text: str) -> Way:
    if text.casefold() == "together":
        return Together()
    if match := _WIDTH.fullmatch(text):
        width = Fraction(match["width"])
        if width <= 0:
            raise _fault("a width must be more than 0.")
        return Width(width, Fraction(match["start"] or 0))
    if match := _ENDS.fullmatch(text):
        return _ends(match)
    if match := _COUNTED.fullmatch(text):
        return _counted(match["word"].casefold(), int(match["number"]))
    if match := _FORM.fullmatch(text):
        return OfForm(match["form"].strip())
    match = _CODE.fullmatch(text)
    if match is not None and is_code(match["code"].upper()):
        return OfCode(match["code"].upper())
    if ":" in text or "|" in text:
        return _groups(text)
    bands = tuple(part.strip() for part in text.split(",") if part.strip())
    read_bands(bands)
    return Bands(bands)


def _ends(match: re.Match[str]) -> Ends:
    ends = {match["one"].casefold(): Fraction(match["one_at"])}
    if match["two"]:
        if match["two"].casefold() in ends:
            raise _fault(f"it has {match['two'].casefold()} twice.")
        ends[match["two"].casefold()] = Fraction(match["two_at"])
    made = Ends(ends.get("bottom"), ends.get("top"))
    if made.bottom is not None and made.top is not None and made.bottom >= made.top:
        raise _fault("its bottom is not below its top.")
    return made


def _counted(word: str, number: int) -> Way:
    least = 2 if word.startswith("n") else 1
    if number < least:
        raise _fault(f"{quoted([f'{word} {number}'])} changes nothing: give {least} or more.")
    if word == "first":
        return First(number)
    return Level(number) if word == "level" else Neighbours(number)


def _groups(text: str) -> Groups:
    groups: list[tuple[str, tuple[str, ...]]] = []
    for part in (part for part in text.split(";") if part.strip()):
        name, colon, listed = part.rpartition(":")
        members = tuple(member.strip() for member in listed.split("|") if member.strip())
        if not members or (colon and not name.strip()):
            raise _fault(f"the group {quoted([part.strip()])} has no name or no members.")
        groups.append((name.strip(), members))
    named = Counter(member for _, members in groups for member in members)
    twice = [member for member, count in named.items() if count > 1]
    if twice:
        raise _fault(f"{quoted(twice)} {'is' if len(twice) == 1 else 'are'} there more than once.")
    labels = Counter(name for name, _ in groups if name)
    if any(count > 1 for count in labels.values()):
        raise _fault("two groups have the same name.")
    return Groups(tuple(groups))


def _fault(found: str) -> InputError:
    return InputError(Reason.BAD_OPTION, "A recoding was asked for.", found)
