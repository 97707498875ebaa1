"""Edits of variables as wholes.

A variable that is renamed has its new name on all forms and in the queries of groups, and keeps
its codes. One that forms have or queries ask for is not removed; the unrestricted editor takes it
from the forms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.edits.record import NewName, OfVariable, Record, require_new
from gamekeeper.mapping.edits.variable_change import require_distinct, with_variable
from gamekeeper.mapping.environment.definitions import Definition, variable_of
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.form import Form
from gamekeeper.mapping.environment.groups import Group
from gamekeeper.mapping.environment.queries import parse_query
from gamekeeper.options import Option
from gamekeeper.wording import count_of, folded, quoted


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


VariableEdit = AddVariable | ReplaceVariable | RemoveVariable | RenameVariable | DescribeVariable


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
        case DescribeVariable():
            variable = environment.variable(edit.variable)
            described = replace(variable, description=edit.description)
            return environment.changed(variables={variable.name: described})


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
    if problems:
        raise InputError(
            Reason.IN_USE,
            f"The variable {quoted([name])} was to be removed.",
            "It is in use.",
            problems=problems,
        )
    return environment.changed(
        variables={name: None}, forms={form.name: _dropped(form, name) for form in forms}
    )


def _dropped(form: Form, variable: str) -> Form:
    left = {name: labels for name, labels in form.instances.items() if name != variable}
    return replace(form, instances=left)


def _renamed(environment: Environment, old: str, new: str) -> Environment:
    variable = environment.variable(old)
    require_new("variable", new, environment.variables)
    forms = {
        name: replace(
            form,
            instances={new if v == old else v: labels for v, labels in form.instances.items()},
        )
        for name, form in environment.forms.items()
        if old in form.instances
    }
    groups = {
        name: replace(group, where=parse_query(group.where).renamed_variable(old, new).text)
        for name, group in _asking(environment, old).items()
    }
    return environment.changed(
        variables={old: None, new: replace(variable, name=new)},
        forms=forms,
        groups=groups,
        registers={new: environment.register(old)},
    )


def _asking(environment: Environment, variable: str) -> dict[str, Group]:
    """Return the groups whose queries ask for a variable."""
    return {
        name: group
        for name, group in environment.groups.items()
        if group.where and folded(variable) in map(folded, parse_query(group.where).variables)
    }
