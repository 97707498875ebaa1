"""The command that draws samples from a notional population."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.microdata import microdata_command
from gamekeeper.cli.risk_options import MaxSize, Plot, Seed, Workers
from gamekeeper.cli.risk_show import (
    say_all,
    say_how,
)
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.workbench import simulation
from gamekeeper.workbench.sampled import SampledRequest
from gamekeeper.workbench.simulation import ExperimentKind, SimulationRequest

__all__ = ["app"]

app = typer.Typer()


@microdata_command(app, "simulate", is_sample=False)
def simulate_command(
    request: SampledRequest,
    experiment: Annotated[
        ExperimentKind,
        typer.Option(
            help="strategies: probability against cost of seven strategies. fractions: measures"
            " against the sampling fraction. pilot: do scores follow the true chance of a match?"
            " measures: any set of measures.",
        ),
    ] = ExperimentKind.FRACTIONS,
    fraction: Annotated[
        list[str] | None,
        typer.Option(
            "--fraction", "-f", help="Sampling fraction; may be repeated.", show_default=False
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Samples at each fraction.", min=1, show_default=False)
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", help="For measures: its name; may be repeated.", show_default=False
        ),
    ] = None,
    stratify_by: Annotated[
        list[str] | None,
        typer.Option(help="Columns of strata, the outermost first.", show_default=False),
    ] = None,
    r: Annotated[
        int | None,
        typer.Option(
            "--r", help="Sample class size of strategies 6 and 7.", min=1, show_default=False
        ),
    ] = None,
    max_size: MaxSize = None,
    with_models: Annotated[
        bool,
        typer.Option(
            "--with-models",
            help="For fractions: compare attacks by annealed models as well; takes longer. `risk"
            " compare` has attacks by every measure.",
        ),
    ] = False,
    seed: Seed = 0,
    workers: Workers = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Keep finished samples here (numbers only); the same command resumes.",
            show_default=False,
        ),
    ] = None,
    plot: Plot = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write every number to this .csv or .parquet.",
            show_default=False,
        ),
    ] = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Take a file as everybody there is, draw samples from it, and see how measures of risk fare.

    [bold]Examples[/bold]

      gamekeeper risk simulate census.csv --keys Age,Sex,Region --experiment strategies --plot cost.svg

      gamekeeper risk simulate census.csv -k Age,Sex,Region --experiment pilot --stratify-by Region --folder pilot
    """
    asked = SimulationRequest(
        experiment,
        tuple(fraction or ()),
        samples,
        tuple(measure or ()),
        tuple(stratify_by or ()),
        r,
        max_size,
        with_models,
        seed,
        workers,
        folder,
    )
    with progress_bar("Drawing samples") as progress:
        found = simulation.run_simulation(
            request, asked, plot=plot, output=output, progress=progress
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences())
    say_how(found)
    for name, path in (("Plot", plot), ("Every number", output)):
        if path is not None:
            say(f"{name}: {path}")
