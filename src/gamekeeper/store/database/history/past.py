"""The environment of a store as it was, or would be without some revisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.contents.loading import State
from gamekeeper.store.database.contents.some_variables import code_ages
from gamekeeper.store.database.history.reverting import Step, reverted
from gamekeeper.store.database.history.revisions import revision_at, steps_after


def environment_at(connection: Connection, state: State, moment: datetime | int) -> Environment:
    """Return the environment as it was at a moment, or after the revision of a number."""
    number = revision_at(connection, moment)
    return environment_without(connection, state, steps_after(connection, number))


def environment_without(connection: Connection, state: State, steps: Sequence[Step]) -> Environment:
    """Return the environment without some revisions, which come newest first."""
    if not steps:
        return state.environment
    names = {
        change.name
        for step in steps
        for change in step.changes
        if change.kind in ("variable", "code")
    }
    return reverted(state.environment, state.registers, steps, code_ages(connection, names))
