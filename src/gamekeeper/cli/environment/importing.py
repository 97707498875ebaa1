"""Asking a person about questions that are not sure, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from gamekeeper.cli.show import say

if TYPE_CHECKING:
    from gamekeeper.importing.decisions import Decision, FormDecisions


def ask_person(form: FormDecisions, decision: Decision) -> Decision:
    """Show a question with what is proposed, and ask what to do with it.

    An answer without a meaning is asked for in turn: a category, or '-' if it is no answer.
    """
    say()
    say(f"{form.form}, {decision.question}: {decision.text}")
    say(f"  {decision.variable} ({decision.score:.2f}): {decision.reason}")
    choice = typer.prompt(
        "  y takes it, n leaves it for later, x keeps its words and feeds nothing, or name a variable",
        default="n",
        show_default=True,
    ).strip()
    if choice == "n":
        return decision
    if choice == "x":
        return decision.model_copy(update={"take": True, "variable": None, "outside": False})
    changed: dict[str, Any] = {"take": True}
    if choice != "y":
        changed["variable"] = choice
    answers: list[Any] = []
    for answer in decision.answers:
        if answer.means is None and answer.no_answer is None:
            means = typer.prompt(f"  {answer.text!r} means the category (- for no answer)").strip()
            told = {"no_answer": "not stated"} if means == "-" else {"means": means}
            answer = answer.model_copy(update=told)
        answers.append(answer)
    return decision.model_copy(update={**changed, "answers": tuple(answers)})
