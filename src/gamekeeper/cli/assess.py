"""The `assess` command: everything about a file in one go, the verdict first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gamekeeper.cli import commands
from gamekeeper.errors import NOT_MET_CODE
from gamekeeper.wording import cell_text, digits_text, percent_text
from gamekeeper.workbench.requests.assessment import AssessRequest

if TYPE_CHECKING:
    from gamekeeper.workbench.answers import Answer
    from gamekeeper.workbench.assessment import Assessment

app = typer.Typer(rich_markup_mode="rich")


@commands.command(app, "assess")
def assess_command(asked: AssessRequest, how: commands.AsFormat = commands.Format.TABLE) -> None:
    """Assess a file that may be released: a verdict, what drives the risk, what to do about it.

    Counts keys, searches for uniques, fits models and matches in one go. With a sampling fraction or
    weights it estimates how many records would be re-identified, with an interval; with a policy it
    judges each criterion, and ends with exit code 4 where one is not met or not proven.

    [bold]Examples[/bold]

      gamekeeper assess people.csv --keys Age,Sex,Region,Occupation --fraction 2% --report people.html

    Under a scenario of stage one, held to a limit that others use:
      gamekeeper assess people.csv --scenario "A data broker" -e norland.gk --weight w --policy hdx
    """
    from gamekeeper.workbench.assessment import assess_release

    with commands.progress_bar("Assessing the file") as progress:
        answer = assess_release(asked, progress=progress)
    is_met = answer.found.policy is None or answer.found.policy.is_met
    try:
        _show(asked, answer, how)
    except (BrokenPipeError, SystemExit):
        # A reader that has gone (as in `| head`) makes no policy met.
        if is_met:
            raise
    if not is_met:
        raise typer.Exit(NOT_MET_CODE)


def _show(asked: AssessRequest, answer: Answer[Assessment], how: commands.Format) -> None:
    found = answer.found
    explained = {str(record): found.explain_record(record) for record in asked.explain}
    if how is commands.Format.TABLE:
        commands.say_first(answer)
        tell_assessment(found)
        if asked.top:
            _show_riskiest(found, asked.top)
        _show_details(found)
        commands.say_explained(explained)
        commands.say_end(asked, found)
        return
    from gamekeeper.workbench.assessment import told_besides

    commands.show_for_programs(found, how, answer.notices, **told_besides(asked, answer))


def tell_assessment(found: Assessment, *, indent: str = "") -> None:
    """Say the verdict, how the file stands to the policy, what drives the risk, and what to do."""
    commands.say(f"{indent}{found.verdict}")
    for line in found.reservations:
        commands.say(f"{indent}{line}")
    if found.policy is not None:
        commands.say()
        rows = found.policy.rows()
        names = ("criterion", "asked", "found", "standing", "source")
        commands.show_table(names, [[str(row[name]) for name in names] for row in rows])
        for row in rows:
            if row["note"]:
                commands.say(f"{indent}{row['criterion']}: {row['note']}.")
    for title, lines in (
        ("What drives the risk", found.drivers),
        ("What to do about it", found.advice),
    ):
        commands.say()
        commands.say(f"{indent}{title}:")
        for line in lines:
            commands.say(f"{indent}- {line}")


def _show_riskiest(found: Assessment, most: int) -> None:
    from gamekeeper.attack.assessment.measured import Basis

    shown = found.ranked().top(most)
    commands.say_part("The riskiest records and what sets them apart:")
    own = [] if found.named is None else [shown.column_names[1]]
    shown_as = {
        "record": "record",
        **dict(zip(own, own, strict=True)),
        "risk_class": "class",
        **(
            {"p_bound": "right match at most"}
            if found.measured.chances.basis is Basis.BOUND
            else {
                "p_match": "right match",
                "people_lower": "people from",
                "people_upper": "people to",
            }
        ),
    }
    rows = [
        [*map(cell_text, row), "; ".join(found.measured.uniques.explain(row[0], most=3))]
        for row in zip(*(shown[name].to_pylist() for name in shown_as), strict=True)
    ]
    commands.show_table([*shown_as.values(), "why"], rows)


def _show_details(found: Assessment) -> None:
    measured = found.measured
    keys = measured.keys
    commands.say_part(
        "Records by the probability that a match is right, and by how many look alike:"
    )
    lower = dict(zip(measured.classes.names, measured.classes.lower, strict=True))
    rows = [
        [f"{name} (from {digits_text(lower[name])})", f"{n:,}", percent_text(n / keys.n_records)]
        for name, n in measured.class_counts().items()
    ]
    rows += [
        [f"fewer than {k} alike", f"{n:,}", percent_text(n / keys.n_records)]
        for k, n in found.k_violations().items()
    ]
    commands.show_table(["records", "number", "share"], rows)
    if measured.variables is not None:
        commands.say_part("What each variable adds, by models:")
        commands.show_result(
            measured.variables,
            {
                "variable": "variable",
                "tau1_left": "population uniques left without it",
                "tau1_lower": "from",
                "tau1_upper": "to",
            },
        )
    commands.say()
    commands.say("What guidance on anonymity asks:")
    for answer in found.guidance():
        commands.say(f"- {answer.question}: {answer.words}")
