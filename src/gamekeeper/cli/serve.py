"""The `serve` command: the workbench in the browser."""

from __future__ import annotations

from contextlib import suppress

import typer

from gamekeeper.cli.commands import command
from gamekeeper.cli.show import say
from gamekeeper.errors import InputError, Reason
from gamekeeper.workbench.requests.serving import ServeRequest

app = typer.Typer(rich_markup_mode="rich")


@command(app, "serve")
def serve_command(asked: ServeRequest) -> None:
    """Open the workbench in the browser, on this machine, until it is stopped with Ctrl-C.

    It says in one line where it is; that address signs you in, once. Everything that pages do,
    commands do as well, with the same results. Nothing is sent elsewhere.

    [bold]Examples[/bold]

    A store, and a folder with files that may be assessed:
      gamekeeper serve norland.gk --allow data

    For a team, behind a proxy with https, after accounts were added:
      gamekeeper account add norland.gk ana --role administrator
      gamekeeper serve norland.gk --origin https://forms.example
    """
    try:
        from gamekeeper.web.serving import serve
    except ModuleNotFoundError as error:
        raise needs_web("The workbench was to be opened in the browser.", error) from error
    # To stop it is how it ends, and no fault.
    with suppress(KeyboardInterrupt):
        serve(asked, say=say)
    say("Stopped.")


def needs_web(asked: str, error: ModuleNotFoundError) -> InputError:
    """Return the error that what the browser needs is not installed."""
    if (error.name or "").startswith("gamekeeper"):
        raise error
    return InputError(
        Reason.MISSING_PACKAGE,
        asked,
        "What it needs is not installed.",
        "Install 'gamekeeper[web]'.",
    )
