"""Files of a cluster: scanned in place, written and counted; and the calls to Spark that do it.

A call is watched, told of, and stopped when whoever waits is. Files are scanned by way of links in the
scratch folder. Their own names could be taken for patterns, for hidden files, which Spark passes over
without a word, or for columns (`year=2031`); and numbered links tell which file a row is of.

What is written is counted by those who write it and by this machine, which reads it. A worker that
does not see a folder makes one of its own under the same path and writes there, and Spark says that
all went well. Only the counts tell.
"""

# Spark is an extra, and types are checked where it is not installed too.
# pyright: reportMissingImports=false
from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np

from gamekeeper.data.engine.gate import RECORD, ScannedColumn
from gamekeeper.data.engine.spark import calls
from gamekeeper.data.engine.spark.session import (
    count_rows,
    is_classic,
    is_reachable,
    location,
    pattern,
    remove_folder,
    unreachable,
)
from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.files import make_folder, make_link
from gamekeeper.results import Progress
from gamekeeper.wording import digits_text, quoted

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

_POLL_SECONDS: Final = 0.05
_ASK_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 20.0
_LIFE_SECONDS: Final = 10.0
_MISSED: Final = 3


class Call(Generic[T]):
    """Some work with Spark, under a tag of its own, by which it is found and stopped."""

    def __init__(self, session: Any, work: Callable[[], T]) -> None:
        self._session = session
        self._classic = is_classic(session)
        self._tag = f"gamekeeper-{secrets.token_hex(8)}"
        self._work = work
        self._asked_at = time.monotonic()
        self._asking: Future[int] | None = None
        self._percent = 0
        self._future = calls.in_thread(self._tagged)

    def wait(self, seconds: float) -> bool:
        """Wait so long, and tell whether it has ended."""
        return not wait([self._future], seconds).not_done

    def result(self) -> T:
        """Return what came of it, or raise what it raised."""
        return self._future.result()

    def percent(self) -> int:
        """Return how much of it is done, of what is known of so far; it never goes back."""
        if self._asking is not None and self._asking.done():
            with suppress(Exception):
                self._percent = max(self._percent, self._asking.result())
            self._asking = None
        due = time.monotonic() - self._asked_at >= _ASK_SECONDS
        if self._classic and self._asking is None and due:
            self._asked_at = time.monotonic()
            self._asking = calls.in_thread(self._look)
        return self._percent

    def stop(self) -> None:
        """Have Spark stop it, and wait a little until it has."""
        until = time.monotonic() + _STOP_SECONDS
        while not self._future.done() and time.monotonic() < until:
            # Again and again: what has not begun yet, or goes on in a next step, is not stopped.
            wait([calls.in_thread(self._cancel)], _STOP_SECONDS)
            wait([self._future], _ASK_SECONDS)

    def _tagged(self) -> T:
        if self._classic:
            self._session.sparkContext.setJobGroup(self._tag, "", False)
            return self._work()
        self._session.addTag(self._tag)
        try:
            return self._work()
        finally:
            self._session.removeTag(self._tag)

    def _cancel(self) -> None:
        if self._classic:
            self._session.sparkContext.cancelJobGroup(self._tag)
        else:
            self._session.interruptTag(self._tag)

    def _look(self) -> int:
        tracker = self._session.sparkContext.statusTracker()
        done = whole = 0
        for job in tracker.getJobIdsForGroup(self._tag):
            known = tracker.getJobInfo(job)
            for number in known.stageIds if known else ():
                stage = tracker.getStageInfo(number)
                if stage is not None:
                    done += stage.numCompletedTasks
                    whole += stage.numTasks
        return min(99, 100 * done // whole) if whole else 0


class Lifeline:
    """Whether the cluster is still there: Spark itself may wait for ever for one that is gone."""

    def __init__(self, address: calls.Address) -> None:
        self._address = address
        self._looked = time.monotonic()
        self._looking: Future[bool] | None = None
        self._n_missed = 0

    def check(self, asked: str) -> None:
        """Refuse to wait any longer where nobody answered for some time."""
        if not self._address.places:
            return
        if self._looking is not None and self._looking.done():
            self._n_missed = 0 if self._looking.result() else self._n_missed + 1
            self._looking = None
        if self._n_missed >= _MISSED:
            raise calls.lost(asked)
        if self._looking is None and time.monotonic() - self._looked >= _LIFE_SECONDS:
            self._looked = time.monotonic()
            self._looking = calls.in_thread(lambda: is_reachable(self._address))


def run_call(
    session: Any,
    work: Callable[[], T],
    asked: str,
    address: calls.Address,
    *,
    reading: bool = False,
    progress: Progress | None = None,
) -> T:
    """Do some work with Spark and return its result; `progress` is told percents, and may cancel."""
    call, lifeline = Call(session, work), Lifeline(address)
    try:
        while not call.wait(_POLL_SECONDS if progress else 1.0):
            lifeline.check(asked)
            if progress is not None:
                progress(call.percent(), 100)
    except BaseException:
        call.stop()
        raise
    return calls.run_discreetly(call.result, asked, reading=reading)


_DIGITS = 8
_TYPES = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT",
    "uint8": "SMALLINT", "uint16": "INT", "uint32": "BIGINT", "uint64": "DECIMAL(20, 0)",
    "float": "FLOAT", "double": "DOUBLE", "string": "STRING", "large_string": "STRING",
    "string_view": "STRING",
}  # fmt: skip


def look_at(files: Sequence[Path], asked: str) -> tuple[pa.Schema, list[int]]:
    """Return the columns of files of one schema, and how many rows each has: footers tell."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    schemas: list[pa.Schema] = []
    rows: list[int] = []
    try:
        for path in files:
            with parquet.ParquetFile(path) as file:
                schemas.append(file.schema_arrow)
                rows.append(file.metadata.num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        kind = type(error).__name__
    else:
        return schemas[0], rows
    raise InputError(
        Reason.NOT_READABLE,
        asked,
        f"The file cannot be read ({kind}).",
        "Check that it is whole, and is still in its place.",
    )


def link_files(files: Sequence[Path], folder: Path) -> None:
    """Make a folder of numbered links to the files."""
    make_folder(folder)
    for number, path in enumerate(files):
        make_link(folder / f"{number:0{_DIGITS}d}.parquet", path)


def numbered_rows(
    session: Any,
    schema: pa.Schema,
    rows_of_files: Sequence[int],
    folder: Path,
    columns: Sequence[ScannedColumn],
    asked: str,
) -> Any:
    """Return the linked files as a frame: `record`, and each column by its place, as `c0`, `c1`.

    `record` goes on from file to file.
    """
    places = sorted({column.place for column in columns})
    fields = [schema.field(place) for place in places]
    kinds = [_type_of(field, asked) for field in fields]
    declared = ", ".join(
        f"{_name(field.name)} {kind}" for field, kind in zip(fields, kinds, strict=True)
    )
    read = session.read.schema(declared) if declared else session.read
    frame = read.parquet(pattern(folder))
    about = frame.metadataColumn("_metadata")
    chosen = [about["row_index"], about["file_name"], *(_name(field.name) for field in fields)]
    own = [f"c{place}" for place in places]
    rows = frame.select(*chosen).toDF("row", "file", *own)
    before = list(accumulate(rows_of_files[:-1], initial=0))
    record = "row"
    if len(before) > 1:
        offsets = ", ".join(f"{number}L" for number in before)
        record = (
            f"row + element_at(array({offsets}), CAST(SUBSTRING(file, 1, {_DIGITS}) AS INT) + 1)"
        )
    return rows.selectExpr(f"{record} AS {RECORD}", *own)


def _type_of(field: pa.Field, asked: str) -> str:
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_decimal128(kind) or pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    made = _TYPES.get(str(kind))
    if made is None:
        raise InputError(
            Reason.WRONG_SCHEMA,
            asked,
            f"Spark does not read column {quoted([field.name])} of type {kind}.",
            "Write it anew as whole numbers, floating point numbers of 4 or 8 bytes, or texts.",
        )
    return made


def _name(column: str) -> str:
    doubled = column.replace("`", "``")
    return f"`{doubled}`"


_FILE_ROWS: Final = 1 << 22


def write_numbered(
    folder: Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    asked: str,
    progress: Progress | None,
) -> None:
    """Write batches with the numbers of their records, in files that workers can share out."""
    import pyarrow as pa

    numbered = pa.schema([(RECORD, pa.int64()), *schema])
    files = _Files(folder, numbered, asked)
    n_records = 0
    try:
        for batch in batches:
            numbers = pa.array(np.arange(n_records, n_records + batch.num_rows))
            files.add(pa.Table.from_arrays([numbers, *batch.columns], schema=numbered))
            n_records += batch.num_rows
            if progress is not None:
                progress(n_records, None)
    finally:
        files.close()


class _Files:
    """Parquet files of a folder, begun one after the other; there is at least one."""

    def __init__(self, folder: Path, schema: pa.Schema, asked: str) -> None:
        self._folder, self._schema, self._asked = folder, schema, asked
        self._n_files = 0
        self._writer = self._begun()

    def add(self, table: pa.Table) -> None:
        if self._rows >= _FILE_ROWS:
            self.close()
            self._writer = self._begun()
        calls.run_discreetly(partial(self._writer.write_table, table), self._asked)
        self._rows += table.num_rows

    def close(self) -> None:
        calls.run_discreetly(self._writer.close, self._asked)

    def _begun(self) -> Any:
        import pyarrow.parquet as parquet

        path = self._folder / f"part-{self._n_files:05d}.parquet"
        self._n_files += 1
        self._rows = 0
        made = partial(parquet.ParquetWriter, path, self._schema, compression="zstd")
        return calls.run_discreetly(made, self._asked)


_MARKS: Final = 16
_MARK_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 2.0


def write_frame(frame: Any, folder: Path) -> int:
    """Write a frame to a folder, and return how many rows those who wrote them say there are."""
    if is_classic(frame.sparkSession):
        from pyspark.sql import Observation, functions
    else:
        from pyspark.sql.connect import functions
        from pyspark.sql.connect.observation import Observation
    observed = Observation()
    counted = frame.observe(observed, functions.count(functions.lit(1)).alias("n"))
    counted.write.mode("append").parquet(location(folder))
    return int(observed.get["n"])


def require_seen(folder: Path, rows: int, asked: str) -> None:
    """Refuse where this machine does not see every row that was written."""
    if calls.run_discreetly(lambda: count_rows(folder), asked) != rows:
        raise StoreError(
            Reason.NOT_WRITABLE,
            asked,
            "Workers wrote records that this machine does not see.",
            "Name a folder that this machine and all workers see under the same path (GAMEKEEPER_SCRATCH for what lies"
            " between two steps).",
        )


def check_scratch(session: Any, address: calls.Address, folder: Path) -> None:
    """Refuse a scratch folder into which workers do not write what this machine sees and removes.

    Waits no longer than some time for the first worker (`seconds_to_wait`).
    """
    asked = f"An engine was to be opened: {address.shown}."
    marks = folder / "marks"
    call = Call(session, lambda: write_frame(session.range(0, _MARKS, 1, _MARKS), marks))
    try:
        seconds = calls.seconds_to_wait(address)
        if not call.wait(seconds) and not (_has_worker(session) and call.wait(_MARK_SECONDS)):
            raise unreachable(
                address,
                f"It gave us no worker within {digits_text(seconds)} seconds: there is none, all are busy, or none"
                " has the memory that is asked for (spark.executor.memory).",
                slow=True,
            )
    except BaseException:
        call.stop()
        raise
    try:
        rows = calls.run_discreetly(call.result, asked)
        require_seen(marks, rows, asked)
    except GamekeeperError as error:
        if error.reason not in (Reason.NOT_WRITABLE, Reason.NOT_READABLE):
            raise
        found = (
            "Workers do not see the scratch folder, or may not write there: they run under another account, for"
            " example."
        )
    else:
        remove_folder(marks)
        if not marks.exists():
            return
        found = "What workers write to the scratch folder may not be removed from here."
    raise StoreError(
        Reason.NOT_WRITABLE,
        asked,
        found,
        "Name a folder (GAMEKEEPER_SCRATCH) that this machine and all workers see under the same path, and let workers"
        " run under your account; or let the folder be of a group that both accounts have, writable for it and handed"
        " on (chmod g+ws).",
    )


def _has_worker(session: Any) -> bool:
    """Tell whether a worker is ours already, though it has not done anything; not known of a server."""
    if not is_classic(session):
        return False
    counted = calls.in_thread(
        lambda: session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
    )
    wait([counted], _LOOK_SECONDS)
    # This process is one of them.
    return counted.done() and counted.exception() is None and counted.result() > 1
