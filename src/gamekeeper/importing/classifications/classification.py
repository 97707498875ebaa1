"""A classification as it was read: categories with their parts, from codes with parents.

Categories are named by their labels; where two codes share a label, the code goes in front. A
total ('_T', 'TOTAL') is no category: it says that everything was counted. What has no parts that
could be told is left out, and a note names it: nothing is guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gamekeeper.algorithms.categories.bands import Band, Bound
from gamekeeper.importing.banding import interval_definition
from gamekeeper.mapping.variables.definitions import Interval, Nominal
from gamekeeper.wording import count_of, quoted

_TOTALS = frozenset({"_t", "t", "total", "tot", "_total"})


@dataclass(frozen=True, slots=True)
class Code:
    """One entry of a code list."""

    code: str
    label: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Classification:
    """Categories with their parts; those without parts are the finest, in the order of the list.

    A classification of a number has `bands` instead.
    """

    name: str
    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    bands: Mapping[str, Band] = field(default_factory=dict[str, Band])
    description: str = ""
    notes: tuple[str, ...] = ()

    def definition(self, name: str | None = None) -> Nominal | Interval:
        """Return the definition of a variable with these categories."""
        if self.bands:
            return interval_definition(name or self.name, self.bands, self.description)
        return Nominal(
            name=name or self.name,
            description=self.description,
            scale="nominal",
            categories={category: list(parts) for category, parts in self.children.items()},
            order=[category for category, parts in self.children.items() if not parts],
        )

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain values, exactly: see `classification_of`."""
        return {
            "name": self.name,
            "children": self.children,
            "bands": {name: (str(band.low), str(band.high)) for name, band in self.bands.items()},
            "description": self.description,
            "notes": self.notes,
        }


def classification_of(tree: Mapping[str, Any]) -> Classification:
    """Return a classification from plain values.

    Examples
    --------
    >>> ages = Classification("Age", bands={"0-15": Band(0, 16), "16+": Band(16, float("inf"))})
    >>> classification_of(ages.as_plain()) == ages
    True
    """
    plain: dict[str, Any] = dict(tree)
    plain["children"] = {name: tuple(parts) for name, parts in tree["children"].items()}
    plain["bands"] = {name: Band(*map(_bound, ends)) for name, ends in tree["bands"].items()}
    plain["notes"] = tuple(tree["notes"])
    return Classification(**plain)


def _bound(text: str) -> Bound:
    if text.endswith("inf"):
        return float(text)
    number = Fraction(text)
    return int(number) if number.denominator == 1 else number


def from_codes(
    name: str, codes: Sequence[Code], description: str = "", notes: Iterable[str] = ()
) -> Classification:
    """Return the classification of codes with parents.

    Examples
    --------
    >>> codes = [Code("_T", "Total"), Code("1", "City", "_T"), Code("2", "Town", "_T")]
    >>> from_codes(
    ...     "Place", [*codes, Code("21", "Suburb", "2"), Code("22", "Other town", "2")]
    ... ).children
    {'City': (), 'Town': ('Suburb', 'Other town'), 'Suburb': (), 'Other town': ()}
    """
    said = list(notes)
    first: dict[str, Code] = {}
    for code in codes:
        if code.code and code.code.casefold() not in _TOTALS:
            first.setdefault(code.code, code)
    if again := sorted(c for c, n in Counter(code.code for code in codes).items() if c and n > 1):
        said.append(f"{count_of(len(again), 'code')} listed twice, read once: {quoted(again)}")
    if len(first) > 1 and not any(code.parent in first for code in first.values()):
        said.append(
            "no code has a parent: all are taken as finest; check that none is part of another"
        )
    counts = Counter(code.label for code in first.values())
    named = {
        code.code: code.label
        if code.label and counts[code.label] == 1
        else f"{code.code} {code.label}".strip()
        for code in first.values()
    }
    children: dict[str, list[str]] = {named[code]: [] for code in first}
    for code in first.values():
        parent = code.parent if code.parent in first and code.parent != code.code else ""
        if parent and not _reaches(first, parent, code.code):
            children[named[parent]].append(named[code.code])
    return Classification(
        name,
        {category: tuple(parts) for category, parts in children.items()},
        description=description,
        notes=tuple(said),
    )


def _reaches(codes: Mapping[str, Code], start: str, goal: str) -> bool:
    """Tell whether going up from a code comes by another; a list may go round in a circle."""
    seen: set[str] = set()
    while start and start not in seen:
        if start == goal:
            return True
        seen.add(start)
        start = codes[start].parent if start in codes else ""
    return False


def with_parents(codes: Sequence[Code]) -> tuple[list[Code], list[str]]:
    """Return codes with the parents that their own digits tell (A, A01, A011), and a note of that.

    Only where no code has a parent yet, and if all of at least one longer level has parents, so
    that letters do not get parents by chance.
    """
    if any(code.parent for code in codes):
        return list(codes), []
    known = {code.code for code in codes}
    found: list[Code] = []
    told = 0
    for code in codes:
        parent = next(
            (
                code.code[:end]
                for end in range(len(code.code) - 1, 0, -1)
                if code.code[:end] in known and code.code[end:].isdigit()
            ),
            "",
        )
        told += bool(parent)
        found.append(Code(code.code, code.label, parent))
    roots = [code for code in found if not code.parent]
    if told < len(found) / 2 or any(
        c.code[-1:].isdigit() and len(c.code) > min(len(r.code) for r in roots) for c in roots
    ):
        return list(codes), []
    return found, ["parents were told from the codes"]
