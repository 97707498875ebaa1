"""Forms on the wire: the grid of all, column by column, and a single one with all that it asks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.questions import Question, Universe
from gamekeeper.web.shapes.common import Named, Value, given_code, named
from gamekeeper.web.wire.ids import id_of

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
            AskedVariable(
                variable=named(variable),
                code=given_code(environment, variable, item.partition),
                labels=list(labels),
                categories=list(item.categories),
                fault=item.fault,
                missed=list(item.missed),
                overlaps=overlaps,
                outside=list(item.outside),
                by_question=variable in fed,
            )
        )
    inside = [group for group in environment.groups if name in environment.group(group).forms]
    return FormShape(
        id=id_of(name),
        name=name,
        revision=revision,
        metadata=dict(form.metadata),
        variables=variables,
        questions=list(form.questions),
        universe=form.universe,
        groups=[named(group) for group in inside],
    )
