"""Commands that make an edit: each says which, and all take the same options besides.

A command is a function of the store and its own arguments that returns an edit. `edit_command`
adds who makes it, a note, the base, the format and, where earlier categorizations may be lost,
the unrestricted editor; then it makes the edit and says what was done.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from gamekeeper.cli.options import AsFormat, Base, Note, Unrestricted, Who, Yes, make_edits
from gamekeeper.cli.show import Format
from gamekeeper.mapping.edits import Edit

__all__ = ["edit_command"]

_Asking = Callable[..., Edit]


def edit_command(
    app: typer.Typer, name: str, *, can_break: bool = False
) -> Callable[[_Asking], _Asking]:
    """Make a command of a function that returns an edit; `can_break` offers --unrestricted."""
    options: list[tuple[str, Any, Any]] = [
        ("who", Who, None),
        ("note", Note, ""),
        ("base", Base, None),
    ]
    if can_break:
        options += [("unrestricted", Unrestricted, False), ("yes", Yes, False)]
    options.append(("how", AsFormat, Format.TABLE))

    def register(ask: _Asking) -> _Asking:
        own = inspect.signature(ask, eval_str=True)
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, kind, default in options
        ]

        @wraps(ask)
        def command(**given: Any) -> None:
            chosen = {name: given.pop(name) for name, _, _ in options}
            make_edits(given["store"], [ask(**given)], **chosen)

        parameters = [*own.parameters.values(), *shared]
        command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        command.__annotations__ = {item.name: item.annotation for item in parameters}
        app.command(name)(command)
        return ask

    return register
