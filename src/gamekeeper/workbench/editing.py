"""Keeping an environment over years: make a store, edit it, look back, undo, back up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.mapping.edits import Consequences, Edit, weigh_edits
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, Progress, make_listing
from gamekeeper.store.folder import read_environment, write_environment
from gamekeeper.wording import count_of, folded
from gamekeeper.workbench.environments import moment, opened, opened_store

if TYPE_CHECKING:
    from gamekeeper.store.database.environment_store import EnvironmentStore
    from gamekeeper.store.database.history.revisions import Revision

__all__ = [
    "Edited",
    "acknowledged",
    "back_up",
    "create_store",
    "edit_store",
    "export_folder",
    "import_folder",
    "list_backups",
    "list_history",
    "redo",
    "restore",
    "revision_text",
    "undo",
    "weigh",
]

_SHOWN_EDITS = 2


@dataclass(frozen=True, slots=True)
class Edited:
    """What was acknowledged: the revision, in words, and what to be careful about."""

    revision: int
    words: tuple[str, ...]
    notes: tuple[str, ...]


def create_store(path: Path, *, name: str, description: str, who: str) -> None:
    """Make a new, empty store."""
    from gamekeeper.store.database.environment_store import EnvironmentStore

    EnvironmentStore.create(path, name=name, description=description, who=who).close()


def import_folder(
    folder: Path, path: Path, *, who: str, replace: bool = False, progress: Progress | None = None
) -> Edited:
    """Put the environment of a folder into a new store, or in place of what a store has."""
    from gamekeeper.store.database.environment_store import EnvironmentStore

    environment = read_environment(folder, progress=progress)
    note = f"imported from the folder {folder.absolute().name}"
    if replace:
        with opened_store(path) as store:
            return acknowledged(store, store.replace(environment, who=who, note=note))
    with EnvironmentStore.create(path, environment, who=who, note=note) as store:
        (revision,) = store.history(most=1)
        return acknowledged(store, revision)


def export_folder(path: Path, folder: Path, *, as_of: str = "") -> None:
    """Write the environment of a store to a folder, as it is or as it was."""
    with opened(path, as_of=as_of) as place:
        write_environment(place.environment, folder)


def edit_store(
    path: Path,
    edits: Sequence[Edit],
    *,
    who: str,
    note: str = "",
    base: int | None = None,
    unrestricted: bool = False,
) -> Edited:
    """Make edits together: all of them or, with one clear error, none."""
    with opened_store(path) as store:
        return acknowledged(
            store, store.apply(edits, who=who, note=note, base=base, unrestricted=unrestricted)
        )


def weigh(path: Path, edits: Sequence[Edit]) -> Consequences:
    """Say what unrestricted edits would break; nothing is changed."""
    with opened(path) as place:
        return weigh_edits(place.environment, edits)


def undo(path: Path, *, who: str, anyone: bool = False) -> Edited:
    """Take back the newest edit that stands."""
    with opened_store(path) as store:
        return acknowledged(store, store.undo(who=who, anyone=anyone))


def redo(path: Path, *, who: str, anyone: bool = False) -> Edited:
    """Make the edit again that was taken back last."""
    with opened_store(path) as store:
        return acknowledged(store, store.redo(who=who, anyone=anyone))


def back_up(path: Path, name: str = "", *, progress: Progress | None = None) -> Path:
    """Make a backup of a store beside it that is kept under a name and the time; return where."""
    with opened_store(path) as store:
        return store.backup(name, progress=progress)


def restore(
    path: Path, name: str = "", *, progress: Progress | None = None
) -> tuple[str, Path | None]:
    """Put a backup of a store in its place; return which it was, and where the old file went."""
    from gamekeeper.store.database.restoration import restore_store

    backup, aside = restore_store(path, name, progress=progress)
    return f"{backup.name} of {_time(backup.at)}, revision {backup.revision}", aside


def list_backups(path: Path, *, page: Page = EVERYTHING) -> Listing:
    """List the backups of a store, the newest first."""
    from gamekeeper.store.database import restoration

    rows: list[tuple[Cell, ...]] = [
        (item.name, _time(item.at), item.revision, item.full_name)
        for item in restoration.list_backups(path)
    ]
    columns = ("backup", "made", "revision", "full name")
    return make_listing("backups", columns, rows, page)


def list_history(
    path: Path,
    *,
    since: str = "",
    until: str = "",
    who: str = "",
    touching: tuple[str, str] | None = None,
    page: Page = EVERYTHING,
) -> Listing:
    """List the edits of a store, the newest first."""
    with opened_store(path, readonly=True) as store:
        revisions = store.history(
            since=moment(since) if since else None,
            until=moment(until) if until else None,
            touching=touching,
        )
    rows: list[tuple[Cell, ...]] = [
        (
            item.number,
            _time(item.at),
            item.who,
            revision_text(item),
            item.note,
        )
        for item in revisions
        if folded(who) in folded(item.who)
    ]
    return make_listing("revisions", ("revision", "when", "who", "what", "note"), rows, page)


def acknowledged(store: EnvironmentStore, revision: Revision) -> Edited:
    """Return what a revision did, for the person who made it, after renewing the backup."""
    notes = revision.notes
    if (fault := store.renew_backup()) is not None:
        notes += (f"This is saved, but the backup could not be renewed [{fault.reason.value}].",)
    return Edited(revision.number, (revision_text(revision),), notes)


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S")


def revision_text(revision: Revision) -> str:
    """Say what a revision did; of many edits only the first."""
    text = " ".join(revision.words[:_SHOWN_EDITS])
    if len(revision.words) > _SHOWN_EDITS:
        text += f" And {count_of(len(revision.words) - _SHOWN_EDITS, 'more edit')}."
    return f"{text} (unrestricted)" if revision.unrestricted else text
