"""Opening an environment, whether it is kept in a store or as a folder."""

from __future__ import annotations

import getpass
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.results import Progress
from gamekeeper.store.folder import read_environment
from gamekeeper.store.layout import shown_path
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    from gamekeeper.store.database.environment_store import EnvironmentStore

__all__ = ["Place", "is_store", "moment", "opened", "opened_store", "person"]

_SQLITE = b"SQLite format 3\x00"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Place:
    """An environment that is open, and the store that it comes from if there is one."""

    environment: Environment
    store: EnvironmentStore | None = None
    as_of: datetime | int | None = None

    @property
    def revision(self) -> int:
        """The revision of the store, 0 for a folder."""
        return self.store.revision if self.store is not None else 0

    @property
    def content_revision(self) -> int:
        """The newest revision that changed anything but scenarios, 0 for a folder."""
        return self.store.content_revision(as_of=self.as_of) if self.store is not None else 0

    def keep_codes(self) -> None:
        """Keep codes that an analysis gave; in a folder, `check --assign` does."""
        if self.store is not None and self.as_of is None and not self.store.readonly:
            self.store.save_codes(self.environment)


def is_store(path: Path) -> bool:
    """Tell whether a path is a store rather than a folder or another file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


@contextmanager
def opened(path: Path, *, as_of: str = "", progress: Progress | None = None) -> Generator[Place]:
    """Open a folder or a store to read from it; `as_of` is a date, a time or a revision."""
    if path.is_dir():
        if as_of:
            raise InputError(
                Reason.BAD_OPTION,
                f"The environment as of {quoted([as_of])} was asked for.",
                f"{shown_path(path)} is a folder, which has no history.",
                "Import it into a store: gamekeeper env import FOLDER STORE.",
            )
        yield Place(read_environment(path, progress=progress))
        return
    from gamekeeper.store.database.environment_store import EnvironmentStore

    # Not read-only where it need not be: an analysis may give codes that are to be kept.
    with EnvironmentStore.open(path, readonly=bool(as_of)) as store:
        if as_of:
            asked = moment(as_of)
            yield Place(store.environment(as_of=asked), store, asked)
        else:
            yield Place(store.environment(), store)


@contextmanager
def opened_store(path: Path, *, readonly: bool = False) -> Generator[EnvironmentStore]:
    """Open a store to change it or to look back; a folder is pointed to where that can be done."""
    if path.is_dir():
        raise InputError(
            Reason.BAD_OPTION,
            f"The store {shown_path(path)} was asked for.",
            "It is a folder; edits are made in a store, which keeps their history.",
            "Import it once: gamekeeper env import FOLDER STORE. Or edit its files by hand.",
        )
    from gamekeeper.store.database.environment_store import EnvironmentStore

    with EnvironmentStore.open(path, readonly=readonly) as store:
        yield store


def moment(text: str) -> datetime | int:
    """Read a revision number, a date (its whole day is meant) or a time, UTC if it says no zone.

    Examples
    --------
    >>> moment("12"), moment("2031-05-01").isoformat()
    (12, '2031-05-01T23:59:59.999999+00:00')
    """
    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"The time {quoted([text])} was asked for.",
            "It is neither a date, nor a time, nor the number of a revision.",
            "Write 2031-05-01, 2031-05-01T14:30 or the number of a revision.",
        ) from None
    aware = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    if _DAY.fullmatch(text):
        aware += timedelta(days=1) - timedelta(microseconds=1)
    return aware.astimezone(UTC)


def person(who: str | None) -> str:
    """Return who makes an edit: as said, else as the system knows the user."""
    if who:
        return who
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
