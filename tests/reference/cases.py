"""Cases of the reference runner, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Case", "CaseOutcome", "Check", "Difference", "FileOutcome", "NotRun", "ShapeError"]

_SHOWN = 160


class ShapeError(Exception):
    """A file or case is not laid out as its kind asks."""


class NotRun(Exception):  # noqa: N818 - an event, not a fault
    """A case needs something that is not here, such as a file of data."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One expected value that was not found."""

    where: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.where}: expected {_short(self.expected)}, found {_short(self.found)}"


@dataclass
class Case:
    """One case while it is checked: what is given, what is expected, how they differ."""

    name: str
    given: dict[str, Any]
    expected: dict[str, Any]
    differences: list[Difference] = field(default_factory=list[Difference])
    compared: set[str] = field(default_factory=set[str])
    described: set[str] = field(default_factory=set[str])

    def needs(self, name: str) -> Any:
        """Return an input that the case must have."""
        if name not in self.given:
            raise ShapeError(f"the input has no '{name}'")
        return self.given[name]

    def defines(self, name: str) -> bool:
        """Tell whether the case expects something of a field."""
        return self.expected.get(name) is not None

    def compare(
        self, name: str, found: object, *, canonical: Callable[[Any], object] = lambda value: value
    ) -> None:
        """Compare a whole expected field, if it is defined, with what was found."""
        if self.defines(name):
            self.check(name, "", canonical(self.expected[name]), found)

    def check(self, name: str, at: str, expected: object, found: object) -> None:
        """Compare one value at some place within an expected field."""
        self.compared.add(name)
        if expected != found or isinstance(expected, bool) != isinstance(found, bool):
            self.differences.append(Difference(f"{name} {at}".rstrip(), expected, found))

    def describes(self, *names: str) -> None:
        """Note expected fields that describe the case and are no results."""
        self.described |= set(names)


Check = Callable[[Case], None]
"""Checks one case of a kind, by comparing its expected fields with what the library finds."""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What became of one case."""

    name: str
    faults: tuple[str, ...]
    not_compared: tuple[str, ...] = ()
    not_run: str = ""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file: its cases, or why none was run."""

    name: str
    kind: str
    is_supported: bool = True
    cases: tuple[CaseOutcome, ...] = ()
    fault: str = ""

    @property
    def n_run(self) -> int:
        """The number of cases that could be run."""
        return sum(not case.not_run for case in self.cases)

    @property
    def n_passed(self) -> int:
        """The number of cases that were run and are without fault."""
        return sum(not case.faults and not case.not_run for case in self.cases)

    @property
    def is_empty(self) -> bool:
        """Whether the file is as it should be, but without cases."""
        return self.is_supported and not self.fault and not self.cases

    @property
    def is_failed(self) -> bool:
        """Whether the file or a case of it is faulty; a file without cases shows nothing."""
        return bool(self.fault) or self.is_empty or self.n_passed < self.n_run


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
