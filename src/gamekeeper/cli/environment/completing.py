"""Names that exist, offered while a command is typed (see `gamekeeper --install-completion`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from gamekeeper.store.place import store_place
from gamekeeper.workbench.environment.names import names_in


def _offer(kind: str) -> Callable[[typer.Context, str], list[str]]:
    """Return what offers the forms, variables, groups or scenarios of the environment named."""

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        given = [ctx.params.get(name) for name in ("store", "environment", "path")]
        path = next((item for item in given if item), None)
        if path is None:
            return []
        from gamekeeper.errors import GamekeeperError

        try:
            known = names_in(store_place(str(path)), kind)
        except (GamekeeperError, OSError):
            # Whoever types wants no error; the command itself will tell.
            return []
        return [name for name in known if name.startswith(incomplete)]

    return offered


OFFERS: dict[str, Callable[..., Any]] = {
    "form": _offer("forms"),
    "forms": _offer("forms"),
    "group": _offer("groups"),
    "groups": _offer("groups"),
    "like": _offer("forms"),
    "scenario": _offer("scenarios"),
    "target": _offer("forms"),
    "variable": _offer("variables"),
}
"""What the tab key offers, by the name of an option or argument."""
