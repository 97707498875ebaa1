"""What holds for an environment as a whole (rules), and what was concluded of it (scenarios).

A declared key of metadata may be required, and may have a controlled list of values. What is
declared binds new forms and changes of metadata; forms from before it are listed by a check and not
refused. A combination is impossible if no person has, in each of its variables, any of the
categories named: no widowed under-16s. Structural zeros are no news, and composite keys are counted
without them.

A scenario is the outcome of an analysis, saved under a name for the stages that follow. It says who
the attacker is, what is to be released, what it was matched against and how, which key variables
were chosen and, for each, the categorization to match on with the evidence for it. The categories of
each are there by name, so that the values of a file can be recoded. It is a record of one moment:
`review_scenario` tells what has changed since.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.environment.asked import Evidence, Mode
from gamekeeper.mapping.forms.form import Form, Metadata, category_problems, renamed_categories
from gamekeeper.mapping.variables.codes import Variable, code_order, is_code, name_problems
from gamekeeper.mapping.variables.definitions import STRICT, Names
from gamekeeper.wording import count_of, did_you_mean, quoted

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
        unfit = [value for value in item.values if not _has_kind(item, value)]
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
_SINGLE = {"any": "fit", "text": "a text", "number": "a number", "yes or no": "true or false"}


def _has_kind(declared: MetadataKey, value: Metadata) -> bool:
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
        elif not _has_kind(item, value):
            found = f"has a value of {quoted([key])} that is not {_SINGLE[item.kind]}."
            yield Problem(Reason.BAD_OPTION, where, found, "Set another.")
        # True is 1 in Python and something else here.
        elif item.values and not any(type(v) is type(value) and value == v for v in item.values):
            found = f"has {quoted([key])} {quoted([str(value)])}, which is not in the list."
            near = did_you_mean(str(value), [str(known) for known in item.values])
            yield Problem(Reason.BAD_OPTION, where, found, near)


def _combination_problems(item: Impossible, variables: Mapping[str, Variable]) -> Iterator[Problem]:
    where = f"impossible combination of {quoted(item.combination)}"
    if len(item.combination) < 2:
        found = "names fewer than two variables."
        yield Problem(Reason.BAD_OPTION, where, found, "Name two or more.")
    yield from category_problems(item.combination, where, variables)


_FINGERPRINT = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True)
class ScenarioKey:
    """A key variable of a scenario, and the categorization to match on.

    Attributes
    ----------
    categories, blocks
        Its categories in words; for each of them, the categories of the environment that make it up,
        none for arbitrary precision.
    evidence, why
        The codes that refine it, each with how many of the forms matched against have it; in a
        sentence.
    maximal, has_more, may_have_more
        The codes of the maximal harmonizations at the time, and whether there were more of them,
        or may have been.
    """

    variable: str
    code: str
    categories: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...]
    evidence: tuple[Evidence, ...]
    why: str
    maximal: tuple[str, ...]
    has_more: bool = False
    may_have_more: bool = False

    @property
    def n_forms(self) -> int:
        """The number of forms that could be matched at the code."""
        return sum(item.n_forms for item in self.evidence)

    @property
    def n_categories(self) -> float:
        """The number of categories, `math.inf` for arbitrary precision."""
        return len(self.blocks) or math.inf


@dataclass(frozen=True)
class Scenario:
    """The outcome of an analysis under a name.

    Attributes
    ----------
    forms, groups, match_forms
        What the target was matched against, as it was asked for (all other forms if neither), and
        the forms that this came to.
    keys, left_out
        The key variables that were chosen, and the other variables that could be matched.
    environment, revision, fingerprint
        The name of the environment, its revision (0 for a folder), and what tells whether all
        that the analysis looked at is still the same.
    who, at
        Who made the scenario, and when.
    within_universe
        Whether it counts what can be told apart among people whom the target asks; scenarios of
        earlier versions count everybody.
    """

    name: str
    attacker: str
    description: str
    target: str
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    match_forms: tuple[str, ...]
    mode: Mode
    prevalence: Fraction
    strict: bool
    levels: int | None
    keys: tuple[ScenarioKey, ...]
    left_out: tuple[str, ...]
    environment: str
    revision: int
    fingerprint: str
    who: str
    at: datetime
    within_universe: bool = False

    def __post_init__(self) -> None:
        problems = name_problems("scenario", [self.name])
        for part in ("attacker", "description", "who"):
            problems += _text_problems(part, getattr(self, part))
        if self.revision < 0:
            problems.append(
                Problem(Reason.BAD_OPTION, "revision", "is below 0.", "Give 0 for a folder.")
            )
        if self.at.tzinfo is None:
            problems.append(
                Problem(Reason.BAD_OPTION, "time", "has no time zone.", "Give it in UTC.")
            )
        if _FINGERPRINT.fullmatch(self.fingerprint) is None:
            found = "is not made of 16 hexadecimal digits."
            problems.append(Problem(Reason.WRONG_SCHEMA, "fingerprint", found, "Make it anew."))
        if not self.keys:
            problems.append(no_keys())
        problems += _key_problems(self.keys)
        require_sound(self.name, problems)
        if self.at.tzinfo is not UTC:
            object.__setattr__(self, "at", self.at.astimezone(UTC))

    def key(self, variable: str) -> ScenarioKey:
        """Return a key variable by its name."""
        for key in self.keys:
            if key.variable == variable:
                return key
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The key variable {quoted([variable])} was asked for.",
            f"The scenario {quoted([self.name])} has no such key variable.",
            did_you_mean(variable, [key.variable for key in self.keys]),
        )


def no_keys() -> Problem:
    """Return the problem of a scenario without key variables."""
    found = "there are none: no variable can be matched, or none was chosen."
    do = "Choose one, or match against other forms or at a lower prevalence."
    return Problem(Reason.NOTHING_GIVEN, "key variables", found, do)


def require_sound(name: str, problems: list[Problem]) -> None:
    """Raise everything that is wrong with a scenario at once."""
    asked = f"The scenario {quoted([name])} was asked for."
    refuse(problems, asked, f"It has {count_of(len(problems), 'fault')}.")


def _key_problems(keys: Iterable[ScenarioKey]) -> list[Problem]:
    problems: list[Problem] = []
    seen: set[str] = set()
    for key in keys:
        where = f"key variable {quoted([key.variable])}"
        problems += name_problems("key variable", [key.variable])
        if key.variable in seen:
            problems.append(Problem(Reason.DUPLICATE, where, "is there twice.", "Leave one out."))
        seen.add(key.variable)
        names = [name for block in key.blocks for name in block]
        n_blocks = count_of(len(key.blocks), "block")
        words = count_of(len(key.categories), "category", "categories")
        for is_so, found in (
            (
                not is_code(key.code) or code_order(key.code)[1] != len(key.blocks),
                f"has {n_blocks}, which is not what its code {quoted([key.code])} says.",
            ),
            (
                len(key.categories) != max(len(key.blocks), 1),
                f"has {words} in words for {n_blocks}.",
            ),
            (len(set(names)) < len(names), "has a category in two places."),
            (not all(key.blocks), "has a block that is made up of nothing."),
        ):
            if is_so:
                problems.append(Problem(Reason.INCONSISTENT_CODE, where, found, "Make it anew."))
    return problems


def _text_problems(field: str, text: str) -> list[Problem]:
    try:
        text.encode()
    except UnicodeEncodeError:
        found = "holds half of a character (a lone surrogate)."
        return [Problem(Reason.WRONG_ENCODING, field, found, "Write it whole.")]
    return []
