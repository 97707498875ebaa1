"""Analyses and scenarios on the wire: every level of prevalence at once, so that a slider asks nobody.

Of scenarios there is the list of all, one with its key variables, and what has become of it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from pydantic import BaseModel, Field

from gamekeeper.mapping.analysis.composite_keys import CompositeKeys, describe_map, map_notes
from gamekeeper.mapping.analysis.key_mapping import MapLevels, VariableLevels
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.mapping.scenario.review import ScenarioReview
from gamekeeper.web.shapes.environment import EditedShape, Named, named
from gamekeeper.web.wire import filled, id_of
from gamekeeper.wording import exact_percent


class LevelShape(BaseModel):
    """What is found where `first` to `last` of the forms must be matched."""

    first: int
    last: int
    categories: float | str | None = Field(description="A number, 'unbounded', or not known.")
    codes: list[str]
    effective: float | str
    effective_exact: str
    has_more: bool
    may_have_more: bool


class SeenCode(BaseModel):
    """A code that forms have, and these forms, as places in `forms`."""

    code: str
    forms: list[int]


class MaximalShape(BaseModel):
    """A maximal harmonization: its categories in words, and what lies under it."""

    code: str
    categories: list[str]
    n_forms: int
    evidence: list[SeenCode]


class KeyVariableShape(BaseModel):
    """The outcome for one variable of the target, at every level."""

    variable: Named
    rank: int | None = Field(description="By area; none where that is not known.")
    target_code: str
    n_asking: int
    n_having: int
    area: float | str | None
    area_exact: str
    message: str
    why: str = Field(description="The reason for the result at the prevalence asked for.")
    outside: list[str]
    n_restricted: int
    levels: list[LevelShape]
    maximal: list[MaximalShape]


class KeyPartShape(BaseModel):
    """A variable of a composite key."""

    variable: str
    code: str


class CompositeKeyShape(BaseModel):
    """A composite key and the forms that hold all of it, as places among those matched against."""

    parts: list[KeyPartShape]
    size: float | str
    forms: list[int]


class CompositeShape(BaseModel):
    """Keys of several variables."""

    sentences: list[str]
    keys: list[CompositeKeyShape]


class MatchedForms(BaseModel):
    """Forms by their ids and names, in one order."""

    ids: list[str]
    names: list[str]


class AnalysisShape(BaseModel):
    """An analysis at every prevalence."""

    revision: int
    target: Named
    mode: str
    prevalence: str
    forms: MatchedForms = Field(description="The forms that the target is matched against.")
    sentences: list[str]
    notices: list[str]
    variables: list[KeyVariableShape]


def number_shape(number: Fraction | float | None) -> float | str | None:
    """Return a number as JSON has it: JSON has no infinity, so it is a word."""
    if number is None:
        return None
    if number == math.inf:
        return "unbounded"
    plain = float(number)
    return int(plain) if plain.is_integer() else plain


def exact_text(number: Fraction | float | None) -> str:
    """Return a number exactly, as the command line writes it."""
    if number is None:
        return ""
    return "unbounded" if number == math.inf else str(number)


def analysis_shape(found: MapLevels, revision: int) -> AnalysisShape:
    """Return an analysis as its page shows it."""
    outcome = found.outcome
    places = _places(outcome)
    return AnalysisShape(
        revision=revision,
        target=named(outcome.target),
        mode=outcome.mode.value,
        prevalence=str(outcome.prevalence),
        forms=MatchedForms(
            ids=list(map(id_of, outcome.match_forms)), names=list(outcome.match_forms)
        ),
        sentences=[describe_map(outcome)],
        notices=map_notes(outcome),
        variables=[
            _variable(rank, item, places) for rank, item in enumerate(found.variables, start=1)
        ],
    )


def composite_shape(outcome: KeyVariableMap, found: CompositeKeys) -> CompositeShape:
    """Return the keys of several variables as the page shows them."""
    places = _places(outcome)
    return CompositeShape(
        sentences=list(found.sentences),
        keys=[
            CompositeKeyShape(
                parts=[KeyPartShape(variable=one.variable, code=one.code) for one in key.parts],
                size=number_shape(key.size) or 0,
                forms=[places[form] for form in key.forms],
            )
            for key in found.keys
        ],
    )


def _places(outcome: KeyVariableMap) -> dict[str, int]:
    return {form: number for number, form in enumerate(outcome.match_forms)}


def _variable(rank: int, item: VariableLevels, places: dict[str, int]) -> KeyVariableShape:
    outcome = item.outcome
    area = None if outcome.message else outcome.area
    return filled(
        KeyVariableShape,
        outcome,
        variable=named(outcome.variable),
        rank=None if area is None else rank,
        area=number_shape(area),
        area_exact=exact_text(area),
        n_restricted=len(outcome.restricted),
        levels=[
            filled(
                LevelShape,
                level,
                categories=number_shape(level.n_categories),
                effective=number_shape(level.effective) or 0,
                effective_exact=exact_text(level.effective),
            )
            for level in item.levels
        ],
        maximal=[
            filled(
                MaximalShape,
                each,
                evidence=[
                    SeenCode(code=seen.code, forms=list(map(places.__getitem__, seen.forms)))
                    for seen in each.evidence
                ],
            )
            for each in item.maximal.values()
        ],
    )


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


class ScenarioSaved(BaseModel):
    """A scenario that was saved."""

    scenario: ScenarioLine
    edited: EditedShape


def scenario_line(scenario: Scenario, *, is_stale: bool) -> ScenarioLine:
    """Return a scenario as the list of all shows it."""
    return filled(
        ScenarioLine,
        scenario,
        id=id_of(scenario.name),
        n_match_forms=len(scenario.match_forms),
        prevalence=exact_percent(scenario.prevalence),
        n_keys=len(scenario.keys),
        at=scenario.at.isoformat(),
        is_stale=is_stale,
    )


def scenario_shape(
    scenario: Scenario, lines: list[str], revision: int, *, is_stale: bool
) -> ScenarioShape:
    """Return a scenario as its page shows it."""
    return filled(
        ScenarioShape,
        scenario,
        scenario=scenario_line(scenario, is_stale=is_stale),
        revision=revision,
        lines=lines,
        mode=scenario.mode.value,
        keys=[filled(ScenarioKeyShape, key) for key in scenario.keys],
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
