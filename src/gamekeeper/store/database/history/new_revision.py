"""A new state of the environment written to a store as one revision."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection, update

from gamekeeper.errors import Problem, Reason, StoreError, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.names import name_problems
from gamekeeper.store.database.contents import tables
from gamekeeper.store.database.contents.changes import Change, differences
from gamekeeper.store.database.contents.loading import State
from gamekeeper.store.database.contents.seals import renew_seals
from gamekeeper.store.database.contents.writing import write
from gamekeeper.store.database.history.revisions import Revision, add_revision, last_time
from gamekeeper.wording import count_of, quoted, unfit_character


def begin(connection: Connection, environment: Environment, first: Revision) -> None:
    """Write an environment to the empty tables of a new store."""
    nothing = Environment([], name=environment.name, description=environment.description)
    changes = _changes(State(0, 0, nothing, {}), environment)
    connection.execute(
        tables.environment.insert(),
        {
            "id": 1,
            "name": environment.name,
            "description": environment.description,
            "revision": first.number,
            "codes_saved": 0,
            "rules": None,
        },
    )
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
    refuse(
        problems,
        "A change was to be entered in the history.",
        f"Who makes it, or the note, has {count_of(len(problems), 'fault')}.",
    )


def _sealed_kind(change: Change) -> str:
    """Return what of the store a change touches; metadata of a form nothing but its row."""
    if change.kind == "form" and {*(change.before or ()), *(change.after or ())} == {"metadata"}:
        return "metadata"
    return change.kind


def _changes(state: State, after: Environment) -> list[Change]:
    problems: list[Problem] = []
    changes = differences(state.environment, state.registers, after, problems)
    if problems:
        raise StoreError(
            problems[0].reason,
            f"The environment {quoted([after.name])} was to be kept in a store.",
            f"It has {count_of(len(problems), 'fault')} for which a store has no room."
            " Nothing was changed.",
            "Correct them.",
            problems=problems,
        )
    return changes
