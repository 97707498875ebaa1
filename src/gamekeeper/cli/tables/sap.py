"""The commands on what known people and schemes do to tables: sap and compare."""

from __future__ import annotations

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import say_end, show_for_programs, show_result
from gamekeeper.cli.show import Format, progress_bar, records_are_withheld, say, say_all
from gamekeeper.wording import count_of
from gamekeeper.workbench.requests.tables import ComparisonRequest, SapRequest

app = typer.Typer()

_BANDS = {
    "scheme": "scheme",
    "n": "n",
    "mean_sap": "mean",
    "sap_0": "0",
    **{f"sap_{k / 10:.1f}-{(k + 1) / 10:.1f}": f"<{(k + 1) / 10:.1f}" for k in range(10)},
    "sap_1": "1",
}
_CHOOSE = "-n chooses which are shown, --output has all"
_MOST_ROWS = 100
_FEW_KNOWN, _FEW_COMPARED = 15, 6


@command(app, "sap")
def sap_command(asked: SapRequest, how: AsFormat = Format.TABLE) -> None:
    """Say what somebody learns who knows n of the people: SAP, the subtraction attribution probability.

    The true counts are needed: 'tables release --truth' keeps them in the release, or name a file
    with --truth.

    [bold]Examples[/bold]

      gamekeeper tables sap release.json -n 0-20 --plot sap.svg

    Each small area as a table of its own:
      gamekeeper tables sap areas.json --within Area -n 1,2,5,10
    """
    if asked.within:
        _within(asked, how)
    else:
        _whole(asked, how)


def _within(asked: SapRequest, how: Format) -> None:
    from gamekeeper.workbench.tables import subtract_release_within

    with progress_bar("Subtracting people") as progress:
        areas = subtract_release_within(asked, progress=progress)
    if how is not Format.TABLE:
        show_for_programs(areas, how)
        return
    say_all(areas.sentences())
    say()
    if not records_are_withheld():
        say("The riskiest:")
        say()
        show_result(areas, table=areas.to_arrow().slice(0, 15))
    say_end(asked, areas)


def _whole(asked: SapRequest, how: Format) -> None:
    from gamekeeper.workbench.tables import subtract_release

    with progress_bar("Subtracting people") as progress:
        found = subtract_release(asked, progress=progress)
    if how is not Format.TABLE:
        zeros = None if found.distribution is None else found.distribution.tolist()
        show_for_programs(found, how, where=found.detail, numbers_of_zeros=zeros)
        return
    say_all(found.sentences())
    say()
    n_rows = len(found.risk.n)
    shown = _shown(n_rows, _FEW_KNOWN, is_asked=asked.options.n is not None)
    if shown < n_rows:
        say(f"{shown} of {n_rows:,} numbers of people; {_CHOOSE}.")
        say()
    few = found.few(shown)
    is_drawn = found.risk.draws > 0
    show_result(found, table=few.drop_columns(["exact"] if is_drawn else ["lower", "upper"]))
    if found.detail is not None and not records_are_withheld():
        say()
        say(
            "Where zeros are recovered when"
            f" {count_of(found.detail.n, 'person is', 'people are')} known:"
        )
        say()
        show_result(found.detail, table=found.detail.few())
    say_end(asked, found)


@command(app, "compare")
def compare_command(asked: ComparisonRequest, how: AsFormat = Format.TABLE) -> None:
    """Compare perturbation schemes: what random tables under each of them give away.

    [bold]Examples[/bold]

    The experiment of the thesis, and other schemes beside it:
      gamekeeper tables compare conventional:5 random:5 conventional:3 --plot schemes.svg

    With margins:
      gamekeeper tables compare random:3 --shape 3x4 --margin 1,2 --margin 1 --margin 2 --tables 200
    """
    from gamekeeper.workbench.tables import compare_published

    with progress_bar("Subtracting people from random tables") as progress:
        found = compare_published(asked, progress=progress)
    if how is not Format.TABLE:
        show_for_programs(found, how)
        return
    say_all(found.sentences())
    say()
    n_rows = len(found.experiments[0].n)
    shown = _shown(n_rows, _FEW_COMPARED, is_asked=asked.options.n is not None)
    some = f"{shown} of {n_rows:,} numbers of people known; {_CHOOSE}"
    say(f"Tables by SAP, for {'each number of people known' if shown == n_rows else some}:")
    say()
    show_result(found, _BANDS, table=found.few(shown))
    say_end(asked, found)


def _shown(n_rows: int, few: int, *, is_asked: bool) -> int:
    """Return how many rows are shown: all that were asked for, within reason, else a few."""
    return n_rows if n_rows <= (_MOST_ROWS if is_asked else few) else few
