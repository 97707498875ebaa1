"""The commands on variables and their categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.cli.commands import (
    AsFormat,
    Format,
    command,
    command_group,
    progress_bar,
    say,
    say_all,
    show,
)
from gamekeeper.cli.environment.edit_commands import (
    OFFERS,
    edit_command,
    record_command,
    show_listing,
)
from gamekeeper.workbench.requests.editing import (
    AddVariableRequest,
    ImportVariableRequest,
    ReplaceVariableRequest,
)
from gamekeeper.workbench.requests.environment import NamesRequest, VariableRequest

if TYPE_CHECKING:
    from gamekeeper.mapping.edits import Edit

app = command_group(
    "variable",
    "Variables: what can be asked, and how its categories relate.\n\n"
    "Edits keep every categorization that was admitted before; what would not is refused with the"
    " reason. To mend a mistake there is --unrestricted.",
)


@command(app, "list")
def list_command(asked: NamesRequest, how: AsFormat = Format.TABLE) -> None:
    """List variables: scale, categories, and how many forms ask for them in how many ways.

    [bold]Examples[/bold]

      gamekeeper variable list norland.gk --sort forms -d
    """
    from gamekeeper.workbench.environment.browsing import variables

    with progress_bar("Opening") as progress:
        listing = variables(asked, for_people=how is Format.TABLE, progress=progress)
    show_listing(listing, how)


@command(app, "show", offers=OFFERS)
def show_command(asked: VariableRequest, how: AsFormat = Format.TABLE) -> None:
    """Show the categories of a variable and what they are made up of.

    The codes are shown by `gamekeeper graph`.

    [bold]Examples[/bold]

      gamekeeper variable show norland.gk "Country of Residence"
    """
    from gamekeeper.workbench.environment.browsing import variable

    table, words = variable(asked)
    if how is Format.TABLE:
        say_all(words)
        say()
    show(table, how, sentences=words)


@edit_command(app, "add", AddVariableRequest)
def add_command(asked: AddVariableRequest) -> Edit:
    """Add a variable. Its finest categories should cover everybody; add one for the rest.

    [bold]Examples[/bold]

      gamekeeper variable add norland.gk "Country of Residence" -c England -c Scotland -c Wales -c Other

    On the interval scale:
      gamekeeper variable add norland.gk Age -b "under 16" -b 16-64 -b 65+
    """
    from gamekeeper.workbench.environment.editing import new_variable

    return new_variable(asked)


@edit_command(app, "import", ImportVariableRequest)
def import_command(asked: ImportVariableRequest) -> list[Edit]:
    """Add a variable whose categories are a classification of others.

    Reads SDMX code lists and hierarchical code lists, hierarchies of tau-ARGUS (.hrc), a row per
    category and a column per level (ARX), codes with parents, and census tables of the ONS.

    [bold]Examples[/bold]

      gamekeeper variable import norland.gk regions.hrc --variable Region
    """
    from gamekeeper.workbench.environment.importing import import_variables

    return import_variables(asked)


@edit_command(app, "replace", ReplaceVariableRequest, can_break=True)
def replace_command(asked: ReplaceVariableRequest) -> Edit:
    """Define a variable anew, as far as earlier categorizations are still admitted.

    [bold]Examples[/bold]

      gamekeeper variable replace norland.gk Age age.json
    """
    from gamekeeper.workbench.environment.editing import replaced_variable

    return replaced_variable(asked)


record_command(
    *(app, "rename", "RenameVariable", "Rename a variable everywhere."),
    'gamekeeper variable rename norland.gk Sex "Sex at birth"',
)
record_command(
    *(app, "describe", "DescribeVariable", "Say what a variable means."),
    'gamekeeper variable describe norland.gk Age "Age at last birthday"',
)
record_command(
    *(app, "remove", "RemoveVariable", "Remove a variable that no form asks for."),
    "gamekeeper variable remove norland.gk Age",
    can_break=True,
)
record_command(
    *(app, "join", "AddCategory", "Add a category that is made up of others."),
    'gamekeeper variable join norland.gk "Country of Residence" Britain England Scotland Wales',
    can_break=True,
)
record_command(
    *(app, "split", "SplitCategory"),
    "Split one of the finest categories into parts; it stays as their union.",
    'gamekeeper variable split norland.gk "Country of Residence" "Not Britain" "Northern Ireland" "Non UK"',
    can_break=True,
)
record_command(
    *(app, "set-parts", "SetChildren"),
    "Say anew what a category is made up of, in terms of other categories.",
    'gamekeeper variable set-parts norland.gk "Country of Residence" UK Britain "Northern Ireland"',
    can_break=True,
)
record_command(
    *(app, "rename-category", "RenameCategory", "Rename a category, on all forms too."),
    'gamekeeper variable rename-category norland.gk "Country of Residence" Other "Not Britain"',
)
record_command(
    *(app, "remove-category", "RemoveCategory"),
    "Remove a category; only the unrestricted editor can, and shows first what would break.",
    'gamekeeper variable remove-category norland.gk "Country of Residence" Atlantis --unrestricted',
    can_break=True,
)
record_command(
    *(app, "add-bands", "AddBands", "Add bands to a variable on the interval scale."),
    "gamekeeper variable add-bands norland.gk Age 16-24 25-34",
)
record_command(
    *(app, "remove-bands", "RemoveBands"),
    "Remove bands of a variable on the interval scale; needs the unrestricted editor.",
    "gamekeeper variable remove-bands norland.gk Age 16-24 --unrestricted",
    can_break=True,
)
record_command(
    *(app, "order", "OrderSinks", "Put the finest categories of a variable in order."),
    'gamekeeper variable order norland.gk Health "very good" good fair bad',
)
record_command(
    *(app, "sensitive", "MarkSensitive"),
    "Mark categories as sensitive: worse to learn of somebody than others.",
    'gamekeeper variable sensitive norland.gk Health "very bad"',
)
record_command(
    *(app, "not-sensitive", "UnmarkSensitive", "Mark categories as sensitive no longer."),
    'gamekeeper variable not-sensitive norland.gk Health "very bad"',
)
record_command(
    *(app, "widen", "WidenVariable"),
    "Add a new finest category, and mend all earlier forms in the same step.",
    "Until now nobody asked for them:\n  gamekeeper variable widen norland.gk Sex other",
    "Until now they were among the married:\n"
    '  gamekeeper variable widen norland.gk "Marital status" "in civil partnership"'
    ' --inside married --rest "in marriage"',
)
record_command(
    *(app, "flatten", "FlattenGraph"),
    "Let every category point straight to its finest categories.",
    'gamekeeper variable flatten norland.gk "Country of Residence"',
)
record_command(
    *(app, "deepen", "DeepenGraph"),
    "Let every category point to few large parts, which reads better.",
    'gamekeeper variable deepen norland.gk "Country of Residence"',
)
record_command(
    *(app, "prune", "PruneGraph"),
    "Remove categories that nothing uses; needs the unrestricted editor, and shows first what goes.",
    'gamekeeper variable prune norland.gk "Country of Residence" --keep Britain --unrestricted',
    can_break=True,
)
