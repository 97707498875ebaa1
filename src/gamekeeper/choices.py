"""Choices and bounds that can be named without what they are of: searches, missing cells, workers."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

MAX_NODES: Final = 100_000
"""The number of nodes above which a harmonization graph is refused or searched in part."""

MAX_MSUS = 250_000_000
"""Largest list of MSUs, of 2 to 8 bytes each, that is made without being asked for explicitly."""

MAX_SECONDS = 900.0
"""Longest search, in seconds of processor time, that is begun without being asked for."""

MAX_KEYS = 10_000
"""How many composite keys are looked at, unless told otherwise."""


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


class Pool(StrEnum):
    """Who does blocks of work on this machine: threads of this process, or processes of their own."""

    PROCESSES = "processes"
    THREADS = "threads"
