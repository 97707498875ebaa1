"""Ids of forms, variables, groups and scenarios on the wire.

Names hold slashes and thousands of characters, so that addresses have a digest of the name: the
first digits of the one by which a store looks names up. It is the same for names that fold to the
same, and an environment has no two of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.contents.tables import digest
from gamekeeper.web.wire.errors import missing

_DIGITS = 16


@lru_cache(maxsize=200_000)
def id_of(name: str) -> str:
    """Return the id of a name.

    Examples
    --------
    >>> id_of("Bank/account") == id_of("BANK/account"), len(id_of("e" * 10_000))
    (True, 16)
    """
    return digest(name)[:_DIGITS]


class Names:
    """The names of an environment by their ids."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._forms: Mapping[str, str] | None = None

    def form(self, asked: str) -> str:
        """Return the name of a form."""
        if self._forms is None:
            self._forms = _by_id(self.environment.forms)
        return _found("form", asked, self._forms)

    def variable(self, asked: str) -> str:
        """Return the name of a variable."""
        return _found("variable", asked, _by_id(self.environment.variables))

    def group(self, asked: str) -> str:
        """Return the name of a group."""
        return _found("group", asked, _by_id(self.environment.groups))

    def scenario(self, asked: str) -> str:
        """Return the name of a scenario."""
        return _found("scenario", asked, _by_id(self.environment.scenarios))


def _by_id(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        # Whoever makes two names meet in 64 bits gets the first of them.
        found.setdefault(id_of(name), name)
    return found


def _found(kind: str, asked: str, known: Mapping[str, str]) -> str:
    if asked not in known:
        raise missing(kind)
    return known[asked]
