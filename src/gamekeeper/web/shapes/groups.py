"""Groups on the wire: how each is defined, and which forms it has now."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gamekeeper.mapping.environment.environment import Environment, Group
from gamekeeper.web.shapes.common import Named, named
from gamekeeper.web.wire.ids import id_of


class GroupDefinition(BaseModel):
    """A group, defined in one way; the others are empty."""

    forms: list[str] = Field(default=[], description="Names of forms, by hand.")
    where: str = Field(default="", description="A query: sector = bank and year >= 2029.")
    union: list[str] = Field(default=[], description="Names of groups: forms in any of them.")
    intersection: list[str] = Field(default=[], description="Forms in all of them.")
    difference: list[str] = Field(default=[], description="Forms in the first and no other.")


class GroupShape(BaseModel):
    """A group with the forms that it has now."""

    id: str
    name: str
    revision: int
    description: str
    definition: GroupDefinition
    n_forms: int
    forms: list[Named]
    used_by: list[Named] = Field(description="The groups that are made from it.")


class GroupLine(BaseModel):
    """A group in the list of all."""

    id: str
    name: str
    description: str
    definition: GroupDefinition
    n_forms: int


class GroupList(BaseModel):
    """All groups."""

    revision: int
    groups: list[GroupLine]


class GroupCount(BaseModel):
    """How many forms a definition finds, and which."""

    n_forms: int
    ids: list[str]


def _definition(group: Group) -> GroupDefinition:
    return GroupDefinition(
        forms=[] if group.is_live else list(group.forms),
        where=group.where,
        union=list(group.union),
        intersection=list(group.intersection),
        difference=list(group.difference),
    )


def group_list(environment: Environment, revision: int) -> GroupList:
    """Return all groups as their list shows them."""
    lines = [
        GroupLine(
            id=id_of(name),
            name=name,
            description=group.description,
            definition=_definition(group),
            n_forms=len(environment.group(name).forms),
        )
        for name, group in environment.groups.items()
    ]
    return GroupList(revision=revision, groups=lines)


def group_shape(environment: Environment, name: str, revision: int) -> GroupShape:
    """Return a group as its page shows it."""
    group = environment.groups[name]
    forms = environment.group(name).forms
    return GroupShape(
        id=id_of(name),
        name=name,
        revision=revision,
        description=group.description,
        definition=_definition(group),
        n_forms=len(forms),
        forms=[named(form) for form in forms],
        used_by=[named(each.name) for each in environment.groups.values() if name in each.parts],
    )


def group_count(environment: Environment, definition: GroupDefinition) -> GroupCount:
    """Return what forms a definition would find, without making a group of it."""
    name = "the group that is being defined"
    group = Group(
        name,
        tuple(definition.forms),
        where=definition.where,
        union=tuple(definition.union),
        intersection=tuple(definition.intersection),
        difference=tuple(definition.difference),
    )
    forms = environment.changed(groups={name: group}).group(name).forms
    return GroupCount(n_forms=len(forms), ids=[id_of(form) for form in forms])
