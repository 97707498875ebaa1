"""Data frames of other libraries as Arrow tables: pandas, Polars, Arrow, DuckDB and the like.

A frame is read like a file. Its records are its rows, in their order; the index of a pandas frame
is no column of it. Categories that a frame has in an order of its own (ordered categoricals of
pandas, `Enum` of Polars and DuckDB, ordered dictionaries of Arrow, intervals) keep that order.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from gamekeeper.data.reading.cell_texts import OddCells, cell_texts
from gamekeeper.data.reading.column import Column, ColumnKind
from gamekeeper.data.reading.pandas_columns import (
    index_names,
    ordered_categories,
    pandas_column,
    require_plain_axes,
)
from gamekeeper.data.reading.values import kind_of, type_name, value_texts
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

T = TypeVar("T")

_ASKED = "A data frame was to be read."
_KNOWN = "Give a frame of pandas, Polars, Arrow or DuckDB."


class Frame:
    """A data frame of any library that is known to narwhals or hands out an Arrow stream.

    Attributes
    ----------
    native
        The frame as it was given; of a stream, which can be read once only, the table it became.
    names, columns
        The names of its columns, and these.
    """

    kind = "frame"
    decimal = "."
    detected: tuple[str, ...] = ()
    settings: ClassVar[Mapping[str, str]] = {}
    path: Path | None = None
    fingerprint = ""

    def __init__(self, frame: Any) -> None:
        self._frame, self.native = _known(frame)
        self.is_pandas = self._frame.implementation.is_pandas()
        if self.is_pandas:
            require_plain_axes(self.native, _ASKED)
        self._schema = _discreetly(self._frame.collect_schema)
        self.names = _checked(self._schema.names())
        orders = self._orders()
        self.columns = tuple(Column(name, order=orders.get(name, ())) for name in self.names)

    @property
    def index_names(self) -> tuple[str, ...]:
        """The names of the index of a pandas frame, which is no column of it."""
        return index_names(self.native) if self.is_pandas else ()

    @property
    def n_records(self) -> int | None:
        """The number of rows, where no query has to be run for it."""
        import narwhals as nw

        return len(self._frame) if isinstance(self._frame, nw.DataFrame) else None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return the wanted columns in batches."""
        yield from self.table(columns).to_batches()

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Return the wanted columns as an Arrow table; refuse those whose cells are no values."""
        import pyarrow as pa

        table = None if self.is_pandas else self._collected(columns)
        made: dict[str, pa.Array | pa.ChunkedArray] = {}
        odd: dict[str, str] = {}
        for name in columns:
            try:
                made[name] = (
                    pandas_column(self.native[name]) if table is None else _column(table[name])
                )
            except OddCells as found:
                odd[name] = f"It holds {found}."
                continue
            kind = made[name].type
            if kind_of(kind) is ColumnKind.OTHER:
                odd[name] = f"It is of type {type_name(kind)}."
        if odd:
            raise InputError(
                Reason.WRONG_SCHEMA,
                _ASKED,
                f"{count_of(len(odd), 'column')} cannot be read as values.",
                "Give numbers, texts, dates or truth values.",
                problems=[
                    Problem(Reason.WRONG_SCHEMA, f"column {quoted([name])}", found)
                    for name, found in odd.items()
                ],
            )
        return pa.table(made)

    def _collected(self, columns: Sequence[str]) -> nw.DataFrame[Any]:
        """Return the wanted columns in memory; a query is run for it if the frame is lazy."""
        import narwhals as nw

        if self._frame.implementation.is_duckdb() and _differ_in_case_alone(self.names):
            # DuckDB does not tell such names apart, so that one would be read for another.
            whole = _discreetly(self.native.to_arrow_table)
            return nw.from_native(whole.select(list(columns)))
        chosen = self._frame.select(*columns)
        return _discreetly(chosen.collect) if isinstance(chosen, nw.LazyFrame) else chosen

    def _orders(self) -> dict[str, tuple[str, ...]]:
        """Return the values of columns that have an order of their own, in that order."""
        import narwhals as nw
        import pyarrow as pa

        if self.is_pandas:
            found = {name: ordered_categories(self.native[name]) for name in self.names}
        elif self._frame.implementation.is_pyarrow():
            found = {
                name: _dictionary_texts(self.native.column(name))
                for name in self.names
                if pa.types.is_dictionary(kind := self.native.schema.field(name).type)
                and kind.ordered
                and kind_of(kind) is not ColumnKind.OTHER
            }
        else:
            found = {
                name: tuple(category.strip() for category in kind.categories)
                for name, kind in self._schema.items()
                if isinstance(kind, nw.Enum)
            }
        return {name: order for name, order in found.items() if order}


def is_path(given: object) -> bool:
    """Tell whether what was given is the name of a file rather than a frame."""
    return isinstance(given, str | os.PathLike)


def _known(frame: Any) -> tuple[nw.DataFrame[Any] | nw.LazyFrame[Any], Any]:
    """Return a frame as narwhals knows it and as it is."""
    import narwhals as nw
    import pyarrow as pa

    if is_path(frame):
        raise InputError(
            Reason.WRONG_SCHEMA,
            _ASKED,
            f"It is of type {type(frame).__name__}, which is not a known data frame.",
            "Open the file of this name: code_source(open_source(path), columns).",
        )
    twice: list[str] = []
    found = f"It is of type {type(frame).__name__}, which is not a known data frame."
    do = _KNOWN
    try:
        known = nw.from_native(frame, pass_through=True, allow_series=True)
        if isinstance(known, nw.DataFrame | nw.LazyFrame):
            # Of names that are there twice, narwhals does not tell for DuckDB.
            twice = _repeated(frame.columns) if known.implementation.is_duckdb() else []
            if not twice:
                return known, frame
        elif isinstance(known, nw.Series):
            found = f"It is of type {type(frame).__name__}, which is one column."
            do = "Make a frame of it: to_frame()."
        elif hasattr(frame, "__arrow_c_stream__"):
            table = pa.RecordBatchReader.from_stream(frame).read_all()
            twice = _repeated(table.column_names)
            if not twice:
                return nw.from_native(table), table
        elif isinstance(frame, Iterator):
            do = f"Collect what it gives into a frame first. {_KNOWN}"
    except nw.exceptions.DuplicateError:
        twice = _repeated(getattr(frame, "column_names", None) or getattr(frame, "columns", ()))
    except pa.ArrowException:
        found = f"It is of type {type(frame).__name__}, whose Arrow stream has no columns."
    if twice:
        raise InputError(
            Reason.DUPLICATE,
            _ASKED,
            f"Several columns have the same name: {quoted(twice)}.",
            "Give every column a name of its own.",
        )
    raise InputError(Reason.WRONG_SCHEMA, _ASKED, found, do)


def _column(series: nw.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """Return the cells of a column; raise `OddCells` where some are no values."""
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc

    # Of Python objects Arrow has where they lie in memory, and not what they are.
    if series.dtype != nw.Object:
        try:
            cells = series.to_native() if series.implementation.is_pyarrow() else series.to_arrow()
        except pa.ArrowException:
            cells = None  # such as whole numbers of 128 bits
        if cells is not None and not isinstance(cells.type, pa.UuidType):
            is_shortened = pa.types.is_run_end_encoded(cells.type)
            return pc.run_end_decode(cells) if is_shortened else cells
    return cell_texts(series.to_list(), series.is_null().to_list())


def _repeated(names: Sequence[Any]) -> list[str]:
    return [str(name) for name, count in Counter(names).items() if count > 1]


def _checked(names: Sequence[Any]) -> tuple[str, ...]:
    """Return names that are texts."""
    kinds = [type(name).__name__ for name in names if not isinstance(name, str)]
    if kinds:
        raise InputError(
            Reason.BAD_NAME,
            _ASKED,
            f"{count_of(len(kinds), 'column has', 'columns have')} a name that is not text, but of"
            f" type {', '.join(sorted(set(kinds)))}.",
            "Rename these columns: frame.columns = [str(name) for name in frame.columns].",
        )
    if not names:
        raise InputError(
            Reason.NOTHING_GIVEN, _ASKED, "It has no columns.", "Give one with records."
        )
    return tuple(names)


def _differ_in_case_alone(names: Sequence[str]) -> bool:
    return len({name.lower() for name in names}) < len(names)


def _dictionary_texts(cells: pa.ChunkedArray) -> tuple[str, ...]:
    """Return the values of a dictionary in its order."""
    chunks = cells.unify_dictionaries().chunks
    texts = value_texts(chunks[0].dictionary) if chunks else []
    return tuple(dict.fromkeys(text for text in texts if text is not None))


def _discreetly(query: Callable[[], T]) -> T:
    """Run a query of a frame; its faults, which quote values, are let go."""
    failure = ""
    try:
        return query()
    except _faults() as error:
        failure = type(error).__name__
    raise InputError(
        Reason.NOT_READABLE,
        _ASKED,
        f"The query behind it failed ({failure}).",
        "Run it by itself to see why.",
    )


def _faults() -> tuple[type[Exception], ...]:
    """Return what frames raise where a query fails; libraries that are not loaded raise nothing."""
    import narwhals as nw
    import pyarrow as pa

    faults: list[type[Exception]] = [nw.exceptions.NarwhalsError, pa.ArrowException]
    for module, name in (("duckdb", "Error"), ("polars.exceptions", "PolarsError")):
        if module in sys.modules:
            faults.append(getattr(sys.modules[module], name))
    return tuple(faults)
