"""Records that several shapes use: something by its id and name, a revision."""

from __future__ import annotations

from pydantic import BaseModel

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.history.revisions import Revision
from gamekeeper.web.wire.ids import id_of

Value = str | int | float | bool | None
"""A value of free metadata."""


class Named(BaseModel):
    """Something that has a name."""

    id: str
    name: str


def named(name: str) -> Named:
    """Return a name with its id."""
    # Both are texts of ours: to check them again would take longer than to make them.
    return Named.model_construct(id=id_of(name), name=name)


def given_code(
    environment: Environment, variable: str, partition: Partition | Arbitrary | None
) -> str | None:
    """Return the code of what a form has, which is given already; None where that is not valid."""
    return None if partition is None else environment.given_codes(variable).code(partition)


class RevisionShape(BaseModel):
    """One acknowledged change: what was done, by whom, when."""

    number: int
    at: str
    who: str
    action: str
    of: int | None
    unrestricted: bool
    note: str
    words: list[str]


_SHOWN_WORDS = 50


def revision_shape(revision: Revision) -> RevisionShape:
    """Return a revision as pages show it; of very many edits the first."""
    words = list(revision.words[:_SHOWN_WORDS])
    if (left := len(revision.words) - len(words)) > 0:
        words.append(f"And {left:,} more.")
    return RevisionShape(
        number=revision.number,
        at=revision.at.isoformat(),
        who=revision.who,
        action=revision.action.value,
        of=revision.of,
        unrestricted=revision.unrestricted,
        note=revision.note,
        words=words,
    )
