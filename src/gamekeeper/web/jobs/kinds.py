"""The kinds of jobs: a first look at a file, and its assessment.

Each takes its request as plain values, the folder for what it finds, and whom to tell how far it is. It
leaves `result.json`, what everybody may see; `records.json`, with single records and categories too,
for editors; tables as Parquet; and pages and pictures to download.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gamekeeper.files.asides import remove
from gamekeeper.files.gate import PRIVATE_TABLE
from gamekeeper.files.writing import write_file
from gamekeeper.options import build, require_valid
from gamekeeper.results import Progress, Result
from gamekeeper.results.plain import document_of
from gamekeeper.store.place import store_place

RESULT, RECORDS, REPORT, PLOT = "result.json", "records.json", "report.html", "plot.svg"
TABLES = ("records", "why", "unmapped")
"""Tables that a job may leave, for editors: single records, what sets the riskiest apart in words, and
values that fit no category."""

_TOP = 20
_EXPLAINED = 1_000


def assess(request: Mapping[str, Any], folder: Path, progress: Progress) -> None:
    """Assess a file: everything in one go, as `gamekeeper assess` does."""
    from gamekeeper.data.keys.missing import Missing
    from gamekeeper.report.tables import write_table
    from gamekeeper.workbench.assessment.running import assess_release, told_besides
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
            "top": _TOP,
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
    riskiest = found.ranked().top(_EXPLAINED)["record"].to_pylist()
    why = found.measured.uniques.explanations(riskiest)
    for name, table in (("records", found.to_arrow()), ("why", why.to_arrow())):
        write_table(table.replace_schema_metadata(PRIVATE_TABLE), folder / f"{name}.parquet")
    # The rule of a recoding names values; whoever only reads is told that there was one.
    rules = () if answer.what_if is None else answer.what_if.changes
    hidden = {change.text: change.outline for change in rules}
    _write(folder, found, found.sentences(), answer.notices, told_besides(asked, answer), hidden)


def look(request: Mapping[str, Any], folder: Path, progress: Progress) -> None:
    """Look at a file first: columns, missing cells, likely identifiers, possible keys."""
    from gamekeeper.workbench.looking import look_at
    from gamekeeper.workbench.requests.looking import LookRequest

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
    """Return what was sent as JSON as a request has it: paths, and tuples for lists."""
    given = dict(request)
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    places = {name: store_place(given[name]) for name in ("file", "environment") if given.get(name)}
    return {**given, **lists, **places}


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
