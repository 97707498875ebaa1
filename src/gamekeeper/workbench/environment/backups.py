"""Backups of a store: made, listed, put back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from gamekeeper.results import Cell, Listing, Progress, make_listing
from gamekeeper.store.database import restoration
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.workbench.environment.opening import opened_store
from gamekeeper.workbench.requests.environment.store import (
    BackupRequest,
    BackupsRequest,
    CopyRequest,
    RestoreRequest,
)

_BACKUP = "A backup of the store {} was to be made."
_LIST = "The backups of the store {} were asked for."
_RESTORE = "A backup of the store {} was to be put in its place."


def back_up(asked: BackupRequest, *, progress: Progress | None = None) -> Path:
    """Make a backup of a store beside it that is kept under a name and the time; return where."""
    _beside(asked.place.store, _BACKUP)
    with opened_store(asked.place.store) as store:
        return store.backup(asked.name, progress=progress)


def restore(asked: RestoreRequest, *, progress: Progress | None = None) -> tuple[str, Path | None]:
    """Put a backup of a store in its place; return which it was, and where the old file went."""
    path = _beside(asked.place.store, _RESTORE)
    backup, aside = restoration.restore_store(path, asked.backup, progress=progress)
    return f"{backup.name} of {_time(backup.at)}, revision {backup.revision}", aside


def list_backups(asked: BackupsRequest, *, for_people: bool = False) -> Listing:
    """List the backups of a store, the newest first."""
    rows: list[tuple[Cell, ...]] = [
        (item.name, _time(item.at), item.revision, item.full_name)
        for item in restoration.list_backups(_beside(asked.place.store, _LIST))
    ]
    columns = ("backup", "made", "revision", "full name")
    return make_listing("backups", columns, rows, asked.lines.chosen(for_people=for_people))


def copy(asked: CopyRequest, *, progress: Progress | None = None) -> int:
    """Copy a store as a whole to a new one, and return its newest revision."""
    from gamekeeper.store.database.copying import copy_store

    return copy_store(asked.place.store, asked.target, progress=progress)


def _beside(place: StorePlace, asked: str) -> Path:
    """Return the path of a store that has backups beside it; refuse one on a server."""
    if isinstance(place, ServerPlace):
        from gamekeeper.store.database.server.access import refuse_backups

        refuse_backups(place, asked)
    return place


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
