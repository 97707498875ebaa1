"""Text files as other tools write them: in UTF-8, or as Windows does in western languages."""

from __future__ import annotations

from pathlib import Path

from gamekeeper.errors import InputError, Reason
from gamekeeper.files.reading import require_ordinary


def tool_text(file: Path, asked: str) -> str:
    """Return the text of a file, or refuse one that is not there or is no text."""
    # This leaves out pipes and devices, too.
    if not file.is_file():
        raise InputError(Reason.NOT_FOUND, asked, "There is no such file.", "Check its name.")
    require_ordinary(file)
    content = file.read_bytes()
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(
        Reason.WRONG_ENCODING, asked, "Its letters cannot be read.", "Save it as UTF-8."
    )
