"""Pictures and pages written to files, with one kind of error when that fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gamekeeper.errors import InputError, Reason, StoreError, quoted

__all__ = ["save_picture", "write_file"]


def save_picture(path: str | Path, *, svg: Callable[[], str], png: Callable[[], bytes]) -> Path:
    """Write a picture in the format that the name of the file ends in, .svg or .png."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".svg", ".png"):
        raise InputError(
            Reason.BAD_OPTION,
            f"A picture in the file {quoted([path.name])} was asked for.",
            f"Its name ends in {quoted([suffix])}." if suffix else "Its name has no ending.",
            "Let it end in .svg or .png, the two formats there are.",
        )
    return write_file(path, svg().encode() if suffix == ".svg" else png())


def write_file(path: str | Path, content: bytes) -> Path:
    """Write a file whole, in place of one that may be there."""
    path = Path(path)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StoreError(
            Reason.NOT_WRITABLE,
            f"The file {quoted([path.name])} was to be written.",
            f"That failed: {error.strerror or 'the system refused'}.",
            "Check that its folder exists and that you may write there.",
        ) from error
    return path
