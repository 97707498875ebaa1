"""What every edit is: a strict, frozen record whose field `edit` says which one it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.variables.definitions import STRICT
from gamekeeper.options import Option
from gamekeeper.wording import be, count_of, quoted

_Record = TypeVar("_Record", bound="Record")
OfForm = Annotated[str, Option("The form.", is_argument=True)]
OfVariable = Annotated[str, Option("The variable.", is_argument=True)]
OfCategory = Annotated[str, Option("The category.", is_argument=True)]
OfGroup = Annotated[str, Option("The group.", is_argument=True)]
OfScenario = Annotated[str, Option("The scenario.", is_argument=True)]
NewName = Annotated[str, Option("The new name.", is_argument=True)]


def _describe(schema: dict[str, Any], record: type[BaseModel]) -> None:
    """Let the JSON Schema say what fields are for, and require the name of the edit."""
    for name, option in options_of_record(record).items():
        schema["properties"][name]["description"] = option.help
    del schema["properties"]["edit"]["default"]
    schema["required"] = ["edit", *schema.get("required", ())]


class Record(BaseModel):
    """An edit of an environment.

    A field annotated with an `Option` is asked for at the prompt in that way.
    """

    model_config = STRICT | ConfigDict(json_schema_extra=_describe)


def options_of_record(record: type[BaseModel]) -> dict[str, Option]:
    """Return the options of a record by the names of the fields.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import RenameForm
    >>> [option.help for option in options_of_record(RenameForm).values()]
    ['The form.', 'The new name.']
    """
    return {
        name: mark
        for name, item in record.model_fields.items()
        for mark in item.metadata
        if isinstance(mark, Option)
    }


def edit_of(record: type[_Record], values: Mapping[str, Any]) -> _Record:
    """Make an edit of plain values; what does not fit is one clear error.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import SplitCategory
    >>> edit_of(SplitCategory, {"variable": "Age", "category": "16+", "into": ["16-64"]})
    Traceback (most recent call last):
    gamekeeper.errors.InputError: The edit 'split-category' was asked for. What was given for it
    has 1 fault.
      - into: 1 is given, and 2 or more are needed. What it is split into: new, finer categories.
    """
    try:
        return record(**values)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=True)
    problems = [
        _problem(record, fault["loc"], fault["type"], fault.get("ctx", {})) for fault in faults
    ]
    asked = f"The edit {quoted([record.model_fields['edit'].default])} was asked for."
    found = f"What was given for it has {count_of(len(problems), 'fault')}."
    raise InputError(Reason.BAD_OPTION, asked, found, problems=problems)


def _problem(
    record: type[Record], loc: Sequence[str | int], kind: str, context: Mapping[str, Any]
) -> Problem:
    name = str(loc[0]) if loc else "edit"
    option = options_of_record(record).get(name)
    found = "does not fit."
    if kind == "missing":
        found = "is missing."
    elif kind == "too_short":
        are = be(context["actual_length"])
        found = (
            f"{context['actual_length']} {are} given, and {context['min_length']} or more are"
            " needed."
        )
    return Problem(Reason.BAD_OPTION, name, found, option.help if option else "")


def require_new(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is taken."""
    if name in known:
        asked = f"The {kind} {quoted([name])} was to be added."
        found = f"There is a {kind} of the name {quoted([name])} already."
        raise InputError(Reason.DUPLICATE, asked, found, "Choose another name.")
