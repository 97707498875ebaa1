"""Text files that are packed: `.gz`, or the one file in a `.zip`; unpacked block by block.

Nothing is unpacked to disk or kept in memory. What would unpack to too much, in all or for its
size, is refused while it is read, after a block more than is allowed.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

from gamekeeper.data.reading.column import unreadable
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import memory_text, quoted

MOST_BYTES = 16 << 30
"""What an archive may unpack to."""

_MOST_RATIO = 200
# Small files of few letters pack well.
_ANY_RATIO = 64 << 20
PACKED = (".gz", ".zip")
_UNREADABLE, _UNPACK = "It is damaged, or locked.", "Unpack it, and name the file."
DAMAGED = (
    OSError, EOFError, ValueError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What unpacking may raise where bytes have changed, or a password is asked for."""


def inner_suffix(path: Path) -> str:
    """Return the ending of the file that is packed, in small letters.

    Examples
    --------
    >>> inner_suffix(Path("people.csv.gz"))
    '.csv'
    """
    if path.suffix.lower() == ".gz":
        return Path(path.stem).suffix.lower()
    return Path(_member(path)).suffix.lower()


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a file for reading, unpacked where it is packed."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return io.BufferedReader(_Unpacked(path, gzip.open(path, "rb")))  # type: ignore[arg-type]
    if ending == ".zip":
        return io.BufferedReader(_Unpacked(path, _opened(path)))  # type: ignore[arg-type]
    return path.open("rb")


def fingerprint_of(path: Path) -> str:
    """Return the first digits of the hash of all bytes of a file, unpacked where it is packed."""
    with open_bytes(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


class _Unpacked(io.RawIOBase):
    """Counts what is unpacked, and refuses when it is too much."""

    def __init__(self, path: Path, file: object) -> None:
        self._path, self._file, self._read = path, file, 0
        self._most = min(MOST_BYTES, max(_ANY_RATIO, _MOST_RATIO * path.stat().st_size))

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Read the next bytes."""
        damaged = False
        data = b""
        try:
            data = self._file.read(len(buffer))  # pyright: ignore[reportAttributeAccessIssue]
        except DAMAGED:
            damaged = True
        if damaged:
            raise unreadable(self._path, _UNREADABLE, _UNPACK)
        self._read += len(data)
        if self._read > self._most:
            raise LimitError(
                Reason.TOO_LARGE,
                f"Data file {quoted([self._path.name])} was to be unpacked.",
                f"It unpacks to more than {memory_text(self._most)}.",
                "If you trust it, unpack it and name the file.",
            )
        buffer[: len(data)] = data
        return len(data)


def _opened(path: Path) -> IO[bytes]:
    """Return the one file in an archive, open."""
    name, file = _member(path), None
    with contextlib.suppress(*DAMAGED):
        file = zipfile.ZipFile(path).open(name)  # noqa: SIM115 - whoever reads it closes it
    if file is None:
        raise unreadable(path, _UNREADABLE, _UNPACK)
    return file


def _member(path: Path) -> str:
    """Return the name of the one file in an archive."""
    names: list[str] = []
    damaged = False
    try:
        with zipfile.ZipFile(path) as archive:
            names = [item.filename for item in archive.infolist() if not item.is_dir()]
    except DAMAGED:
        damaged = True
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if damaged or len(names) != 1:
        found = "It is damaged." if damaged else f"It holds {len(names)} files."
        raise unreadable(path, found, _UNPACK)
    return names[0]
