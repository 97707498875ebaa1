"""The environment on the wire: what it holds and what is wrong in it, its forms, groups and edits.

Forms are a grid of all, column by column, or a single one with all that it asks; groups have their
definition and the forms they have now. Edits are the records of `mapping.edits` as they are, and
what they did or would do.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.edits import Edit
from gamekeeper.mapping.environment.environment import Environment, Group
from gamekeeper.mapping.forms.form import Question, Universe
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.revisions import Revision
from gamekeeper.web.wire import filled, id_of
from gamekeeper.workbench.environment.editing import Edited, Preview

Value = str | int | float | bool | None
"""A value of free metadata."""


class Named(BaseModel):
    """Something that has a name."""

    id: str
    name: str


def named(name: str) -> Named:
    """Return a name with its id."""
    # Both are texts of ours: to check them again would take longer than to make them.
    return Named.model_construct(id=id_of(name), name=name)


def given_code(
    environment: Environment, variable: str, partition: Partition | Arbitrary | None
) -> str | None:
    """Return the code of what a form has, which is given already; None where that is not valid."""
    return None if partition is None else environment.given_codes(variable).code(partition)


class RevisionShape(BaseModel):
    """One acknowledged change: what was done, by whom, when."""

    number: int
    at: str
    who: str
    action: str
    of: int | None
    unrestricted: bool
    note: str
    words: list[str]


def revision_shape(revision: Revision) -> RevisionShape:
    """Return a revision as pages show it; of very many edits the first."""
    words = list(revision.words[:50])
    if (left := len(revision.words) - len(words)) > 0:
        words.append(f"And {left:,} more.")
    return filled(
        RevisionShape,
        revision,
        at=revision.at.isoformat(),
        action=revision.action.value,
        words=words,
    )


_SHOWN_FAULTS = 200


class FaultShape(BaseModel):
    """A categorization that is not valid, and why."""

    form: Named
    variable: Named
    fault: str


class EnvironmentShape(BaseModel):
    """What the overview shows."""

    name: str
    description: str
    revision: int
    readonly: bool = Field(description="Whether the store can only be read here.")
    n_forms: int
    n_variables: int
    n_groups: int
    n_scenarios: int
    n_questions: int = Field(description="Variables on forms, all together.")
    n_faults: int
    faults: list[FaultShape] = Field(description="Of very many the first.")
    changes: list[RevisionShape] = Field(description="The newest first.")


def environment_shape(
    environment: Environment, revision: int, store: EnvironmentStore
) -> EnvironmentShape:
    """Return the environment as its overview shows it."""
    faults = [
        FaultShape(form=named(form), variable=named(variable), fault=fault)
        for variable in environment.variables
        for form, fault in environment.faulty_instances(variable).items()
    ]
    return EnvironmentShape(
        name=environment.name,
        description=environment.description,
        revision=revision,
        readonly=store.readonly,
        n_forms=len(environment.forms),
        n_variables=len(environment.variables),
        n_groups=len(environment.groups),
        n_scenarios=len(environment.scenarios),
        n_questions=environment.n_instances,
        n_faults=len(faults),
        faults=faults[:_SHOWN_FAULTS],
        changes=[revision_shape(each) for each in store.history(most=8)],
    )


_NOBODY = np.zeros(0, np.int32)


class MetadataColumn(BaseModel):
    """A key of metadata: its values once each, and per form the number of its value."""

    key: str
    values: list[Value]
    cells: list[int] = Field(description="Per form the place of its value in `values`, or -1.")


class VariableColumn(BaseModel):
    """A variable: its codes once each, and which forms have which."""

    id: str
    name: str
    codes: list[str] = Field(description="Codes; a question mark where it is not valid.")
    rows: list[int] = Field(description="The numbers of the forms that ask it, from 0.")
    cells: list[int] = Field(description="Per such form the place of its code in `codes`.")


class Grid(BaseModel):
    """All forms by all columns."""

    revision: int
    ids: list[str]
    names: list[str]
    asked: list[int] = Field(description="Per form the number of its variables.")
    metadata: list[MetadataColumn]
    variables: list[VariableColumn]


def grid_shape(environment: Environment, revision: int) -> dict[str, Any]:
    """Return the grid as plain values, for it is large."""
    forms = list(environment.forms.values())
    rows = {form.name: number for number, form in enumerate(forms)}
    keys = Counter(key for form in forms for key in form.metadata)
    metadata: list[dict[str, Any]] = []
    for key in sorted(keys, key=lambda key: (-keys[key], key)):
        # True and 1 are one key of a dictionary and two values.
        places: dict[tuple[type, Value], int] = {}
        cells = [-1] * len(forms)
        for number, form in enumerate(forms):
            if key in form.metadata:
                value = form.metadata[key]
                cells[number] = places.setdefault((type(value), value), len(places))
        metadata.append({"key": key, "values": [value for _, value in places], "cells": cells})
    variables: list[dict[str, Any]] = []
    for name in environment.variables:
        codes: dict[str, int] = {}
        asking: list[NDArray[np.int32]] = []
        coded: list[int] = []
        for categorization, having in environment.instances(name):
            if not having:
                continue
            code = given_code(environment, name, categorization.partition) or "?"
            asking.append(np.fromiter(map(rows.__getitem__, having), np.int32, len(having)))
            coded.append(codes.setdefault(code, len(codes)))
        asked = np.concatenate([*asking, _NOBODY])
        cells = np.repeat(np.array(coded, np.int32), [len(each) for each in asking])
        order = np.argsort(asked)
        variables.append(
            {
                "id": id_of(name),
                "name": name,
                "codes": list(codes),
                "rows": asked[order].tolist(),
                "cells": cells[order].tolist(),
            }
        )
    return {
        "revision": revision,
        "ids": [id_of(form.name) for form in forms],
        "names": [form.name for form in forms],
        "asked": [len(form.instances) for form in forms],
        "metadata": metadata,
        "variables": variables,
    }


class FoundForms(BaseModel):
    """The forms that a query finds."""

    revision: int
    ids: list[str]


class AskedVariable(BaseModel):
    """A variable on a form."""

    variable: Named
    code: str | None
    labels: list[str] = Field(description="As on the form; none for any level of detail.")
    categories: list[str] = Field(description="The categories that the labels mean.")
    fault: str
    missed: list[str] = Field(description="Finest categories that no selected one reaches.")
    overlaps: dict[str, list[str]] = Field(description="Finest categories reached from several.")
    outside: list[str]
    by_question: bool = Field(description="Whether questions feed it, so that it follows them.")


class FormShape(BaseModel):
    """A form with all that is known of it."""

    id: str
    name: str
    revision: int
    metadata: dict[str, Value]
    variables: list[AskedVariable]
    questions: list[Question]
    universe: Universe | None
    groups: list[Named]


def form_shape(environment: Environment, name: str, revision: int) -> FormShape:
    """Return a form as its page shows it."""
    form = environment.form(name)
    fed = form.fed
    variables: list[AskedVariable] = []
    for variable, labels in sorted(form.instances.items()):
        item = environment.categorization(name, variable)
        overlaps = {sink: list(holders) for sink, holders in (item.overlaps or {}).items()}
        variables.append(
            filled(
                AskedVariable,
                item,
                variable=named(variable),
                code=given_code(environment, variable, item.partition),
                labels=labels,
                overlaps=overlaps,
                by_question=variable in fed,
            )
        )
    inside = [group for group in environment.groups if name in environment.group(group).forms]
    return filled(
        FormShape,
        form,
        id=id_of(name),
        revision=revision,
        metadata=dict(form.metadata),
        variables=variables,
        groups=[named(group) for group in inside],
    )


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
    return filled(GroupDefinition, group, forms=() if group.is_live else group.forms)


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
    group = Group(name, **definition.model_dump())
    forms = environment.changed(groups={name: group}).group(name).forms
    return GroupCount(n_forms=len(forms), ids=[id_of(form) for form in forms])


OneEdit = Annotated[Edit, Field(discriminator="edit")]
"""Any edit; told apart by its field `edit`, so that a fault is told once and not for every kind."""
_MOST_EDITS = 20_000
_SHOWN = 200


class EditsAsked(BaseModel):
    """Edits to be made together, or not at all."""

    model_config = ConfigDict(extra="forbid")
    edits: Annotated[list[OneEdit], Field(min_length=1, max_length=_MOST_EDITS)]
    base: int | None = Field(
        default=None, ge=1, description="The revision on which they were thought out."
    )
    note: str = Field(default="", max_length=10_000, description="A word for the history.")
    unrestricted: bool = Field(
        default=False, description="Whether earlier categorizations may be lost."
    )
    key: str = Field(
        default="",
        max_length=100,
        pattern="^[A-Za-z0-9_-]*$",
        description="The same for the same save: what was saved under it already is not saved again.",
    )


class EditedShape(BaseModel):
    """What was acknowledged."""

    revision: int
    words: list[str]
    notes: list[str]


def edited_shape(edited: Edited) -> EditedShape:
    """Return what was acknowledged as it goes over the wire."""
    return EditedShape.model_validate(edited, from_attributes=True)


class ConsequenceShape(BaseModel):
    """What would happen to a variable on a form, or to a code."""

    kind: str
    variable: Named
    form: Named | None
    detail: str


class PreviewShape(BaseModel):
    """What edits would do."""

    words: list[str]
    notes: list[str]
    n_consequences: int
    consequences: list[ConsequenceShape] = Field(description="Of very many the first.")
    n_broken: int = Field(description="Forms with a categorization that would not be valid.")


def preview_shape(found: Preview) -> PreviewShape:
    """Return what edits would do as it goes over the wire."""
    rows = found.consequences.rows
    return PreviewShape(
        words=list(found.words[:_SHOWN]),
        notes=list(found.notes),
        n_consequences=len(rows),
        consequences=[
            ConsequenceShape(
                kind=row.kind.value,
                variable=named(row.variable),
                form=named(row.form) if row.form else None,
                detail=row.detail,
            )
            for row in rows[:_SHOWN]
        ],
        n_broken=len(found.consequences.broken),
    )
