"""Data frames of other libraries, and sheets of Excel workbooks (.xlsx), as Arrow tables.

A frame (pandas, Polars, Arrow, DuckDB and the like) is read like a file. Its records are its rows, in
their order; the index of a pandas frame is no column of it. Categories that a frame has in an order
of its own (ordered categoricals of pandas, `Enum` of Polars and DuckDB, ordered dictionaries of
Arrow, intervals) keep that order. They are written as texts one by one, since they may be anything:
numbers, dates, intervals of `pd.cut`. An interval is written with its ends as values are, `(16, 24]`.

One sheet of a workbook is read as a table, in a process of its own (`apart`). Whole numbers are read
as whole numbers, texts as texts; leading zeros that are only a format of a number are not in the file.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TypeVar

import numpy as np

from gamekeeper.arrow import pa, pc
from gamekeeper.data.reading.apart import apart
from gamekeeper.data.reading.columns import (
    Column,
    ColumnKind,
    kind_of,
    type_name,
    unreadable,
    value_text,
    value_texts,
)
from gamekeeper.data.reading.csv_file import DAMAGED
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd


class OddCells(Exception):  # noqa: N818 - what was found; who reads the column says what is wrong
    """Cells that are no values, by the names of their types."""

    def __init__(self, types: Iterable[str]) -> None:
        super().__init__(f"objects of type {', '.join(sorted(types))}")


def plain_text(cell: Any) -> str | None:
    """Return the text of one object; raise TypeError where it has none.

    >>> plain_text(np.int64(3)), plain_text(" x ")
    ('3', 'x')
    """
    return value_text(cell.item() if isinstance(cell, np.generic) else cell)


def cell_texts(cells: Iterable[Any], nulls: Iterable[bool]) -> pa.Array:
    """Return cells as an array of texts; raise `OddCells` where some are no values."""
    shown = (None if is_null else cell for cell, is_null in zip(cells, nulls, strict=True))
    return pa.array(texts_of(shown), pa.string())


def texts_of(
    values: Iterable[Any], text: Callable[[Any], str | None] = plain_text
) -> list[str | None]:
    """Return the text of each value, None for none; raise `OddCells` where some have none."""
    texts: list[str | None] = []
    odd: set[str] = set()
    for value in values:
        try:
            texts.append(None if value is None else text(value))
        except TypeError:
            odd.add(type(value).__name__)
    if odd:
        raise OddCells(odd)
    return texts


def pandas_column(series: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """Return the cells of a column; raise `OddCells` where some are no values."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return _dictionary(series.cat.codes.to_numpy(), kind.categories)
    if isinstance(kind, pd.IntervalDtype | pd.PeriodDtype):
        codes, categories = pd.factorize(series)
        return _dictionary(codes, categories)
    try:
        made = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Mixed Python objects. The fault quotes a value, so it is let go.
        made = None
    # Lists and dicts have a type in Arrow, but in pandas they are objects.
    if made is None or (
        pd.api.types.is_object_dtype(kind) and kind_of(made.type) is ColumnKind.OTHER
    ):
        return cell_texts(series.tolist(), series.isna().tolist())
    return made


def ordered_categories(series: pd.Series[Any]) -> tuple[str, ...]:
    """Return the values of a column in the order that it has for them; none where it has none."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, pd.IntervalDtype):
        categories: Iterable[Any] = pd.Index(series.dropna().unique()).sort_values()
    elif isinstance(kind, pd.CategoricalDtype) and (
        kind.ordered or isinstance(kind.categories.dtype, pd.IntervalDtype)
    ):
        categories = kind.categories
        if not kind.ordered:
            categories = kind.categories.sort_values()
    else:
        return ()
    try:
        texts = [_category_text(category) for category in categories]
    except TypeError:
        return ()  # no values, which is told where they are read
    return tuple(dict.fromkeys(text for text in texts if text is not None))


def index_names(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the names that the index of a frame has."""
    return tuple(name for name in frame.index.names if isinstance(name, str))


def require_plain_axes(frame: pd.DataFrame, asked: str) -> None:
    """Refuse rows or columns that are labelled on several levels."""
    import pandas as pd

    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError(
            Reason.BAD_NAME,
            asked,
            f"The names of its columns have {frame.columns.nlevels} levels (a MultiIndex).",
            "Give each column one name: frame.columns = ['_'.join(map(str, name)) for name in"
            " frame.columns].",
        )
    if isinstance(frame.index, pd.MultiIndex):
        named = index_names(frame)
        raise InputError(
            Reason.BAD_NAME,
            asked,
            f"Its rows are labelled on {frame.index.nlevels} levels (a MultiIndex"
            + (f" of {quoted(named)}" if named else "")
            + ").",
            "Make columns of them: frame.reset_index().",
        )


def _dictionary(codes: Any, categories: Any) -> pa.Array:
    texts = pa.array(texts_of(categories, _category_text), pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)


def _category_text(category: Any) -> str | None:
    import pandas as pd

    if isinstance(category, pd.Interval):
        left = "[" if category.closed_left else "("
        right = "]" if category.closed_right else ")"
        return f"{left}{plain_text(category.left)}, {plain_text(category.right)}{right}"
    return str(category) if isinstance(category, pd.Period) else plain_text(category)


T = TypeVar("T")

_ASKED = "A data frame was to be read."
_KNOWN = "Give a frame of pandas, Polars, Arrow or DuckDB."


class Frame:
    """A data frame of any library that is known to narwhals or hands out an Arrow stream.

    - `native`: the frame as it was given; of a stream, which can be read once only, the table it became.
    - `names`, `columns`: the names of its columns, and these.
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
        self.names = _checked_names(self._schema.names())
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
        table = None if self.is_pandas else self._collected(columns)
        made: dict[str, pa.Array | pa.ChunkedArray] = {}
        odd: dict[str, str] = {}
        for name in columns:
            try:
                made[name] = (
                    pandas_column(self.native[name])
                    if table is None
                    else _narwhals_column(table[name])
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


def _narwhals_column(series: nw.Series[Any]) -> pa.Array | pa.ChunkedArray:
    import narwhals as nw

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


def _checked_names(names: Sequence[Any]) -> tuple[str, ...]:
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

    faults: list[type[Exception]] = [nw.exceptions.NarwhalsError, pa.ArrowException]
    for module, name in (("duckdb", "Error"), ("polars.exceptions", "PolarsError")):
        if module in sys.modules:
            faults.append(getattr(sys.modules[module], name))
    return tuple(faults)


_ROWS = 1 << 14
# Numbers that are larger have no whole number of 64 bits, and are known to 15 digits anyway.
_WHOLE = 1 << 53


def read_workbook(path: Path, *, sheet: str | None = None, header: bool = True) -> pa.Table:
    """Return a sheet as a table, the only one that has cells unless one is named."""
    with apart(
        write_sheet,
        str(path),
        sheet,
        header,
        path=path,
        asked=f"Data file {quoted([path.name])} was to be read.",
        do="Save it as CSV, or allow more (--memory): a cell far from all others makes a sheet large.",
        libraries=("pyarrow", "python_calamine"),
    ) as told:
        table = pa.ipc.open_stream(told).read_all()
    table.validate(full=True)
    return table


def write_sheet(out: BinaryIO, name: str, sheet: str | None, header: bool) -> None:
    """Write a sheet of a workbook as an Arrow stream."""
    from python_calamine import CalamineWorkbook

    path = Path(name)
    _require_undamaged(path)
    sheets: dict[str, Any] = {}
    failed = False
    try:
        with CalamineWorkbook.from_path(path) as book:
            for each in [sheet] if sheet and sheet in book.sheet_names else book.sheet_names:
                own = book.get_sheet_by_name(each)
                if own.height:
                    sheets[each] = own
    except Exception:  # noqa: BLE001 - the reader's own errors may quote cells
        failed = True
    if failed:
        raise unreadable(path, "It is no Excel workbook, or it is damaged.", "Save it as CSV.")
    if sheet and sheet not in sheets:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Sheet {quoted([sheet])} of {quoted([path.name])} was to be read.",
            "There is none with cells.",
            f"There are: {quoted(list(sheets))}.",
        )
    if len(sheets) != 1:
        do = f"Name one of {quoted(list(sheets))} (--sheet)." if sheets else "Check the file."
        raise unreadable(path, f"It has {count_of(len(sheets), 'sheet')} with cells.", do)
    (found,) = sheets.values()
    table = pa.table(_sheet_columns(found, path, header=header))
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def _sheet_columns(sheet: Any, path: Path, *, header: bool) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a sheet by name, made of some rows at a time."""
    rows = islice(sheet.iter_rows(), sheet.start[0], None)
    names = [str(cell).strip() for cell in next(rows)] if header else [""] * sheet.width
    names = [name or f"column {place}" for place, name in enumerate(names, 1)]
    if len(set(names)) < len(names):
        raise unreadable(path, "Columns have the same name.", "Give every column its own.")
    parts: list[list[pa.Array]] = [[] for _ in names]
    while some := list(islice(rows, _ROWS)):
        for part, cells in zip(parts, zip(*some, strict=True), strict=True):
            part.append(_sheet_column(cells))
    return {name: _joined_parts(part) for name, part in zip(names, parts, strict=True)}


def _joined_parts(parts: list[pa.Array]) -> pa.ChunkedArray:
    """Return the parts of a column as whole numbers where all are, else as texts."""
    kinds = {part.type for part in parts if part.null_count < len(part)}
    kind = kinds.pop() if len(kinds) == 1 else pa.string()
    return pa.chunked_array([part.cast(kind) for part in parts], kind)


def _sheet_column(cells: tuple[Any, ...]) -> pa.Array:
    given = [None if cell is None or cell == "" else cell for cell in cells]
    if all(cell is None or _is_whole(cell) for cell in given):
        return pa.array([None if cell is None else int(cell) for cell in given], pa.int64())
    return pa.array([None if cell is None else _sheet_text(cell) for cell in given], pa.string())


def _is_whole(cell: Any) -> bool:
    return type(cell) in (int, float) and abs(cell) <= _WHOLE and float(cell).is_integer()


def _sheet_text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _require_undamaged(path: Path) -> None:
    """Refuse a workbook whose sums do not fit what it holds: it would be read with other figures."""
    is_damaged = False
    try:
        with zipfile.ZipFile(path) as archive:
            is_damaged = archive.testzip() is not None
    except DAMAGED:
        is_damaged = True
    if is_damaged:
        raise unreadable(path, "It is no Excel workbook, or it is damaged.", "Save it as CSV.")
