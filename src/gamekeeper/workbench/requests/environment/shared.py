"""What all commands on environments share: which one, as it was when, who asks, which lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.results import Page

AsOf = Annotated[str, Option("As it was on a date (2031-05-01), at a time, or at a revision.")]
"""Which state of a store is looked at."""

_LINES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An environment to look at, as it is or as it was."""

    environment: Annotated[
        Path, Option("File of a store, or folder of an environment.", is_argument=True)
    ]
    as_of: AsOf = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InStore:
    """A store to change or to look back in."""

    store: Annotated[Path, Option("File of a store.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who does it."""

    who: Annotated[
        str | None,
        Option("Who makes the edit; by default $GAMEKEEPER_WHO, or the user of this computer."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Which lines of a list are wanted, and in which order."""

    sort: Annotated[str, Option("Sort by this column.")] = ""
    descending: Annotated[bool, Option("The largest first.", flags="--descending -d")] = False
    page: Annotated[int, Option("Which page.", least=1)] = 1
    per_page: Annotated[
        int | None,
        Option("Lines to a page, 0 for all; by default 40, and all in JSON and CSV.", least=0),
    ] = None

    def chosen(self, *, for_people: bool) -> Page:
        """Return the page asked for; programs get everything unless they say otherwise."""
        from gamekeeper.results import Page

        size = self.per_page
        if size is None:
            size = _LINES if for_people or self.page > 1 else 0
        return Page(self.sort, self.descending, self.page, size or None)
