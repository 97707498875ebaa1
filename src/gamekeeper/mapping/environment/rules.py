"""What holds for an environment as a whole: declared metadata, and what nobody can be.

A declared key may be required, and may have a controlled list of values. What is declared binds
new forms and changes of metadata; forms from before it are listed by a check and not refused. A
combination is impossible if no person has, in each of its variables, any of the categories named:
no widowed under-16s. Structural zeros are no news, and composite keys are counted without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from gamekeeper.errors import Problem, Reason
from gamekeeper.mapping.forms.form import Form, Metadata
from gamekeeper.mapping.forms.questions import renamed_categories
from gamekeeper.mapping.forms.universes import category_problems
from gamekeeper.mapping.names import name_problems
from gamekeeper.mapping.variables.definitions import STRICT, Names
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import did_you_mean, quoted

Subject = Literal["form", "question"]


class MetadataKey(BaseModel):
    """A declared key of metadata."""

    model_config = STRICT

    key: str = Field(description="The key.")
    of: Subject = Field(default="form", description="Whether forms have it or questions.")
    required: bool = Field(default=False, description="Whether it must be given.")
    kind: Literal["any", "text", "number", "yes or no"] = Field(
        default="any", description="What its values are."
    )
    values: Annotated[tuple[bool | int | float | str, ...], Field(strict=False)] = Field(
        default=(), description="The values that it may have; any, if none is listed."
    )
    description: str = Field(default="", description="What it is for.")


class Impossible(BaseModel):
    """A combination of categories that nobody can have."""

    model_config = STRICT

    combination: dict[str, Names] = Field(
        description="Two variables or more, each with categories; nobody has one of each."
    )
    why: str = Field(default="", description="The reason, for readers.")

    def is_same(self, other: Impossible) -> bool:
        """Tell whether another names the same combination, in whatever order."""
        own, theirs = (
            {name: frozenset(categories) for name, categories in each.combination.items()}
            for each in (self, other)
        )
        return own == theirs


class Rules(BaseModel):
    """The rules of an environment."""

    model_config = STRICT

    metadata: Annotated[tuple[MetadataKey, ...], Field(strict=False)] = Field(
        default=(), description="Declared keys of metadata."
    )
    impossible: Annotated[tuple[Impossible, ...], Field(strict=False)] = Field(
        default=(), description="Combinations of categories that nobody can have."
    )

    def keys_of(self, subject: Subject) -> dict[str, MetadataKey]:
        """Return the declared keys of forms, or of questions."""
        return {item.key: item for item in self.metadata if item.of == subject}


NO_RULES = Rules()


def rules_tree(rules: Rules) -> dict[str, object]:
    """Return rules as plain values, with nothing that goes without saying."""
    return rules.model_dump(mode="json", exclude_defaults=True)


def rule_problems(rules: Rules, variables: Mapping[str, Variable]) -> list[Problem]:
    """Return what is wrong with rules by themselves, or given the variables that there are."""
    problems: list[Problem] = []
    seen: set[tuple[str, str]] = set()
    for item in rules.metadata:
        where = f"metadata of {item.of}s, key {quoted([item.key])}"
        problems += name_problems("key", [item.key])
        if (item.of, item.key) in seen:
            problems.append(
                Problem(Reason.DUPLICATE, where, "is declared twice.", "Leave one out.")
            )
        seen.add((item.of, item.key))
        unfit = [value for value in item.values if not _is_of_kind(item, value)]
        if unfit:
            found = f"lists {len(unfit)} values that are not {_KINDS[item.kind]}."
            problems.append(Problem(Reason.BAD_OPTION, where, found, "Leave them out."))
    for item in rules.impossible:
        problems += _combination_problems(item, variables)
    return problems


def metadata_problems(
    rules: Rules, form: Form, keys: Collection[str] | None = None, questions: Iterable[str] = ()
) -> list[Problem]:
    """Return where the metadata of a form, or of some of its questions, is not as declared.

    Of the form only `keys` are looked at, or all that it has to have if these are left out.

    Examples
    --------
    >>> rules = Rules(metadata=[MetadataKey(key="year", required=True, kind="number")])
    >>> [problem.found for problem in metadata_problems(rules, Form("Bank"))]
    ["has no 'year', which is required."]
    """
    where = f"form {quoted([form.name])}"
    problems = list(_unmet(rules.keys_of("form"), form.metadata, where, keys))
    for name in questions:
        place = f"{where}, question {quoted([name])}"
        own = form.question(name).metadata
        problems += _unmet(rules.keys_of("question"), own, place, None)
    return problems


def follow_names(
    rules: Rules, variable: str, to: str | None, now: Callable[[str], str | None]
) -> Rules:
    """Return the rules after a variable or categories of it got other names, or went.

    A combination that loses all categories of a variable says nothing any more and goes.
    """
    followed = (
        item.model_copy(
            update={"combination": renamed_categories(item.combination, variable, now, to)}
        )
        for item in rules.impossible
    )
    pairs = zip(rules.impossible, followed, strict=True)
    kept = tuple(new for old, new in pairs if len(new.combination) == len(old.combination))
    return rules if kept == rules.impossible else rules.model_copy(update={"impossible": kept})


_KINDS = {"any": "fit", "text": "texts", "number": "numbers", "yes or no": "true or false"}


def _is_of_kind(declared: MetadataKey, value: Metadata) -> bool:
    match declared.kind:
        case "any":
            return True
        case "text":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "yes or no":
            return isinstance(value, bool)


def _unmet(
    declared: Mapping[str, MetadataKey],
    metadata: Mapping[str, Metadata],
    where: str,
    keys: Collection[str] | None,
) -> Iterator[Problem]:
    for key, item in declared.items():
        if keys is not None and key not in keys:
            continue
        value = metadata.get(key)
        if value is None:
            if item.required:
                found = f"has no {quoted([key])}, which is required."
                yield Problem(Reason.NOTHING_GIVEN, where, found, f"Set {quoted([key])}.")
        elif not _is_of_kind(item, value):
            found = f"has a value of {quoted([key])} that is not {_SINGLE[item.kind]}."
            yield Problem(Reason.BAD_OPTION, where, found, "Set another.")
        elif item.values and not _is_among(value, item.values):
            found = f"has {quoted([key])} {quoted([str(value)])}, which is not in the list."
            near = did_you_mean(str(value), [str(known) for known in item.values])
            yield Problem(Reason.BAD_OPTION, where, found, near)


_SINGLE = {"any": "fit", "text": "a text", "number": "a number", "yes or no": "true or false"}


def _is_among(value: Metadata, values: Collection[Metadata]) -> bool:
    # True is 1 in Python and something else here.
    return any(type(value) is type(known) and value == known for known in values)


def _combination_problems(item: Impossible, variables: Mapping[str, Variable]) -> Iterator[Problem]:
    where = f"impossible combination of {quoted(item.combination)}"
    if len(item.combination) < 2:
        found = "names fewer than two variables."
        yield Problem(Reason.BAD_OPTION, where, found, "Name two or more.")
    yield from category_problems(item.combination, where, variables)
