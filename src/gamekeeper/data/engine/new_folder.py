"""A new folder of files that an engine writes: there whole, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from gamekeeper.errors import InputError, Reason
from gamekeeper.files.asides import move
from gamekeeper.files.gate import fault_of_folder
from gamekeeper.files.writing import refusal


@contextmanager
def new_folder(folder: Path, asked: str, make: Callable[[Path], Path]) -> Generator[Path]:
    """Give a folder to write to, which gets its name when all of it is there.

    `make` makes one of another name within the folder around it.
    """
    found, do = fault_of_folder(folder)
    if found or folder.exists():
        raise InputError(
            Reason.NOT_WRITABLE,
            asked,
            f"It {found or 'is there already.'} Nothing was written.",
            do or "Name a folder that is not there yet.",
        )
    made: Path | None = None
    try:
        made = make(folder.parent)
        yield made
        move(made, folder)
    except OSError as error:
        raise refusal(asked, error) from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
