"""Files made beside their place: hidden, brought to disk, then given their name.

So a file is there whole or not at all, and what was there stays until then. A process that is
killed leaves what it was making; whoever next writes or opens the same file sweeps it away.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from gamekeeper.files.gate import LOGS, PRIVATE_MARK

PRIVATE: Final = 0o600
"""For the owner alone: what may tell about persons or about how they are protected."""

_SHARED: Final = 0o666
_LEFT_OVER_SECONDS: Final = 3600
_TEMPORARY: Final = "gamekeeper-"


@contextmanager
def aside(path: Path, *, private: bool, like: Path | None = None) -> Generator[Path]:
    """Give an empty file beside another under a new name, which is gone afterwards.

    Parameters
    ----------
    path
        The place that it is meant for.
    private
        Whether it is for the owner alone; otherwise the system's rule for new files holds.
    like
        A file whose permissions and owner it takes, if that is there.
    """
    made = path.with_name(f".{_mark(path)}-{secrets.token_hex(4)}-{_here()}-{os.getpid()}.tmp")
    try:
        os.close(
            os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE if private else _SHARED)
        )
        if like is not None:
            _take_mode(made, like)
        yield made
    finally:
        remove_with_logs(made)


def temporary_folder(within: Path | str | None) -> Path:
    """Make a folder of its own for files that do not last; nobody else can look into it."""
    return Path(tempfile.mkdtemp(prefix=_TEMPORARY, suffix=f"-{_here()}-{os.getpid()}", dir=within))


def clear_temporary_folders(within: Path) -> None:
    """Remove the temporary folders in another one whose process was cut off; this one has none yet.

    A process may have the number of one before it. What another computer made goes after an hour.
    """
    before = time.time() - _LEFT_OVER_SECONDS
    with suppress(OSError), os.scandir(within) as entries:
        for entry in entries:
            if not entry.name.startswith(_TEMPORARY):
                continue
            place, _, process = entry.name.rpartition("-")
            is_here = place.endswith(f"-{_here()}")
            is_left = is_here and (process == str(os.getpid()) or _has_ended(process))
            with suppress(OSError):
                if is_left or entry.stat(follow_symlinks=False).st_mtime < before:
                    shutil.rmtree(entry.path, ignore_errors=True)


def make_folders(folder: Path, made: list[Path], *, private: bool = False) -> None:
    """Make a folder and those above it that are missing, and add those that were made.

    `private` ones are for the owner alone.
    """
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(0o700 if private else 0o777)
        made.append(part)


def make_private(folder: Path) -> None:
    """Make a folder for the owner alone, if it is not there, and mark it: see `gate.is_private`."""
    make_folders(folder, [], private=True)
    (folder / PRIVATE_MARK).touch(PRIVATE)


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
    os.replace(made, path)  # noqa: PTH105 - overwrites on every system
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
        if os.path.lexists(path):
            raise FileExistsError from None
        made.rename(path)
    made.unlink(missing_ok=True)
    bring_to_disk(path.parent)


def move(path: Path, to: Path) -> None:
    """Give a file another name."""
    path.rename(to)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    path.unlink(missing_ok=True)


def remove_with_logs(path: Path) -> None:
    """Remove a database with the files that SQLite may have made beside it."""
    for ending in (*LOGS, ""):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink()


def clear_leftovers(path: Path) -> None:
    """Remove what work that was cut off left beside a file.

    That is what a process made that has ended. Whether one of another computer has ended cannot be
    seen from here; what it made goes after an hour.
    """
    start = f".{_mark(path)}-"
    before = time.time() - _LEFT_OVER_SECONDS
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if not entry.name.startswith(start):
                continue
            place, _, process = entry.name.partition(".tmp")[0].rpartition("-")
            has_ended = place.endswith(f"-{_here()}") and _has_ended(process)
            # Somebody else may be done with one meanwhile, which is no reason to keep the others.
            with suppress(OSError):
                if has_ended or entry.stat(follow_symlinks=False).st_mtime < before:
                    (path.parent / entry.name).unlink(missing_ok=True)


def _mark(path: Path) -> str:
    # The name of the file itself may be as long as names can be.
    return sha256(path.name.encode(errors="surrogateescape")).hexdigest()[:12]


@cache
def _here() -> str:
    """Return a name for this computer, or the part of it in which numbers of processes count."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - a name, not a place
    return sha256(f"{socket.gethostname()} {space}".encode()).hexdigest()[:8]


def _has_ended(process: str) -> bool:
    # On Windows the same call would end the process.
    if os.name != "posix" or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


def _take_mode(made: Path, like: Path) -> None:
    with suppress(FileNotFoundError):
        known = like.stat()
        if hasattr(os, "chown"):
            with suppress(OSError):
                os.chown(made, known.st_uid, known.st_gid)
        made.chmod(known.st_mode & 0o777)
