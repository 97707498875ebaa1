"""The commands of stage two on microdata: what an intruder could do with a file.

Counting, DIS and matching are here; the other commands are in modules of their own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.attack.uniques.dis_result import DisMethod
from gamekeeper.cli import risk_models, risk_simulation, risk_uniques
from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.microdata import microdata_command
from gamekeeper.cli.risk_options import Plot, Population, Seed
from gamekeeper.cli.risk_show import (
    say_all,
    say_file,
    say_how,
    show_matching,
    show_result,
    show_sizes,
)
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.wording import count_of
from gamekeeper.workbench import risk
from gamekeeper.workbench.sampled import SampledRequest

__all__ = ["app"]

app = typer.Typer(
    name="risk",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Stage two: attack a file of microdata that may be released.\n\n"
    "Which records would an intruder re-identify, with what probability, at what cost, and which"
    " variables and categories are to blame? Every command reads the file in place, takes key"
    " variables by name ([bold]--keys[/bold]) or from a scenario of stage one"
    " ([bold]--scenario[/bold] with [bold]--environment[/bold]), and prints how missing values"
    " were read.",
)

_KS = (2, 3, 5, 10)


@microdata_command(app, "keys")
def keys_command(
    request: SampledRequest,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            help="A sensitive variable: count its values within classes.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the classes to this .csv or .parquet.", show_default=False
        ),
    ] = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Count the keys of a file: how many records share theirs with how many others.

    [bold]Examples[/bold]

      gamekeeper risk keys people.csv --keys Age,Sex,Region

    With the key variables of a scenario, at its level of detail:
      gamekeeper risk keys people.sav --scenario "A data broker" --environment norland.gk
    """
    request = replace(request, sensitive=tuple(sensitive or ()))
    with progress_bar("Counting keys") as progress:
        data, table = risk.count_release(request, output=output, progress=progress)
    if how is not Format.TABLE:
        show(table, how, extra={"sentences": table.sentences()})
        return
    say_file(data)
    say_all(table.sentences())
    say()
    show_sizes(table)
    say()
    for k in _KS:
        violating = table.k_violations(k)
        say(f"{count_of(violating, 'record')} in classes of fewer than {k} ({k}-anonymity).")
    say_how(table)
    if output is not None:
        say(f"Classes: {output}")


@microdata_command(app, "dis")
def dis_command(
    request: SampledRequest,
    method: Annotated[
        DisMethod,
        typer.Option(help="general: from counts, exact. special: by simulation."),
    ] = DisMethod.GENERAL,
    original: Annotated[
        Path | None,
        typer.Option(
            help="The same records before they were perturbed, in the same order: the intruder"
            " has these (special method).",
            show_default=False,
        ),
    ] = None,
    removed: Annotated[int, typer.Option(help="Records that a round removes together.", min=1)] = 1,
    rounds: Annotated[int, typer.Option(help="At most so many rounds.", min=1)] = 200_000,
    tolerance: Annotated[float, typer.Option(help="Stop at this standard error.", min=0.0)] = 0.005,
    seed: Seed = 0,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Estimate what a unique match is worth: data intrusion simulation (DIS).

    [bold]Examples[/bold]

      gamekeeper risk dis people.csv --keys Age,Sex,Region --fraction 2%

    Does a perturbation help? Attack the release with the originals:
      gamekeeper risk dis swapped.csv -k Age,Sex,Region -f 2% --method special --original people.csv
    """
    with progress_bar("Simulating an intruder") as progress:
        found = risk.simulate_intrusion(
            request,
            method=DisMethod.SPECIAL if original is not None else method,
            original=original,
            removed=removed,
            rounds=rounds,
            tolerance=tolerance,
            seed=seed,
            plot=plot,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences())
    say()
    show_result(
        found, {"measure": "measure", "value": "value", "exact": "exact", "meaning": "meaning"}
    )
    say_how(found)
    if plot is not None:
        say(f"Plot: {plot}")


@microdata_command(app, "match")
def match_command(
    request: SampledRequest,
    population: Population = None,
    r: Annotated[
        list[int] | None,
        typer.Option(
            "--r",
            help="Sample class size of strategies 6 and 7; may be repeated. By default 2 and 3.",
            min=1,
        ),
    ] = None,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Compare ways to find a match: how likely each is right, and what the search costs.

    The population is given as a file, or estimated from weights or the sampling fraction.

    [bold]Examples[/bold]

      gamekeeper risk match sample.csv --keys Age,Sex,Region --population everybody.parquet

      gamekeeper risk match sample.csv --keys Age,Sex,Region --weight w --plot cost.svg
    """
    with progress_bar("Matching") as progress:
        found = risk.match_release(
            request, population=population, r=tuple(r or (2, 3)), plot=plot, progress=progress
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    show_matching(found)
    say_how(found)
    if plot is not None:
        say(f"Plot: {plot}")


for part in (risk_uniques, risk_models, risk_simulation):
    app.add_typer(part.app)
