"""The shapes of the files of an environment folder, version 1.

These definitions check every file that is read or written, and the published JSON Schema is made
from them. They are apart from the domain types: a file may be well shaped and still describe no
valid variable.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from gamekeeper.mapping.environment.rules import NO_RULES, Rules
from gamekeeper.mapping.forms.groups import GROUP_WAYS
from gamekeeper.mapping.forms.questions import Question, Universe
from gamekeeper.mapping.variables.definitions import STRICT, Interval, Nominal, Ordinal
from gamekeeper.mapping.variables.variable import OUTSIDE

VERSION = 1

_Code = Annotated[str, Field(pattern=r"^[CH](0|[1-9][0-9]*)\.[0-9]{3,}$")]
_Codes = Annotated[
    dict[_Code, list[list[str]]],
    Field(
        description="Codes given so far. Each category of a code is a list of the categories that"
        " together make it up. They are kept so that a code never changes its meaning.",
        json_schema_extra={"additionalProperties": False},
    ),
]
_Retired = Annotated[
    list[_Code],
    Field(
        description="Codes that mean nothing any more, because the categories that they stood for"
        " were changed. They are kept so that no code is given twice.",
    ),
]


class _File(BaseModel):
    model_config = STRICT


class EnvironmentFile(_File):
    """The file environment.json, which makes a folder an environment."""

    format: Literal["gamekeeper environment"]
    version: Literal[1]
    name: str
    description: str = ""
    rules: Rules = Field(default=NO_RULES, description="What holds for the environment as a whole.")


class NominalFile(Nominal):
    """A variable whose categories have no order."""

    codes: _Codes = Field(default={})
    retired: _Retired = Field(default=[])


class OrdinalFile(Ordinal):
    """A variable whose categories are runs of neighbours in an order."""

    codes: _Codes = Field(default={})
    retired: _Retired = Field(default=[])


class IntervalFile(Interval):
    """A variable whose categories are bands of a number."""

    codes: _Codes = Field(default={})
    retired: _Retired = Field(default=[])


VariableFile = Annotated[NominalFile | OrdinalFile | IntervalFile, Field(discriminator="scale")]


class FormFile(_File):
    """A form: which variables it asks for, and the categories it offers."""

    name: str
    metadata: dict[str, bool | int | float | str | None] = Field(
        default={}, description="Whatever is worth knowing about the form."
    )
    universe: Universe | None = Field(default=None, description="Who the form is for.")
    questions: list[Question] = Field(
        default=[],
        description="The questions of the form in its own words; variables that they feed are not"
        " among the variables below.",
    )
    variables: dict[str, list[str]] = Field(
        description="Every other variable on the form with the labels of the categories offered; an"
        f' empty list means any level of detail. The label "{OUTSIDE}" stands for everybody that'
        " the form does not ask."
    )


class GroupFile(_File):
    """A named set of forms, defined in exactly one way."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [way]} for way in GROUP_WAYS]},
    )

    name: str
    description: str = ""
    forms: list[str] | None = Field(default=None, description="The names of the forms.")
    where: str | None = Field(
        default=None,
        description="A query on the metadata of forms, such as: sector = bank and year >= 2029.",
    )
    union: list[str] | None = Field(
        default=None, description="Groups: the forms that are in any of them."
    )
    intersection: list[str] | None = Field(
        default=None, description="Groups: the forms that are in all of them."
    )
    difference: list[str] | None = Field(
        default=None, description="Groups: the forms in the first that are in no other."
    )


class GraphFile(BaseModel):
    """A partition graph by itself, as other programs write it; other fields are passed over."""

    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)

    nodes: list[str]
    edges: list[Annotated[list[str], Field(min_length=2, max_length=2)]]


VARIABLE_FILE: TypeAdapter[NominalFile | OrdinalFile | IntervalFile] = TypeAdapter(VariableFile)
"""Checks a variable file, whichever its scale."""

GROUP_FILE = TypeAdapter(GroupFile)
"""Checks a group file."""
