"""The commands on sample uniques: suda and special."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import (
    say_end,
    say_first,
    show_explained,
    show_for_programs,
    show_result,
)
from gamekeeper.cli.show import Format, progress_bar, say, say_all, warn
from gamekeeper.workbench.requests.risk import SpecialRequest, SudaRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.attack.uniques.suda import UniquesRisk

app = typer.Typer()


@command(app, "suda")
def suda_command(asked: SudaRequest, how: AsFormat = Format.TABLE) -> None:
    """Find special uniques: every combination of variables that sets a record apart.

    Prints a summary, the riskiest records with the reasons in words, and what each variable
    contributes. With a sampling fraction (or weights) it estimates what a unique match is worth
    (DIS), and spreads it over the records by two published methods that are kept apart, DIS-SUDA
    and DIS-IS: they say which records to look at first, not how many would be matched rightly.

    [bold]Examples[/bold]

      gamekeeper risk suda people.csv --keys Age,Sex,Region,Occupation --fraction 2% --report risk.html

    Why is record 17 unique?
      gamekeeper risk suda people.csv -k Age,Sex,Region,Occupation --explain 17 --top 0
    """
    from gamekeeper.workbench.risk import find_uniques

    with progress_bar("Searching for uniques") as progress:
        answer = find_uniques(asked, tell=warn, progress=progress)
    found = answer.found
    has_reasons = asked.search.listing and bool(found.file["sample_uniques"])
    explained = {str(record): found.explain(record) for record in asked.explain}
    if how is not Format.TABLE:
        show_for_programs(
            found,
            how,
            answer.notices,
            what_if=answer.what_if,
            file=found.file,
            variables=found.variables,
            categories=found.categories,
            sizes=found.sizes,
            why=_why(found, asked.identifier) if has_reasons else None,
            explanations=explained or None,
        )
        return
    say_first(answer)
    say_all(found.sentences())
    if asked.top and has_reasons:
        say()
        say("The riskiest records and what sets them apart:")
        say()
        show_explained(found, asked.top, _identifier(found, asked.identifier))
    say()
    say("What each variable contributes:")
    say()
    show_result(found.variables)
    for record, lines in explained.items():
        say()
        say(f"Record {record}:")
        for line in lines:
            say(f"  {line}")
    say_end(asked, found)


def _identifier(found: UniquesRisk, asked: str) -> str:
    """Return the column of the user's own names of records, which is beside their numbers."""
    return found.records.table.column_names[1] if asked else ""


def _why(found: UniquesRisk, asked: str) -> pa.Table:
    """Return why the riskiest records are unique, with the user's own names of them."""
    told = found.explanations().to_arrow()
    if not asked:
        return told
    name = _identifier(found, asked)
    import numpy as np

    table = found.records.table
    # Not by their numbers: an engine elsewhere may have kept the others.
    places = np.searchsorted(table["record"].to_numpy(), told["record"].to_numpy())
    return told.add_column(1, name, table[name].take(places))


@command(app, "special")
def special_command(asked: SpecialRequest, how: AsFormat = Format.TABLE) -> None:
    """Tell special from random uniques: which stay unique with fewer variables or less detail?

    Coarser categories are those of the scenario's partition graphs, so this needs a scenario for
    the part on detail.

    [bold]Examples[/bold]

      gamekeeper risk special people.csv --scenario "A data broker" --environment norland.gk
    """
    from gamekeeper.workbench.risk import find_special

    with progress_bar("Looking for special uniques") as progress:
        answer = find_special(asked, progress=progress)
    found = answer.found
    if how is not Format.TABLE:
        show_for_programs(
            found, how, answer.notices, what_if=answer.what_if, properties=found.properties
        )
        return
    say_first(answer)
    say_all(found.file_sentences())
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
    say_end(asked, found)
