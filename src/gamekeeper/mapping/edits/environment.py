"""What every edit is, and the edits of an environment: its groups, scenarios, rules, history.

An edit is a strict, frozen record whose field `edit` says which one it is.

A group is defined in one way: by the forms listed, by a query, or from other groups. One that is
renamed has its new name in the groups made from it; one that others are made from is not removed.

The history of an environment that was merged into another is kept where it went. Its revisions
cannot be made again here: they were made on other contents. What they did, in words, with who made
them and when, goes with the merge as a record that changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import Impossible, MetadataKey, Rules, Subject
from gamekeeper.mapping.forms.groups import GROUP_WAYS, Group, ways_given
from gamekeeper.mapping.scenario.document import ScenarioDocument, scenario_of
from gamekeeper.mapping.variables.definitions import STRICT, Names
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import listed_values_of, lists_of
from gamekeeper.wording import be, count_of, did_you_mean, quoted

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


class DescribeEnvironment(Record):
    """Name or describe the environment."""

    edit: Literal["describe-environment"] = "describe-environment"
    name: Annotated[str | None, Option("A new name; by default it stays as it is.")] = None
    description: Annotated[
        str | None, Option("A new description; by default it stays as it is.")
    ] = None


def apply_environment_edit(environment: Environment, edit: DescribeEnvironment) -> Environment:
    """Return the environment under another name or description."""
    if edit.name is None and edit.description is None:
        asked = "The environment was to be described."
        found = "Neither a name nor a description was given."
        raise InputError(Reason.NOTHING_GIVEN, asked, found, "Give one of them.")
    return environment.changed(name=edit.name, description=edit.description)


class KeptRevision(BaseModel):
    """A revision of another store, as its history had it."""

    model_config = STRICT

    of: str = Field(description="The environment that it was made in.")
    revision: int = Field(description="Its number there.")
    at: str = Field(description="When it was made, in UTC, such as 2031-05-17T09:30:00.000000Z.")
    who: str = Field(description="Who made it.")
    words: Names = Field(default=(), description="What it did.")
    note: str = Field(default="", description="What was written about it.")


class KeepHistory(Record):
    """Keep the history of an environment that is merged into this one; it changes nothing."""

    edit: Literal["keep-history"] = "keep-history"
    of: Annotated[str, Option("The environment that is merged.")]
    revisions: Annotated[
        tuple[KeptRevision, ...], Field(strict=False), Option("Its revisions, the newest first.")
    ] = ()


class SaveScenario(Record):
    """Save a scenario under its name."""

    edit: Literal["save-scenario"] = "save-scenario"
    scenario: ScenarioDocument
    replace: bool = Field(default=False, description="Whether one of that name is replaced.")


class RenameScenario(Record):
    """Rename a scenario."""

    edit: Literal["rename-scenario"] = "rename-scenario"
    scenario: OfScenario
    to: NewName


class RemoveScenario(Record):
    """Remove a scenario."""

    edit: Literal["remove-scenario"] = "remove-scenario"
    scenario: OfScenario


ScenarioEdit = SaveScenario | RenameScenario | RemoveScenario


def apply_scenario_edit(environment: Environment, edit: ScenarioEdit) -> Environment:
    """Return the environment after an edit of a scenario."""
    match edit:
        case SaveScenario():
            scenario = scenario_of(edit.scenario)
            if not edit.replace:
                require_new("scenario", scenario.name, environment.scenarios)
            return environment.changed(scenarios={scenario.name: scenario})
        case RenameScenario():
            scenario = environment.scenario(edit.scenario)
            require_new("scenario", edit.to, environment.scenarios)
            renamed = replace(scenario, name=edit.to)
            return environment.changed(scenarios={edit.scenario: None, edit.to: renamed})
        case RemoveScenario():
            environment.scenario(edit.scenario)
            return environment.changed(scenarios={edit.scenario: None})


_Of = Annotated[Subject, Option("Whether forms have it or questions: form, question.")]


class DeclareMetadata(Record):
    """Declare a key of metadata, or declare it anew: whether it must be given, and its values."""

    edit: Literal["declare-metadata"] = "declare-metadata"
    key: Annotated[str, Option("The key.", is_argument=True)]
    of: _Of = "form"
    required: Annotated[bool, Option("It must be given.", flags="--required")] = False
    kind: Annotated[
        Literal["any", "text", "number", "yes or no"],
        Option("What its values are: any, text, number, yes or no."),
    ] = "any"
    values: Annotated[
        tuple[bool | int | float | str, ...],
        Field(strict=False),
        Option(
            "A value that it may have; any, if none is listed.",
            flags="--value -v",
            read=listed_values_of,
        ),
    ] = ()
    description: Annotated[str, Option("What it is for.")] = ""


class UndeclareMetadata(Record):
    """Let a key of metadata be as free as any other again."""

    edit: Literal["undeclare-metadata"] = "undeclare-metadata"
    key: Annotated[str, Option("The key.", is_argument=True)]
    of: _Of = "form"


_Combination = Annotated[
    dict[str, Names],
    Field(min_length=2),
    Option(
        "Two variables or more with categories: VARIABLE=CATEGORY; CATEGORY.",
        flags="VARIABLE=CATEGORIES...",
        is_argument=True,
        read=lists_of,
    ),
]


class DeclareImpossible(Record):
    """Declare that nobody has such a combination of categories."""

    edit: Literal["declare-impossible"] = "declare-impossible"
    combination: _Combination
    why: Annotated[str, Option("The reason, for readers.")] = ""


class AllowCombination(Record):
    """Take back that a combination of categories is impossible."""

    edit: Literal["allow-combination"] = "allow-combination"
    combination: _Combination


RuleEdit = DeclareMetadata | UndeclareMetadata | DeclareImpossible | AllowCombination


def apply_rule_edit(environment: Environment, edit: RuleEdit) -> Environment:
    """Return the environment after an edit of its rules."""
    rules = environment.rules
    match edit:
        case DeclareMetadata():
            declared = MetadataKey(**edit.model_dump(exclude={"edit"}))
            if declared in rules.metadata:
                raise _nothing(
                    "A key of metadata was to be declared.", "It is declared so already."
                )
            others = _without_key(rules, edit.key, edit.of)
            return environment.changed(rules=_with(rules, metadata=(*others, declared)))
        case UndeclareMetadata():
            others = _without_key(rules, edit.key, edit.of)
            if len(others) == len(rules.metadata):
                raise InputError(
                    Reason.UNKNOWN_NAME,
                    f"The key {quoted([edit.key])} of {edit.of}s was to be declared no longer.",
                    "It is not declared.",
                    did_you_mean(edit.key, rules.keys_of(edit.of)),
                )
            return environment.changed(rules=_with(rules, metadata=others))
        case DeclareImpossible():
            declared = Impossible(combination=edit.combination, why=edit.why)
            if any(item.is_same(declared) for item in rules.impossible):
                raise _nothing(
                    "A combination was to be declared impossible.", "It is declared so already."
                )
            impossible = (*rules.impossible, declared)
            return environment.changed(rules=_with(rules, impossible=impossible))
        case AllowCombination():
            asked = Impossible(combination=edit.combination)
            left = tuple(item for item in rules.impossible if not item.is_same(asked))
            if len(left) == len(rules.impossible):
                raise InputError(
                    Reason.NOT_FOUND,
                    "A combination was to be allowed again.",
                    "It is not declared impossible.",
                    "Name its variables and categories as they were declared; 'gamekeeper env"
                    " rules' lists them.",
                )
            return environment.changed(rules=_with(rules, impossible=left))


def _with(rules: Rules, **given: object) -> Rules:
    return rules.model_copy(update=given)


def _without_key(rules: Rules, key: str, of: Subject) -> tuple[MetadataKey, ...]:
    return tuple(item for item in rules.metadata if (item.key, item.of) != (key, of))


def _nothing(asked: str, found: str) -> InputError:
    return InputError(Reason.NOTHING_GIVEN, asked, found, "Declare something else.")


class _Defining(Record):
    """The one way in which a group is defined."""

    forms: Annotated[
        Names | None, Option("Forms listed by hand.", flags="FORM...", is_argument=True)
    ] = None
    where: Annotated[
        str | None,
        Option(
            "A query on the metadata of forms, such as: sector = bank and year >= 2029.",
            flags="--where -w",
        ),
    ] = None
    union: Annotated[Names | None, Option("Groups: the forms that are in any of them.")] = None
    intersection: Annotated[Names | None, Option("Groups: the forms that are in all of them.")] = (
        None
    )
    difference: Annotated[
        Names | None, Option("Groups: the forms in the first that are in no other.")
    ] = None


class AddGroup(_Defining):
    """Add a group, defined in exactly one way."""

    edit: Literal["add-group"] = "add-group"
    name: Annotated[str, Option("Its name.", flags="GROUP", is_argument=True)]
    description: Annotated[str, Option("What it is for.")] = ""


class ReplaceGroup(_Defining):
    """Define a group anew, in exactly one way."""

    edit: Literal["replace-group"] = "replace-group"
    group: OfGroup
    description: Annotated[str | None, Option("What it is for; by default it stays as it is.")] = (
        None
    )


class RenameGroup(Record):
    """Rename a group, also in the groups made from it."""

    edit: Literal["rename-group"] = "rename-group"
    group: OfGroup
    to: NewName


class RemoveGroup(Record):
    """Remove a group that no other is made from."""

    edit: Literal["remove-group"] = "remove-group"
    group: OfGroup


GroupEdit = AddGroup | ReplaceGroup | RenameGroup | RemoveGroup


def apply_group_edit(environment: Environment, edit: GroupEdit) -> Environment:
    """Return the environment after an edit of a group."""
    match edit:
        case AddGroup():
            require_new("group", edit.name, environment.groups)
            group = Group(edit.name, description=edit.description, **_definition(edit))
            return environment.changed(groups={group.name: group})
        case ReplaceGroup():
            before = environment.group(edit.group)
            said = before.description if edit.description is None else edit.description
            group = Group(before.name, description=said, **_definition(edit))
            return environment.changed(groups={group.name: group})
        case RenameGroup():
            environment.group(edit.group)
            require_new("group", edit.to, environment.groups)
            group = replace(environment.groups[edit.group], name=edit.to)
            users = {
                name: _with_part(other, edit.group, edit.to)
                for name, other in environment.groups.items()
                if edit.group in other.parts
            }
            return environment.changed(groups={edit.group: None, edit.to: group, **users})
        case RemoveGroup():
            environment.group(edit.group)
            _require_unused(environment, edit.group)
            return environment.changed(groups={edit.group: None})


def _definition(edit: AddGroup | ReplaceGroup) -> dict[str, Any]:
    given = ways_given(edit)
    if len(given) != 1 or not (any(given.values()) or "forms" in given):
        named = f"{len(given)} ways: {quoted(given)}" if len(given) > 1 else "no way"
        asked = "A group was to be defined."
        do = f"Give exactly one of {quoted(GROUP_WAYS)}."
        raise InputError(Reason.BAD_OPTION, asked, f"It is defined in {named}.", do)
    return given


def _with_part(group: Group, old: str, new: str) -> Group:
    ((way, parts),) = group.definition.items()
    return replace(group, **{way: tuple(new if part == old else part for part in parts)})


def _require_unused(environment: Environment, name: str) -> None:
    problems = [
        Problem(
            Reason.IN_USE,
            f"group {quoted([name])}",
            f"the group {quoted([other.name])} is made from it.",
            "Remove or change that group first.",
        )
        for other in environment.groups.values()
        if name in other.parts
    ]
    refuse(problems, f"The group {quoted([name])} was to be removed.", "It is in use.")
