"""Files of tau-ARGUS: tables (`.tab`), records, what was decided before (`.hst`), batches (`.arb`).

A table or a file of records, of fixed columns or with a separator, is described by its `.rda`. A batch
file says which data, which tables, which rules; nothing in it is run.

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

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from gamekeeper.arrow import pa
from gamekeeper.data.reading.columns import number_of
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.data.tables.axes import raise_all
from gamekeeper.data.tables.cell_file import CellRows, Figures, Status, read_statuses, tool_text
from gamekeeper.data.tables.hierarchy import Hierarchy, read_hierarchy
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

_TAG = re.compile(r"<(\w+)>([^<]*)")
_QUOTED = re.compile(r'"([^"]*)"')
_MOST_PROBLEMS = 12


@dataclass
class ArgusVariable:
    """A variable of a description, what it is for, and in which columns of a line it is."""

    name: str
    tags: dict[str, str] = field(default_factory=dict[str, str])
    missing: tuple[str, ...] = ()
    start: int = 0
    width: int = 0


def read_argus_table(
    path: str | Path, *, description: str | Path | None = None, value: str = ""
) -> CellRows:
    """Read a table of tau-ARGUS, with the hierarchies, totals and levels that its description names.

    The description of a `.tab` file is the `.rda` file of the same name, if no other is given. `value` is
    the variable that was added up, where there are several.
    """
    file = Path(path)
    asked = f"The table in file {quoted([file.name])} was to be read."
    told = Path(description) if description else beside(file.parent, f"{file.stem}.rda")
    if told is None or not told.is_file():
        raise InputError(
            Reason.NOT_FOUND, asked, "Its description, a .rda file of the same name, is not there.",
            "Put it beside the table, or save the table as CSV with names in its first line.",
        )  # fmt: skip
    separator, variables = described(tool_text(told, asked))
    rows = separated(tool_text(file, asked), separator or ",", asked)
    do = "Check the separator in the description."
    columns = by_variable(rows, variables, asked, "It has no rows.", do)
    return _made(file, told, variables, columns, value, asked)


def apply_apriori(rows: CellRows, path: str | Path) -> CellRows:
    """Return a table with the statuses and levels of an a-priori file (`.hst`).

    Each line has the codes of a cell and then S (safe), P (not to be hidden), U (unsafe), M (hidden by
    hand), PL with a lower and an upper level, or C with a cost, which an audit does not need.
    """
    file = Path(path)
    asked = f"What was decided before was to be read from file {quoted([file.name])}."
    text = tool_text(file, asked)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(";,\t|", key=first.count)
    places = {key: at for at, key in enumerate(zip(*rows.labels, strict=True))}
    wholes = [(rows.totals.get(name) or ("Total",))[0] for name in rows.axes]
    statuses, marks = list(rows.statuses), list(rows.marks)
    lower = list(rows.lower_levels or [None] * len(rows))
    upper = list(rows.upper_levels or [None] * len(rows))
    problems: list[Problem] = []
    meaning = {"s": Status.SHOWN, "p": Status.SHOWN, "u": Status.UNSAFE, "m": Status.SECONDARY}
    for number, line in enumerate(csv.reader(io.StringIO(text), delimiter=separator), 1):
        parts = [part.strip() for part in line]
        if not any(parts):
            continue
        codes, rest = parts[: len(rows.axes)], parts[len(rows.axes) :]
        at = places.get(tuple(code or whole for code, whole in zip(codes, wholes, strict=False)))
        if at is None or not rest:
            said = "is of no cell of the table." if at is None else "says nothing of its cell."
            problems.append(Problem(Reason.UNKNOWN_NAME, f"line {number}", said))
            continue
        code = rest[0].casefold()
        if code in meaning:
            statuses[at], marks[at] = meaning[code], rest[0]
        elif code == "pl":
            levels = [_level(text) for text in rest[1:3]]
            if not levels or None in levels:
                said = "has a level that is no number."
                problems.append(Problem(Reason.BAD_COUNT, f"line {number}", said))
                continue
            lower[at], upper[at] = levels[0], levels[-1]
        elif code not in ("c", "ml"):
            problems.append(
                Problem(Reason.UNKNOWN_NAME, f"line {number}", "has a code that is not known.")
            )
    if len(problems) > _MOST_PROBLEMS:
        more = f"{count_of(len(problems) - _MOST_PROBLEMS, 'more line')}"
        problems = [
            *problems[:_MOST_PROBLEMS],
            Problem(problems[0].reason, more, "cannot be used either."),
        ]
    raise_all(asked, problems)
    return replace(rows, statuses=statuses, marks=marks, lower_levels=lower, upper_levels=upper)


def _level(text: str) -> Fraction | None:
    found = number_of(text)
    return number_of(text, ",") if found is None else found


def beside(folder: Path, name: str) -> Path | None:
    """Return a file of a folder by its name, whatever its case; these tools do not tell cases apart."""
    if (folder / name).is_file():
        return folder / name
    if not folder.is_dir():
        return None
    return next(
        (own for own in sorted(folder.iterdir()) if own.name.casefold() == name.casefold()), None
    )


def described(text: str) -> tuple[str | None, list[ArgusVariable]]:
    """Return the separator, None where there is none, and the variables of a description."""
    separator: str | None = None
    variables: list[ArgusVariable] = []
    for line in text.splitlines():
        tags = dict(_TAG.findall(line))
        if not tags and line.strip():
            name = line.split('"')[0].split()
            missing = tuple(code.strip() for code in _QUOTED.findall(line))
            places = [int(own) for own in name[1:3] if own.isdecimal()]
            start, width = places if len(places) == 2 else (0, 0)
            # Of records, codes for missing follow the place.
            missing = missing or (tuple(name[3:]) if width else ())
            variables.append(
                ArgusVariable(name[0] if name else line.strip(), {}, missing, start, width)
            )
        for tag, given in tags.items():
            told = given.strip().strip('"')
            if tag.upper() == "SEPARATOR":
                separator = told or ","
            elif variables:
                variables[-1].tags[tag.upper()] = told
    return separator, variables


def separated(text: str, separator: str, asked: str) -> list[list[str]]:
    """Return the cells of each line that is not empty."""
    if len(separator) != 1:
        said = "The separator in its description is not a single sign."
        raise InputError(Reason.MALFORMED, asked, said, 'Write it as <SEPARATOR> ";".')
    return [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]


def by_variable(
    rows: Sequence[Sequence[str]],
    variables: Sequence[ArgusVariable],
    asked: str,
    none: str,
    do: str,
) -> dict[str, list[str]]:
    """Return the texts of each variable, or say that there are none, or too few, and what to do."""
    short = sum(len(row) < len(variables) for row in rows)
    if short or not rows:
        said = f"{count_of(short, 'line has', 'lines have')} fewer than {len(variables)} columns."
        raise InputError(Reason.MALFORMED, asked, said if rows else none, do)
    return {v.name: [row[at].strip() for row in rows] for at, v in enumerate(variables)}


def _made(
    file: Path,
    told: Path,
    variables: Sequence[ArgusVariable],
    columns: dict[str, list[str]],
    value: str,
    asked: str,
) -> CellRows:
    axes = [v for v in variables if "RECODEABLE" in v.tags]
    numeric = [
        v for v in variables
        if "NUMERIC" in v.tags and not {"SHADOW", "COSTVAR", "LOWERPL", "UPPERPL"} & set(v.tags)
    ]  # fmt: skip
    frequency = next((v for v in variables if "FREQUENCY" in v.tags), None)
    figure = (
        next((v for v in numeric if v.name == value), None)
        if value
        else next(iter(numeric), frequency)
    )
    if not axes or figure is None:
        raise InputError(
            Reason.WRONG_SCHEMA, asked,
            f"File {quoted([told.name])} names no axis, or no variable that was added up.",
            did_you_mean(value, [v.name for v in numeric]) if value else "Check the description.",
        )  # fmt: skip
    problems: list[Problem] = []

    def numbers(variable: ArgusVariable | None) -> Figures | None:
        return (
            None if variable is None else _numbers(variable.name, columns[variable.name], problems)
        )

    status = next((v for v in variables if "STATUS" in v.tags), None)
    figures = numbers(figure) or []
    marks = columns[status.name] if status else ["" for _ in figures]
    meaning = (
        read_statuses(marks, status.name, asked, vocabulary=_kind(marks))
        if status
        else {"": Status.SHOWN}
    )
    made = CellRows(
        file.name,
        tuple(v.name for v in axes),
        tuple(columns[v.name] for v in axes),
        figures,
        [meaning[mark] for mark in marks],
        list(marks),
        numbers(frequency),
        tuple(own for v in variables if "MAXSCORE" in v.tags and (own := numbers(v)) is not None),
        numbers(next((v for v in variables if "LOWERPL" in v.tags), None)),
        numbers(next((v for v in variables if "UPPERPL" in v.tags), None)),
        totals={v.name: (v.tags.get("TOTCODE", "") or "Total",) for v in axes},
        hierarchies={
            v.name: str(own)
            for v in axes
            if "HIERCODELIST" in v.tags and (own := beside(told.parent, v.tags["HIERCODELIST"]))
        },
        outside={v.name: v.missing for v in axes if v.missing},
    )
    problems += [
        Problem(
            Reason.NOT_FOUND, f"axis {quoted([v.name])}",
            f"its hierarchy {quoted([v.tags['HIERCODELIST']])} is not beside the description.",
        )
        for v in axes
        if "HIERCODELIST" in v.tags and v.name not in made.hierarchies
    ]  # fmt: skip
    raise_all(asked, problems)
    return made


def _kind(marks: Sequence[str]) -> str | None:
    return "numbers" if all(mark.isdecimal() for mark in marks if mark) else "argus"


def _numbers(name: str, texts: Sequence[str], problems: list[Problem]) -> Figures:
    decimal = "," if any("," in text for text in texts) else "."
    found = [None if not text else number_of(text, decimal) for text in texts]
    wrong = sum(number is None and bool(text) for number, text in zip(found, texts, strict=True))
    if wrong:
        said = f"{count_of(wrong, 'cell has', 'cells have')} no number."
        problems.append(Problem(Reason.BAD_COUNT, f"column {quoted([name])}", said))
    return found


@dataclass(frozen=True)
class ArgusRecords:
    """Records, and what their description says of the columns.

    - `hierarchies`: for each axis with one, its hierarchy.
    - `weight`, `holding`, `request`: the columns with the weight, the holding, and who asked for
      protection; "" for none.
    """

    source: Source
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    weight: str = ""
    holding: str = ""
    request: str = ""


def read_argus_records(data: Path, description: Path) -> ArgusRecords:
    """Read records of tau-ARGUS."""
    asked = f"Records were to be read from file {quoted([data.name])}."
    separator, variables = described(tool_text(description, asked))
    placed = [variable for variable in variables if variable.width]
    lines = [line for line in tool_text(data, asked).splitlines() if line.strip()]
    if separator is not None or len(placed) < len(variables):
        rows = separated("\n".join(lines), separator or ",", asked)
        if rows and [cell.strip() for cell in rows[0]] == [v.name for v in variables]:
            rows = rows[1:]
    else:
        rows = [[line[v.start - 1 : v.start - 1 + v.width] for v in placed] for line in lines]
    columns = by_variable(rows, variables, asked, "It has no records.", "Check the description.")
    for variable in variables:
        if {"NUMERIC", "WEIGHT"} & set(variable.tags):
            columns[variable.name] = [own.replace(",", ".") for own in columns[variable.name]]
    tagged = {tag: v.name for v in reversed(variables) for tag in v.tags}
    return ArgusRecords(
        open_source(pa.table(columns)),
        {
            v.name: own
            for v in variables
            if (own := _hierarchy(v, columns[v.name], description)) is not None
        },
        tagged.get("WEIGHT", ""),
        tagged.get("HOLDING", ""),
        tagged.get("REQUEST", ""),
    )


def _hierarchy(variable: ArgusVariable, codes: list[str], description: Path) -> Hierarchy | None:
    if "HIERCODELIST" in variable.tags:
        file = beside(description.parent, variable.tags["HIERCODELIST"])
        if file is None:
            raise InputError(
                Reason.NOT_FOUND,
                f"Records were to be read by the description {quoted([description.name])}.",
                f"The hierarchy {quoted([variable.tags['HIERCODELIST']])} is not beside it.",
                "Put it there.",
            )
        lead = variable.tags.get("HIERLEADSTRING") or "@"
        return read_hierarchy(file, lead=lead).beside(variable.missing)
    if "HIERLEVELS" not in variable.tags:
        return None
    widths = [int(own) for own in variable.tags["HIERLEVELS"].split() if own.isdecimal()]
    ends = [sum(widths[: at + 1]) for at, width in enumerate(widths) if width]
    chains = [[code[:end] for end in ends if end <= len(code)] for code in dict.fromkeys(codes)]
    pairs = [
        (below, over)
        for chain in chains
        for over, below in zip(["", *chain], chain, strict=False)
        if over != below
    ]
    return Hierarchy.of_parents(dict.fromkeys(pairs), f"digits of {quoted([variable.name])}")


_LINE = re.compile(r"\s*<(\w+)>\s*(.*?)\s*$")
_NAME = re.compile(r'"([^"]*)"')
_RULE = re.compile(r"\s*(\w+)\s*\(([^)]*)\)\s*")
_KNOWN_RULES = {"P": "p", "NK": "dominance", "FREQ": "minimum", "PQ": "pq", "REQ": "request"}
_SILENT = {"MAN", "MIS", "WGT", "ZERO"}


@dataclass(frozen=True)
class BatchTable:
    """A table that a batch file asks for.

    - `axes`, `response`, `shadow`: its axes, what is added up ("" where units are counted), and
      what rules look at.
    - `apriori`: the file with what was decided before.
    - `is_weighted`: whether weights are used.
    - `left_out`: what is asked for and not done here, as it is written.
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
