"""A state that was loaded earlier, brought up to date by what was written since."""

from __future__ import annotations

from pydantic import ValidationError
from sqlalchemy import Connection

from gamekeeper.errors import InputError
from gamekeeper.mapping.environment.environment import Form, Group
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents.changes import patched_form, present
from gamekeeper.store.database.contents.documents import (
    Document,
    group_of,
    header_from,
    scenario_from,
)
from gamekeeper.store.database.contents.loading import State, load, position
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
    header: Document = {}
    forms: dict[str, Form | None] = {}
    groups: dict[str, Group | None] = {}
    scenarios: dict[str, Scenario | None] = {}
    names: dict[str, None] = {}
    start = state.environment
    try:
        for change in changes:
            name = change.name
            if change.kind == "environment":
                header = header_from(change.after)
            elif change.kind == "form":
                now = forms.get(name, start.forms.get(name))
                forms[name] = patched_form(now, change.after)
            elif change.kind == "group":
                groups[name] = None if change.after is None else group_of(change.after)
            elif change.kind == "scenario":
                scenarios[name] = None if change.after is None else scenario_from(change.after)
            else:
                names[name] = None
        coded = load_variables(connection, names) if names else []
        variables: dict[str, Variable | None] = {v.name: v for v, _ in coded}
        registers = {variable.name: register for variable, register in coded}
        variables |= {n: None for n in names if n not in variables and n in start.variables}
        environment = start.changed(
            variables=variables,
            forms=present(forms, start.forms),
            groups=present(groups, start.groups),
            scenarios=present(scenarios, start.scenarios),
            registers=registers,
            **header,
        )
    except (InputError, ValidationError, TypeError, ValueError):
        raise Contradiction from None
    kept = {n: r for n, r in state.registers.items() if n in environment.variables}
    return State(revision, codes_saved, environment, kept | registers)
