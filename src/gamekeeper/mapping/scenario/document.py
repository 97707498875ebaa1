"""Scenarios as plain values: what stores and files hold and what edits carry.

A document is checked for its shape; `scenario_of` finds whatever else is wrong. The way there and
back is exact: prevalence is a fraction written as text, time is in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from gamekeeper.algorithms.categories.prevalence import parse_prevalence
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.evidence import Evidence, Mode
from gamekeeper.mapping.environment.scenario import Scenario, ScenarioKey
from gamekeeper.mapping.variables.definitions import STRICT
from gamekeeper.wording import count_of, quoted

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

    format: Literal["gamekeeper scenario"] = "gamekeeper scenario"
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
        description="When the scenario was made, in UTC.",
        json_schema_extra={"format": "date-time"},
    )


SCENARIO: TypeAdapter[ScenarioDocument] = TypeAdapter(ScenarioDocument)
"""Checks the shape of a scenario."""


def document_of(scenario: Scenario) -> ScenarioDocument:
    """Return the document of a scenario, which makes an equal scenario."""
    return ScenarioDocument(
        # Said although it goes without saying, so that a file says what it is.
        format="gamekeeper scenario",
        version=1,
        name=scenario.name,
        attacker=scenario.attacker,
        description=scenario.description,
        target=scenario.target,
        forms=list(scenario.forms),
        groups=list(scenario.groups),
        match_forms=list(scenario.match_forms),
        mode=scenario.mode.value,
        prevalence=str(scenario.prevalence),
        strict=scenario.strict,
        within_universe=scenario.within_universe,
        levels=scenario.levels,
        key_variables=[_key_document(key) for key in scenario.keys],
        left_out=list(scenario.left_out),
        environment=scenario.environment,
        revision=scenario.revision,
        fingerprint=scenario.fingerprint,
        who=scenario.who,
        at=scenario.at.isoformat().replace("+00:00", "Z"),
    )


def scenario_of(document: ScenarioDocument) -> Scenario:
    """Return the scenario of a document.

    Raises
    ------
    InputError
        With everything that is wrong with it.
    """
    problems: list[Problem] = []
    at = _time(document.at, problems)
    try:
        prevalence = parse_prevalence(document.prevalence)
    except InputError as error:
        problems.append(Problem(error.reason, "prevalence", error.found, error.do))
        prevalence = parse_prevalence(0)
    try:
        made = Scenario(
            name=document.name,
            attacker=document.attacker,
            description=document.description,
            target=document.target,
            forms=tuple(document.forms),
            groups=tuple(document.groups),
            match_forms=tuple(document.match_forms),
            mode=Mode(document.mode),
            prevalence=prevalence,
            strict=document.strict,
            within_universe=document.within_universe,
            levels=document.levels,
            keys=tuple(_key(key) for key in document.key_variables),
            left_out=tuple(document.left_out),
            environment=document.environment,
            revision=document.revision,
            fingerprint=document.fingerprint,
            who=document.who,
            at=at,
        )
        if not problems:
            return made
    except InputError as error:
        problems += error.problems
    raise InputError(
        problems[0].reason,
        f"The scenario {quoted([document.name])} was asked for.",
        f"It has {count_of(len(problems), 'fault')}.",
        problems=problems,
    )


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


def _key_document(key: ScenarioKey) -> KeyDocument:
    return KeyDocument(
        variable=key.variable,
        code=key.code,
        categories=list(key.categories),
        blocks=[list(block) for block in key.blocks],
        evidence=[
            EvidenceDocument(code=item.code, forms=item.n_forms, names=list(item.forms))
            for item in key.evidence
        ],
        why=key.why,
        maximal=list(key.maximal),
        has_more=key.has_more,
        may_have_more=key.may_have_more,
    )


def _key(document: KeyDocument) -> ScenarioKey:
    return ScenarioKey(
        variable=document.variable,
        code=document.code,
        categories=tuple(document.categories),
        blocks=tuple(tuple(block) for block in document.blocks),
        evidence=tuple(
            Evidence(item.code, item.forms, tuple(item.names)) for item in document.evidence
        ),
        why=document.why,
        maximal=tuple(document.maximal),
        has_more=document.has_more,
        may_have_more=document.may_have_more,
    )
