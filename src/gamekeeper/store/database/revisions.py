"""The history of a store: who did what and when, and new states written to it.

Every revision has its edits in words and what changed in documents. The first one is the beginning
of the store; all others can be taken back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select, update

from gamekeeper.errors import InputError, Problem, Reason, StoreError, refuse
from gamekeeper.mapping.edits import EDIT, Edit, describe_edit
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import name_problems
from gamekeeper.store.database import engines as tables
from gamekeeper.store.database.changes import Change, differences, packed, unpacked, write
from gamekeeper.store.database.codes import Renames, Step
from gamekeeper.store.database.engines import batches
from gamekeeper.store.database.loading import State, digest_of, renew_seals, text_of
from gamekeeper.store.database.words import Contradiction
from gamekeeper.wording import count_of, joined, quoted, unfit_character

# What the checksum of a revision is made of; the changes have one of their own.
_SEALED = ("number", "at", "who", "action", "of", "unrestricted", "note", "edits")
_NO_TOUCHES = digest_of([])
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
Touched = frozenset[tuple[str, str]]


class Action(StrEnum):
    """How a revision came about."""

    EDIT = "edit"
    UNDO = "undo"
    REDO = "redo"
    IMPORT = "import"


@dataclass(frozen=True)
class Revision:
    """One acknowledged change of a store.

    Attributes
    ----------
    number
        1 for the beginning of the store, then 2, 3, ...
    at
        When it was made, in UTC.
    of
        For an undo or redo the revision that was undone or redone.
    unrestricted
        Whether earlier categorizations were allowed to be lost.
    note, words
        What the person wrote about it, and what was done, in sentences.
    edits
        The edits, none for a beginning, an import, an undo or a redo.
    touched
        What it names to write it, as pairs of a kind and a name.
    notes
        What is worth a second look, such as new names near to others; only when it is made.
    key
        What the save was called by whoever sent it, if anything.
    """

    number: int
    at: datetime
    who: str
    action: Action
    of: int | None = None
    unrestricted: bool = False
    note: str = ""
    edits: tuple[Edit, ...] = ()
    words: tuple[str, ...] = ()
    touched: Touched = field(default_factory=frozenset[tuple[str, str]])
    notes: tuple[str, ...] = ()
    key: str = ""


def add_revision(connection: Connection, made: Revision, changes: Iterable[Change]) -> None:
    """Write a revision to the history."""
    edits = [EDIT.dump_python(edit, mode="json", by_alias=True) for edit in made.edits]
    touches = {(kind, tables.digest(name)): name for kind, name in made.touched}
    row = {
        "number": made.number, "at": _text(made.at), "who": made.who, "action": made.action.value,
        "of": made.of, "unrestricted": made.unrestricted, "note": made.note,
        "edits": text_of(edits),
    }  # fmt: skip
    seals = {
        "seal": digest_of(list(row.values())),
        "touches_seal": digest_of(sorted((*key, name) for key, name in touches.items())),
    }
    connection.execute(
        tables.revision.insert(),
        {**row, "changes": packed(changes), **seals, "key": made.key or None},
    )
    rows = [
        {"revision": made.number, "kind": kind, "folded": folded, "name": name}
        for (kind, folded), name in touches.items()
    ]
    if rows:
        connection.execute(tables.touch.insert(), rows)


def revisions(
    connection: Connection,
    *,
    numbers: Collection[int] | None = None,
    since: datetime | int | None = None,
    until: datetime | int | None = None,
    who: str | None = None,
    touching: str | tuple[str, str] | None = None,
    most: int | None = None,
) -> tuple[Revision, ...]:
    """Return revisions, newest first."""
    columns = tables.revision.c
    wanted = select(*(column for column in columns if column.name != "changes"))
    if numbers is not None:
        wanted = wanted.where(columns.number.in_(numbers))
    if since is not None:
        column, least = _place(since, "The history since a moment was asked for.")
        wanted = wanted.where(column >= least)
    if until is not None:
        column, last = _place(until, "The history until a moment was asked for.")
        wanted = wanted.where(column <= last)
    if who is not None:
        wanted = wanted.where(columns.who == who)
    if touching is not None:
        touch = tables.touch.c
        kind, name = (None, touching) if isinstance(touching, str) else touching
        found = select(touch.revision).where(touch.folded == tables.digest(name))
        if kind is not None:
            found = found.where(touch.kind == kind)
        wanted = wanted.where(columns.number.in_(found))
    rows = connection.execute(wanted.order_by(columns.number.desc()).limit(most)).all()
    wants_all = numbers is None and since is until is who is touching is most is None
    if wants_all and len(rows) != _newest(connection):
        raise Contradiction
    roots = _edits_of(connection, {row.of for row in rows if row.of is not None})
    touched, touches_seals = _touched(connection, [row.number for row in rows])
    made: list[Revision] = []
    for row in rows:
        _require_sealed(row)
        if touches_seals.get(row.number, _NO_TOUCHES) != row.touches_seal:
            raise Contradiction
        edits = _edits(row.edits)
        names = touched.get(row.number, frozenset())
        words = _words(row.number, row.action, row.of, roots.get(row.of, edits), names)
        made.append(
            Revision(
                row.number, _time(row.at), row.who, Action(row.action), row.of, row.unrestricted,
                row.note, edits, words, names,
            )
        )  # fmt: skip
    return tuple(made)


def revision_of_key(connection: Connection, key: str) -> int | None:
    """Return the revision that was saved under a key."""
    columns = tables.revision.c
    return connection.execute(
        select(columns.number).where(columns.key == key).order_by(columns.number)
    ).scalar()


def steps_after(connection: Connection, number: int, until: int | None = None) -> list[Step]:
    """Return the revisions after one, up to one, newest first, as steps to take back."""
    columns = tables.revision.c
    wanted = select(tables.revision).where(columns.number > number)
    if until is not None:
        wanted = wanted.where(columns.number <= until)
    rows = connection.execute(wanted.order_by(columns.number.desc())).all()
    newest = _newest(connection)
    last = newest if until is None else min(until, newest)
    if [row.number for row in rows] != list(range(last, number, -1)):
        raise Contradiction
    roots = _edits_of(connection, {row.of for row in rows if row.of is not None})
    steps: list[Step] = []
    for row in rows:
        _require_sealed(row)
        renames = Renames.of(roots[row.of] if row.of is not None else _edits(row.edits))
        if row.action == Action.UNDO:
            renames = renames.inverted()
        steps.append(Step(row.number, unpacked(row.changes), renames))
    return steps


def changes_since(connection: Connection, number: int) -> list[Change]:
    """Return all changes of the revisions after one, oldest first."""
    columns = tables.revision.c
    rows = connection.execute(
        select(columns.changes).where(columns.number > number).order_by(columns.number)
    )
    return [change for (data,) in rows for change in unpacked(data)]


def last_content_revision(connection: Connection, moment: datetime | int | None) -> int:
    """Return the newest revision, up to a moment, that touched anything but scenarios.

    The first one counts, whatever it touched.
    """
    columns = tables.touch.c
    newest = select(func.max(columns.revision)).where(columns.kind != "scenario")
    if moment is not None:
        newest = newest.where(columns.revision <= revision_at(connection, moment))
    return connection.execute(newest).scalar() or 1


def last_time(connection: Connection) -> datetime | None:
    """Return when the newest revision was made."""
    columns = tables.revision.c
    text = connection.execute(
        select(columns.at).order_by(columns.number.desc()).limit(1)
    ).scalar_one_or_none()
    return None if text is None else _time(text)


def revision_at(connection: Connection, moment: datetime | int) -> int:
    """Return the revision that was the newest at a moment; a number stands for itself.

    The store must have existed then, and the moment must have a time zone.
    """
    asked = "The environment as it was at a moment was asked for."
    columns = tables.revision.c
    (first, begin), (last, _) = (
        connection.execute(select(columns.number, columns.at).order_by(order).limit(1)).one()
        for order in (columns.number, columns.number.desc())
    )
    column, until = _place(moment, asked)
    number = connection.execute(
        select(columns.number).where(column <= until).order_by(columns.number.desc()).limit(1)
    ).scalar_one_or_none()
    if isinstance(moment, int) and number != moment:
        if 1 <= moment <= _newest(connection):
            raise Contradiction
        found = f"There is no revision {moment}; they are {first} to {last}."
        raise InputError(Reason.NOT_FOUND, asked, found, "Choose one of them.")
    if number is None:
        found = f"The store begins on {shown_time(_time(begin))}."
        raise InputError(Reason.NOT_FOUND, asked, found, "Choose a moment after that.")
    return number


def shown_time(moment: datetime) -> str:
    """Return a moment as people write it, in UTC.

    Examples
    --------
    >>> shown_time(datetime(2031, 5, 17, 9, 30, tzinfo=UTC))
    '2031-05-17 at 09:30:00 UTC'
    """
    return f"{moment.astimezone(UTC):%Y-%m-%d at %H:%M:%S} UTC"


def touching_since(
    connection: Connection, number: int, touched: Touched
) -> list[tuple[str, str, int]]:
    """Return what of some parts was touched after a revision: kind, name, newest revision."""
    touch = tables.touch.c
    found: dict[tuple[str, str], int] = {}
    wanted = {(kind, tables.digest(name)) for kind, name in touched}
    for some in batches({folded for _, folded in wanted}):
        rows = connection.execute(
            select(touch.kind, touch.folded, touch.name, touch.revision)
            .where(touch.revision > number, touch.folded.in_(some))
            .order_by(touch.revision)
        )
        found |= {
            (kind, name): revision
            for kind, folded, name, revision in rows
            if (kind, folded) in wanted
        }
    return [(kind, name, revision) for (kind, name), revision in found.items()]


def heads_newest_first(connection: Connection) -> Iterator[Row[Any]]:
    """Yield all revisions, without what they changed, each as it was written."""
    columns = tables.revision.c
    expected = _newest(connection)
    named = [columns[name] for name in (*_SEALED, "seal")]
    for row in connection.execute(select(*named).order_by(columns.number.desc())):
        if row.number != expected:
            raise Contradiction
        _require_sealed(row)
        yield row
        expected -= 1
    if expected:
        raise Contradiction


def _newest(connection: Connection) -> int:
    return connection.execute(select(tables.environment.c.revision)).scalar_one()


def _edits(text: str) -> tuple[Edit, ...]:
    try:
        return tuple(EDIT.validate_python(tree) for tree in json.loads(text))
    except (RecursionError, TypeError, ValueError):
        raise Contradiction from None


def _edits_of(connection: Connection, numbers: Iterable[int]) -> dict[int, tuple[Edit, ...]]:
    columns = tables.revision.c
    found: dict[int, tuple[Edit, ...]] = {}
    for some in batches(numbers):
        named = [columns[name] for name in (*_SEALED, "seal")]
        for row in connection.execute(select(*named).where(columns.number.in_(some))):
            _require_sealed(row)
            found[row.number] = _edits(row.edits)
    return found


def _touched(
    connection: Connection, numbers: Iterable[int]
) -> tuple[dict[int, Touched], dict[int, str]]:
    touch = tables.touch.c
    found: dict[int, list[tuple[str, str, str]]] = {}
    for some in batches(numbers):
        for number, kind, folded, name in connection.execute(
            select(touch.revision, touch.kind, touch.folded, touch.name).where(
                touch.revision.in_(some)
            )
        ):
            found.setdefault(number, []).append((kind, folded, name))
    return (
        {n: frozenset((kind, name) for kind, _, name in rows) for n, rows in found.items()},
        {number: digest_of(_in_order(rows)) for number, rows in found.items()},
    )


def _in_order(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    try:
        return sorted(rows)
    except TypeError:  # one of the texts is none any more
        raise Contradiction from None


def _require_sealed(row: Row[Any]) -> None:
    if digest_of([getattr(row, name) for name in _SEALED]) != row.seal:
        raise Contradiction


def _words(
    number: int, action: str, of: int | None, edits: Sequence[Edit], touched: Touched
) -> tuple[str, ...]:
    if number == 1:
        return ("Begin the store.",)
    words = [describe_edit(edit) for edit in edits] or [_replacement(touched)]
    if of is None:
        return tuple(words)
    verb = "Undo" if action == Action.UNDO else "Redo"
    return tuple(f"{verb} revision {of}: {text[0].lower()}{text[1:]}" for text in words)


def _replacement(touched: Touched) -> str:
    numbers = Counter(kind for kind, _ in touched)
    changed = [
        count_of(numbers[kind], kind)
        for kind in ("variable", "form", "group", "scenario")
        if numbers[kind]
    ]
    return f"Replace the environment; {joined(changed) or 'nothing'} changed."


def _place(moment: datetime | int, asked: str) -> tuple[ColumnElement[Any], int | str]:
    """Return the column that a moment is compared with, and what with."""
    if isinstance(moment, int):
        return tables.revision.c.number, moment
    if moment.tzinfo is None:
        found = "The moment has no time zone, and could mean several."
        do = "Give a time with its zone, such as UTC."
        raise InputError(Reason.BAD_OPTION, asked, found, do)
    return tables.revision.c.at, _text(moment)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(_TIME)


def _time(text: str) -> datetime:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        raise Contradiction from None


def begin(connection: Connection, environment: Environment, first: Revision) -> None:
    """Write an environment to the empty tables of a new store."""
    nothing = Environment([], name=environment.name, description=environment.description)
    changes = _changes(State(0, 0, nothing, {}), environment)
    connection.execute(
        tables.environment.insert(),
        {
            "id": 1, "name": environment.name, "description": environment.description,
            "revision": first.number, "codes_saved": 0, "rules": None,
        },
    )  # fmt: skip
    write(connection, changes, first.number, environment.forms)
    # The beginning is never taken back, so what it changed need not be kept twice.
    add_revision(connection, first, ())
    renew_seals(connection)


def record(connection: Connection, state: State, after: Environment, made: Revision) -> State:
    """Write what takes a state to another environment, and return the state then.

    A revision that names nothing that it touches gets all that changed.
    """
    changes = _changes(state, after)
    if not made.touched:
        parts = {(c.kind, c.name or c.kind) for c in changes if c.kind != "code"}
        made = replace(made, touched=frozenset(parts))
    # Clocks differ between machines; history goes forward all the same.
    now, last = datetime.now(UTC), last_time(connection)
    made = replace(made, number=state.revision + 1, at=now if last is None else max(now, last))
    write(connection, changes, made.number, after.forms)
    add_revision(connection, made, changes)
    connection.execute(update(tables.environment).values(revision=made.number))
    renew_seals(connection, {_sealed_kind(change) for change in changes})
    recoded = {c.name for c in changes if c.kind in ("variable", "code")}
    registers = {n: r for n, r in state.registers.items() if n in after.variables}
    registers |= {name: after.register(name) for name in recoded if name in after.variables}
    return State(made.number, state.codes_saved, after, registers)


def require_signed(who: str, note: str) -> None:
    """Refuse a person or a note that cannot be shown in the history."""
    problems = name_problems("person", [who])
    if unfit := unfit_character(note.replace("\n", " ").replace("\t", " ")):
        found = f"holds {unfit}."
        problems.append(Problem(Reason.BAD_NAME, "note", found, "Write it otherwise."))
    asked = "A change was to be entered in the history."
    refuse(problems, asked, f"Who makes it, or the note, has {count_of(len(problems), 'fault')}.")


def _sealed_kind(change: Change) -> str:
    """Return what of the store a change touches; metadata of a form nothing but its row."""
    if change.kind == "form" and {*(change.before or ()), *(change.after or ())} == {"metadata"}:
        return "metadata"
    return change.kind


def _changes(state: State, after: Environment) -> list[Change]:
    problems: list[Problem] = []
    changes = differences(state.environment, state.registers, after, problems)
    if problems:
        asked = f"The environment {quoted([after.name])} was to be kept in a store."
        found = (
            f"It has {count_of(len(problems), 'fault')} for which a store has no room."
            " Nothing was changed."
        )
        raise StoreError(problems[0].reason, asked, found, "Correct them.", problems=problems)
    return changes
