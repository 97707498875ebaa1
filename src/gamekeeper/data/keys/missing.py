"""What a missing cell of a key variable means when records are compared."""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """How missing cells are read; the choice is printed with every result.

    Examples
    --------
    >>> Missing("wildcard").words
    'a missing cell matches anything'
    """

    CATEGORY = "category"
    IGNORE = "ignore"
    WILDCARD = "wildcard"
    EXCLUDE = "exclude"

    @property
    def words(self) -> str:
        """The meaning in words."""
        return _WORDS[self]


_WORDS = {
    Missing.CATEGORY: "missing is a category of its own",
    Missing.IGNORE: "a missing cell never equals a value and never tells a record apart",
    Missing.WILDCARD: "a missing cell matches anything",
    Missing.EXCLUDE: "records with a missing cell are left out",
}
