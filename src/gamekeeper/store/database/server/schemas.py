"""The schema of a store: whether it is one, and making a new one.

A store is known by a comment on its table of versions, which dumps and copies of a database keep.
Texts are compared by their bytes, as SQLite does, whatever the database prefers: checksums are of
rows in the order of their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.store.database.words import Ask
from gamekeeper.store.place import ServerPlace
from gamekeeper.wording import shown_path

if TYPE_CHECKING:
    from sqlalchemy import Connection

MARK: Final = "Gamekeeper store"
"""What the comment on the table of versions says."""

# The schema is one of small letters, digits and underscores.
_FOUND: Final = """
SELECT obj_description(to_regclass('{schema}.alembic_version'), 'pg_class'),
       (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('{schema}')),
       to_regnamespace('{schema}') IS NOT NULL,
       current_setting('server_encoding'),
       pg_is_in_recovery()
"""
_MAY_WRITE: Final = """
SELECT has_table_privilege('{schema}.environment', 'UPDATE')
   AND has_table_privilege('{schema}.revision', 'INSERT')
"""
_OTHER_ORDER: Final = """
SELECT table_name, column_name, data_type, character_maximum_length
  FROM information_schema.columns
 WHERE table_schema = '{schema}' AND data_type IN ('text', 'character varying')
   AND collation_name IS DISTINCT FROM 'C'
"""


class Found:
    """What there is under the name of a schema.

    Attributes
    ----------
    is_there, is_store, is_empty
        Whether there is such a schema, it is a store of ours, it holds nothing.
    may_write
        Whether it is a store that this person may write to.
    """

    def __init__(self, ask: Ask, schema: str) -> None:
        ((mark, tables, is_there, encoding, is_copy),) = ask(_FOUND.format(schema=schema))
        self.is_there = bool(is_there)
        self.is_store = mark == MARK
        self.is_empty = not tables
        self.is_unicode = encoding == "UTF8"
        self.may_write = False
        if self.is_store and not is_copy:
            ((may_write,),) = ask(_MAY_WRITE.format(schema=schema))
            self.may_write = bool(may_write)


def require_store(found: Found, place: ServerPlace, asked: str) -> None:
    """Refuse what is not a store of ours."""
    if found.is_store:
        return
    if not found.is_there:
        reason, told = Reason.NOT_FOUND, "The database has no such schema."
        do = "Check its name. To make a store there: gamekeeper env new, or env copy."
    elif found.is_empty:
        reason, told = Reason.NOT_FOUND, "The schema is empty."
        do = "Make a store there: gamekeeper env new, or env copy."
    else:
        reason, told = Reason.WRONG_SCHEMA, "The schema holds something else."
        do = "Check the name of the schema and of the database."
    raise InputError(reason, asked.format(shown_path(place)), told, do)


def make_schema(connection: Connection, found: Found, place: ServerPlace, asked: str) -> None:
    """Make the schema of a new store, within the transaction that fills it.

    A schema that is there and empty is taken: some may use a schema, and not make one.
    """
    if not found.is_unicode:
        raise StoreError(
            Reason.WRONG_ENCODING,
            asked.format(shown_path(place)),
            "The database is not in UTF-8, and could not hold every name. Nothing was changed.",
            "Make the store in another database, one that is in UTF-8.",
        )
    if found.is_there and not found.is_empty:
        raise StoreError(
            Reason.NOT_WRITABLE,
            asked.format(shown_path(place)),
            f"The schema is there already and holds {'a store' if found.is_store else 'something'}."
            " Nothing was changed.",
            "Choose another schema, or open what is there.",
        )
    if not found.is_there:
        connection.exec_driver_sql(f"CREATE SCHEMA {place.schema}")


def finish_schema(connection: Connection, place: ServerPlace) -> None:
    """Mark the tables as ours, and have texts compared by their bytes."""
    wrong = connection.exec_driver_sql(_OTHER_ORDER.format(schema=place.schema)).all()
    for table, column, kind, most in wrong:
        told = kind if most is None else f"{kind}({most})"
        connection.exec_driver_sql(
            f'ALTER TABLE {place.schema}."{table}" ALTER COLUMN "{column}" TYPE {told} COLLATE "C"'
        )
    connection.exec_driver_sql(f"COMMENT ON TABLE {place.schema}.alembic_version IS '{MARK}'")
