"""Keeping an environment over years: make a store, bring it in and out, edit it, undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.gate import ENVIRONMENT
from gamekeeper.mapping.edits import (
    Consequences,
    Edit,
    apply_edits,
    describe_edit,
    edit_notes,
    weigh_edits,
)
from gamekeeper.mapping.edits.notes import name_notes
from gamekeeper.results import Progress
from gamekeeper.store.folder import read_environment, write_environment
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import shown_path
from gamekeeper.workbench.environment.history import revision_text
from gamekeeper.workbench.environment.opening import opened, opened_store, person
from gamekeeper.workbench.outputs import require_outputs
from gamekeeper.workbench.requests.environment.editing import Signature
from gamekeeper.workbench.requests.environment.store import (
    ExportRequest,
    ImportRequest,
    NewStoreRequest,
    TakeBackRequest,
)

if TYPE_CHECKING:
    from gamekeeper.store.database.environment_store import EnvironmentStore
    from gamekeeper.store.database.history.revisions import Revision


@dataclass(frozen=True, slots=True)
class Edited:
    """What was acknowledged: the revision, in words, and what to be careful about."""

    revision: int
    words: tuple[str, ...]
    notes: tuple[str, ...]


def create_store(asked: NewStoreRequest) -> None:
    """Make a new, empty store."""
    from gamekeeper.store.database.environment_store import EnvironmentStore

    EnvironmentStore.create(
        asked.place.store,
        name=asked.name,
        description=asked.description,
        who=person(asked.person.who),
    ).close()


def import_folder(asked: ImportRequest, *, progress: Progress | None = None) -> Edited:
    """Put the environment of a folder into a new store, or in place of what a store has."""
    from gamekeeper.store.database.environment_store import EnvironmentStore

    environment = read_environment(asked.folder, progress=progress)
    who = person(asked.person.who)
    note = f"imported from the folder {asked.folder.absolute().name}"
    if asked.replace:
        with opened_store(asked.place.store) as store:
            made = acknowledged(store, store.replace(environment, who=who, note=note))
    else:
        with EnvironmentStore.create(asked.place.store, environment, who=who, note=note) as store:
            (revision,) = store.history(most=1)
            made = acknowledged(store, revision)
    return replace(made, notes=(*made.notes, *name_notes(environment)))


def export_folder(asked: ExportRequest) -> None:
    """Write the environment of a store to a folder, as it is or as it was."""
    require_outputs(asked)
    if (asked.folder / ENVIRONMENT).exists() and not asked.replace:
        raise StoreError(
            Reason.NOT_WRITABLE,
            f"An environment was to be written to {shown_path(asked.folder)}.",
            "There is an environment already, which may be another.",
            "Name another folder, or have it replaced (--replace).",
        )
    with opened(asked.place.store, as_of=asked.as_of) as place:
        write_environment(place.environment, asked.folder)


def edit_store(
    path: StorePlace, edits: Sequence[Edit], signature: Signature, *, unrestricted: bool = False
) -> Edited:
    """Make edits together: all of them or, with one clear error, none."""
    with opened_store(path) as store:
        made = store.apply(
            edits,
            who=person(signature.person.who),
            note=signature.note,
            base=signature.base,
            unrestricted=unrestricted,
            key=signature.key,
        )
        return acknowledged(store, made)


def weigh(path: StorePlace, edits: Sequence[Edit]) -> Consequences:
    """Say what unrestricted edits would break; nothing is changed."""
    with opened(path) as place:
        return weigh_edits(place.environment, edits)


@dataclass(frozen=True, slots=True)
class Preview:
    """What edits would do, in words: what they are, what to look at again, what else they affect."""

    words: tuple[str, ...]
    notes: tuple[str, ...]
    consequences: Consequences


def preview(path: StorePlace, edits: Sequence[Edit], *, unrestricted: bool = False) -> Preview:
    """Say what edits would do; nothing is changed, and what would be refused is refused here."""
    with opened(path) as place:
        before = place.environment
        after = apply_edits(before, edits, unrestricted=unrestricted)
        return Preview(
            tuple(describe_edit(edit) for edit in edits),
            edit_notes(before, after, edits),
            weigh_edits(before, edits),
        )


def undo(asked: TakeBackRequest) -> Edited:
    """Take back the newest edit that stands."""
    with opened_store(asked.place.store) as store:
        made = store.undo(who=person(asked.person.who), anyone=asked.anyone)
        return acknowledged(store, made)


def redo(asked: TakeBackRequest) -> Edited:
    """Make the edit again that was taken back last."""
    with opened_store(asked.place.store) as store:
        made = store.redo(who=person(asked.person.who), anyone=asked.anyone)
        return acknowledged(store, made)


def acknowledged(store: EnvironmentStore, revision: Revision) -> Edited:
    """Return what a revision did, for the person who made it, after renewing the backup."""
    notes = revision.notes
    if not store.backs_up_later and (fault := store.renew_backup()) is not None:
        notes += (f"This is saved, but the backup could not be renewed [{fault.reason.value}].",)
    return Edited(revision.number, (revision_text(revision),), notes)
