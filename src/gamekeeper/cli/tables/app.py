"""The commands of stage two on tables: what released counts give away."""

from __future__ import annotations

from gamekeeper.cli.commands import AsFormat, command, command_group
from gamekeeper.cli.risk_show import say_end, say_notices, show_for_programs, show_result
from gamekeeper.cli.show import Format, progress_bar, records_are_withheld, say, say_all
from gamekeeper.cli.tables import audit, sap
from gamekeeper.cli.tables.audit import exit_of_rules
from gamekeeper.results import EVERYTHING, make_listing
from gamekeeper.wording import shape_text
from gamekeeper.workbench.requests.tables import (
    BoundsRequest,
    FeasibleRequest,
    InferRequest,
    PublishRequest,
    RecordsRequest,
)

app = command_group(
    "tables",
    "Stage two: attack tables of counts that may be released.\n\n"
    "What can be worked out about the cells from everything that is published together, exact,"
    " rounded, suppressed or perturbed? What can be said of people for certain, and what does"
    " somebody learn who knows some of them? The zeros are what discloses.",
)


@command(app, "release")
def release_command(asked: PublishRequest, how: AsFormat = Format.TABLE) -> None:
    """Count a file of microdata, and publish tables of it under a scheme.

    [bold]Examples[/bold]

      gamekeeper tables release people.csv --keys Area,Age,Work --scheme conventional:5 -o area.json

    A table, its margins and its total:
      gamekeeper tables release people.csv -k Age,Work --margin Age,Work --margin Age --margin ''
    """
    from gamekeeper.workbench.tables import publish_tables

    with progress_bar("Counting") as progress:
        answer = publish_tables(asked, progress=progress)
    release, truth = answer.found
    shape = shape_text(release.shape)
    with_truth = ", with the true counts: never publish it." if asked.with_truth else "."
    told = [
        f"Counted {truth.total:,} records by {', '.join(release.names)}: {shape} cells.",
        *(f"Published: {table.name} ({table.scheme.text})." for table in release.published),
        f"Release: {asked.output}{with_truth}",
    ]
    if how is not Format.TABLE:
        rows = [(table.name, table.scheme.text) for table in release.published]
        listing = make_listing("published tables", ("table", "scheme"), rows, EVERYTHING)
        show_for_programs(listing, how, answer.notices, sentences=told)
        return
    say_notices(answer.notices)
    say_all(told)


@command(app, "records")
def records_command(asked: RecordsRequest, how: AsFormat = Format.TABLE) -> None:
    """Write a table of true counts as records, one row per unit, as microdata are attacked.

    The way back is 'tables release'.

    [bold]Examples[/bold]

      gamekeeper tables records counts.csv -o people.csv
    """
    from gamekeeper.workbench.tables import write_units

    table = write_units(asked)
    told = [f"{table.total:,} records of {', '.join(table.names)}: {asked.output}"]
    if how is not Format.TABLE:
        rows = [(axis.name, len(axis)) for axis in table.axes]
        listing = make_listing("columns of records", ("column", "categories"), rows, EVERYTHING)
        show_for_programs(listing, how, sentences=told)
        return
    say_all(told)


@command(app, "bounds")
def bounds_command(asked: BoundsRequest, how: AsFormat = Format.TABLE) -> None:
    """Bound every cell by everything that is published, and say whether the bounds are tight.

    With a rule, exit code 4 says that it is broken or not proven to hold.

    [bold]Examples[/bold]

      gamekeeper tables bounds release.json --rule exact

    A table with totals in the same file, rounded to base 3:
      gamekeeper tables bounds table.csv --scheme conventional:3 --total Total --report bounds.html
    """
    from gamekeeper.workbench.tables import bound_release

    with progress_bar("Bounding cells") as progress:
        found = bound_release(asked, listing=how is not Format.TABLE, progress=progress)
    said = found.sentences(0) if records_are_withheld() else found.sentences()
    with exit_of_rules(is_met=found.is_met):
        if how is not Format.TABLE:
            show_for_programs(found, how, sentences=said)
            return
        say_all(said)
        if asked.top:
            say()
            say("The cells that are known best:")
            say()
            show_result(found, table=found.top(asked.top))
        say_end(asked, found)


@command(app, "feasible")
def feasible_command(asked: FeasibleRequest, how: AsFormat = Format.TABLE) -> None:
    """Count the tables that agree with a release, and say how probable each count is.

    [bold]Examples[/bold]

      gamekeeper tables feasible release.json
      gamekeeper tables feasible rounded.csv --scheme random:3 --prior poisson --list 20
    """
    from gamekeeper.workbench.tables import explore_release

    with progress_bar("Searching tables") as progress:
        found = explore_release(asked, progress=progress)
    if how is not Format.TABLE:
        listed = None if found.tables is None else found.tables.tolist()
        show_for_programs(found, how, tables=listed)
        return
    say_all(found.sentences())
    if found.cells is not None and asked.top:
        say()
        say("The cells whose count is most probable:")
        say()
        shown = found.top(asked.top)
        show_result(found, table=shown.drop_columns("p_zero_error") if found.cells.exact else shown)
    if found.tables is not None:
        for number, table in enumerate(found.tables, start=1):
            say()
            say(f"Table {number}: {table.tolist()}")
    say_end(asked, found)


@command(app, "infer")
def infer_command(asked: InferRequest, how: AsFormat = Format.TABLE) -> None:
    """Say what anybody can say for certain about people of a kind: everyone is, nobody is.

    [bold]Examples[/bold]

      gamekeeper tables infer release.json --about Work
    """
    from gamekeeper.workbench.tables import attribute_release

    with progress_bar("Inferring") as progress:
        found = attribute_release(asked, progress=progress)
    if how is not Format.TABLE:
        few = found.sentences(0) if records_are_withheld() else None
        show_for_programs(found, how, sentences=few)
        return
    said = found.sentences(asked.top)
    say(said[0])
    if len(said) > 1:
        say()
    for number, sentence in enumerate(said[1:], start=1):
        say(f"{number:>3}. {sentence}")
    say_end(asked, found)


app.add_typer(sap.app)
app.add_typer(audit.app)
