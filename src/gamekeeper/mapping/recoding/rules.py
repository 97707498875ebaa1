"""Ways to make the categories of a variable coarser, and how each is written.

A rule says nothing of the values of a file: it is the same on next year's file. `grammar` reads
what `RecodeRule.text` writes, and `applying` turns rules into codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


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
