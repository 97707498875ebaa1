"""Edits at the prompt: how one is typed, offered and told; and the commands on variables.

An edit command has options of its own, and takes the same as all besides. Most edits are a record and
nothing else: their options come from its fields, when somebody asks for them, since records take
longer to import than a list of commands takes to print. Names are offered while a command is typed
(see `gamekeeper --install-completion`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import typer

from gamekeeper.cli import commands
from gamekeeper.errors import GamekeeperError
from gamekeeper.options import Field, build, options_of
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.wording import count_of
from gamekeeper.workbench.requests.editing import (
    AddVariableRequest,
    Freedom,
    ImportVariableRequest,
    ReplaceVariableRequest,
    Signature,
)
from gamekeeper.workbench.requests.environment import InStore, NamesRequest, VariableRequest

if TYPE_CHECKING:
    from gamekeeper.mapping.edits import Consequences, Edit
    from gamekeeper.mapping.edits.environment import Record
    from gamekeeper.results import Listing
    from gamekeeper.workbench.environment.editing import Edited


def show_listing(listing: Listing, how: commands.Format) -> None:
    """Print a page of a list, and how to see the next."""
    commands.show(listing, how)
    if how is not commands.Format.TABLE:
        return
    commands.say()
    shown = listing.summary()
    if listing.n_pages > 1:
        more = f"; next: --page {listing.number + 1}" if shown["to"] < listing.total else ""
        commands.say(
            f"{listing.what} {shown['from']:,} to {shown['to']:,} of {listing.total:,}{more}"
        )
    else:
        commands.say(count_of(listing.total, listing.what.removesuffix("s")))


def make_edits(
    store: StorePlace,
    edits: Sequence[Edit],
    signature: Signature,
    freedom: Freedom,
    how: commands.Format,
) -> None:
    """Make edits and say what was done; unrestricted ones are shown first."""
    from gamekeeper.workbench.environment import editing

    tell = commands.say if how is commands.Format.TABLE else commands.warn
    consequences = editing.weigh(store, edits) if freedom.unrestricted else None
    if consequences is not None and not freedom.yes:
        commands.show(consequences, how)
        tell(f"This would happen: {_counted(consequences)}.")
        tell("Nothing was changed. Add --yes to go ahead.")
        raise typer.Exit(2)
    edited = editing.edit_store(store, edits, signature, unrestricted=freedom.unrestricted)
    show_edited(store, edited, how)
    if consequences is not None:
        tell(f"This happened: {_counted(consequences)}.")


def show_edited(store: StorePlace, edited: Edited, how: commands.Format) -> None:
    """Say what was acknowledged, or print the line of the history."""
    if how is commands.Format.TABLE:
        for words in edited.words:
            commands.say(f"Revision {edited.revision}: {words}")
    else:
        from gamekeeper.workbench.environment.browsing import newest_revision

        commands.show(newest_revision(store), how)
    for note in edited.notes:
        commands.warn(f"! {note}")


def _counted(consequences: Consequences) -> str:
    counts = list(consequences.summary().items())[2:]
    happens = [f"{name.replace('_', ' ')}: {number}" for name, number in counts if number]
    return "; ".join(happens) or "nothing breaks"


def names_in(path: StorePlace, kind: str) -> list[str]:
    """Return the names of the forms, variables, groups or scenarios of a store or folder.

    A store is asked for its names alone, and nothing is imported that this does without.
    """
    if isinstance(path, Path) and path.is_dir():
        from gamekeeper.store.folder import read_environment

        return list(getattr(read_environment(path), kind))
    from gamekeeper.store.database.file import read_names

    return read_names(path, kind)


def _offer(kind: str) -> Callable[[typer.Context, str], list[str]]:
    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        given = [ctx.params.get(name) for name in ("store", "environment", "path")]
        path = next((item for item in given if item), None)
        if path is None:
            return []
        try:
            known = names_in(store_place(str(path)), kind)
        except (GamekeeperError, OSError):
            # Whoever types wants no error; the command itself will tell.
            return []
        return [name for name in known if name.startswith(incomplete)]

    return offered


OFFERS: dict[str, Callable[..., Any]] = {
    "form": _offer("forms"),
    "forms": _offer("forms"),
    "group": _offer("groups"),
    "groups": _offer("groups"),
    "like": _offer("forms"),
    "scenario": _offer("scenarios"),
    "target": _offer("forms"),
    "variable": _offer("variables"),
}
"""What the tab key offers, by the name of an option or argument."""

_Work = Callable[..., Any]
_Values = Mapping[str, Any]


def edit_command(
    app: typer.Typer, name: str, request: type, *, can_break: bool = False
) -> Callable[[_Work], _Work]:
    """Make a command of a function from a request to edits; `can_break` offers the unrestricted editor."""

    def register(work: _Work) -> _Work:
        def ask(values: _Values) -> list[Edit]:
            made = work(build(request, values))
            return made if isinstance(made, list) else [made]

        def make() -> _Work:
            return _editing(work, ask, options_of(request), can_break=can_break)

        commands.add_later(app, name, work.__doc__, make)
        return work

    return register


def record_command(
    app: typer.Typer, name: str, record: str, words: str, *examples: str, can_break: bool = False
) -> None:
    """Make a command of the record of that name in `gamekeeper.mapping.edits`.

    Each of the `examples` is a line, or what it is about and a line.
    """

    def make() -> _Work:
        from gamekeeper.mapping import edits

        kind = getattr(edits, record)

        def ask(values: _Values) -> list[Edit]:
            own = {name: value for name, value in values.items() if name in kind.model_fields}
            return [edits.edit_of(kind, own)]

        return _editing(ask, ask, (*options_of(InStore), *_fields(kind)), can_break=can_break)

    shown = (f"  {each}" if each.startswith("gamekeeper") else each for each in examples)
    commands.add_later(app, name, "\n\n".join((words, "[bold]Examples[/bold]", *shown)), make)


def _editing(
    work: _Work, ask: Callable[[_Values], list[Edit]], own: tuple[Field, ...], *, can_break: bool
) -> _Work:
    """Return a function for typer, in place of `work`, that makes the edits that are asked for."""

    def run(values: _Values, how: commands.Format) -> None:
        freedom = build(Freedom, values)
        make_edits(values["store"], ask(values), build(Signature, values), freedom, how)

    how = inspect.Parameter(
        "how",
        inspect.Parameter.KEYWORD_ONLY,
        default=commands.Format.TABLE,
        annotation=commands.AsFormat,
    )
    shared = (*options_of(Signature), *(options_of(Freedom) if can_break else ()))
    return commands.typed(work, run, (*own, *shared), [how], OFFERS)


def _fields(record: type[Record]) -> list[Field]:
    """Return what is asked for at the prompt to fill a record; what must be given comes first."""
    from gamekeeper.mapping.edits.environment import options_of_record

    found: list[Field] = []
    for name, option in options_of_record(record).items():
        item = record.model_fields[name]
        hint = item.annotation
        several = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        kinds = [_bare(kind) for kind in several if kind is not types.NoneType]
        default = MISSING if item.is_required() else item.default
        found.append(Field(name, kinds[0], default, option, default is None))
    return sorted(found, key=lambda item: not item.is_required)


def _bare(hint: Any) -> Any:
    """Return a type without what pydantic knows of it besides."""
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(kind) is not dict:
        return kind
    of, to = get_args(kind)
    return Mapping[of, to]


app = commands.command_group(
    "variable",
    "Variables: what can be asked, and how its categories relate.\n\n"
    "Edits keep every categorization that was admitted before; what would not is refused with the"
    " reason. To mend a mistake there is --unrestricted.",
)


@commands.command(app, "list")
def list_command(asked: NamesRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """List variables: scale, categories, and how many forms ask for them in how many ways.

    [bold]Examples[/bold]

      gamekeeper variable list norland.gk --sort forms -d
    """
    from gamekeeper.workbench.environment.browsing import variables

    with commands.progress_bar("Opening") as progress:
        listing = variables(asked, for_people=how is commands.Format.TABLE, progress=progress)
    show_listing(listing, how)


@commands.command(app, "show", offers=OFFERS)
def show_command(asked: VariableRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Show the categories of a variable and what they are made up of.

    The codes are shown by `gamekeeper graph`.

    [bold]Examples[/bold]

      gamekeeper variable show norland.gk "Country of Residence"
    """
    from gamekeeper.workbench.environment.browsing import variable

    table, words = variable(asked)
    if how is commands.Format.TABLE:
        commands.say_all(words)
        commands.say()
    commands.show(table, how, sentences=words)


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
