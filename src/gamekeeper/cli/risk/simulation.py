"""The command that draws samples from a notional population."""

from __future__ import annotations

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import say_end, say_first, show_for_programs
from gamekeeper.cli.show import Format, progress_bar, say_all
from gamekeeper.workbench.requests.simulation import SimulateRequest

app = typer.Typer()


@command(app, "simulate")
def simulate_command(asked: SimulateRequest, how: AsFormat = Format.TABLE) -> None:
    """Take a file as everybody there is, draw samples from it, and see how measures of risk fare.

    [bold]Examples[/bold]

      gamekeeper risk simulate census.csv --keys Age,Sex,Region --experiment strategies --plot cost.svg

      gamekeeper risk simulate census.csv -k Age,Sex,Region --experiment pilot --stratify-by Region --folder pilot
    """
    from gamekeeper.workbench.simulation import run_simulation

    with progress_bar("Drawing samples") as progress:
        answer = run_simulation(asked, progress=progress)
    found = answer.found
    if how is not Format.TABLE:
        show_for_programs(found, how, answer.notices, what_if=answer.what_if)
        return
    say_first(answer)
    say_all(found.sentences())
    say_end(asked, found)
