"""Edits of what holds for an environment as a whole: declared metadata, impossible combinations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits.kinds.record import Record
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import Impossible, MetadataKey, Rules, Subject
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import listed_values_of, lists_of
from gamekeeper.wording import did_you_mean, quoted

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
