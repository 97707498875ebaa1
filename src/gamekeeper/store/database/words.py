"""The few words in which databases differ. Questions of ours are in those of SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

_JOINED: Final = "group_concat(selection_id, ',')"
_JOINED_ELSEWHERE: Final = "string_agg(CAST(selection_id AS TEXT), ',')"

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

Ask = Callable[[str], Sequence[tuple[Any, ...]]]
"""Returns the rows that answer a question in SQL."""


def spoken(question: str, database: str) -> str:
    """Return a question in the words of a database, `sqlite` or `postgresql`.

    Examples
    --------
    >>> spoken("SELECT group_concat(selection_id, ',') FROM instance", "postgresql")
    "SELECT string_agg(CAST(selection_id AS TEXT), ',') FROM instance"
    """
    return question if database == SQLITE else question.replace(_JOINED, _JOINED_ELSEWHERE)
