"""What people ask to see of an environment: forms, variables, groups and scenarios."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.workbench.requests.environment.shared import Lines, Opened

_Where = Annotated[
    str, Option("A query: sector = bank and year >= 2029 and has Age.", flags="--where -w")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsRequest:
    """Forms that a query finds."""

    opened: Opened
    where: _Where = ""
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRequest:
    """Forms by variables."""

    opened: Opened
    where: _Where = ""
    group: Annotated[str, Option("Only the forms of this group.", flags="--group -g")] = ""
    variables: Annotated[
        tuple[str, ...], Option("A variable; by default all.", flags="--variable -v")
    ] = ()
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRequest:
    """Variables, groups or scenarios, by a part of their names."""

    opened: Opened
    matching: Annotated[str, Option("Part of the name.", flags="--matching -m")] = ""
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRequest:
    """One form."""

    opened: Opened
    form: Annotated[str, Option("The form.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableRequest:
    """One variable."""

    opened: Opened
    variable: Annotated[str, Option("The variable.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRequest:
    """The forms of one group."""

    opened: Opened
    group: Annotated[str, Option("The group.", is_argument=True)]
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRequest:
    """One scenario."""

    opened: Opened
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
