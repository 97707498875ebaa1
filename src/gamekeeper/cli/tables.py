"""Commands on tables: what released counts give away, what others hid, what is to be hidden."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli import commands
from gamekeeper.errors import NOT_MET_CODE
from gamekeeper.results import EVERYTHING, make_listing
from gamekeeper.wording import count_of, shape_text
from gamekeeper.workbench.requests import tables

if TYPE_CHECKING:
    from gamekeeper.attack.tables.audit_result import TableAudit

app = commands.command_group(
    "tables",
    "Stage two: attack tables of counts that may be released.\n\n"
    "What can be worked out about the cells from everything that is published together, exact,"
    " rounded, suppressed or perturbed? What can be said of people for certain, and what does"
    " somebody learn who knows some of them? The zeros are what discloses.",
)


@commands.command(app, "release")
def release_command(
    asked: tables.PublishRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Count a file of microdata, and publish tables of it under a scheme.

    [bold]Examples[/bold]

      gamekeeper tables release people.csv --keys Area,Age,Work --scheme conventional:5 -o area.json

    A table, its margins and its total:
      gamekeeper tables release people.csv -k Age,Work --margin Age,Work --margin Age --margin ''
    """
    from gamekeeper.workbench.tables import publish_tables

    with commands.progress_bar("Counting") as progress:
        answer = publish_tables(asked, progress=progress)
    release, truth = answer.found
    shape = shape_text(release.shape)
    with_truth = ", with the true counts: never publish it." if asked.with_truth else "."
    told = [
        f"Counted {truth.total:,} records by {', '.join(release.names)}: {shape} cells.",
        *(f"Published: {table.name} ({table.scheme.text})." for table in release.published),
        f"Release: {asked.output}{with_truth}",
    ]
    if how is not commands.Format.TABLE:
        rows = [(table.name, table.scheme.text) for table in release.published]
        listing = make_listing("published tables", ("table", "scheme"), rows, EVERYTHING)
        commands.show_for_programs(listing, how, answer.notices, sentences=told)
        return
    commands.say_notices(answer.notices)
    commands.say_all(told)


@commands.command(app, "records")
def records_command(
    asked: tables.RecordsRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Write a table of true counts as records, one row per unit, as microdata are attacked.

    The way back is 'tables release'.

    [bold]Examples[/bold]

      gamekeeper tables records counts.csv -o people.csv
    """
    from gamekeeper.workbench.tables import write_units

    table = write_units(asked)
    told = [f"{table.total:,} records of {', '.join(table.names)}: {asked.output}"]
    if how is not commands.Format.TABLE:
        rows = [(axis.name, len(axis)) for axis in table.axes]
        listing = make_listing("columns of records", ("column", "categories"), rows, EVERYTHING)
        commands.show_for_programs(listing, how, sentences=told)
        return
    commands.say_all(told)


@commands.command(app, "bounds")
def bounds_command(
    asked: tables.BoundsRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Bound every cell by everything that is published, and say whether the bounds are tight.

    With a rule, exit code 4 says that it is broken or not proven to hold.

    [bold]Examples[/bold]

      gamekeeper tables bounds release.json --rule exact

    A table with totals in the same file, rounded to base 3:
      gamekeeper tables bounds table.csv --scheme conventional:3 --total Total --report bounds.html

    With subtotals, all of them rounded:
      gamekeeper tables bounds table.csv --scheme conventional:3 --hierarchy Activity=activity.hrc
    """
    from gamekeeper.workbench.tables import bound_release

    with commands.progress_bar("Bounding cells") as progress:
        answer = bound_release(
            asked, listing=how is not commands.Format.TABLE, progress=progress, tell=commands.warn
        )
    found = answer.found
    said = found.sentences(0) if commands.records_are_withheld() else found.sentences()
    with exit_of_rules(is_met=found.is_met):
        if how is not commands.Format.TABLE:
            commands.show_for_programs(found, how, answer.notices, sentences=said)
            return
        commands.say_notices(answer.notices)
        commands.say_all(said)
        if asked.top:
            commands.say_part("The cells that are known best:")
            commands.show_result(found, table=found.top(asked.top))
        commands.say_end(asked, found)


@commands.command(app, "feasible")
def feasible_command(
    asked: tables.FeasibleRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Count the tables that agree with a release, and say how probable each count is.

    [bold]Examples[/bold]

      gamekeeper tables feasible release.json
      gamekeeper tables feasible rounded.csv --scheme random:3 --prior poisson --list 20
    """
    from gamekeeper.workbench.tables import explore_release

    with commands.progress_bar("Searching tables") as progress:
        found = explore_release(asked, progress=progress)
    if how is not commands.Format.TABLE:
        listed = None if found.tables is None else found.tables.tolist()
        commands.show_for_programs(found, how, tables=listed)
        return
    commands.say_all(found.sentences())
    if found.cells is not None and asked.top:
        commands.say_part("The cells whose count is most probable:")
        shown = found.top(asked.top)
        commands.show_result(
            found, table=shown.drop_columns("p_zero_error") if found.cells.exact else shown
        )
    if found.tables is not None:
        for number, table in enumerate(found.tables, start=1):
            commands.say()
            commands.say(f"Table {number}: {table.tolist()}")
    commands.say_end(asked, found)


@commands.command(app, "infer")
def infer_command(
    asked: tables.InferRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Say what anybody can say for certain about people of a kind: everyone is, nobody is.

    [bold]Examples[/bold]

      gamekeeper tables infer release.json --about Work
    """
    from gamekeeper.workbench.tables import attribute_release

    with commands.progress_bar("Inferring") as progress:
        found = attribute_release(asked, progress=progress)
    if how is not commands.Format.TABLE:
        few = found.sentences(0) if commands.records_are_withheld() else None
        commands.show_for_programs(found, how, sentences=few)
        return
    said = found.sentences(asked.top)
    commands.say(said[0])
    if len(said) > 1:
        commands.say()
    for number, sentence in enumerate(said[1:], start=1):
        commands.say(f"{number:>3}. {sentence}")
    commands.say_end(asked, found)


_BANDS = {
    "scheme": "scheme",
    "n": "n",
    "mean_sap": "mean",
    "sap_0": "0",
    **{f"sap_{k / 10:.1f}-{(k + 1) / 10:.1f}": f"<{(k + 1) / 10:.1f}" for k in range(10)},
    "sap_1": "1",
}
_CHOOSE = "-n chooses which are shown, --output has all"
_FEW_KNOWN, _FEW_COMPARED = 15, 6


@commands.command(app, "sap")
def sap_command(asked: tables.SapRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
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


def _within(asked: tables.SapRequest, how: commands.Format) -> None:
    from gamekeeper.workbench.tables import subtract_release_within

    with commands.progress_bar("Subtracting people") as progress:
        areas = subtract_release_within(asked, progress=progress)
    if how is not commands.Format.TABLE:
        commands.show_for_programs(areas, how)
        return
    commands.say_all(areas.sentences())
    commands.say()
    if not commands.records_are_withheld():
        commands.say("The riskiest:")
        commands.say()
        commands.show_result(areas, table=areas.to_arrow().slice(0, 15))
    commands.say_end(asked, areas)


def _whole(asked: tables.SapRequest, how: commands.Format) -> None:
    from gamekeeper.workbench.tables import subtract_release

    with commands.progress_bar("Subtracting people") as progress:
        found = subtract_release(asked, progress=progress)
    if how is not commands.Format.TABLE:
        zeros = None if found.distribution is None else found.distribution.tolist()
        commands.show_for_programs(found, how, where=found.detail, numbers_of_zeros=zeros)
        return
    commands.say_all(found.sentences())
    commands.say()
    n_rows = len(found.risk.n)
    shown = _shown(n_rows, _FEW_KNOWN, is_asked=asked.options.n is not None)
    if shown < n_rows:
        commands.say(f"{shown} of {n_rows:,} numbers of people; {_CHOOSE}.")
        commands.say()
    few = found.few(shown)
    is_drawn = found.risk.draws > 0
    commands.show_result(
        found, table=few.drop_columns(["exact"] if is_drawn else ["lower", "upper"])
    )
    if found.detail is not None and not commands.records_are_withheld():
        commands.say()
        commands.say(
            "Where zeros are recovered when"
            f" {count_of(found.detail.n, 'person is', 'people are')} known:"
        )
        commands.say()
        commands.show_result(found.detail, table=found.detail.few())
    commands.say_end(asked, found)


@commands.command(app, "compare")
def compare_command(
    asked: tables.ComparisonRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Compare perturbation schemes: what random tables under each of them give away.

    [bold]Examples[/bold]

    The experiment of the thesis, and other schemes beside it:
      gamekeeper tables compare conventional:5 random:5 conventional:3 --plot schemes.svg

    With margins:
      gamekeeper tables compare random:3 --shape 3x4 --margin 1,2 --margin 1 --margin 2 --tables 200
    """
    from gamekeeper.workbench.tables import compare_published

    with commands.progress_bar("Subtracting people from random tables") as progress:
        found = compare_published(asked, progress=progress)
    if how is not commands.Format.TABLE:
        commands.show_for_programs(found, how)
        return
    commands.say_all(found.sentences())
    commands.say()
    n_rows = len(found.experiments[0].n)
    shown = _shown(n_rows, _FEW_COMPARED, is_asked=asked.options.n is not None)
    some = f"{shown} of {n_rows:,} numbers of people known; {_CHOOSE}"
    commands.say(
        f"Tables by SAP, for {'each number of people known' if shown == n_rows else some}:"
    )
    commands.say()
    commands.show_result(found, _BANDS, table=found.few(shown))
    commands.say_end(asked, found)


def _shown(n_rows: int, few: int, *, is_asked: bool) -> int:
    """Return how many rows are shown: all that were asked for, within reason, else a few."""
    return n_rows if n_rows <= (100 if is_asked else few) else few


@commands.command(app, "audit")
def audit_command(
    asked: tables.AuditRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Audit anybody's suppression: which hidden cells can be recomputed, and from which figures.

    Takes what tau-ARGUS, sdcTable, GaussSuppression, ACRO or a spreadsheet published, several tables
    of one base together, with subtotals on any axis. A cell that is given away comes with the equation
    that does it. With a rule, exit code 4 says that it is broken or not proven to hold. Ctrl-C keeps
    what is proven so far.

    [bold]Examples[/bold]

      gamekeeper tables audit counts.csv --rule exact

    Turnover by activity and size, hidden where a status says so, activities as in a hierarchy:
      gamekeeper tables audit table.csv --value TOT --count N_OBS --largest MAX --status Status
        --hierarchy ACTIVITY=activity.hrc --rule p:10
    """
    from gamekeeper.workbench.tables import audit_published

    with commands.progress_bar("Auditing") as progress:
        answer = audit_published(asked, progress=progress, tell=commands.warn)
    found = answer.found
    with exit_of_rules(is_met=found.is_met):
        if how is not commands.Format.TABLE:
            few = found.sentences(0) if commands.records_are_withheld() else None
            commands.show_for_programs(found, how, answer.notices, sentences=few)
            return
        commands.say_notices(answer.notices)
        said = found.sentences(0 if commands.records_are_withheld() else asked.top)
        known = found.told(0 if commands.records_are_withheld() else asked.top)
        commands.say_all(said[: len(said) - known])
        if known:
            commands.say()
            rests = "" if found.if_disjoint is None else ", if no label is the sum of others"
            commands.say(f"Given away{rests}:")
            for number, sentence in enumerate(said[len(said) - known :], start=1):
                commands.say(f"{number:>3}. {sentence}")
        if asked.top and not commands.records_are_withheld():
            _show_open(found, asked.top)
        commands.say_end(asked, found)


@contextmanager
def exit_of_rules(*, is_met: bool) -> Generator[None]:
    """Exit as the rules stand, once all is printed; a reader that has gone makes no rule met."""
    with suppress(*(() if is_met else (BrokenPipeError, SystemExit))):
        yield
    if not is_met:
        raise typer.Exit(NOT_MET_CODE)


@commands.command(app, "mark")
def mark_command(asked: tables.MarkRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Add up a file of records with all subtotals, and mark the cells that are unsafe to publish.

    Rules look at the contributions to each cell, by holdings and with weights: a minimum number,
    dominance, p%, prior and posterior knowledge, requests.

    [bold]Examples[/bold]

      gamekeeper tables mark firms.csv --axes Activity,Size --value Turnover --holding Group
        --hierarchy Activity=activity.hrc --rule p:10 --rule minimum:3 -o marked.csv
    """
    from gamekeeper.workbench.tables import mark_records

    found = mark_records(asked)
    if how is not commands.Format.TABLE:
        commands.show_for_programs(found, how)
        return
    commands.say_all(found.sentences())
    if asked.top and found.n_unsafe and not commands.records_are_withheld():
        commands.say_part("Unsafe cells:")
        commands.show_result(found, table=found.top(asked.top))
    commands.say_end(asked, found)


def _show_open(found: TableAudit, most: int) -> None:
    rows = found.top(most)
    if rows.num_rows:
        commands.say_part(f"The {found.noun}s that are known best:")
        told = ("why", "hidden_in", "tight", "known_to")
        names = [name for name in rows.column_names if name not in told]
        shown = [n for n in names if any(cell not in (None, "") for cell in rows[n].to_pylist())]
        commands.show_result(found, {name: name.replace("_", " ") for name in shown}, table=rows)
