"""Accounts, for administrators: who may sign in, in which role; and whose sessions end."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.web.people.roles import role_of
from gamekeeper.web.service.access import Administrator, TheServer
from gamekeeper.web.service.server import Server
from gamekeeper.web.wire.errors import missing
from gamekeeper.web.wire.ids import id_of

router = APIRouter(prefix="/api/accounts")

RoleName = Literal["reader", "editor", "administrator"]


class AccountShape(BaseModel):
    """Somebody who may sign in."""

    id: str
    name: str
    role: RoleName


class AccountList(BaseModel):
    """All accounts."""

    accounts: list[AccountShape]


class NewAccount(BaseModel):
    """An account to be added."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str = Field(max_length=200)
    role: RoleName
    password: str = Field(max_length=10_000)


class ChangedAccount(BaseModel):
    """Another role or password; sessions of the account end."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    role: RoleName | None = None
    password: str | None = Field(default=None, max_length=10_000)


@router.get("")
def accounts(who: Administrator, server: TheServer) -> AccountList:
    """Return all accounts."""
    return _list(server)


@router.post("", status_code=201)
def add(asked: NewAccount, who: Administrator, server: TheServer) -> AccountList:
    """Add an account; the first one must be an administrator."""
    server.accounts.add(asked.name, role_of(asked.role), asked.password)
    return _list(server)


@router.post("/{account}")
def change(
    account: str, asked: ChangedAccount, who: Administrator, server: TheServer
) -> AccountList:
    """Give an account another role or password."""
    role = None if asked.role is None else role_of(asked.role)
    server.accounts.change(_name(server, account), role=role, password=asked.password)
    return _list(server)


@router.delete("/{account}")
def remove(account: str, who: Administrator, server: TheServer) -> AccountList:
    """Remove an account; its sessions end."""
    server.accounts.remove(_name(server, account))
    return _list(server)


@router.delete("/{account}/sessions", status_code=204)
def revoke(account: str, who: Administrator, server: TheServer) -> None:
    """End all sessions of an account."""
    server.sessions.revoke(_name(server, account))


def _list(server: Server) -> AccountList:
    return AccountList(
        accounts=[
            AccountShape(id=id_of(each.name), name=each.name, role=each.role.word)  # pyright: ignore[reportArgumentType]
            for each in server.accounts.all()
        ]
    )


def _name(server: Server, account: str) -> str:
    for each in server.accounts.all():
        if id_of(each.name) == account:
            return each.name
    raise missing("account")
