"""The errors of Spark, which quote plans, paths and values, turned into ours, which do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, StoreError

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
