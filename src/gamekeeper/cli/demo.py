"""The `demo` command: the whole of what there is, on data that the project makes up."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import show_for_programs
from gamekeeper.cli.show import Format, progress_bar, say, warn
from gamekeeper.errors import Cancelled
from gamekeeper.workbench.requests.demo import DemoRequest

app = typer.Typer(rich_markup_mode="rich")


@command(app, "demo")
def demo_command(asked: DemoRequest, how: AsFormat = Format.TABLE) -> None:
    """Run the main job on made-up data and write HTML reports.

    [bold]Examples[/bold]

    Into ./demo-output:
      gamekeeper demo

    Other made-up people, elsewhere:
      gamekeeper demo --seed 7 --output elsewhere
    """
    from gamekeeper.cli.assess import tell_assessment
    from gamekeeper.mapping.analysis.map_sentences import describe_map
    from gamekeeper.workbench.demo.walk import run_demo

    try:
        with progress_bar("Making up a country, mapping, attacking and protecting") as progress:
            told = run_demo(asked, progress=progress)
    except (Cancelled, KeyboardInterrupt):
        if asked.output.is_dir():
            warn(f"What was made so far is left in {asked.output}; the next demo replaces it.")
        raise
    found = told.risk.assessment
    if how is not Format.TABLE:
        show_for_programs(found, how, found.notices, **found.parts())
        return
    say(
        f"May this file be released? {found.measured.keys.n_records:,} records, a sample of"
        f" {told.risk.fraction} of the {told.risk.n_people:,} people of Norland, who are made up."
    )
    say()
    tell_assessment(found)
    say()
    summary = told.check.summary()
    say("How it came about:")
    say()
    say(
        f"1. What others know: {summary['forms']} invented forms with {summary['variables']} variables,"
        f" kept in a store with history. {summary['inconsistent'] or 'No'} of their categorizations are"
        " inconsistent, and are set aside."
    )
    _say_lines([describe_map(told.outcome), *told.story])
    say()
    say(
        f"2. What is kept of it, the scenario {told.scenario.name!r}, and what happens when forms change:"
    )
    _say_lines(told.later)
    say()
    say("3. How good the estimates were. Nobody has the population, except in a demo:")
    _say_lines(told.risk.truth)
    say()
    tables = told.tables
    say(
        f"4. Tables: {tables.axes[0]} by {tables.axes[1]} of the {tables.n_people:,} people of"
        f" {tables.place}, every count rounded to a multiple of 3."
    )
    _say_lines(tables.sentences())
    say()
    say(
        f"5. Linkage: {told.linkage.n_records:,} records of the file, masked in two ways, linked with"
        " the original."
    )
    _say_lines(told.linkage.sentences())
    say()
    say(
        "6. Protection: everybody is to fit at least 3 released records, and every record 3 people."
    )
    _say_lines(told.protection.sentences())
    say()
    say("Three things to open:")
    for what, path in told.open_first.items():
        say(f"- {path}: {what}")


def _say_lines(lines: Sequence[str]) -> None:
    for line in lines:
        say(f"   {line}")
