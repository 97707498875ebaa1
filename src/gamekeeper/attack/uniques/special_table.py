"""The properties that tell special uniques from random ones, counted: Table 2 of the paper.

Elliot and Manning 2003 list what distinguishes a special unique: two things that people notice and
four that the data show. Here the four are counted on a file for both kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gamekeeper.results import Provenance, Result, arrow_table
from gamekeeper.wording import number_text, percent_text

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class GroupCount:
    """How many of how many have a property; an expected number need not be whole."""

    number: float
    total: float

    @property
    def share(self) -> float | None:
        """The share; None of nothing."""
        return self.number / self.total if self.total else None

    @property
    def words(self) -> str:
        """The count in words."""
        if self.share is None:
            return "there are none"
        return (
            f"{number_text(round(self.number, 1))} of {number_text(round(self.total, 1))} "
            f"({percent_text(self.share)})"
        )


@dataclass(frozen=True, slots=True)
class PropertyLine:
    """One property: what is expected of both kinds, and what was counted.

    Attributes
    ----------
    name
        The property, as in the paper.
    test
        What was tried on the file; empty for what only people can judge.
    expected_special, expected_random
        What the paper expects of the two kinds.
    special, random
        The counts; None where it is a matter for people.
    """

    name: str
    test: str
    expected_special: str
    expected_random: str
    special: GroupCount | None
    random: GroupCount | None

    @property
    def words(self) -> str:
        """The line as a sentence."""
        if self.special is None or self.random is None:
            return f"{self.name}: a matter for people, not counted."
        return (
            f"{self.name} ({self.test}): special uniques {self.special.words}; "
            f"random uniques {self.random.words}."
        )


@dataclass(frozen=True, repr=False)
class SpecialProperties(Result):
    """The properties of special and random uniques, one line each."""

    tells_of_records = False

    lines: tuple[PropertyLine, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        counted = sum(line.special is not None for line in self.lines)
        return {"lines": len(self.lines), "counted": counted}

    def sentences(self) -> list[str]:
        """Return every line as a sentence."""
        return [line.words for line in self.lines]

    def to_arrow(self) -> pa.Table:
        """Return one line per property and test; without numbers where people must judge."""
        texts = ("property", "test", "expected_special", "expected_random")
        numbers = ("special", "of_special", "special_share", "random", "of_random", "random_share")
        columns = {**dict.fromkeys(texts, "string"), **dict.fromkeys(numbers, "float64")}
        rows = [
            (
                line.name,
                line.test,
                line.expected_special,
                line.expected_random,
                *_numbers(line.special),
                *_numbers(line.random),
                line.words,
            )
            for line in self.lines
        ]
        return arrow_table({**columns, "in_words": "string"}, rows)


def _numbers(count: GroupCount | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if count is None else (count.number, count.total, count.share)
