"""Asking a person about proposed questions, one at a time."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import typer

from gamekeeper.cli.show import say
from gamekeeper.wording import did_you_mean, quoted

if TYPE_CHECKING:
    from gamekeeper.importing.decisions import AnswerDecision, Decision, FormDecisions
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.mapping.variables.variable import Variable


def ask_person(form: FormDecisions, decision: Decision, environment: Environment) -> Decision:
    """Show a question with what is proposed, and ask what to do with it.

    A name that is not known is asked for again. An answer without a meaning is asked for in turn:
    a category, '-' if it is no answer, or '*' if it is for all whom no other answer fits.
    """
    say()
    say(f"{form.form}, {decision.question}: {decision.text}")
    say(f"  {decision.variable} ({decision.score:.2f}): {decision.reason}")
    known = environment.variables
    choice = _asked(
        "  y takes it, n leaves it for later, x keeps its words and feeds nothing, or name a variable",
        {*known, "y", "n", "x"},
        "y" if decision.status == "sure" else "n",
    )
    if choice == "n":
        return decision
    if choice == "x":
        return decision.model_copy(update={"take": True, "variable": None, "outside": False})
    if choice != "y":
        from gamekeeper.importing.decisions import decided_for

        decision = decided_for(environment, decision, choice)
    variable = known[decision.variable or ""]
    answers = tuple(_placed(answer, variable) for answer in decision.answers)
    return decision.model_copy(update={"take": True, "answers": answers})


def _placed(answer: AnswerDecision, variable: Variable) -> AnswerDecision:
    if answer.means is not None or answer.no_answer is not None:
        return answer
    from gamekeeper.mapping.variables.variable import ELSE

    while True:
        means = _typed(f"  {answer.text!r} means the category (- for no answer, * for the rest)")
        if means == "-":
            return answer.model_copy(update={"no_answer": "not stated"})
        if means == "*":
            return answer.model_copy(update={"means": ELSE})
        if variable.resolve(means) is not None or variable.has_room_for(means):
            return answer.model_copy(update={"means": means})
        _told_unknown("category", means, variable.graph.categories)


def _asked(text: str, known: Collection[str], default: str) -> str:
    while True:
        choice = _typed(text, default)
        if choice in known:
            return choice
        _told_unknown("variable", choice, known)


def _typed(text: str, default: str | None = None) -> str:
    return typer.prompt(text, default=default, show_default=default is not None).strip()


def _told_unknown(kind: str, name: str, known: Collection[str]) -> None:
    say(f"  There is no {kind} {quoted([name])}. {did_you_mean(name, known)}")
