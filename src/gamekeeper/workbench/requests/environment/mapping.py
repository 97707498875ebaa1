"""What people ask of stage one: analyses, graphs, checks and scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from gamekeeper.algorithms.categories.limits import MAX_NODES
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.limits import MAX_KEYS
from gamekeeper.mapping.analysis.options import MapOptions, MaxNodes
from gamekeeper.options import Option
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.wording import quoted
from gamekeeper.workbench.requests.environment.shared import (
    AsOf,
    EnvironmentAt,
    InStore,
    Opened,
    Person,
)
from gamekeeper.workbench.requests.shared import Replace, WrittenPage

_GraphAt = Annotated[
    StorePlace,
    Option(
        "Store (a file, or postgresql://... on a server) or folder of an environment, or a file with"
        " a partition graph.",
        is_argument=True,
        read=store_place,
    ),
]


class Kind(StrEnum):
    """Which graph of a variable."""

    HARMONIZATION = "harmonization"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRequest:
    """An analysis, and what is made of it."""

    opened: Opened
    question: MapOptions
    curves: Annotated[bool, Option("Print code size against prevalence instead.")] = False
    evidence: Annotated[bool, Option("Print the names of the forms behind every code instead.")] = (
        False
    )
    joint: Annotated[
        bool,
        Option("Print the largest composite keys by how many of the same forms hold them instead."),
    ] = False
    most_keys: Annotated[
        int, Option("How many composite keys are looked at, at most.", least=1)
    ] = MAX_KEYS
    report: WrittenPage = None
    plot: Annotated[
        Path | None,
        Option("Draw the curves to this .svg or .png file.", writes="picture", label="Written"),
    ] = None
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """The graph of the codes of a variable, or that of its categories."""

    path: _GraphAt
    variable: Annotated[str | None, Option("The variable.", is_argument=True)] = None
    kind: Annotated[Kind, Option("The graph of codes, or the graph of categories.")] = (
        Kind.HARMONIZATION
    )
    form: Annotated[
        str | None, Option("Mark the categories that this form offers (partition graph).")
    ] = None
    deepen: Annotated[bool, Option("Mostly fewer edges, more levels (partition graph).")] = False
    codes: Annotated[
        tuple[str, ...], Option("Only the harmonization of these codes.", flags="--code -c")
    ] = ()
    output: Annotated[
        Path | None,
        Option(
            "Draw it to this .svg or .png file.",
            flags="--output -o",
            writes="picture",
            label="Drawn",
        ),
    ] = None
    max_nodes: MaxNodes = MAX_NODES
    as_of: AsOf = ""
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """A check of an environment or of one partition graph."""

    path: _GraphAt
    assign: Annotated[bool, Option("Write the codes into the folder, so that they stay.")] = False


def _chosen_keys(typed: Sequence[str]) -> dict[str, str] | None:
    chosen: dict[str, str] = {}
    for text in typed:
        variable, _, code = (part.strip() for part in text.rpartition("="))
        if not variable:
            variable, code = code, ""
        if variable in chosen:
            raise InputError(
                Reason.DUPLICATE,
                "Key variables were chosen.",
                f"{quoted([variable])} is chosen twice.",
                "Leave one out.",
            )
        chosen[variable] = code
    return chosen or None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveScenarioRequest:
    """An analysis whose outcome is saved under a name."""

    place: InStore
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    question: MapOptions
    attacker: Annotated[str, Option("Who would match, and with which aim.")] = ""
    description: Annotated[str, Option("What it is about.")] = ""
    keys: Annotated[
        Mapping[str, str] | None,
        Option(
            "A key variable to take, VARIABLE or VARIABLE=CODE. By default all that can be"
            " matched, at the finest code.",
            flags="--key -k",
            read=_chosen_keys,
        ),
    ] = None
    replace: Annotated[bool, Option("Replace a scenario of that name.")] = False
    person: Person = field(default_factory=Person)
    note: Annotated[str, Option("A word for the history.")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """What has become of a scenario."""

    environment: EnvironmentAt
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    max_nodes: MaxNodes = MAX_NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewScenarioRequest:
    """A scenario whose review is accepted."""

    place: InStore
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    max_nodes: MaxNodes = MAX_NODES
    person: Person = field(default_factory=Person)
    note: Annotated[str, Option("A word for the history.")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScenarioRequest:
    """A scenario that is written to a file."""

    opened: Opened
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    file: Annotated[
        Path, Option("The JSON file to write.", is_argument=True, writes="json", label="Written")
    ]
    replace: Replace = False
