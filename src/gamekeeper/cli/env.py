"""The commands on a whole environment: make a store, bring in and out, look back, undo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.cli.options import (
    AsFormat,
    AsOf,
    Base,
    Descending,
    Environment,
    Note,
    PageNumber,
    PerPage,
    Sort,
    Store,
    Unrestricted,
    Who,
    Yes,
    make_edits,
    page_of,
    show_edited,
    show_listing,
)
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import DescribeEnvironment
from gamekeeper.store.record_files import read_edits
from gamekeeper.workbench import editing
from gamekeeper.workbench.browsing import describe_environment
from gamekeeper.workbench.environments import person

__all__ = ["app"]

app = typer.Typer(
    name="env",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="A data environment as a whole: make a store, bring it in and out, look back, undo.",
)

Folder = Annotated[Path, typer.Argument(help="Folder of an environment.", show_default=False)]
Anyone = Annotated[bool, typer.Option("--anyone", help="Also if somebody else made that edit.")]


@app.command("new")
def new_command(
    store: Store,
    name: Annotated[str, typer.Option(help="Name of the environment.")] = "environment",
    description: Annotated[str, typer.Option(help="What it is about.")] = "",
    who: Who = None,
) -> None:
    """Make a new, empty store.

    [bold]Examples[/bold]

      gamekeeper env new norland.gk --name Norland
    """
    editing.create_store(store, name=name, description=description, who=person(who))
    say(f"Made: {store}")


@app.command("import")
def import_command(
    folder: Folder,
    store: Store,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what the store has; can be undone.")
    ] = False,
    who: Who = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Put the environment of a JSON folder into a store, without loss.

    [bold]Examples[/bold]

    Into a new store:
      gamekeeper env import environment norland.gk

    In place of what a store has:
      gamekeeper env import environment norland.gk --replace
    """
    with progress_bar("Importing") as progress:
        edited = editing.import_folder(
            folder, store, who=person(who), replace=replace, progress=progress
        )
    show_edited(store, edited, how)


@app.command("export")
def export_command(store: Store, folder: Folder, as_of: AsOf = "") -> None:
    """Write the environment of a store to a JSON folder, without loss.

    The history stays in the store.

    [bold]Examples[/bold]

      gamekeeper env export norland.gk environment

    As it was at the end of a day:
      gamekeeper env export norland.gk may --as-of 2031-05-31
    """
    editing.export_folder(store, folder, as_of=as_of)
    say(f"Written: {folder}")


@app.command("show")
def show_command(environment: Environment, as_of: AsOf = "", how: AsFormat = Format.TABLE) -> None:
    """Show what an environment holds, and the last edits of a store.

    [bold]Examples[/bold]

      gamekeeper env show norland.gk
    """
    show(describe_environment(environment, as_of=as_of), how)


@app.command("describe")
def describe_command(
    store: Store,
    name: Annotated[str | None, typer.Option(help="A new name.", show_default=False)] = None,
    description: Annotated[
        str | None, typer.Option(help="A new description.", show_default=False)
    ] = None,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Change the name or the description of an environment.

    [bold]Examples[/bold]

      gamekeeper env describe norland.gk --description "Forms collected since 2025"
    """
    if name is None and description is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The environment was to be described.",
            "Neither a name nor a description was given.",
            "Give --name or --description.",
        )
    edit = DescribeEnvironment(name=name, description=description)
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("edit")
def edit_command(
    store: Store,
    file: Annotated[
        Path, typer.Argument(help="JSON file with a list of edits.", show_default=False)
    ],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Make all edits of a file together, or none of them.

    Edits are the records that the history keeps; docs/reference/schema/edit.json describes them.

    [bold]Examples[/bold]

      gamekeeper env edit norland.gk edits.json --note "spring cleaning"
    """
    make_edits(
        store,
        read_edits(file),
        who=who,
        note=note,
        base=base,
        how=how,
        unrestricted=unrestricted,
        yes=yes,
    )


@app.command("history")
def history_command(
    store: Store,
    form: Annotated[str, typer.Option(help="Only edits of this form.", show_default=False)] = "",
    variable: Annotated[
        str, typer.Option(help="Only edits of this variable.", show_default=False)
    ] = "",
    group: Annotated[str, typer.Option(help="Only edits of this group.", show_default=False)] = "",
    by: Annotated[
        str, typer.Option("--by", help="Only edits by this person.", show_default=False)
    ] = "",
    since: Annotated[
        str, typer.Option(help="From this date, time or revision on.", show_default=False)
    ] = "",
    until: Annotated[
        str, typer.Option(help="Up to this date, time or revision.", show_default=False)
    ] = "",
    sort: Sort = "",
    descending: Descending = False,
    page: PageNumber = 1,
    per_page: PerPage = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """List edits: who made them, when, and what was changed; the newest first.

    [bold]Examples[/bold]

      gamekeeper env history norland.gk

    What happened to one variable in May?
      gamekeeper env history norland.gk --variable Age --since 2031-05-01 --until 2031-05-31
    """
    chosen = {"form": form, "variable": variable, "group": group}
    asked = [(kind, name) for kind, name in chosen.items() if name]
    if len(asked) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            "The history was asked for.",
            "Several of --form, --variable and --group were given.",
            "Give one of them.",
        )
    listing = editing.list_history(
        store,
        since=since,
        until=until,
        who=by,
        touching=asked[0] if asked else None,
        page=page_of(sort, descending, page, per_page, how),
    )
    show_listing(listing, how)


@app.command("undo")
def undo_command(
    store: Store, anyone: Anyone = False, who: Who = None, how: AsFormat = Format.TABLE
) -> None:
    """Take back the newest edit; repeat it to go back further.

    [bold]Examples[/bold]

      gamekeeper env undo norland.gk
    """
    show_edited(store, editing.undo(store, who=person(who), anyone=anyone), how)


@app.command("redo")
def redo_command(
    store: Store, anyone: Anyone = False, who: Who = None, how: AsFormat = Format.TABLE
) -> None:
    """Make the edit again that was taken back last.

    [bold]Examples[/bold]

      gamekeeper env redo norland.gk
    """
    show_edited(store, editing.redo(store, who=person(who), anyone=anyone), how)


@app.command("backup")
def backup_command(
    store: Store,
    name: Annotated[
        str,
        typer.Option(help="What to call it; by default the revision.", show_default=False),
    ] = "",
) -> None:
    """Make a backup beside the store that is kept, under a name and the time.

    Besides, every command that edits renews the automatic backup.

    [bold]Examples[/bold]

      gamekeeper env backup norland.gk

    Under a name of your own:
      gamekeeper env backup norland.gk --name "before the census"
    """
    with progress_bar("Checking and copying") as progress:
        made = editing.back_up(store, name, progress=progress)
    say(f"Backed up: {made}")


@app.command("backups")
def backups_command(
    store: Store,
    sort: Sort = "",
    descending: Descending = False,
    page: PageNumber = 1,
    per_page: PerPage = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """List the backups beside a store, the newest first.

    [bold]Examples[/bold]

      gamekeeper env backups norland.gk
    """
    show_listing(
        editing.list_backups(store, page=page_of(sort, descending, page, per_page, how)), how
    )


@app.command("restore")
def restore_command(
    store: Store,
    backup: Annotated[
        str,
        typer.Option(
            "--from",
            help="The backup, by its name, or by its full name if several have it; by default the"
            " automatic one.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Put a backup back; the store as it is is kept under another name.

    [bold]Examples[/bold]

    The last good state:
      gamekeeper env restore norland.gk

    A backup that was asked for; `gamekeeper env backups` lists them:
      gamekeeper env restore norland.gk --from before-the-census
    """
    with progress_bar("Checking and copying") as progress:
        found, aside = editing.restore(store, backup, progress=progress)
    kept = f" What it was is kept as {aside}." if aside else ""
    say(f"Restored: {store}, from {found}.{kept}")
