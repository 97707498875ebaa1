"""Classifications of others as partition graphs, read from SDMX, ARX, tau-ARGUS and tables.

Categories are named by their labels; where two codes share a label, the code goes in front. A
total ('_T', 'TOTAL') is no category: it says that everything was counted. What has no parts that
could be told is left out, and a note names it: nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element

from gamekeeper.algorithms.categories.bands import Band, Bound, read_bands
from gamekeeper.data.reading.apart import plain_of, send_plain
from gamekeeper.errors import InputError, Reason
from gamekeeper.importing import files
from gamekeeper.importing.questions import bands_of, interval_definition
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


_LEVEL = re.compile(r"level\W?\d+", re.IGNORECASE)
_CODE = ["code", "id", "key", "category_code"]
_LABEL = ["label", "name", "title", "description", "category"]
_PARENT = ["parent", "parent_code", "parent code", "parentcode", "parent id", "broader"]


def is_sdmx(file: files.OpenedFile) -> bool:
    """Tell whether a file is SDMX-ML with code lists."""
    head = file.content[:4000]
    return file.ending == ".xml" and (b"sdmx" in head.lower() and b"Structure" in head)


def read_sdmx(file: files.OpenedFile) -> list[Classification]:
    """Return the code lists, and the hierarchies of hierarchical code lists."""
    found: list[Classification] = []
    labels: dict[tuple[str, str], str] = {}
    lists = [e for e in file.xml.iter() if e.tag in ("Codelist", "CodeList")]
    for listed in lists:
        codes = [_code(e) for e in listed if e.tag == "Code"]
        labels.update({(listed.get("id", ""), code.code): code.label for code in codes})
        title = _name(listed)
        codes, notes = with_parents(codes)
        if codes:
            found.append(from_codes(listed.get("id", "") or title, codes, title, notes))
    for hierarchy in file.xml.iter("Hierarchy"):
        codes = list(_nested(hierarchy, "", labels))
        if codes:
            name = hierarchy.get("id", "") or _name(hierarchy)
            found.append(from_codes(name, codes, _name(hierarchy)))
    if not found:
        raise files.malformed(file.name, "It has no code list with codes.", "Export code lists.")
    return found


def _code(element: Element) -> Code:
    parent = element.find("Parent/Ref")
    over = (
        parent.get("id", "")
        if parent is not None
        else files.clean(element.get("parentCode") or element.findtext("Parent"))
    )
    code = files.clean(element.get("id") or element.get("value"))
    return Code(code, _name(element) or code, over)


def _name(element: Element) -> str:
    """Return the name of an element, the English one where there are several languages."""
    names = [child for tag in ("Name", "Description") for child in element.findall(tag)]
    english = [child for child in names if child.get("lang", "").startswith("en")]
    return files.clean(next(iter(english or names), Element("none")).text)


def _nested(element: Element, parent: str, labels: dict[tuple[str, str], str]) -> Iterator[Code]:
    for child in element:
        if child.tag in ("HierarchicalCode", "CodeRef"):
            ref = child.find("Code/Ref")
            code = files.clean(
                (ref.get("id") if ref is not None else None)
                or child.findtext("CodeID")
                or child.findtext("CodeId")
                or child.get("id")
            )
            label = next((text for (_, c), text in labels.items() if c == code), code)
            yield Code(code, label, parent)
            yield from _nested(child, code, labels)
        elif child.tag in ("Level", "Name", "Annotations"):
            continue
        else:
            yield from _nested(child, parent, labels)


def is_hrc(file: files.OpenedFile) -> bool:
    """Tell whether a file is a hierarchy of tau-ARGUS."""
    return file.ending == ".hrc"


def read_hrc(file: files.OpenedFile) -> list[Classification]:
    """Return the hierarchy; the number of signs before a code is its level."""
    over: list[str] = []
    codes: list[Code] = []
    for number, line in enumerate(file.text.splitlines(), 1):
        code = line.strip().lstrip("@")
        if not code.strip():
            continue
        level = len(line.strip()) - len(code)
        if level > len(over):
            raise files.malformed(
                file.name, f"Line {number} is {level} levels deep after {len(over) - 1}."
            )
        over[level:] = [code.strip()]
        codes.append(Code(code.strip(), code.strip(), over[level - 1] if level else ""))
    return [from_codes(file.path.stem, codes)]


def is_parent_table(file: files.OpenedFile) -> bool:
    """Tell whether a file has codes with their parents, or a code list as SDMX keeps it in CSV."""
    return file.has_columns(_CODE, _PARENT) or file.has_columns(
        ["id"], ["name"], ["name_locale", "description"]
    )


def read_parent_table(file: files.OpenedFile) -> list[Classification]:
    """Return the classification of a table."""
    codes = [
        Code(
            code,
            files.clean(files.first_of(row, _LABEL)) or code,
            files.clean(files.first_of(row, _PARENT)),
        )
        for row in file.table[1]
        if (code := files.clean(files.first_of(row, _CODE)))
    ]
    codes, notes = with_parents(codes)
    return [from_codes(file.path.stem, codes, notes=notes)]


def is_census_tables(file: files.OpenedFile) -> bool:
    """Tell whether a file has classifications of variables as the ONS publishes those of a census."""
    return file.has_columns(["variable"], ["classification"], ["category_name"])


def read_census_tables(file: files.OpenedFile) -> list[Classification]:
    """Return one classification per variable, its finest list of categories with coarser ones above.

    The tables say which lists a variable has, not which category is part of which. That is told by
    bands, by the same words, and by words before a colon ('Asian: Indian' is part of 'Asian'); a
    coarser category whose parts cannot be told is left out and named.
    """
    lists: dict[str, dict[str, list[str]]] = {}
    titles: dict[str, str] = {}
    for row in file.table[1]:
        variable, listed = (
            files.first_of(row, ["variable"]),
            files.first_of(row, ["classification"]),
        )
        label = files.clean(files.first_of(row, ["category_name"]))
        if label:
            lists.setdefault(variable, {}).setdefault(listed, []).append(label)
            titles.setdefault(
                variable, files.clean(files.first_of(row, ["variable_name"])) or variable
            )
    return [_of_lists(name, titles[name], list(own.values())) for name, own in lists.items()]


def _of_lists(name: str, title: str, lists: list[list[str]]) -> Classification:
    finest = list(dict.fromkeys(max(lists, key=len)))
    everything = list(dict.fromkeys(label for own in lists for label in own))
    if not read_bands(finest).unread and len(finest) > 1:
        read = read_bands(everything)
        return Classification(
            title, bands=bands_of(read), description=name, notes=_left_out(list(read.unread))
        )
    children: dict[str, tuple[str, ...]] = dict.fromkeys(finest, ())
    unknown: list[str] = []
    for label in everything:
        if label not in children:
            parts = tuple(fine for fine in finest if fine.startswith(f"{label}: "))
            if parts:
                children[label] = parts
            else:
                unknown.append(label)
    return Classification(title, children, description=name, notes=_left_out(unknown))


def _left_out(labels: list[str]) -> tuple[str, ...]:
    if not labels:
        return ()
    return (
        f"{count_of(len(labels), 'category', 'categories')} left out, parts unknown: {quoted(labels)}",
    )


def is_levels(file: files.OpenedFile) -> bool:
    """Tell whether a file has one row per finest category and a column per level, as ARX has it.

    The columns are called level0, level1 and so on, or have no names and end in one that is the
    same in every row, because everything is merged there.
    """
    rows = _level_rows(file.rows[:2000]) if file.ending in files.TABLES else []
    if not rows or len(rows[0]) < 2:
        return False
    return _has_level_names(rows[0]) or len({row[-1] for row in rows}) == 1


def _level_rows(given: list[list[str]]) -> list[list[str]]:
    """Return the rows that have something in them, each as long as the first.

    They are not read by the names of columns: a first row without names may say the same twice.
    """
    rows = [row for row in given if any(cell.strip() for cell in row)]
    width = len(rows[0]) if rows else 0
    return [[files.clean(cell) for cell in (*row, *[""] * width)[:width]] for row in rows]


def _has_level_names(header: list[str]) -> bool:
    return all(_LEVEL.fullmatch(name) for name in header)


def read_levels(file: files.OpenedFile) -> list[Classification]:
    """Return the hierarchy of levels; a first row without names is a row like any other."""
    levels = _level_rows(file.rows)
    if levels and _has_level_names(levels[0]):
        del levels[0]
    has_top = len({row[-1] for row in levels}) == 1 < len(levels[0])
    children: dict[str, dict[str, None]] = {}
    parents: dict[str, str] = {}
    odd: set[str] = set()
    for row in levels:
        names = row[:-1] if has_top else row
        for fine, coarse in pairwise(names):
            if not fine or not coarse or fine == coarse:
                continue
            if parents.setdefault(fine, coarse) != coarse:
                odd.add(fine)
                continue
            children.setdefault(coarse, {})[fine] = None
        children.setdefault(names[0], {})
    if odd:
        raise files.malformed(
            file.name,
            f"{count_of(len(odd), 'category', 'categories')} with two parents: {quoted(sorted(odd))}.",
            "Give every category one parent per level.",
        )
    return [
        Classification(file.path.stem, {name: tuple(parts) for name, parts in children.items()})
    ]


@dataclass(frozen=True, slots=True)
class ListFormat:
    """A format of classifications."""

    name: str
    description: str
    holds: Callable[[files.OpenedFile], bool]
    read: Callable[[files.OpenedFile], list[Classification]]


LIST_FORMATS: tuple[ListFormat, ...] = (
    ListFormat("sdmx", "SDMX code lists and hierarchical code lists (XML)", is_sdmx, read_sdmx),
    ListFormat("hrc", "hierarchies of tau-ARGUS", is_hrc, read_hrc),
    ListFormat(
        "census", "census classifications of the ONS (CSV)", is_census_tables, read_census_tables
    ),
    ListFormat(
        "parents", "codes with parents, SDMX code lists as CSV", is_parent_table, read_parent_table
    ),
    ListFormat("levels", "a row per category and a column per level (ARX)", is_levels, read_levels),
)


def read_classifications(
    path: str | Path, *, format_name: str | None = None, most_megabytes: int = files.MOST_MEGABYTES
) -> list[Classification]:
    """Read the classifications of a file; nothing is fetched."""
    path = Path(path)
    files.require_file(path, most_megabytes)
    found = plain_of(
        send_classifications, str(path), format_name, most_megabytes, path=path,
        asked=files.asked_to_import(path.name), do=files.WAY_AROUND,
    )  # fmt: skip
    return [classification_of(tree) for tree in found]


def send_classifications(
    out: BinaryIO, name: str, format_name: str | None, most_megabytes: int
) -> None:
    """Write the classifications of a file."""
    path = Path(name)
    file = files.OpenedFile(path, most_megabytes)
    for known in LIST_FORMATS:
        if known.name == format_name or (format_name is None and known.holds(file)):
            found = [one for one in known.read(file) if one.children or one.bands]
            if not found:
                raise files.malformed(path.name, "It has no categories.")
            send_plain(out, [one.as_plain() for one in found])
            return
    raise InputError(
        Reason.WRONG_SCHEMA,
        f"The classifications of {quoted([path.name])} were to be read.",
        "It is of no format that is known."
        if format_name is None
        else f"There is no format {quoted([format_name])}.",
        f"These are read: {'; '.join(f'{f.name} ({f.description})' for f in LIST_FORMATS)}.",
    )
