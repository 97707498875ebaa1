"""The one gate to whatever counts: relations of integers in, plain SQL, Arrow out.

A relation is a table or a view that an engine keeps under a name of its own making. Its columns
have our names, never those of a file: `record` (0, 1, 2, ... in the order of the file), `v0`,
`v1`, ... for codes, `x0`, `x1`, ... for numbers. So nothing that a user named is ever part of a
statement. Codes are never NULL: a missing cell is code 0. Statements are plain SQL that other
engines run as well; codes are signed integers, because some engines have no others.

An engine of this machine has its records here already, and work asks for memory as it always does
(`gamekeeper.budget`). With one elsewhere every row of an array crosses the network and takes memory
of the one process that asked. Counts of classes are small; arrays with a cell per record or per
different key are not. Up to the limits below they come, so that every attack gives the same answer
whoever counts. Above them they are refused, with the way around.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from gamekeeper.algorithms.blocks import Kernel, Outcome, Shared, State, Task
from gamekeeper.arrow import pa
from gamekeeper.budget import require_memory
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.files import fault_of_folder, move, refusal
from gamekeeper.prompt_syntax import Pool
from gamekeeper.results import Progress
from gamekeeper.wording import number_text

RECORD = "record"
"""The column with the place of a record in its file, from 0."""

MOST_DISTINCT = 2**31 - 2
"""More different values of a column than this have no code."""

_INT16_CODES = 2**15


def code_column(place: int) -> str:
    """Return the name of the column with the codes of the variable at a place of the codebook."""
    return f"v{place}"


def number_column(place: int) -> str:
    """Return the name of the column with the numbers at a place among the numeric columns."""
    return f"x{place}"


def code_type(n_codes: int) -> pa.DataType:
    """Return the smallest signed Arrow type that every engine has and that holds the codes."""
    return pa.int16() if n_codes <= _INT16_CODES else pa.int32()


def matrix_type(n_codes: Sequence[int]) -> type[np.unsignedinteger]:
    """Return the smallest of 1, 2 or 4 bytes that holds the codes of several variables."""
    largest = max(n_codes, default=1) - 1
    for kind in (np.uint8, np.uint16):
        if largest <= np.iinfo(kind).max:
            return kind
    return np.uint32


def code_sql(n_codes: int) -> str:
    """Return the type of `code_type` as SQL has it."""
    return "SMALLINT" if n_codes <= _INT16_CODES else "INTEGER"


class Scan(StrEnum):
    """What becomes of a column of a file that is scanned in place."""

    RAW = "raw"
    CODE = "code"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, repr=False)
class ScannedColumn:
    """How a column of a Parquet file becomes a column of a relation.

    - `place`: the place of the column in the file's schema, from 0.
    - `name`: its name in the relation: see `code_column` and `number_column`.
    - `scan`: as it is (to ask which values there are), as codes, or as floating point numbers.
    - `values`: for codes: value number i has code i + 1; every other value, and NULL, has code 0.
      All integers or all texts, as the column is.
    """

    place: int
    name: str
    scan: Scan = Scan.RAW
    values: tuple[int, ...] | tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ScannedColumn({self.name}, {self.scan}, {len(self.values)} values)"


class Engine(Protocol):
    """What an engine can do. All of it may be called from several threads.

    Relations live until they are dropped or the engine is closed; after that every call but
    `drop` and `close` raises the same clear error.
    """

    @property
    def name(self) -> str:
        """The engine and its version, as results print it."""
        ...

    def load(
        self,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        *,
        progress: Progress | None = None,
    ) -> str:
        """Keep batches as a relation, with `record` numbered as they come, and return its name.

        Columns are of 16, 32 or 64 bits, floating point numbers, or texts: the words of codes, for
        what is written where it was counted. `progress` is told how many records have come.
        """
        ...

    def scan_parquet(self, files: Sequence[Path], columns: Sequence[ScannedColumn]) -> str:
        """Return the name of a view of Parquet files of one schema, as if they were one file.

        `record` goes on from file to file, in the order in which they are given.
        """
        ...

    def create(self, sql: str, *, progress: Progress | None = None) -> str:
        """Run a query, keep its result, on disk where memory is short, and return its name.

        `progress` is told the percentage of the work, where the engine knows it, and may cancel.
        """
        ...

    def view(self, sql: str) -> str:
        """Keep a query without running it and return its name."""
        ...

    def query(self, sql: str) -> pa.Table:
        """Run a query and return its result."""
        ...

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run a query and return its result in batches, in no particular order."""
        ...

    def distinct(
        self, relation: str, columns: Sequence[str], *, most: int = MOST_DISTINCT
    ) -> Iterator[pa.Array]:
        """Yield the different values of each column, NULL among them, in no particular order.

        More than `most` of one column are refused.
        """
        ...

    def write_parquet(self, sql: str, folder: Path, *, names: Sequence[str] = ()) -> int:
        """Run a query, write its result to a new folder of Parquet files, and return its rows.

        `names` are those that its columns have in the files, whatever people call them; those of
        the query where there are none. The rows never pass through this process's memory as a
        whole; the folder is there whole or not at all.
        """
        ...

    def map_blocks(
        self,
        kernel: Kernel[State, Task, Outcome],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        workers: int | None = None,
        pool: Pool = Pool.THREADS,
        progress: Progress | None = None,
    ) -> Generator[Outcome]:
        """Yield the outcome of every task, in the order of tasks, whoever does them.

        Every worker gets the shared arrays once. `pool` says who works where the engine is of this
        machine. `progress` is told how many tasks are done, and may cancel.
        """
        ...

    @property
    def n_workers(self) -> int:
        """How many tasks of `map_blocks` it does at a time."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether it works on this machine, so that arrays with a cell per record cost no network."""
        ...

    def drop(self, relation: str) -> None:
        """Give a relation up; its space is freed when the next one is made."""
        ...

    def close(self) -> None:
        """Give everything up and remove what is on disk."""
        ...

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: object) -> None: ...


def closed_engine(asked: str) -> InputError:
    """Return the error for an engine that is used after it was closed."""
    return InputError(
        Reason.NOT_READABLE,
        asked,
        "The engine that keeps the data was closed, or is another process's.",
        "Keep it open as long as its tables are used, or read the file again.",
    )


def too_many_values(most: int) -> LimitError:
    """Return the error for a column with more different values than are numbered."""
    return LimitError(
        Reason.TOO_LARGE,
        "The different values of a column were to be numbered.",
        f"It has more than {number_text(most)}.",
        "Leave the column out, or make its values coarser first.",
    )


MOST_BROUGHT = 100_000_000
"""So many records, or different keys, come from an engine elsewhere at most."""

MOST_LOADED = 20_000_000
"""So many records are read by this machine and handed to an engine elsewhere at most."""

MOST_WRITTEN = 1_000_000
"""So many rows of what is elsewhere are listed here, or written as one text file or sheet, at most."""

MOST_VALUES = 5_000_000
"""So many different values of a column come from an engine elsewhere to be numbered at most."""

FEWER_RECORDS = "Take a random part of the records, or one region at a time"
FEWER_KEYS = "Take fewer key variables, or coarser ones (--recode)"


def stays_elsewhere(engine: Engine, n_records: int) -> bool:
    """Tell whether results of records stay with the engine, so that this machine has those of keys."""
    return not engine.is_local and n_records > MOST_WRITTEN


def require_brought(
    engine: Engine, n_rows: int, row_bytes: int, what: str, do: str = FEWER_RECORDS
) -> None:
    """Refuse to bring more rows from elsewhere than may come, or than memory holds.

    - `n_rows`, `row_bytes`: how many there are, and what each takes.
    - `what`: what they are, as "codes of records".
    - `do`: the ways around, as a sentence without its full stop.
    """
    if engine.is_local:
        return
    asked = f"{number_text(n_rows)} {what} were to come from {engine.name} to this machine."
    if n_rows > MOST_BROUGHT:
        raise LimitError(
            Reason.TOO_LARGE, asked, f"At most {number_text(MOST_BROUGHT)} do.", f"{do}."
        )
    require_memory(asked, n_rows * row_bytes, "They", do)


def require_loaded(engine: Engine, n_records: int, words: str) -> None:
    """Refuse to hand more records to an engine elsewhere than this machine reads for it."""
    if engine.is_local or n_records <= MOST_LOADED:
        return
    raise LimitError(
        Reason.TOO_LARGE,
        f"{words} was to be counted by {engine.name}.",
        "This machine would have to read its records and hand them over: it is no Parquet, or has a"
        " column that is neither whole numbers nor texts. That is done for at most"
        f" {number_text(MOST_LOADED)} records.",
        "Write it as Parquet, or a folder of Parquet files, in a place that the whole cluster sees,"
        " with key variables of whole numbers or texts: that is read in place.",
    )


def require_written(engine: Engine, n_rows: int, ending: str, what: str) -> None:
    """Refuse a text file or sheet of more rows than are written of what is elsewhere."""
    if engine.is_local or ending == ".parquet" or n_rows <= MOST_WRITTEN:
        return
    raise LimitError(
        Reason.TOO_LARGE,
        f"{number_text(n_rows)} {what} were to be written to a file that ends in {ending}.",
        f"They are kept by {engine.name}, and at most {number_text(MOST_WRITTEN)} are brought here"
        " for such a file.",
        "Let its name end in .parquet: a folder of Parquet files is then written where they are.",
    )


@contextmanager
def new_folder(folder: Path, asked: str, make: Callable[[Path], Path]) -> Generator[Path]:
    """Give a folder to write to, which gets its name when all of it is there.

    `make` makes one of another name within the folder around it.
    """
    found, do = fault_of_folder(folder)
    if found or folder.exists():
        raise InputError(
            Reason.NOT_WRITABLE,
            asked,
            f"It {found or 'is there already.'} Nothing was written.",
            do or "Name a folder that is not there yet.",
        )
    made: Path | None = None
    try:
        made = make(folder.parent)
        yield made
        move(made, folder)
    except OSError as error:
        raise refusal(asked, error) from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def needs_map(column: ScannedColumn) -> bool:
    """Tell whether the values of a column are coded by a join with a table of them."""
    return column.scan is Scan.CODE and not _is_run(column.values)


def scanned_sql(column: ScannedColumn, cell: str, mapped: str) -> tuple[str, str]:
    """Return a column of a file as an expression, and the join with its map it needs.

    `cell` is its name as SQL; `mapped` that of the table with its values and codes.
    """
    if column.scan is Scan.RAW:
        return cell, ""
    if column.scan is Scan.NUMBER:
        return f"CAST({cell} AS DOUBLE)", ""
    kind = code_sql(len(column.values) + 1)
    if needs_map(column):
        cast = "BIGINT" if column.values and isinstance(column.values[0], int) else "STRING"
        join = f" LEFT JOIN {mapped} ON {mapped}.value = CAST({cell} AS {cast})"
        return f"CAST(COALESCE({mapped}.code, 0) AS {kind})", join
    first, last = column.values[0], column.values[-1]
    code = (
        f"CASE WHEN {cell} BETWEEN {first} AND {last} THEN CAST({cell} AS BIGINT) - ({first}) + 1"
    )
    return f"CAST({code} ELSE 0 END AS {kind})", ""


def values_table(values: Sequence[int | str]) -> pa.Table:
    """Return the values of a column with their codes."""
    kind = pa.int64() if values and isinstance(values[0], int) else pa.string()
    codes = pa.array(range(1, len(values) + 1), pa.int32())
    return pa.table({"value": pa.array(values, kind), "code": codes})


def _is_run(values: Sequence[int | str]) -> bool:
    """Tell whether values are whole numbers without gaps, which are coded by subtraction."""
    if not values or isinstance(values[0], str):
        return False
    first = values[0]
    return all(value == number for number, value in enumerate(values, start=int(first)))
