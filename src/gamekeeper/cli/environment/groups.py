"""The commands on groups of forms."""

from __future__ import annotations

from gamekeeper.cli.commands import AsFormat, command, command_group
from gamekeeper.cli.environment.completing import OFFERS
from gamekeeper.cli.environment.edit_commands import record_command
from gamekeeper.cli.environment.printing import show_listing
from gamekeeper.cli.show import Format, progress_bar
from gamekeeper.workbench.requests.environment.browsing import GroupRequest, NamesRequest

app = command_group(
    "group",
    "Groups of forms: listed by hand, found by a query, or made from other groups.\n\n"
    "Queries and combinations stay live: a form that is added later and fits belongs to them.",
)


@command(app, "list")
def list_command(asked: NamesRequest, how: AsFormat = Format.TABLE) -> None:
    """List groups: how many forms they have now, and how they are defined.

    [bold]Examples[/bold]

      gamekeeper group list norland.gk
    """
    from gamekeeper.workbench.environment.browsing import groups

    with progress_bar("Opening") as progress:
        listing = groups(asked, for_people=how is Format.TABLE, progress=progress)
    show_listing(listing, how)


@command(app, "show", offers=OFFERS)
def show_command(asked: GroupRequest, how: AsFormat = Format.TABLE) -> None:
    """Show the forms that a group has now.

    [bold]Examples[/bold]

      gamekeeper group show norland.gk On-line
    """
    from gamekeeper.workbench.environment.browsing import group

    show_listing(group(asked, for_people=how is Format.TABLE), how)


record_command(
    app,
    "add",
    "AddGroup",
    "Add a group, defined in one way.",
    'By hand:\n  gamekeeper group add norland.gk Group1 "Survey X" "Survey Y" "Survey Z"',
    "By a query on metadata:\n"
    '  gamekeeper group add norland.gk On-line --where "Form Type = On-line"',
    "From other groups:\n"
    "  gamekeeper group add norland.gk Rest --difference Group1 --difference On-line",
)
record_command(
    app,
    "change",
    "ReplaceGroup",
    "Define a group anew.",
    'gamekeeper group change norland.gk On-line --where "Form Type = On-line and year >= 2030"',
)
record_command(
    app,
    "rename",
    "RenameGroup",
    "Rename a group, in the groups made from it too.",
    'gamekeeper group rename norland.gk Group1 "Recent surveys"',
)
record_command(
    app,
    "remove",
    "RemoveGroup",
    "Remove a group that no other is made from; its forms stay.",
    "gamekeeper group remove norland.gk Group1",
)
