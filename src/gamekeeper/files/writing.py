"""Whole files written through the gate: there with all that they hold, or not at all."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.asides import aside, clear_leftovers, put_in_place, put_new
from gamekeeper.files.gate import fault_of_file
from gamekeeper.wording import shown_path

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where a disk, or what one may use of it, is full."""


def write_file(
    path: str | Path,
    content: bytes | Callable[[BinaryIO], object],
    *,
    private: bool,
    replace: bool = True,
    asked: str = "The file {} was to be written.",
) -> Path:
    """Write a file whole.

    Parameters
    ----------
    content
        What it holds, or what writes that to an open file.
    private
        Whether a new file is for its owner alone. One that is replaced keeps its permissions.
    replace
        Whether a file that is there already may be replaced.
    asked
        What was asked, for an error, with a place for the path.

    Raises
    ------
    StoreError
        If the gate or the system refuses. What was there is as it was, and nothing is left.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "words.txt"), b"words", private=False).read_bytes()
    b'words'
    """
    path = Path(path)
    found, do = fault_of_file(path, replace=replace)
    if found:
        raise StoreError(
            Reason.NOT_WRITABLE, asked.format(shown_path(path)), f"It {found}", do
        )  # fmt: skip
    try:
        clear_leftovers(path)
        with aside(path, private=private, like=path) as made:
            with made.open("r+b") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    content(file)
            (put_in_place if replace else put_new)(made, path)
    except OSError as error:
        raise refusal(asked.format(shown_path(path)), error) from error
    return path


def refusal(asked: str, error: OSError, state: str = "Nothing was left behind.") -> StoreError:
    """Return the error that the system refused to write."""
    if error.errno in NO_SPACE:
        return StoreError(
            Reason.DISK_FULL,
            asked,
            f"There is no space left for it. {state}",
            "Make space and do it again, or write to another disk.",
        )
    return StoreError(
        Reason.NOT_WRITABLE,
        asked,
        f"The system refused: {error.strerror or 'no reason given'}. {state}",
        "Check the folder, the space left and the permissions.",
    )
