"""The commands on scenarios: what was concluded from analyses, for the stages that follow."""

from __future__ import annotations

from gamekeeper.cli.commands import AsFormat, command, command_group, say_written
from gamekeeper.cli.environment.completing import OFFERS
from gamekeeper.cli.environment.edit_commands import record_command
from gamekeeper.cli.environment.printing import show_edited, show_listing
from gamekeeper.cli.show import Format, progress_bar, say, say_all, show, warn
from gamekeeper.workbench.requests.environment.browsing import NamesRequest, ScenarioRequest
from gamekeeper.workbench.requests.environment.mapping import (
    ExportScenarioRequest,
    RenewScenarioRequest,
    ReviewRequest,
    SaveScenarioRequest,
)

app = command_group(
    "scenario",
    "Scenarios: who might match the target, on which key variables, at which detail.\n\n"
    "A scenario is the outcome of an analysis under a name; attacks on data read it.",
)


@command(app, "save", offers=OFFERS)
def save_command(asked: SaveScenarioRequest, how: AsFormat = Format.TABLE) -> None:
    """Make an analysis as `gamekeeper map` does, and save the outcome under a name.

    [bold]Examples[/bold]

      gamekeeper scenario save norland.gk "A bank's clerk" Census -g Banks -p 10% --attacker "Somebody at a bank"

    Only some key variables, one of them coarser than it could be:
      gamekeeper scenario save norland.gk "A neighbour" Census -k Sex -k Age=H7.001
    """
    from gamekeeper.workbench.environment.scenarios import save_scenario

    with progress_bar("Mapping key variables") as progress:
        saved, edited = save_scenario(asked, progress=progress)
    show_edited(asked.place.store, edited, how)
    if how is Format.TABLE:
        for item in saved.keys:
            say(f"  {item.why}")


@command(app, "list")
def list_command(asked: NamesRequest, how: AsFormat = Format.TABLE) -> None:
    """List scenarios, and whether what they rest on has changed since.

    [bold]Examples[/bold]

      gamekeeper scenario list norland.gk
    """
    from gamekeeper.workbench.environment.scenarios import list_scenarios

    show_listing(list_scenarios(asked, for_people=how is Format.TABLE), how)


@command(app, "show", offers=OFFERS)
def show_command(asked: ScenarioRequest, how: AsFormat = Format.TABLE) -> None:
    """Show a scenario: attacker, target, and every key variable with the evidence.

    [bold]Examples[/bold]

      gamekeeper scenario show norland.gk "A bank's clerk"
    """
    from gamekeeper.workbench.environment.scenarios import show_scenario

    keys, lines, whole = show_scenario(asked)
    if how is Format.TABLE:
        say_all(lines)
        say()
    parts = None
    if whole is not None:
        from gamekeeper.mapping.analysis.map_sentences import composite_rows

        held = {"forms": list(whole.forms), "curve": composite_rows(whole.curve)}
        parts = {"whole_key": {"rows": [held]}}
    show(keys, how, sentences=lines, parts=parts)


@command(app, "review", offers=OFFERS)
def review_command(asked: ReviewRequest, how: AsFormat = Format.TABLE) -> None:
    """Say whether the environment has changed since, and what the analysis would give now.

    [bold]Examples[/bold]

      gamekeeper scenario review norland.gk "A bank's clerk"
    """
    from gamekeeper.workbench.environment.scenarios import review

    with progress_bar("Mapping key variables") as progress:
        result = review(asked, progress=progress)
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
        say_all(result.sentences)
        say()
    show(result, how, table=(header, rows), sentences=result.sentences)
    if how is not Format.TABLE and not result.is_current:
        for sentence in result.sentences:
            warn(sentence)


@command(app, "renew", offers=OFFERS)
def renew_command(asked: RenewScenarioRequest, how: AsFormat = Format.TABLE) -> None:
    """Accept what a review says: save the scenario as the same question gives it now.

    [bold]Examples[/bold]

      gamekeeper scenario renew norland.gk "A bank's clerk"
    """
    from gamekeeper.workbench.environment.scenarios import renew

    with progress_bar("Mapping key variables") as progress:
        reviewed, edited = renew(asked, progress=progress)
    # The last says that it is stale, which it is no more.
    for sentence in reviewed.sentences[: -1 if reviewed.is_stale else None]:
        (say if how is Format.TABLE else warn)(sentence)
    show_edited(asked.place.store, edited, how)


@command(app, "export", offers=OFFERS)
def export_command(asked: ExportScenarioRequest) -> None:
    """Write a scenario to a JSON file, with the categories that make up each code.

    [bold]Examples[/bold]

      gamekeeper scenario export norland.gk "A bank's clerk" clerk.json
    """
    from gamekeeper.workbench.environment.scenarios import export_scenario

    if stale := export_scenario(asked):
        say(f"! {stale}")
    say_written(asked)


record_command(
    app,
    "rename",
    "RenameScenario",
    "Rename a scenario.",
    'gamekeeper scenario rename norland.gk "A bank\'s clerk" "Clerk of a bank"',
)
record_command(
    app,
    "remove",
    "RemoveScenario",
    "Remove a scenario.",
    'gamekeeper scenario remove norland.gk "A bank\'s clerk"',
)
