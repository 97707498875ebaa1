"""What may be written, and where: the gate that every path passes before anything is written.

Only ordinary files are written: a link is not followed, and a pipe, a device or a folder is not
taken for a file. A store is never replaced, nor is anything written into the folder of an
environment or in the place of files that belong to a store. Neither is a file that was read in the
same run; what is going to be read is known to the request alone (`workbench.outputs`).
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Final

from gamekeeper.files.reading import was_read

SQLITE: Final = b"SQLite format 3\x00"
"""What the file of a store begins with."""

ENVIRONMENT: Final = "environment.json"
"""The file that makes a folder an environment."""

FORMAT: Final = "gamekeeper environment"
"""What that file says of itself."""

LOGS: Final = ("-wal", "-shm", "-journal")
"""What SQLite may add to the name of a database for files that belong to it."""

BACKUP: Final = ".backup"
"""What the name of the automatic backup of a store has after that of the store."""

PRIVATE_MARK: Final = ".gamekeeper-private"
"""The file that marks a folder as private: of a server, or with what a job found."""

PRIVATE_TABLE: Final = {"gamekeeper": "private result of a server, and no input"}
"""What a Parquet file of a private result says of itself, in the same words wherever it is copied to."""

SERVER: Final = "server.db"
"""The database of a server, which makes the folder that it lies in private."""

_NEAR_BYTES = 1 << 16
_ACCOUNTS = b"folded TEXT PRIMARY KEY"
_REPLACE = "Name another file, or have it replaced (--replace)."
_HEADER_BYTES = 1 << 16


def fault_of_file(path: Path, *, replace: bool) -> tuple[str, str]:
    """Return why a file may not be written and what to do, or nothing.

    Examples
    --------
    >>> fault_of_file(Path("no", "such", "folder", "file.csv"), replace=False)
    ('lies in a folder that does not exist.', 'Make the folder first.')
    """
    try:
        found = _fault_of_place(path) or _fault_of_what_is_there(path, replace=replace)
    except (OSError, ValueError) as error:
        return f"cannot be looked at ({_why(error)}).", "Check the path and the permissions."
    return found or ("", "")


def fault_of_folder(path: Path, *, may_be_environment: bool = False) -> tuple[str, str]:
    """Return why nothing may be written within a folder, there or yet to be made, or nothing."""
    try:
        if path.is_symlink():
            return "is a link, and links are not followed.", "Name the folder itself."
        if path.exists() and not path.is_dir():
            return "is a file.", "Name a folder."
        if environment_around(path.absolute().parent if may_be_environment else path) is not None:
            return "is an environment, or lies within one.", "Write elsewhere."
    except (OSError, ValueError) as error:
        return f"cannot be looked at ({_why(error)}).", "Check the path and the permissions."
    return "", ""


def environment_around(folder: Path) -> Path | None:
    """Return the environment that a folder is, or lies in, if any."""
    here = folder.resolve()
    return next((place for place in (here, *here.parents) if _is_environment(place)), None)


def is_database(path: Path) -> bool:
    """Tell whether a file is a store or another database of SQLite, without opening a pipe."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except (OSError, ValueError):
        return False


def is_private(path: Path) -> bool:
    """Tell whether a file is never to be offered as one with records of people, wherever it lies."""
    return is_private_place(path.absolute().parent) or is_private_file(path)


def is_private_place(folder: Path) -> bool:
    """Tell whether a folder lies in a private one, or is one."""
    return any(map(is_private_folder, (folder, *folder.parents)))


def is_private_folder(folder: Path) -> bool:
    """Tell whether a folder is a server's own, holds what a job found, or is an environment."""
    # Those of before have no mark.
    server = folder / SERVER
    return (
        (folder / PRIVATE_MARK).exists()
        or (is_database(server) and _says(server, _ACCOUNTS, from_end=False))
        or _is_environment(folder)
    )


def is_private_file(path: Path) -> bool:
    """Tell whether a file is a database, whatever its name (a store, its backup, a study), or a private result."""
    words = PRIVATE_TABLE["gamekeeper"].encode()
    return is_database(path) or (path.suffix.lower() == ".parquet" and _says(path, words))


def _says(path: Path, words: bytes, *, from_end: bool = True) -> bool:
    """Tell whether words are near an end of a file; of one that cannot be read they may be."""
    try:
        with path.open("rb") as file:
            if from_end:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - _NEAR_BYTES))
            return words in file.read(_NEAR_BYTES)
    except (OSError, ValueError):
        return True


def _fault_of_place(path: Path) -> tuple[str, str] | None:
    if not path.parent.is_dir():
        return "lies in a folder that does not exist.", "Make the folder first."
    if environment_around(path.parent) is not None:
        return "lies within an environment.", "Write it elsewhere."
    for ending in (*LOGS, BACKUP):
        if path.name.endswith(ending) and is_database(Path(str(path).removesuffix(ending))):
            return "would be taken for a part of the store beside it.", "Choose another name."
    return None


def _fault_of_what_is_there(path: Path, *, replace: bool) -> tuple[str, str] | None:
    try:
        there = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(there):
        return "is a link, and links are not followed.", "Name the file itself."
    if stat.S_ISDIR(there):
        return "is a folder.", "Name a file."
    if not stat.S_ISREG(there):
        return "is a pipe or a device, and only ordinary files are written.", "Name a file."
    if is_database(path):
        return "is a store, or another database, and would be lost.", "Write to another file."
    if not replace:
        return "is there already.", _REPLACE
    if was_read(path):
        return "was read for this, and would be lost.", "Write to another file."
    return None


def _is_environment(folder: Path) -> bool:
    header = folder / ENVIRONMENT
    try:
        if not stat.S_ISREG(header.stat().st_mode):
            return False
        with header.open("rb") as file:
            said: object = json.loads(file.read(_HEADER_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("format") == FORMAT


def _why(error: OSError | ValueError) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else "it cannot be the path of a file"
