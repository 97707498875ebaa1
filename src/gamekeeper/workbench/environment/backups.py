"""Backups of a store: made, listed, put back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from gamekeeper.results import Cell, Listing, Progress, make_listing
from gamekeeper.store.database import restoration
from gamekeeper.workbench.environment.opening import opened_store
from gamekeeper.workbench.requests.environment.store import (
    BackupRequest,
    BackupsRequest,
    RestoreRequest,
)


def back_up(asked: BackupRequest, *, progress: Progress | None = None) -> Path:
    """Make a backup of a store beside it that is kept under a name and the time; return where."""
    with opened_store(asked.place.store) as store:
        return store.backup(asked.name, progress=progress)


def restore(asked: RestoreRequest, *, progress: Progress | None = None) -> tuple[str, Path | None]:
    """Put a backup of a store in its place; return which it was, and where the old file went."""
    backup, aside = restoration.restore_store(asked.place.store, asked.backup, progress=progress)
    return f"{backup.name} of {_time(backup.at)}, revision {backup.revision}", aside


def list_backups(asked: BackupsRequest, *, for_people: bool = False) -> Listing:
    """List the backups of a store, the newest first."""
    rows: list[tuple[Cell, ...]] = [
        (item.name, _time(item.at), item.revision, item.full_name)
        for item in restoration.list_backups(asked.place.store)
    ]
    columns = ("backup", "made", "revision", "full name")
    return make_listing("backups", columns, rows, asked.lines.chosen(for_people=for_people))


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
