"""Files of this computer: what may be read and written, how, and for whom.

Only ordinary files are read: a pipe would be waited for, perhaps for ever. Where a process does one
piece of work, as a command does, what it reads is remembered, however it was named: none of that may
be replaced by what the work writes. What is going to be read is known to the request alone
(`workbench.answers`).

Only ordinary files are written: a link is not followed, and a pipe, a device or a folder is not taken
for a file. A store is never replaced, nor is anything written into the folder of an environment or in
the place of files that belong to a store.

A file is made beside its place, hidden and brought to disk, and then given its name: it is there
whole or not at all, and what was there stays until then. Of many files that are replaced together,
all are on disk before the first one changes. A process that is killed leaves what it was making;
whoever next writes or opens the same file sweeps it away. Folders that do not last lie within a
folder of the engine's own, so that nothing of others can be replaced there.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from gamekeeper.errors import Reason, StoreError
from gamekeeper.wording import count_of, shown_path

_read: set[tuple[int, int]] | None = None
"""Files that were opened in this run, by device and number; None where no run was begun."""


@contextmanager
def one_run() -> Generator[None]:
    """Remember what is read within: one piece of work, all that this process does meanwhile."""
    global _read  # noqa: PLW0603 - of the process, since its threads read for the same run
    _read = set()
    try:
        yield
    finally:
        _read = None


def files_read() -> list[tuple[int, int]]:
    """Return what was read since the run began, for another process: see `remember`."""
    return sorted(_read or ())


def remember(found: Iterable[Sequence[int]]) -> None:
    """Take note of what a process that worked for this run has read."""
    if _read is not None:
        _read.update((device, number) for device, number in found)


def was_read(path: Path) -> bool:
    """Tell whether a file was opened to be read since the run began."""
    if not _read:
        return False
    try:
        found = path.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) in _read


def require_ordinary(path: str | Path) -> None:
    """Refuse a pipe, a socket or a device by an error of the system, before it is opened.

    Files are read more than once, which pipes do not allow. A folder passes, since opening one
    fails at once. Every reader asks here first, so that it is known what a run has read. The
    `OSError` is that of opening, or says that the file is none that can be read twice.

    >>> require_ordinary(os.devnull)
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] it is a pipe or a device, and no ordinary file
    """
    found = os.stat(path)  # noqa: PTH116 - ten thousand times, without a Path for each
    kind = found.st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and no ordinary file")
    if _read is not None:
        _read.add((found.st_dev, found.st_ino))


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


PRIVATE: Final = 0o600
"""For the owner alone: what may tell about persons or about how they are protected."""

_SHARED: Final = 0o666
_LEFT_OVER_SECONDS: Final = 3600
_TEMPORARY: Final = "gamekeeper-"


@contextmanager
def aside(path: Path, *, private: bool, like: Path | None = None) -> Generator[Path]:
    """Give an empty file beside another under a new name, which is gone afterwards.

    - `private`: whether it is for the owner alone; otherwise the system's rule for new files holds.
    - `like`: a file whose permissions and owner it takes, if that is there.
    """
    made = path.with_name(f".{_mark(path)}-{secrets.token_hex(4)}-{_here()}-{os.getpid()}.tmp")
    try:
        os.close(
            os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE if private else _SHARED)
        )
        if like is not None:
            _take_mode(made, like)
        yield made
    finally:
        remove_with_logs(made)


def temporary_folder(within: Path | str | None) -> Path:
    """Make a folder of its own for files that do not last; nobody else can look into it."""
    return Path(tempfile.mkdtemp(prefix=_TEMPORARY, suffix=f"-{_here()}-{os.getpid()}", dir=within))


def clear_temporary_folders(within: Path) -> None:
    """Remove the temporary folders in another one whose process was cut off; this one has none yet.

    A process may have the number of one before it. What another computer made goes after an hour.
    """
    before = time.time() - _LEFT_OVER_SECONDS
    with suppress(OSError), os.scandir(within) as entries:
        for entry in entries:
            if not entry.name.startswith(_TEMPORARY):
                continue
            place, _, process = entry.name.rpartition("-")
            is_here = place.endswith(f"-{_here()}")
            is_left = is_here and (process == str(os.getpid()) or _has_ended(process))
            with suppress(OSError):
                if is_left or entry.stat(follow_symlinks=False).st_mtime < before:
                    shutil.rmtree(entry.path, ignore_errors=True)


def make_folders(folder: Path, made: list[Path], *, private: bool = False) -> None:
    """Make a folder and those above it that are missing, and add those that were made.

    `private` ones are for the owner alone.
    """
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(0o700 if private else 0o777)
        made.append(part)


def make_private(folder: Path) -> None:
    """Make a folder for the owner alone, if it is not there, and mark it (see `is_private`)."""
    make_folders(folder, [], private=True)
    (folder / PRIVATE_MARK).touch(PRIVATE)


def bring_to_disk(path: Path) -> None:
    """Return when a file, or the list of files in a folder, is on the disk itself."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def put_in_place(made: Path, path: Path) -> None:
    """Give a finished file its name, in place of another file if there is one."""
    bring_to_disk(made)
    os.replace(made, path)  # noqa: PTH105 - overwrites on every system
    bring_to_disk(path.parent)


def put_new(made: Path, path: Path) -> None:
    """Give a finished file its name, which must not be taken (`FileExistsError`)."""
    bring_to_disk(made)
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has links.
        if os.path.lexists(path):
            raise FileExistsError from None
        made.rename(path)
    made.unlink(missing_ok=True)
    bring_to_disk(path.parent)


def move(path: Path, to: Path) -> None:
    """Give a file another name."""
    path.rename(to)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    path.unlink(missing_ok=True)


def remove_with_logs(path: Path) -> None:
    """Remove a database with the files that SQLite may have made beside it."""
    for ending in (*LOGS, ""):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink()


def clear_leftovers(path: Path) -> None:
    """Remove what work that was cut off left beside a file.

    That is what a process made that has ended. Whether one of another computer has ended cannot be
    seen from here; what it made goes after an hour.
    """
    start = f".{_mark(path)}-"
    before = time.time() - _LEFT_OVER_SECONDS
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if not entry.name.startswith(start):
                continue
            place, _, process = entry.name.partition(".tmp")[0].rpartition("-")
            has_ended = place.endswith(f"-{_here()}") and _has_ended(process)
            # Somebody else may be done with one meanwhile, which is no reason to keep the others.
            with suppress(OSError):
                if has_ended or entry.stat(follow_symlinks=False).st_mtime < before:
                    (path.parent / entry.name).unlink(missing_ok=True)


def _mark(path: Path) -> str:
    # The name of the file itself may be as long as names can be.
    return sha256(path.name.encode(errors="surrogateescape")).hexdigest()[:12]


@cache
def _here() -> str:
    """Return a name for this computer, or the part of it in which numbers of processes count."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - a name, not a place
    return sha256(f"{socket.gethostname()} {space}".encode()).hexdigest()[:8]


def _has_ended(process: str) -> bool:
    # On Windows the same call would end the process.
    if os.name != "posix" or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


def _take_mode(made: Path, like: Path) -> None:
    with suppress(FileNotFoundError):
        known = like.stat()
        if hasattr(os, "chown"):
            with suppress(OSError):
                os.chown(made, known.st_uid, known.st_gid)
        made.chmod(known.st_mode & 0o777)


_FOR_THE_GROUP: Final = 0o2770


def make_folder(path: Path) -> None:
    """Make a folder, which is not there yet; for a group if the one it lies in is (`share_as_parent`)."""
    path.mkdir()
    share_as_parent(path)


def share_as_parent(folder: Path) -> None:
    """Let a group write to a folder if it may to the one it lies in, and that hands its group on.

    So an administrator says (`chmod g+ws`) that workers run under another account of that group.
    """
    mode = folder.absolute().parent.stat().st_mode
    if mode & stat.S_ISGID and mode & stat.S_IWGRP:
        folder.chmod(_FOR_THE_GROUP)


def make_link(path: Path, to: Path) -> None:
    """Make a link to a file."""
    path.symlink_to(to.absolute())


def put_file(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file whole, in place of another one of that name if there is one.

    `content` is what it holds, or what writes that to an open file. It is not brought to the disk itself:
    processes of other machines may look into a folder that does not last.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     put_file(Path(folder, "words"), b"words")
    ...     [(path.name, path.read_bytes()) for path in Path(folder).iterdir()]
    [('words', b'words')]
    """
    made = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        with made.open("xb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
        os.replace(made, path)  # noqa: PTH105 - overwrites on every system
    except BaseException:
        made.unlink(missing_ok=True)
        raise


PICTURE_ENDINGS = (".svg", ".png")
PAGE_ENDINGS = (".html", ".htm")
TABLE_ENDINGS = (".csv", ".parquet", ".xlsx")
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

    - `content`: what it holds, or what writes that to an open file.
    - `private`: whether a new file is for its owner alone. One that is replaced keeps its permissions.
    - `replace`: whether a file that is there already may be replaced.
    - `asked`: what was asked, for an error, with a place for the path.
    - raises `StoreError`: if the gate or the system refuses. What was there is as it was, and
      nothing is left.

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


def replace_files(folder: Path, texts: Mapping[str, bytes], stale: Iterable[str]) -> None:
    """Write files and remove others, given by their paths within a folder.

    A failure while the new texts are written leaves the folder as it was.
    """
    token = secrets.token_hex(4)
    written: dict[Path, Path] = {}
    made: list[Path] = []
    target = folder
    try:
        for target in sorted({(folder / name).parent for name in texts}):
            make_folders(target, made)
        for name, text in texts.items():
            target = folder / name
            beside = target.with_name(f".{token}-{len(written)}.tmp")
            written[beside] = target
            with beside.open("xb") as file:
                file.write(text)
    except BaseException as error:
        _clear(written, made)
        if isinstance(error, OSError):
            raise _not_written(folder, target, error, "Nothing was changed.") from error
        raise
    done = 0
    try:
        for beside, target in written.items():
            _keep_mode(beside, target)
            os.replace(beside, target)  # noqa: PTH105 - the same, and ten thousand times
            done += 1
        for name in stale:
            target = folder / name
            target.unlink()
            done += 1
    except BaseException as error:
        _clear(written, ())
        if isinstance(error, OSError):
            state = f"{count_of(done, 'file')} had been changed before."
            raise _not_written(folder, target, error, state) from error
        raise


def _keep_mode(beside: Path, target: Path) -> None:
    with suppress(FileNotFoundError):
        mode = os.stat(target).st_mode  # noqa: PTH116 - again ten thousand times
        os.chmod(beside, mode & 0o777)  # noqa: PTH101


def _clear(written: Iterable[Path], made: Iterable[Path]) -> None:
    for path in written:
        with suppress(OSError):
            path.unlink()
    for path in reversed(list(made)):
        with suppress(OSError):
            path.rmdir()


def _not_written(folder: Path, target: Path, error: OSError, state: str) -> StoreError:
    why = error.strerror or "no reason given"
    return StoreError(
        Reason.DISK_FULL if error.errno in NO_SPACE else Reason.NOT_WRITABLE,
        f"The environment was to be written to {shown_path(folder.absolute())}.",
        f"The system refused {shown_path(target.absolute())}: {why}. {state}",
        "Check the space left, the permissions and that no other program holds the files.",
    )
