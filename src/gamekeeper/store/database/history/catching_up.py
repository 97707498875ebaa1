"""A state that was loaded earlier, brought up to date by what was written since."""

from __future__ import annotations

from pydantic import ValidationError
from sqlalchemy import Connection

from gamekeeper.errors import InputError
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents.loading import State, load, position
from gamekeeper.store.database.contents.patching import PatchedParts
from gamekeeper.store.database.contents.some_variables import load_variables
from gamekeeper.store.database.engines import ask_of
from gamekeeper.store.database.history.revisions import changes_since
from gamekeeper.store.database.refusals import Contradiction

# With more changes than this, loading everything takes less time.
_MOST_CHANGES = 2_000


def refreshed(connection: Connection, state: State | None) -> State:
    """Return the newest state, given one that was the newest some time ago."""
    if state is None:
        return load(ask_of(connection))
    revision, codes_saved = position(ask_of(connection))
    if (revision, codes_saved) == (state.revision, state.codes_saved):
        return state
    if codes_saved != state.codes_saved or revision < state.revision:
        return load(ask_of(connection))
    changes = changes_since(connection, state.revision)
    if len(changes) > _MOST_CHANGES:
        return load(ask_of(connection))
    parts = PatchedParts(state.environment)
    names: dict[str, None] = {}
    try:
        for change in changes:
            if change.kind in ("variable", "code"):
                names[change.name] = None
            else:
                parts.patch(change.kind, change.name, change.after)
        coded = load_variables(connection, names) if names else []
        variables: dict[str, Variable | None] = {v.name: v for v, _ in coded}
        registers = {variable.name: register for variable, register in coded}
        before = state.environment.variables
        variables |= {n: None for n in names if n not in variables and n in before}
        environment = parts.environment(variables, registers)
    except (InputError, ValidationError, TypeError, ValueError):
        raise Contradiction from None
    kept = {n: r for n, r in state.registers.items() if n in environment.variables}
    return State(revision, codes_saved, environment, kept | registers)
