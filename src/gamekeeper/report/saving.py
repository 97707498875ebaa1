"""Pictures and pages written to files, with one kind of error when that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.wording import quoted, short

_PATH_LETTERS = 300
PICTURE_ENDINGS = (".svg", ".png")
PAGE_ENDINGS = (".html", ".htm")


def save_picture(path: str | Path, *, svg: Callable[[], str], png: Callable[[], bytes]) -> Path:
    """Write a picture in the format that the name of the file ends in, .svg or .png."""
    ending = require_ending("picture", path, PICTURE_ENDINGS)
    return write_file(path, svg().encode() if ending == ".svg" else png())


def require_ending(what: str, path: str | Path, endings: Sequence[str]) -> str:
    """Return the ending of a file in small letters, which must be one of those given."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(
            Reason.BAD_OPTION,
            f"A {what} in the file {_named(path)} was asked for.",
            f"Its name ends in {quoted([ending])}." if ending else "Its name has no ending.",
            f"Let it end in {' or '.join(endings)}.",
        )
    return ending


def write_file(path: str | Path, content: bytes) -> Path:
    """Write a file whole, in place of one that may be there."""
    path = Path(path)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StoreError(
            Reason.NOT_WRITABLE,
            f"The file {_named(path)} was to be written.",
            f"That failed: {error.strerror or 'the system refused'}.",
            "Check that its folder exists and that you may write there.",
        ) from error
    return path


def _named(path: str | Path) -> str:
    return f"'{short(str(path), _PATH_LETTERS)}'"
