"""The `demo` command: the whole of what there is, on data that the project makes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.show import Format, progress_bar, say, show, show_table
from gamekeeper.workbench.requests.demo import DemoRequest

if TYPE_CHECKING:
    from gamekeeper.workbench.demo.risk import RiskDemo
    from gamekeeper.workbench.demo.tables import TablesDemo

app = typer.Typer(rich_markup_mode="rich")


@command(app, "demo")
def demo_command(asked: DemoRequest, how: AsFormat = Format.TABLE) -> None:
    """Run the main job on made-up data and write an HTML report.

    [bold]Examples[/bold]

    Into ./demo-output:
      gamekeeper demo

    Other made-up forms, elsewhere:
      gamekeeper demo --seed 7 --output elsewhere
    """
    from gamekeeper.cli.environment.mapping import describe_map, show_map
    from gamekeeper.mapping.analysis.map_table import map_table
    from gamekeeper.workbench.demo.walk import run_demo

    with progress_bar("Making up a country, mapping and attacking") as progress:
        told = run_demo(asked, progress=progress)
    if how is not Format.TABLE:
        show_map(told.outcome, how)
        return
    say("Gamekeeper demo: could an intruder match this release with data that others hold?")
    say()
    summary = told.check.summary()
    say(
        f"1. The data environment: {summary['forms']} invented forms with {summary['variables']}"
        f" variables, {summary['instances']} questions in all, kept in a store ({told.store})."
    )
    say(
        "   A check finds "
        + (
            f"{summary['inconsistent']} inconsistent categorizations, to be set aside:"
            if told.check.faults
            else "no faults."
        )
    )
    for variable, forms in told.check.faults.items():
        for form, fault in forms.items():
            say(f"   ! {variable} on '{form}' {fault}")
    say()
    say(f"2. {describe_map(told.outcome)}")
    say()
    header, rows = map_table(told.outcome)
    show_table(header, rows)
    for note in told.outcome.notes:
        say(f"   ! {note}")
    say()
    say("3. What that means:")
    for line in told.story:
        say(f"   {line}")
    say()
    say("4. What is kept for later stages, and what happens when the world changes:")
    for line in told.later:
        say(f"   {line}")
    say()
    say("5. Who did what and when (gamekeeper env history; env undo takes the last one back):")
    say()
    show(told.history, Format.TABLE)
    say()
    _show_risk(told.risk)
    say()
    _show_tables(told.tables)
    say()
    say(
        f"10. Stage two, linkage: {told.linkage.n_records:,} records of the file, masked in two ways,"
        f" linked with the original on {', '.join(told.linkage.variables)}."
    )
    for sentence in told.linkage.sentences():
        say(f"    {sentence}")
    say()
    for what, path in told.files.items():
        say(f"{what}: {path}")


def _show_risk(told: RiskDemo) -> None:
    from gamekeeper.cli.risk_show import show_explained

    say(
        f"6. Stage two, the attack: a file of {told.keys.n_records:,} records, a sample of"
        f" {told.fraction} of the {told.n_people:,} people of Norland, under the scenario above."
    )
    for sentence in told.uniques.sentences():
        say(f"   {sentence}")
    say()
    say("   The riskiest records and what sets them apart:")
    say()
    show_explained(told.uniques, 5)
    say()
    say("7. What a match costs, and how good the estimates were. Nobody has the population, except")
    say("   in a demo; so here they can be compared with the truth:")
    for sentence in told.truth:
        say(f"   {sentence}")
    say()
    say("8. The Bayesian intruder, who fits models to the file instead of only counting:")
    for sentence in told.models:
        say(f"   {sentence}")


def _show_tables(told: TablesDemo) -> None:
    say(
        f"9. Stage two, tables: {told.axes[0]} by {told.axes[1]} of the {told.n_people:,} people of"
        f" {told.place}, every count rounded to a multiple of 3."
    )
    for sentence in told.sentences():
        say(f"   {sentence}")
