"""Folders that do not last: what engines keep in them while they work.

They lie within a folder of the engine's own (`asides.temporary_folder`), so that nothing of others
can be replaced there, and nothing need be on the disk itself. Processes of other machines may look
into them: a file is there whole or not at all.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def make_folder(path: Path) -> None:
    """Make a folder, which is not there yet."""
    path.mkdir()


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
