"""The columns of a file as texts, without blanks around them; what is missing is an empty text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.reading.column import ColumnKind
from gamekeeper.data.reading.source import Source
from gamekeeper.data.reading.values import kind_of, type_name
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, quoted

Integers = NDArray[np.int64]


def encoded_columns(
    source: Source,
    names: Sequence[str],
    asked: str,
    *,
    require: Callable[[int], None] | None = None,
) -> dict[str, tuple[list[str], Integers]]:
    """Return for each column its different texts, in order of appearance, and their places.

    `require` refuses a number of rows that there are at least: asked before any is read where the
    file tells it, and as they are read where it does not.
    """
    import pyarrow as pa

    if require is not None and source.n_records is not None:
        require(source.n_records)
    batches: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in source.batches(list(dict.fromkeys(names))):
        if not batches:
            _check_types(batch.schema, asked)
        batches.append(batch)
        n_rows += batch.num_rows
        if require is not None and source.n_records is None:
            require(n_rows)
    if not n_rows:
        raise InputError(Reason.NOTHING_GIVEN, asked, "It has no rows.", "Check the file.")
    table: Any = pa.Table.from_batches(batches).unify_dictionaries()
    found: dict[str, tuple[list[str], Integers]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        encoded = column.combine_chunks().dictionary_encode()
        values = encoded.dictionary.to_pylist()
        if encoded.indices.null_count:
            values.append(None)
        texts = ["" if value is None else str(value).strip() for value in values]
        places = encoded.indices.fill_null(len(texts) - 1).to_numpy().astype(np.int64)
        found[name] = texts, places
    return found


def text_columns(
    source: Source,
    names: Sequence[str],
    asked: str,
    *,
    require: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Return the text of each row in each of some columns; see `encoded_columns`."""
    read = encoded_columns(source, names, asked, require=require)
    return {
        name: [texts[place] for place in places.tolist()] for name, (texts, places) in read.items()
    }


def _check_types(schema: Any, asked: str) -> None:
    """Refuse columns of lists, records and bytes."""
    problems = [
        Problem(
            Reason.WRONG_SCHEMA,
            f"column {quoted([field.name])}",
            f"It is of type {type_name(field.type)}.",
            "Give numbers, texts, dates or truth values.",
        )
        for field in schema
        if kind_of(field.type) is ColumnKind.OTHER
    ]
    refuse(problems, asked, f"{count_of(len(problems), 'column')} cannot be used.")
