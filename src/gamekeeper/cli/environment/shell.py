"""The `shell` command: a Python prompt with the open environment."""

from __future__ import annotations

import code
import sys
import traceback
from typing import Any

import typer

import gamekeeper
from gamekeeper.cli.commands import command
from gamekeeper.errors import GamekeeperError
from gamekeeper.workbench.requests.environment.store import ShellRequest

_BANNER = """{environment!r} is open as `environment`{store}.

  environment.forms, environment.variables, environment.groups
  environment.group("...").forms, environment.form("...").metadata
  environment.variable("Age").words(environment.register("Age").meaning("H7.001"))
  gk.map_key_variables(environment, "target").to_frame()
{edits}"""
_EDITS = """  store.apply([gk.edits.AddGroup(name="...", where="Form Type = On-line")], who="...")
  environment = store.environment()    # as it is after edits
"""


app = typer.Typer(rich_markup_mode="rich")


@command(app, "shell")
def shell_command(asked: ShellRequest) -> None:
    """Open a Python prompt with the environment, in IPython where that is installed.

    In the prompt are `environment`, `gk` (the library) and, for a store, `store` to make edits.

    [bold]Examples[/bold]

      gamekeeper shell norland.gk

    Without a prompt:
      gamekeeper shell norland.gk -c "print(environment.groups)"
    """
    from gamekeeper.workbench.environment.opening import is_store, opened, opened_store

    path, as_of = asked.opened.environment, asked.opened.as_of
    if is_store(path) and not as_of:
        with opened_store(path) as store:
            _prompt({"environment": store.environment(), "store": store}, asked.command)
    else:
        with opened(path, as_of=as_of) as place:
            _prompt({"environment": place.environment}, asked.command)


def _prompt(names: dict[str, Any], source: str | None) -> None:
    names = {"gk": gamekeeper, **names}
    banner = _BANNER.format(
        environment=names["environment"],
        store=", its store as `store`" if "store" in names else "",
        edits=_EDITS if "store" in names else "",
    )
    if source is not None or not sys.stdin.isatty():
        _run(source if source is not None else sys.stdin.read(), names)
        return
    try:
        from IPython import start_ipython  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        _complete(names)
        code.interact(banner, local=names, exitmsg="")
    else:
        sys.stdout.write(banner)
        start_ipython(argv=["--no-banner"], user_ns=names)


def _run(source: str, names: dict[str, Any]) -> None:
    """Run code of the user; what goes wrong in it is shown as Python shows it."""
    try:
        exec(compile(source, "<command>", "exec"), names)  # noqa: S102 - what a shell is for
    except GamekeeperError:
        raise
    except Exception as error:  # noqa: BLE001 - not our fault, and not our data
        traceback.print_exception(error)
        raise typer.Exit(1) from None


def _complete(names: dict[str, Any]) -> None:
    """Let the tab key complete names, where the system can."""
    try:
        import readline
        import rlcompleter
    except ModuleNotFoundError:
        return
    readline.set_completer(rlcompleter.Completer(names).complete)
    readline.parse_and_bind("tab: complete")
