"""Definitions of variables as plain values.

A definition is what files hold and what edits carry. It is checked for its shape alone;
`variable_of` makes the variable and finds whatever else is wrong. A partition graph on the interval
scale follows from its bands, so a definition has only these. A question with boxes to tick has as
many possible answers as there are sets of boxes (Smith and Elliot, section 2.2). Usually each box is
better a yes/no variable of its own; where they are to be one, its sinks are the sets, so it can have
few boxes only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from gamekeeper.algorithms.categories.bands import Band, BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.mapping.variables.codes import Scale, Variable
from gamekeeper.wording import count_of, did_you_mean, quoted

_Categories = Annotated[
    dict[str, list[str]],
    Field(
        min_length=1,
        description="Every category with its children, which are disjoint and make it up;"
        " the finest categories, the sinks, have none.",
    ),
]

_Sensitive = Annotated[
    list[str], Field(description="Categories that it is worse to learn of somebody than others.")
]


STRICT = ConfigDict(
    strict=True,
    extra="forbid",
    frozen=True,
    allow_inf_nan=False,
    hide_input_in_errors=True,
    # Checks are made ready when they are needed: no command needs all of them.
    defer_build=True,
)
"""How all shapes are checked: nothing is converted, passed over or shown."""

# A list is as good as a tuple; what is in it is checked strictly all the same.
Names = Annotated[tuple[str, ...], Field(strict=False)]
"""Names or words in an order."""


class Nominal(BaseModel):
    """A variable whose categories have no order."""

    model_config = STRICT

    name: str
    description: str = ""
    scale: Literal["nominal"]
    categories: _Categories
    order: list[str] | None = Field(
        default=None, description="The sinks in the order in which they are best listed."
    )
    sensitive: _Sensitive = Field(default=[])


class Ordinal(BaseModel):
    """A variable whose categories are runs of neighbours in an order."""

    model_config = STRICT

    name: str
    description: str = ""
    scale: Literal["ordinal"]
    categories: _Categories
    order: list[str] = Field(description="The sinks in their natural order.")
    sensitive: _Sensitive = Field(default=[])


class Interval(BaseModel):
    """A variable whose categories are bands of a number."""

    model_config = STRICT

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
    sensitive: _Sensitive = Field(default=[])


Definition = Annotated[Nominal | Ordinal | Interval, Field(discriminator="scale")]
DEFINITION: TypeAdapter[Nominal | Ordinal | Interval] = TypeAdapter(
    Definition, config=ConfigDict(defer_build=True)
)
"""Checks a definition, whichever its scale."""


def variable_of(definition: Nominal | Ordinal | Interval) -> Variable:
    """Return the variable that a definition describes; one error has all that is wrong with it.

    Examples
    --------
    >>> age = DEFINITION.validate_python({"name": "Age", "scale": "interval", "bands": ["0-15"]})
    >>> variable_of(age).graph.sinks
    ('0-15', '16+')
    """
    if isinstance(definition, Interval):
        _require(definition.name, _range_problems(definition))
        made = Variable.of_bands(
            definition.name,
            definition.bands,
            style=BandStyle(definition.style),
            space=_space(definition),
            description=definition.description,
        )
        if not definition.sensitive:
            return made
        marked = frozenset(made.resolve(band) or band for band in definition.sensitive)
        return replace(made, sensitive=marked)
    _require(definition.name, _child_problems(definition))
    graph = PartitionGraph(definition.categories, order=definition.order)
    return Variable(
        definition.name,
        graph,
        Scale(definition.scale),
        definition.description,
        sensitive=frozenset(definition.sensitive),
    )


def definition_of(variable: Variable) -> Nominal | Ordinal | Interval:
    """Return the definition of a variable, which makes an equal variable.

    Examples
    --------
    >>> definition_of(Variable.of_bands("Age", ["0-15"])).bands
    ['0-15', '16+']
    """
    return DEFINITION.validate_python(definition_tree(variable))


def definition_tree(variable: Variable) -> dict[str, Any]:
    """Return the definition of a variable as plain values, with nothing that goes without saying."""
    graph = variable.graph
    tree: dict[str, Any] = {"name": variable.name}
    if variable.description:
        tree["description"] = variable.description
    tree["scale"] = variable.scale.value
    if variable.scale is Scale.INTERVAL:
        space = variable.space or Band(0, math.inf)
        whole = variable.style is BandStyle.INCLUSIVE
        ordered = sorted(variable.bands, key=variable.bands.__getitem__)
        tree["bands"] = [name for name in ordered if variable.bands[name] != space]
        tree["style"] = variable.style.value
        tree["from"] = _number(space.low)
        tree["to"] = _number(space.high - 1 if whole else space.high)
    else:
        tree["categories"] = {name: list(graph.children(name)) for name in graph.categories}
        if variable.scale is Scale.ORDINAL or list(graph.sinks) != sorted(graph.sinks):
            tree["order"] = list(graph.sinks)
    if variable.sensitive:
        tree["sensitive"] = sorted(variable.sensitive)
    return tree


def _require(name: str, problems: list[Problem]) -> None:
    asked = f"The variable {quoted([name])} was asked for."
    refuse(problems, asked, f"Its definition has {count_of(len(problems), 'fault')}.")


def _child_problems(definition: Nominal | Ordinal) -> list[Problem]:
    return [
        Problem(
            Reason.UNKNOWN_NAME,
            f"category {quoted([category])}",
            f"has the child {quoted([child])}, which is not a category.",
            did_you_mean(child, definition.categories),
        )
        for category, children in definition.categories.items()
        for child in children
        if child not in definition.categories
    ]


def _range_problems(definition: Interval) -> list[Problem]:
    space = _space(definition)
    whole = definition.style == "inclusive"
    if whole and any(isinstance(bound, Fraction) for bound in (space.low, space.high)):
        found = "is not between whole numbers, as the inclusive style asks for."
        do = "Use whole numbers or the half-open style."
    elif space.low >= space.high:
        found, do = "is empty.", "Let 'from' be below 'to'."
    else:
        return []
    return [Problem(Reason.BAD_BAND, "range 'from' to 'to'", found, do)]


def _space(definition: Interval) -> Band:
    low, high = _bound(definition.low, -math.inf), _bound(definition.high, math.inf)
    return Band(low, high + 1 if definition.style == "inclusive" else high)


def _bound(number: float | None, end: float) -> int | Fraction | float:
    if number is None:
        return end
    exact = Fraction(repr(number))
    return exact.numerator if exact.denominator == 1 else exact


def _number(bound: int | Fraction | float) -> int | float | None:
    if isinstance(bound, float):
        return None
    return float(bound) if isinstance(bound, Fraction) else bound


MOST_BOXES = 10
NONE = "none of these"


def sets_of(boxes: Sequence[str]) -> dict[str, Any]:
    """Return the scale and categories of a variable whose sinks are all sets of some boxes.

    Every box is a category: all sets that hold it.

    Examples
    --------
    >>> sets_of(["asthma", "diabetes"])["order"]
    ['none of these', 'only asthma', 'only diabetes', 'asthma + diabetes']
    """
    wanted = f"A variable of sets of {count_of(len(boxes), 'box', 'boxes')} was asked for."
    if len(boxes) > MOST_BOXES:
        found = (
            f"It would have {2 ** len(boxes):,} finest categories, and {MOST_BOXES} boxes are the"
            " most."
        )
        do = "Let every box be a yes/no variable of its own."
        raise LimitError(Reason.TOO_LARGE, wanted, found, do)
    if len(set(boxes)) < len(boxes) or NONE in boxes:
        found = f"A box is there twice, or called {quoted([NONE])}."
        raise InputError(Reason.DUPLICATE, wanted, found, "Name each box once.")
    children: dict[str, list[str]] = {box: [] for box in boxes}
    order = [NONE]
    for size in range(1, len(boxes) + 1):
        for held in combinations(boxes, size):
            name = f"only {held[0]}" if size == 1 else " + ".join(held)
            order.append(name)
            for box in held:
                children[box].append(name)
    return {
        "scale": "nominal",
        "categories": {**children, **{name: [] for name in order}},
        "order": order,
    }
