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

    @property
    def text(self) -> str:
        """As it is written."""
        return ", ".join(self.bands)


@dataclass(frozen=True, slots=True)
class Width:
    """Bands of one width, the first of which begins at a number."""

    width: Fraction
    start: Fraction = Fraction(0)

    @property
    def text(self) -> str:
        """As it is written."""
        start = f" from {_number(self.start)}" if self.start else ""
        return f"width {_number(self.width)}{start}"


@dataclass(frozen=True, slots=True)
class Ends:
    """Numbers of a bottom or less are one category, those of a top or more another."""

    bottom: Fraction | None = None
    top: Fraction | None = None

    @property
    def text(self) -> str:
        """As it is written."""
        ends = (("bottom", self.bottom), ("top", self.top))
        return ", ".join(f"{name} {_number(end)}" for name, end in ends if end is not None)


@dataclass(frozen=True, slots=True)
class Groups:
    """Categories put together by hand; all others stay. A group without a name has its members'."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def text(self) -> str:
        """As it is written."""
        return "; ".join(
            f"{name}: {' | '.join(members)}" if name else " | ".join(members)
            for name, members in self.groups
        )


@dataclass(frozen=True, slots=True)
class First:
    """The first letters or digits of values, as of codes of occupations or of postal codes."""

    letters: int

    @property
    def text(self) -> str:
        """As it is written."""
        return f"first {self.letters}"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """So many neighbouring categories together, in their order, from the lowest on."""

    number: int

    @property
    def text(self) -> str:
        """As it is written."""
        return f"neighbours {self.number}"


@dataclass(frozen=True, slots=True)
class Level:
    """So many steps up the partition graph of the variable in the environment."""

    steps: int

    @property
    def text(self) -> str:
        """As it is written."""
        return f"level {self.steps}"


@dataclass(frozen=True, slots=True)
class OfCode:
    """The categorization or harmonization that has a code in the environment."""

    code: str

    @property
    def text(self) -> str:
        """As it is written."""
        return f"code {self.code}"


@dataclass(frozen=True, slots=True)
class OfForm:
    """The categorization of a form of the environment."""

    form: str

    @property
    def text(self) -> str:
        """As it is written."""
        return f"as {self.form}"


@dataclass(frozen=True, slots=True)
class Together:
    """Everything in one category: as if the variable were left out."""

    @property
    def text(self) -> str:
        """As it is written."""
        return "together"


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
        return f"{self.variable}={self.way.text}"


def _number(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    text = f"{float(number):.15g}"
    return text if Fraction(text) == number else str(number)
