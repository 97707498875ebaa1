"""The environment of a store as it was: taken back, brought up to date, and whether all is sound.

An undo takes back the newest revision that is not undone, a redo takes back that undo; a new edit
ends what can be redone. The first revision, the beginning of the store, stays. An edit is refused if
others changed what it touches since it was thought out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, select

from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.results import Progress
from gamekeeper.store.database import engines as tables
from gamekeeper.store.database import loading
from gamekeeper.store.database.changes import PatchedParts, patched
from gamekeeper.store.database.codes import Step, reverted
from gamekeeper.store.database.engines import ask_of
from gamekeeper.store.database.revisions import (
    Action,
    Revision,
    Touched,
    changes_since,
    heads_newest_first,
    revision_at,
    revisions,
    shown_time,
    steps_after,
    touching_since,
)
from gamekeeper.store.database.words import Contradiction, damage_at
from gamekeeper.store.reading import group_tree
from gamekeeper.wording import count_of, quoted


def environment_at(
    connection: Connection, state: loading.State, moment: datetime | int
) -> Environment:
    """Return the environment as it was at a moment, or after the revision of a number."""
    number = revision_at(connection, moment)
    return environment_without(connection, state, steps_after(connection, number))


def environment_without(
    connection: Connection, state: loading.State, steps: Sequence[Step]
) -> Environment:
    """Return the environment without some revisions, which come newest first."""
    if not steps:
        return state.environment
    names = {
        change.name
        for step in steps
        for change in step.changes
        if change.kind in ("variable", "code")
    }
    return reverted(state.environment, state.registers, steps, loading.code_ages(connection, names))


def take_back(
    connection: Connection,
    state: loading.State,
    action: Action,
    who: str,
    *,
    anyone: bool,
    asked: str,
) -> tuple[Environment, Revision]:
    """Return the environment without what an undo or a redo takes back, and the revision for it.

    A StoreError says that there is nothing to take back, or only something of another person.
    """
    target = _target(connection, action)
    if target is None or (target.who != who and not anyone):
        raise _nothing_to_take_back(target, asked)
    steps = steps_after(connection, target.number - 1, target.number)
    # The edit or import; what is taken back may be a redo of it, or an undo.
    (root,) = revisions(connection, numbers=[target.of or target.number])
    made = Revision(0, datetime.now(UTC), who, action, root.number, touched=root.touched)
    return environment_without(connection, state, steps), made


def _target(connection: Connection, action: Action) -> Row[Any] | None:
    n_taken = 0
    for row in heads_newest_first(connection):
        is_edit = row.action not in (Action.UNDO, Action.REDO)
        if row.number == 1 or (action is Action.REDO and is_edit):
            return None
        if row.action == action:
            n_taken += 1
        elif n_taken:
            n_taken -= 1
        else:
            return row
    return None


def _nothing_to_take_back(target: Row[Any] | None, asked: str) -> StoreError:
    if target is None:
        found, do = "There is nothing to undo or redo.", "See the history."
    else:
        found = f"The newest is revision {target.number} by {quoted([target.who])}."
        do = "Ask them, or say that anybody's work may be taken back (--anyone)."
    return StoreError(Reason.NOTHING_TO_UNDO, asked, f"{found} Nothing was changed.", do)


# With more changes than this, loading everything takes less time.
_MOST_CHANGES = 2_000


def refreshed(connection: Connection, state: loading.State | None) -> loading.State:
    """Return the newest state, given one that was the newest some time ago."""
    if state is None:
        return loading.load(ask_of(connection))
    revision, codes_saved = loading.position(ask_of(connection))
    if (revision, codes_saved) == (state.revision, state.codes_saved):
        return state
    if codes_saved != state.codes_saved or revision < state.revision:
        return loading.load(ask_of(connection))
    changes = changes_since(connection, state.revision)
    if len(changes) > _MOST_CHANGES:
        return loading.load(ask_of(connection))
    parts = PatchedParts(state.environment)
    names: dict[str, None] = {}
    try:
        for change in changes:
            if change.kind in ("variable", "code"):
                names[change.name] = None
            else:
                parts.patch(change.kind, change.name, change.after)
        coded = loading.load_variables(connection, names) if names else []
        variables: dict[str, Variable | None] = {v.name: v for v, _ in coded}
        registers = {variable.name: register for variable, register in coded}
        before = state.environment.variables
        variables |= {n: None for n in names if n not in variables and n in before}
        environment = parts.environment(variables, registers)
    except (InputError, ValidationError, TypeError, ValueError):
        raise Contradiction from None
    kept = {n: r for n, r in state.registers.items() if n in environment.variables}
    return loading.State(revision, codes_saved, environment, kept | registers)


_SHOWN = 10


def require_fresh(
    connection: Connection, base: int, newest: int, touched: Touched, asked: str
) -> None:
    """Refuse to touch what was touched after the revision on which this is based."""
    if base > newest:
        raise StoreError(
            Reason.STALE,
            asked,
            f"It is based on revision {base}, and the store is at revision {newest}: an older state"
            " was restored. Nothing was changed.",
            "Read the environment again, and do it again if it is still wanted.",
        )
    found = touching_since(connection, base, touched)
    if not found:
        return
    made = {r.number: r for r in revisions(connection, numbers={number for *_, number in found})}
    raise StoreError(
        Reason.STALE,
        asked,
        f"It is based on revision {base}, and what it touches was changed since."
        " Nothing was changed now.",
        "Look at what changed, and do it again if it is still wanted.",
        problems=[
            Problem(
                Reason.STALE,
                f"{kind} {quoted([name])}" if kind != name else kind,
                f"was changed in {_told(made[number])}",
            )
            for kind, name, number in found
        ],
    )


def refusal_since(connection: Connection, base: int, newest: int, error: InputError) -> InputError:
    """Return the error of an edit that others may have made impossible, with what they did."""
    if base >= newest:
        return error
    made = revisions(connection, since=base + 1, most=_SHOWN)
    return InputError(
        error.reason,
        error.asked,
        f"{error.found} It was based on revision {base}, and"
        f" {count_of(newest - base, 'revision')} came since.",
        error.do,
        problems=[
            *error.problems,
            *(Problem(Reason.STALE, "since then", _told(revision)) for revision in made),
        ],
    )


def _told(revision: Revision) -> str:
    words: Sequence[str] = revision.words[:1]
    more = f" And {len(revision.words) - 1} more." if len(revision.words) > 1 else ""
    return (
        f"revision {revision.number} by {quoted([revision.who])} on {shown_time(revision.at)}:"
        f" {''.join(words)}{more}"
    )


# A change takes a fraction of a millisecond.
_TICK = 1_000


def history_problems(
    connection: Connection, state: loading.State, progress: Progress | None = None
) -> list[Problem]:
    """Return where history and environment disagree: every revision must lead to the next."""
    numbers = connection.execute(select(tables.revision.c.number)).scalars().all()
    if sorted(numbers) != list(range(1, state.revision + 1)):
        return [damage_at("numbers of revisions", abs(state.revision - len(numbers)) or 1)]
    now: dict[tuple[str, str, str], loading.Document] = {}
    codes: dict[str, dict[str, loading.Document]] = {}
    faults = 0
    steps = steps_after(connection, 1)
    for done, step in enumerate(steps):
        for number, change in enumerate(step.changes):
            if progress is not None and number % _TICK == 0:
                progress(done, len(steps))
            key = (change.kind, change.name, change.code)
            if change.kind == "code":
                # Codes given since are carried along, so only the newest change tells what is.
                if key in now:
                    continue
                if change.name not in codes:
                    codes[change.name] = _codes(state, change.name)
                document = codes[change.name].get(change.code)
            else:
                document = now[key] if key in now else _document(state, *key[:2])
            before, after = change.before, change.after
            if change.kind == "environment" and document is not None:
                # What was written before there were rules says nothing of them.
                before, after = {**document, **before}, {**document, **after}
            faults += not _agrees(document, after)
            now[key] = patched(document, before)
    return [damage_at("steps of the history", faults)] if faults else []


def _codes(state: loading.State, variable: str) -> dict[str, loading.Document]:
    if variable not in state.environment.variables:
        return {}
    return loading.code_documents(state.environment.variable(variable), state.registers[variable])


def _document(state: loading.State, kind: str, name: str) -> loading.Document:
    environment = state.environment
    if kind == "form" and name in environment.forms:
        return loading.form_document(environment.form(name))
    if kind == "group" and name in environment.groups:
        return group_tree(environment.groups[name])
    if kind == "variable" and name in environment.variables:
        return definition_tree(environment.variable(name))
    if kind == "scenario" and name in environment.scenarios:
        return loading.scenario_document(environment.scenario(name))
    return loading.header_document(environment) if kind == "environment" else None


def _agrees(document: loading.Document, after: loading.Document) -> bool:
    now = patched(document, after)
    if isinstance(now, dict) and isinstance(document, dict) and "variables" in now:
        document, now = _sorted(document), _sorted(now)
    return loading.text_of(document) == loading.text_of(now)


def _sorted(form: loading.Document) -> loading.Document:
    return {**form, "variables": dict(sorted(form["variables"].items()))}
