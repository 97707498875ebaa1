"""Code lists: SDMX (XML and CSV), `.hrc`, ARX levels, tables of parents, and census tables of the ONS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from xml.etree.ElementTree import Element

from gamekeeper.algorithms.categories.printed_bands import read_bands
from gamekeeper.importing.banding import bands_of
from gamekeeper.importing.classifications.classification import (
    Classification,
    Code,
    from_codes,
    with_parents,
)
from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.limits import malformed
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.files.text_file import TABLES, first_of
from gamekeeper.wording import count_of, quoted

_LEVEL = re.compile(r"level\W?\d+", re.IGNORECASE)
_CODE = ["code", "id", "key", "category_code"]
_LABEL = ["label", "name", "title", "description", "category"]
_PARENT = ["parent", "parent_code", "parent code", "parentcode", "parent id", "broader"]


def is_sdmx(file: OpenedFile) -> bool:
    """Tell whether a file is SDMX-ML with code lists."""
    head = file.content[:4000]
    return file.ending == ".xml" and (b"sdmx" in head.lower() and b"Structure" in head)


def read_sdmx(file: OpenedFile) -> list[Classification]:
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
        raise malformed(file.name, "It has no code list with codes.", "Export code lists.")
    return found


def _code(element: Element) -> Code:
    parent = element.find("Parent/Ref")
    over = (
        parent.get("id", "")
        if parent is not None
        else clean(element.get("parentCode") or element.findtext("Parent"))
    )
    code = clean(element.get("id") or element.get("value"))
    return Code(code, _name(element) or code, over)


def _name(element: Element) -> str:
    """Return the name of an element, the English one where there are several languages."""
    names = [child for tag in ("Name", "Description") for child in element.findall(tag)]
    english = [child for child in names if child.get("lang", "").startswith("en")]
    return clean(next(iter(english or names), Element("none")).text)


def _nested(element: Element, parent: str, labels: dict[tuple[str, str], str]) -> Iterator[Code]:
    for child in element:
        if child.tag in ("HierarchicalCode", "CodeRef"):
            ref = child.find("Code/Ref")
            code = clean(
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


def is_hrc(file: OpenedFile) -> bool:
    """Tell whether a file is a hierarchy of tau-ARGUS."""
    return file.ending == ".hrc"


def read_hrc(file: OpenedFile) -> list[Classification]:
    """Return the hierarchy; the number of signs before a code is its level."""
    over: list[str] = []
    codes: list[Code] = []
    for number, line in enumerate(file.text.splitlines(), 1):
        code = line.strip().lstrip("@")
        if not code.strip():
            continue
        level = len(line.strip()) - len(code)
        if level > len(over):
            raise malformed(
                file.name, f"Line {number} is {level} levels deep after {len(over) - 1}."
            )
        over[level:] = [code.strip()]
        codes.append(Code(code.strip(), code.strip(), over[level - 1] if level else ""))
    return [from_codes(file.path.stem, codes)]


def is_parent_table(file: OpenedFile) -> bool:
    """Tell whether a file has codes with their parents, or a code list as SDMX keeps it in CSV."""
    return file.has_columns(_CODE, _PARENT) or file.has_columns(
        ["id"], ["name"], ["name_locale", "description"]
    )


def read_parent_table(file: OpenedFile) -> list[Classification]:
    """Return the classification of a table."""
    codes = [
        Code(code, clean(first_of(row, _LABEL)) or code, clean(first_of(row, _PARENT)))
        for row in file.table[1]
        if (code := clean(first_of(row, _CODE)))
    ]
    codes, notes = with_parents(codes)
    return [from_codes(file.path.stem, codes, notes=notes)]


def is_census_tables(file: OpenedFile) -> bool:
    """Tell whether a file has classifications of variables as the ONS publishes those of a census."""
    return file.has_columns(["variable"], ["classification"], ["category_name"])


def read_census_tables(file: OpenedFile) -> list[Classification]:
    """Return one classification per variable, its finest list of categories with coarser ones above.

    The tables say which lists a variable has, not which category is part of which. That is told by
    bands, by the same words, and by words before a colon ('Asian: Indian' is part of 'Asian'); a
    coarser category whose parts cannot be told is left out and named.
    """
    lists: dict[str, dict[str, list[str]]] = {}
    titles: dict[str, str] = {}
    for row in file.table[1]:
        variable, listed = first_of(row, ["variable"]), first_of(row, ["classification"])
        label = clean(first_of(row, ["category_name"]))
        if label:
            lists.setdefault(variable, {}).setdefault(listed, []).append(label)
            titles.setdefault(variable, clean(first_of(row, ["variable_name"])) or variable)
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


def is_levels(file: OpenedFile) -> bool:
    """Tell whether a file has one row per finest category and a column per level, as ARX has it.

    The columns are called level0, level1 and so on, or have no names and end in one that is the
    same in every row, because everything is merged there.
    """
    rows = _level_rows(file.rows[:2000]) if file.ending in TABLES else []
    if not rows or len(rows[0]) < 2:
        return False
    return _has_level_names(rows[0]) or len({row[-1] for row in rows}) == 1


def _level_rows(given: list[list[str]]) -> list[list[str]]:
    """Return the rows that have something in them, each as long as the first.

    They are not read by the names of columns: a first row without names may say the same twice.
    """
    rows = [row for row in given if any(cell.strip() for cell in row)]
    width = len(rows[0]) if rows else 0
    return [[clean(cell) for cell in (*row, *[""] * width)[:width]] for row in rows]


def _has_level_names(header: list[str]) -> bool:
    return all(_LEVEL.fullmatch(name) for name in header)


def read_levels(file: OpenedFile) -> list[Classification]:
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
        raise malformed(
            file.name,
            f"{count_of(len(odd), 'category', 'categories')} with two parents: {quoted(sorted(odd))}.",
            "Give every category one parent per level.",
        )
    return [
        Classification(file.path.stem, {name: tuple(parts) for name, parts in children.items()})
    ]
