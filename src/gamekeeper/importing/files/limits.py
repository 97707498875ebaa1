"""How large an instrument may be, and the errors that all readers raise in the same words."""

from __future__ import annotations

from pathlib import Path

from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.files.reading import require_ordinary
from gamekeeper.wording import quoted

MOST_MEGABYTES = 50
"""Instruments are at most a few megabytes; what is larger is usually a file of records."""


WAY_AROUND = "Import the dictionary without records, or save its sheets as CSV."
"""What to do with a file that takes more than it may."""


def asked_to_import(name: str) -> str:
    """Return what was asked, for an error about a file."""
    return f"The file {quoted([name])} was to be imported."


def require_file(path: Path, most_megabytes: int | None) -> None:
    """Refuse what is no file, cannot be opened, or is too large; None for any size."""
    asked = asked_to_import(path.name)
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise InputError(Reason.NOT_FOUND, asked, "It is not a file.", "Name the file itself.")
        if most_megabytes is not None and size > most_megabytes * 1_000_000:
            raise too_large(path.name, size, most_megabytes)
        require_ordinary(path)
        with path.open("rb"):
            pass
    except OSError as fault:
        reason = Reason.NOT_FOUND if isinstance(fault, FileNotFoundError) else Reason.NOT_READABLE
        found = "It is not there." if reason is Reason.NOT_FOUND else "It cannot be opened."
        raise InputError(reason, asked, found, "Check the path and its permissions.") from None


def open_bytes(path: Path, most_megabytes: int) -> bytes:
    """Return the bytes of a file that is not too large."""
    require_file(path, most_megabytes)
    return path.read_bytes()


def too_large(name: str, size: int, most_megabytes: int) -> LimitError:
    """Return the error about a file, or what it unpacks to, that is too large."""
    return LimitError(
        Reason.TOO_LARGE,
        asked_to_import(name),
        f"It comes to {size / 1_000_000:,.0f} MB, and {most_megabytes:,} MB are the most.",
        "Import the dictionary without records, or raise --most-megabytes.",
    )


def malformed(name: str, found: str, do: str = "") -> InputError:
    """Return the error about a file that cannot be read as what it seems to be."""
    return InputError(
        Reason.MALFORMED,
        asked_to_import(name),
        found,
        do or "Export it again, or name its format (--file-format).",
    )
