"""Definitions of variables as plain values, and which sinks of a variable a text means.

A definition is what files hold and what edits carry. It is checked for its shape alone;
`variable_of` makes the variable and finds whatever else is wrong. A partition graph on the interval
scale follows from its bands, so a definition has only these. A question with boxes to tick has as
many possible answers as there are sets of boxes (Smith and Elliot, section 2.2). Usually each box is
better a yes/no variable of its own; where they are to be one, its sinks are the sets, so it can have
few boxes only.

A text means a category by its name, a number or a band by its place. But a column of age groups that
are coded 1 to 8 reads like ages of 1 to 8. Numbers may be codes where they are whole, few and small
(25 at most) and hardly leave a gap (half of the numbers up to the largest occur, so that an empty
band or two do not matter), while the variable goes further: beyond 10, or in bands wider than 1.
Which of the two they are only a person can tell.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import bits
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.missing_codes import ABOVE
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.mapping.variables.codes import Scale, Variable
from gamekeeper.wording import count_of, did_you_mean, folded, quoted

_LARGEST_CODE = 25
_FEW = 10
_MISSING = frozenset(number for number in ABOVE if number > _LARGEST_CODE)


class SinkFinder:
    """Finds the sinks that a text stands for.

    A text is a category of the variable by its name, case and accents aside; on the interval scale
    a number is the band that it lies in, and a band whatever it overlaps.
    """

    def __init__(self, variable: Variable, decimal: str = ".") -> None:
        self.variable = variable
        self.decimal = decimal
        self._names: dict[str, str | None] = {}
        for name in variable.graph.categories:
            # Two categories that fold to the same are told apart by their exact names only.
            fold = folded(name)
            self._names[fold] = None if fold in self._names else name

    def sinks(self, text: str) -> list[int]:
        """Return the sinks of a text, by their places; none where it is not known."""
        graph = self.variable.graph
        name = self.variable.resolve(text) or self._names.get(folded(text))
        if name is not None:
            return bits(graph.sink_set(name))
        if self.variable.space is None:
            return []
        bands = [self.variable.bands[sink] for sink in graph.sinks]
        number = number_of(text, self.decimal)
        if number is not None:
            return [place for place, band in enumerate(bands) if band.low <= number < band.high]
        try:
            asked = parse_band(text, self.variable.style).within(self.variable.space)
        except InputError:
            return []
        if not self.variable.space.holds(asked):
            return []
        return [place for place, band in enumerate(bands) if band.overlap(asked) is not None]

    def texts(self, column: CodedVariable, code: int) -> list[str]:
        """Return what a code of a column is looked up by: its words, then its value.

        The value of words that stand for another thing, such as 7 for "65 and over", is no number.
        """
        word, value = column.words[code], column.values[code]
        return [word] if word == value or self.variable.space is not None else [word, value]

    def of(self, column: CodedVariable, code: int) -> list[int]:
        """Return the sinks of a code of a column; none where it is not known."""
        return next((found for text in self.texts(column, code) if (found := self.sinks(text))), [])

    def may_be_codes(self, column: CodedVariable) -> list[int]:
        """Return the codes of a column that are read as numbers and may be codes of bands.

        Examples
        --------
        >>> age = SinkFinder(Variable.of_bands("Age", ["0-15", "16-64", "65+"]))
        >>> age.may_be_codes(CodedVariable.of_values("age", ["1", "2", "3"]))
        [1, 2, 3]
        >>> age.may_be_codes(CodedVariable.of_values("age", ["1", "2", "34"]))
        []
        """
        if self.variable.space is None:
            return []
        places: dict[int, list[int]] = {}
        numbers: set[Fraction] = set()
        for code in range(MISSING + 1, column.n_codes):
            text = column.values[code]
            number = number_of(text, self.decimal) if column.words[code] == text else None
            # What lies outside the range, such as -9, and what is no number is asked about anyway.
            if number is None or number in _MISSING or not (found := self.sinks(text)):
                continue
            if number < 0 or number > _LARGEST_CODE or number.denominator != 1:
                return []
            numbers.add(number)
            places[code] = found
        if not numbers or 2 * len(numbers) < max(numbers):
            return []
        bands = [self.variable.bands[sink] for sink in self.variable.graph.sinks]
        cut = max((band.low for band in bands if math.isfinite(band.low)), default=0)
        is_count = cut <= _FEW and all(
            bands[place].high - bands[place].low == 1 or bands[place].low == cut
            for found in places.values()
            for place in found
        )
        return [] if is_count else list(places)


def refuse_codes(finder: SinkFinder, column: CodedVariable) -> None:
    """Refuse a column whose numbers may be codes of bands."""
    found, do = asked_of_codes(finder, column)
    if found:
        asked = "The values of a column were to be looked up in the environment."
        raise InputError(Reason.UNMAPPED_VALUES, asked, found, do)


def asked_of_codes(finder: SinkFinder, column: CodedVariable) -> tuple[str, str]:
    """Return what was found and what to say, where numbers of a column may be codes of bands."""
    codes, name = finder.may_be_codes(column), finder.variable.name
    return codes_or_numbers(column.name, name, len(codes)) if codes else ("", "")


def codes_or_numbers(
    column: str, variable: str, n_values: int, records: str = ""
) -> tuple[str, str]:
    """Return the question whether small whole numbers are codes or numbers, and how it is answered."""
    n_numbers = count_of(n_values, "small whole number") + (f" in {records}" if records else "")
    found = (
        f"the column {quoted([column])} has {n_numbers}, which may be codes of bands or numbers of"
        f" {quoted([variable])}."
    )
    do = (
        f"Say which: if they are numbers, add --numbers {shlex.quote(variable)}; if they are codes,"
        " give the category of each by --values."
    )
    return found, do


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
DEFINITION: TypeAdapter[Nominal | Ordinal | Interval] = TypeAdapter(Definition)
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
