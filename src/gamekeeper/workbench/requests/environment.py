"""What people ask of an environment as a whole, and what all commands on environments share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.results import Page

__all__ = [
    "AsOf",
    "BackupRequest",
    "BackupsRequest",
    "ExportRequest",
    "HistoryRequest",
    "ImportRequest",
    "InStore",
    "Lines",
    "NewStoreRequest",
    "Opened",
    "Person",
    "RestoreRequest",
    "ShellRequest",
    "TakeBackRequest",
]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStoreRequest:
    """A new, empty store."""

    place: InStore
    name: Annotated[str, Option("Name of the environment.")] = "environment"
    description: Annotated[str, Option("What it is about.")] = ""
    person: Person = field(default_factory=Person)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """A folder that is put into a store."""

    folder: Annotated[Path, Option("Folder of an environment.", is_argument=True)]
    place: InStore
    replace: Annotated[bool, Option("Replace what the store has; can be undone.")] = False
    person: Person = field(default_factory=Person)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """A store that is written to a folder."""

    place: InStore
    folder: Annotated[Path, Option("Folder of an environment.", is_argument=True)]
    as_of: AsOf = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRequest:
    """Edits of a store: of what, by whom, when."""

    place: InStore
    form: Annotated[str, Option("Only edits of this form.")] = ""
    variable: Annotated[str, Option("Only edits of this variable.")] = ""
    group: Annotated[str, Option("Only edits of this group.")] = ""
    by: Annotated[str, Option("Only edits by this person.")] = ""
    since: Annotated[str, Option("From this date, time or revision on.")] = ""
    until: Annotated[str, Option("Up to this date, time or revision.")] = ""
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeBackRequest:
    """An undo or a redo."""

    place: InStore
    anyone: Annotated[bool, Option("Also if somebody else made that edit.")] = False
    person: Person = field(default_factory=Person)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRequest:
    """A backup that is to be kept."""

    place: InStore
    name: Annotated[str, Option("What to call it; by default the revision.")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupsRequest:
    """The backups beside a store."""

    place: InStore
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRequest:
    """A backup that is put in the place of its store."""

    place: InStore
    backup: Annotated[
        str,
        Option(
            "The backup, by its name, or by its full name if several have it; by default the"
            " automatic one.",
            flags="--from",
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellRequest:
    """A Python prompt with an environment."""

    opened: Opened
    command: Annotated[
        str | None, Option("Run this Python code and leave.", flags="--command -c")
    ] = None
