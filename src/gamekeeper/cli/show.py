"""Printing results as a table, JSON or CSV, and progress while people wait."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from gamekeeper import results
from gamekeeper.cli.stopping import stopped_by_hand
from gamekeeper.results import Listing, Result

__all__ = ["OUT", "Format", "progress_bar", "say", "show", "show_table", "warn"]

# What is piped into a file or a pager need not fit 80 columns.
_PIPED_WIDTH = 160
_LEAST_ROOM = 24
OUT = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
ERR = Console(stderr=True, highlight=False)

# A bar for work that is done at once would only flicker.
_QUIET_SECONDS = 0.7


class Format(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def show(
    result: Result,
    how: Format,
    *,
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
    title: str = "",
    extra: dict[str, Any] | None = None,
) -> None:
    """Print a result; `table` has the columns for people, `extra` goes into the JSON."""
    if how is Format.TABLE:
        header, rows = table or _for_people(result)
        show_table(header, rows, title=title)
        return
    records = [_plain(row) for row in result.to_arrow().to_pylist()]
    if how is Format.JSON:
        document = {
            "result": type(result).__name__,
            "summary": _plain(result.summary()),
            **(extra or {}),
            "rows": records,
            "provenance": result.provenance.to_dict(),
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, result.to_arrow().column_names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        sys.stdout.write(text.getvalue())


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """Print a table that fits the terminal; numbers to the right."""
    table = Table(title=title or None, title_justify="left", title_style="bold", box=None)
    taken = 1
    for number, name in enumerate(header):
        cells = [row[number] for row in rows]
        right = bool(cells) and all(_looks_numeric(cell) for cell in cells)
        table.add_column(name, justify="right" if right else "left", overflow="fold")
        taken += max(map(len, (name, *cells))) + 2 if number < len(header) - 1 else 2
    # The last column has the long texts: one line each, cut where the terminal ends.
    room = max(OUT.width - taken, _LEAST_ROOM)
    for row in rows:
        table.add_row(*(escape(cell) for cell in (*row[:-1], _cut(row[-1], room))))
    OUT.print(table)


def say(text: str = "") -> None:
    """Print one line of text to people."""
    OUT.print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print one line to standard error, so that it never mixes with a result that is piped."""
    ERR.print(text, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(what: str) -> Generator[results.Progress]:
    """Show a bar on the terminal once the work has taken a while; give a callback for it.

    Ctrl-C ends the work where it next tells how far it is.
    """
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=ERR, transient=True, disable=not ERR.is_terminal,
    )  # fmt: skip
    task = bar.add_task(what, total=None)
    started = time.monotonic()

    def tell(done: int, total: int | None) -> None:
        if not bar.live.is_started and time.monotonic() - started > _QUIET_SECONDS:
            bar.start()
        bar.update(task, completed=done, total=total)

    def asked() -> None:
        ERR.print("Stopping at the next step. Ctrl-C again stops at once.")

    try:
        with stopped_by_hand(tell, what, asked) as stoppable:
            yield stoppable
    finally:
        bar.stop()


def _for_people(result: Result) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    table = result.to_arrow()
    # The columns of a list may be keys of the users, which are to be written as they are.
    is_list = isinstance(result, Listing)
    header = [name if is_list else name.replace("_", " ") for name in table.column_names]
    columns = [column.to_pylist() for column in table.columns]
    rows = [[_text(cell) for cell in row] for row in zip(*columns, strict=True)]
    return header, rows


def _text(cell: Any) -> str:
    plain = _plain_value(cell)
    return "" if plain is None else "∞" if plain == "unbounded" else str(plain)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in row.items()}


def _plain_value(value: Any) -> Any:
    """JSON and CSV have no infinity, so it is a word; whole numbers are written as such."""
    if not isinstance(value, float):
        return value
    if math.isinf(value):
        return "unbounded"
    return int(value) if value.is_integer() else value


def _looks_numeric(cell: str) -> bool:
    plain = cell.removesuffix("%").replace(",", "").replace(".", "", 1).replace("e-", "", 1)
    return cell in ("", "—", "∞") or plain.isdigit()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
