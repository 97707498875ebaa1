"""What all commands on environments share: which one, as it was when, who asks, which lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from gamekeeper.options import Option
from gamekeeper.store.place import StorePlace, store_place

if TYPE_CHECKING:
    from gamekeeper.results import Page

AsOf = Annotated[str, Option("As it was on a date (2031-05-01), at a time, or at a revision.")]
"""Which state of a store is looked at."""

EnvironmentAt = Annotated[
    StorePlace,
    Option(
        "File of a store, folder of an environment, or postgresql://... on a server.",
        is_argument=True,
        read=store_place,
    ),
]
"""An environment, wherever it is kept."""

StoreAt = Annotated[
    StorePlace,
    Option("File of a store, or postgresql://... on a server.", is_argument=True, read=store_place),
]
"""A store, wherever it is kept."""

_LINES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An environment to look at, as it is or as it was."""

    environment: EnvironmentAt
    as_of: AsOf = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InStore:
    """A store to change or to look back in."""

    store: StoreAt


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
