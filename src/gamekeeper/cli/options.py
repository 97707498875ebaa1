"""Arguments and options that several commands share, and what they do the same way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.cli.commands import AsFormat
from gamekeeper.cli.show import Format, say, show, warn
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import Consequences, Edit
from gamekeeper.mapping.environment.form import Metadata
from gamekeeper.results import Listing, Page
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench import editing
from gamekeeper.workbench.environments import person

__all__ = [
    "AsFormat",
    "AsOf",
    "Base",
    "Descending",
    "Environment",
    "Note",
    "PageNumber",
    "PerPage",
    "Sort",
    "Store",
    "Unrestricted",
    "Who",
    "Yes",
    "make_edits",
    "metadata_of",
    "page_of",
    "show_edited",
    "show_listing",
]

Store = Annotated[Path, typer.Argument(help="File of a store.", show_default=False)]
Environment = Annotated[
    Path, typer.Argument(help="File of a store, or folder of an environment.", show_default=False)
]
AsOf = Annotated[
    str,
    typer.Option(
        "--as-of",
        help="As it was on a date (2031-05-01), at a time, or at a revision.",
        show_default=False,
    ),
]
Who = Annotated[
    str | None,
    typer.Option(
        "--who",
        envvar="GAMEKEEPER_WHO",
        help="Who makes the edit; by default the user of this computer.",
        show_default=False,
    ),
]
Note = Annotated[str, typer.Option("--note", help="A word for the history.", show_default=False)]
Base = Annotated[
    int | None,
    typer.Option(
        "--base",
        help="The revision that the edit is based on: it is refused if what it touches has"
        " changed since.",
        min=1,
        show_default=False,
    ),
]
Unrestricted = Annotated[
    bool,
    typer.Option(
        "--unrestricted",
        help="For mending mistakes: first shows which forms would break, and does it with --yes.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go ahead with an unrestricted edit.")]
Sort = Annotated[str, typer.Option("--sort", help="Sort by this column.", show_default=False)]
Descending = Annotated[bool, typer.Option("--descending", "-d", help="The largest first.")]
PageNumber = Annotated[int, typer.Option("--page", help="Which page.", min=1)]
PerPage = Annotated[
    int | None,
    typer.Option(
        "--per-page",
        help="Lines to a page, 0 for all; by default 40, and all in JSON and CSV.",
        min=0,
        show_default=False,
    ),
]

_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")

LINES = 40
"""How many lines a page has for people."""


def page_of(sort: str, descending: bool, number: int, size: int | None, how: Format) -> Page:
    """Return the page that was asked for; programs get everything unless they say otherwise."""
    if size is None:
        size = LINES if how is Format.TABLE or number > 1 else 0
    return Page(sort, descending, number, size or None)


def show_listing(listing: Listing, how: Format) -> None:
    """Print a page of a list, and how to see the next."""
    show(listing, how)
    if how is not Format.TABLE:
        return
    say()
    shown = listing.summary()
    if listing.n_pages > 1:
        more = f"; next: --page {listing.number + 1}" if shown["to"] < listing.total else ""
        say(f"{listing.what} {shown['from']:,} to {shown['to']:,} of {listing.total:,}{more}")
    else:
        say(count_of(listing.total, listing.what.removesuffix("s")))


def make_edits(
    store: Path,
    edits: Sequence[Edit],
    *,
    who: str | None,
    note: str,
    base: int | None,
    how: Format,
    unrestricted: bool = False,
    yes: bool = False,
) -> None:
    """Make edits and say what was done; unrestricted ones are shown first."""
    tell = say if how is Format.TABLE else warn
    consequences = editing.weigh(store, edits) if unrestricted else None
    if consequences is not None and not yes:
        show(consequences, how)
        tell(f"This would happen: {_counted(consequences)}.")
        tell("Nothing was changed. Add --yes to go ahead.")
        raise typer.Exit(2)
    edited = editing.edit_store(
        store, edits, who=person(who), note=note, base=base, unrestricted=unrestricted
    )
    show_edited(store, edited, how)
    if consequences is not None:
        tell(f"This happened: {_counted(consequences)}.")


def _counted(consequences: Consequences) -> str:
    """Return the numbers of forms and codes that something happens to."""
    counts = list(consequences.summary().items())[2:]
    happens = [f"{name.replace('_', ' ')}: {number}" for name, number in counts if number]
    return "; ".join(happens) or "nothing breaks"


def show_edited(store: Path, edited: editing.Edited, how: Format) -> None:
    """Say what was acknowledged, or print the line of the history."""
    if how is Format.TABLE:
        for words in edited.words:
            say(f"Revision {edited.revision}: {words}")
    else:
        show(editing.list_history(store, page=Page(size=1)), how)
    for note in edited.notes:
        warn(f"! {note}")


def metadata_of(given: Sequence[str]) -> dict[str, Metadata]:
    """Read KEY=VALUE pairs; numbers, true, false and empty values are taken as such.

    Examples
    --------
    >>> metadata_of(["sector=bank", "year=2030", "online=true"])
    {'sector': 'bank', 'year': 2030, 'online': True}
    """
    read: dict[str, Metadata] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key or key in read:
            raise InputError(
                Reason.BAD_OPTION,
                f"The metadata {quoted([pair])} were given.",
                "That key is given twice." if key in read else "That is not KEY=VALUE.",
                'Write each key once: year=2031, or "Form Type=On-line".',
            )
        read[key] = _value(value.strip())
    return read


def _value(text: str) -> Metadata:
    if text in ("true", "false"):
        return text == "true"
    # 007, 1e5 and 1.10 are names more often than numbers: only what is written as a number is.
    if _NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        return number if str(number) == text else text
    return text or None
