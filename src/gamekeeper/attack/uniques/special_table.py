"""The properties that tell special uniques from random ones, counted: Table 2 of the paper.

Elliot and Manning 2003 list what distinguishes a special unique: two things that people notice and
four that the data show. Here the four are counted on a file for both kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gamekeeper.results import Provenance, Result
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
        import pyarrow as pa

        rows: list[dict[str, Any]] = []
        for line in self.lines:
            row: dict[str, Any] = {
                "property": line.name,
                "test": line.test,
                "expected_special": line.expected_special,
                "expected_random": line.expected_random,
            }
            for name, count in (("special", line.special), ("random", line.random)):
                row[name] = None if count is None else count.number
                row[f"of_{name}"] = None if count is None else count.total
                row[f"{name}_share"] = None if count is None else count.share
            rows.append({**row, "in_words": line.words})
        texts = ("property", "test", "expected_special", "expected_random")
        numbers = ("special", "of_special", "special_share", "random", "of_random", "random_share")
        schema = pa.schema(
            [(name, pa.string()) for name in texts]
            + [(name, pa.float64()) for name in numbers]
            + [("in_words", pa.string())]
        )
        return pa.Table.from_pylist(rows, schema=schema)
