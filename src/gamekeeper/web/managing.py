"""Accounts of a server, seen to at the prompt: whether it runs or not."""

from __future__ import annotations

from gamekeeper.files.asides import make_folders
from gamekeeper.web.database import Database
from gamekeeper.web.people.accounts import Account, Accounts
from gamekeeper.web.people.roles import Role, role_of
from gamekeeper.web.people.sessions import Sessions
from gamekeeper.web.serving import state_folder
from gamekeeper.workbench.environment.opening import opened_store
from gamekeeper.workbench.requests.serving import AccountRole, AccountsRequest


class Managed:
    """The accounts of the server of a store."""

    def __init__(self, asked: AccountsRequest) -> None:
        with opened_store(asked.place.store, readonly=True):
            pass
        folder = state_folder(asked.place.store, asked.state)
        make_folders(folder, [], private=True)
        database = Database(folder / "server.db")
        self._accounts, self._sessions = Accounts(database), Sessions(database)

    def all(self) -> list[Account]:
        """Return all accounts."""
        return self._accounts.all()

    def add(self, name: str, role: AccountRole, password: str) -> None:
        """Add an account."""
        self._accounts.add(name, role_of(role.value), password)

    def change(
        self, name: str, *, role: AccountRole | None = None, password: str | None = None
    ) -> None:
        """Give an account another role or password."""
        given: Role | None = None if role is None else role_of(role.value)
        self._accounts.change(name, role=given, password=password)

    def remove(self, name: str) -> None:
        """Remove an account."""
        self._accounts.remove(name)

    def revoke(self, name: str) -> int:
        """End all sessions of an account, and return their number."""
        return self._sessions.revoke(name)
