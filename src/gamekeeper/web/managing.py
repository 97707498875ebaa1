"""Accounts of a server, seen to at the prompt: whether it runs or not."""

from __future__ import annotations

from gamekeeper.files.asides import make_private
from gamekeeper.files.gate import SERVER
from gamekeeper.web.database import Database
from gamekeeper.web.people.accounts import Accounts
from gamekeeper.web.people.sessions import Sessions
from gamekeeper.web.serving import state_folder
from gamekeeper.workbench.environment.opening import opened_store
from gamekeeper.workbench.requests.serving import AccountsRequest


def people_of(asked: AccountsRequest) -> tuple[Accounts, Sessions]:
    """Return the accounts and the sessions of the server of a store."""
    with opened_store(asked.place.store, readonly=True):
        pass
    folder = state_folder(asked.place.store, asked.state)
    make_private(folder)
    database = Database(folder / SERVER)
    return Accounts(database), Sessions(database)
