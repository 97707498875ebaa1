"""Files of other kinds as SPSS and Stata have them: numbers or texts, names that are allowed, labels.

A column is one of numbers where every cell is a number as a number is written, without leading zeros;
texts that mean missing are left empty there, and numbers that do are declared as missing (SPSS).
Everything else is text. A name that these programs do not allow gets underscores, and the original
becomes the label of the variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.reading.numerals import number_of
from gamekeeper.data.reading.source import Source
from gamekeeper.data.reading.values import value_texts

if TYPE_CHECKING:
    import pandas as pd

_PADDED = re.compile(r"[+-]?0\d")
_MOST_DIGITS = 15
_MOST_MISSING = 3


def read_as_statistical(
    source: Source,
    names: Sequence[str],
    records: NDArray[np.int64] | None,
    *,
    is_spss: bool,
) -> tuple[pd.DataFrame, Any, dict[str, str]]:
    """Return the records of a file, what is known of its variables, and their names by column."""
    import pandas as pd
    import pyarrow as pa

    batches = list(source.batches(names))
    new = _allowed(names, 64 if is_spss else 32)
    frame: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    labels: dict[str, dict[Any, str]] = {}
    ranges: dict[str, list[float]] = {}
    for name in names:
        texts: list[str | None] = []
        for batch in batches:
            cells = batch.column(batch.schema.names.index(name))
            if pa.types.is_dictionary(cells.type):
                cells = cells.dictionary_decode()
            texts += value_texts(cells)
        numbers = _numbers(texts, source.missing, source.decimal)
        kinds[new[name]] = "string" if numbers is None else "double"
        values: Any = np.array([text or "" for text in texts], dtype=object)
        if numbers is not None:
            values = numbers
            ranges[new[name]] = _declared(numbers, source, is_spss=is_spss)
        frame[new[name]] = values if records is None else values[records]
        own = source.column(name).labels
        labels[new[name]] = _labels(own, is_number=numbers is not None)
    told = {
        new[name]: source.column(name).label or (name if new[name] != name else None)
        for name in names
    }
    meta = SimpleNamespace(
        variable_value_labels=labels,
        missing_ranges=ranges,
        missing_user_values={},
        original_variable_types={},
        readstat_variable_types=kinds,
        column_names_to_labels=told,
        variable_measure={},
        variable_display_width={},
        file_label="",
        notes=[],
    )
    return pd.DataFrame(frame), meta, new


def _numbers(
    texts: Sequence[str | None], missing: frozenset[str], decimal: str
) -> NDArray[np.float64] | None:
    """Return the cells as numbers, or None where some are none."""
    known: dict[str, float] = {}
    for text in set(texts):
        if text is None:
            continue
        number = number_of(text, decimal)
        is_plain = number is not None and not _PADDED.match(text)
        if is_plain and number is not None and len(text.lstrip("+-")) <= _MOST_DIGITS + 2:
            known[text] = float(number)
        elif text in missing:
            known[text] = np.nan
        else:
            return None
    if not known:
        return None
    return np.array([np.nan if text is None else known[text] for text in texts])


def _declared(numbers: NDArray[np.float64], source: Source, *, is_spss: bool) -> list[float]:
    """Return the numbers that mean missing and occur, as many as SPSS lets one declare."""
    read = (number_of(text, source.decimal) for text in sorted(source.missing))
    found = [float(number) for number in read if number is not None]
    there = [number for number in found if (numbers == number).any()]
    return there[:_MOST_MISSING] if is_spss else []


def _labels(own: Any, *, is_number: bool) -> dict[Any, str]:
    if not is_number:
        return {}
    read = {text: number_of(text, ".") for text in own}
    return {float(number): own[text] for text, number in read.items() if number is not None}


def _allowed(names: Sequence[str], letters: int) -> dict[str, str]:
    """Return for every column a name that is allowed, and that no other has.

    Examples
    --------
    >>> _allowed(["full name", "1st", "full_name"], 32)
    {'full name': 'full_name', '1st': 'v1st', 'full_name': 'full_name_2'}
    """
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        bare = re.sub(r"[^A-Za-z0-9_]", "_", name) or "v"
        if not bare[0].isalpha():
            bare = f"v{bare}"
        bare, number = bare[:letters], 1
        while bare.casefold() in taken:
            number += 1
            bare = f"{bare[: letters - 4].removesuffix(f'_{number - 1}')}_{number}"
        taken.add(bare.casefold())
        made[name] = bare
    return made
