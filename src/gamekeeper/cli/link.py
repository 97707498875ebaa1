"""The commands of stage two on linkage: re-identify a masked file, or files with nothing in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.cli import commands
from gamekeeper.workbench.requests.records import EvaluateRequest, LinkRequest, StructureRequest

if TYPE_CHECKING:
    from gamekeeper.attack.linkage.columns import LinkVariable

app = commands.command_group(
    "link",
    "Stage two: link records, the attack that works on every masking method.\n\n"
    "Which record of a masked file is which of the original? How sure is that, and how often is it"
    " true? And which records belong together in files that have no variable in common?",
)


@commands.command(app, "files")
def files_command(asked: LinkRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Link the records of two files that share variables.

    [bold]Examples[/bold]

    Two files of people, some of whom are in both; kinds of columns are guessed and told:
      gamekeeper link files voters.csv patients.csv

    A masked file with its whole original, whose rows are numbered in the column row:
      gamekeeper link files masked.csv original.csv --id row --everybody

    Large files, blocked, and a page to read:
      gamekeeper link files a.csv b.csv --block suburb --report links.html
    """
    from gamekeeper.workbench.linkage import link_two_files

    with commands.progress_bar("Linking records") as progress:
        found = link_two_files(asked, progress=progress)
    if how is not commands.Format.TABLE:
        compared = [
            {"variable": one.name, "column": one.column, "kind": str(one.kind)}
            for one in found.variables
        ]
        tables = {
            "weights": found.weights_table(),
            "margins": found.margin_table(),
            "carried": None if found.carried is None else found.carried.to_arrow(),
            "calibration": None if found.calibration is None else found.calibration.to_arrow(),
        }
        parts = {name: table for name, table in tables.items() if table is not None}
        commands.show_for_programs(found, how, variables={"rows": compared}, **parts)
        return
    commands.say_all(found.sentences())
    commands.say("Compared: " + "; ".join(_compared(one) for one in found.variables) + ".")
    surest = found.top(asked.top)
    if surest.num_rows:
        commands.say_part("The surest links:")
        commands.show_result(found, table=surest)
    commands.say_end(asked, found)


@commands.command(app, "evaluate")
def evaluate_command(
    asked: EvaluateRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Compare masked versions of a file: how many records of each are re-identified.

    Without --id, records are in the same order in all files.

    [bold]Examples[/bold]

      gamekeeper link evaluate original.csv noise.csv swapped.csv --id row --plot rates.svg
    """
    from gamekeeper.workbench.linkage import evaluate_files

    with commands.progress_bar("Linking records") as progress:
        found = evaluate_files(asked, progress=progress)
    if how is not commands.Format.TABLE:
        commands.show_for_programs(found, how)
        return
    commands.say_all(found.sentences())
    commands.say()
    commands.show_result(
        found,
        {
            "version": "version",
            "linked_by": "linked by",
            "correct": "correct",
            "rate": "share",
            "lower": "from",
            "upper": "to",
            "median_margin": "median margin",
        },
    )
    commands.say_end(asked, found)


@commands.command(app, "structure")
def structure_command(
    asked: StructureRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Link records of files that have no variable in common, by the structure they share.

    [bold]Examples[/bold]

      gamekeeper link structure year1.csv year2.csv --id company --leave-out
    """
    from gamekeeper.workbench.linkage import link_two_structures

    with commands.progress_bar("Clustering and matching") as progress:
        found = link_two_structures(asked, progress=progress)
    clusterings = found.clusterings_table()
    if how is not commands.Format.TABLE:
        commands.show_for_programs(found, how, clusterings=clusterings)
        return
    commands.say_all(found.sentences())
    commands.say()
    commands.show_result(found, table=clusterings)
    commands.say_end(asked, found)


def _compared(one: LinkVariable) -> str:
    other = f" with {one.column}" if one.column != one.name else ""
    return f"{one.name}{other} as {one.kind}"
