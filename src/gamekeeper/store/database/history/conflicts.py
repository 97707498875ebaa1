"""Whether an edit may still be made, after what others did since it was thought out."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.store.database.history.revisions import (
    Revision,
    Touched,
    revisions,
    shown_time,
    touching_since,
)
from gamekeeper.wording import count_of, quoted

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
