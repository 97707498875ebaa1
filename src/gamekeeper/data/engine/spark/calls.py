"""Speaking with Spark: addresses as typed, calls in threads, its errors as ours, whether it answers.

The errors of Spark quote plans, paths and values; they are turned into ours, which do not. A signal
such as Ctrl-C in the middle of a call would leave the connection to Spark between two messages; a
call in a thread of its own only has its waiting ended. Nobody has to wait for these threads when the
process ends.

Spark itself waits a minute or more for an answer of somebody else, so that whoever listens at a port
is asked before anything is started. A cluster is asked for a block that nobody has, which it refuses
at once; and a server of Spark Connect, which speaks HTTP/2, is greeted as that protocol begins.
Whoever says nothing, or something else, is not Spark. A cluster that closes the connection, or answers
by TLS, may want to be spoken with otherwise: Spark will know how.
"""

from __future__ import annotations

import math
import os
import re
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, StoreError

KINDS: Final = ("spark://host:7077", "sc://host:15002", "local-cluster", "local[2]")
"""How the text of an address looks, by example."""

_HOSTS = re.compile(r"spark://([^/;?#@\s]+)")
_CONNECT = re.compile(r"sc://([^/;?#@\s]+)(/(?:;[^\s]*)?)?")
_CLUSTER = re.compile(r"local-cluster(?:\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\])?")
_LOCAL = re.compile(r"local\[([1-9]\d*)\]")
_PORTS: Final = {"spark": 7077, "sc": 15002}


class Kind(Enum):
    """Whom one speaks to."""

    STANDALONE = "a cluster of Spark"
    CONNECT = "a server of Spark Connect"
    LOCAL_CLUSTER = "a cluster on this machine"
    LOCAL = "Spark within one process"


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """Where a cluster is.

    - `text`: what Spark is told. It may hold a password, so it is never shown.
    - `places`: hosts and ports, any of which answers; none for what is started here.
    - `cores`: how many tasks run at once, where that is known.
    """

    kind: Kind
    text: str
    places: tuple[tuple[str, int], ...] = ()
    cores: int | None = None

    @property
    def shown(self) -> str:
        """The address as messages show it: without what may be a password."""
        if not self.places:
            return self.text
        scheme = "sc" if self.kind is Kind.CONNECT else "spark"
        return f"{scheme}://{','.join(f'{host}:{port}' for host, port in self.places)}"

    def __repr__(self) -> str:
        return f"Address({self.shown})"


def parse_address(text: str) -> Address | None:
    """Return the address that a text names, or None where it names none.

    >>> parse_address("spark://cluster:7077")
    Address(spark://cluster:7077)
    >>> parse_address("sc://cluster/;token=secret")
    Address(sc://cluster:15002)
    >>> parse_address("local[2]").cores, parse_address("mainframe")
    (2, None)
    """
    if found := _HOSTS.fullmatch(text):
        places = _places(found[1].split(","), _PORTS["spark"])
        if places is None:
            return None
        return Address(
            Kind.STANDALONE, "spark://" + ",".join(f"{h}:{p}" for h, p in places), places
        )
    if found := _CONNECT.fullmatch(text):
        places = _places([found[1]], _PORTS["sc"])
        return None if places is None else Address(Kind.CONNECT, text, places)
    if found := _CLUSTER.fullmatch(text):
        workers, cores, megabytes = (
            (int(part) for part in found.groups() if part) if found[1] else (2, 1, 1024)
        )
        if not workers or not cores or not megabytes:
            return None
        made = f"local-cluster[{workers},{cores},{megabytes}]"
        return Address(Kind.LOCAL_CLUSTER, made, cores=workers * cores)
    if found := _LOCAL.fullmatch(text):
        return Address(Kind.LOCAL, text, cores=int(found[1]))
    return None


def _places(texts: list[str], port: int) -> tuple[tuple[str, int], ...] | None:
    places: list[tuple[str, int]] = []
    for text in texts:
        host, colon, number = text.rpartition(":")
        if not colon or text.endswith("]"):  # an IPv6 address has colons of its own, in brackets
            host, number = text, str(port)
        if (
            not host
            or not number.isascii()
            or not number.isdecimal()
            or not 0 < int(number) < 65536
        ):
            return None
        places.append((host, int(number)))
    return tuple(places)


T = TypeVar("T")

_LOST = re.compile(
    r"stopped sparkcontext|sparkcontext (was|has been|is) (shut|stopped|already)|masters are unresponsive"
    r"|master removed our application|removed by the master|executorlostfailure|lost executor"
    r"|statuscode\.unavailable|session_not_found|session_closed|invalid_handle|cannot_find_active_session"
    r"|failed to connect to remote host|connection refused|connection reset|socket closed"
)
_MEMORY = re.compile(
    r"outofmemoryerror|sparkoutofmemory|unable to acquire [0-9]+ bytes|exit code 137"
)
_FILE = re.compile(
    r"failed_read_file|path_not_found|file_not_exist|filenotfoundexception|parquetdecodingexception"
    r"|cannot_read_file|is not a parquet file|corrupt|malformed_|brokenpipe|parquet"
)
_DENIED = re.compile(
    r"permission denied|accesscontrolexception|read-only file system|mkdirs failed"
)
# The process in between, which speaks with the cluster, has ended.
_BROKEN = ("Py4JNetworkError", "Py4JError")
_TOO_LARGE = "spark.driver.maxresultsize"
_CONDITION = re.compile(r"[A-Z][A-Z0-9_]{2,60}(\.[A-Z][A-Z0-9_]{2,60})?")


class TooLargeToCollect(Exception):  # noqa: N818 - not shown: the result goes another way
    """A result that is too large to be handed over at once."""


def run_discreetly(work: Callable[[], T], asked: str, *, reading: bool = False) -> T:
    """Do some work with Spark and return its result; `reading` a file makes its errors the file's."""
    try:
        return work()
    except (GamekeeperError, TooLargeToCollect):
        raise
    except Exception as error:  # noqa: BLE001 - every kind of them quotes values
        failure = failure_of(error, asked, reading=reading)
    raise failure  # here, where it does not carry the other as its context


def failure_of(error: Exception, asked: str, *, reading: bool = False) -> Exception:
    """Return what is said of an error of Spark, or of whatever lies between it and us."""
    text = text_of(error)
    if _TOO_LARGE in text:
        return TooLargeToCollect()
    if "no space left" in text or "disk quota exceeded" in text:
        return StoreError(
            Reason.DISK_FULL,
            asked,
            "A disk of the cluster, or the one with the scratch folder, is full.",
            "Free some space, or name a scratch folder on a larger disk (GAMEKEEPER_SCRATCH).",
        )
    if _MEMORY.search(text):
        return LimitError(
            Reason.TOO_LARGE,
            asked,
            "Spark needs more memory than its workers, or its driver, may use.",
            "Give them more (spark.executor.memory and spark.driver.memory in spark-defaults.conf), or take fewer"
            " variables.",
        )
    is_broken = isinstance(error, ConnectionError) or type(error).__name__ in _BROKEN
    if is_broken or _LOST.search(text):
        return lost(asked)
    if _DENIED.search(text):
        return StoreError(
            Reason.NOT_WRITABLE,
            asked,
            "A worker may not read or write there.",
            "Let workers run under an account that may read the data, and read and write in the scratch folder"
            " (GAMEKEEPER_SCRATCH) and where results are to lie.",
        )
    kind = condition_of(error)
    if _FILE.search(text) or (reading and kind == type(error).__name__):
        if reading:
            return InputError(
                Reason.NOT_READABLE,
                asked,
                f"Spark cannot read the file ({kind}).",
                "Check that it is whole, is still in its place, has the columns it had, and that every worker sees it"
                " under the same path.",
            )
        return StoreError(
            Reason.NOT_READABLE,
            asked,
            f"What lay in the scratch folder cannot be read ({kind}).",
            "Check that every worker sees the scratch folder (GAMEKEEPER_SCRATCH) and that nobody clears it meanwhile.",
        )
    return GamekeeperError(Reason.ENGINE_FAILED, asked, f"Spark refused the statement ({kind}).")


def lost(asked: str) -> GamekeeperError:
    """Return the error for a cluster that is gone in the middle of its work."""
    return GamekeeperError(
        Reason.UNREACHABLE,
        asked,
        "The cluster, or too many of its workers, was lost in the middle of it. Nothing was written.",
        "See that it is well, and begin again.",
    )


def condition_of(error: Exception) -> str:
    """Return the name that Spark has for an error, or else its type: never its text."""
    asked = getattr(error, "getCondition", None)
    try:
        named = asked() if asked is not None else None
    except Exception:  # noqa: BLE001 - whoever could tell is gone
        named = None
    return named if isinstance(named, str) and _CONDITION.fullmatch(named) else type(error).__name__


def text_of(error: Exception) -> str:
    """Return all that an error says, in small letters: to be searched, never to be shown."""
    try:
        return str(error).casefold()
    except Exception:  # noqa: BLE001 - it asks a process that may be gone
        return type(error).__name__.casefold()


WAIT_VARIABLE: Final = "GAMEKEEPER_ENGINE_WAIT"
"""Names the seconds for clusters that are slow to answer."""

LONGER: Final = f"Where it is there and slow, wait longer ({WAIT_VARIABLE}=120, in seconds)."

_SECONDS: Final = 30.0
_STARTED_HERE: Final = 150.0


def seconds_to_wait(address: Address) -> float:
    """Return how long a cluster may take to take us, and again to give us its first worker.

    What is started on this machine is there, however long that takes on a busy one.

    >>> from gamekeeper.data.engine.spark.calls import parse_address
    >>> seconds_to_wait(parse_address("local[2]"))
    150.0
    """
    given = os.environ.get(WAIT_VARIABLE, "").strip()
    if not address.places or not given:
        return _STARTED_HERE if not address.places else _SECONDS
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(
            Reason.BAD_OPTION,
            f"An engine was to be opened: {address.shown}.",
            f"{WAIT_VARIABLE} is not a number of seconds above 0.",
            f"Give a number, such as {WAIT_VARIABLE}=120, or leave it out.",
        )
    return seconds


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Begin some work in a thread of its own and return what will become of it."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            made = work()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        else:
            future.set_result(made)

    threading.Thread(target=do, name="gamekeeper-spark", daemon=True).start()
    return future


_FETCH, _FETCH_FAILED = 0, 2
# The length of the whole, the kind of message, the number of a stream and of a block in it.
_BLOCK: Final = struct.Struct(">qbqi")
_SETTINGS: Final = 4
# The words that HTTP/2 begins with, and no settings: their length, kind, marks and stream.
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">xHBBI", 0, _SETTINGS, 0, 0)
_TLS_ALERT: Final = b"\x15\x03"
_HEAD = 9


def speaks_spark(address: Address, seconds: float) -> bool:
    """Tell, within some seconds each, whether at some place of the address Spark answers."""
    if address.kind is Kind.CONNECT and "use_ssl=true" in address.text.casefold():
        return True
    return any(_answers(address.kind, host, port, seconds) for host, port in address.places)


def _answers(kind: Kind, host: str, port: int, seconds: float) -> bool:
    connect = kind is Kind.CONNECT
    hello = _PREFACE if connect else _BLOCK.pack(_BLOCK.size, _FETCH, 0, 0)
    heard = b""
    try:
        with socket.create_connection((host.strip("[]"), port), seconds) as line:
            line.sendall(hello)
            while len(heard) < _HEAD and (more := line.recv(64)):
                heard += more
    except ConnectionError:
        return not connect
    except OSError:
        return False  # nobody said anything in time
    if connect:
        return len(heard) >= _HEAD and heard[3] == _SETTINGS
    if not heard or heard.startswith(_TLS_ALERT):
        return True
    return len(heard) >= _HEAD and heard[8] == _FETCH_FAILED
