"""The workbench in the browser, the accounts that may sign in to it, and the demo."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli import commands
from gamekeeper.errors import Cancelled, InputError, Reason
from gamekeeper.results import EVERYTHING, make_listing
from gamekeeper.workbench.requests import shared

if TYPE_CHECKING:
    from gamekeeper.web.people import Accounts, Role, Sessions

app = typer.Typer(rich_markup_mode="rich")


@commands.command(app, "serve")
def serve_command(asked: shared.ServeRequest) -> None:
    """Open the workbench in the browser, on this machine, until it is stopped with Ctrl-C.

    It says in one line where it is; that address signs you in, once. Everything that pages do,
    commands do as well, with the same results. Nothing is sent elsewhere.

    [bold]Examples[/bold]

    A store, and a folder with files that may be assessed:
      gamekeeper serve norland.gk --allow data

    For a team, behind a proxy with https, after accounts were added:
      gamekeeper account add norland.gk ana --role administrator
      gamekeeper serve norland.gk --origin https://forms.example
    """
    try:
        from gamekeeper.web.serving import serve
    except ModuleNotFoundError as error:
        raise needs_web("The workbench was to be opened in the browser.", error) from error
    # To stop it is how it ends, and no fault.
    with suppress(KeyboardInterrupt):
        serve(asked, say=commands.say)
    commands.say("Stopped.")


def needs_web(asked: str, error: ModuleNotFoundError) -> InputError:
    """Return the error that what the browser needs is not installed."""
    if (error.name or "").startswith("gamekeeper"):
        raise error
    return InputError(
        Reason.MISSING_PACKAGE,
        asked,
        "What it needs is not installed.",
        "Install 'gamekeeper[web]'.",
    )


account_app = commands.command_group(
    "account",
    "Accounts of the workbench in the browser: who may sign in, in which role.\n\n"
    "As long as there are none, whoever starts the server is the only one who can use it.",
)


@commands.command(account_app, "add")
def add_command(asked: shared.NewAccountRequest) -> None:
    """Add an account; its password is asked for, or read from standard input.

    [bold]Examples[/bold]

      gamekeeper account add norland.gk ana --role administrator
    """
    accounts, _ = _people(asked.of)
    accounts.add(asked.name, _role(asked.role), _password())
    commands.say(f"{asked.name} may sign in, as {asked.role.value}.")


@commands.command(account_app, "list")
def list_command(
    asked: shared.AccountsRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """List the accounts and their roles."""
    rows = [(account.name, account.role.word) for account in _people(asked)[0].all()]
    commands.show(make_listing("accounts", ("account", "role"), rows, EVERYTHING), how)


@commands.command(account_app, "role")
def role_command(asked: shared.RoleRequest) -> None:
    """Give an account another role; its sessions end."""
    accounts, _ = _people(asked.of)
    accounts.change(asked.name, role=_role(asked.role))
    commands.say(f"{asked.name} is {asked.role.value} now.")


@commands.command(account_app, "password")
def password_command(asked: shared.AccountRequest) -> None:
    """Give an account another password; its sessions end."""
    accounts, _ = _people(asked.of)
    accounts.change(asked.name, password=_password())
    commands.say(f"{asked.name} has another password.")


@commands.command(account_app, "remove")
def remove_command(asked: shared.AccountRequest) -> None:
    """Remove an account; its sessions end, and what it did stays in the history."""
    accounts, _ = _people(asked.of)
    accounts.remove(asked.name)
    commands.say(f"{asked.name} may sign in no longer.")


@commands.command(account_app, "revoke")
def revoke_command(asked: shared.AccountRequest) -> None:
    """End all sessions of an account, which may sign in again."""
    _, sessions = _people(asked.of)
    commands.say(f"Sessions that ended: {sessions.revoke(asked.name)}.")


def _people(asked: shared.AccountsRequest) -> tuple[Accounts, Sessions]:
    try:
        from gamekeeper.web.serving import people_of
    except ModuleNotFoundError as error:
        raise needs_web("Accounts were asked for.", error) from error
    return people_of(asked)


def _role(asked: shared.AccountRole) -> Role:
    from gamekeeper.web.people import role_of

    return role_of(asked.value)


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return typer.prompt("Password", hide_input=True, confirmation_prompt=True)


@commands.command(app, "demo")
def demo_command(asked: shared.DemoRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Run the main job on made-up data and write HTML reports.

    [bold]Examples[/bold]

    Into ./demo-output:
      gamekeeper demo

    Other made-up people, elsewhere:
      gamekeeper demo --seed 7 --output elsewhere
    """
    from gamekeeper.cli.assess import tell_assessment
    from gamekeeper.mapping.analysis.composite_keys import describe_map
    from gamekeeper.workbench.demo_walk import run_demo

    try:
        with commands.progress_bar(
            "Making up a country, mapping, attacking and protecting"
        ) as progress:
            told = run_demo(asked, progress=progress)
    except (Cancelled, KeyboardInterrupt):
        if asked.output.is_dir():
            commands.warn(
                f"What was made so far is left in {asked.output}; the next demo replaces it."
            )
        raise
    found = told.risk.assessment
    if how is not commands.Format.TABLE:
        commands.show_for_programs(found, how, found.notices, **found.parts())
        return
    commands.say(
        f"May this file be released? {found.measured.keys.n_records:,} records, a sample of"
        f" {told.risk.fraction} of the {told.risk.n_people:,} people of Norland, who are made up."
    )
    commands.say()
    tell_assessment(found)
    commands.say()
    summary = told.check.summary()
    commands.say("How it came about:")
    commands.say()
    commands.say(
        f"1. What others know: {summary['forms']} invented forms with {summary['variables']} variables,"
        f" kept in a store with history. {summary['inconsistent'] or 'No'} of their categorizations are"
        " inconsistent, and are set aside."
    )
    _say_lines([describe_map(told.outcome), *told.story])
    commands.say()
    commands.say(
        f"2. What is kept of it, the scenario {told.scenario.name!r}, and what happens when forms change:"
    )
    _say_lines(told.later)
    commands.say()
    commands.say("3. How good the estimates were. Nobody has the population, except in a demo:")
    _say_lines(told.risk.truth)
    commands.say()
    tables = told.tables
    commands.say(
        f"4. Tables: {tables.axes[0]} by {tables.axes[1]} of the {tables.n_people:,} people of"
        f" {tables.place}, every count rounded to a multiple of 3."
    )
    _say_lines(tables.sentences())
    commands.say()
    commands.say(
        f"5. Linkage: {told.linkage.n_records:,} records of the file, masked in two ways, linked with"
        " the original."
    )
    _say_lines(told.linkage.sentences())
    commands.say()
    commands.say(
        "6. Protection: everybody is to fit at least 3 released records, and every record 3 people."
    )
    _say_lines(told.protection.sentences())
    commands.say()
    commands.say("Three things to open:")
    for what, path in told.open_first.items():
        commands.say(f"- {path}: {what}")


def _say_lines(lines: Sequence[str]) -> None:
    for line in lines:
        commands.say(f"   {line}")
