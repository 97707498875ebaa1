"""The commands of stage two on microdata: what an intruder could do with a file."""

from __future__ import annotations

from gamekeeper.cli.commands import command_group
from gamekeeper.cli.risk import counting, models, simulation, uniques

app = command_group(
    "risk",
    "Stage two: attack a file of microdata that may be released.\n\n"
    "Which records would an intruder re-identify, with what probability, at what cost, and which"
    " variables and categories are to blame? Every command reads the file in place, takes key"
    " variables by name ([bold]--keys[/bold]) or from a scenario of stage one"
    " ([bold]--scenario[/bold] with [bold]--environment[/bold]), and prints how missing values"
    " were read.",
)
for part in (counting, uniques, models, simulation):
    app.add_typer(part.app)
