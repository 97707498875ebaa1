"""Edits of variables as wholes.

A variable that is renamed has its new name on all forms and in the queries of groups, and keeps
its codes. One that forms have or queries ask for is not removed; the unrestricted editor takes it
from the forms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.kinds.record import NewName, OfVariable, Record, require_new
from gamekeeper.mapping.edits.kinds.variable_change import require_distinct, reworded, with_variable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import follow_names
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import Group
from gamekeeper.mapping.forms.queries import parse_query
from gamekeeper.mapping.variables.definitions import Definition, Names, variable_of
from gamekeeper.options import Option
from gamekeeper.wording import count_of, did_you_mean, folded, quoted


class AddVariable(Record):
    """Add a variable."""

    edit: Literal["add-variable"] = "add-variable"
    definition: Definition


class ReplaceVariable(Record):
    """Give a variable another definition under the same name."""

    edit: Literal["replace-variable"] = "replace-variable"
    variable: OfVariable
    definition: Definition


class RemoveVariable(Record):
    """Remove a variable that no form has; without restriction, take it from all forms."""

    edit: Literal["remove-variable"] = "remove-variable"
    variable: OfVariable


class RenameVariable(Record):
    """Rename a variable, also on all forms and in the queries of groups."""

    edit: Literal["rename-variable"] = "rename-variable"
    variable: OfVariable
    to: NewName


class DescribeVariable(Record):
    """Describe a variable."""

    edit: Literal["describe-variable"] = "describe-variable"
    variable: OfVariable
    description: Annotated[str, Option("What it means.", is_argument=True)]


_Marked = Annotated[
    Names,
    Field(min_length=1),
    Option("The categories.", flags="CATEGORY...", is_argument=True),
]


class MarkSensitive(Record):
    """Mark categories of a variable as sensitive: worse to learn of somebody than others."""

    edit: Literal["mark-sensitive"] = "mark-sensitive"
    variable: OfVariable
    categories: _Marked


class UnmarkSensitive(Record):
    """Let categories of a variable be no longer marked as sensitive."""

    edit: Literal["unmark-sensitive"] = "unmark-sensitive"
    variable: OfVariable
    categories: _Marked


VariableEdit = (
    MarkSensitive
    | UnmarkSensitive
    | AddVariable
    | ReplaceVariable
    | RemoveVariable
    | RenameVariable
    | DescribeVariable
)


def apply_variable_edit(
    environment: Environment, edit: VariableEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of a variable."""
    match edit:
        case AddVariable():
            require_new("variable", edit.definition.name, environment.variables)
            variable = variable_of(edit.definition)
            require_distinct(variable, set())
            return environment.changed(variables={variable.name: variable})
        case ReplaceVariable():
            variable = environment.variable(edit.variable)
            if edit.definition.name != variable.name:
                raise InputError(
                    Reason.BAD_NAME,
                    f"The variable {quoted([variable.name])} was to be replaced.",
                    f"Its new definition is of {quoted([edit.definition.name])}.",
                    "Give it the same name, and rename it by an edit of its own.",
                )
            return with_variable(
                environment, variable_of(edit.definition), unrestricted=unrestricted
            )
        case RemoveVariable():
            return _without(environment, edit.variable, unrestricted=unrestricted)
        case RenameVariable():
            return _renamed(environment, edit.variable, edit.to)
        case MarkSensitive() | UnmarkSensitive():
            return _marked(environment, edit)
        case DescribeVariable():
            variable = environment.variable(edit.variable)
            described = replace(variable, description=edit.description)
            return environment.changed(variables={variable.name: described})


def _marked(environment: Environment, edit: MarkSensitive | UnmarkSensitive) -> Environment:
    variable = environment.variable(edit.variable)
    problems: list[Problem] = []
    named: set[str] = set()
    for label in edit.categories:
        category = variable.resolve(label)
        if category is None:
            where, found = (
                f"category {quoted([label])}",
                f"is not one of {quoted([variable.name])}.",
            )
            near = did_you_mean(label, variable.graph.categories)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, near))
        else:
            named.add(category)
    is_mark = isinstance(edit, MarkSensitive)
    now = variable.sensitive | named if is_mark else variable.sensitive - named
    if not problems and now == variable.sensitive:
        found = "They are marked already." if is_mark else "They are not marked."
        problems.append(Problem(Reason.NOTHING_GIVEN, f"variable {quoted([variable.name])}", found))
    refuse(
        problems,
        f"Categories of {quoted([variable.name])} were to be marked or unmarked as sensitive.",
        f"What was given has {count_of(len(problems), 'fault')}.",
    )
    return environment.changed(variables={variable.name: replace(variable, sensitive=now)})


def _without(environment: Environment, name: str, *, unrestricted: bool) -> Environment:
    environment.variable(name)
    forms = [form for form in environment.forms.values() if name in form.instances]
    where = f"variable {quoted([name])}"
    problems = [
        Problem(
            Reason.IN_USE,
            where,
            f"the query of the group {quoted([group])} asks for it.",
            "Change the group first.",
        )
        for group in _asking(environment, name)
    ]
    if forms and not unrestricted:
        on_forms = quoted(form.name for form in forms)
        found = f"{count_of(len(forms), 'form has it', 'forms have it')}: {on_forms}."
        do = "Drop it from them first, or use the unrestricted editor."
        problems.append(Problem(Reason.IN_USE, where, found, do))
    refuse(problems, f"The variable {quoted([name])} was to be removed.", "It is in use.")
    worded = (form for form in environment.forms.values() if form.questions or form.universe)
    left = {form.name: without_variable(form, name) for form in (*forms, *worded)}
    return environment.changed(
        variables={name: None},
        forms={key: form for key, form in left.items() if form is not environment.forms[key]},
        rules=follow_names(environment.rules, name, None, str),
    )


def without_variable(form: Form, variable: str) -> Form:
    """Return a form without a variable; questions that fed it keep their words and feed nothing."""
    form = reworded(form, variable, str, None)
    if variable not in form.instances:
        return form
    left = {name: labels for name, labels in form.instances.items() if name != variable}
    return replace(form, instances=left)


def _renamed(environment: Environment, old: str, new: str) -> Environment:
    variable = environment.variable(old)
    require_new("variable", new, environment.variables)
    forms = {
        name: _with_name(form, old, new)
        for name, form in environment.forms.items()
        if old in form.instances or form.questions or form.universe
    }
    forms = {name: form for name, form in forms.items() if form is not environment.forms[name]}
    groups = {
        name: replace(group, where=parse_query(group.where).renamed_variable(old, new).text)
        for name, group in _asking(environment, old).items()
    }
    return environment.changed(
        variables={old: None, new: replace(variable, name=new)},
        forms=forms,
        groups=groups,
        registers={new: environment.register(old)},
        rules=follow_names(environment.rules, old, new, str),
    )


def _with_name(form: Form, old: str, new: str) -> Form:
    """Return a form that has a variable under another name."""
    form = reworded(form, old, str, new)
    if old not in form.by_hand:
        return form
    own = {new if name == old else name: labels for name, labels in form.by_hand.items()}
    return replace(form, instances=own)


def _asking(environment: Environment, variable: str) -> dict[str, Group]:
    """Return the groups whose queries ask for a variable."""
    return {
        name: group
        for name, group in environment.groups.items()
        if group.where and folded(variable) in map(folded, parse_query(group.where).variables)
    }
