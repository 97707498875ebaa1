"""What may be read: ordinary files. A pipe would be waited for, perhaps for ever.

Where a process does one piece of work, as a command does, what it reads is remembered, however it
was named: none of that may be replaced by what the work writes (`gate`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

_read: set[tuple[int, int]] | None = None
"""Files that were opened in this run, by device and number; None where no run was begun."""


@contextmanager
def one_run() -> Generator[None]:
    """Remember what is read within: one piece of work, all that this process does meanwhile."""
    global _read  # noqa: PLW0603 - of the process, since its threads read for the same run
    _read = set()
    try:
        yield
    finally:
        _read = None


def files_read() -> list[tuple[int, int]]:
    """Return what was read since the run began, for another process: see `remember`."""
    return sorted(_read or ())


def remember(found: Iterable[Sequence[int]]) -> None:
    """Take note of what a process that worked for this run has read."""
    if _read is not None:
        _read.update((device, number) for device, number in found)


def was_read(path: Path) -> bool:
    """Tell whether a file was opened to be read since the run began."""
    if not _read:
        return False
    try:
        found = path.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) in _read


def require_ordinary(path: str | Path) -> None:
    """Refuse a pipe, a socket or a device by an error of the system, before it is opened.

    Files are read more than once, which pipes do not allow. A folder passes, since opening one
    fails at once. Every reader asks here first, so that it is known what a run has read.

    Raises
    ------
    OSError
        As opening would, or because the file is none that can be read twice.

    Examples
    --------
    >>> require_ordinary(os.devnull)
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] it is a pipe or a device, and no ordinary file
    """
    found = os.stat(path)  # noqa: PTH116 - ten thousand times, without a Path for each
    kind = found.st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and no ordinary file")
    if _read is not None:
        _read.add((found.st_dev, found.st_ino))
