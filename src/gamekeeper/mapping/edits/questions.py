"""Edits of what a form prints: its questions with their answers, and who it asks.

What a variable on a form comes to follows from the questions that feed it, so these edits change
its labels too. In the normal editor they must be valid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.mapping.edits.record import OfForm, Record
from gamekeeper.mapping.edits.valid_forms import with_form
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.questions import Question, Universe
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
    form = environment.form(edit.form)
    match edit:
        case AskQuestion(question=asked):
            # A question that feeds a variable tells what was typed by hand before.
            own = {
                name: labels for name, labels in form.by_hand.items() if name not in asked.variables
            }
            form = replace(form, instances={**own}, questions=())
            old = environment.form(edit.form).questions
            names = [question.name for question in old]
            now = (
                tuple(asked if question.name == asked.name else question for question in old)
                if asked.name in names
                else (*old, asked)
            )
            made = form.with_questions(now)
            return with_form(
                environment,
                made,
                asked.variables,
                questions=(asked.name,),
                unrestricted=unrestricted,
            )
        case DropQuestion():
            gone = form.question(edit.question)
            left = form.with_questions(q for q in form.questions if q.name != gone.name)
            told = [name for name in gone.variables if name in left.instances]
            return with_form(environment, left, told, unrestricted=unrestricted)
        case SetUniverse():
            return environment.changed(forms={form.name: replace(form, universe=edit.universe)})
