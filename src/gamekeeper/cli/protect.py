"""The commands of stage three on microdata: audit, try, map, choose, undo, apply, replay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from gamekeeper.cli import commands
from gamekeeper.errors import NOT_MET_CODE, Cancelled
from gamekeeper.workbench.requests import protection

if TYPE_CHECKING:
    from gamekeeper.protection.plan import RiskUtilityMap
    from gamekeeper.workbench.answers import Answer
    from gamekeeper.workbench.protection.applying import ReleasedFile

app = commands.command_group(
    "protect",
    "Stage three: protect a file, attack it again, and prove it.\n\n"
    "What must be done so that everybody has enough candidates, and no more than that? What do the same"
    " attacks achieve afterwards, and what is lost? Candidates are kept in a study, and a recipe does"
    " the same to next year's file.",
)

_FIGURES = {
    "measure": "attack",
    "before": "before",
    "after": "after",
    "kind": "how sure",
    "note": "note",
}
_CANDIDATES = {
    "candidate": "candidate",
    "from": "from",
    "what": "what",
    "meets_targets": "meets targets",
    "risk_share": "right matches",
    "lost_share": "lost",
    "suppressed": "cells suppressed",
    "frontier": "frontier",
}


@commands.command(app, "audit")
def audit_command(
    asked: protection.AuditRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Attack anybody's masking of a file: who can be whom, links, an assessment, utility.

    Suppressed, recoded, swapped, noisy or synthetic: released records are compared with the people of
    the original, by every criterion, and attacked as the original is.

    [bold]Examples[/bold]

      gamekeeper protect audit people.csv released.csv --keys Age,Sex,Region --id person

    Hold it to a target (exit code 4 where it is missed):
      gamekeeper protect audit people.csv released.csv --keys Age,Sex,Region -t "both>=3"
    """
    from gamekeeper.workbench.protection.auditing import audit_release

    with commands.progress_bar("Attacking the release") as progress:
        answer = audit_release(asked, progress=progress)
    found = answer.found
    if how is commands.Format.TABLE:
        commands.say_first(answer)
        commands.say_all(found.sentences())
        commands.say()
        commands.show_result(found, _FIGURES)
        commands.say_end(asked, found)
    else:
        masked = [
            {
                "variable": each.variable,
                "recoded": each.is_recoded,
                "suppressed": each.n_suppressed,
                "changed": each.n_changed,
                "overlaps": each.overlaps,
                "ends_meet": each.ends_meet,
                "unread": each.n_unread,
            }
            for each in found.masked
        ]
        commands.show_for_programs(
            found,
            how,
            answer.notices,
            targets=[each.to_json() for each in found.targets],
            masked={"rows": masked},
            utility=found.utility,
        )
    if not found.is_met:
        raise typer.Exit(NOT_MET_CODE)


@commands.command(app, "try")
def try_command(
    asked: protection.TryRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Try candidates for targets: suppression, recoding, both; each is attacked again.

    Ends with exit code 4 where no candidate meets every target; the best that was reached is told,
    and what is in the way.

    [bold]Examples[/bold]

      gamekeeper protect try people.csv --keys Age,Sex,Region,Work -t "both>=3" --recipe recipe.json

    Under a scenario, with a study to go on with, and wishes:
      gamekeeper protect try people.csv --scenario "A data broker" -e norland.gk -t "both>=3"
      -t "expected matches<=1%" --cost Age=1 --cost Sex=4 --pin Region --study people.gkp
    """
    from gamekeeper.workbench.protection.trying import kept_by, try_protection

    try:
        with commands.progress_bar("Trying candidates") as progress:
            answer = try_protection(asked, progress=progress)
    except KeyboardInterrupt:
        raise Cancelled("Trying candidates.", kept_by(asked.study)) from None
    plan = answer.found
    if how is commands.Format.TABLE:
        commands.say_first(answer)
        commands.say_all(plan.sentences())
        commands.say()
        commands.show_result(plan, _shown(plan.map))
        commands.say_end(asked, plan)
    else:
        commands.show_for_programs(
            plan,
            how,
            answer.notices,
            candidates=[each.to_json() for each in plan.candidates],
            targets_before=[each.to_json() for each in plan.judged_before],
            before=plan.before,
        )
    if plan.targets and not plan.is_met:
        raise typer.Exit(NOT_MET_CODE)


@commands.command(app, "map")
def map_command(
    asked: protection.StudyRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Show every candidate of a study, risk against loss, with the frontier.

    [bold]Examples[/bold]

      gamekeeper protect map people.gkp --plot map.svg
    """
    from gamekeeper.workbench.protection.trying import show_study

    found = show_study(asked)
    if how is not commands.Format.TABLE:
        commands.show_for_programs(
            found, how, candidates=[each.to_json() for each in found.candidates]
        )
        return
    commands.say_all(found.sentences())
    commands.say(
        "The next candidate is made from "
        + (f"candidate {found.current}." if found.current else "the file itself.")
    )
    commands.say()
    commands.show_result(found, _shown(found))
    commands.say_written(asked)


@commands.command(app, "choose")
def choose_command(asked: protection.ChooseRequest) -> None:
    """Choose the candidate that the next one is made from; write its recipe.

    [bold]Examples[/bold]

      gamekeeper protect choose people.gkp 3 --recipe recipe.json
    """
    from gamekeeper.workbench.protection.trying import choose_candidate

    chosen = choose_candidate(asked)
    if chosen is None:
        commands.say("The next candidate is made from the file itself.")
    else:
        commands.say(
            f"The next candidate is made from candidate {chosen.number}. {chosen.sentence}"
        )
        commands.say_all([*chosen.unexamined, *chosen.told])
    commands.say_written(asked)


@commands.command(app, "undo")
def undo_command(asked: protection.UndoRequest) -> None:
    """Go back to the candidate that the current one was made from; nothing is lost.

    [bold]Examples[/bold]

      gamekeeper protect undo people.gkp
    """
    from gamekeeper.workbench.protection.trying import undo_choice

    number = undo_choice(asked)
    place = f"candidate {number}" if number else "the file itself"
    commands.say(f"The next candidate is made from {place}. All candidates are still there.")


@commands.command(app, "apply")
def apply_command(
    asked: protection.ApplyRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Apply a recipe to the file it was made for, attack it again, and write the release.

    The release has the format of the file. Where a target is missed, nothing is written, and the exit
    code is 4. The same recipe and the same file give the same bytes.

    [bold]Examples[/bold]

      gamekeeper protect apply recipe.json people.csv -o released.csv --leave-out Name,Address
      --report internal.html --public public.html
    """
    from gamekeeper.workbench.protection.applying import apply_recipe

    with commands.progress_bar("Protecting and attacking") as progress:
        answer = apply_recipe(asked, progress=progress)
    _tell_release(asked, answer, how)


@commands.command(app, "replay")
def replay_command(
    asked: protection.ReplayRequest, how: commands.AsFormat = commands.Format.TABLE
) -> None:
    """Apply a recipe to another file of the same kind, such as next year's, and attack again.

    Found recodings are used as they are (--frozen) or searched for again (--anew); cells are suppressed
    as the new file needs. Where a target is missed, no release is written, and the exit code is 4.

    [bold]Examples[/bold]

      gamekeeper protect replay recipe.json people-2032.csv -o released-2032.csv --frozen
    """
    from gamekeeper.workbench.protection.applying import replay_recipe

    with commands.progress_bar("Protecting and attacking") as progress:
        answer = replay_recipe(asked, progress=progress)
    _tell_release(asked.apply, answer, how)


def _tell_release(
    asked: protection.ApplyRequest, answer: Answer[ReleasedFile], how: commands.Format
) -> None:
    found = answer.found
    if how is commands.Format.TABLE:
        commands.say_first(answer)
        commands.say_all(found.sentences())
        commands.say()
        commands.show_result(found, _FIGURES)
        commands.say_how(found)
        _say_files(asked, found)
    else:
        commands.show_for_programs(
            found,
            how,
            answer.notices,
            targets=[each.to_json() for each in found.targets],
            changes=found.protected,
            utility=found.utility,
            recipe=found.recipe.to_json(),
        )
    if not found.is_met:
        raise typer.Exit(NOT_MET_CODE)


def _say_files(asked: protection.ApplyRequest, found: ReleasedFile) -> None:
    """Say what was written; of a file that missed a target there is neither release nor public page."""
    if not found.is_met:
        asked = replace(
            asked,
            release=replace(asked.release, output=None, public=None, external=None, changes=None),
        )
    commands.say_written(asked)


def _shown(found: RiskUtilityMap) -> dict[str, Any]:
    failed = any(candidate.failed for candidate in found.candidates)
    return {**_CANDIDATES, "failed": "why not"} if failed else _CANDIDATES
