"""Whether what a store holds is sound: as an environment and as a history."""

from __future__ import annotations

from sqlalchemy import Connection, select

from gamekeeper.errors import Problem
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.results import Progress
from gamekeeper.store.database.contents import tables
from gamekeeper.store.database.contents.documents import (
    Document,
    code_documents,
    form_document,
    group_document,
    header_document,
    scenario_document,
    text_of,
)
from gamekeeper.store.database.contents.loading import State
from gamekeeper.store.database.contents.patching import patched
from gamekeeper.store.database.history.revisions import steps_after
from gamekeeper.store.database.refusals import damage_at

# A change takes a fraction of a millisecond.
_TICK = 1_000


def history_problems(
    connection: Connection, state: State, progress: Progress | None = None
) -> list[Problem]:
    """Return where history and environment disagree: every revision must lead to the next."""
    numbers = connection.execute(select(tables.revision.c.number)).scalars().all()
    if sorted(numbers) != list(range(1, state.revision + 1)):
        return [damage_at("numbers of revisions", abs(state.revision - len(numbers)) or 1)]
    now: dict[tuple[str, str, str], Document] = {}
    codes: dict[str, dict[str, Document]] = {}
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


def _codes(state: State, variable: str) -> dict[str, Document]:
    if variable not in state.environment.variables:
        return {}
    return code_documents(state.environment.variable(variable), state.registers[variable])


def _document(state: State, kind: str, name: str) -> Document:
    environment = state.environment
    if kind == "form" and name in environment.forms:
        return form_document(environment.form(name))
    if kind == "group" and name in environment.groups:
        return group_document(environment.groups[name])
    if kind == "variable" and name in environment.variables:
        return definition_tree(environment.variable(name))
    if kind == "scenario" and name in environment.scenarios:
        return scenario_document(environment.scenario(name))
    return header_document(environment) if kind == "environment" else None


def _agrees(document: Document, after: Document) -> bool:
    now = patched(document, after)
    if isinstance(now, dict) and isinstance(document, dict) and "variables" in now:
        document, now = _sorted(document), _sorted(now)
    return text_of(document) == text_of(now)


def _sorted(form: Document) -> Document:
    return {**form, "variables": dict(sorted(form["variables"].items()))}
