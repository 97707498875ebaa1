"""Commands that make an edit: each has options of its own, and all take the same besides.

Most edits are a record and nothing else. Their options come from its fields, when somebody asks
for them: records take longer to import than a list of commands takes to print.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import typer

from gamekeeper.cli.commands import AsFormat, add_later, typed
from gamekeeper.cli.environment.completing import OFFERS
from gamekeeper.cli.environment.printing import make_edits
from gamekeeper.cli.show import Format
from gamekeeper.options import Field, build, options_of
from gamekeeper.workbench.requests.environment.editing import Freedom, Signature
from gamekeeper.workbench.requests.environment.shared import InStore

if TYPE_CHECKING:
    from gamekeeper.mapping.edits import Edit
    from gamekeeper.mapping.edits.kinds.record import Record

_Work = Callable[..., Any]
_Values = Mapping[str, Any]

_HOW = inspect.Parameter(
    "how", inspect.Parameter.KEYWORD_ONLY, default=Format.TABLE, annotation=AsFormat
)


def edit_command(
    app: typer.Typer, name: str, request: type, *, can_break: bool = False
) -> Callable[[_Work], _Work]:
    """Make a command of a function from a request to an edit, or to a list of them.

    `can_break` offers the unrestricted editor.
    """

    def register(work: _Work) -> _Work:
        def ask(values: _Values) -> list[Edit]:
            made = work(build(request, values))
            return made if isinstance(made, list) else [made]

        def make() -> _Work:
            return _editing(work, ask, options_of(request), can_break=can_break)

        add_later(app, name, work.__doc__, make)
        return work

    return register


def record_command(
    app: typer.Typer, name: str, record: str, words: str, *examples: str, can_break: bool = False
) -> None:
    """Make a command of the record of that name in `gamekeeper.mapping.edits`.

    `words` say what it does; each of the `examples` is a line, or what it is about and a line.
    """

    def make() -> _Work:
        from gamekeeper.mapping import edits

        kind = getattr(edits, record)

        def ask(values: _Values) -> list[Edit]:
            own = {name: value for name, value in values.items() if name in kind.model_fields}
            return [edits.edit_of(kind, own)]

        return _editing(ask, ask, (*options_of(InStore), *_fields(kind)), can_break=can_break)

    shown = (f"  {each}" if each.startswith("gamekeeper") else each for each in examples)
    add_later(app, name, "\n\n".join((words, "[bold]Examples[/bold]", *shown)), make)


def _editing(
    work: _Work, ask: Callable[[_Values], list[Edit]], own: tuple[Field, ...], *, can_break: bool
) -> _Work:
    """Return a function for typer, in place of `work`, that makes the edits that are asked for."""

    def run(values: _Values, how: Format) -> None:
        freedom = build(Freedom, values)
        make_edits(values["store"], ask(values), build(Signature, values), freedom, how)

    shared = (*options_of(Signature), *(options_of(Freedom) if can_break else ()))
    return typed(work, run, (*own, *shared), [_HOW], OFFERS)


def _fields(record: type[Record]) -> list[Field]:
    """Return what is asked for at the prompt to fill a record; what must be given comes first."""
    from gamekeeper.mapping.edits.kinds.record import options_of_record

    found: list[Field] = []
    for name, option in options_of_record(record).items():
        item = record.model_fields[name]
        kinds = [kind for kind in _alternatives(item.annotation) if kind is not types.NoneType]
        default = MISSING if item.is_required() else item.default
        found.append(Field(name, kinds[0], default, option, default is None))
    return sorted(found, key=lambda item: not item.is_required)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types that a field may have, without what pydantic knows of them besides."""
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(_bare(kind) for kind in get_args(hint))
    return (_bare(hint),)


def _bare(hint: Any) -> Any:
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(kind) is not dict:
        return kind
    of, to = get_args(kind)
    return Mapping[of, to]
