"""The one gate to whatever counts: relations of integers in, plain SQL, Arrow out.

A relation is a table or a view that an engine keeps under a name of its own making. Its columns
have our names, never those of a file: `record` (0, 1, 2, ... in the order of the file), `v0`,
`v1`, ... for codes, `x0`, `x1`, ... for numbers. So nothing that a user named is ever part of a
statement. Codes are never NULL: a missing cell is code 0. Statements are plain SQL that other
engines run as well; codes are signed integers, because some engines have no others.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from gamekeeper.algorithms.blocks import Kernel, Outcome, Shared, State, Task
from gamekeeper.data.engine.pool import Pool
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import number_text

if TYPE_CHECKING:
    import pyarrow as pa

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
    import pyarrow as pa

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

    Attributes
    ----------
    place
        The place of the column in the file's schema, from 0.
    name
        Its name in the relation: see `code_column` and `number_column`.
    scan
        As it is (to ask which values there are), as codes, or as floating point numbers.
    values
        For codes: value number i has code i + 1; every other value, and NULL, has code 0.
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
