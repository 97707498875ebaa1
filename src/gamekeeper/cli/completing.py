"""Names that exist, offered while a command is typed (see `gamekeeper --install-completion`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from gamekeeper.errors import GamekeeperError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.workbench.environments import opened

__all__ = ["offer_forms", "offer_groups", "offer_scenarios", "offer_variables"]


def offer_forms(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the forms of the environment that was named before."""
    return _offered(ctx, incomplete, lambda environment: environment.forms)


def offer_variables(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the variables of the environment that was named before."""
    return _offered(ctx, incomplete, lambda environment: environment.variables)


def offer_groups(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the groups of the environment that was named before."""
    return _offered(ctx, incomplete, lambda environment: environment.groups)


def offer_scenarios(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the scenarios of the environment that was named before."""
    return _offered(ctx, incomplete, lambda environment: environment.scenarios)


def _offered(
    ctx: typer.Context, incomplete: str, names: Callable[[Environment], Iterable[str]]
) -> list[str]:
    given = [ctx.params.get(name) for name in ("store", "environment", "path")]
    path = next((item for item in given if item), None)
    if path is None:
        return []
    try:
        with opened(Path(str(path))) as place:
            known = list(names(place.environment))
    except (GamekeeperError, OSError):
        # Whoever types wants no error; the command itself will tell.
        return []
    return [name for name in known if name.startswith(incomplete)]
