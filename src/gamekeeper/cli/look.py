"""`gamekeeper look`: a first look at a file of microdata."""

from __future__ import annotations

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import say_how, show_for_programs, show_result
from gamekeeper.cli.show import Format, say, say_all, show_table
from gamekeeper.wording import shown_path
from gamekeeper.workbench.requests.looking import LookRequest

app = typer.Typer(rich_markup_mode="rich")


@command(app, "look")
def look_command(asked: LookRequest, how: AsFormat = Format.TABLE) -> None:
    """Look at a file first: columns, levels, missing cells, likely identifiers, possible keys.

    No value of the file is shown, but for codes for missing such as -9, unless --values is given.

    [bold]Examples[/bold]

      gamekeeper look people.csv

    Which columns and values do not fit a scenario yet, and which may be codes of bands:
      gamekeeper look people.sav --scenario "A data broker" --environment norland.gk --unmapped values.csv
    """
    from gamekeeper.workbench.looking import look_at

    found = look_at(asked)
    names = ("column", "value", "records")
    if how is not Format.TABLE:
        rows = [dict(zip(names, row, strict=True)) for row in found.values]
        values = {"rows": rows} if asked.values else None
        show_for_programs(found, how, found.notices, values=values)
        return
    say_all(found.sentences())
    say()
    show_result(found)
    if asked.values:
        say()
        show_table(names, [[column, value, f"{n:,}"] for column, value, n in found.values])
    if asked.unmapped is not None and asked.unmapped.exists():
        say(f"To be filled in for --values: {shown_path(asked.unmapped)}")
    say_how(found)
