"""The `account` commands: who may sign in to the workbench in the browser, in which role."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.commands import AsFormat, command, command_group
from gamekeeper.cli.serve import needs_web
from gamekeeper.cli.show import Format, say, show
from gamekeeper.results import EVERYTHING, make_listing
from gamekeeper.workbench.requests.serving import (
    AccountRequest,
    AccountRole,
    AccountsRequest,
    NewAccountRequest,
    RoleRequest,
)

if TYPE_CHECKING:
    from gamekeeper.web.people.accounts import Accounts
    from gamekeeper.web.people.roles import Role
    from gamekeeper.web.people.sessions import Sessions

app = command_group(
    "account",
    "Accounts of the workbench in the browser: who may sign in, in which role.\n\n"
    "As long as there are none, whoever starts the server is the only one who can use it.",
)


@command(app, "add")
def add_command(asked: NewAccountRequest) -> None:
    """Add an account; its password is asked for, or read from standard input.

    [bold]Examples[/bold]

      gamekeeper account add norland.gk ana --role administrator
    """
    accounts, _ = _people(asked.of)
    accounts.add(asked.name, _role(asked.role), _password())
    say(f"{asked.name} may sign in, as {asked.role.value}.")


@command(app, "list")
def list_command(asked: AccountsRequest, how: AsFormat = Format.TABLE) -> None:
    """List the accounts and their roles."""
    rows = [(account.name, account.role.word) for account in _people(asked)[0].all()]
    show(make_listing("accounts", ("account", "role"), rows, EVERYTHING), how)


@command(app, "role")
def role_command(asked: RoleRequest) -> None:
    """Give an account another role; its sessions end."""
    accounts, _ = _people(asked.of)
    accounts.change(asked.name, role=_role(asked.role))
    say(f"{asked.name} is {asked.role.value} now.")


@command(app, "password")
def password_command(asked: AccountRequest) -> None:
    """Give an account another password; its sessions end."""
    accounts, _ = _people(asked.of)
    accounts.change(asked.name, password=_password())
    say(f"{asked.name} has another password.")


@command(app, "remove")
def remove_command(asked: AccountRequest) -> None:
    """Remove an account; its sessions end, and what it did stays in the history."""
    accounts, _ = _people(asked.of)
    accounts.remove(asked.name)
    say(f"{asked.name} may sign in no longer.")


@command(app, "revoke")
def revoke_command(asked: AccountRequest) -> None:
    """End all sessions of an account, which may sign in again."""
    _, sessions = _people(asked.of)
    say(f"Sessions that ended: {sessions.revoke(asked.name)}.")


def _people(asked: AccountsRequest) -> tuple[Accounts, Sessions]:
    try:
        from gamekeeper.web.managing import people_of
    except ModuleNotFoundError as error:
        raise needs_web("Accounts were asked for.", error) from error
    return people_of(asked)


def _role(asked: AccountRole) -> Role:
    from gamekeeper.web.people.roles import role_of

    return role_of(asked.value)


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return typer.prompt("Password", hide_input=True, confirmation_prompt=True)
