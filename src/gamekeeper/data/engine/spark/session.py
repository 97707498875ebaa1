"""Sessions of Spark, shared by the engines of a process, and the scratch folder that all workers see.

Everything lies in that folder between two steps. A process speaks with one cluster at a time, because
Spark keeps one context per process; servers of Spark Connect may be spoken with beside it. What Spark
says while it starts and works goes nowhere: its logs quote statements, paths and values.
"""

# Spark is an extra, and types are checked where it is not installed too.
# pyright: reportMissingImports=false
from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gamekeeper.data.engine.spark import calls
from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.files import share_as_parent, temporary_folder
from gamekeeper.wording import digits_text

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 20


def make_scratch(within: Path | str | None) -> Path:
    """Make a folder of an engine's own; see `own_folder`."""
    try:
        return own_folder(within)
    except OSError as error:
        raise StoreError(
            Reason.NOT_WRITABLE,
            "An engine was to be opened.",
            f"Nothing can be written into its scratch folder ({error.strerror}).",
            "Name a folder that exists and can be written to, and that all workers see (GAMEKEEPER_SCRATCH).",
        ) from None


def own_folder(within: Path | str | None) -> Path:
    """Make a folder which its owner alone can look into, or a group as well (`share_as_parent`)."""
    made = temporary_folder(within)
    share_as_parent(made)
    return made


def location(path: Path) -> str:
    """Return where Spark is to write: in the file system that is mounted, whatever its own is.

    From the root on: workers are in folders of their own.
    """
    return f"file://{path.absolute()}"


def pattern(path: Path) -> str:
    """Return where Spark is to read, with what would be a pattern written out."""
    return location(Path(re.sub(r"[][{}*?\\]", r"\\\g<0>", str(path))))


def parts(folder: Path) -> list[Path]:
    """Return the files of a folder that Spark wrote, in the order of their rows."""
    return sorted(path for path in folder.iterdir() if path.name.startswith("part-"))


def count_rows(folder: Path) -> int:
    """Return how many rows this machine sees in a folder that Spark wrote."""
    import pyarrow.parquet as parquet

    return sum(parquet.read_metadata(path).num_rows for path in parts(folder))


def batches(folder: Path) -> Iterator[pa.RecordBatch]:
    """Return the rows of a folder that Spark wrote, in their order."""
    import pyarrow.parquet as parquet

    for path in parts(folder):
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all there is in it, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)


T = TypeVar("T")

_PROBE_SECONDS: Final = 5.0
_START_SECONDS: Final = 180.0
_STOP_SECONDS: Final = 20.0

_SESSION: Final = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""What every statement counts on, in whatever session it is run."""

_CONTEXT: Final = {
    "spark.app.name": "gamekeeper",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    # What is written is not for others than its owner and, in the folder of a group, that group.
    "spark.hadoop.fs.permissions.umask-mode": "007",
    "spark.sql.debug.maxToStringFields": "0",
}
_WORKERS_JAVA: Final = "spark.executor.extraJavaOptions"
_NO_LOG: Final = "-Dslf4j.provider=org.slf4j.helpers.NOP_FallbackServiceProvider"
"""Workers log nothing for us: statements and what tasks fail on, values too, would stand there."""
_QUERY_LOGS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@dataclass(eq=False)
class SharedSession:
    """What engines of one address share.

    - `root`: the session that the others are made of.
    - `ours`: whether it was opened here and ends with its last user.
    - `logs`: where workers that were started on this machine log, which no setting forbids them.
    - `users`: how many engines use it.
    """

    address: calls.Address
    root: Any
    ours: bool
    logs: Path | None = None
    users: int = 0


_open: dict[str, SharedSession] = {}
_lock = threading.RLock()


def check_installed(address: calls.Address) -> None:
    """Refuse where Spark, or Java where that is needed, is not installed."""
    asked = f"An engine was to be opened: {address.shown}."
    try:
        import_module("pyspark")
        if address.kind is calls.Kind.CONNECT:
            for needed in ("grpc", "grpc_status", "pandas"):
                import_module(needed)
    except ImportError:
        raise InputError(
            Reason.MISSING_PACKAGE,
            asked,
            "The package pyspark, with which one speaks with Spark, is not installed, or not as a whole.",
            "Install it: pip install 'gamekeeper[spark]'.",
        ) from None
    if address.kind is not calls.Kind.CONNECT and not _has_java():
        raise InputError(
            Reason.MISSING_PACKAGE,
            asked,
            "Spark needs Java, which is not found here.",
            "Install Java 17 or later, or name its folder (JAVA_HOME); a server of Spark Connect"
            " (sc://host:15002) needs none here.",
        )


def is_reachable(address: calls.Address) -> bool:
    """Tell, within seconds, whether somebody answers at the address; what is started here does."""
    for host, port in address.places:
        with suppress(OSError):
            socket.create_connection((host.strip("[]"), port), _PROBE_SECONDS).close()
            return True
    return not address.places


def check_reachable(address: calls.Address) -> None:
    """Refuse, within seconds, where nobody answers at the address, or somebody else."""
    if not is_reachable(address):
        raise unreachable(address, "Nobody answers there.")
    if address.places and not calls.speaks_spark(address, _PROBE_SECONDS):
        raise unreachable(
            address, f"Whoever listens there does not answer as {address.kind.value} does."
        )


def unreachable(address: calls.Address, found: str, *, slow: bool = False) -> InputError:
    """Return the error for a cluster that is not there, or does not take us; maybe it is `slow`."""
    import pyspark

    return InputError(
        Reason.UNREACHABLE,
        f"An engine was to be opened: {address.shown}.",
        found,
        f"Check host and port, that it is {address.kind.value}, that it runs, and that its Spark is of version"
        f" {pyspark.__version__}, as here.{f' {calls.LONGER}' if slow else ''}",
    )


def acquire_session(address: calls.Address, folder: Path) -> tuple[SharedSession, Any]:
    """Return what engines of an address share, and a new session for one of them.

    `folder` is where the first of them may keep what Spark needs on this machine.
    """
    with _lock:
        shared = _open.get(address.text)
        if shared is None or _has_ended(shared):
            shared = _open[address.text] = _start(address, folder)
        asked = f"An engine was to be opened: {address.shown}."
        own = calls.run_discreetly(lambda: _own_session(shared), asked)
        shared.users += 1
    return shared, own


def give_back_session(shared: SharedSession, own: Any) -> None:
    """Give a session back. The last one ends what was opened here, so that workers are free."""
    with _lock:
        shared.users -= 1
        if not is_classic(own):
            # It has a connection of its own; others are all of one context.
            with suppress(RuntimeError):
                wait([calls.in_thread(own.stop)], _STOP_SECONDS)
        if shared.users or not shared.ours:
            return
        if _open.get(shared.address.text) is shared:
            del _open[shared.address.text]
        # When Python ends there are no new threads, and Spark ends with it.
        with suppress(RuntimeError):
            wait([calls.in_thread(shared.root.stop)], _STOP_SECONDS)
        if shared.logs is not None:
            remove_folder(shared.logs)


def is_classic(session: Any) -> bool:
    """Tell whether a session has its driver in a process of this machine."""
    return "connect" not in type(session).__module__


def _start(address: calls.Address, folder: Path) -> SharedSession:
    _silence()
    if address.kind is calls.Kind.CONNECT:
        return SharedSession(address, _connect(address), ours=True)
    return _start_context(address, folder)


def _connect(address: calls.Address) -> Any:
    from pyspark.sql.connect.session import SparkSession

    made: list[Any] = []

    def connect() -> Any:
        session = SparkSession.builder.remote(address.text).create()
        made.append(session)
        _end_with_us(session)
        session.version  # noqa: B018 - asks the server
        return session

    try:
        return _within(address, connect)
    except BaseException:
        for session in made:
            calls.in_thread(session.client.close)  # it would go on asking for ten minutes
        raise


def _start_context(address: calls.Address, folder: Path) -> SharedSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    there = SparkContext._active_spark_context  # pyright: ignore[reportPrivateUsage]
    if there is not None and there._jsc is not None:  # pyright: ignore[reportPrivateUsage]
        if there.master != address.text:
            raise InputError(
                Reason.IN_USE,
                f"An engine was to be opened: {address.shown}.",
                "This process speaks with another cluster already, and Spark can do so with one at a time.",
                "Close the other engine, or the other session of Spark, first.",
            )
        return SharedSession(address, SparkSession(there), ours=False)
    own = list(_conf_of(address).items())

    def launch() -> None:
        if SparkContext._gateway is None:  # pyright: ignore[reportPrivateUsage]
            with _environment(address):
                _launch(SparkConf(loadDefaults=False).setAll(own), folder)

    def start() -> Any:
        with _environment(address):
            # Beneath ours lies what the administrator set (spark-defaults.conf).
            conf = SparkConf().setAll(own)
            conf.set(_WORKERS_JAVA, f"{conf.get(_WORKERS_JAVA, '')} {_NO_LOG}".strip())
            return SparkSession(SparkContext(conf=conf))

    _within(address, launch, _START_SECONDS)
    session = _within(address, start)
    return SharedSession(address, session, ours=True, logs=_logs_of(address, session))


def _launch(conf: Any, folder: Path) -> None:
    """Start the process that speaks with the cluster, whose output goes nowhere."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder.parent}
    gateway = launch_gateway(conf, silent)
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)  # pyright: ignore[reportPrivateUsage]


def _within(address: calls.Address, start: Callable[[], T], seconds: float | None = None) -> T:
    """Start, and wait no longer than some time: by default as long as the address may take."""
    seconds = calls.seconds_to_wait(address) if seconds is None else seconds
    future = calls.in_thread(start)
    wait([future], seconds)
    if not future.done():
        raise unreachable(
            address, f"It did not take us within {digits_text(seconds)} seconds.", slow=True
        )
    if future.exception() is None:
        return future.result()
    raise unreachable(address, "It does not take us.")


def _conf_of(address: calls.Address) -> dict[str, str]:
    conf = {**_CONTEXT, **_SESSION, "spark.master": address.text}
    if address.kind in (calls.Kind.LOCAL, calls.Kind.LOCAL_CLUSTER) or all(
        host in ("localhost", "127.0.0.1") for host, _ in address.places
    ):
        # A machine whose own name leads nowhere would wait and then fail.
        conf |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if address.cores is not None:
        conf["spark.sql.shuffle.partitions"] = str(2 * address.cores)
    return conf


@contextmanager
def _environment(address: calls.Address) -> Generator[None]:
    """Let workers use this very Python, unless another one is named, while Spark is started."""
    before = os.environ.get("PYSPARK_PYTHON")
    if before is None or not address.places:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYSPARK_PYTHON"]
        else:
            os.environ["PYSPARK_PYTHON"] = before


def _own_session(shared: SharedSession) -> Any:
    session = shared.root.newSession()
    if not is_classic(session):
        _end_with_us(session)
    for name, value in _SESSION.items():
        session.conf.set(name, value)
    return session


def _end_with_us(session: Any) -> None:
    """Keep a session of Spark Connect from asking its server, for ten minutes, when Python ends.

    Sessions are given back before.
    """
    atexit.unregister(session.client._on_exit)


def _has_ended(shared: SharedSession) -> bool:
    if not is_classic(shared.root):
        return bool(shared.root.is_stopped)
    context = shared.root._sc
    return context._jsc is None or context._jsc.sc().isStopped()


def _logs_of(address: calls.Address, session: Any) -> Path | None:
    if address.kind is not calls.Kind.LOCAL_CLUSTER:
        return None
    from pyspark.find_spark_home import _find_spark_home  # pyright: ignore[reportPrivateUsage]

    return Path(_find_spark_home(), "work", str(session.sparkContext.applicationId))


def _silence() -> None:
    """Keep what Spark's own Python logs, statements and values among it, from being written."""
    import warnings

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    from pyspark.logger import PySparkLogger

    for name in _QUERY_LOGS:
        PySparkLogger.getLogger(name).disabled = True
    logging.getLogger("py4j").setLevel(logging.CRITICAL)


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    if home:
        return any(Path(home, "bin", name).exists() for name in ("java", "java.exe"))
    return shutil.which("java") is not None
