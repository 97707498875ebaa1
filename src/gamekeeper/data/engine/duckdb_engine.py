"""The engine gate on DuckDB, within one process and a limit of memory.

What does not fit in memory goes to a temporary folder that only the owner of the process can
read and that is removed when the engine is closed. Only codes and numbers go there, with one
exception: when a text column of a Parquet file is scanned in place and memory is short, DuckDB may
put values of it there too. Everything else is coded before it comes here.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from gamekeeper.algorithms.blocks import Kernel, Outcome, Shared, State, Task
from gamekeeper.budget import is_memory_given, memory_budget, workers_of
from gamekeeper.data.engine.duckdb_errors import run_discreetly
from gamekeeper.data.engine.duckdb_parquet import cell_sql, copy_sql, file_sql, make_map, rows_sql
from gamekeeper.data.engine.gate import (
    MOST_DISTINCT,
    RECORD,
    ScannedColumn,
    closed_engine,
    too_many_values,
)
from gamekeeper.data.engine.local_blocks import map_locally
from gamekeeper.data.engine.new_folder import new_folder
from gamekeeper.data.engine.pool import Pool
from gamekeeper.data.engine.scanned_codes import needs_map, scanned_sql
from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.files.asides import temporary_folder
from gamekeeper.results import Progress
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

_BATCH = 1 << 20
_RELATION = re.compile(r"\br[0-9]+\b")
_POLL_SECONDS = 0.1
# With less, DuckDB does not even count.
_LEAST_MEMORY = 32_000_000
_TYPES = {
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "string": "VARCHAR",
}


class DuckDBEngine:
    """An engine of this process.

    Parameters
    ----------
    memory_limit
        How much memory DuckDB may use, such as "4GB"; half of what work may use when None. The
        other half is for arrays with a cell per record.
    threads
        How many threads it may use; one per core when None.
    folder
        Where to make the temporary folder; the system's place for such when None.

    Examples
    --------
    >>> with DuckDBEngine(memory_limit="500MB", threads=1) as engine:
    ...     numbers = engine.create("SELECT 1 AS v0 UNION ALL SELECT 2")
    ...     engine.query(f"SELECT COUNT(*) AS n FROM {numbers}").to_pydict()
    {'n': [2]}
    """

    is_local = True

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        folder: Path | str | None = None,
    ) -> None:
        import duckdb

        self._folder = _temporary_folder(folder)
        config: dict[str, Any] = {
            "temp_directory": str(self._folder),
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        budget = memory_budget()
        if memory_limit is not None:
            config["memory_limit"] = memory_limit
        elif budget is not None:
            config["memory_limit"] = f"{max(budget // 2, _LEAST_MEMORY)}B"
        if threads is not None:
            config["threads"] = str(threads)
        try:
            self._connection = duckdb.connect(":memory:", config=config)
        except duckdb.Error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise InputError(
                Reason.BAD_OPTION,
                f"An engine with memory limit {memory_limit!r} and {threads!r} threads was asked for.",
                "DuckDB does not take these.",
                "Give memory with its unit, such as '4GB', and at least one thread.",
            ) from None
        self.name = f"duckdb {duckdb.__version__}"
        self._numbers = itertools.count()
        self._dropped: deque[str] = deque()
        self._maps: dict[str, list[str]] = {}
        # The views that read a file in place, and those made of them.
        self._scanned: set[str] = set()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._finalizer = weakref.finalize(
            self, _release, self._connection, self._folder, self._process
        )

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or belongs to the process that this one was forked from."""
        return not self._finalizer.alive or os.getpid() != self._process

    def load(
        self,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        *,
        progress: Progress | None = None,
    ) -> str:
        """Keep batches as a relation and return its name; see `Engine.load`."""
        import numpy as np
        import pyarrow as pa

        columns = ", ".join(f'"{field.name}" {_TYPES[str(field.type)]}' for field in schema)
        names = [RECORD, *schema.names]
        asked = "A relation was to be loaded."
        n_records = 0
        with self._making(asked) as (relation, cursor):
            made = f"CREATE TABLE {relation} ({RECORD} BIGINT NOT NULL, {columns})"
            run_discreetly(lambda: cursor.execute(made), asked)
            for batch in batches:
                numbers = pa.array(np.arange(n_records, n_records + batch.num_rows))
                numbered = pa.Table.from_arrays([numbers, *batch.columns], names=names)
                run_discreetly(partial(_append, cursor, relation, numbered), asked)
                n_records += batch.num_rows
                if progress is not None:
                    progress(n_records, None)
        return relation

    def scan_parquet(self, files: Sequence[Path], columns: Sequence[ScannedColumn]) -> str:
        """Return the name of a view of Parquet files; see `Engine.scan_parquet`."""
        asked = f"The Parquet file {quoted([files[0].name])} was to be scanned."
        parts = [file_sql(path) for path in files]
        run = partial(run_discreetly, asked=asked, reading=True)
        with self._making(asked) as (relation, cursor):
            everything = f"SELECT * FROM {parts[0]} LIMIT 0"
            found = run(lambda: cursor.sql(everything).columns)
            chosen, joins = [""], ""
            for place, column in enumerate(columns):
                mapped = f"{relation}_m{place}"
                if needs_map(column):
                    self._maps.setdefault(relation, []).append(mapped)
                    run_discreetly(partial(make_map, cursor, mapped, column.values), asked)
                expression, join = scanned_sql(column, cell_sql(found[column.place]), mapped)
                chosen.append(f"{expression} AS {column.name}")
                joins += join
            selects: list[str] = []
            n_before = 0
            for path, part in zip(files, parts, strict=True):
                chosen[0] = f"f.file_row_number + {n_before} AS {RECORD}"
                selects.append(f"SELECT {', '.join(chosen)} FROM {part} f{joins}")
                if len(files) > 1:
                    counted = rows_sql(path)
                    n_before += run(lambda counted=counted: cursor.sql(counted).fetchall())[0][0]
            made = f"CREATE VIEW {relation} AS {' UNION ALL '.join(selects)}"
            run(lambda: cursor.execute(made))
            self._scanned.add(relation)
        return relation

    def create(self, sql: str, *, progress: Progress | None = None) -> str:
        """Run a query, keep its result and return its name; see `Engine.create`."""
        asked = "A relation was to be made."
        reading = self._reads(sql)
        with self._making(asked) as (relation, cursor):
            statement = f"CREATE TABLE {relation} AS {sql}"
            if progress is None:
                run_discreetly(lambda: cursor.execute(statement), asked, reading=reading)
            else:
                _watched(cursor, statement, asked, progress, reading=reading)
        return relation

    def view(self, sql: str) -> str:
        """Keep a query without running it and return its name."""
        relation = self._new_name()
        made = f"CREATE VIEW {relation} AS {sql}"
        self._once("A view was to be made.", lambda cursor: cursor.execute(made), sql)
        if self._reads(sql):
            self._scanned.add(relation)
        return relation

    def query(self, sql: str) -> pa.Table:
        """Run a query and return its result."""
        return self._once(
            "A query was to be run.", lambda cursor: cursor.sql(sql).to_arrow_table(), sql
        )

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run a query and return its result in batches, in no particular order."""
        asked = "A query was to be run."
        cursor = self._cursor(asked)
        run = partial(run_discreetly, asked=asked, reading=self._reads(sql))
        try:
            reader = run(lambda: cursor.sql(sql).to_arrow_reader(_BATCH))
            while (batch := run(lambda: next(reader, None))) is not None:
                yield batch
        finally:
            cursor.close()

    def distinct(
        self, relation: str, columns: Sequence[str], *, most: int = MOST_DISTINCT
    ) -> Iterator[pa.Array]:
        """Yield the different values of each column; see `Engine.distinct`."""
        for column in columns:
            wanted = f"SELECT DISTINCT {column} FROM {relation} LIMIT {most + 1}"
            values = self.query(wanted).column(0).combine_chunks()
            if len(values) > most:
                raise too_many_values(most)
            yield values

    def write_parquet(self, sql: str, folder: Path, *, names: Sequence[str] = ()) -> int:
        """Write the result of a query to a new folder; see `Engine.write_parquet`."""
        asked = f"A folder {quoted([folder.name])} of Parquet files was to be written."
        with new_folder(folder, asked, temporary_folder) as made:
            copied = copy_sql(sql, made / "part-00000.parquet", names)
            rows = self._once(asked, lambda cursor: cursor.execute(copied).fetchall(), sql)
        return int(rows[0][0])

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
        """Yield the outcome of every task, done on this machine; see `Engine.map_blocks`."""
        return map_locally(kernel, shared, tasks, workers=workers, pool=pool, progress=progress)

    @property
    def n_workers(self) -> int:
        """One per core."""
        return workers_of(None)

    def drop(self, relation: str) -> None:
        """Give a relation up; its space is freed when the next one is made.

        Nothing is run here, so that it may be called while an object is being collected, which
        can happen in the middle of a statement.
        """
        self._dropped.extend([relation, *self._maps.pop(relation, ())])

    def close(self) -> None:
        """Give everything up and remove the temporary folder."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DuckDBEngine({self.name}{', closed' if self.is_closed else ''})"

    def _new_name(self) -> str:
        return f"r{next(self._numbers)}"

    def _cursor(self, asked: str) -> Any:
        # A connection runs one statement at a time; cursors of it run side by side.
        with self._lock:
            if self.is_closed:
                raise closed_engine(asked)
            return self._connection.cursor()

    @contextmanager
    def _making(self, asked: str) -> Generator[tuple[str, Any]]:
        """Give a new relation's name and a cursor to make it with; it is given up if that fails."""
        relation = self._new_name()
        cursor = self._cursor(asked)
        try:
            self._free(cursor)
            yield relation, cursor
        except BaseException:
            self.drop(relation)
            raise
        finally:
            cursor.close()

    def _reads(self, sql: str) -> bool:
        """Tell whether a statement reads a file: what it then meets may be the fault of the file."""
        return not self._scanned.isdisjoint(_RELATION.findall(sql))

    def _once(self, asked: str, work: Callable[[Any], T], sql: str) -> T:
        cursor = self._cursor(asked)
        try:
            return run_discreetly(lambda: work(cursor), asked, reading=self._reads(sql))
        finally:
            cursor.close()

    def _free(self, cursor: Any) -> None:
        import duckdb

        while self._dropped:
            try:
                relation = self._dropped.popleft()
            except IndexError:  # another thread was faster
                return
            for kind in ("VIEW", "TABLE"):
                try:
                    cursor.execute(f"DROP {kind} IF EXISTS {relation}")
                except duckdb.CatalogException:  # it is of the other kind
                    continue


_shared: list[DuckDBEngine] = []
_sharing = threading.Lock()


def default_engine() -> DuckDBEngine:
    """Return the engine that this process shares where none is given; it is made at first use.

    Whoever allows some memory (`within_memory`) gets an engine of their own. To open one takes
    some 20 ms.
    """
    if is_memory_given():
        return DuckDBEngine()
    with _sharing:
        if not _shared or _shared[-1].is_closed:
            # Earlier ones stay in the list: a forked process must not tear its parent's down.
            _shared.append(DuckDBEngine())
        return _shared[-1]


def _temporary_folder(folder: Path | str | None) -> Path:
    try:
        return temporary_folder(folder)
    except OSError as error:
        raise StoreError(
            Reason.NOT_WRITABLE,
            "An engine was to be opened.",
            f"Its temporary folder cannot be made ({error.strerror}).",
            "Give a folder that exists and can be written to.",
        ) from None


def _release(connection: Any, folder: Path, process: int) -> None:
    if os.getpid() != process:
        return
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


def _append(cursor: Any, relation: str, rows: pa.Table) -> None:
    cursor.register(f"{relation}_rows", rows)
    cursor.execute(f"INSERT INTO {relation} SELECT * FROM {relation}_rows")
    cursor.unregister(f"{relation}_rows")


def _watched(cursor: Any, statement: str, asked: str, progress: Progress, *, reading: bool) -> None:
    """Run a statement in a thread, tell how far it is, and stop it when the teller objects."""
    from concurrent.futures import ThreadPoolExecutor, wait

    # DuckDB follows its progress only where it has a bar, which need not be printed.
    for setting in ("enable_progress_bar_print = false", "progress_bar_time = 0"):
        cursor.execute(f"SET {setting}")
    cursor.execute("SET enable_progress_bar = true")
    with ThreadPoolExecutor(1) as pool:
        task = pool.submit(cursor.execute, statement)
        try:
            while wait([task], timeout=_POLL_SECONDS).not_done:
                progress(max(0, int(cursor.query_progress())), 100)
        except BaseException:
            cursor.interrupt()
            raise
    run_discreetly(task.result, asked, reading=reading)
