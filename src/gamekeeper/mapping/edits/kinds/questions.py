"""Edits of what a form prints: its questions with their answers, and who it asks.

What a variable on a form comes to follows from the questions that feed it, so these edits change
its labels too. In the normal editor they must be valid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.mapping.edits.kinds.record import OfForm, Record
from gamekeeper.mapping.edits.kinds.valid_forms import FormChange, with_form
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.questions import Question, Universe
from gamekeeper.options import Option

OfQuestion = Annotated[str, Option("The question.", is_argument=True)]


class AskQuestion(Record):
    """Put a question on a form, or another in place of the one of that name."""

    edit: Literal["ask-question"] = "ask-question"
    form: OfForm
    question: Question = Field(description="The question in the words of the form.")


class DropQuestion(Record):
    """Take a question off a form, with what it told of variables."""

    edit: Literal["drop-question"] = "drop-question"
    form: OfForm
    question: OfQuestion


class SetUniverse(Record):
    """Say who a form is for, or take back what was said."""

    edit: Literal["set-universe"] = "set-universe"
    form: OfForm
    universe: Universe | None = Field(description="Who is asked; null for nobody in particular.")


QuestionEdit = AskQuestion | DropQuestion | SetUniverse


def apply_question_edit(
    environment: Environment, edit: QuestionEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of the questions of a form."""
    change = form_with_question(environment.form(edit.form), edit)
    return with_form(environment, change, unrestricted=unrestricted)


def form_with_question(form: Form, edit: QuestionEdit) -> FormChange:
    """Return a form as an edit of its questions would have it."""
    match edit:
        case AskQuestion(question=asked):
            # A question that feeds a variable takes the place of labels typed by hand.
            own = {n: labels for n, labels in form.by_hand.items() if n not in asked.variables}
            known = form.questions
            now = tuple(asked if each.name == asked.name else each for each in known)
            if all(each.name != asked.name for each in known):
                now = (*known, asked)
            made = replace(form, instances=own, questions=now)
            return FormChange(made, asked.variables, questions=(asked.name,))
        case DropQuestion():
            gone = form.question(edit.question)
            left = form.with_questions(q for q in form.questions if q.name != gone.name)
            return FormChange(left, [name for name in gone.variables if name in left.instances])
        case SetUniverse():
            return FormChange(replace(form, universe=edit.universe))
