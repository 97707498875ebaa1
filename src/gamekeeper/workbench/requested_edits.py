"""Edits that are more than a record: a form like another, a variable from a file or from words."""

from __future__ import annotations

from typing import Any

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import AddForm, AddVariable, AskVariable, ReplaceVariable, edit_of
from gamekeeper.mapping.environment.definitions import DEFINITION
from gamekeeper.store.record_files import read_definition, read_form
from gamekeeper.wording import quoted
from gamekeeper.workbench.environments import opened
from gamekeeper.workbench.requests.editing import (
    AddFormRequest,
    AddVariableRequest,
    AskVariableRequest,
    ReplaceVariableRequest,
)


def new_form(asked: AddFormRequest) -> AddForm:
    """Return the edit that adds a form: what is said here counts most, then a file, then a copy."""
    name = asked.form or ""
    variables: dict[str, tuple[str, ...]] = {}
    metadata: dict[str, Any] = {}
    if asked.file is not None:
        read = read_form(asked.file)
        name = asked.form or read.name
        variables = {key: tuple(labels) for key, labels in read.variables.items()}
        metadata = dict(read.metadata)
    if asked.like is not None:
        with opened(asked.place.store) as place:
            known = place.environment.form(asked.like)
        variables = {**known.instances, **variables}
        metadata = {**known.metadata, **metadata}
    if not name:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A form was to be added.",
            "It has no name.",
            "Give a name, or a file with --file.",
        )
    given = {
        "name": name,
        "metadata": {**metadata, **asked.metadata},
        "variables": {**variables, **asked.ask},
    }
    return edit_of(AddForm, given)


def asked_variable(asked: AskVariableRequest) -> AskVariable:
    """Return the edit that puts a variable on a form."""
    if bool(asked.labels) == asked.any_detail:
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable {quoted([asked.variable])} was to be put on {quoted([asked.form])}.",
            "Labels and --any-detail were given." if asked.labels else "No labels were given.",
            "Give the labels of the categories, or --any-detail.",
        )
    return AskVariable(form=asked.form, variable=asked.variable, labels=asked.labels)


def new_variable(asked: AddVariableRequest) -> AddVariable:
    """Return the edit that adds a variable."""
    if asked.file is None:
        return AddVariable(definition=_definition(asked))
    definition = read_definition(asked.file)
    if asked.variable is not None:
        definition = definition.model_copy(update={"name": asked.variable})
    return AddVariable(definition=definition)


def replaced_variable(asked: ReplaceVariableRequest) -> ReplaceVariable:
    """Return the edit that defines a variable anew."""
    return ReplaceVariable(variable=asked.variable, definition=read_definition(asked.file))


def _definition(asked: AddVariableRequest) -> Any:
    wanted = "A variable was to be added."
    if not asked.variable:
        do = "Give a name, or a file with --file."
        raise InputError(Reason.NOTHING_GIVEN, wanted, "It has no name.", do)
    if bool(asked.categories) == bool(asked.bands):
        found = "It has both categories and bands." if asked.bands else "It has no categories."
        do = "Give categories with -c, or bands with -b, or a file with --file."
        raise InputError(Reason.BAD_OPTION, wanted, found, do)
    tree: dict[str, Any] = {"name": asked.variable, "description": asked.description}
    if asked.bands:
        return DEFINITION.validate_python({**tree, "scale": "interval", "bands": list(asked.bands)})
    children: dict[str, list[str]] = {}
    for text in asked.categories:
        category, _, parts = text.partition(":")
        category = category.strip()
        if category in children:
            found = f"The category {quoted([category])} is given twice."
            raise InputError(Reason.DUPLICATE, wanted, found, "Leave one out.")
        children[category] = [part.strip() for part in parts.split(";") if part.strip()]
    for parts in list(children.values()):
        for part in parts:
            children.setdefault(part, [])
    tree["categories"] = children
    tree["scale"] = "ordinal" if asked.ordinal else "nominal"
    tree["order"] = [category for category, parts in children.items() if not parts]
    return DEFINITION.validate_python(tree)
