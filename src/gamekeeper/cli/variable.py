"""The commands on variables and their categories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gamekeeper.cli.completing import offer_variables
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
    show_listing,
)
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Reason, quoted
from gamekeeper.mapping.definitions import DEFINITION
from gamekeeper.mapping.edits import (
    AddBands,
    AddCategory,
    AddVariable,
    DescribeVariable,
    OrderSinks,
    RemoveBands,
    RemoveCategory,
    RemoveVariable,
    RenameCategory,
    RenameVariable,
    ReplaceVariable,
    SetChildren,
    SplitCategory,
)
from gamekeeper.store.record_files import read_definition
from gamekeeper.workbench import looking

__all__ = ["app"]

app = typer.Typer(
    name="variable",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Variables: what can be asked, and how its categories relate.\n\n"
    "Edits keep every categorization that was admitted before; what would not is refused with the"
    " reason. To mend a mistake there is --unrestricted.",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="VARIABLE",
        help="The variable.",
        show_default=False,
        autocompletion=offer_variables,
    ),
]
Category = Annotated[str, typer.Argument(help="The category.", show_default=False)]
To = Annotated[str, typer.Argument(help="The new name.", show_default=False)]


@app.command("list")
def list_command(
    environment: Environment,
    matching: Annotated[
        str, typer.Option("--matching", "-m", help="Part of the name.", show_default=False)
    ] = "",
    sort: Sort = "",
    descending: Descending = False,
    page: PageNumber = 1,
    per_page: PerPage = None,
    as_of: AsOf = "",
    how: AsFormat = Format.TABLE,
) -> None:
    """List variables: scale, categories, and how many forms ask for them in how many ways.

    [bold]Examples[/bold]

      gamekeeper variable list norland.gk --sort forms -d
    """
    with progress_bar("Opening") as progress:
        listing = looking.variables(
            environment,
            matching=matching,
            page=page_of(sort, descending, page, per_page, how),
            as_of=as_of,
            progress=progress,
        )
    show_listing(listing, how)


@app.command("show")
def show_command(
    environment: Environment, variable: Name, as_of: AsOf = "", how: AsFormat = Format.TABLE
) -> None:
    """Show the categories of a variable and what they are made up of.

    The codes are shown by `gamekeeper graph`.

    [bold]Examples[/bold]

      gamekeeper variable show norland.gk "Country of Residence"
    """
    table, words = looking.variable(environment, variable, as_of=as_of)
    if how is Format.TABLE:
        for line in words:
            say(line)
        say()
    show(table, how, extra={"words": list(words)})


@app.command("add")
def add_command(
    store: Store,
    variable: Annotated[
        str | None, typer.Argument(help="Its name, unless a file has it.", show_default=False)
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            "--category",
            "-c",
            help="A category, or one with its parts: 'UK: England; Wales'. May be repeated.",
        ),
    ] = None,
    band: Annotated[
        list[str] | None,
        typer.Option("--band", "-b", help="A band of a number: 16-24, 65+. May be repeated."),
    ] = None,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="The finest categories are in order, as given.")
    ] = False,
    description: Annotated[str, typer.Option(help="What it means.", show_default=False)] = "",
    file: Annotated[
        Path | None,
        typer.Option(help="A JSON file as in the variables folder.", show_default=False),
    ] = None,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Add a variable. Its finest categories should cover everybody; add one for the rest.

    [bold]Examples[/bold]

      gamekeeper variable add norland.gk "Country of Residence" -c England -c Scotland -c Wales -c Other

    On the interval scale:
      gamekeeper variable add norland.gk Age -b "under 16" -b 16-64 -b 65+
    """
    if file is not None:
        definition = read_definition(file)
        if variable is not None:
            definition = definition.model_copy(update={"name": variable})
    else:
        definition = _definition(variable, category or [], band or [], ordinal, description)
    make_edits(store, [AddVariable(definition=definition)], who=who, note=note, base=base, how=how)


@app.command("replace")
def replace_command(
    store: Store,
    variable: Name,
    file: Annotated[
        Path, typer.Argument(help="A JSON file as in the variables folder.", show_default=False)
    ],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Define a variable anew, as far as earlier categorizations are still admitted.

    [bold]Examples[/bold]

      gamekeeper variable replace norland.gk Age age.json
    """
    edit = ReplaceVariable(variable=variable, definition=read_definition(file))
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("rename")
def rename_command(
    store: Store,
    variable: Name,
    to: To,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Rename a variable everywhere.

    [bold]Examples[/bold]

      gamekeeper variable rename norland.gk Sex "Sex at birth"
    """
    edit = RenameVariable(variable=variable, to=to)
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("describe")
def describe_command(
    store: Store,
    variable: Name,
    description: Annotated[str, typer.Argument(help="What it means.", show_default=False)],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Say what a variable means.

    [bold]Examples[/bold]

      gamekeeper variable describe norland.gk Age "Age at last birthday"
    """
    edit = DescribeVariable(variable=variable, description=description)
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("remove")
def remove_command(
    store: Store,
    variable: Name,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Remove a variable that no form asks for.

    [bold]Examples[/bold]

      gamekeeper variable remove norland.gk Age
    """
    edit = RemoveVariable(variable=variable)
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("join")
def join_command(
    store: Store,
    variable: Name,
    category: Category,
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART...", help="What makes it up.", show_default=False),
    ] = None,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Add a category that is made up of others.

    [bold]Examples[/bold]

      gamekeeper variable join norland.gk "Country of Residence" Britain England Scotland Wales
    """
    edit = AddCategory(variable=variable, category=category, children=tuple(parts or ()))
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("split")
def split_command(
    store: Store,
    variable: Name,
    category: Category,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="New, finer categories.", show_default=False),
    ],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Split one of the finest categories into parts; it stays as their union.

    [bold]Examples[/bold]

      gamekeeper variable split norland.gk "Country of Residence" "Not Britain" "Northern Ireland" "Non UK"
    """
    edit = SplitCategory(variable=variable, category=category, into=tuple(parts))
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("set-parts")
def set_parts_command(
    store: Store,
    variable: Name,
    category: Category,
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART...", help="What it points to.", show_default=False),
    ] = None,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Say anew what a category is made up of, in terms of other categories.

    [bold]Examples[/bold]

      gamekeeper variable set-parts norland.gk "Country of Residence" UK Britain "Northern Ireland"
    """
    edit = SetChildren(variable=variable, category=category, children=tuple(parts or ()))
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("rename-category")
def rename_category_command(
    store: Store,
    variable: Name,
    category: Category,
    to: To,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Rename a category, on all forms too.

    [bold]Examples[/bold]

      gamekeeper variable rename-category norland.gk "Country of Residence" Other "Not Britain"
    """
    edit = RenameCategory(variable=variable, category=category, to=to)
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("remove-category")
def remove_category_command(
    store: Store,
    variable: Name,
    category: Category,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Remove a category; only the unrestricted editor can, and shows first what would break.

    [bold]Examples[/bold]

      gamekeeper variable remove-category norland.gk "Country of Residence" Atlantis --unrestricted
    """
    edit = RemoveCategory(variable=variable, category=category)
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("add-bands")
def add_bands_command(
    store: Store,
    variable: Name,
    bands: Annotated[
        list[str], typer.Argument(metavar="BAND...", help="16-24, 65+, ...", show_default=False)
    ],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Add bands to a variable on the interval scale.

    [bold]Examples[/bold]

      gamekeeper variable add-bands norland.gk Age 16-24 25-34
    """
    edit = AddBands(variable=variable, bands=tuple(bands))
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("remove-bands")
def remove_bands_command(
    store: Store,
    variable: Name,
    bands: Annotated[
        list[str], typer.Argument(metavar="BAND...", help="16-24, 65+, ...", show_default=False)
    ],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    unrestricted: Unrestricted = False,
    yes: Yes = False,
    how: AsFormat = Format.TABLE,
) -> None:
    """Remove bands of a variable on the interval scale; needs the unrestricted editor.

    [bold]Examples[/bold]

      gamekeeper variable remove-bands norland.gk Age 16-24 --unrestricted
    """
    edit = RemoveBands(variable=variable, bands=tuple(bands))
    make_edits(
        store, [edit], who=who, note=note, base=base, how=how, unrestricted=unrestricted, yes=yes
    )


@app.command("order")
def order_command(
    store: Store,
    variable: Name,
    order: Annotated[
        list[str],
        typer.Argument(
            metavar="CATEGORY...", help="All finest categories in order.", show_default=False
        ),
    ],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Put the finest categories of a variable in order.

    [bold]Examples[/bold]

      gamekeeper variable order norland.gk Health "very good" good fair bad
    """
    edit = OrderSinks(variable=variable, order=tuple(order))
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


def _definition(
    name: str | None, categories: list[str], bands: list[str], ordinal: bool, description: str
) -> Any:
    asked = "A variable was to be added."
    if not name:
        do = "Give a name, or a file with --file."
        raise InputError(Reason.NOTHING_GIVEN, asked, "It has no name.", do)
    if bool(categories) == bool(bands):
        found = "It has both categories and bands." if bands else "It has no categories."
        do = "Give categories with -c, or bands with -b, or a file with --file."
        raise InputError(Reason.BAD_OPTION, asked, found, do)
    tree: dict[str, Any] = {"name": name, "description": description}
    if bands:
        return DEFINITION.validate_python({**tree, "scale": "interval", "bands": bands})
    children: dict[str, list[str]] = {}
    for text in categories:
        category, _, parts = text.partition(":")
        category = category.strip()
        if category in children:
            found = f"The category {quoted([category])} is given twice."
            raise InputError(Reason.DUPLICATE, asked, found, "Leave one out.")
        children[category] = [part.strip() for part in parts.split(";") if part.strip()]
    for parts in list(children.values()):
        for part in parts:
            children.setdefault(part, [])
    tree["categories"] = children
    tree["scale"] = "ordinal" if ordinal else "nominal"
    tree["order"] = [category for category, parts in children.items() if not parts]
    return DEFINITION.validate_python(tree)
