"""Results as plain values: the document that programs read, whoever hands it to them.

Its shape is told by `document`. The command line prints it, and the server sends it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gamekeeper.results.document import SCHEMA
from gamekeeper.results.listing import Listing
from gamekeeper.results.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

# Parts that are plain values and no records: names and settings, numbers by size, by policy.
_OF_THE_WHOLE = frozenset(
    {
        "anonymity", "attacks", "chances", "classes", "clusterings", "file", "guidance",
        "larger_sizes", "numbers_of_zeros", "policy", "sizes", "unsafe", "variables", "verdict",
        "what_if",
    }
)  # fmt: skip
_BATCH = 10_000


def document_of(
    result: Result,
    *,
    sentences: Sequence[str] = (),
    notices: Sequence[str] = (),
    parts: Mapping[str, Any] | None = None,
    with_records: bool = True,
) -> dict[str, Any]:
    """Return what programs read of a result; its rows come one at a time.

    Parameters
    ----------
    parts
        What is told besides the result, by name: results, Arrow tables or plain values; those that
        are None are left out.
    with_records
        Whether single records, cells and categories are told.
    """
    is_silent = not with_records
    names, lines = ((), ()) if is_silent and result.tells_of_records else lines_of(result)
    return {
        "schema": SCHEMA,
        "result": type(result).__name__,
        "summary": plain_row(result.summary()),
        "sentences": list(sentences),
        "notices": list(notices),
        # As plain values, long tables take many times the memory of their columns.
        "rows": (plain_row(dict(zip(names, line, strict=True))) for line in lines),
        "parts": {
            name: part_of(part)
            for name, part in (parts or {}).items()
            if part is not None and not (is_silent and is_of_records(name, part))
        },
        "provenance": plain_row(result.provenance.to_dict()),
    }


def is_of_records(name: str, part: Any) -> bool:
    """Tell whether a part tells of single records, cells or categories."""
    if name in _OF_THE_WHOLE:
        return False
    return not isinstance(part, Result) or part.tells_of_records


def lines_of(result: Result) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    """Return the columns and the lines of a result."""
    if isinstance(result, Listing):
        # Arrow takes longer to import than most lists to print.
        return result.columns, result.lines()
    table = result.to_arrow()
    return table.column_names, _arrow_lines(table)


def _arrow_lines(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of a table as plain values, some at a time."""
    for batch in table.to_batches(_BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def part_of(part: Any) -> Any:
    """Return a part of what is printed as plain values: words and rows of a result or a table."""
    if isinstance(part, Result):
        words: Any = getattr(part, "sentences", list)
        names, lines = lines_of(part)
        rows = [plain_row(dict(zip(names, line, strict=True))) for line in lines]
        return {"summary": plain_row(part.summary()), "sentences": list(words()), "rows": rows}
    if hasattr(part, "to_pylist"):
        return {"rows": [plain_row(row) for row in part.to_pylist()]}
    return plain_value(part)


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as plain values."""
    return {name: plain_value(value) for name, value in row.items()}


def plain_value(value: Any) -> Any:
    """JSON and CSV have no infinity, so it is a word; whole numbers are written as such."""
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "unbounded"
    return int(value) if value.is_integer() else value
