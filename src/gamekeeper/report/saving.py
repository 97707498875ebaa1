"""Which endings pictures and pages have, and pictures written to files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gamekeeper.errors import InputError, Reason
from gamekeeper.files.writing import write_file
from gamekeeper.wording import quoted, short

_PATH_LETTERS = 300
PICTURE_ENDINGS = (".svg", ".png")
PAGE_ENDINGS = (".html", ".htm")


def save_picture(path: str | Path, *, svg: Callable[[], str], png: Callable[[], bytes]) -> Path:
    """Write a picture in the format that the name of the file ends in, .svg or .png."""
    ending = require_ending("picture", path, PICTURE_ENDINGS)
    content = svg().encode() if ending == ".svg" else png()
    return write_file(path, content, private=False)


def require_ending(what: str, path: str | Path, endings: Sequence[str]) -> str:
    """Return the ending of a file in small letters, which must be one of those given."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(
            Reason.BAD_OPTION,
            f"A {what} in the file '{short(str(path), _PATH_LETTERS)}' was asked for.",
            f"Its name ends in {quoted([ending])}." if ending else "Its name has no ending.",
            f"Let it end in {' or '.join(endings)}.",
        )
    return ending
