"""Data frames of other libraries as Arrow tables: pandas, Polars, Arrow, DuckDB and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.data.reading.values import value_text
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

_ASKED = "A data frame was to be read."


class Frame:
    """A data frame of any library that is known to narwhals or hands out an Arrow stream."""

    def __init__(self, frame: Any) -> None:
        self._frame = _native(frame)
        names: list[Any] = list(self._frame.collect_schema().names())
        odd = sum(not isinstance(name, str) for name in names)
        if odd:
            raise InputError(
                Reason.BAD_NAME,
                _ASKED,
                f"{count_of(odd, 'column has', 'columns have')} a name that is not text.",
                "Rename these columns.",
            )
        self.names: tuple[str, ...] = tuple(names)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Return the wanted columns as an Arrow table."""
        import narwhals as nw
        import pyarrow as pa

        chosen = self._frame.select(*columns)
        if isinstance(chosen, nw.LazyFrame):
            chosen = chosen.collect("pyarrow")
        try:
            return chosen.to_arrow()
        except (pa.ArrowException, TypeError, OverflowError):
            # Columns of mixed Python objects. The fault quotes a value, so it is let go.
            pass
        return pa.table({name: _mixed(chosen, name) for name in columns})


def _native(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    import narwhals as nw
    import pyarrow as pa

    found = ""
    try:
        known = nw.from_native(frame, pass_through=True)
        if not isinstance(known, nw.DataFrame | nw.LazyFrame) and hasattr(
            frame, "__arrow_c_stream__"
        ):
            known = nw.from_native(pa.RecordBatchReader.from_stream(frame).read_all())
        if isinstance(known, nw.DataFrame | nw.LazyFrame):
            return known
        found = f"It is of type {type(frame).__name__}, which is not a known data frame."
    except nw.exceptions.DuplicateError:
        found = "Several columns have the same name."
    raise InputError(
        Reason.WRONG_SCHEMA,
        _ASKED,
        found,
        "Give a frame of pandas, Polars, Arrow or DuckDB with a name of its own for every column.",
    )


def _mixed(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    import pyarrow as pa

    series = frame.get_column(name)
    texts: list[str | None] = []
    odd: set[str] = set()
    for cell, is_null in zip(series.to_list(), series.is_null().to_list(), strict=True):
        value = cell.item() if isinstance(cell, np.generic) else cell
        try:
            texts.append(None if is_null else value_text(value))
        except TypeError:
            odd.add(type(value).__name__)
    if odd:
        found = f"It holds objects of type {', '.join(sorted(odd))}."
        raise InputError(
            Reason.WRONG_SCHEMA,
            _ASKED,
            "A column cannot be read as values.",
            "Give numbers, texts, dates or truth values.",
            problems=[Problem(Reason.WRONG_SCHEMA, f"column {quoted([name])}", found)],
        )
    return pa.array(texts, pa.string())
