"""The commands on what known people and schemes do to tables: sap and compare."""

from __future__ import annotations

from typing import Annotated

import typer

from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.output_options import Draws, Output, Report, say_files
from gamekeeper.cli.release_options import names_of, numbers_of, release_command
from gamekeeper.cli.risk_options import Plot, Seed
from gamekeeper.cli.risk_show import say_all, say_how, show_result
from gamekeeper.cli.show import Format, progress_bar, say, show
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench import tables
from gamekeeper.workbench.tables import ReleaseRequest

__all__ = ["app"]

app = typer.Typer()

_BANDS = {
    "scheme": "scheme",
    "n": "n",
    "mean_sap": "mean",
    "sap_0": "0",
    **{f"sap_{k / 10:.1f}-{(k + 1) / 10:.1f}": f"<{(k + 1) / 10:.1f}" for k in range(10)},
    "sap_1": "1",
}


@release_command(app, "sap")
def sap_command(
    request: ReleaseRequest,
    n: Annotated[
        str,
        typer.Option(
            "--n",
            "-n",
            help="Numbers of people known: 0-24, 1,2,5 or 0-1000:50. By default 0 to 100, or to"
            " everybody.",
            show_default=False,
        ),
    ] = "",
    within: Annotated[
        list[str] | None,
        typer.Option(
            help="An area, or key variables: SAP of the table of each. May be repeated.",
            show_default=False,
        ),
    ] = None,
    anywhere: Annotated[
        bool,
        typer.Option(
            help="With --within: the people known are of the whole population, not of the same area."
        ),
    ] = False,
    at: Annotated[
        int | None,
        typer.Option(
            help="The number of people for which cells are told.", min=0, show_default=False
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="exact, sampling, or auto: exact where it can be done.")
    ] = "auto",
    max_samples: Annotated[
        int | None,
        typer.Option(help="Search so many samples for an exact answer.", min=1, show_default=False),
    ] = None,
    draws: Draws = 10_000,
    seed: Seed = 0,
    output: Output = None,
    plot: Plot = None,
    report: Report = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Say what somebody learns who knows n of the people: SAP, the subtraction attribution probability.

    The true counts are needed: 'tables release --truth' keeps them in the release, or name a file
    with --truth.

    [bold]Examples[/bold]

      gamekeeper tables sap release.json -n 0-20 --plot sap.svg

    Each small area as a table of its own:
      gamekeeper tables sap areas.json --within Area -n 1,2,5,10
    """
    whole = (report is not None, at is not None, method != "auto", max_samples is not None)
    if (within and any(whole)) or (anywhere and not within):
        raise InputError(
            Reason.BAD_OPTION,
            "SAP was asked for.",
            "--report, --at, --method and --max-samples are for the whole table, --anywhere is for"
            " --within.",
            "Leave out the one or the other; a table of areas goes to --output.",
        )
    if within:
        with progress_bar("Subtracting people") as progress:
            areas = tables.subtract_release_within(
                request,
                names_of(within),
                n=numbers_of(n),
                own_people=not anywhere,
                draws=draws,
                seed=seed,
                output=output,
                plot=plot,
                progress=progress,
            )
        if how is not Format.TABLE:
            show(areas, how, extra={"sentences": areas.sentences()})
            return
        say_all(areas.sentences())
        say()
        say("The riskiest:")
        say()
        show_result(areas, table=areas.to_arrow().slice(0, 15))
        say_how(areas)
        say_files(output, plot)
        return
    with progress_bar("Subtracting people") as progress:
        found = tables.subtract_release(
            request,
            n=numbers_of(n),
            at=at,
            method=method,
            max_samples=max_samples,
            draws=draws,
            seed=seed,
            output=output,
            plot=plot,
            report=report,
            progress=progress,
        )
    if how is not Format.TABLE:
        extra: dict[str, object] = {"sentences": found.sentences()}
        if found.detail is not None:
            extra["where"] = found.detail.to_arrow().to_pylist()
        if found.distribution is not None:
            extra["numbers_of_zeros"] = found.distribution.tolist()
        show(found, how, extra=extra)
        return
    say_all(found.sentences())
    say()
    few = found.few()
    is_drawn = found.risk.draws > 0
    show_result(found, table=few.drop_columns(["exact"] if is_drawn else ["lower", "upper"]))
    if found.detail is not None:
        say()
        say(
            "Where zeros are recovered when"
            f" {count_of(found.detail.n, 'person is', 'people are')} known:"
        )
        say()
        show_result(found.detail, table=found.detail.few())
    say_how(found)
    say_files(output, plot, report)


@app.command("compare")
def compare_command(
    schemes: Annotated[
        list[str],
        typer.Argument(
            help="Schemes: conventional:5, random:3, barnardization:0.8, exact.",
            show_default=False,
        ),
    ],
    shape: Annotated[str, typer.Option(help="Shape of the random tables.")] = "2x6",
    mean: Annotated[float, typer.Option(help="Expected count of a cell.", min=0.0)] = 2.0,
    count: Annotated[int, typer.Option("--tables", help="How many tables.", min=1)] = 1_200,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            help="Axes of a published margin, from 1: '1,2' is a table, '1' its rows, '' the total."
            " May be repeated; by default the table and its total.",
            show_default=False,
        ),
    ] = None,
    total: Annotated[bool, typer.Option(help="Publish the total with the table.")] = True,
    n: Annotated[str, typer.Option("--n", "-n", help="Numbers of people known.")] = "0-24",
    seed: Seed = 0,
    output: Output = None,
    plot: Plot = None,
    how: AsFormat = Format.TABLE,
) -> None:
    """Compare perturbation schemes: what random tables under each of them give away.

    [bold]Examples[/bold]

    The experiment of the thesis, and other schemes beside it:
      gamekeeper tables compare conventional:5 random:5 conventional:3 --plot schemes.svg

    With margins:
      gamekeeper tables compare random:3 --shape 3x4 --margin 1,2 --margin 1 --margin 2 --tables 200
    """
    lengths = _lengths(shape)
    with progress_bar("Subtracting people from random tables") as progress:
        found = tables.compare_published(
            schemes,
            shape=lengths,
            mean=mean,
            tables=count,
            total=total,
            margins=_margins(margin, len(lengths)),
            n=numbers_of(n) or range(25),
            seed=seed,
            output=output,
            plot=plot,
            progress=progress,
        )
    if how is not Format.TABLE:
        show(found, how, extra={"sentences": found.sentences()})
        return
    say_all(found.sentences())
    say()
    say("Tables by SAP, for some numbers of people known:")
    say()
    show_result(found, _BANDS, table=found.few())
    say_how(found)
    say_files(output, plot)


def _lengths(shape: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in shape.lower().split("x"))
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Tables of the shape {quoted([shape])} were asked for.",
            "It cannot be read.",
            "Write it as 2x6.",
        ) from None


def _margins(given: list[str] | None, n_axes: int) -> list[tuple[int, ...]] | None:
    if not given:
        return None
    try:
        made = [tuple(int(part) - 1 for part in names_of([text])) for text in given]
    except ValueError:
        made = [(-1,)]
    if any(not 0 <= axis < n_axes for axes in made for axis in axes):
        raise InputError(
            Reason.BAD_OPTION,
            f"The margins {quoted(given)} were to be published.",
            f"The tables have the axes 1 to {n_axes}.",
            "Write a margin as 1,2; the total as ''.",
        )
    return made
