"""Variables on the wire: the list of all, and one with its definition, its codes and its forms."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.web.shapes.common import Named, given_code, named
from gamekeeper.web.wire.ids import id_of


class VariableLine(BaseModel):
    """A variable in the list of all."""

    id: str
    name: str
    scale: str
    description: str
    n_categories: int
    n_sinks: int
    n_forms: int
    n_codes: int
    n_faults: int


class VariableList(BaseModel):
    """All variables."""

    revision: int
    variables: list[VariableLine]


def variable_list(environment: Environment, revision: int) -> VariableList:
    """Return all variables as their list shows them."""
    lines: list[VariableLine] = []
    for name, variable in environment.variables.items():
        instances = environment.instances(name)
        codes = {item.partition for item, _ in instances if item.partition is not None}
        lines.append(
            VariableLine(
                id=id_of(name),
                name=name,
                scale=variable.scale.value,
                description=variable.description,
                n_categories=len(variable.graph.categories),
                n_sinks=len(variable.graph.sinks),
                n_forms=sum(len(forms) for _, forms in instances),
                n_codes=len(codes),
                n_faults=sum(len(forms) for item, forms in instances if not item.is_valid),
            )
        )
    return VariableList(revision=revision, variables=lines)


class ObservedCode(BaseModel):
    """A code that forms have, its categories in words, and how many forms have it."""

    code: str
    n_categories: int = Field(description="0 for any level of detail.")
    words: list[str]
    n_forms: int
    labels: list[list[str]] = Field(description="The selections on forms that come to it.")


class FaultyForm(BaseModel):
    """A form whose categorization is not valid, and why."""

    form: Named
    fault: str


class VariableShape(BaseModel):
    """A variable with all that is known of it."""

    id: str
    name: str
    revision: int
    scale: str
    description: str
    definition: dict[str, Any] = Field(description="As in a folder, and as edits carry it.")
    sensitive: list[str]
    codes: list[ObservedCode]
    faults: list[FaultyForm]


def variable_shape(environment: Environment, name: str, revision: int) -> VariableShape:
    """Return a variable as its page shows it."""
    variable = environment.variable(name)
    found: dict[str, ObservedCode] = {}
    faults: list[FaultyForm] = []
    for item, forms in environment.instances(name):
        if not forms:
            continue
        if item.partition is None:
            faults += [FaultyForm(form=named(form), fault=item.fault) for form in forms]
            continue
        code = given_code(environment, name, item.partition)
        if code is None:
            continue
        known = found.get(code)
        if known is None:
            known = found[code] = ObservedCode(
                code=code,
                n_categories=0
                if isinstance(item.partition, Arbitrary)
                else item.partition.n_blocks,
                words=list(variable.words(item.partition)),
                n_forms=0,
                labels=[],
            )
        known.n_forms += len(forms)
        known.labels.append(list(item.categories))
    return VariableShape(
        id=id_of(name),
        name=name,
        revision=revision,
        scale=variable.scale.value,
        description=variable.description,
        definition=definition_tree(variable),
        sensitive=sorted(variable.sensitive),
        codes=sorted(found.values(), key=lambda each: code_order(each.code)),
        faults=faults,
    )


class CodeShape(BaseModel):
    """What a code means, and the forms that have it."""

    variable: Named
    code: str
    n_categories: int
    words: list[str]
    forms: list[Named]


def code_shape(environment: Environment, name: str, code: str) -> CodeShape:
    """Return a code of a variable: its categories in words and the forms that have it."""
    meant = environment.register(name).meaning(code)
    forms = [
        form
        for item, having in environment.instances(name)
        if item.partition == meant
        for form in having
    ]
    return CodeShape(
        variable=named(name),
        code=code,
        n_categories=0 if isinstance(meant, Arbitrary) else meant.n_blocks,
        words=list(environment.variable(name).words(meant)),
        forms=[named(form) for form in forms],
    )
