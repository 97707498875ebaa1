"""Who may do what: three roles, each with all that the one before it may do."""

from __future__ import annotations

from enum import IntEnum


class Role(IntEnum):
    """What an account is for."""

    READER = 1
    """Looks at the environment and at results of the whole."""

    EDITOR = 2
    """Edits the environment, and reads and assesses files of people."""

    ADMINISTRATOR = 3
    """Sees to accounts and sessions too."""

    @property
    def word(self) -> str:
        """The role as it is written."""
        return self.name.lower()


def role_of(word: str) -> Role:
    """Return the role that a word names.

    Examples
    --------
    >>> role_of("editor") < Role.ADMINISTRATOR
    True
    """
    return Role[word.upper()]
