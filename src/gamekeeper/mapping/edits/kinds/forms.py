"""Edits of forms.

In the normal editor a form is only given valid categorizations. A form that is removed is taken
out of the groups that list it, and one that is renamed is listed under its new name. Queries that
compare names of forms stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.kinds.record import (
    NewName,
    OfForm,
    OfVariable,
    Record,
    require_new,
)
from gamekeeper.mapping.edits.kinds.valid_forms import FormChange, with_form
from gamekeeper.mapping.edits.kinds.variables import without_variable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import Group
from gamekeeper.mapping.forms.questions import Question, Universe
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import values_of
from gamekeeper.wording import count_of, did_you_mean, quoted


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
    refuse(
        problems,
        f"Metadata of the form {quoted([form.name])} was to be set.",
        f"What was given has {count_of(len(problems), 'fault')}.",
    )
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
