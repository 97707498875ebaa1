"""Whole files put in place at once: made beside, brought to disk, then renamed."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

LOGS: Final = ("-wal", "-shm", "-journal")
"""What SQLite may add to the name of a database for files that belong to it."""

_LEFT_OVER_SECONDS: Final = 3600


def temporary(path: Path) -> Path:
    """Make an empty file beside another, with a new name."""
    made = path.with_name(f".{_mark(path)}-{secrets.token_hex(4)}.tmp")
    made.touch(exist_ok=False)
    return made


def bring_to_disk(path: Path) -> None:
    """Return when a file, or the list of files in a folder, is on the disk itself."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def put_in_place(made: Path, path: Path) -> None:
    """Give a finished file its name, in place of another file if there is one."""
    bring_to_disk(made)
    made.replace(path)
    bring_to_disk(path.parent)


def put_new(made: Path, path: Path) -> None:
    """Give a finished file its name, which must not be taken.

    Raises
    ------
    FileExistsError
        If it is taken.
    """
    bring_to_disk(made)
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has links.
        if path.exists():
            raise FileExistsError from None
        made.rename(path)
    made.unlink(missing_ok=True)
    bring_to_disk(path.parent)


def clear_leftovers(path: Path) -> None:
    """Remove what work that was cut off left beside a file, if it is not of this hour."""
    before = time.time() - _LEFT_OVER_SECONDS
    with suppress(OSError):
        for entry in path.parent.iterdir():
            if entry.name.startswith(f".{_mark(path)}-") and entry.stat().st_mtime < before:
                entry.unlink(missing_ok=True)


def remove_with_logs(path: Path) -> None:
    """Remove a database with the files that SQLite may have made beside it."""
    for ending in LOGS:
        with suppress(OSError):
            path.with_name(path.name + ending).unlink()
    with suppress(OSError):
        path.unlink()


def _mark(path: Path) -> str:
    # The name of the file itself may be as long as names can be.
    return sha256(path.name.encode(errors="surrogateescape")).hexdigest()[:12]
