"""What is asked of the rows of a store to load it, and a checksum of each answer.

A database notices that a page cannot be read, not that a letter on it has changed. So whoever
writes leaves the digest of all rows of a part, and whoever loads compares it with what was read.
The order of rows and of numbers in a list is that of the questions, whatever the database prefers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from gamekeeper.store.database.contents.documents import text_of
from gamekeeper.store.database.refusals import Contradiction
from gamekeeper.store.database.words import Ask, spoken

if TYPE_CHECKING:
    from sqlalchemy import Connection

INSTANCES: Final = "instance"

QUESTIONS: Final[Mapping[str, str]] = {
    "environment": "SELECT revision, codes_saved, name, description, rules FROM environment",
    "variable": "SELECT id, name, definition, folded FROM variable ORDER BY name, id",
    "code": "SELECT variable_id, code, blocks, since FROM code ORDER BY code, variable_id",
    "selection": "SELECT id, variable_id, labels FROM selection ORDER BY id",
    # Words of SQLite: elsewhere it is string_agg (`words`).
    INSTANCES: "SELECT form_id, group_concat(selection_id, ',') FROM"
    " (SELECT form_id, selection_id FROM instance ORDER BY form_id, selection_id)"
    " AS ordered GROUP BY form_id ORDER BY form_id",
    "form": "SELECT id, name, metadata, words, folded FROM form ORDER BY name, id",
    "form_group": "SELECT id, name, definition, folded FROM form_group ORDER BY name, id",
    "scenario": "SELECT id, name, body, folded FROM scenario ORDER BY name, id",
}
"""What is asked of each part; one row for all selections of a form together."""

# The same in half the time, by the index of the table; what is written is put in order here.
_UNORDERED = (
    "SELECT form_id, group_concat(selection_id, ',') FROM instance GROUP BY form_id"
    " ORDER BY form_id"
)
_SEALS = "SELECT part, digest FROM seal"
# Which parts a change of a kind can touch.
_TOUCHED: Final[Mapping[str, tuple[str, ...]]] = {
    "environment": (),
    "variable": ("variable",),
    "code": ("variable", "code"),
    "form": ("form", "selection", INSTANCES),
    "metadata": ("form",),
    "group": ("form_group",),
    "scenario": ("scenario",),
}


def digest_of(content: object) -> str:
    """Return the checksum of plain values, the same on every version of Python.

    Bytes where a text should be, which a flipped bit can make of it, are a contradiction.

    Examples
    --------
    >>> digest_of([(1, "a", None)]) == digest_of([(1, "a", "")])
    False
    """
    try:
        written = text_of(content).encode()
    except (TypeError, ValueError):
        raise Contradiction from None
    return blake2b(written, digest_size=8).hexdigest()


def sealed_answers(ask: Ask) -> dict[str, Sequence[tuple[Any, ...]]]:
    """Return the rows of every part; what differs from its checksum is a contradiction."""
    answers = {part: ask(question) for part, question in QUESTIONS.items()}
    seals = dict(ask(_SEALS))
    for part, rows in answers.items():
        if digest_of(rows) != seals.get(part) and digest_of(_ordered(part, rows)) != seals.get(
            part
        ):
            raise Contradiction
    return answers


def renew_seals(connection: Connection, kinds: Iterable[str] | None = None) -> None:
    """Write the checksums of the parts that changes of some kinds touch; of all by default."""
    # Imported here: who only looks does without.
    from sqlalchemy import delete

    from gamekeeper.store.database.contents import tables

    touched = QUESTIONS if kinds is None else {part for k in kinds for part in _TOUCHED[k]}
    parts = {"environment", *touched}
    rows = [
        {"part": part, "digest": digest_of(_ordered(part, _rows(connection, question)))}
        for part, question in {**QUESTIONS, INSTANCES: _UNORDERED}.items()
        if part in parts
    ]
    connection.execute(delete(tables.seal).where(tables.seal.c.part.in_(parts)))
    connection.execute(tables.seal.insert(), rows)


def _rows(connection: Connection, question: str) -> list[tuple[Any, ...]]:
    # By the driver alone: rows of SQLAlchemy take three times as long, and whoever saves waits.
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(spoken(question, connection.dialect.name))
        return list(cursor.fetchall())


def _ordered(part: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    """Return rows as the questions have them, should the database not have kept to the order."""
    if part != INSTANCES:
        return rows
    return [(form, ",".join(sorted(text.split(","), key=int))) for form, text in rows]
