"""The commands on groups of forms."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gamekeeper.cli.completing import offer_forms, offer_groups
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
from gamekeeper.cli.show import Format, progress_bar
from gamekeeper.mapping.edits import AddGroup, Edit, RemoveGroup, RenameGroup, ReplaceGroup
from gamekeeper.workbench import browsing

__all__ = ["app"]

app = typer.Typer(
    name="group",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Groups of forms: listed by hand, found by a query, or made from other groups.\n\n"
    "Queries and combinations stay live: a form that is added later and fits belongs to them.",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="GROUP", help="The group.", show_default=False, autocompletion=offer_groups
    ),
]
Forms = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FORM...",
        help="Forms listed by hand.",
        show_default=False,
        autocompletion=offer_forms,
    ),
]
Where = Annotated[
    str | None,
    typer.Option("--where", "-w", help="A query: Form Type = On-line.", show_default=False),
]
Union = Annotated[
    list[str] | None,
    typer.Option("--union", help="Forms in any of these groups; repeat it.", show_default=False),
]
Intersection = Annotated[
    list[str] | None,
    typer.Option(
        "--intersection", help="Forms in all of these groups; repeat it.", show_default=False
    ),
]
Difference = Annotated[
    list[str] | None,
    typer.Option(
        "--difference",
        help="Forms in the first of these groups and no other; repeat it.",
        show_default=False,
    ),
]


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
    """List groups: how many forms they have now, and how they are defined.

    [bold]Examples[/bold]

      gamekeeper group list norland.gk
    """
    with progress_bar("Opening") as progress:
        listing = browsing.groups(
            environment,
            matching=matching,
            page=page_of(sort, descending, page, per_page, how),
            as_of=as_of,
            progress=progress,
        )
    show_listing(listing, how)


@app.command("show")
def show_command(
    environment: Environment,
    group: Name,
    sort: Sort = "",
    descending: Descending = False,
    page: PageNumber = 1,
    per_page: PerPage = None,
    as_of: AsOf = "",
    how: AsFormat = Format.TABLE,
) -> None:
    """Show the forms that a group has now.

    [bold]Examples[/bold]

      gamekeeper group show norland.gk On-line
    """
    listing = browsing.group(
        environment, group, page=page_of(sort, descending, page, per_page, how), as_of=as_of
    )
    show_listing(listing, how)


@edit_command(app, "add")
def add_command(
    store: Store,
    group: Name,
    forms: Forms = None,
    where: Where = None,
    union: Union = None,
    intersection: Intersection = None,
    difference: Difference = None,
    description: Annotated[str, typer.Option(help="What it is for.", show_default=False)] = "",
) -> Edit:
    """Add a group, defined in one way.

    [bold]Examples[/bold]

    By hand:
      gamekeeper group add norland.gk Group1 "Survey X" "Survey Y" "Survey Z"

    By a query on metadata:
      gamekeeper group add norland.gk On-line --where "Form Type = On-line"

    From other groups:
      gamekeeper group add norland.gk Rest --difference Group1 --difference On-line
    """
    return AddGroup(
        name=group,
        description=description,
        **_definition(forms, where, union, intersection, difference),
    )


@edit_command(app, "change")
def change_command(
    store: Store,
    group: Name,
    forms: Forms = None,
    where: Where = None,
    union: Union = None,
    intersection: Intersection = None,
    difference: Difference = None,
    description: Annotated[
        str | None, typer.Option(help="What it is for.", show_default=False)
    ] = None,
) -> Edit:
    """Define a group anew.

    [bold]Examples[/bold]

      gamekeeper group change norland.gk On-line --where "Form Type = On-line and year >= 2030"
    """
    return ReplaceGroup(
        group=group,
        description=description,
        **_definition(forms, where, union, intersection, difference),
    )


@edit_command(app, "rename")
def rename_command(
    store: Store,
    group: Name,
    to: Annotated[str, typer.Argument(help="The new name.", show_default=False)],
) -> Edit:
    """Rename a group, in the groups made from it too.

    [bold]Examples[/bold]

      gamekeeper group rename norland.gk Group1 "Recent surveys"
    """
    return RenameGroup(group=group, to=to)


@edit_command(app, "remove")
def remove_command(
    store: Store,
    group: Name,
) -> Edit:
    """Remove a group that no other is made from; its forms stay.

    [bold]Examples[/bold]

      gamekeeper group remove norland.gk Group1
    """
    return RemoveGroup(group=group)


def _definition(
    forms: list[str] | None,
    where: str | None,
    union: list[str] | None,
    intersection: list[str] | None,
    difference: list[str] | None,
) -> dict[str, Any]:
    ways: dict[str, Any] = {
        "forms": forms,
        "where": where,
        "union": union,
        "intersection": intersection,
        "difference": difference,
    }
    return {way: given for way, given in ways.items() if given is not None}
