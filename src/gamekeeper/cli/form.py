"""The commands on forms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.cli.completing import offer_forms, offer_variables
from gamekeeper.cli.editing import edit_command
from gamekeeper.cli.options import (
    AsFormat,
    AsOf,
    Descending,
    Environment,
    PageNumber,
    PerPage,
    Sort,
    Store,
    metadata_of,
    page_of,
    show_listing,
)
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import (
    AddForm,
    AskVariable,
    DropVariable,
    Edit,
    RemoveForm,
    RenameForm,
    SetMetadata,
)
from gamekeeper.mapping.environment.form import Metadata
from gamekeeper.store.record_files import read_form
from gamekeeper.wording import quoted
from gamekeeper.workbench import browsing

__all__ = ["app"]

app = typer.Typer(
    name="form",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Forms: what is asked out there, by whom, and in which categories.",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="FORM", help="The form.", show_default=False, autocompletion=offer_forms
    ),
]
Variable = Annotated[
    str,
    typer.Argument(help="The variable.", show_default=False, autocompletion=offer_variables),
]


@app.command("list")
def list_command(
    environment: Environment,
    where: Annotated[
        str,
        typer.Option(
            "--where",
            "-w",
            help="A query: sector = bank and year >= 2029 and has Age.",
            show_default=False,
        ),
    ] = "",
    sort: Sort = "",
    descending: Descending = False,
    page: PageNumber = 1,
    per_page: PerPage = None,
    as_of: AsOf = "",
    how: AsFormat = Format.TABLE,
) -> None:
    """List forms with their metadata.

    [bold]Examples[/bold]

      gamekeeper form list norland.gk

    Banks and insurers since 2029 that ask for age, the newest first:
      gamekeeper form list norland.gk -w "sector in (banks, insurers) and year >= 2029 and has Age" --sort year -d
    """
    with progress_bar("Opening") as progress:
        listing = browsing.forms(
            environment,
            where=where,
            page=page_of(sort, descending, page, per_page, how),
            as_of=as_of,
            progress=progress,
        )
    show_listing(listing, how)


@app.command("show")
def show_command(
    environment: Environment, form: Name, as_of: AsOf = "", how: AsFormat = Format.TABLE
) -> None:
    """Show a form: its metadata, and the categories and code of every variable on it.

    [bold]Examples[/bold]

      gamekeeper form show norland.gk "Survey X"
    """
    found, metadata, groups = browsing.form(environment, form, as_of=as_of)
    if how is Format.TABLE:
        for key, value in metadata.items():
            say(f"{key}: {value}")
        if groups:
            say(f"groups: {'; '.join(groups)}")
        say()
    show(found, how, extra={"metadata": dict(metadata), "groups": list(groups)})


@edit_command(app, "add")
def add_command(
    store: Store,
    form: Annotated[
        str | None, typer.Argument(help="Its name, unless a file has it.", show_default=False)
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="Metadata, KEY=VALUE; may be repeated."),
    ] = None,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            "--ask",
            "-a",
            help="VARIABLE=LABEL; LABEL; ... as it is on the form; VARIABLE= for any level of"
            " detail. May be repeated.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(help="Start from a copy of this form.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="A JSON file as in the forms folder.", show_default=False),
    ] = None,
) -> Edit:
    """Add a form.

    [bold]Examples[/bold]

      gamekeeper form add norland.gk "Survey X" -s "Organisation=Pollsters" -s year=2031 -a "Age=0-15; 16-64; 65+"

    One more that differs from it in one variable:
      gamekeeper form add norland.gk "Survey Y" --like "Survey X" -a "Age=0-17; 18+"
    """
    name = form or ""
    variables: dict[str, tuple[str, ...]] = {}
    metadata: dict[str, Metadata] = {}
    if file is not None:
        read = read_form(file)
        name = form or read.name
        variables = {key: tuple(labels) for key, labels in read.variables.items()}
        metadata = dict(read.metadata)
    if like is not None:
        known = browsing.form_as_it_is(store, like)
        variables = {**known.instances, **variables}
        metadata = {**known.metadata, **metadata}
    if not name:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A form was to be added.",
            "It has no name.",
            "Give a name, or a file with --file.",
        )
    for asked in ask or ():
        variable, labels = _asked(asked)
        variables[variable] = labels
    return AddForm(name=name, metadata={**metadata, **metadata_of(set_ or ())}, variables=variables)


@edit_command(app, "set")
def set_command(
    store: Store,
    form: Name,
    pairs: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE...", help="Metadata.", show_default=False),
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", "-r", help="A key to remove; may be repeated.")
    ] = None,
) -> Edit:
    """Set or remove metadata of a form.

    [bold]Examples[/bold]

      gamekeeper form set norland.gk "Survey X" "Form Type=Paper" year=2031 --remove draft
    """
    if not pairs and not remove:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"Metadata of {quoted([form])} were to be set.",
            "None were given.",
            "Give KEY=VALUE, or --remove KEY.",
        )
    return SetMetadata(form=form, values=metadata_of(pairs or ()), remove=tuple(remove or ()))


@edit_command(app, "ask", can_break=True)
def ask_command(
    store: Store,
    form: Name,
    variable: Variable,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL...", help="The categories offered.", show_default=False),
    ] = None,
    any_detail: Annotated[
        bool, typer.Option("--any-detail", help="The form takes any level of detail.")
    ] = False,
) -> Edit:
    """Put a variable on a form with the categories it offers, or change them.

    [bold]Examples[/bold]

      gamekeeper form ask norland.gk "Survey X" Age 0-15 16-64 "65 and over"

    Where people write what they like:
      gamekeeper form ask norland.gk "Survey X" Occupation --any-detail
    """
    if bool(labels) == any_detail:
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable {quoted([variable])} was to be put on {quoted([form])}.",
            "Labels and --any-detail were given." if labels else "No labels were given.",
            "Give the labels of the categories, or --any-detail.",
        )
    return AskVariable(form=form, variable=variable, labels=tuple(labels or ()))


@edit_command(app, "drop")
def drop_command(
    store: Store,
    form: Name,
    variable: Variable,
) -> Edit:
    """Take a variable off a form.

    [bold]Examples[/bold]

      gamekeeper form drop norland.gk "Survey X" Age
    """
    return DropVariable(form=form, variable=variable)


@edit_command(app, "rename")
def rename_command(
    store: Store,
    form: Name,
    to: Annotated[str, typer.Argument(help="The new name.", show_default=False)],
) -> Edit:
    """Rename a form, in groups too.

    [bold]Examples[/bold]

      gamekeeper form rename norland.gk "Survey X" "Survey X (2031)"
    """
    return RenameForm(form=form, to=to)


@edit_command(app, "remove")
def remove_command(
    store: Store,
    form: Name,
) -> Edit:
    """Remove a form, from groups too. Its codes stay what they are.

    [bold]Examples[/bold]

      gamekeeper form remove norland.gk "Survey X"
    """
    return RemoveForm(form=form)


def _asked(text: str) -> tuple[str, tuple[str, ...]]:
    variable, equals, labels = text.partition("=")
    if not equals or not variable.strip():
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable {quoted([text])} was to be asked.",
            "That is not VARIABLE=LABEL; LABEL.",
            'Write "Age=0-15; 16-64; 65+", or "Age=" for any level of detail.',
        )
    return variable.strip(), tuple(part.strip() for part in labels.split(";") if part.strip())
