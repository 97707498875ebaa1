"""Files that a request asks for: looked at before any work is done, written when it is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.data.engine.bringing import require_written
from gamekeeper.data.engine.gate import Engine
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.data.keys.writing import write_listed
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.files.gate import fault_of_file, fault_of_folder
from gamekeeper.options import Option, paths, written
from gamekeeper.report.drawings.figures import save_figure
from gamekeeper.report.saving import PAGE_ENDINGS, PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench.requests.counting import ON_THIS_MACHINE

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.report.risk_page import RiskReport

_ENDINGS = {
    "table": TABLE_ENDINGS,
    "counted": TABLE_ENDINGS,
    "msus": TABLE_ENDINGS,
    "changes": TABLE_ENDINGS,
    "picture": PICTURE_ENDINGS,
    "page": PAGE_ENDINGS,
    "public": PAGE_ENDINGS,
    "external": (".json",),
    "json": (".json",),
}
_FOLDERS = ("folder", "environment")
# What the work writes as it goes, or only where it must.
_BY_THE_WORK = (*_FOLDERS, "values", "release")


def require_outputs(asked: Any) -> None:
    """Refuse before any work what could not be written, or would spoil what is read or is there.

    Every file or folder that the request names and does not write counts as read, be it within
    another option (`A=levels.csv`, `policy=rules.json`). A file that is there already is replaced if
    the request has `replace` set.
    """
    read = [path for path in paths(asked) if path.exists()]
    replace = bool(getattr(asked, "replace", False))
    counting = getattr(asked, "counting", ON_THIS_MACHINE)
    asked_for = written(asked)
    places = [path.absolute() for _, path in asked_for]
    problems: list[Problem] = []
    for number, (option, path) in enumerate(asked_for):
        if _is_folder(option, path) and counting.is_elsewhere and path.exists():
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

    A table and a picture are those of the result, `found.to_arrow()` and `found.plot()`; a page is
    that of `report`, made where one is asked for. Other kinds need a way to be written (`json=...`),
    and a way that is given comes first.
    """
    for option, path in written(asked):
        way = ways.get(option.writes)
        if way is not None:
            way(path)
        elif option.writes in ("table", "counted"):
            write_table(found.to_arrow(), path, raw=bool(getattr(asked, "raw", False)))
        elif option.writes == "picture":
            save_figure(found.plot(), path)
        elif option.writes == "page" and report is not None:
            from gamekeeper.report.risk_page import write_risk_report

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
    (`there`). Else this machine writes the file (`here` gives the table), so many rows at most.
    """
    require_written(engine, n_rows, path.suffix.lower(), what)
    if engine.is_local or not _is_parquet(path):
        write_table(here(), path, raw=raw)
    else:
        there(path)


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


def _is_folder(option: Option, path: Path) -> bool:
    return option.writes == "counted" and _is_parquet(path)


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
        return fault_of_folder(path, may_be_environment=True)
    if option.writes == "folder":
        return fault_of_folder(path)
    return fault_of_file(path, replace=replace and option.writes != "values")
