"""What pages ask: some options of the requests of the workbench, as these have them, within limits.

A type, a default and a range are written once, with the request. Here is what pages may ask, how
long it may be, and what is said of it where a page has no command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model

from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.options import Field as Asked
from gamekeeper.options import build, options_of
from gamekeeper.workbench.requests import shared
from gamekeeper.workbench.requests.assessment import AssessRequest
from gamekeeper.workbench.requests.editing import SaveScenarioRequest
from gamekeeper.workbench.requests.records import LookRequest

_LONGEST_TEXT, _LONGEST_LIST = 20_000, 2_000


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _asking(
    request: type, *names: str, most: int = _LONGEST_LIST, **limits: Mapping[str, Any]
) -> type[_Question]:
    """Return a question of some options of a request; `most` is the length of a list."""
    options = {item.name: item for item in options_of(request)}
    fields: dict[str, Any] = {
        name: _field(options[name], most, limits.get(name, {})) for name in names
    }
    return create_model("_Asking", __base__=_Question, **fields)


def _field(item: Asked, most: int, limits: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the type of an option as JSON has it, with what may be given."""
    kind, default = item.kind, item.default
    limit: dict[str, Any] = {"ge": item.option.least, "le": item.option.most, **limits}
    if get_origin(kind) is Mapping:
        kind = dict[str, str]
    elif item.element is not None:
        text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
        kind, limit["max_length"] = list[text], most
        default = list(default)
    elif item.option.read is not None:
        kind = str
        default = default if default is None else str(default)
    elif isinstance(default, Enum) or (isinstance(kind, type) and issubclass(kind, Enum)):
        limit = dict(limits)
    if item.is_required:
        return kind, Field(**limit)
    return (kind | None if item.is_optional else kind), Field(default=default, **limit)


class AnalysisAsked(
    _asking(
        MapOptions,
        *("target", "forms", "groups", "prevalence", "mode", "strict", "levels", "within_universe"),
        most=100_000,
        target={"description": "The form whose data are to be released."},
        forms={"description": "Forms to match against."},
        groups={"description": "Groups of forms to match against."},
        prevalence={"max_length": 100, "description": "Share of those forms: 0.1, 1/10, 10%."},
    )
):
    """A target, the forms to match it against, and how; names as they are."""

    def options(self) -> MapOptions:
        """Return what is asked as the workbench takes it."""
        return build(MapOptions, self.model_dump())


class ScenarioAsked(
    _asking(
        SaveScenarioRequest,
        *("attacker", "description", "keys", "replace", "note"),
        keys={
            "description": "Variables to take with their codes, '' for the finest; by default all."
        },
    )
):
    """An analysis whose outcome is saved under a name."""

    name: str
    question: AnalysisAsked


class FileAsked(_Question):
    """A file that may be read: the folder by its name, and the path within it."""

    folder: str
    name: str


class Reading(
    _asking(
        shared.Reading,
        *("missing_values", "delimiter", "encoding", "decimal", "sheet", "header"),
        delimiter={"max_length": 8},
        encoding={"max_length": 40},
        decimal={"max_length": 4},
    )
):
    """How a file is read, where that is not told by the file."""


_COLUMNS = {"description": "Key variables of the scenario with other names in the file."}
_NUMBERS = {"description": "Key variables whose small whole numbers are no codes of bands."}


class LookAsked(
    _asking(
        LookRequest,
        *("scenario", "columns", "numbers"),
        scenario={"description": "Suggest its key variables, and tell what does not fit them."},
        columns=_COLUMNS,
        numbers=_NUMBERS,
    )
):
    """A first look at a file."""

    kind: Literal["look"]
    file: FileAsked
    reading: Reading = Reading()


class AssessAsked(
    _asking(
        AssessRequest,
        *("keys", "scenario", "columns", "numbers", "missing", "recodes"),
        *("weight", "strata", "fraction", "person", "household", "sensitive", "policy"),
        *("seed", "max_size"),
        keys={"description": "Columns to match on; or give a scenario."},
        columns=_COLUMNS,
        numbers=_NUMBERS,
        fraction={"max_length": 10_000},
        policy={"max_length": 40, "description": "The name of a profile."},
        max_size={"le": 60},
    )
):
    """The assessment of a file; the options are those of `gamekeeper assess`."""

    kind: Literal["assess"]
    file: FileAsked
    values: dict[str, dict[str, str]] = Field(
        default={}, description="By variable, what values mean that fit no category."
    )
    reading: Reading = Reading()


JobAsked = Annotated[LookAsked | AssessAsked, Field(discriminator="kind")]
"""What may be asked to be done as a job."""
