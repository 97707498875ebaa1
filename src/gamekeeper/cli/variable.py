"""The commands on variables and their categories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gamekeeper.cli.completing import offer_variables
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
    page_of,
    show_listing,
)
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import (
    AddBands,
    AddCategory,
    AddVariable,
    DescribeVariable,
    Edit,
    OrderSinks,
    RemoveBands,
    RemoveCategory,
    RemoveVariable,
    RenameCategory,
    RenameVariable,
    ReplaceVariable,
    SetChildren,
    SplitCategory,
    edit_of,
)
from gamekeeper.mapping.environment.definitions import DEFINITION
from gamekeeper.store.record_files import read_definition
from gamekeeper.wording import quoted
from gamekeeper.workbench import browsing

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
        listing = browsing.variables(
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
    table, words = browsing.variable(environment, variable, as_of=as_of)
    if how is Format.TABLE:
        for line in words:
            say(line)
        say()
    show(table, how, extra={"words": list(words)})


@edit_command(app, "add")
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
) -> Edit:
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
    return AddVariable(definition=definition)


@edit_command(app, "replace", can_break=True)
def replace_command(
    store: Store,
    variable: Name,
    file: Annotated[
        Path, typer.Argument(help="A JSON file as in the variables folder.", show_default=False)
    ],
) -> Edit:
    """Define a variable anew, as far as earlier categorizations are still admitted.

    [bold]Examples[/bold]

      gamekeeper variable replace norland.gk Age age.json
    """
    return ReplaceVariable(variable=variable, definition=read_definition(file))


@edit_command(app, "rename")
def rename_command(
    store: Store,
    variable: Name,
    to: To,
) -> Edit:
    """Rename a variable everywhere.

    [bold]Examples[/bold]

      gamekeeper variable rename norland.gk Sex "Sex at birth"
    """
    return RenameVariable(variable=variable, to=to)


@edit_command(app, "describe")
def describe_command(
    store: Store,
    variable: Name,
    description: Annotated[str, typer.Argument(help="What it means.", show_default=False)],
) -> Edit:
    """Say what a variable means.

    [bold]Examples[/bold]

      gamekeeper variable describe norland.gk Age "Age at last birthday"
    """
    return DescribeVariable(variable=variable, description=description)


@edit_command(app, "remove", can_break=True)
def remove_command(
    store: Store,
    variable: Name,
) -> Edit:
    """Remove a variable that no form asks for.

    [bold]Examples[/bold]

      gamekeeper variable remove norland.gk Age
    """
    return RemoveVariable(variable=variable)


@edit_command(app, "join", can_break=True)
def join_command(
    store: Store,
    variable: Name,
    category: Category,
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART...", help="What makes it up.", show_default=False),
    ] = None,
) -> Edit:
    """Add a category that is made up of others.

    [bold]Examples[/bold]

      gamekeeper variable join norland.gk "Country of Residence" Britain England Scotland Wales
    """
    return AddCategory(variable=variable, category=category, children=tuple(parts or ()))


@edit_command(app, "split", can_break=True)
def split_command(
    store: Store,
    variable: Name,
    category: Category,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="New, finer categories.", show_default=False),
    ],
) -> Edit:
    """Split one of the finest categories into parts; it stays as their union.

    [bold]Examples[/bold]

      gamekeeper variable split norland.gk "Country of Residence" "Not Britain" "Northern Ireland" "Non UK"
    """
    return edit_of(SplitCategory, {"variable": variable, "category": category, "into": parts})


@edit_command(app, "set-parts", can_break=True)
def set_parts_command(
    store: Store,
    variable: Name,
    category: Category,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="What it points to.", show_default=False),
    ],
) -> Edit:
    """Say anew what a category is made up of, in terms of other categories.

    [bold]Examples[/bold]

      gamekeeper variable set-parts norland.gk "Country of Residence" UK Britain "Northern Ireland"
    """
    return SetChildren(variable=variable, category=category, children=tuple(parts))


@edit_command(app, "rename-category")
def rename_category_command(
    store: Store,
    variable: Name,
    category: Category,
    to: To,
) -> Edit:
    """Rename a category, on all forms too.

    [bold]Examples[/bold]

      gamekeeper variable rename-category norland.gk "Country of Residence" Other "Not Britain"
    """
    return RenameCategory(variable=variable, category=category, to=to)


@edit_command(app, "remove-category", can_break=True)
def remove_category_command(
    store: Store,
    variable: Name,
    category: Category,
) -> Edit:
    """Remove a category; only the unrestricted editor can, and shows first what would break.

    [bold]Examples[/bold]

      gamekeeper variable remove-category norland.gk "Country of Residence" Atlantis --unrestricted
    """
    return RemoveCategory(variable=variable, category=category)


@edit_command(app, "add-bands")
def add_bands_command(
    store: Store,
    variable: Name,
    bands: Annotated[
        list[str], typer.Argument(metavar="BAND...", help="16-24, 65+, ...", show_default=False)
    ],
) -> Edit:
    """Add bands to a variable on the interval scale.

    [bold]Examples[/bold]

      gamekeeper variable add-bands norland.gk Age 16-24 25-34
    """
    return AddBands(variable=variable, bands=tuple(bands))


@edit_command(app, "remove-bands", can_break=True)
def remove_bands_command(
    store: Store,
    variable: Name,
    bands: Annotated[
        list[str], typer.Argument(metavar="BAND...", help="16-24, 65+, ...", show_default=False)
    ],
) -> Edit:
    """Remove bands of a variable on the interval scale; needs the unrestricted editor.

    [bold]Examples[/bold]

      gamekeeper variable remove-bands norland.gk Age 16-24 --unrestricted
    """
    return RemoveBands(variable=variable, bands=tuple(bands))


@edit_command(app, "order")
def order_command(
    store: Store,
    variable: Name,
    order: Annotated[
        list[str],
        typer.Argument(
            metavar="CATEGORY...", help="All finest categories in order.", show_default=False
        ),
    ],
) -> Edit:
    """Put the finest categories of a variable in order.

    [bold]Examples[/bold]

      gamekeeper variable order norland.gk Health "very good" good fair bad
    """
    return OrderSinks(variable=variable, order=tuple(order))


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
