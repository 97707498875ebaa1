"""The engine gate on Spark: relations lie as Parquet in a scratch folder that all workers see.

Nothing is kept in the memory of workers between two statements, so that a worker that is lost costs
no more than what it was doing. What was written is counted by those who write it and by this machine,
which reads it: a worker that writes to a folder that only it sees would otherwise lose records without
a word.

Codes and numbers lie in the scratch folder, and tables of the values that columns of a Parquet file
have. Spark itself may spill values of such columns to the local disks of workers.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np

from gamekeeper.algorithms.blocks import Kernel, Outcome, Shared, State, Task
from gamekeeper.data.engine import gate
from gamekeeper.data.engine.spark.blocks import check_workers, map_by_workers
from gamekeeper.data.engine.spark.calls import Address, TooLargeToCollect
from gamekeeper.data.engine.spark.files import (
    check_scratch,
    link_files,
    look_at,
    numbered_rows,
    require_seen,
    run_call,
    write_frame,
    write_numbered,
)
from gamekeeper.data.engine.spark.session import (
    SharedSession,
    acquire_session,
    batches,
    check_installed,
    check_reachable,
    give_back_session,
    is_classic,
    make_scratch,
    own_folder,
    pattern,
    remove_folder,
)
from gamekeeper.errors import InputError, Reason
from gamekeeper.files import make_folder
from gamekeeper.prompt_syntax import Pool
from gamekeeper.results import Progress
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

_TYPES: Final = {
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "string": "STRING",
}


class SparkEngine:
    """An engine on a cluster.

    - `scratch`: a folder that this machine and all workers see under the same path; the system's
      place for temporary files when None.
    """

    # Records are on a cluster, even where that is one machine.
    is_local = False

    def __init__(self, address: Address, scratch: Path | str | None = None) -> None:
        check_installed(address)
        check_reachable(address)
        self._folder = make_scratch(scratch)
        try:
            self._shared, self._session = acquire_session(address, self._folder)
            try:
                if address.places:  # what is started here sees what is here
                    check_scratch(self._session, address, self._folder)
            except BaseException:
                give_back_session(self._shared, self._session)
                raise
        except BaseException:
            remove_folder(self._folder)
            raise
        self.name = f"spark {self._session.version}"
        self._numbers = itertools.count()
        # Temporary views are names of a session, which somebody else may use as well.
        self._prefix = f"gk{secrets.token_hex(4)}_r"
        self._dropped: deque[str] = deque()
        self._belonging: dict[str, list[str]] = {}
        self._scanned: set[str] = set()
        self._lock = threading.Lock()
        self._workers_checked = False
        self._process = os.getpid()
        self._finalizer = weakref.finalize(
            self, _release, self._shared, self._session, self._folder, self._process
        )

    @property
    def n_workers(self) -> int:
        """As many as the cluster takes for its default: one per core of its workers."""
        asked = "The workers of a cluster were to be counted."
        self._require_open(asked)
        if is_classic(self._session):
            return int(self._run(lambda: self._session.sparkContext.defaultParallelism, asked))
        # A session of Spark Connect tells by how it spreads rows.
        spread = "SELECT spark_partition_id() AS part FROM RANGE(0, 100000)"
        spread = f"SELECT COUNT(DISTINCT part) AS n FROM ({spread}) AS s"
        return max(1, int(self.query(spread).column(0)[0].as_py()))

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
        asked = "A relation was to be loaded."
        self._require_open(asked)
        self._free()
        relation = self._new_name()
        kinds = [(gate.RECORD, "BIGINT"), *((f.name, _TYPES[str(f.type)]) for f in schema)]
        try:
            folder = self._place(relation)
            make_folder(folder)
            write_numbered(folder, schema, batches, asked, progress)
            declared = ", ".join(f"{name} {kind}" for name, kind in kinds)
            self._run(lambda: self._keep(relation, declared), asked)
        except BaseException:
            self.drop(relation)
            raise
        return relation

    def scan_parquet(self, files: Sequence[Path], columns: Sequence[gate.ScannedColumn]) -> str:
        """Return the name of a view of Parquet files; see `Engine.scan_parquet`.

        Where values are coded by joins with their tables, that is done once and the codes are kept:
        each statement would otherwise send all tables to all workers again.
        """
        asked = f"The Parquet file {quoted([files[0].name])} was to be scanned."
        self._require_open(asked)
        self._free()
        schema, rows_of_files = look_at(files, asked)
        relation = self._new_name()
        linked = f"{relation}_f"
        chosen, joins = [f"f.{gate.RECORD} AS {gate.RECORD}"], ""
        self._belonging[relation] = [linked]
        try:
            link_files(files, self._place(linked))
            for place, column in enumerate(columns):
                mapped = f"{relation}_m{place}"
                if gate.needs_map(column):
                    self._belonging[relation].append(mapped)
                    self._keep_values(mapped, column.values, asked)
                expression, join = gate.scanned_sql(column, f"f.c{column.place}", mapped)
                chosen.append(f"{expression} AS {column.name}")
                joins += join

            def view() -> Any:
                folder = self._place(linked)
                rows = numbered_rows(self._session, schema, rows_of_files, folder, columns, asked)
                rows.createOrReplaceTempView(linked)
                return self._session.sql(f"SELECT {', '.join(chosen)} FROM {linked} f{joins}")

            frame = self._run(view, asked, reading=True)
            self._scanned |= {linked}
            if joins:
                self._create(frame, relation, asked, reading=True)
            else:
                self._scanned.add(relation)
                self._run(lambda: frame.createOrReplaceTempView(relation), asked)
        except BaseException:
            self.drop(relation)
            raise
        return relation

    def create(self, sql: str, *, progress: Progress | None = None) -> str:
        """Run a query, keep its result and return its name; see `Engine.create`."""
        asked = "A relation was to be made."
        self._require_open(asked)
        self._free()
        relation = self._new_name()
        reading = self._reads(sql)
        try:
            frame = self._run(lambda: self._session.sql(sql), asked, reading=reading)
            self._create(frame, relation, asked, reading=reading, progress=progress)
        except BaseException:
            self.drop(relation)
            raise
        return relation

    def view(self, sql: str) -> str:
        """Keep a query without running it and return its name."""
        asked = "A view was to be made."
        self._require_open(asked)
        relation = self._new_name()
        reading = self._reads(sql)
        self._run(
            lambda: self._session.sql(sql).createOrReplaceTempView(relation), asked, reading=reading
        )
        if reading:
            self._scanned.add(relation)
        return relation

    def query(self, sql: str) -> pa.Table:
        """Run a query and return its result."""
        asked = "A query was to be run."
        self._require_open(asked)
        try:
            return self._run(
                lambda: self._session.sql(sql).toArrow(), asked, reading=self._reads(sql)
            )
        except TooLargeToCollect:
            pass
        import pyarrow as pa

        return pa.Table.from_batches(self.stream(sql))

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run a query and return its result in batches, in no particular order."""
        asked = "A query was to be run."
        self._require_open(asked)
        folder = self._place(self._new_name())
        reading = self._reads(sql)
        try:
            frame = self._run(lambda: self._session.sql(sql), asked, reading=reading)
            self._write(frame, folder, asked, reading=reading)
            yield from batches(folder)
        finally:
            remove_folder(folder)

    def distinct(
        self, relation: str, columns: Sequence[str], *, most: int = gate.MOST_DISTINCT
    ) -> Iterator[pa.Array]:
        """Yield the different values of each column; see `Engine.distinct`.

        All columns are looked through at once.
        """
        import pyarrow as pa

        rows = (
            f"SELECT GROUPING_ID() AS g, {', '.join(columns)} FROM {relation} "
            f"GROUP BY GROUPING SETS ({', '.join(f'({column})' for column in columns)})"
        )
        if not columns:
            return
        found: list[list[pa.Array]] = [[] for _ in columns]
        counts = [0] * len(columns)
        for batch in self.stream(rows):
            groups = batch.column(0).to_numpy()
            for place in range(len(columns)):
                own = np.flatnonzero(groups == _group(place, len(columns)))
                counts[place] += len(own)
                if counts[place] > most:
                    raise gate.too_many_values(most)
                found[place].append(batch.column(place + 1).take(pa.array(own)))
        for parts in found:
            yield _checked(pa.chunked_array(parts).combine_chunks())

    def write_parquet(self, sql: str, folder: Path, *, names: Sequence[str] = ()) -> int:
        """Write the result of a query to a new folder; see `Engine.write_parquet`."""
        asked = f"A folder {quoted([folder.name])} of Parquet files was to be written."
        self._require_open(asked)
        reading = self._reads(sql)
        with gate.new_folder(folder, asked, own_folder) as made:
            frame = self._run(lambda: self._session.sql(sql), asked, reading=reading)
            if names:
                unnamed = frame
                frame = self._run(lambda: unnamed.toDF(*names), asked)
            return self._write(frame, made, asked, reading=reading)

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
        """Yield the outcome of every task, done by workers; see `Engine.map_blocks`.

        Workers of the cluster do them, however many it has: `workers` and `pool` are of one machine.
        """
        self._require_open("Work was to be done by workers of a cluster.")
        if not tasks:
            return
        with self._lock:
            if not self._workers_checked:
                check_workers(self._session, self._shared.address)
                self._workers_checked = True
        folder = self._place(self._new_name())
        yield from map_by_workers(
            self._session, self._shared.address, folder, kernel, shared, tasks, progress=progress
        )

    def drop(self, relation: str) -> None:
        """Give a relation up; its files are removed when the next one is made."""
        self._dropped.append(relation)

    def close(self) -> None:
        """Give everything up, remove what lies in the scratch folder, and let workers go."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SparkEngine({self.name}{', closed' if self.is_closed else ''})"

    def _new_name(self) -> str:
        return f"{self._prefix}{next(self._numbers)}"

    def _place(self, relation: str) -> Path:
        return self._folder / relation

    def _reads(self, sql: str) -> bool:
        """Tell whether a statement reads a file: what it then meets may be the fault of the file."""
        named = re.findall(rf"\b{self._prefix}[0-9]+(?:_[a-z][0-9]*)?\b", sql)
        return not self._scanned.isdisjoint(named)

    def _require_open(self, asked: str) -> None:
        if self.is_closed:
            raise gate.closed_engine(asked)

    def _run(
        self,
        work: Callable[[], T],
        asked: str,
        *,
        reading: bool = False,
        progress: Progress | None = None,
    ) -> T:
        return run_call(
            self._session, work, asked, self._shared.address, reading=reading, progress=progress
        )

    def _create(
        self,
        frame: Any,
        relation: str,
        asked: str,
        *,
        reading: bool,
        progress: Progress | None = None,
    ) -> None:
        self._write(frame, self._place(relation), asked, reading=reading, progress=progress)
        self._run(lambda: self._keep(relation, frame.schema), asked)

    def _write(
        self,
        frame: Any,
        folder: Path,
        asked: str,
        *,
        reading: bool,
        progress: Progress | None = None,
    ) -> int:
        """Write a frame to a folder, and see that all of it has come."""
        rows = self._run(
            lambda: write_frame(frame, folder), asked, reading=reading, progress=progress
        )
        require_seen(folder, rows, asked)
        return rows

    def _keep(self, relation: str, schema: Any) -> None:
        rows = self._session.read.schema(schema).parquet(pattern(self._place(relation)))
        rows.createOrReplaceTempView(relation)

    def _keep_values(self, name: str, values: Sequence[int | str], asked: str) -> None:
        import pyarrow.parquet as parquet

        folder = self._place(name)
        make_folder(folder)
        table = gate.values_table(values)
        parquet.write_table(table, folder / "part-00000.parquet")
        kind = "BIGINT" if str(table.schema.field(0).type) == "int64" else "STRING"
        self._run(lambda: self._keep(name, f"value {kind}, code INT"), asked)

    def _free(self) -> None:
        while self._dropped:
            try:
                relation = self._dropped.popleft()
            except IndexError:  # another thread was faster
                return
            for name in (relation, *self._belonging.pop(relation, ())):
                self._scanned.discard(name)
                self._run(
                    lambda name=name: self._session.catalog.dropTempView(name),
                    "A relation was to be given up.",
                )
                remove_folder(self._place(name))


def _release(shared: SharedSession, session: Any, folder: Path, process: int) -> None:
    if os.getpid() != process:
        return
    remove_folder(folder)
    give_back_session(shared, session)


def _group(place: int, n_columns: int) -> int:
    """Return the number of the rows of one column: all bits but its own, the first being the highest."""
    return ((1 << n_columns) - 1) ^ (1 << (n_columns - 1 - place))


def _checked(values: pa.Array) -> pa.Array:
    """Refuse texts that are none: Spark hands bytes on without a look at them."""
    import pyarrow as pa

    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return values
    raise InputError(
        Reason.WRONG_ENCODING,
        "The different values of a column were to be numbered.",
        "Some are not texts in UTF-8.",
        "Write the file anew with texts in UTF-8.",
    )
