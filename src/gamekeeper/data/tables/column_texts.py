"""The columns of a file as texts, without blanks around them; what is missing is an empty text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Reason

Integers = NDArray[np.int64]


def encoded_columns(
    source: Source, names: Sequence[str], asked: str
) -> dict[str, tuple[list[str], Integers]]:
    """Return for each column its different texts, in order of appearance, and their places."""
    import pyarrow as pa

    batches = list(source.batches(list(dict.fromkeys(names))))
    if not sum(batch.num_rows for batch in batches):
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


def text_columns(source: Source, names: Sequence[str], asked: str) -> dict[str, list[str]]:
    """Return the text of each row in each of some columns."""
    return {
        name: [texts[place] for place in places.tolist()]
        for name, (texts, places) in encoded_columns(source, names, asked).items()
    }
