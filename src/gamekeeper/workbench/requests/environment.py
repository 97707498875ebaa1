"""What people ask of an environment: what all such commands share, what to see of it, its store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
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
    group: Annotated[str, Option("Only the forms of this group.", flags="--group -g")] = ""
    variables: Annotated[
        tuple[str, ...], Option("A variable; by default all.", flags="--variable -v")
    ] = ()
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRequest:
    """Variables, groups or scenarios, by a part of their names."""

    opened: Opened
    matching: Annotated[str, Option("Part of the name.", flags="--matching -m")] = ""
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
    folder: Annotated[
        Path, Option("Folder of an environment.", is_argument=True, writes="environment")
    ]
    as_of: AsOf = ""
    replace: Annotated[
        bool, Option("Replace the environment that the folder has; its other files go.")
    ] = False


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
    merged: Annotated[
        bool,
        Option("Also what was done in environments that were merged into this one, before that."),
    ] = False
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRequest:
    """Two environments, or two dates of one."""

    environment: EnvironmentAt
    other: Annotated[
        StorePlace | None,
        Option(
            "The other; by default the same, as it was at another date.",
            is_argument=True,
            read=store_place,
        ),
    ] = None
    since: Annotated[str, Option("The first as it was on a date, at a time, or at a revision.")] = (
        ""
    )
    until: Annotated[
        str, Option("The second as it was on a date, at a time, or at a revision.")
    ] = ""


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
    decisions: Annotated[
        Mapping[str, str],
        Option(
            "What to do about a conflict, KIND:NAME=ours, =theirs, or =ANOTHER NAME for theirs.",
            flags="--decide -d",
            read=_decisions,
        ),
    ] = field(default_factory=dict[str, str])
    dry_run: Annotated[bool, Option("Only say what would be done.")] = False
    person: Person = field(default_factory=Person)
