"""Folders that do not last: what engines keep in them while they work.

They lie within a folder of the engine's own (`asides.temporary_folder`), so that nothing of others
can be replaced there, and nothing need be on the disk itself. Processes of other machines may look
into them: a file is there whole or not at all.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

_FOR_THE_GROUP: Final = 0o2770


def make_folder(path: Path) -> None:
    """Make a folder, which is not there yet; for a group if the one it lies in is (`share_as_parent`)."""
    path.mkdir()
    share_as_parent(path)


def share_as_parent(folder: Path) -> None:
    """Let a group write to a folder if it may to the one it lies in, and that hands its group on.

    So an administrator says (`chmod g+ws`) that workers run under another account of that group.
    """
    mode = folder.absolute().parent.stat().st_mode
    if mode & stat.S_ISGID and mode & stat.S_IWGRP:
        folder.chmod(_FOR_THE_GROUP)


def make_link(path: Path, to: Path) -> None:
    """Make a link to a file."""
    path.symlink_to(to.absolute())


def put_file(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file whole, in place of another one of that name if there is one.

    `content` is what it holds, or what writes that to an open file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     put_file(Path(folder, "words"), b"words")
    ...     [(path.name, path.read_bytes()) for path in Path(folder).iterdir()]
    [('words', b'words')]
    """
    made = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        with made.open("xb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
        os.replace(made, path)  # noqa: PTH105 - overwrites on every system
    except BaseException:
        made.unlink(missing_ok=True)
        raise
