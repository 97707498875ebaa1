"""What people ask of the workbench in the browser: which store, where, what may be read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.workbench.requests.environment.shared import InStore

State = Annotated[
    Path | None,
    Option(
        "Private folder of the server: accounts, sessions, results. By default beside the store,"
        " with .server after its name; for a store on a server it must be named."
    ),
]
"""Where a server keeps its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRequest:
    """A server for a store."""

    store: Annotated[
        StorePlace | None,
        Option(
            "File of a store, or postgresql://... on a server.", is_argument=True, read=store_place
        ),
    ] = None
    demo: Annotated[
        bool,
        Option("Serve made-up forms and a made-up file from ./demo-workbench, which is made once."),
    ] = False
    folders: Annotated[
        tuple[Path, ...],
        Option("A folder with files of people that pages may read, in place.", flags="--allow"),
    ] = ()
    port: Annotated[
        int, Option("Where it listens; 0 for any that is free.", least=0, most=65_535)
    ] = 8720
    host: Annotated[
        str, Option("The address it listens on. Others than this machine's need accounts.")
    ] = "127.0.0.1"
    origin: Annotated[
        str,
        Option("The address that people use, where a proxy with https stands before it."),
    ] = ""
    keep_days: Annotated[
        int,
        Option("Results of single records are deleted after so many days.", least=1, most=3_650),
    ] = 14
    state: State = None


class AccountRole(StrEnum):
    """What an account is for."""

    READER = "reader"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"


_Role = Annotated[
    AccountRole,
    Option(
        "reader looks; editor edits, and reads and assesses files of people; administrator sees to"
        " accounts too.",
    ),
]
_Name = Annotated[str, Option("The account.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsRequest:
    """The accounts of the server of a store."""

    place: InStore
    state: State = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRequest:
    """One account."""

    of: AccountsRequest
    name: _Name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccountRequest:
    """An account to be added."""

    of: AccountsRequest
    name: _Name
    role: _Role = AccountRole.EDITOR


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRequest:
    """Another role for an account."""

    of: AccountsRequest
    name: _Name
    role: Annotated[AccountRole, Option("The new role.", is_argument=True)]
