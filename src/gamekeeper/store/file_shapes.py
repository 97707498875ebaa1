"""The shapes of the files of an environment folder, version 1, and whether a file has one.

These definitions check every file that is read or written, and the published JSON Schema is made
from them. They are apart from the domain types: a file may be well shaped and still describe no
valid variable. The wrong file may be given by mistake, one with data. So no fault ever shows what a
file holds: only places, counts and types, and fields that are ours or nearly so.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gamekeeper.errors import Problem, Reason
from gamekeeper.mapping.environment.rules import NO_RULES, Rules
from gamekeeper.mapping.forms.form import Question, Universe
from gamekeeper.mapping.forms.groups import GROUP_WAYS
from gamekeeper.mapping.variables.codes import OUTSIDE
from gamekeeper.mapping.variables.definitions import STRICT, Interval, Nominal, Ordinal
from gamekeeper.wording import count_of, quoted

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
        " were changed. They are kept so that no code is given twice."
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
        json_schema_extra={"oneOf": [{"required": [way]} for way in GROUP_WAYS]}
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


_Model = TypeVar("_Model", bound=BaseModel)
_SHOWN_FAULTS = 20
_EXPECTED: Final = {
    "string_type": "a string", "list_type": "a list", "dict_type": "an object",
    "model_type": "an object", "model_attributes_type": "an object",
    "string_pattern_mismatch": "named by a code such as C7.001",
    "too_short": "of {min_length} or more", "too_long": "of {max_length} at most",
}  # fmt: skip
# Where a value may be of several types there is one fault per type; the place ends at the value.
_SEVERAL_TYPES: Final = {
    "metadata": (2, "a string, a number, true, false or null"),
    "from": (1, "a number or null"),
    "to": (1, "a number or null"),
}


class Undecodable(ValueError):  # noqa: N818 - caught within this package, never shown
    """The bytes are not a JSON text; says why, without a word of the text."""

    def __init__(self, reason: Reason, found: str, do: str) -> None:
        super().__init__(found)
        self.reason = reason
        self.found = found
        self.do = do


class _RepeatedKey(Exception):  # noqa: N818 - leaves the decoder as soon as a key repeats
    pass


def parse(
    data: bytes, where: str, shape: TypeAdapter[_Model], problems: list[Problem]
) -> _Model | None:
    """Return the model of a file, or None after adding everything that is wrong with it."""
    try:
        tree, repeated = decode(data)
    except Undecodable as fault:
        problems.append(Problem(fault.reason, where, fault.found, fault.do))
        return None
    return check_once(tree, repeated, where, shape, problems)


def check_once(
    tree: object,
    repeated: Sequence[str],
    where: str,
    shape: TypeAdapter[_Model],
    problems: list[Problem],
) -> _Model | None:
    """Return the model of what a JSON text stands for, in which no object may have a key twice."""
    model = check(tree, where, shape, problems)
    if not repeated:
        return model
    names = f": {quoted(dict.fromkeys(repeated))}" if model is not None else ""
    found = f"names {count_of(len(repeated), 'entry', 'entries')} of an object twice{names}."
    problems.append(Problem(Reason.DUPLICATE, where, found, "Leave one of each out."))
    return None


def check(
    tree: object, where: str, shape: TypeAdapter[_Model], problems: list[Problem]
) -> _Model | None:
    """Return the model of plain values, or None after adding everything that is wrong with them."""
    try:
        return shape.validate_python(tree)
    except ValidationError as error:
        # The context of a fault may hold what was found; of it only what was expected is used.
        faults = error.errors(include_url=False, include_input=False)
        problems += _shape_problems(where, tree, faults, _known_fields(shape))
        return None


def decode(data: bytes) -> tuple[Any, list[str]]:
    """Return what a JSON text stands for, and the keys that an object in it has twice.

    A byte order mark is passed over. Numbers that are not finite and characters that are not
    whole could not be written again, so they are refused.

    Examples
    --------
    >>> decode(b'{"a": 1, "a": 2}')
    ({'a': 2}, ['a'])
    """
    text = _text(data)
    repeated: list[str] = []
    try:
        try:
            tree = _DECODER.decode(text)
        except _RepeatedKey:
            tree = json.JSONDecoder(
                object_pairs_hook=lambda pairs: _noting(pairs, repeated), parse_constant=_not_finite
            ).decode(text)
        is_whole = "\\u" not in text or _is_whole(tree)
    except json.JSONDecodeError as error:
        raise Undecodable(
            Reason.MALFORMED,
            f"is not JSON: see line {error.lineno}, column {error.colno}.",
            "Check the commas, quotes and brackets there.",
        ) from None
    except RecursionError:
        raise Undecodable(
            Reason.MALFORMED, "is nested too deeply.", "Is it the right file?"
        ) from None
    except ValueError:
        raise Undecodable(
            Reason.MALFORMED, "holds a number that is not finite or too long.", "Write it shorter."
        ) from None
    if not is_whole:
        raise Undecodable(
            Reason.WRONG_ENCODING,
            "holds half of a character (a lone surrogate).",
            "Write it whole.",
        )
    return tree, repeated


def _text(data: bytes) -> str:
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise Undecodable(
            Reason.WRONG_ENCODING,
            f"is not UTF-8: see byte {error.start + 1:,}.",
            "Save it as UTF-8.",
        ) from None
    if not text.strip():
        raise Undecodable(Reason.MALFORMED, "is empty.", "Fill it or remove it.")
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        raise _RepeatedKey
    return tree


def _noting(pairs: list[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            repeated.append(key)
        seen.add(key)
    return dict(pairs)


def _not_finite(name: str) -> NoReturn:
    raise ValueError


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_not_finite)


def _is_whole(tree: object) -> bool:
    try:
        json.dumps(tree, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _known_fields(shape: TypeAdapter[Any]) -> list[str]:
    schema = shape.json_schema()
    shapes: list[Mapping[str, Any]] = [schema, *schema.get("$defs", {}).values()]
    return sorted({name for one in shapes for name in one.get("properties", {})})


def _shape_problems(
    where: str, tree: object, faults: Iterable[Mapping[str, Any]], known: Sequence[str]
) -> list[Problem]:
    problems: dict[tuple[str, str], Problem] = {}
    strangers = 0
    for fault in faults:
        path = _without_scale(tree, fault["loc"])
        kind: str = fault["type"]
        if kind == "extra_forbidden":
            near = get_close_matches(str(path[0]).casefold(), known, n=1, cutoff=0.7)
            if near:
                found = f"has the unknown field {quoted([str(path[0])])}."
                do = f"Near to it: '{near[0]}'."
                problems[str(path[0]), ""] = Problem(Reason.WRONG_SCHEMA, where, found, do)
            else:
                strangers += 1
        else:
            problem = _shape_problem(where, tree, path, kind, fault.get("ctx", {}))
            problems.setdefault((problem.where, problem.found), problem)
    listed = list(problems.values())
    if len(listed) > _SHOWN_FAULTS:
        rest = f"has {count_of(len(listed) - _SHOWN_FAULTS, 'more fault')} of its shape."
        listed[_SHOWN_FAULTS:] = [Problem(Reason.WRONG_SCHEMA, where, rest)]
    if strangers:
        found = f"has {count_of(strangers, 'unknown field')}, not named here in case it is content."
        do = f"Its fields can be {quoted(known, most=20)}."
        listed.append(Problem(Reason.WRONG_SCHEMA, where, found, do))
    return listed


def _without_scale(tree: object, loc: Sequence[str | int]) -> Sequence[str | int]:
    """Leave out the scale, which comes before the fields of a variable file."""
    if isinstance(tree, dict) and loc and loc[0] == tree.get("scale") and len(loc) > 1:
        return loc[1:]
    return loc


def _shape_problem(
    where: str, tree: object, path: Sequence[str | int], kind: str, context: Mapping[str, Any]
) -> Problem:
    several = _SEVERAL_TYPES.get(str(path[0])) if path else None
    if kind.startswith("union_tag"):
        path = ("scale",)
        if not (isinstance(tree, dict) and "scale" in tree):
            kind = "missing"
    expected = _EXPECTED.get(kind, "something else").format(**context)
    if "expected" in context or "expected_tags" in context:
        expected = str(context.get("expected", context.get("expected_tags")))
    if several is not None and len(path) > several[0]:
        path, expected = path[: several[0]], several[1]
    place = [where]
    node = tree
    for depth, part in enumerate(path):
        if isinstance(node, dict) and part in node:
            place.append(f"entry {list(node).index(part) + 1}" if depth else f"field '{part}'")
            node = node[part]
        elif isinstance(node, list) and isinstance(part, int):
            place.append(f"item {part + 1}")
            node = node[part]
    if kind == "missing":
        return Problem(
            Reason.WRONG_SCHEMA, where, f"lacks the field '{path[-1]}'.", "Add the field."
        )
    words: list[str] = re.findall("'([^']*)'", expected)
    if words and isinstance(node, str):
        near = get_close_matches(node.casefold(), words, n=1, cutoff=0.7)
        do = f"Near to it: {quoted(near)}." if near else ""
        return Problem(Reason.WRONG_SCHEMA, ", ".join(place), f"is none of {quoted(words)}.", do)
    return Problem(
        Reason.WRONG_SCHEMA, ", ".join(place), f"is {_type_name(node)}, and should be {expected}."
    )


def _type_name(node: object) -> str:
    match node:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"
