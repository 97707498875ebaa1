"""From a file or a data frame to integers with a codebook.

A file is read once, batch by batch. Codes are given as values are met, go to the engine as they come
and are put in their final order there. Parquet columns of whole numbers and texts are not copied: the
engine looks for their values and then scans the file in place. An engine elsewhere must see the file
under the same path; anything else is read here and handed over, up to a limit
(`gamekeeper.data.engine.gate`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from gamekeeper.arrow import pa, pc
from gamekeeper.data.coding.codebook import MISSING, Codebook, CodedVariable, Recode, sorted_values
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine import gate
from gamekeeper.data.reading.columns import (
    Column,
    ColumnKind,
    float_of,
    is_text,
    kind_of,
    matched_names,
    number_of,
    type_name,
    value_texts,
)
from gamekeeper.data.reading.frames import Frame
from gamekeeper.data.reading.source import ParquetFile, Source, missing_texts
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted

_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"


class CellCoder:
    """Gives the values of one column their codes."""

    def __init__(self, column: Column, missing: Collection[str], decimal: str) -> None:
        self.column = column
        self._missing = missing
        self._decimal = decimal
        self._codes: dict[str, int] = {}

    def code(self, cells: pa.Array) -> npt.NDArray[np.int32]:
        """Return the codes of some cells; new values get new codes."""
        if pa.types.is_null(cells.type):
            return np.full(len(cells), MISSING, dtype=np.int32)
        given = pa.types.is_dictionary(cells.type)
        if pa.types.is_string_view(cells.type):
            cells = cells.cast(pa.large_string())
        if not given:
            cells = cells.dictionary_encode()
        places = cells.indices.cast(pa.int64() if given else pa.int32()).fill_null(-1).to_numpy()
        met = np.full(len(cells.dictionary) + 1, not given)
        if given:
            # A dictionary may hold values that no cell has: they are no categories.
            met[places] = True
        used = np.flatnonzero(met[:-1])
        texts = value_texts(cells.dictionary.take(pa.array(used)), self.column.digits)
        texts = [None if text in self._missing else text for text in texts]
        new = {text for text in texts if text is not None and text not in self._codes}
        for text in sorted_values(new, self._decimal):
            self._codes[text] = len(self._codes) + 1
        codes = np.zeros(len(cells.dictionary) + 1, dtype=np.int32)
        codes[used] = [MISSING if text is None else self._codes[text] for text in texts]
        return codes[places]

    def variable(self) -> CodedVariable:
        """Return the variable with all values met so far, in their final order."""
        return CodedVariable.of_values(
            self.column.name,
            self._codes,
            labels=self.column.labels,
            label=self.column.label,
            decimal=self._decimal,
            order=self.column.order,
        )

    def order(self, variable: CodedVariable) -> npt.NDArray[np.int64]:
        """Return the final code of each code that was given."""
        final = np.zeros(variable.n_codes, dtype=np.int64)
        for code, value in enumerate(variable.values[1:], 1):
            final[self._codes[value]] = code
        return final


class NumberReader:
    """Reads the cells of one column as numbers and counts what is not one."""

    def __init__(self, name: str, missing: Collection[str], decimal: str) -> None:
        self.name = name
        self.decimal = decimal
        self.n_cells = 0
        self.n_faults = 0
        self._missing = missing
        read = (number_of(value, decimal) for value in missing)
        self._missing_numbers = [float_of(number) for number in read if number is not None]

    def read(self, cells: pa.Array) -> pa.Array:
        """Return the numbers; none where the cell is missing or is not a number."""
        self.n_cells += len(cells)
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if is_text(cells.type):
            numbers = self._parse(cells.cast(pa.large_string()))
        elif kind_of(cells.type) is ColumnKind.NUMBER or pa.types.is_null(cells.type):
            numbers = cells.cast(pa.float64(), safe=False)
            numbers = _blanked(numbers, pc.is_nan(numbers))
        else:
            self.n_faults += len(cells) - cells.null_count
            return pa.nulls(len(cells), pa.float64())
        if self._missing_numbers:
            known = pa.array(self._missing_numbers, pa.float64())
            numbers = _blanked(numbers, pc.is_in(numbers, known))
        infinite = pc.invert(pc.is_finite(numbers))
        self.n_faults += pc.sum(infinite).as_py() or 0
        return numbers

    def _parse(self, cells: pa.Array) -> pa.Array:
        texts = pc.utf8_trim_whitespace(cells)
        none = pa.array(["", *self._missing], pa.large_string())
        texts = _blanked(texts, pc.is_in(texts, none))
        if self.decimal == ",":
            texts = pc.replace_substring(texts, ".", " ")
            texts = pc.replace_substring(texts, ",", ".")
        is_number = pc.match_substring_regex(texts, _NUMBER)
        self.n_faults += pc.sum(pc.invert(is_number)).as_py() or 0
        return pc.if_else(is_number, texts, None).cast(pa.float64())


def _blanked(cells: pa.Array, where: pa.Array) -> pa.Array:
    return pc.if_else(pc.fill_null(where, False), pa.scalar(None, cells.type), cells)


_MOST_HASHED = 20_000_000_000


def code_source(
    source: Source,
    variables: Sequence[str],
    *,
    numbers: Sequence[str] = (),
    engine: gate.Engine | None = None,
    progress: Progress | None = None,
) -> CodedTable:
    r"""Read columns of a data file, or of a frame, as codes, records in the order of the file.

    Parameters
    ----------
    source
        The file or frame, from `open_source`.
    variables
        The columns to code: key variables, strata, sensitive variables; case does not matter.
    numbers
        Columns to read as numbers, such as weights.
    engine
        Who keeps the codes; one that the process shares when None.
    progress
        Told the number of records read and, where the file tells it, of all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gamekeeper.data.reading.source import open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("region,sex\n010,f\n007,\n")
    ...     coded = code_source(open_source(path), ["region", "sex"])
    >>> coded.codebook["region"].values, coded.matrix().tolist()
    (('', '007', '010'), [[2, 1], [1, 0]])
    """
    asked = f"Columns of {source.words} were to be coded."
    _wanted(asked, variables, numbers)
    variables, numbers = (matched_names(names, source.names) for names in (variables, numbers))
    wanted = _wanted(asked, variables, numbers)
    source.check_names(wanted)
    columns = dict(zip(source.names, source.columns, strict=True))
    input_ = _Input(
        asked,
        tuple(columns[name] for name in variables),
        tuple(dict.fromkeys(numbers)),
        source.missing,
        source.decimal,
        source.n_records,
    )
    keeper = engine or _default_engine()
    if isinstance(source.reader, ParquetFile):
        _check_types(asked, source.reader.schema, wanted, numbers)
        scanned = _scan(source.reader, input_, keeper, progress)
        if scanned is not None:
            return _table(keeper, input_, *scanned, _mark(source, source.reader, keeper))
    gate.require_loaded(keeper, source.about_records() or 0, source.words)
    if isinstance(source.reader, Frame):
        table = source.reader.table(wanted)
        _require_none(asked, _number_problems(table.schema, numbers))
        batches: Iterable[pa.RecordBatch] = table.to_batches()
    else:
        batches = source.batches(wanted)
    batches = _within_limit(batches, keeper, source.words)
    made = _table(keeper, input_, *_read(batches, input_, keeper, progress), source.fingerprint)
    made.fingerprint = made.fingerprint or _fingerprint(made)
    return made


def code_frame(
    frame: Any,
    variables: Sequence[str] | None = None,
    *,
    numbers: Sequence[str] = (),
    missing: Sequence[str] = (),
    engine: gate.Engine | None = None,
) -> CodedTable:
    """Read columns of a data frame as codes.

    Parameters
    ----------
    frame
        A frame of pandas, Polars, Arrow or DuckDB, or anything that hands out an Arrow stream.
    variables
        The columns to code; all that are not in `numbers` when None.
    numbers
        Columns to read as numbers, such as weights.
    missing
        Values, as text, that are read as missing besides nothing, NaN and the empty text.
    engine
        Who keeps the codes; one that the process shares when None.

    Examples
    --------
    >>> import pyarrow as pa
    >>> coded = code_frame(pa.table({"age": [10, 9, None]}))
    >>> coded.codebook["age"].values, coded.codes("age").tolist()
    (('', '9', '10'), [2, 1, 0])
    """
    source = Source(Frame(frame), missing_texts(missing))
    if variables is None:
        variables = [name for name in source.names if name not in set(numbers)]
    return code_source(source, variables, numbers=numbers, engine=engine)


@dataclass(frozen=True)
class _Input:
    asked: str
    columns: tuple[Column, ...]
    numbers: tuple[str, ...]
    missing: frozenset[str]
    decimal: str
    n_records: int | None


def _mark(source: Source, reader: ParquetFile, engine: gate.Engine) -> str:
    """Return the fingerprint of a file that is scanned in place.

    Of what is large and elsewhere, to read every byte would take this machine longer than the whole
    cluster takes to count.
    """
    if engine.is_local or reader.n_bytes <= _MOST_HASHED:
        return source.fingerprint
    return reader.fingerprint_of_footers


def _within_limit(
    batches: Iterable[pa.RecordBatch], engine: gate.Engine, words: str
) -> Iterator[pa.RecordBatch]:
    """Yield batches up to the limit of what is handed over: a text file only guesses its records."""
    n_records = 0
    for batch in batches:
        n_records += batch.num_rows
        gate.require_loaded(engine, n_records, words)
        yield batch


def _default_engine() -> gate.Engine:
    from gamekeeper.data.engine.duckdb_engine import default_engine

    return default_engine()


def _wanted(asked: str, variables: Sequence[str], numbers: Sequence[str]) -> list[str]:
    if isinstance(variables, str) or isinstance(numbers, str):
        raise InputError(
            Reason.BAD_OPTION, asked, "The columns are given as one text.", "Give a list of names."
        )
    if not variables and not numbers:
        raise InputError(
            Reason.NOTHING_GIVEN, asked, "No column is named.", "Name at least one column."
        )
    return [*variables, *(name for name in dict.fromkeys(numbers) if name not in variables)]


def _table(
    engine: gate.Engine,
    input_: _Input,
    codebook: Codebook,
    relation: str,
    n_records: int,
    mark: str,
) -> CodedTable:
    if not n_records:
        engine.drop(relation)
        raise InputError(
            Reason.NOTHING_GIVEN, input_.asked, "There are no records.", "Check the data."
        )
    return CodedTable(engine, relation, codebook, n_records, mark, input_.numbers)


def _read(
    batches: Iterable[pa.RecordBatch],
    input_: _Input,
    engine: gate.Engine,
    progress: Progress | None,
) -> tuple[Codebook, str, int]:
    """Code batches as they come; return codebook, relation and number of records."""
    coders = [CellCoder(column, input_.missing, input_.decimal) for column in input_.columns]
    readers = [NumberReader(name, input_.missing, input_.decimal) for name in input_.numbers]
    schema = pa.schema(
        [(gate.code_column(place), pa.int32()) for place in range(len(coders))]
        + [(gate.number_column(place), pa.float64()) for place in range(len(readers))]
    )
    n_records = 0

    def coded() -> Iterator[pa.RecordBatch]:
        nonlocal n_records
        for batch in batches:
            arrays = [pa.array(coder.code(batch[coder.column.name])) for coder in coders]
            arrays += [reader.read(batch[reader.name]) for reader in readers]
            n_records += batch.num_rows
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    tell = None if progress is None else lambda done, _: progress(done, input_.n_records)
    loaded = engine.load(schema, coded(), progress=tell)
    faults = [reader for reader in readers if reader.n_faults]
    if faults:
        engine.drop(loaded)
        raise _not_numbers(input_, faults)
    book = Codebook(tuple(coder.variable() for coder in coders))
    return book, _in_final_order(coders, book, loaded, n_records, engine, len(readers)), n_records


def _in_final_order(
    coders: Sequence[CellCoder],
    book: Codebook,
    loaded: str,
    n_records: int,
    engine: gate.Engine,
    n_numbers: int,
) -> str:
    """Return the relation with the final codes, each column as narrow as it can be."""
    numbers = [gate.number_column(place) for place in range(n_numbers)]
    as_met = CodedTable(engine, loaded, book, n_records, "", tuple(numbers))
    orders = {
        variable.name: order
        for coder, variable in zip(coders, book, strict=True)
        if not np.array_equal(order := coder.order(variable), np.arange(variable.n_codes))
    }
    recodes = [Recode(name, order, book[name].words) for name, order in orders.items()]
    ordered = as_met.recoded(recodes)
    chosen = [gate.RECORD]
    for place, variable in enumerate(book):
        column = gate.code_column(place)
        chosen.append(f"CAST({column} AS {gate.code_sql(variable.n_codes)}) AS {column}")
    return engine.create(f"SELECT {', '.join([*chosen, *numbers])} FROM {ordered.relation}")


def _scan(
    reader: ParquetFile, input_: _Input, engine: gate.Engine, progress: Progress | None
) -> tuple[Codebook, str, int] | None:
    """Let the engine scan a Parquet file; None when a column needs more than it can do."""
    n_records = reader.n_records or 0
    fits = all(reader.in_place(column.name) for column in input_.columns) and not (
        input_.numbers and (input_.missing or not all(map(reader.is_number, input_.numbers)))
    )
    if not fits or not n_records:
        return None
    places = [reader.place(column.name) for column in input_.columns]
    raw = engine.scan_parquet(
        reader.files, [gate.ScannedColumn(at, gate.code_column(i)) for i, at in enumerate(places)]
    )
    variables: list[CodedVariable] = []
    columns: list[gate.ScannedColumn] = []
    try:
        most = gate.MOST_DISTINCT if engine.is_local else gate.MOST_VALUES
        every = engine.distinct(raw, [gate.code_column(i) for i in range(len(places))], most=most)
        for i, (column, at, met) in enumerate(zip(input_.columns, places, every, strict=True)):
            values = met.drop_null()
            by_text: dict[str, Any] = {}
            for value, text in zip(values.to_pylist(), value_texts(values), strict=True):
                if text is None or text in input_.missing:
                    continue
                if text in by_text:  # they differ in spaces alone: one code for several values
                    return None
                by_text[text] = value
            variable = CodedVariable.of_values(column.name, by_text)
            variables.append(variable)
            ordered = tuple(by_text[text] for text in variable.values[1:])
            columns.append(gate.ScannedColumn(at, gate.code_column(i), gate.Scan.CODE, ordered))
            if progress is not None:
                progress(n_records * (i + 1) // len(places), n_records)
    finally:
        engine.drop(raw)
    columns += [
        gate.ScannedColumn(reader.place(name), gate.number_column(i), gate.Scan.NUMBER)
        for i, name in enumerate(input_.numbers)
    ]
    return Codebook(tuple(variables)), engine.scan_parquet(reader.files, columns), n_records


def _check_types(
    asked: str, schema: pa.Schema, wanted: Sequence[str], numbers: Sequence[str]
) -> None:
    """Refuse columns of lists, records and bytes; what else is not a number is counted later."""
    problems = [
        Problem(
            Reason.WRONG_SCHEMA,
            f"column {quoted([name])}",
            f"It is of type {type_name(schema.field(name).type)}.",
            "Give numbers, texts, dates or truth values.",
        )
        for name in wanted
        if kind_of(schema.field(name).type) is ColumnKind.OTHER
    ]
    _require_none(asked, [*problems, *_number_problems(schema, numbers)])


def _number_problems(schema: pa.Schema, numbers: Sequence[str]) -> list[Problem]:
    return [
        Problem(
            Reason.WRONG_SCHEMA,
            f"column {quoted([name])}",
            f"It is to be read as numbers, but is of type {type_name(schema.field(name).type)}.",
        )
        for name in dict.fromkeys(numbers)
        if kind_of(schema.field(name).type) in (ColumnKind.DATE, ColumnKind.TRUTH)
    ]


def _require_none(asked: str, problems: Sequence[Problem]) -> None:
    if problems:
        raise InputError(
            Reason.WRONG_SCHEMA,
            asked,
            f"{count_of(len(problems), 'column')} cannot be used.",
            problems=problems,
        )


def _not_numbers(input_: _Input, faults: Sequence[NumberReader]) -> InputError:
    problems = [
        Problem(
            Reason.WRONG_SCHEMA,
            f"column {quoted([reader.name])}",
            f"{reader.n_faults:,} of {count_of(reader.n_cells, 'cell')} "
            f"{'is not a number' if reader.n_faults == 1 else 'are not numbers'}.",
        )
        for reader in faults
    ]
    return InputError(
        Reason.WRONG_SCHEMA,
        input_.asked,
        f"{count_of(len(faults), 'column')} cannot be read as numbers with the decimal mark "
        f"{quoted([input_.decimal])}.",
        "Check the columns, give the decimal mark (--decimal), or name the values that mean missing"
        " (--missing-value).",
        problems=problems,
    )


def _fingerprint(table: CodedTable) -> str:
    digest = sha256()
    for variable in table.codebook:
        digest.update(repr((variable.name, variable.values)).encode("utf-8", "replace"))
        digest.update(np.ascontiguousarray(table.codes(variable.name), dtype="<i4").data)
    for name in table.numbers:
        digest.update(repr(name).encode("utf-8", "replace"))
        digest.update(np.ascontiguousarray(table.number(name), dtype="<f8").data)
    return digest.hexdigest()[:16]
