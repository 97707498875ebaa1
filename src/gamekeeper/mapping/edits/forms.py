"""Edits of forms, and of what they print: their questions with their answers, and who they ask.

In the normal editor a form is only given valid categorizations. A form that is removed is taken
out of the groups that list it, and one that is renamed is listed under its new name. Queries that
compare names of forms stay as they are. What a variable on a form comes to follows from the
questions that feed it, so edits of these change its labels too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.environment import NewName, OfForm, OfVariable, Record, require_new
from gamekeeper.mapping.edits.variables import without_variable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import metadata_problems
from gamekeeper.mapping.forms.form import Form, Question, Universe
from gamekeeper.mapping.forms.groups import Group
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import values_of
from gamekeeper.wording import count_of, did_you_mean, quoted


@dataclass(frozen=True, slots=True)
class FormChange:
    """A form as an edit would have it, and what of it the normal editor looks at.

    That are variables given that must be valid on it, keys of its metadata (None for all) and questions
    whose metadata must be as declared.
    """

    form: Form
    given: Sequence[str] = ()
    keys: Collection[str] | None = ()
    questions: Sequence[str] = ()


def with_form(environment: Environment, change: FormChange, *, unrestricted: bool) -> Environment:
    """Return the environment with a changed form, if that is allowed."""
    form = change.form
    made = environment.changed(forms={form.name: form})
    if unrestricted:
        return made
    problems = [
        Problem(
            Reason.NOT_A_CATEGORIZATION,
            f"form {quoted([form.name])}, variable {quoted([variable])}",
            f"{categorization.fault}.",
            "Change the labels." if variable in form.by_hand else "Change what the answers mean.",
        )
        for variable in change.given
        if not (categorization := made.categorization(form.name, variable)).is_valid
    ]
    refuse(
        problems,
        f"The form {quoted([form.name])} was asked for.",
        f"It has {count_of(len(problems), 'categorization')} that does not fit its variable."
        if len(problems) == 1
        else f"It has {len(problems)} categorizations that do not fit their variables.",
        "Select categories that reach every sink once; the unrestricted editor lets others pass.",
    )
    unmet = metadata_problems(environment.rules, form, change.keys, change.questions)
    asked = f"The form {quoted([form.name])} was asked for."
    found = f"Its metadata is not as declared in {count_of(len(unmet), 'place')}."
    refuse(unmet, asked, found, "Give what was declared; 'gamekeeper env rules' lists it.")
    return made


class AddForm(Record):
    """Add a form."""

    edit: Literal["add-form"] = "add-form"
    name: str
    metadata: dict[str, bool | int | float | str | None] = Field(
        default={}, description="Whatever is worth knowing about the form."
    )
    variables: dict[str, Names] = Field(
        default={},
        description="Every variable on the form with the labels of the categories offered; an"
        " empty list means any level of detail.",
    )
    questions: Annotated[tuple[Question, ...], Field(strict=False)] = Field(
        default=(),
        description="The questions of the form in its own words; variables that they feed need no"
        " labels.",
    )
    universe: Universe | None = Field(default=None, description="Who the form is for.")


class RemoveForm(Record):
    """Remove a form, also from the groups that list it."""

    edit: Literal["remove-form"] = "remove-form"
    form: OfForm


class RenameForm(Record):
    """Rename a form, also in the groups that list it."""

    edit: Literal["rename-form"] = "rename-form"
    form: OfForm
    to: NewName


class SetMetadata(Record):
    """Set some metadata of a form or of one of its questions, and remove some."""

    edit: Literal["set-metadata"] = "set-metadata"
    form: OfForm
    values: Annotated[
        dict[str, bool | int | float | str | None],
        Option("Metadata.", flags="KEY=VALUE...", is_argument=True, read=values_of),
    ] = Field(default={})
    remove: Annotated[Names, Option("A key to remove.", flags="--remove -r")] = ()
    question: Annotated[
        str | None, Option("The question that it is about; by default the form as a whole.")
    ] = None


class AskVariable(Record):
    """Let a form ask for a variable, or change the categories that it offers."""

    edit: Literal["ask-variable"] = "ask-variable"
    form: OfForm
    variable: OfVariable
    labels: Names = Field(
        description="The labels of the categories offered; none means any level of detail."
    )


class DropVariable(Record):
    """Let a form no longer ask for a variable."""

    edit: Literal["drop-variable"] = "drop-variable"
    form: OfForm
    variable: OfVariable


FormEdit = AddForm | RemoveForm | RenameForm | SetMetadata | AskVariable | DropVariable


def apply_form_edit(
    environment: Environment, edit: FormEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of a form."""
    match edit:
        case RemoveForm():
            form = environment.form(edit.form)
            return environment.changed(
                forms={form.name: None}, groups=_relisted(environment, form.name, ())
            )
        case RenameForm():
            form = environment.form(edit.form)
            require_new("form", edit.to, environment.forms)
            return environment.changed(
                forms={form.name: None, edit.to: replace(form, name=edit.to)},
                groups=_relisted(environment, form.name, (edit.to,)),
            )
        case _:
            name = edit.name if isinstance(edit, AddForm) else edit.form
            change = changed_form(environment, environment.forms.get(name), edit)
            return with_form(environment, change, unrestricted=unrestricted)


def changed_form(
    environment: Environment,
    form: Form | None,
    edit: AddForm | SetMetadata | AskVariable | DropVariable,
) -> FormChange:
    """Return a form as an edit of it alone would have it; None where there is no such form yet."""
    if isinstance(edit, AddForm):
        require_new("form", edit.name, () if form is None else (form.name,))
        made = Form(edit.name, edit.variables, edit.metadata, edit.questions, edit.universe)
        questions = [question.name for question in made.questions]
        return FormChange(made, tuple(made.instances), None, questions)
    known = form or environment.form(edit.form)
    match edit:
        case SetMetadata():
            made = _with_metadata(known, edit)
            if edit.question is not None:
                return FormChange(made, questions=(edit.question,))
            return FormChange(made, keys=(*edit.values, *edit.remove))
        case AskVariable():
            environment.variable(edit.variable)
            _require_by_hand(known, edit.variable)
            made = replace(known, instances={**known.instances, edit.variable: edit.labels})
            return FormChange(made, (edit.variable,))
        case DropVariable():
            environment.variable(edit.variable)
            known.labels(edit.variable)
            return FormChange(without_variable(known, edit.variable))


def _require_by_hand(form: Form, variable: str) -> None:
    asking = [question.name for question in form.questions if variable in question.variables]
    if asking:
        raise InputError(
            Reason.IN_USE,
            f"The form {quoted([form.name])} was to ask for {quoted([variable])} in other labels.",
            f"They follow from what the answers of {quoted(asking)} mean.",
            "Change the question, or drop it first.",
        )


def _relisted(environment: Environment, form: str, now: tuple[str, ...]) -> dict[str, Group]:
    """Return the groups that list a form by hand, with what is to be listed instead."""
    return {
        name: replace(
            group, forms=tuple(n for f in group.forms for n in (now if f == form else (f,)))
        )
        for name, group in environment.groups.items()
        if not group.is_live and form in group.forms
    }


def _with_metadata(form: Form, edit: SetMetadata) -> Form:
    where = f"form {quoted([form.name])}"
    metadata = form.metadata
    if edit.question is not None:
        metadata = form.question(edit.question).metadata
        where += f", question {quoted([edit.question])}"
    problems = [
        Problem(
            Reason.UNKNOWN_NAME,
            where,
            f"has no metadata {quoted([key])} to remove.",
            did_you_mean(key, metadata),
        )
        for key in edit.remove
        if key not in metadata
    ]
    problems += [
        Problem(Reason.BAD_OPTION, where, f"is to have {quoted([key])} set and removed.", "Choose.")
        for key in edit.remove
        if key in edit.values
    ]
    if not edit.values and not edit.remove:
        problems.append(
            Problem(Reason.NOTHING_GIVEN, where, "is given nothing to set or remove.", "Give some.")
        )
    asked = f"Metadata of the form {quoted([form.name])} was to be set."
    refuse(problems, asked, f"What was given has {count_of(len(problems), 'fault')}.")
    kept = {key: value for key, value in metadata.items() if key not in edit.remove}
    now = {**kept, **edit.values}
    if edit.question is None:
        return replace(form, metadata=now)
    return form.with_questions(
        question.model_copy(update={"metadata": now})
        if question.name == edit.question
        else question
        for question in form.questions
    )


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
