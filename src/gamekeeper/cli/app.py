"""The `gamekeeper` command: its sub-commands, and how errors leave it.

Exit codes: 0 fine, 1 our fault, 2 your input, 3 a limit was exceeded, 130 cancelled.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from typing import Annotated

import typer

from gamekeeper.cli import (
    demo,
    env,
    form,
    group,
    link,
    mapping,
    risk,
    scenario,
    shell,
    tables,
    variable,
)
from gamekeeper.cli.show import say, warn
from gamekeeper.errors import Cancelled, GamekeeperError, StoreError
from gamekeeper.results import package_version

__all__ = ["app", "main"]

app = typer.Typer(
    name="gamekeeper",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Statistical disclosure control from the intruder's side.\n\n"
    "Stage one maps key variables: which variables of a planned release could an intruder match"
    " on, at which level of detail, given the forms and data sets out there?\n\n"
    "Stage two attacks a file or tables: which records would an intruder re-identify, with what"
    " probability, at what cost? Which counts and people do released tables give away?\n\n"
    "Start with [bold]gamekeeper demo[/bold].",
)
app.command("map")(mapping.map_command)
app.command("graph")(mapping.graph_command)
app.command("check")(mapping.check_command)
app.command("demo")(demo.demo_command)
for part in (env, form, variable, group, scenario, risk, tables, link):
    app.add_typer(part.app)
app.command("shell")(shell.shell_command)


def _version(asked: bool) -> None:
    if asked:
        say(f"gamekeeper {package_version()}")
        raise typer.Exit


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; print one clear error instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or file that cannot show a letter gets a question mark, not a crash.
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as end:
        if end.code == Cancelled.exit_code:
            warn("gamekeeper: cancelled. What was not said to be written was not written.")
        raise
    except GamekeeperError as error:
        warn(f"gamekeeper: {error.message} [{error.reason.value}]")
        for problem in error.problems:
            warn(f"  - {problem}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (as in `| head`): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            _tell_our_fault(error)
            sys.exit(1)
        warn("gamekeeper: The output could not be written: the system refused. [not-writable]")
        sys.exit(StoreError.exit_code)
    except Exception as error:  # noqa: BLE001 - the last door: nothing of the data may pass it
        _tell_our_fault(error)
        sys.exit(1)


def _tell_our_fault(error: Exception) -> None:
    """Say where we failed, never with what: an exception's text can hold values of a data file."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "gamekeeper" in frame.filename]
    where = f"{ours[-1].name}, line {ours[-1].lineno}" if ours else "unknown place"
    warn(
        f"gamekeeper: this is a fault of ours ({type(error).__name__} in {where},"
        f" version {package_version()}). Please report this line; it holds none of your data."
    )
