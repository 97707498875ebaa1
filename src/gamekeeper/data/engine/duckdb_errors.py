"""The errors of DuckDB, which quote values and statements, turned into ours, which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, StoreError

T = TypeVar("T")


def run_discreetly(work: Callable[[], T], asked: str, *, reading: bool = False) -> T:
    """Do some work and return its result; `reading` a file makes its errors those of the file."""
    import duckdb
    import pyarrow as pa

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
