"""Commands that open a release: all of them take the same options for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from gamekeeper.data.tables.count_file import HIDDEN_MARKS
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import quoted
from gamekeeper.workbench.tables import ReleaseRequest

__all__ = ["groups_of", "names_of", "numbers_of", "release_command"]

_PANEL = "How the tables are written"
_MOST_NUMBERS = 1_000_000

_Files = Annotated[
    list[Path],
    typer.Argument(
        help="A release (.json), or text files (CSV) with one row per cell. A cell with the label of"
        " totals belongs to a margin.",
        show_default=False,
    ),
]
_Scheme = Annotated[
    str,
    typer.Option(
        help="How counts of text files were published: exact, conventional:5, conventional:4:up,"
        " random:3, barnardization:0.8, suppressed:5, interval.",
        rich_help_panel=_PANEL,
    ),
]
_Count = Annotated[
    str,
    typer.Option(
        help="The column of counts, if it is not called n or count.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
_Total = Annotated[
    list[str] | None,
    typer.Option(
        help="The category that stands for a total. May be repeated.",
        rich_help_panel=_PANEL,
        show_default="Total",
    ),
]
_Disjoint = Annotated[
    list[str] | None,
    typer.Option(
        help="Axes in which nobody is counted under two labels, although some look like sums of"
        " others: Code,Area. May be repeated.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
_Hidden = Annotated[
    list[str] | None,
    typer.Option(
        help="What stands for a hidden count, besides an empty cell, *, x, c and '..'. May be"
        " repeated.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
_Absent = Annotated[
    str,
    typer.Option(
        help="What a cell without a row means: error, zero or hidden.", rich_help_panel=_PANEL
    ),
]
_Truth = Annotated[
    Path | None,
    typer.Option(
        help="Text file with the true counts, where the release does not hold them.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "files": (_Files, inspect.Parameter.empty),
    "scheme": (_Scheme, "exact"),
    "count": (_Count, ""),
    "total": (_Total, None),
    "hidden": (_Hidden, None),
    "absent": (_Absent, "error"),
    "disjoint": (_Disjoint, None),
    "truth": (_Truth, None),
}


def release_command(
    app: typer.Typer, name: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function of a `ReleaseRequest` and options of its own."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def command(**given: Any) -> None:
            hidden = given.pop("hidden") or ()
            request = ReleaseRequest(
                files=tuple(given.pop("files")),
                hidden=(*HIDDEN_MARKS, *hidden),
                total=tuple(given.pop("total") or ("Total",)),
                disjoint=names_of(given.pop("disjoint")),
                **{option: given.pop(option) for option in ("scheme", "count", "absent", "truth")},
            )
            function(request, **given)

        shared = [
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for option, (annotation, default) in _OPTIONS.items()
        ]
        own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        command.__signature__ = inspect.Signature(  # pyright: ignore[reportAttributeAccessIssue]
            [shared[0], *own, *shared[1:]]
        )
        command.__annotations__ = {
            parameter.name: parameter.annotation for parameter in (*shared, *own)
        }
        app.command(name)(command)
        return function

    return decorate


def numbers_of(text: str) -> list[int] | None:
    """Return numbers of people from a text such as '0-24', '1,2,5' or '0-1000:50'.

    Examples
    --------
    >>> numbers_of("0-3,10"), numbers_of("0-20:10")
    ([0, 1, 2, 3, 10], [0, 10, 20])
    """
    if not text.strip():
        return None
    made: set[int] = set()
    try:
        for part in text.split(","):
            ends, _, step = part.strip().partition(":")
            first, _, last = ends.partition("-")
            wanted = range(int(first), int(last or first) + 1, int(step or 1))
            if len(wanted) > _MOST_NUMBERS:
                raise LimitError(
                    Reason.TOO_LARGE,
                    f"Numbers of people were given as {quoted([text])}.",
                    f"They are {len(wanted):,}; the limit is {_MOST_NUMBERS:,}.",
                    "Take steps, as in 0-1000000:1000.",
                )
            made |= set(wanted)
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Numbers of people were given as {quoted([text])}.",
            "They cannot be read.",
            "Write them as 0-24, as 1,2,5, or as 0-1000:50 for every fiftieth.",
        ) from None
    return sorted(made)


def names_of(given: list[str] | None) -> tuple[str, ...]:
    """Return names from options that may be repeated and may have several names each."""
    return tuple(name.strip() for text in given or () for name in text.split(",") if name.strip())


def groups_of(given: list[str] | None) -> dict[str, dict[str, list[str]]]:
    """Return groups of categories from texts such as 'Age:young=16-17|18-24;old=25+'.

    Examples
    --------
    >>> groups_of(["Age:young=16-17|18-24;old=25+"])
    {'Age': {'young': ['16-17', '18-24'], 'old': ['25+']}}
    """
    made: dict[str, dict[str, list[str]]] = {}
    for text in given or ():
        axis, found, rest = text.partition(":")
        parts = [part.partition("=") for part in rest.split(";") if part.strip()]
        if not found or not parts or any(not equals for _, equals, _ in parts):
            raise InputError(
                Reason.BAD_OPTION,
                f"Groups of categories were given as {quoted([text])}.",
                "They cannot be read.",
                "Write them as AXIS:LABEL=CATEGORY|CATEGORY;LABEL=CATEGORY.",
            )
        made[axis.strip()] = {
            label.strip(): [name.strip() for name in names.split("|")] for label, _, names in parts
        }
    return made
