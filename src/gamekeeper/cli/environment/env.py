"""The commands on a whole environment: make a store, bring in and out, look back, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.cli import commands
from gamekeeper.cli.environment.edits import (
    OFFERS,
    edit_command,
    record_command,
    show_edited,
    show_listing,
)
from gamekeeper.wording import count_of
from gamekeeper.workbench.requests import environment
from gamekeeper.workbench.requests.editing import EditFileRequest

if TYPE_CHECKING:
    from gamekeeper.mapping.edits import Edit

app = commands.command_group(
    "env", "A data environment as a whole: make a store, bring it in and out, look back, undo."
)


@commands.command(app, "new")
def new_command(asked: environment.NewStoreRequest) -> None:
    """Make a new, empty store.

    [bold]Examples[/bold]

      gamekeeper env new norland.gk --name Norland
    """
    from gamekeeper.workbench.environment.editing import create_store

    create_store(asked)
    commands.say(f"Made: {asked.place.store}")


@commands.command(app, "import")
def import_command(
    asked: environment.ImportRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Put the environment of a JSON folder into a store, without loss.

    [bold]Examples[/bold]

    Into a new store:
      gamekeeper env import environment norland.gk

    In place of what a store has:
      gamekeeper env import environment norland.gk --replace
    """
    from gamekeeper.workbench.environment.editing import import_folder

    with commands.progress_bar("Importing") as progress:
        edited = import_folder(asked, progress=progress)
    show_edited(asked.place.store, edited, how)


@commands.command(app, "export")
def export_command(asked: environment.ExportRequest) -> None:
    """Write the environment of a store to a JSON folder, without loss.

    The history stays in the store.

    [bold]Examples[/bold]

      gamekeeper env export norland.gk environment

    As it was at the end of a day:
      gamekeeper env export norland.gk may --as-of 2031-05-31
    """
    from gamekeeper.workbench.environment.editing import export_folder

    export_folder(asked)
    commands.say(f"Written: {asked.folder}")


@commands.command(app, "show")
def show_command(asked: environment.Opened, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Show what an environment holds, and the last edits of a store.

    [bold]Examples[/bold]

      gamekeeper env show norland.gk
    """
    from gamekeeper.workbench.environment.browsing import describe_environment

    commands.show(describe_environment(asked), how)


record_command(
    *(app, "describe", "DescribeEnvironment"),
    "Change the name or the description of an environment.",
    'gamekeeper env describe norland.gk --description "Forms collected since 2025"',
)


@edit_command(app, "edit", EditFileRequest, can_break=True)
def edit_file_command(asked: EditFileRequest) -> list[Edit]:
    """Make all edits of a file together, or none of them.

    Edits are the records that the history keeps; docs/reference/schema/edit.json describes them.

    [bold]Examples[/bold]

      gamekeeper env edit norland.gk edits.json --note "spring cleaning"
    """
    from gamekeeper.store.folder import read_edits

    return read_edits(asked.file)


@commands.command(app, "history", offers=OFFERS)
def history_command(
    asked: environment.HistoryRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """List edits: who made them, when, and what was changed; the newest first.

    [bold]Examples[/bold]

      gamekeeper env history norland.gk

    What happened to one variable in May?
      gamekeeper env history norland.gk --variable Age --since 2031-05-01 --until 2031-05-31
    """
    from gamekeeper.workbench.environment.browsing import list_history

    show_listing(list_history(asked, for_people=how is commands.Format.TABLE), how)


@commands.command(app, "undo")
def undo_command(
    asked: environment.TakeBackRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Take back the newest edit; repeat it to go back further.

    [bold]Examples[/bold]

      gamekeeper env undo norland.gk
    """
    from gamekeeper.workbench.environment.editing import undo

    show_edited(asked.place.store, undo(asked), how)


@commands.command(app, "redo")
def redo_command(
    asked: environment.TakeBackRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Make the edit again that was taken back last.

    [bold]Examples[/bold]

      gamekeeper env redo norland.gk
    """
    from gamekeeper.workbench.environment.editing import redo

    show_edited(asked.place.store, redo(asked), how)


@commands.command(app, "backup")
def backup_command(asked: environment.BackupRequest) -> None:
    """Make a backup beside the store that is kept, under a name and the time.

    Besides, every command that edits renews the automatic backup.

    [bold]Examples[/bold]

      gamekeeper env backup norland.gk

    Under a name of your own:
      gamekeeper env backup norland.gk --name "before the census"
    """
    from gamekeeper.workbench.environment.editing import back_up

    with commands.progress_bar("Checking and copying") as progress:
        made = back_up(asked, progress=progress)
    commands.say(f"Backed up: {made}")


@commands.command(app, "backups")
def backups_command(
    asked: environment.BackupsRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """List the backups beside a store, the newest first.

    [bold]Examples[/bold]

      gamekeeper env backups norland.gk
    """
    from gamekeeper.workbench.environment.editing import list_backups

    show_listing(list_backups(asked, for_people=how is commands.Format.TABLE), how)


@commands.command(app, "copy")
def copy_command(asked: environment.CopyRequest) -> None:
    """Copy a store as a whole, with its history and codes: between files and servers.

    It is how a store comes onto a PostgreSQL server and back, and how one there is backed up.

    [bold]Examples[/bold]

      gamekeeper env copy norland.gk "postgresql://ana@db.example/forms?schema=norland"

    Back into a file; the password comes from PGPASSWORD or ~/.pgpass:
      gamekeeper env copy "postgresql://ana@db.example/forms?schema=norland" norland-backup.gk
    """
    from gamekeeper.workbench.environment.editing import copy

    with commands.progress_bar("Copying") as progress:
        revision = copy(asked, progress=progress)
    commands.say(f"Copied: {asked.target}, up to revision {revision}.")


@commands.command(app, "restore")
def restore_command(asked: environment.RestoreRequest) -> None:
    """Put a backup back; the store as it is is kept under another name.

    [bold]Examples[/bold]

    The last good state:
      gamekeeper env restore norland.gk

    A backup that was asked for; `gamekeeper env backups` lists them:
      gamekeeper env restore norland.gk --from before-the-census
    """
    from gamekeeper.workbench.environment.editing import restore

    with commands.progress_bar("Checking and copying") as progress:
        found, aside = restore(asked, progress=progress)
    kept = f" What it was is kept as {aside}." if aside else ""
    commands.say(f"Restored: {asked.place.store}, from {found}.{kept}")


@commands.command(app, "rules")
def rules_command(
    asked: environment.Opened, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """List what holds for an environment as a whole: declared metadata, impossible combinations.

    [bold]Examples[/bold]

      gamekeeper env rules norland.gk
    """
    from gamekeeper.workbench.environment.browsing import rules

    show_listing(rules(asked), how)


record_command(
    *(app, "declare", "DeclareMetadata"),
    "Declare a key of metadata: whether it must be given, and which values it may have.\n\n"
    "New forms, and changes of metadata, are held to it. 'gamekeeper check' lists earlier ones.",
    "gamekeeper env declare norland.gk sector --required -v banks -v insurers",
    "gamekeeper env declare norland.gk page --of question --kind number",
)
record_command(
    *(app, "undeclare", "UndeclareMetadata"),
    "Let a key of metadata be as free as any other again.",
    "gamekeeper env undeclare norland.gk sector",
)
record_command(
    *(app, "impossible", "DeclareImpossible"),
    "Declare that nobody has a combination of categories.",
    'gamekeeper env impossible norland.gk "Age=0-15" "Marital status=widowed; divorced"',
)
record_command(
    *(app, "possible", "AllowCombination"),
    "Take back that a combination of categories is impossible.",
    'gamekeeper env possible norland.gk "Age=0-15" "Marital status=widowed; divorced"',
)


@commands.command(app, "diff")
def diff_command(
    asked: environment.DiffRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Say in words what differs between two environments, or two dates of one.

    [bold]Examples[/bold]

      gamekeeper env diff norland.gk breskland.gk

    What happened since May:
      gamekeeper env diff norland.gk --since 2031-05-01
    """
    from gamekeeper.workbench.environment.editing import diff

    found = diff(asked)
    commands.show(found, how, sentences=found.sentences)
    if how is commands.Format.TABLE:
        commands.say()
        commands.say_all(found.sentences)


@commands.command(app, "merge")
def merge_command(
    asked: environment.MergeRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Bring another environment into a store: same names are compared, conflicts need a decision.

    Nothing is changed while a conflict is open. The merge is one revision, so it can be undone.

    [bold]Examples[/bold]

    Lists the conflicts, if there are any:
      gamekeeper env merge norland.gk breskland.gk

    With a decision on each:
      gamekeeper env merge norland.gk breskland.gk -d "form:Bank=Bank (Breskland)" -d "variable:Sex=ours"
    """
    from gamekeeper.workbench.environment.editing import merge

    done = merge(asked)
    edits = count_of(done.n_edits, "edit brings", "edits bring")
    told = [f"{edits} in all that was not here." if done.n_edits else "All of theirs is here."]
    if done.edited is not None:
        told.append(f"Revision {done.edited.revision}: the merge.")
    elif asked.dry_run:
        told.append("Nothing was changed.")
    commands.show(done.codes, how, sentences=told, notices=done.notes)
    tell = commands.say if how is commands.Format.TABLE else commands.warn
    for line in (*told, *done.notes):
        tell(line)
