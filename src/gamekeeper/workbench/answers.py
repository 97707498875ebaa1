"""What commands on files share: memory and outputs checked first, notices, results written to files.

Before records are read a request is held to what could not be written and to what the machine has
room for. Besides what was found, an answer has notices: of the scenario, and of values like missing
ones.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper import files
from gamekeeper.arrow import pa
from gamekeeper.budget import Work, require_memory, workers_of
from gamekeeper.data.coding.codebook import suspected_codes
from gamekeeper.data.coding.coded_table import FIRST_RECORDS, CodedTable, first_codes
from gamekeeper.data.engine.gate import FEWER_RECORDS, MOST_BROUGHT, Engine, require_written
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.data.keys.writing import write_listed
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import LimitError, Problem, Reason, refuse
from gamekeeper.options import Option, paths, written
from gamekeeper.wording import at_start, count_of, joined, number_text, quoted
from gamekeeper.workbench.requests.shared import ON_THIS_MACHINE

if TYPE_CHECKING:
    from gamekeeper.attack.what_if import WhatIf
    from gamekeeper.report.page import RiskReport

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Found]):
    """What was found, what may be wrong with data or scenario, and what a recoding does, if there is one."""

    found: Found
    notices: tuple[str, ...] = ()
    what_if: WhatIf | None = None


_SHOWN = 8


def missing_code_notices(
    table: CodedTable, *, known: Mapping[str, Collection[str]] | None = None, decimal: str = "."
) -> tuple[str, ...]:
    """Say which values look like codes for missing, in which columns, and what to do.

    Only codes of a fixed list of ours are named. `known` has values that are explained, by column.
    """
    by_column: dict[str, dict[str, int]] = {}
    for item in suspected_codes(table, known=known, decimal=decimal):
        by_column.setdefault(item.variable, {})[item.value] = item.n_records
    by_codes: dict[tuple[str, ...], dict[str, int]] = {}
    for column, counts in by_column.items():
        by_codes.setdefault(tuple(counts), {})[column] = sum(counts.values())
    return tuple(_notice(codes, columns, table.n_records) for codes, columns in by_codes.items())


def in_file(name: str, notices: Iterable[str]) -> tuple[str, ...]:
    """Say of which file notices are, where there are several."""
    return tuple(f"In the file {quoted([name])}: {notice}" for notice in notices)


def _notice(codes: tuple[str, ...], columns: Mapping[str, int], n_records: int) -> str:
    one = len(codes) == 1
    shown = [
        f"{quoted([column])} ({number:,} of {count_of(n_records, 'record')})"
        for column, number in list(columns.items())[:_SHOWN]
    ]
    left = len(columns) - len(shown)
    where = joined([*shown, *([f"{left:,} more"] if left else [])])
    # A dot at the end must not be taken for that of a sentence.
    typed = (f"'{code}'" if code.endswith(".") else shlex.quote(code) for code in codes)
    options = " ".join(f"--missing-value {code}" for code in typed)
    return (
        f"{joined([quoted([code]) for code in codes])} {'looks' if one else 'look'} like"
        f" {'a code' if one else 'codes'} for missing in the"
        f" {'column' if len(columns) == 1 else 'columns'} {where}, and {'is' if one else 'are'} read as"
        f" {'a value' if one else 'values'}. Where {'it means' if one else 'they mean'} missing, add"
        f" {options}."
    )


_ENDINGS = {
    "table": files.TABLE_ENDINGS,
    "counted": files.TABLE_ENDINGS,
    "msus": files.TABLE_ENDINGS,
    "changes": files.TABLE_ENDINGS,
    "picture": files.PICTURE_ENDINGS,
    "page": files.PAGE_ENDINGS,
    "public": files.PAGE_ENDINGS,
    "external": (".json",),
    "json": (".json",),
}
_FOLDERS = ("folder", "environment")
# What the work writes as it goes, or only where it must.
_BY_THE_WORK = (*_FOLDERS, "values", "release")


def require_outputs(asked: Any) -> None:
    """Refuse before any work what could not be written, or would spoil what is read or is there.

    Every file or folder that the request names and does not write counts as read, be it within another
    option (`A=levels.csv`, `policy=rules.json`); with `replace` a file that is there is replaced.
    """
    read = [path for path in paths(asked) if path.exists()]
    replace = bool(getattr(asked, "replace", False))
    counting = getattr(asked, "counting", ON_THIS_MACHINE)
    asked_for = written(asked)
    places = [path.absolute() for _, path in asked_for]
    problems: list[Problem] = []
    for number, (option, path) in enumerate(asked_for):
        is_folder = option.writes == "counted" and _is_parquet(path)
        if is_folder and counting.is_elsewhere and path.exists():
            # A folder is not replaced: what else is in it would go as well.
            found, do = "is there already.", "Name a folder that is not there yet."
        else:
            found, do = _fault(option, path, read, replace=replace)
        if not found and places[number] in places[:number]:
            found, do = "is asked for twice.", "Name two files."
        if found:
            kind = "folder" if option.writes in _FOLDERS else "file"
            where = f"{kind} {quoted([str(path)], letters=400)}"
            problems.append(Problem(Reason.NOT_WRITABLE, where, found, do))
    refuse(
        problems,
        f"{count_of(len(problems), 'file or folder', 'files or folders')} could not be written.",
        "Nothing was done.",
    )


def write_outputs(
    asked: Any,
    found: Any,
    *,
    report: Callable[[], RiskReport] | None = None,
    **ways: Callable[[Path], object],
) -> None:
    """Write the files that a request asks for.

    A table and a picture are those of the result, a page is that of `report`. Other kinds need a way to
    be written (`json=...`), and a way that is given comes first.
    """
    for option, path in written(asked):
        way = ways.get(option.writes)
        if way is not None:
            way(path)
        elif option.writes in ("table", "counted"):
            _write_table(found.to_arrow(), path, raw=bool(getattr(asked, "raw", False)))
        elif option.writes == "picture":
            from gamekeeper.report.page import save_figure

            save_figure(found.plot(), path)
        elif option.writes == "page" and report is not None:
            from gamekeeper.report.page import write_risk_report

            write_risk_report(report(), path)
        else:
            assert option.writes in _BY_THE_WORK, f"no way to write a {option.writes} is given"


def write_where_counted(
    engine: Engine,
    path: Path,
    n_rows: int,
    what: str,
    *,
    there: Callable[[Path], object],
    here: Callable[[], pa.Table],
    raw: bool,
) -> None:
    """Write a table that an engine elsewhere may have.

    Where it does and the file's name ends in .parquet, that engine writes a folder of that name
    (`there`). Else this machine writes the file (`here`), so many rows at most.
    """
    require_written(engine, n_rows, path.suffix.lower(), what)
    if engine.is_local or not _is_parquet(path):
        _write_table(here(), path, raw=raw)
    else:
        there(path)


def _write_table(table: pa.Table, path: Path, *, raw: bool) -> None:
    # What pages and tables are made with is loaded by who writes one.
    from gamekeeper.report.tables import write_table

    write_table(table, path, raw=raw)


def listed_writer(
    listed: ListedRecords,
    rows: Callable[[], pa.Table],
    identifier: str,
    here: Callable[[], pa.Table],
    *,
    raw: bool,
) -> Callable[[Path], None]:
    """Return what writes the table of all records, given its rows without the user's own names of them.

    `here` gives it with these names, where this machine writes it.
    """
    coded = listed.table.coded
    return lambda path: write_where_counted(
        coded.engine,
        path,
        coded.n_records,
        "records",
        there=lambda path: write_listed(listed, rows(), path, identifier=identifier),
        here=here,
        raw=raw,
    )


def listed_notices(listed: ListedRecords) -> tuple[str, ...]:
    """Say that a list of records has one of each key, where the others stay with a cluster."""
    if not listed.by_key:
        return ()
    strata = "" if listed.strata() is None else " in a stratum"
    told = (
        f"{listed.table.coded.engine.name} keeps the {count_of(listed.table.coded.n_records, 'record')}. Lists"
        f" of records here have the first with each key{strata}, {count_of(len(listed), 'row')};"
        " the command's --records FILE.parquet has all of them written where they are."
    )
    return (told,)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _fault(option: Option, path: Path, read: list[Path], *, replace: bool) -> tuple[str, str]:
    """Return what is wrong with a file that is to be written and what to do, or nothing."""
    endings = _ENDINGS.get(option.writes, ())
    if endings and path.suffix.lower() not in endings:
        return "has a name with another ending.", f"Let it end in {' or '.join(endings)}."
    if path.exists() and any(path.samefile(source) for source in read):
        return "is to be read, and would be replaced.", "Write to another file."
    if any(path.resolve().is_relative_to(source.resolve()) for source in read if source.is_dir()):
        return "lies within what is to be read.", "Write it elsewhere."
    if option.writes == "environment":
        return files.fault_of_folder(path, may_be_environment=True)
    if option.writes == "folder":
        return files.fault_of_folder(path)
    return files.fault_of_file(path, replace=replace and option.writes != "values")


WITHOUT_HOUSEHOLDS = (
    "Leave out --household: then it works on different keys, of any number of records."
)


@dataclass(frozen=True, slots=True)
class Need:
    """What an attack needs of the machine, asked before a file is read.

    `work` says what it is, and so how many bytes it takes at least; `look` refuses by the codes of
    the first records and the number of all. Where an engine elsewhere has the records it takes
    `most_elsewhere` at most, or works on different keys (`by_key`): how many these are is asked when
    it is known (`require_brought`). `do` is a way around where there are too many elsewhere.
    """

    work: Work
    look: Callable[[NDArray[np.uint32], int], None] | None = None
    most_elsewhere: int | None = None
    by_key: bool = False
    do: str = ""


def require_room(
    source: Source, columns: Sequence[str], need: Need, *, elsewhere: bool = False
) -> None:
    """Refuse a file that is too large for an attack, before its records are read.

    Of records with an engine elsewhere this machine holds arrays only if the attack needs them.
    """
    n_records = source.about_records()
    if elsewhere and need.by_key:
        return
    if n_records is None or not set(columns) <= set(source.names):
        # Names that are not there are told, together with others, by whoever reads.
        return
    n_keys, variables = len(columns), count_of(len(columns), "variable")
    is_exact = source.n_records is not None
    records = f"{'' if is_exact else 'about '}{count_of(n_records, 'record')}"
    asked = f"{at_start(records)} of {source.words} were to be read."
    most = need.most_elsewhere or MOST_BROUGHT
    if elsewhere and n_records > most:
        raise LimitError(
            Reason.TOO_LARGE,
            asked,
            "What is asked for has results of every record, which come to this machine:"
            f" {number_text(most)} at most.",
            f"{need.do}{' ' if need.do else ''}{FEWER_RECORDS}.",
        )
    require_memory(
        asked,
        need.work.least_bytes(n_records, n_keys),
        f"What is kept of {records}{f' with {variables}' if columns else ''}",
        FEWER_RECORDS,
    )
    if need.look is not None and is_exact and n_records > FIRST_RECORDS:
        need.look(first_codes(source, columns), n_records)


def sampling_workers(asked: int | None) -> int:
    """Return how many samples are worked on at a time: as asked, else one per core, eight at most."""
    return workers_of(asked or min(os.cpu_count() or 1, 8))
