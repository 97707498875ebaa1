"""Edits of groups of forms.

A group is defined in one way: by the forms listed, by a query, or from other groups. One that is
renamed has its new name in the groups made from it; one that others are made from is not removed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.kinds.record import NewName, OfGroup, Record, require_new
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.groups import GROUP_WAYS, Group, ways_given
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.options import Option
from gamekeeper.wording import quoted


class _Defining(Record):
    """The one way in which a group is defined."""

    forms: Annotated[
        Names | None, Option("Forms listed by hand.", flags="FORM...", is_argument=True)
    ] = None
    where: Annotated[
        str | None,
        Option(
            "A query on the metadata of forms, such as: sector = bank and year >= 2029.",
            flags="--where -w",
        ),
    ] = None
    union: Annotated[Names | None, Option("Groups: the forms that are in any of them.")] = None
    intersection: Annotated[Names | None, Option("Groups: the forms that are in all of them.")] = (
        None
    )
    difference: Annotated[
        Names | None, Option("Groups: the forms in the first that are in no other.")
    ] = None


class AddGroup(_Defining):
    """Add a group, defined in exactly one way."""

    edit: Literal["add-group"] = "add-group"
    name: Annotated[str, Option("Its name.", flags="GROUP", is_argument=True)]
    description: Annotated[str, Option("What it is for.")] = ""


class ReplaceGroup(_Defining):
    """Define a group anew, in exactly one way."""

    edit: Literal["replace-group"] = "replace-group"
    group: OfGroup
    description: Annotated[str | None, Option("What it is for; by default it stays as it is.")] = (
        None
    )


class RenameGroup(Record):
    """Rename a group, also in the groups made from it."""

    edit: Literal["rename-group"] = "rename-group"
    group: OfGroup
    to: NewName


class RemoveGroup(Record):
    """Remove a group that no other is made from."""

    edit: Literal["remove-group"] = "remove-group"
    group: OfGroup


GroupEdit = AddGroup | ReplaceGroup | RenameGroup | RemoveGroup


def apply_group_edit(environment: Environment, edit: GroupEdit) -> Environment:
    """Return the environment after an edit of a group."""
    match edit:
        case AddGroup():
            require_new("group", edit.name, environment.groups)
            group = Group(edit.name, description=edit.description, **_definition(edit))
            return environment.changed(groups={group.name: group})
        case ReplaceGroup():
            before = environment.group(edit.group)
            said = before.description if edit.description is None else edit.description
            group = Group(before.name, description=said, **_definition(edit))
            return environment.changed(groups={group.name: group})
        case RenameGroup():
            environment.group(edit.group)
            require_new("group", edit.to, environment.groups)
            group = replace(environment.groups[edit.group], name=edit.to)
            users = {
                name: _with_part(other, edit.group, edit.to)
                for name, other in environment.groups.items()
                if edit.group in other.parts
            }
            return environment.changed(groups={edit.group: None, edit.to: group, **users})
        case RemoveGroup():
            environment.group(edit.group)
            _require_unused(environment, edit.group)
            return environment.changed(groups={edit.group: None})


def _definition(edit: AddGroup | ReplaceGroup) -> dict[str, Any]:
    """Return the one way in which a group is to be defined."""
    given = ways_given(edit)
    if len(given) != 1 or not (any(given.values()) or "forms" in given):
        named = f"{len(given)} ways: {quoted(given)}" if len(given) > 1 else "no way"
        raise InputError(
            Reason.BAD_OPTION,
            "A group was to be defined.",
            f"It is defined in {named}.",
            f"Give exactly one of {quoted(GROUP_WAYS)}.",
        )
    return given


def _with_part(group: Group, old: str, new: str) -> Group:
    ((way, parts),) = group.definition.items()
    return replace(group, **{way: tuple(new if part == old else part for part in parts)})


def _require_unused(environment: Environment, name: str) -> None:
    problems = [
        Problem(
            Reason.IN_USE,
            f"group {quoted([name])}",
            f"the group {quoted([other.name])} is made from it.",
            "Remove or change that group first.",
        )
        for other in environment.groups.values()
        if name in other.parts
    ]
    refuse(problems, f"The group {quoted([name])} was to be removed.", "It is in use.")
