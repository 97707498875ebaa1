"""Files of people that pages may read: in the folders that the administrator allows, in place.

A name is looked up within its folder. What is not a plain file there, in truth and not by way of a
link, is not there. Neither is what is private, of this server or another: stores, backups, studies,
environments, what a server found or was sent. Names and sizes are told, never what is in a file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.files.gate import is_private, is_private_file, is_private_folder, is_private_place
from gamekeeper.web.wire.errors import Refused

ENDINGS = (
    ".csv", ".tsv", ".txt", ".parquet", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt",
    ".xlsx", ".xls", ".ods", ".gz",
)  # fmt: skip
"""What the name of a file that is listed ends in."""

_DEEPEST = 4
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class AllowedFile:
    """A file that may be read: the folder by its name, and the path within it."""

    folder: str
    name: str
    size: int
    changed: float


def allowed_files(folders: Mapping[str, Path]) -> list[AllowedFile]:
    """Return the files that may be read, by folder and name."""
    found: list[AllowedFile] = []
    for label, folder in folders.items():
        for place in () if is_private_place(folder) else _within(folder, _DEEPEST):
            if len(found) >= _MOST:
                return found
            try:
                seen = place.lstat()
            except OSError:
                continue
            if is_private_file(place):
                continue
            name = place.relative_to(folder).as_posix()
            found.append(AllowedFile(label, name, seen.st_size, seen.st_mtime))
    return found


def allowed_path(folders: Mapping[str, Path], folder: str, name: str) -> Path:
    """Return the path of a file that may be read; anything else is not there."""
    root = folders.get(folder)
    if root is None:
        raise _absent()
    try:
        # As the system sees it, with every link followed.
        place = (root / name).resolve(strict=True)
        fits = place.is_relative_to(root.resolve()) and stat.S_ISREG(place.stat().st_mode)
    except (OSError, ValueError, RuntimeError):
        fits, place = False, root
    if not fits or place.suffix.lower() not in ENDINGS or is_private(place):
        raise _absent()
    return place


def _within(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in listed:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 1 and not is_private_folder(Path(entry.path)):
                yield from _within(Path(entry.path), depth - 1)
        elif entry.is_file(follow_symlinks=False) and (Path(entry.name).suffix.lower() in ENDINGS):
            yield Path(entry.path)


def _absent() -> Refused:
    return Refused(
        404,
        "not-found",
        "A file was asked for. There is none of that name in the folders that may be read.",
        "Choose one from the list, or ask an administrator to allow its folder.",
    )
