"""The shapes of the files of an environment folder, version 1.

These definitions check every file that is read or written, and the published JSON Schema is made
from them. They are apart from the domain types: a file may be well shaped and still describe no
valid variable.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from gamekeeper.mapping.variable import OUTSIDE

__all__ = [
    "FORMAT",
    "VARIABLE_FILE",
    "VERSION",
    "EnvironmentFile",
    "FormFile",
    "GraphFile",
    "GroupFile",
    "IntervalFile",
    "NominalFile",
    "OrdinalFile",
    "VariableFile",
]

FORMAT = "gamekeeper environment"
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
_Categories = Annotated[
    dict[str, list[str]],
    Field(
        min_length=1,
        description="Every category with its children, which are disjoint and make it up;"
        " the finest categories, the sinks, have none.",
    ),
]


class _File(BaseModel):
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class EnvironmentFile(_File):
    """The file environment.json, which makes a folder an environment."""

    format: Literal["gamekeeper environment"]
    version: Literal[1]
    name: str
    description: str = ""


class NominalFile(_File):
    """A variable whose categories have no order."""

    name: str
    description: str = ""
    scale: Literal["nominal"]
    categories: _Categories
    order: list[str] | None = Field(
        default=None, description="The sinks in the order in which they are best listed."
    )
    codes: _Codes = {}


class OrdinalFile(_File):
    """A variable whose categories are runs of neighbours in an order."""

    name: str
    description: str = ""
    scale: Literal["ordinal"]
    categories: _Categories
    order: list[str] = Field(description="The sinks in their natural order.")
    codes: _Codes = {}


class IntervalFile(_File):
    """A variable whose categories are bands of a number."""

    name: str
    description: str = ""
    scale: Literal["interval"]
    bands: list[str] = Field(description="The bands as printed: 16-24, 25 to 34, 65+, under 16.")
    style: Literal["inclusive", "half-open"] = Field(
        default="inclusive",
        description="Whether a band of whole numbers holds its upper end (16-24) or any band of"
        " numbers goes up to it (16-25).",
    )
    low: int | float | None = Field(
        default=0,
        alias="from",
        description="The lowest number of the variable; null if there is none.",
    )
    high: int | float | None = Field(
        default=None,
        alias="to",
        description="Where the numbers of the variable end, as the style writes it: the highest"
        " number if inclusive, the first number beyond if half-open; null if there is no end.",
    )
    codes: _Codes = {}


VariableFile = Annotated[NominalFile | OrdinalFile | IntervalFile, Field(discriminator="scale")]


class FormFile(_File):
    """A form: which variables it asks for, and the categories it offers."""

    name: str
    metadata: dict[str, bool | int | float | str | None] = Field(
        default={}, description="Whatever is worth knowing about the form."
    )
    variables: dict[str, list[str]] = Field(
        description="Every variable on the form with the labels of the categories offered; an"
        f' empty list means any level of detail. The label "{OUTSIDE}" stands for everybody that'
        " the form does not ask."
    )


class GroupFile(_File):
    """A named set of forms."""

    name: str
    description: str = ""
    forms: list[str] = Field(description="The names of the forms.")


class GraphFile(BaseModel):
    """A partition graph by itself, as other programs write it; other fields are passed over."""

    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)

    nodes: list[str]
    edges: list[Annotated[list[str], Field(min_length=2, max_length=2)]]


VARIABLE_FILE: TypeAdapter[NominalFile | OrdinalFile | IntervalFile] = TypeAdapter(VariableFile)
"""Checks a variable file, whichever its scale."""
