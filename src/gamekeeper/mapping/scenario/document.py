"""Scenarios as plain values, whether one is stale, and how they follow when names change.

A document is what stores and files hold and what edits carry. It is checked for its shape;
`scenario_of` finds whatever else is wrong. The way there and back is exact: prevalence is a fraction
written as text, time is in UTC. A scenario is stale if what its analysis looked at is not as it was;
no analysis is made anew to tell, and what that means for it, `review_scenario` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, TypeAdapter

from gamekeeper.algorithms.categories.partitions import Partition, parse_prevalence
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.asked import Evidence, Mode
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import Scenario, ScenarioKey
from gamekeeper.mapping.variables.definitions import STRICT
from gamekeeper.wording import be, count_of, quoted

_FORMAT: Final = "gamekeeper scenario"
_Code = Annotated[str, Field(pattern=r"^[CH](0|[1-9][0-9]*)\.[0-9]{3,}$")]


class EvidenceDocument(BaseModel):
    """A code that refines the one to match on, and how many of the forms have it."""

    model_config = STRICT

    code: _Code
    forms: int = Field(ge=1)
    names: list[str] = Field(default=[], description="Which forms these are.")


class KeyDocument(BaseModel):
    """A key variable and the categorization to match on."""

    model_config = STRICT

    variable: str
    code: _Code = Field(description="The categorization to match on.")
    categories: list[str] = Field(description="Its categories in words.")
    blocks: list[list[str]] = Field(
        description="For each of them, the categories of the environment that together make it up;"
        " none where values of any level of detail can be matched."
    )
    evidence: list[EvidenceDocument] = Field(
        description="The codes that refine it, with the numbers of forms that have them."
    )
    why: str = Field(description="The evidence in a sentence.")
    maximal: list[_Code] = Field(description="The finest codes that could be matched.")
    has_more: bool = Field(default=False, description="Whether there were more of them.")
    may_have_more: bool = Field(
        default=False, description="Whether the search for them had to end before all were found."
    )


class ScenarioDocument(BaseModel):
    """The outcome of an analysis under a name."""

    model_config = STRICT

    format: Literal["gamekeeper scenario"] = _FORMAT
    version: Literal[1] = 1
    name: str
    attacker: str = Field(default="", description="Who would match, and with which aim.")
    description: str = ""
    target: str = Field(description="The form whose data are to be released.")
    forms: list[str] = Field(
        description="The forms that it was to be matched against; with no groups either, all others."
    )
    groups: list[str] = Field(description="The groups that it was to be matched against.")
    match_forms: list[str] = Field(min_length=1, description="The forms that these came to.")
    mode: Literal["specific", "typical", "multiple"]
    prevalence: str = Field(
        description="The share of the forms that must be matched, exactly.",
        json_schema_extra={"pattern": "^(0|1|[1-9][0-9]*/[1-9][0-9]*)$"},
    )
    strict: bool = Field(description="Whether an inconsistent categorization stops a variable.")
    within_universe: bool = Field(
        default=False,
        description="Whether only what can be told apart among people whom the target asks counts.",
    )
    levels: int | None = Field(
        default=None, ge=1, description="What arbitrary precision counts as; null for unbounded."
    )
    key_variables: list[KeyDocument] = Field(min_length=1)
    left_out: list[str] = Field(
        default=[], description="The other variables that could have been matched."
    )
    environment: str = Field(description="The name of the environment.")
    revision: int = Field(ge=0, description="Its revision at the time; 0 for a folder.")
    fingerprint: str = Field(
        description="Stays the same while all that the analysis looked at does.",
        json_schema_extra={"pattern": "^[0-9a-f]{16}$"},
    )
    who: str
    at: str = Field(
        description="When the scenario was made, in UTC.", json_schema_extra={"format": "date-time"}
    )


SCENARIO: TypeAdapter[ScenarioDocument] = TypeAdapter(ScenarioDocument)
"""Checks the shape of a scenario."""


def document_of(scenario: Scenario) -> ScenarioDocument:
    """Return the document of a scenario, which makes an equal scenario."""
    told = vars(scenario) | {
        "mode": scenario.mode.value,
        "prevalence": str(scenario.prevalence),
        "at": scenario.at.isoformat().replace("+00:00", "Z"),
        "key_variables": [vars(key) | _evidence_of(key) for key in scenario.keys],
    }
    del told["keys"]
    # Said although it goes without saying, so that a file says what it is.
    return SCENARIO.validate_python({"format": _FORMAT, "version": 1, **_with_lists(told)})


def scenario_of(document: ScenarioDocument) -> Scenario:
    """Return the scenario of a document; one error has everything that is wrong with it."""
    problems: list[Problem] = []
    made: dict[str, Any] = {
        "mode": Mode(document.mode),
        "at": _time(document.at, problems),
        "prevalence": parse_prevalence(0),
        "keys": tuple(map(_key, document.key_variables)),
    }
    try:
        made["prevalence"] = parse_prevalence(document.prevalence)
    except InputError as error:
        problems.append(Problem(error.reason, "prevalence", error.found, error.do))
    try:
        scenario = Scenario(**_with_tuples(document, "format", "version", "key_variables") | made)
        if not problems:
            return scenario
    except InputError as error:
        problems += error.problems
    asked = f"The scenario {quoted([document.name])} was asked for."
    found = f"It has {count_of(len(problems), 'fault')}."
    raise InputError(problems[0].reason, asked, found, problems=problems)


def _time(text: str, problems: list[Problem]) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    do = "Write it as 2029-03-01T12:00:00Z."
    problems.append(Problem(Reason.WRONG_SCHEMA, "field 'at'", "is not a time in UTC.", do))
    return datetime.now(UTC)


def _evidence_of(key: ScenarioKey) -> dict[str, Any]:
    told = [
        {"code": item.code, "forms": item.n_forms, "names": item.forms} for item in key.evidence
    ]
    return {"evidence": told}


def _key(document: KeyDocument) -> ScenarioKey:
    told = (Evidence(item.code, item.forms, tuple(item.names)) for item in document.evidence)
    return ScenarioKey(**_with_tuples(document, "evidence"), evidence=tuple(told))


def _with_lists(value: Any) -> Any:
    """Return plain values with lists for tuples."""
    if isinstance(value, dict):
        return {name: _with_lists(part) for name, part in value.items()}
    return list(map(_with_lists, value)) if isinstance(value, list | tuple) else value


def _with_tuples(document: BaseModel, *but: str) -> dict[str, Any]:
    """Return what a document has in most of its fields, with tuples for lists."""

    def frozen(value: Any) -> Any:
        return tuple(map(frozen, value)) if isinstance(value, list) else value

    return {name: frozen(value) for name, value in document if name not in but}


_REVIEW = (
    "`gamekeeper scenario review` says what that means for it, and `gamekeeper scenario renew`"
    " accepts it."
)


def staleness(scenario: Scenario, environment: Environment) -> str:
    """Say in a sentence that a scenario is stale, and why; empty where it is not.

    A scenario follows when what it names is renamed. Changes of forms that it was not matched
    against, and of variables that its target does not ask for, leave it as good as it was.
    """
    why = _why_stale(scenario, environment)
    return f"The scenario {quoted([scenario.name])} {why}. {_REVIEW}" if why else ""


def fingerprint_of(environment: Environment, target: str, match_forms: Iterable[str]) -> str:
    """Return a short text that stays the same while all that an analysis looks at does.

    That is: the names of the forms, the variables of the target with their sinks in order, and
    how many of the forms have which categorization, valid or not.
    """
    wanted = set(match_forms)
    digest = sha256(repr((target, sorted(wanted))).encode())
    for variable in sorted(environment.form(target).instances):
        counts: Counter[tuple[str, bool]] = Counter()
        for item, forms in environment.instances(variable):
            partition = item.partition
            if isinstance(partition, Partition):
                meaning = partition.labels.tobytes().hex()
            else:
                meaning = repr((partition, sorted(item.categories)))
            counts[meaning, False] += len(wanted.intersection(forms))
            counts[meaning, True] += target in forms
        sinks = environment.variable(variable).graph.sinks
        digest.update(repr((variable, sinks, sorted((+counts).items()))).encode())
    return digest.hexdigest()[:16]


def _why_stale(scenario: Scenario, environment: Environment) -> str:
    if scenario.target not in environment.forms:
        return f"is stale: its target {quoted([scenario.target])} is gone"
    gone = [name for name in scenario.groups if name not in environment.groups]
    if gone:
        groups = count_of(len(gone), "group")
        return f"is stale: {groups} that it was matched against {be(len(gone))} gone"
    now = _match_forms(scenario, environment)
    if not now:
        return "is stale: no form is left to match against"
    then = set(scenario.match_forms)
    changes = [
        f"{count_of(len(forms), 'form')} {be(len(forms))} {word}"
        for word, forms in (("new", now - then), ("gone", then - now))
        if forms
    ]
    if changes:
        return f"is stale: {' and '.join(changes)} among those to match against"
    if fingerprint_of(environment, scenario.target, now) != scenario.fingerprint:
        return "may be stale: forms or variables that it rests on have changed since it was made"
    return ""


def _match_forms(scenario: Scenario, environment: Environment) -> set[str]:
    """Return the forms that are now matched against; all others where none were named."""
    chosen = {form for form in scenario.forms if form in environment.forms}
    for name in scenario.groups:
        chosen.update(environment.group(name).forms)
    if not scenario.forms and not scenario.groups:
        chosen = set(environment.forms)
    return chosen - {scenario.target}


@dataclass(frozen=True, slots=True)
class Renamed:
    """Old names with new ones; categories are those of one variable."""

    forms: Mapping[str, str] = field(default_factory=dict[str, str])
    groups: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    categories: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )


def follow_renames(before: Environment, after: Environment, renamed: Renamed) -> Environment:
    """Return the environment after an edit with new names in its scenarios.

    A scenario that was fresh stays so: names are part of what its fingerprint is made of.
    """
    if renamed == Renamed():
        return after
    changed: dict[str, Scenario] = {}
    for name, scenario in after.scenarios.items():
        new = _followed(scenario, renamed)
        if not staleness(scenario, before):
            new = replace(new, fingerprint=fingerprint_of(after, new.target, new.match_forms))
        if new != scenario:
            changed[name] = new
    return after.changed(scenarios=changed) if changed else after


def _followed(scenario: Scenario, renamed: Renamed) -> Scenario:
    return replace(
        scenario,
        target=renamed.forms.get(scenario.target, scenario.target),
        forms=_each(scenario.forms, renamed.forms),
        match_forms=_each(scenario.match_forms, renamed.forms),
        groups=_each(scenario.groups, renamed.groups),
        left_out=_each(scenario.left_out, renamed.variables),
        keys=tuple(_renamed_key(key, renamed) for key in scenario.keys),
    )


def _renamed_key(key: ScenarioKey, renamed: Renamed) -> ScenarioKey:
    variable = renamed.variables.get(key.variable, key.variable)
    names = renamed.categories.get(key.variable, {})
    if renamed.forms:
        told = tuple(replace(item, forms=_each(item.forms, renamed.forms)) for item in key.evidence)
        key = replace(key, evidence=told)
    if variable == key.variable and not names:
        return key
    blocks = tuple(_each(block, names) for block in key.blocks)
    categories = key.categories
    if key.blocks:
        # The words of a category are the names of what makes it up, except for bands.
        categories = tuple(
            " or ".join(new) if words == " or ".join(old) else words
            for old, new, words in zip(key.blocks, blocks, key.categories, strict=True)
        )
    why = key.why
    if why.startswith(f"{key.variable} "):
        why = f"{variable} {why.removeprefix(key.variable + ' ')}"
    return replace(key, variable=variable, blocks=blocks, categories=categories, why=why)


def _each(names: tuple[str, ...], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(name, name) for name in names)
