"""The engine gate on DuckDB, within one process and a limit of memory; and engines by their names.

What does not fit in memory goes to a temporary folder that only the owner of the process can
read and that is removed when the engine is closed. Only codes and numbers go there, with one
exception: when a text column of a Parquet file is scanned in place and memory is short, DuckDB may
put values of it there too. Everything else is coded before it comes here. The errors of DuckDB quote
values and statements; they are turned into ours, which do not.
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
from typing import Any, Final, Self, TypeVar

from gamekeeper.algorithms import blocks
from gamekeeper.arrow import pa
from gamekeeper.budget import is_memory_given, memory_budget, workers_of
from gamekeeper.data.engine import gate
from gamekeeper.data.engine.spark.calls import KINDS, parse_address
from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, StoreError
from gamekeeper.files import temporary_folder
from gamekeeper.prompt_syntax import Pool
from gamekeeper.results import Progress
from gamekeeper.wording import quoted

T = TypeVar("T")


def run_discreetly(work: Callable[[], T], asked: str, *, reading: bool = False) -> T:
    """Do some work and return its result; `reading` a file makes its errors those of the file."""
    import duckdb

    try:
        return work()
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        failure: BaseException = _failure(error, asked, reading=reading)
    except RuntimeError as error:
        # What DuckDB makes of Ctrl-C.
        if "interrupted" not in str(error).casefold():
            raise
        failure = KeyboardInterrupt()
    raise failure  # here, where it does not carry the other as its context


def _failure(error: Exception, asked: str, *, reading: bool) -> GamekeeperError:
    import duckdb

    kind = type(error).__name__
    if "no space left" in str(error).casefold():
        return StoreError(
            Reason.DISK_FULL,
            asked,
            "The disk with the temporary folder is full.",
            "Free some space, or have temporary files on another disk (folder; at the prompt, the environment"
            " variable TMPDIR).",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return LimitError(
            Reason.TOO_LARGE,
            asked,
            "DuckDB needs more memory, or more temporary disk, than it may use.",
            "Allow more memory (--memory; memory_limit in Python), or have temporary files on a larger disk (folder; at"
            " the prompt, the environment variable TMPDIR).",
        )
    if reading or isinstance(error, duckdb.IOException):
        return InputError(
            Reason.NOT_READABLE,
            asked,
            f"DuckDB cannot read the file ({kind}).",
            "Check that it is whole, is still in its place and has the columns it had.",
        )
    return GamekeeperError(Reason.ENGINE_FAILED, asked, f"DuckDB refused the statement ({kind}).")


def file_sql(path: Path) -> str:
    """Return the file as a table of SQL, with the number of each row."""
    # A folder named year=2031 may not add a column that the file does not have.
    return f"read_parquet({_exact(path)}, file_row_number=true, hive_partitioning=false)"


def rows_sql(path: Path) -> str:
    """Return the query for how many rows a file says it has."""
    return f"SELECT num_rows FROM parquet_file_metadata({_exact(path)})"


def copy_sql(sql: str, path: Path, names: Sequence[str] = ()) -> str:
    """Return the statement that writes the result of a query to a file, under names of columns."""
    if names:
        sql = f"SELECT * FROM ({sql}) AS t({', '.join(map(_name, names))})"
    return f"COPY ({sql}) TO {_literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"


def cell_sql(column: str) -> str:
    """Return the column of a file `f` as SQL."""
    return f"f.{_name(column)}"


def make_map(cursor: Any, name: str, values: Sequence[int | str]) -> None:
    """Keep the values of a column with their codes as a table."""
    cursor.register(f"{name}_values", gate.values_table(values))
    cursor.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_values")
    cursor.unregister(f"{name}_values")


def _exact(path: Path) -> str:
    # DuckDB takes names for patterns: without brackets, data[1].parquet would read data1.parquet.
    return _literal(re.sub(r"[][*?]", lambda sign: f"[{sign.group()}]", str(path)))


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _name(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


_BATCH = 1 << 20
_RELATION = re.compile(r"\br[0-9]+\b")
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

    - `memory_limit`: how much memory DuckDB may use, such as "4GB"; half of what work may use when
      None. The other half is for arrays with a cell per record.
    - `threads`: how many threads it may use; one per core when None.
    - `folder`: where to make the temporary folder; the system's place for such when None.

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

        columns = ", ".join(f'"{field.name}" {_TYPES[str(field.type)]}' for field in schema)
        names = [gate.RECORD, *schema.names]
        asked = "A relation was to be loaded."
        n_records = 0
        with self._making(asked) as (relation, cursor):
            made = f"CREATE TABLE {relation} ({gate.RECORD} BIGINT NOT NULL, {columns})"
            run_discreetly(lambda: cursor.execute(made), asked)
            for batch in batches:
                numbers = pa.array(np.arange(n_records, n_records + batch.num_rows))
                numbered = pa.Table.from_arrays([numbers, *batch.columns], names=names)
                run_discreetly(partial(_append, cursor, relation, numbered), asked)
                n_records += batch.num_rows
                if progress is not None:
                    progress(n_records, None)
        return relation

    def scan_parquet(self, files: Sequence[Path], columns: Sequence[gate.ScannedColumn]) -> str:
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
                if gate.needs_map(column):
                    self._maps.setdefault(relation, []).append(mapped)
                    run_discreetly(partial(make_map, cursor, mapped, column.values), asked)
                expression, join = gate.scanned_sql(column, cell_sql(found[column.place]), mapped)
                chosen.append(f"{expression} AS {column.name}")
                joins += join
            selects: list[str] = []
            n_before = 0
            for path, part in zip(files, parts, strict=True):
                chosen[0] = f"f.file_row_number + {n_before} AS {gate.RECORD}"
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
        self, relation: str, columns: Sequence[str], *, most: int = gate.MOST_DISTINCT
    ) -> Iterator[pa.Array]:
        """Yield the different values of each column; see `Engine.distinct`."""
        for column in columns:
            wanted = f"SELECT DISTINCT {column} FROM {relation} LIMIT {most + 1}"
            values = self.query(wanted).column(0).combine_chunks()
            if len(values) > most:
                raise gate.too_many_values(most)
            yield values

    def write_parquet(self, sql: str, folder: Path, *, names: Sequence[str] = ()) -> int:
        """Write the result of a query to a new folder; see `Engine.write_parquet`."""
        asked = f"A folder {quoted([folder.name])} of Parquet files was to be written."
        with gate.new_folder(folder, asked, temporary_folder) as made:
            copied = copy_sql(sql, made / "part-00000.parquet", names)
            rows = self._once(asked, lambda cursor: cursor.execute(copied).fetchall(), sql)
        return int(rows[0][0])

    def map_blocks(
        self,
        kernel: blocks.Kernel[blocks.State, blocks.Task, blocks.Outcome],
        shared: blocks.Shared,
        tasks: Sequence[blocks.Task],
        *,
        workers: int | None = None,
        pool: Pool = Pool.THREADS,
        progress: Progress | None = None,
    ) -> Generator[blocks.Outcome]:
        """Yield the outcome of every task, done on this machine; see `Engine.map_blocks`."""
        return blocks.map_blocks(
            kernel, shared, tasks, workers=workers, pool=pool, progress=progress
        )

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
                raise gate.closed_engine(asked)
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
    # DuckDB follows its progress only where it has a bar, which need not be printed.
    for setting in ("enable_progress_bar_print = false", "progress_bar_time = 0"):
        cursor.execute(f"SET {setting}")
    cursor.execute("SET enable_progress_bar = true")

    def run(own: str) -> None:
        run_discreetly(lambda: cursor.execute(own), asked, reading=reading)

    def look() -> None:
        progress(max(0, int(cursor.query_progress())), 100)

    list(blocks.in_threads(run, [statement], 1, look=look, stop=cursor.interrupt))


DUCKDB: Final = "duckdb"
"""The engine of this process, which is used where none is named."""

SCRATCH: Final = "GAMEKEEPER_SCRATCH"
"""The environment variable that names the folder which this machine and all workers see."""


def open_engine(text: str, *, scratch: Path | str | None = None) -> gate.Engine:
    """Open the engine that a text names. Whoever opens it closes it.

    Parameters
    ----------
    text
        `duckdb`; `spark://host:port` for a cluster of Spark; `sc://host:port` for a server of Spark
        Connect; `local-cluster`, also with its workers, cores and megabytes, `local-cluster[2,1,1024]`,
        for a cluster that is started on this machine; `local[2]` for threads of one process.
    scratch
        A folder that this machine and all workers see under the same path, for what lies between two
        steps; when None, the one that the environment variable GAMEKEEPER_SCRATCH names, or else the
        system's place for temporary files. DuckDB needs none, and takes this alone.

    Examples
    --------
    >>> with open_engine("duckdb") as engine:
    ...     engine.is_local
    True
    """
    named = text.strip()
    if named.casefold() == DUCKDB:
        return DuckDBEngine(folder=scratch)
    address = parse_address(named)
    if address is None:
        raise InputError(
            Reason.BAD_OPTION,
            # Such a text may hold a password.
            "An engine was asked for.",
            "There is none of this name.",
            f"There are: {quoted([DUCKDB, *KINDS])}.",
        )
    from gamekeeper.data.engine.spark.spark_engine import SparkEngine

    return SparkEngine(address, scratch or os.environ.get(SCRATCH) or None)
