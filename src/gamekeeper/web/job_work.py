"""One job in a process of its own, a first look at a file or its assessment.

``python -m gamekeeper.web.job_work DATABASE ID`` writes what it finds to the folder that it is
started in: `result.json`, what everybody may see; `records.json`, with single records and
categories too, for editors; tables as Parquet; and pages and pictures to download. It tells the
database how far it is. What goes wrong is told in our words or not at all: the process has no
output.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gamekeeper.errors import Cancelled, GamekeeperError
from gamekeeper.files import PRIVATE_TABLE, remove, write_file
from gamekeeper.options import build, require_valid
from gamekeeper.results import Progress, Result, document_of
from gamekeeper.store.place import store_place
from gamekeeper.web.jobs import State
from gamekeeper.web.settings import Database
from gamekeeper.web.wire import fault_of_ours, refusal_of

RESULT, RECORDS, REPORT, PLOT = "result.json", "records.json", "report.html", "plot.svg"
TABLES = ("records", "why", "unmapped")
"""Tables that a job may leave, for editors: single records, what sets the riskiest apart in words, and
values that fit no category."""


def assess(request: Mapping[str, Any], folder: Path, progress: Progress) -> None:
    """Assess a file: everything in one go, as `gamekeeper assess` does."""
    from gamekeeper.prompt_syntax import Missing
    from gamekeeper.report.tables import write_table
    from gamekeeper.workbench.assessment import assess_release, told_besides
    from gamekeeper.workbench.requests.assessment import AssessRequest

    values = dict(request)
    given_values = values.pop("values", {})
    if given_values:
        values["values"] = _values_file(folder / "values.csv", given_values)
    asked = build(
        AssessRequest,
        {
            **_read(values),
            "missing": Missing(values.get("missing", Missing.CATEGORY)),
            "top": 20,
            "report": folder / REPORT,
            "plot": folder / PLOT,
            "replace": True,
            **({"unmapped": folder / "unmapped.csv"} if values.get("scenario") else {}),
        },
    )
    require_valid(asked, "An assessment was asked for.")
    remove(folder / "unmapped.csv")
    answer = assess_release(asked, progress=progress)
    found = answer.found
    riskiest = found.ranked().top(1_000)["record"].to_pylist()
    why = found.measured.uniques.explanations(riskiest)
    for name, table in (("records", found.to_arrow()), ("why", why.to_arrow())):
        write_table(table.replace_schema_metadata(PRIVATE_TABLE), folder / f"{name}.parquet")
    # The rule of a recoding names values; whoever only reads is told that there was one.
    rules = () if answer.what_if is None else answer.what_if.changes
    hidden = {change.text: change.outline for change in rules}
    _write(folder, found, found.sentences(), answer.notices, told_besides(asked, answer), hidden)


def look(request: Mapping[str, Any], folder: Path, progress: Progress) -> None:
    """Look at a file first: columns, missing cells, likely identifiers, possible keys."""
    from gamekeeper.workbench.requests.records import LookRequest
    from gamekeeper.workbench.risk import look_at

    progress(0, None)
    listed = folder / "unmapped.csv"
    asked = build(
        LookRequest,
        {**_read(request), **({"unmapped": listed} if request.get("scenario") else {})},
    )
    require_valid(asked, "A look at a file was asked for.")
    remove(listed)
    found = look_at(asked)
    # Its rows are columns of the file, and no records.
    document = document_of(found, sentences=found.sentences(), notices=found.notices)
    document["rows"] = list(document["rows"])
    _write_json(folder / RESULT, document)
    _write_json(folder / RECORDS, document)


KINDS: dict[str, Callable[[Mapping[str, Any], Path, Progress], None]] = {
    "assess": assess,
    "look": look,
}
"""What each kind of job does."""


def _read(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was sent as JSON with places as a request has them."""
    named = {name: request[name] for name in ("file", "environment") if request.get(name)}
    return {**request, **{name: store_place(place) for name, place in named.items()}}


def _write(
    folder: Path,
    result: Result,
    sentences: list[str],
    notices: tuple[str, ...],
    parts: Mapping[str, Any],
    hidden: Mapping[str, str],
) -> None:
    for name, with_records in ((RESULT, False), (RECORDS, True)):
        document = document_of(
            result, sentences=sentences, notices=notices, parts=parts, with_records=with_records
        )
        # Single records have a table of their own, a page of which is read at a time.
        document["rows"] = []
        _write_json(folder / name, document, {} if with_records else hidden)


def _write_json(
    path: Path, document: Mapping[str, Any], hidden: Mapping[str, str] | None = None
) -> None:
    """Write a document, with some words in place of others wherever they are."""
    text = _json(document)
    for words, instead in (hidden or {}).items():
        text = text.replace(_json(words)[1:-1], _json(instead)[1:-1])
    write_file(path, text.encode(errors="replace"), private=True)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _values_file(path: Path, given: Mapping[str, Mapping[str, str]]) -> Path:
    """Write what values mean as the command line reads it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["variable", "value", "category"])
    for variable, meanings in given.items():
        writer.writerows([variable, value, category] for value, category in meanings.items())
    return write_file(path, text.getvalue().encode(), private=True)


class Teller:
    """Tells the database how far a job is, a few times a second, and whether it is to stop."""

    def __init__(self, database: Database, job: str) -> None:
        self._database = database
        self._job = job
        self._told = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        """Tell how far it is."""
        now = time.time()
        if now - self._told < 0.2 and done != total:
            return
        self._told = now
        with self._database.at_work() as connection:
            connection.execute(
                "UPDATE job SET done = ?, total = ?, changed = ? WHERE id = ?",
                (done, total, now, self._job),
            )
            row = connection.execute("SELECT cancel FROM job WHERE id = ?", (self._job,)).fetchone()
        if row is None or row["cancel"] is not None:
            raise Cancelled("A job was at work.")

    def end(self, state: State, error: Mapping[str, Any] | None = None) -> None:
        """Tell how it ended."""
        with self._database.at_work() as connection:
            connection.execute(
                "UPDATE job SET state = ?, changed = ?, error = ? WHERE id = ?",
                (state, time.time(), json.dumps(error) if error else None, self._job),
            )


def run(path: Path, job: str, kinds: Mapping[str, Callable[..., None]] = KINDS) -> None:
    """Run a job of a database in the folder that this process is in."""
    os.umask(0o077)
    database = Database(path)
    with database.looking() as connection:
        row = connection.execute("SELECT kind, request FROM job WHERE id = ?", (job,)).fetchone()
    if row is None:
        return
    tell = Teller(database, job)
    try:
        kinds[row["kind"]](json.loads(row["request"]), Path.cwd(), tell)
    except Cancelled:
        tell.end(State.CANCELLED)
    except GamekeeperError as error:
        tell.end(State.FAILED, refusal_of(error).model_dump())
    except MemoryError:
        tell.end(
            State.FAILED,
            {
                "code": "too-large",
                "message": "The work took more memory than there is.",
                "hint": "Choose fewer keys, or a machine with more memory.",
            },
        )
    except Exception as error:  # noqa: BLE001 - the last door: nothing of the data may pass it
        told = fault_of_ours(error)
        tell.end(State.FAILED, json.loads(bytes(told.body)))
    else:
        tell.end(State.DONE)


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2])
