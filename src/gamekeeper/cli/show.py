"""Printing results as a table, JSON or CSV, and progress while people wait."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from gamekeeper import results
from gamekeeper.cli.stopping import stopped_by_hand
from gamekeeper.results import Listing, Result
from gamekeeper.results.plain import document_of, lines_of, plain_row, plain_value
from gamekeeper.wording import shown_cell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

# What is piped into a file or a pager need not fit 80 columns.
_PIPED_WIDTH = 160
_LEAST_ROOM = 24
_BATCH = 10_000

# A bar for work that is done at once would only flicker.
_QUIET_SECONDS = 0.7


@cache
def output() -> Console:
    """Return what prints to people; rich is imported when there is something to print."""
    from rich.console import Console

    return Console(
        highlight=False, emoji=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH
    )


@cache
def _errors() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


_withheld: ContextVar[bool] = ContextVar("withheld", default=False)


@contextmanager
def withholding_records(quiet: bool) -> Generator[None]:
    """Print no single records, cells or categories meanwhile."""
    token = _withheld.set(quiet)
    try:
        yield
    finally:
        _withheld.reset(token)


def records_are_withheld() -> bool:
    """Tell whether nothing is to be said of single records."""
    return _withheld.get()


class Format(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


_raw_csv: ContextVar[bool] = ContextVar("raw_csv", default=False)


@contextmanager
def csv_for(programs: bool) -> Generator[None]:
    """Print CSV for programs: texts that a spreadsheet would run as formulas stay as they are."""
    before = _raw_csv.set(programs)
    try:
        yield
    finally:
        _raw_csv.reset(before)


def show(
    result: Result,
    how: Format,
    *,
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
    title: str = "",
    sentences: Sequence[str] = (),
    notices: Sequence[str] = (),
    parts: Mapping[str, Any] | None = None,
) -> None:
    """Print a result; `table` has the columns for people.

    Programs get everything that people read: in JSON `parts` has what is printed besides the
    result, each a result, an Arrow table or plain values; those that are None are left out.
    """
    if how is Format.TABLE:
        header, rows = table or _for_people(result)
        show_table(header, rows, title=title)
        return
    is_silent = records_are_withheld()
    if how is Format.JSON:
        _write_json(
            document_of(
                result,
                sentences=sentences,
                notices=notices,
                parts=parts,
                with_records=not is_silent,
            )
        )
    else:
        names, lines = ((), ()) if is_silent and result.tells_of_records else lines_of(result)
        records = (plain_row(dict(zip(names, line, strict=True))) for line in lines)
        shown = (lambda cell: cell) if _raw_csv.get() else shown_cell
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([shown(name) for name in names])
        writer.writerows([shown(cell) for cell in record.values()] for record in records)


def _write_json(document: Mapping[str, Any]) -> None:
    """Print a document as `json.dumps` would with an indent of 1; what is iterated, as it comes."""
    for number, (name, value) in enumerate(document.items()):
        sys.stdout.write(f"{',' if number else '{'}\n {json.dumps(name)}: ")
        if not isinstance(value, Iterator):
            sys.stdout.write(_json_text(value, 1))
            continue
        n_written = 0
        for n_written, item in enumerate(value, 1):
            sys.stdout.write(f"{',' if n_written > 1 else '['}\n  {_json_text(item, 2)}")
        sys.stdout.write("\n ]" if n_written else "[]")
    sys.stdout.write("\n}\n")


def _json_text(value: Any, depth: int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    # Line ends within texts are escaped, so that these are the ones of the layout.
    return text.replace("\n", "\n" + " " * depth)


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """Print a table that fits the terminal; numbers to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold", box=None)
    taken = 1
    for number, name in enumerate(header):
        cells = [row[number] for row in rows]
        right = bool(cells) and all(_looks_numeric(cell) for cell in cells)
        table.add_column(name, justify="right" if right else "left", overflow="fold")
        taken += max(map(len, (name, *cells))) + 2 if number < len(header) - 1 else 2
    # The last column has the long texts: one line each, cut where the terminal ends.
    room = max(output().width - taken, _LEAST_ROOM)
    for row in rows:
        # As texts, in which no markup is looked for.
        table.add_row(*map(Text, (*row[:-1], _cut(row[-1], room))))
    output().print(table)


def say(text: str = "") -> None:
    """Print one line of text to people."""
    output().print(text, markup=False, soft_wrap=True)


def say_all(lines: Iterable[str]) -> None:
    """Print lines of text to people."""
    for line in lines:
        say(line)


def warn(text: str) -> None:
    """Print one line to standard error, so that it never mixes with a result that is piped."""
    _errors().print(text, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(what: str) -> Generator[results.Progress]:
    """Show a bar on the terminal once the work has taken a while; give a callback for it.

    Ctrl-C ends the work where it next tells how far it is.
    """
    bar: Progress | None = None
    started = time.monotonic()
    errors = _errors()

    def tell(done: int, total: int | None) -> None:
        nonlocal bar
        if bar is None and errors.is_terminal and time.monotonic() - started > _QUIET_SECONDS:
            bar = _started_bar(what)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done, total=total)

    def asked() -> None:
        # Plainly: Ctrl-C may come while that is imported which prints.
        sys.stderr.write("Stopping at the next step. Ctrl-C again stops at once.\n")

    try:
        with stopped_by_hand(tell, what, asked) as stoppable:
            yield stoppable
    finally:
        if bar is not None:
            bar.stop()


def _started_bar(what: str) -> Progress:
    # Imported here: most work is done before a bar would be shown.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=_errors(), transient=True,
    )  # fmt: skip
    bar.add_task(what, total=None)
    bar.start()
    return bar


def _for_people(result: Result) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    names, lines = lines_of(result)
    # The columns of a list may be keys of the users, which are to be written as they are.
    is_list = isinstance(result, Listing)
    header = [name if is_list else name.replace("_", " ") for name in names]
    return header, [[_text(cell) for cell in line] for line in lines]


def _text(cell: Any) -> str:
    plain = plain_value(cell)
    return "" if plain is None else "∞" if plain == "unbounded" else str(plain)


def _looks_numeric(cell: str) -> bool:
    plain = cell.removesuffix("%").replace(",", "").replace(".", "", 1).replace("e-", "", 1)
    return cell in ("", "—", "∞") or plain.isdigit()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
