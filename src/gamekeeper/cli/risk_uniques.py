"""The commands on sample uniques: suda and special."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.algorithms.uniques.minimal_uniques import MAX_MSUS, MAX_SECONDS
from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.microdata import microdata_command
from gamekeeper.cli.risk_options import MaxSize, Population, Seed, Workers
from gamekeeper.cli.risk_show import (
    say_all,
    say_how,
    show_explained,
    show_result,
)
from gamekeeper.cli.show import Format, progress_bar, say, show, warn
from gamekeeper.errors import InputError, Reason
from gamekeeper.workbench import risk
from gamekeeper.workbench.risk import UniquesRequest
from gamekeeper.workbench.sampled import SampledRequest

__all__ = ["app"]

app = typer.Typer()


@microdata_command(app, "suda")
def suda_command(
    request: SampledRequest,
    max_size: MaxSize = None,
    rank_by: Annotated[
        str,
        typer.Option(help="What ranks records: dis_is, dis_suda, dis_is_suda, is, suda or pol."),
    ] = "dis_is",
    classes: Annotated[
        str,
        typer.Option(
            help="Risk classes by their lower thresholds on what ranks: 'high=0.2,medium=0.05'.",
            show_default=False,
        ),
    ] = "",
    power: Annotated[
        int, typer.Option(help="The power of ten of the SUDA score; DIS-SUDA depends on it.", min=0)
    ] = 6,
    top: Annotated[int, typer.Option(help="Show so many of the riskiest records.", min=0)] = 10,
    explain: Annotated[
        list[int] | None,
        typer.Option(
            "--explain",
            help="Say why this record is unique (its number in the file, from 1). May be repeated.",
            show_default=False,
        ),
    ] = None,
    listing: Annotated[
        bool,
        typer.Option(
            "--listing/--no-listing",
            help="Keep every minimal sample unique, or only count them (less memory, no"
            " explanations).",
        ),
    ] = True,
    max_msus: Annotated[
        int,
        typer.Option(
            help="Refuse to list more minimal sample uniques than this; 0 for no limit.", min=0
        ),
    ] = MAX_MSUS,
    max_seconds: Annotated[
        float,
        typer.Option(
            help="Refuse a search that is estimated to take longer; 0 for no limit.", min=0
        ),
    ] = MAX_SECONDS,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Write the risk of every record to this .csv or .parquet.", show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML report to this file.", show_default=False)
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            help="A file with everybody in it: the report then has what a match would cost.",
            show_default=False,
        ),
    ] = None,
    report_records: Annotated[
        bool,
        typer.Option(
            "--report-records/--no-report-records",
            help="Whether the report describes single records and categories.",
        ),
    ] = True,
    workers: Workers = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Find special uniques: every combination of variables that sets a record apart.

    Prints a summary, the riskiest records with the reasons in words, and what each variable
    contributes. With a sampling fraction (or weights) it estimates probabilities of a correct
    match, by two published methods that are kept apart: DIS-SUDA and DIS-IS.

    [bold]Examples[/bold]

      gamekeeper risk suda people.csv --keys Age,Sex,Region,Occupation --fraction 2% --report risk.html

    Why is record 17 unique?
      gamekeeper risk suda people.csv -k Age,Sex,Region,Occupation --explain 17 --top 0
    """
    if explain and not listing:
        raise InputError(
            Reason.BAD_OPTION,
            "Records were to be explained.",
            "Without the list of minimal sample uniques there is nothing to explain by.",
            "Leave out --no-listing.",
        )
    asked = UniquesRequest(
        max_size,
        power,
        classes,
        rank_by,
        listing,
        max_msus or None,
        max_seconds or None,
        workers,
    )
    with progress_bar("Searching for uniques") as progress:
        found = risk.find_uniques(
            request,
            asked,
            population=population,
            records=records,
            report=report,
            with_records=report_records,
            tell=warn,
            progress=progress,
        )
    explained = {str(record): found.explain(record) for record in explain or ()}
    if how is not Format.TABLE:
        more = {"explanations": explained} if explained else {}
        show(found, how, extra={"sentences": found.sentences(), **more})
        return
    say_all(found.sentences())
    if top and listing and found.file["sample_uniques"]:
        say()
        say("The riskiest records and what sets them apart:")
        say()
        show_explained(found, top)
    say()
    say("What each variable contributes:")
    say()
    show_result(found.variables)
    for record, lines in explained.items():
        say()
        say(f"Record {record}:")
        for line in lines:
            say(f"  {line}")
    say_how(found)
    for name, path in (("Risk of every record", records), ("Report", report)):
        if path is not None:
            say(f"{name}: {path}")


@microdata_command(app, "special")
def special_command(
    request: SampledRequest,
    special_size: Annotated[
        int | None,
        typer.Option(
            help="Call a unique special if so many variables set it apart; by default any number"
            " below that of the key variables, as the paper defines it.",
            min=1,
            show_default=False,
        ),
    ] = None,
    population: Population = None,
    rounds: Annotated[
        int, typer.Option(help="How often to thin the file at each fraction.", min=0)
    ] = 20,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Write every sample unique and its kind to this .csv or .parquet.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    how: AsFormat = Format.TABLE,
) -> None:
    """Tell special from random uniques: which stay unique with fewer variables or less detail?

    Coarser categories are those of the scenario's partition graphs, so this needs a scenario for
    the part on detail.

    [bold]Examples[/bold]

      gamekeeper risk special people.csv --scenario "A data broker" --environment norland.gk
    """
    with progress_bar("Looking for special uniques") as progress:
        found = risk.find_special(
            request,
            special_size=special_size,
            population=population,
            rounds=rounds,
            seed=seed,
            records=records,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences()[:1])
    say()
    show_result(
        found.properties,
        {
            "property": "property",
            "test": "how it was tried",
            "special_share": "of special uniques",
            "random_share": "of random uniques",
        },
    )
    say_how(found)
    if records is not None:
        say(f"Every sample unique: {records}")
