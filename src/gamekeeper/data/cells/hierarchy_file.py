"""Hierarchies in files: `.hrc` of tau-ARGUS, codes with parents, a column per level."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.cells.tool_text import tool_text
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import quoted

_CODES = ("code", "id", "category", "label", "name")
_PARENTS = ("parent", "parent_code", "parentid", "parent_id", "part_of", "broader")
_MOST_BYTES = 64 << 20


def read_hierarchy(path: str | Path, *, lead: str = "@") -> Hierarchy:
    """Read which categories are sums of others.

    Parameters
    ----------
    path
        A `.hrc` file (each line a code, after as many lead signs as its level), or a text file
        (CSV): with a column `parent` beside that of codes, or else with one column per level.
    lead
        The sign that a `.hrc` file indents with.
    """
    file = Path(path)
    asked = f"A hierarchy was to be read from file {quoted([file.name])}."
    if not lead:
        raise InputError(
            Reason.BAD_OPTION, asked, "The sign that it indents with is empty.", "Name one, as '@'."
        )
    if file.is_file() and file.stat().st_size > _MOST_BYTES:
        raise InputError(
            Reason.TOO_LARGE, asked, "It is larger than a hierarchy can be.", "Check the file."
        )
    text = tool_text(file, asked)
    source = f"file {quoted([file.name])}"
    if file.suffix.lower() == ".hrc":
        return _of_hrc(text, lead, source, asked)
    rows = _rows(text)
    if len(rows) < 2:
        raise InputError(Reason.NOTHING_GIVEN, asked, "It has no rows.", "Check the file.")
    header = [cell.strip() for cell in rows[0]]
    folded = [cell.casefold() for cell in header]
    code = next((folded.index(name) for name in _CODES if name in folded), None)
    parent = next((folded.index(name) for name in _PARENTS if name in folded), None)
    if parent is not None:
        code = next(at for at in range(len(header)) if at != parent) if code is None else code
        pairs = [(_cell(row, code), _cell(row, parent)) for row in rows[1:]]
        return Hierarchy.of_parents([pair for pair in pairs if pair[0]], source)
    if len(header) < 2:
        raise InputError(
            Reason.WRONG_SCHEMA,
            asked,
            "It has one column, so that nothing is said of what adds up.",
            "Give codes with a column 'parent', one column per level, or a .hrc file.",
        )
    return Hierarchy.of_levels(rows[1:], source)


def _of_hrc(text: str, lead: str, source: str, asked: str) -> Hierarchy:
    over: list[str] = []
    pairs: list[tuple[str, str]] = []
    problems: list[Problem] = []
    places: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.lstrip()
        code = bare
        level = 0
        while code.startswith(lead):
            code, level = code[len(lead) :], level + 1
        # Blanks before and after a code are padding: ' 1' and '1' are one.
        code = code.strip()
        if not code:
            continue
        if level > len(over):
            said = f"is {level} levels deep after {max(len(over) - 1, 0)}."
            problems.append(Problem(Reason.MALFORMED, f"line {number}", said))
            continue
        if code in places:
            said = f"has the code of line {places[code]} again."
            problems.append(Problem(Reason.DUPLICATE, f"line {number}", said))
            continue
        places[code] = number
        over[level:] = [code]
        pairs.append((code, over[level - 1] if level else ""))
    refuse(problems, asked, "It is no hierarchy.", "Mend these lines.")
    return Hierarchy.of_parents(pairs, source)


def _rows(text: str) -> list[list[str]]:
    first = text.split("\n", 1)[0]
    delimiter = max(";\t,", key=first.count) if any(mark in first for mark in ";\t,") else ","
    return [
        row
        for row in csv.reader(io.StringIO(text), delimiter=delimiter)
        if any(cell.strip() for cell in row)
    ]


def _cell(row: Sequence[str], at: int) -> str:
    return row[at].strip() if at < len(row) else ""
