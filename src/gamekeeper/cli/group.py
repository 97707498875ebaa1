"""The commands on groups of forms."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gamekeeper.cli.completing import offer_forms, offer_groups
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
    Who,
    make_edits,
    page_of,
    show_listing,
)
from gamekeeper.cli.show import Format, progress_bar
from gamekeeper.mapping.edits import AddGroup, RemoveGroup, RenameGroup, ReplaceGroup
from gamekeeper.workbench import looking

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
        listing = looking.groups(
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
    listing = looking.group(
        environment, group, page=page_of(sort, descending, page, per_page, how), as_of=as_of
    )
    show_listing(listing, how)


@app.command("add")
def add_command(
    store: Store,
    group: Name,
    forms: Forms = None,
    where: Where = None,
    union: Union = None,
    intersection: Intersection = None,
    difference: Difference = None,
    description: Annotated[str, typer.Option(help="What it is for.", show_default=False)] = "",
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Add a group, defined in one way.

    [bold]Examples[/bold]

    By hand:
      gamekeeper group add norland.gk Group1 "Survey X" "Survey Y" "Survey Z"

    By a query on metadata:
      gamekeeper group add norland.gk On-line --where "Form Type = On-line"

    From other groups:
      gamekeeper group add norland.gk Rest --difference Group1 --difference On-line
    """
    edit = AddGroup(
        name=group,
        description=description,
        **_definition(forms, where, union, intersection, difference),
    )
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("change")
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
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Define a group anew.

    [bold]Examples[/bold]

      gamekeeper group change norland.gk On-line --where "Form Type = On-line and year >= 2030"
    """
    edit = ReplaceGroup(
        group=group,
        description=description,
        **_definition(forms, where, union, intersection, difference),
    )
    make_edits(store, [edit], who=who, note=note, base=base, how=how)


@app.command("rename")
def rename_command(
    store: Store,
    group: Name,
    to: Annotated[str, typer.Argument(help="The new name.", show_default=False)],
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Rename a group, in the groups made from it too.

    [bold]Examples[/bold]

      gamekeeper group rename norland.gk Group1 "Recent surveys"
    """
    make_edits(store, [RenameGroup(group=group, to=to)], who=who, note=note, base=base, how=how)


@app.command("remove")
def remove_command(
    store: Store,
    group: Name,
    who: Who = None,
    note: Note = "",
    base: Base = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Remove a group that no other is made from; its forms stay.

    [bold]Examples[/bold]

      gamekeeper group remove norland.gk Group1
    """
    make_edits(store, [RemoveGroup(group=group)], who=who, note=note, base=base, how=how)


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
