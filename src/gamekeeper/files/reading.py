"""What may be read: ordinary files. A pipe would be waited for, perhaps for ever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def require_ordinary(path: str | Path) -> None:
    """Refuse a pipe, a socket or a device by an error of the system, before it is opened.

    Files are read more than once, which pipes do not allow. A folder passes, since opening one
    fails at once.

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
    kind = os.stat(path).st_mode  # noqa: PTH116 - ten thousand times, without a Path for each
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and no ordinary file")
