"""The commands of stage two on tables: what released counts give away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.attack.tables.bounds import BoundsMethod
from gamekeeper.cli import tables_sap
from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.microdata import microdata_command
from gamekeeper.cli.output_options import Draws, Output, Report, say_files
from gamekeeper.cli.release_options import groups_of, names_of, release_command
from gamekeeper.cli.risk_options import Plot, Seed, Workers
from gamekeeper.cli.risk_show import say_all, say_how, show_result
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.wording import shape_text
from gamekeeper.workbench import tables
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.tables import ReleaseRequest

__all__ = ["app"]

app = typer.Typer(
    name="tables",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Stage two: attack tables of counts that may be released.\n\n"
    "What can be worked out about the cells from everything that is published together, exact,"
    " rounded, suppressed or perturbed? What can be said of people for certain, and what does"
    " somebody learn who knows some of them? The zeros are what discloses.",
)


@microdata_command(app, "release")
def release_command_(
    request: MicrodataRequest,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the release to this .json.")
    ] = Path("release.json"),
    margin: Annotated[
        list[str] | None,
        typer.Option(
            help="Variables of a published table: Age,Sex. Empty ('') for the total. May be"
            " repeated; by default one table of all keys.",
            show_default=False,
        ),
    ] = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            help="How counts are published: exact, conventional:5, random:3, barnardization:0.8,"
            " suppressed:5. Once for all tables, or once for each.",
            show_default="exact",
        ),
    ] = None,
    truth: Annotated[
        bool,
        typer.Option(
            "--truth",
            help="Keep the true counts in the file, for 'tables sap'. It is then as confidential as"
            " the data: never publish it.",
        ),
    ] = False,
    seed: Seed = 0,
    title: Annotated[str, typer.Option(help="What the release is called.")] = "",
) -> None:
    """Count a file of microdata, and publish tables of it under a scheme.

    [bold]Examples[/bold]

      gamekeeper tables release people.csv --keys Area,Age,Work --scheme conventional:5 -o area.json

    A table, its margins and its total:
      gamekeeper tables release people.csv -k Age,Work --margin Age,Work --margin Age --margin ''
    """
    margins = [names_of([text]) for text in margin or ()]
    with progress_bar("Counting") as progress:
        release, made = tables.publish_tables(
            request,
            margins,
            scheme or ["exact"],
            output,
            with_truth=truth,
            seed=seed,
            title=title,
            progress=progress,
        )
    shape = shape_text(release.shape)
    say(f"Counted {made.total:,} records by {', '.join(release.names)}: {shape} cells.")
    for table in release.published:
        say(f"Published: {table.name} ({table.scheme.text}).")
    say(f"Release: {output}" + (", with the true counts: never publish it." if truth else "."))


@release_command(app, "bounds")
def bounds_command(
    request: ReleaseRequest,
    method: Annotated[
        BoundsMethod,
        typer.Option(
            help="auto: the cheapest that is exact. closed: closed form. shuttle: the generalized"
            " shuttle algorithm with trial tightening. integer: integer programs."
        ),
    ] = BoundsMethod.AUTO,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Bound the table of these axes only, the others summed out.", show_default=False
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Join categories first: 'Age:young=16-17|18-24;old=25+'. May be repeated.",
            show_default=False,
        ),
    ] = None,
    most_programs: Annotated[
        int | None,
        typer.Option(
            help="Stop after so many programs, linear and integer; what is open then is marked as"
            " not tight. By default 20,000.",
            min=1,
            show_default=False,
        ),
    ] = None,
    max_nodes: Annotated[
        int | None,
        typer.Option(help="Lifts the limit of the shuttle.", min=1, show_default=False),
    ] = None,
    top: Annotated[int, typer.Option(help="Show so many of the best known cells.", min=0)] = 20,
    output: Output = None,
    plot: Plot = None,
    report: Report = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Bound every cell by everything that is published, and say whether the bounds are tight.

    [bold]Examples[/bold]

      gamekeeper tables bounds release.json

    A table with totals in the same file, rounded to base 3:
      gamekeeper tables bounds table.csv --scheme conventional:3 --total Total --report bounds.html
    """
    with progress_bar("Bounding cells") as progress:
        _, found = tables.bound_release(
            request,
            method=method,
            keep=names_of(keep) if keep is not None else None,
            groups=groups_of(group),
            most_programs=most_programs,
            max_nodes=max_nodes,
            output=output,
            plot=plot,
            report=report,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences())
    if top:
        say()
        say("The cells that are known best:")
        say()
        show_result(found, table=found.top(top))
    say_how(found)
    say_files(output, plot, report)


@release_command(app, "feasible")
def feasible_command(
    request: ReleaseRequest,
    prior: Annotated[
        str,
        typer.Option(
            help="uniform over tables; poisson with the means of the margins; multinomial: people"
            " fall into all cells alike."
        ),
    ] = "uniform",
    most: Annotated[
        int | None,
        typer.Option(help="Visit so many tables at most to count them.", min=1, show_default=False),
    ] = None,
    listed: Annotated[
        int, typer.Option("--list", help="Print the tables if there are at most so many.", min=0)
    ] = 0,
    draws: Draws = 10_000,
    top: Annotated[int, typer.Option(help="Show so many cells.", min=0)] = 20,
    seed: Seed = 0,
    workers: Workers = None,
    output: Output = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Count the tables that agree with a release, and say how probable each count is.

    [bold]Examples[/bold]

      gamekeeper tables feasible release.json
      gamekeeper tables feasible rounded.csv --scheme random:3 --prior poisson --list 20
    """
    with progress_bar("Searching tables") as progress:
        found = tables.explore_release(
            request,
            most=most,
            listed=listed,
            prior=prior,
            draws=draws,
            seed=seed,
            workers=workers,
            output=output,
            progress=progress,
        )
    if how is not Format.TABLE:
        extra: dict[str, object] = {"sentences": found.sentences()}
        if found.tables is not None:
            extra["tables"] = found.tables.tolist()
        show(found, how, extra=extra)
        return
    say_all(found.sentences())
    if found.cells is not None and top:
        say()
        say("The cells whose count is most probable:")
        say()
        shown = found.top(top)
        show_result(found, table=shown.drop_columns("p_zero_error") if found.cells.exact else shown)
    if found.tables is not None:
        for number, table in enumerate(found.tables, start=1):
            say()
            say(f"Table {number}: {table.tolist()}")
    say_how(found)
    say_files(output)


@release_command(app, "infer")
def infer_command(
    request: ReleaseRequest,
    about: Annotated[
        list[str] | None,
        typer.Option(help="Statements about these axes only.", show_default=False),
    ] = None,
    conditions: Annotated[
        int | None,
        typer.Option(help="Statements with so many conditions at most.", min=0, show_default=False),
    ] = None,
    max_combinations: Annotated[
        int | None,
        typer.Option(
            help="Lifts the limit on combinations of categories.", min=1, show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Print so many statements.", min=0)] = 20,
    output: Output = None,
    report: Report = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Say what anybody can say for certain about people of a kind: everyone is, nobody is.

    [bold]Examples[/bold]

      gamekeeper tables infer release.json --about Work
    """
    with progress_bar("Inferring") as progress:
        found = tables.attribute_release(
            request,
            about=names_of(about),
            max_conditions=conditions,
            max_combinations=max_combinations,
            output=output,
            report=report,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    said = found.sentences(top)
    say(said[0])
    if len(said) > 1:
        say()
    for number, sentence in enumerate(said[1:], start=1):
        say(f"{number:>3}. {sentence}")
    say_how(found)
    say_files(output, report)


app.add_typer(tables_sap.app)
