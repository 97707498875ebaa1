"""Batch files of tau-ARGUS (`.arb`): which data, which tables, which rules; nothing in them is run.

    <OPENTABLEDATA> "t.tab"  or  <OPENMICRODATA> "m.asc"        what it is about
    <OPENMETADATA> "t.rda"                                      how that is written
    <SPECIFYTABLE> "Size""Region"|"Turnover"|"Shadow"|"Cost"    axes, response, shadow, cost
    <SAFETYRULE> P(10,1)|NK(1,85)|FREQ(3,10)|ZERO(1)|WGT(1)     rules, as the manual writes them
    <APRIORI> "t.hst",1,";",0,0                                 what was decided before
    <SUPPRESS> MOD(1,5,1,0,0)                                   how further cells are to be hidden

Rules with numbers of 0 are not in force. Safety ranges (the second number of FREQ, ZERO, MAN) are how
far a cell must be left open, and are told, as is what is not read: how to hide further cells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from gamekeeper.data.cells.argus_file import beside
from gamekeeper.data.cells.tool_text import tool_text
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import quoted

_LINE = re.compile(r"\s*<(\w+)>\s*(.*?)\s*$")
_NAME = re.compile(r'"([^"]*)"')
_RULE = re.compile(r"\s*(\w+)\s*\(([^)]*)\)\s*")
_KNOWN_RULES = {"P": "p", "NK": "dominance", "FREQ": "minimum", "PQ": "pq", "REQ": "request"}
_SILENT = {"MAN", "MIS", "WGT", "ZERO"}


@dataclass(frozen=True)
class BatchTable:
    """A table that a batch file asks for.

    Attributes
    ----------
    axes, response, shadow
        Its axes, what is added up ("" where units are counted), and what rules look at.
    rules
        The rules, as they are typed here.
    apriori
        The file with what was decided before.
    is_weighted
        Whether weights are used.
    left_out
        What is asked for and not done here, as it is written.
    """

    axes: tuple[str, ...]
    response: str
    shadow: str = ""
    rules: tuple[str, ...] = ()
    apriori: Path | None = None
    is_weighted: bool = False
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArgusBatch:
    """A batch file: its data, their description, and tables."""

    data: Path
    description: Path
    is_microdata: bool
    tables: tuple[BatchTable, ...]


def read_batch(path: str | Path) -> ArgusBatch:
    """Read what a batch file of tau-ARGUS asks for."""
    file = Path(path)
    asked = f"The batch file {quoted([file.name])} was to be read."
    files: dict[str, Path] = {}
    tables: list[BatchTable] = []
    problems: list[Problem] = []
    for number, line in enumerate(tool_text(file, asked).splitlines(), 1):
        met = None if line.lstrip().startswith("//") else _LINE.match(line)
        if met is None:
            continue
        word, given = met[1].upper(), met[2]
        where = f"line {number}"
        if word in ("OPENTABLEDATA", "OPENMICRODATA", "OPENMETADATA"):
            found = _file(file.parent, given)
            if found is None:
                do = "Put the file beside the batch file."
                said = "names a file that is not there."
                problems.append(Problem(Reason.NOT_FOUND, where, said, do))
            else:
                files[word] = found
        elif word == "SPECIFYTABLE":
            tables.append(_table(given))
        elif word in ("SAFETYRULE", "APRIORI", "SUPPRESS", "WRITETABLE"):
            if not tables:
                said = "comes before any table is specified."
                problems.append(Problem(Reason.MALFORMED, where, said))
            elif word == "SAFETYRULE":
                tables[-1] = _with_rules(tables[-1], given, where, problems)
            elif word == "APRIORI":
                own = _file(file.parent, given)
                if own is None:
                    said = "names a file that is not there."
                    problems.append(Problem(Reason.NOT_FOUND, where, said))
                tables[-1] = replace(tables[-1], apriori=own)
            elif word == "SUPPRESS":
                tables[-1] = replace(tables[-1], left_out=(*tables[-1].left_out, given))
    data = files.get("OPENTABLEDATA") or files.get("OPENMICRODATA")
    if not tables:
        problems.append(Problem(Reason.WRONG_SCHEMA, "tables", "none is specified."))
    if data is None and not problems:
        problems.append(Problem(Reason.WRONG_SCHEMA, "data", "no file is named."))
    description = files.get("OPENMETADATA")
    if data is not None and description is None:
        description = beside(data.parent, f"{data.stem}.rda")
        if description is None:
            said = "is not there, and none is named."
            problems.append(Problem(Reason.NOT_FOUND, "the description (.rda)", said))
    if problems or data is None or description is None:
        raise InputError(
            problems[0].reason, asked, "It cannot be followed.", "Mend these.", problems=problems
        )
    return ArgusBatch(data, description, "OPENMICRODATA" in files, tuple(tables))


def _file(folder: Path, given: str) -> Path | None:
    met = _NAME.search(given)
    name = (met[1] if met else given.split(",")[0]).strip()
    # Batch files come from other machines: their folders are not here, but files beside them are.
    return beside(folder, re.split(r"[\\/]", name)[-1]) if name else None


def _table(given: str) -> BatchTable:
    parts = given.split("|")
    names = [_NAME.findall(part) or [part.strip()] for part in parts]
    response = names[1][0] if len(names) > 1 else ""
    shadow = names[2][0] if len(names) > 2 else ""
    counted = response.strip("<>").casefold() in ("freq", "")
    return BatchTable(
        tuple(name.strip() for name in names[0]),
        "" if counted else response.strip(),
        "" if shadow.strip() in ("", response.strip()) else shadow.strip(),
    )


def _with_rules(table: BatchTable, given: str, where: str, problems: list[Problem]) -> BatchTable:
    rules: list[str] = []
    left: list[str] = []
    is_weighted = False
    for part in filter(None, (own.strip() for own in given.split("|"))):
        met = _RULE.fullmatch(part)
        name = met[1].upper() if met else ""
        numbers = [own.strip() for own in met[2].split(",")] if met else []
        if met is None or name not in {*_KNOWN_RULES, *_SILENT}:
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "has a rule that is not known."))
        elif name == "WGT":
            is_weighted = numbers[:1] == ["1"]
        elif name in _SILENT:
            rules += ["zero"] if name == "ZERO" else []
            left += [part]
        elif numbers and numbers[0] not in ("", "0"):
            rules.append(_rule(name, numbers))
            left += [part] if name in ("FREQ", "REQ") and len(numbers) > 1 else []
    return replace(
        table,
        rules=tuple(dict.fromkeys(rules)),
        is_weighted=is_weighted,
        left_out=(*table.left_out, *left),
    )


def _rule(name: str, numbers: list[str]) -> str:
    if name == "P":
        return f"p:{numbers[0]}" + (f":{numbers[1]}" if numbers[1:2] not in ([], ["1"]) else "")
    if name in ("NK", "PQ"):
        return f"{_KNOWN_RULES[name]}:{':'.join(numbers[:2])}"
    return f"{_KNOWN_RULES[name]}:{numbers[0]}"
