"""The command on tables that others protected: what their hidden cells give away."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.commands import AsFormat, command
from gamekeeper.cli.risk_show import say_end, say_notices, show_for_programs, show_result
from gamekeeper.cli.show import Format, progress_bar, records_are_withheld, say, say_all, warn
from gamekeeper.errors import NOT_MET_CODE
from gamekeeper.workbench.requests.audit import AuditRequest, MarkRequest

if TYPE_CHECKING:
    from gamekeeper.attack.tables.audit.result import TableAudit

app = typer.Typer()


@command(app, "audit")
def audit_command(asked: AuditRequest, how: AsFormat = Format.TABLE) -> None:
    """Audit anybody's suppression: which hidden cells can be recomputed, and from which figures.

    Takes what tau-ARGUS, sdcTable, GaussSuppression, ACRO or a spreadsheet published, several tables
    of one base together, with subtotals on any axis. A cell that is given away comes with the equation
    that does it. With a rule, exit code 4 says that it is broken or not proven to hold. Ctrl-C keeps
    what is proven so far.

    [bold]Examples[/bold]

      gamekeeper tables audit counts.csv --rule exact

    Turnover by activity and size, hidden where a status says so, activities as in a hierarchy:
      gamekeeper tables audit table.csv --value TOT --count N_OBS --largest MAX --status Status
        --hierarchy ACTIVITY=activity.hrc --rule p:10
    """
    from gamekeeper.workbench.table_audit import audit_published

    with progress_bar("Auditing") as progress:
        answer = audit_published(asked, progress=progress, tell=warn)
    found = answer.found
    with exit_of_rules(is_met=found.is_met):
        if how is not Format.TABLE:
            few = found.sentences(0) if records_are_withheld() else None
            show_for_programs(found, how, answer.notices, sentences=few)
            return
        say_notices(answer.notices)
        said = found.sentences(0 if records_are_withheld() else asked.top)
        known = found.told(0 if records_are_withheld() else asked.top)
        say_all(said[: len(said) - known])
        if known:
            say()
            say("Given away:")
            for number, sentence in enumerate(said[len(said) - known :], start=1):
                say(f"{number:>3}. {sentence}")
        if asked.top and not records_are_withheld():
            _show_open(found, asked.top)
        say_end(asked, found)


@contextmanager
def exit_of_rules(*, is_met: bool) -> Generator[None]:
    """Exit as the rules stand, once all is printed; a reader that has gone makes no rule met."""
    with suppress(*(() if is_met else (BrokenPipeError, SystemExit))):
        yield
    if not is_met:
        raise typer.Exit(NOT_MET_CODE)


@command(app, "mark")
def mark_command(asked: MarkRequest, how: AsFormat = Format.TABLE) -> None:
    """Add up a file of records with all subtotals, and mark the cells that are unsafe to publish.

    Rules look at the contributions to each cell, by holdings and with weights: a minimum number,
    dominance, p%, prior and posterior knowledge, requests.

    [bold]Examples[/bold]

      gamekeeper tables mark firms.csv --axes Activity,Size --value Turnover --holding Group
        --hierarchy Activity=activity.hrc --rule p:10 --rule minimum:3 -o marked.csv
    """
    from gamekeeper.workbench.table_audit import mark_records

    found = mark_records(asked)
    if how is not Format.TABLE:
        show_for_programs(found, how)
        return
    say_all(found.sentences())
    if asked.top and found.n_unsafe and not records_are_withheld():
        say()
        say("Unsafe cells:")
        say()
        show_result(found, table=found.top(asked.top))
    say_end(asked, found)


def _show_open(found: TableAudit, most: int) -> None:

    rows = found.top(most)
    if rows.num_rows:
        say()
        say("The hidden cells that are known best:")
        say()
        told = ("why", "hidden_in", "tight", "known_to")
        names = [name for name in rows.column_names if name not in told]
        shown = [n for n in names if any(cell not in (None, "") for cell in rows[n].to_pylist())]
        show_result(found, {name: name.replace("_", " ") for name in shown}, table=rows)
