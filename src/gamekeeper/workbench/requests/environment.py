"""What people ask of an environment: what all such commands share, what to see of it, its store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option, option
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    from gamekeeper.results import Page

AsOf = Annotated[str, Option("As it was on a date (2031-05-01), at a time, or at a revision.")]

EnvironmentAt = Annotated[
    StorePlace,
    Option(
        "File of a store, folder of an environment, or postgresql://... on a server.",
        is_argument=True,
        read=store_place,
    ),
]

StoreAt = Annotated[
    StorePlace,
    Option("File of a store, or postgresql://... on a server.", is_argument=True, read=store_place),
]


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

    who: str | None = option(
        None, "Who makes the edit; by default $GAMEKEEPER_WHO, or the user of this computer."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Which lines of a list are wanted, and in which order."""

    sort: str = option("", "Sort by this column.")
    descending: bool = option(False, "The largest first.", flags="--descending -d")
    page: int = option(1, "Which page.", least=1)
    per_page: int | None = option(
        None, "Lines to a page, 0 for all; by default 40, and all in JSON and CSV.", least=0
    )

    def chosen(self, *, for_people: bool) -> Page:
        """Return the page asked for; programs get everything unless they say otherwise."""
        from gamekeeper.results import Page

        size = self.per_page
        if size is None:
            size = 40 if for_people or self.page > 1 else 0
        return Page(self.sort, self.descending, self.page, size or None)


_Where = Annotated[
    str, Option("A query: sector = bank and year >= 2029 and has Age.", flags="--where -w")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsRequest:
    """Forms that a query finds."""

    opened: Opened
    where: _Where = ""
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRequest:
    """Forms by variables."""

    opened: Opened
    where: _Where = ""
    group: str = option("", "Only the forms of this group.", flags="--group -g")
    variables: tuple[str, ...] = option((), "A variable; by default all.", flags="--variable -v")
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRequest:
    """Variables, groups or scenarios, by a part of their names."""

    opened: Opened
    matching: str = option("", "Part of the name.", flags="--matching -m")
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRequest:
    """One form."""

    opened: Opened
    form: Annotated[str, Option("The form.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableRequest:
    """One variable."""

    opened: Opened
    variable: Annotated[str, Option("The variable.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRequest:
    """The forms of one group."""

    opened: Opened
    group: Annotated[str, Option("The group.", is_argument=True)]
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRequest:
    """One scenario."""

    opened: Opened
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStoreRequest:
    """A new, empty store."""

    place: InStore
    name: str = option("environment", "Name of the environment.")
    description: str = option("", "What it is about.")
    person: Person = field(default_factory=Person)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """A folder that is put into a store."""

    folder: Annotated[Path, Option("Folder of an environment.", is_argument=True)]
    place: InStore
    replace: bool = option(False, "Replace what the store has; can be undone.")
    person: Person = field(default_factory=Person)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """A store that is written to a folder."""

    place: InStore
    folder: Annotated[
        Path, Option("Folder of an environment.", is_argument=True, writes="environment")
    ]
    as_of: AsOf = ""
    replace: bool = option(
        False, "Replace the environment that the folder has; its other files go."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRequest:
    """Edits of a store: of what, by whom, when."""

    place: InStore
    form: str = option("", "Only edits of this form.")
    variable: str = option("", "Only edits of this variable.")
    group: str = option("", "Only edits of this group.")
    by: str = option("", "Only edits by this person.")
    since: str = option("", "From this date, time or revision on.")
    until: str = option("", "Up to this date, time or revision.")
    merged: bool = option(
        False, "Also what was done in environments that were merged into this one, before that."
    )
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeBackRequest:
    """An undo or a redo."""

    place: InStore
    anyone: bool = option(False, "Also if somebody else made that edit.")
    person: Person = field(default_factory=Person)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRequest:
    """A backup that is to be kept."""

    place: InStore
    name: str = option("", "What to call it; by default the revision.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupsRequest:
    """The backups beside a store."""

    place: InStore
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRequest:
    """A store that is copied as a whole."""

    place: InStore
    target: Annotated[
        StorePlace,
        Option(
            "The new store: a file, or postgresql://... on a server.",
            is_argument=True,
            read=store_place,
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRequest:
    """A backup that is put in the place of its store."""

    place: InStore
    backup: str = option(
        "",
        "The backup, by its name, or by its full name if several have it; by default the automatic"
        " one.",
        flags="--from",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellRequest:
    """A Python prompt with an environment."""

    opened: Opened
    command: str | None = option(None, "Run this Python code and leave.", flags="--command -c")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRequest:
    """Two environments, or two dates of one."""

    environment: EnvironmentAt
    other: StorePlace | None = option(
        None,
        "The other; by default the same, as it was at another date.",
        is_argument=True,
        read=store_place,
    )
    since: str = option("", "The first as it was on a date, at a time, or at a revision.")
    until: str = option("", "The second as it was on a date, at a time, or at a revision.")


def _decisions(typed: Sequence[str]) -> dict[str, str]:
    read: dict[str, str] = {}
    for text in typed:
        what, equals, decided = text.rpartition("=")
        kind, colon, name = what.partition(":")
        key = f"{kind.strip()}:{name.strip()}"
        is_whole = equals and colon and decided.strip() and kind.strip() and name.strip()
        if not is_whole or key in read:
            raise InputError(
                Reason.BAD_OPTION,
                f"The decision {quoted([text])} was given.",
                "It is given twice." if key in read else "That is not KIND:NAME=DECISION.",
                "Write form:Bank=ours, form:Bank=theirs, or form:Bank=Bank of the north.",
            )
        read[key] = decided.strip()
    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRequest:
    """Another environment to be merged into a store."""

    place: InStore
    other: Annotated[
        StorePlace,
        Option(
            "File of the other store, folder of an environment, or postgresql://... on a server.",
            is_argument=True,
            read=store_place,
        ),
    ]
    decisions: Mapping[str, str] = option(
        {},
        "What to do about a conflict, KIND:NAME=ours, =theirs, or =ANOTHER NAME for theirs.",
        flags="--decide -d",
        read=_decisions,
    )
    dry_run: bool = option(False, "Only say what would be done.")
    person: Person = field(default_factory=Person)
