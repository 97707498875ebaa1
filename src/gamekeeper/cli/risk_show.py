"""Results of stage two as people read them on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.cli.commands import say_written
from gamekeeper.cli.show import Format, records_are_withheld, say, say_all, show, show_table, warn
from gamekeeper.data.keys.missing import Missing
from gamekeeper.results import Result
from gamekeeper.wording import cell_text, percent_text

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.attack.uniques.suda import UniquesRisk
    from gamekeeper.workbench.answer import Answer


def say_first(answer: Answer[Any]) -> None:
    """Say what to know of the data first: notices, and what a recoding would do."""
    say_notices(answer.notices)
    if answer.what_if is not None:
        say_all(answer.what_if.sentences())
        say()
        show_result(
            answer.what_if,
            {
                "meaning": "before and after",
                "before": "before",
                "before_from": "from",
                "before_to": "to",
                "after": "after",
                "after_from": "from ",
                "after_to": "to ",
            },
        )
        say()
        say("After recoding:")
        say()


def say_notices(notices: Sequence[str]) -> None:
    """Say what to know of the data before anything is believed of them."""
    for notice in notices:
        say(f"! {notice}")


def show_for_programs(
    result: Any,
    how: Format,
    notices: Sequence[str] = (),
    *,
    sentences: Sequence[str] | None = None,
    **parts: object,
) -> None:
    """Print a result for programs; CSV has no place for notices, which go to standard error.

    `sentences` are said instead of its own, `parts` are what people read besides, by name.
    """
    told = result.sentences() if sentences is None else sentences
    show(result, how, sentences=told, notices=notices, parts=parts)
    if how is Format.CSV:
        for notice in notices:
            warn(f"! {notice}")
        # What was not examined is no reservation that may be lost with the sentences.
        if WHOLE_HOUSEHOLDS in told and WHOLE_HOUSEHOLDS not in notices:
            warn(f"! {WHOLE_HOUSEHOLDS}")


def say_how(result: Result) -> None:
    """Say how a result came about, and how missing values were read."""
    made = result.provenance
    parts = [f"{made.method} ({made.variant})" if made.variant else made.method]
    policy = made.parameters.get("missing")
    if policy and Missing(policy).words != made.variant:
        parts.append(f"missing cells by '{policy}': {Missing(policy).words}")
    if made.seed is not None:
        parts.append(f"seed {made.seed}")
    parts.append(made.engine)
    if made.fingerprint:
        parts.append(f"input {made.fingerprint}")
    say()
    say(f"How: {'; '.join(parts)}.")


def say_end(asked: Any, result: Result) -> None:
    """Say how a result came about, and which files were written of what was asked."""
    say_how(result)
    say_written(asked)


def show_explained(found: UniquesRisk, n_records: int, identifier: str = "") -> None:
    """Print the riskiest records with what sets them apart."""
    shown = found.riskiest(n_records)
    wanted = ["record", identifier, "risk_class", found.records.measure, "msus"]
    names = list(dict.fromkeys(filter(None, wanted)))
    cells = zip(*(shown[name].to_pylist() for name in names), strict=True)
    rows = [[*map(cell_text, row), "; ".join(found.explain(row[0], most=3))] for row in cells]
    show_table([*(name.replace("_", " ") for name in names), "why"], rows)


def show_result(
    result: Result, columns: Mapping[str, str] | None = None, *, table: pa.Table | None = None
) -> None:
    """Print a result, or a part of it, for people; `columns` has the headings of those to show."""
    if records_are_withheld() and result.tells_of_records:
        return
    part = result.to_arrow() if table is None else table
    shown = columns or {name: name.replace("_", " ") for name in part.column_names}
    texts = [
        [(percent_text if name.endswith("share") else cell_text)(cell) for cell in cells]
        for name, cells in ((name, part[name].to_pylist()) for name in shown)
    ]
    show_table(list(shown.values()), list(zip(*texts, strict=True)))
