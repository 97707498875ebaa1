"""Many files replaced together: all of them are on disk before the first one changes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.asides import make_folders
from gamekeeper.files.writing import NO_SPACE
from gamekeeper.wording import count_of, shown_path


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
