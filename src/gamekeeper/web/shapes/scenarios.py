"""Scenarios on the wire: the list of all, one with its key variables, and what has become of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.scenario.review import ScenarioReview
from gamekeeper.web.shapes.analysis import AnalysisAsked
from gamekeeper.web.shapes.edits import EditedShape
from gamekeeper.web.wire.ids import id_of
from gamekeeper.wording import exact_percent


class ScenarioLine(BaseModel):
    """A scenario in the list of all."""

    id: str
    name: str
    attacker: str
    description: str
    target: str
    n_match_forms: int
    prevalence: str
    n_keys: int
    at: str
    who: str
    is_stale: bool = Field(description="Whether what it rests on has changed since it was made.")


class ScenarioList(BaseModel):
    """All scenarios."""

    revision: int
    scenarios: list[ScenarioLine]


class ScenarioKeyShape(BaseModel):
    """A key variable of a scenario."""

    variable: str
    code: str
    categories: list[str]
    n_forms: int
    why: str


class ScenarioShape(BaseModel):
    """A scenario with its key variables."""

    scenario: ScenarioLine
    revision: int
    lines: list[str] = Field(description="The main facts, in words.")
    forms: list[str]
    groups: list[str]
    mode: str
    keys: list[ScenarioKeyShape]
    left_out: list[str]


class ReviewedKey(BaseModel):
    """A key variable then and now."""

    variable: str
    code_then: str
    code_now: str
    categories_then: list[str]
    categories_now: list[str]
    n_forms_then: int
    n_forms_now: int | None
    changes: list[str]


class ReviewShape(BaseModel):
    """What has become of a scenario."""

    is_current: bool
    sentences: list[str]
    keys: list[ReviewedKey]


class ScenarioAsked(BaseModel):
    """An analysis whose outcome is saved under a name."""

    model_config = ConfigDict(extra="forbid")

    name: str
    question: AnalysisAsked
    attacker: str = ""
    description: str = ""
    keys: Annotated[
        dict[str, str] | None,
        Field(description="Variables to take with their codes, '' for the finest; by default all."),
    ] = None
    replace: bool = False
    note: str = ""


class ScenarioSaved(BaseModel):
    """A scenario that was saved."""

    scenario: ScenarioLine
    edited: EditedShape


def scenario_line(scenario: Scenario, *, is_stale: bool) -> ScenarioLine:
    """Return a scenario as the list of all shows it."""
    return ScenarioLine(
        id=id_of(scenario.name),
        name=scenario.name,
        attacker=scenario.attacker,
        description=scenario.description,
        target=scenario.target,
        n_match_forms=len(scenario.match_forms),
        prevalence=exact_percent(scenario.prevalence),
        n_keys=len(scenario.keys),
        at=scenario.at.isoformat(),
        who=scenario.who,
        is_stale=is_stale,
    )


def scenario_shape(
    scenario: Scenario, lines: list[str], revision: int, *, is_stale: bool
) -> ScenarioShape:
    """Return a scenario as its page shows it."""
    return ScenarioShape(
        scenario=scenario_line(scenario, is_stale=is_stale),
        revision=revision,
        lines=lines,
        forms=list(scenario.forms),
        groups=list(scenario.groups),
        mode=scenario.mode.value,
        keys=[ScenarioKeyShape.model_validate(key, from_attributes=True) for key in scenario.keys],
        left_out=list(scenario.left_out),
    )


def review_shape(found: ScenarioReview) -> ReviewShape:
    """Return what has become of a scenario."""
    keys = [
        ReviewedKey(
            variable=item.key.variable,
            code_then=item.key.code,
            code_now=item.code_now,
            categories_then=list(item.key.categories),
            categories_now=list(item.categories_now),
            n_forms_then=item.key.n_forms,
            n_forms_now=item.n_forms_now,
            changes=list(item.changes),
        )
        for item in found.keys
    ]
    return ReviewShape(is_current=found.is_current, sentences=list(found.sentences), keys=keys)
