"""What an undo or a redo takes back, and the environment without it.

An undo takes back the newest revision that is not undone, a redo takes back that undo; a new edit
ends what can be redone. The first revision, the beginning of the store, stays.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row

from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.contents.loading import State
from gamekeeper.store.database.history.past import environment_without
from gamekeeper.store.database.history.revisions import (
    Action,
    Revision,
    heads_newest_first,
    revisions,
    steps_after,
)
from gamekeeper.wording import quoted


def take_back(
    connection: Connection, state: State, action: Action, who: str, *, anyone: bool, asked: str
) -> tuple[Environment, Revision]:
    """Return the environment without what an undo or a redo takes back, and the revision for it.

    Raises
    ------
    StoreError
        If there is nothing to take back, or only something of another person.
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
    """Return the revision whose changes an undo or a redo would take back."""
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
    """Return the error that there is nothing, or only something of another person."""
    if target is None:
        found, do = "There is nothing to undo or redo.", "See the history."
    else:
        found = f"The newest is revision {target.number} by {quoted([target.who])}."
        do = "Ask them, or say that anybody's work may be taken back (--anyone)."
    return StoreError(Reason.NOTHING_TO_UNDO, asked, f"{found} Nothing was changed.", do)
