"""The commands on scenarios: what was concluded from analyses, for the stages that follow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.algorithms.categories.harmonization import MAX_NODES
from gamekeeper.cli.completing import offer_scenarios
from gamekeeper.cli.editing import edit_command
from gamekeeper.cli.mapping import (
    Against,
    Groups,
    Levels,
    MaxNodes,
    OfMode,
    Prevalence,
    Strict,
    Target,
)
from gamekeeper.cli.options import (
    AsFormat,
    AsOf,
    Descending,
    Environment,
    Note,
    PageNumber,
    PerPage,
    Sort,
    Store,
    Who,
    page_of,
    show_edited,
    show_listing,
)
from gamekeeper.cli.show import Format, progress_bar, say, show, warn
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import Edit, RemoveScenario, RenameScenario
from gamekeeper.wording import quoted
from gamekeeper.workbench import scenarios
from gamekeeper.workbench.environments import person
from gamekeeper.workbench.mapping import MapRequest

__all__ = ["app"]

app = typer.Typer(
    name="scenario",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Scenarios: who might match the target, on which key variables, at which detail.\n\n"
    "A scenario is the outcome of an analysis under a name; attacks on data read it.",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="The scenario.",
        show_default=False,
        autocompletion=offer_scenarios,
    ),
]


@app.command("save")
def save_command(
    store: Store,
    scenario: Name,
    target: Target,
    against: Against = None,
    group: Groups = None,
    prevalence: Prevalence = "0",
    mode: OfMode = None,
    strict: Strict = True,
    levels: Levels = None,
    attacker: Annotated[
        str, typer.Option(help="Who would match, and with which aim.", show_default=False)
    ] = "",
    description: Annotated[str, typer.Option(help="What it is about.", show_default=False)] = "",
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            "-k",
            help="A key variable to take, VARIABLE or VARIABLE=CODE; may be repeated. By default"
            " all that can be matched, at the finest code.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a scenario of that name.")
    ] = False,
    max_nodes: MaxNodes = MAX_NODES,
    who: Who = None,
    note: Note = "",
    how: AsFormat = Format.TABLE,
) -> None:
    """Make an analysis as `gamekeeper map` does, and save the outcome under a name.

    [bold]Examples[/bold]

      gamekeeper scenario save norland.gk "A bank's clerk" Census -g Banks -p 10% --attacker "Somebody at a bank"

    Only some key variables, one of them coarser than it could be:
      gamekeeper scenario save norland.gk "A neighbour" Census -k Sex -k Age=H7.001
    """
    request = MapRequest(
        target, against or (), group or (), mode, prevalence, strict, levels, max_nodes
    )
    with progress_bar("Mapping key variables") as progress:
        saved, edited = scenarios.save_scenario(
            store,
            request,
            name=scenario,
            attacker=attacker,
            description=description,
            keys=_keys(key) if key else None,
            replace=replace,
            who=person(who),
            note=note,
            progress=progress,
        )
    show_edited(store, edited, how)
    if how is Format.TABLE:
        for item in saved.keys:
            say(f"  {item.why}")


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
    """List scenarios, and whether the environment has changed since.

    [bold]Examples[/bold]

      gamekeeper scenario list norland.gk
    """
    listing = scenarios.list_scenarios(
        environment,
        matching=matching,
        page=page_of(sort, descending, page, per_page, how),
        as_of=as_of,
    )
    show_listing(listing, how)


@app.command("show")
def show_command(
    environment: Environment, scenario: Name, as_of: AsOf = "", how: AsFormat = Format.TABLE
) -> None:
    """Show a scenario: attacker, target, and every key variable with the evidence.

    [bold]Examples[/bold]

      gamekeeper scenario show norland.gk "A bank's clerk"
    """
    keys, lines = scenarios.show_scenario(environment, scenario, as_of=as_of)
    if how is Format.TABLE:
        for line in lines:
            say(line)
        say()
    show(keys, how, extra={"words": list(lines)})


@app.command("review")
def review_command(
    environment: Environment,
    scenario: Name,
    max_nodes: MaxNodes = MAX_NODES,
    how: AsFormat = Format.TABLE,
) -> None:
    """Say whether the environment has changed since, and what the analysis would give now.

    [bold]Examples[/bold]

      gamekeeper scenario review norland.gk "A bank's clerk"
    """
    with progress_bar("Mapping key variables") as progress:
        result = scenarios.review(environment, scenario, max_nodes=max_nodes, progress=progress)
    rows = [
        (
            str(row["variable"]),
            str(row["code_then"]),
            f"{row['forms_then']} of {row['match_forms_then']}",
            "—" if row["forms_now"] is None else f"{row['forms_now']} of {row['match_forms_now']}",
            str(row["maximal_then"]),
            str(row["maximal_now"] or "—"),
        )
        for row in result.to_arrow().to_pylist()
    ]
    header = ("variable", "code", "forms then", "forms now", "finest then", "finest now")
    if how is Format.TABLE:
        for sentence in result.sentences:
            say(sentence)
        say()
    show(result, how, table=(header, rows), extra={"sentences": list(result.sentences)})
    if how is not Format.TABLE and not result.is_current:
        for sentence in result.sentences:
            warn(sentence)


@app.command("export")
def export_command(
    environment: Environment,
    scenario: Name,
    file: Annotated[Path, typer.Argument(help="The JSON file to write.", show_default=False)],
    as_of: AsOf = "",
) -> None:
    """Write a scenario to a JSON file, with the categories that make up each code.

    [bold]Examples[/bold]

      gamekeeper scenario export norland.gk "A bank's clerk" clerk.json
    """
    scenarios.export_scenario(environment, scenario, file, as_of=as_of)
    say(f"Written: {file}")


@edit_command(app, "rename")
def rename_command(
    store: Store,
    scenario: Name,
    to: Annotated[str, typer.Argument(help="The new name.", show_default=False)],
) -> Edit:
    """Rename a scenario.

    [bold]Examples[/bold]

      gamekeeper scenario rename norland.gk "A bank's clerk" "Clerk of a bank"
    """
    return RenameScenario(scenario=scenario, to=to)


@edit_command(app, "remove")
def remove_command(
    store: Store,
    scenario: Name,
) -> Edit:
    """Remove a scenario.

    [bold]Examples[/bold]

      gamekeeper scenario remove norland.gk "A bank's clerk"
    """
    return RemoveScenario(scenario=scenario)


def _keys(given: list[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for text in given:
        variable, _, code = (part.strip() for part in text.rpartition("="))
        if not variable:
            variable, code = code, ""
        if variable in chosen:
            raise InputError(
                Reason.DUPLICATE,
                "Key variables were chosen.",
                f"{quoted([variable])} is chosen twice.",
                "Leave one out.",
            )
        chosen[variable] = code
    return chosen
