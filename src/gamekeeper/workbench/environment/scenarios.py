"""Scenarios as a person keeps them: save what an analysis gave, look again when things change."""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.files.writing import write_file
from gamekeeper.mapping.analysis.composite_keys import WholeKey, find_whole_key
from gamekeeper.mapping.edits import SaveScenario
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.scenario.document import document_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import ScenarioReview, renew_scenario, review_scenario
from gamekeeper.mapping.scenario.staleness import staleness
from gamekeeper.results import EVERYTHING, Cell, Listing, Progress, make_listing
from gamekeeper.wording import count_of, exact_percent, folded, number_text
from gamekeeper.workbench.environment.editing import Edited, acknowledged
from gamekeeper.workbench.environment.mapping import analyse
from gamekeeper.workbench.environment.opening import opened, opened_store, person
from gamekeeper.workbench.outputs import require_outputs
from gamekeeper.workbench.requests.environment.browsing import NamesRequest, ScenarioRequest
from gamekeeper.workbench.requests.environment.mapping import (
    ExportScenarioRequest,
    RenewScenarioRequest,
    ReviewRequest,
    SaveScenarioRequest,
)

_SHOWN_STEPS = 8


def save_scenario(
    asked: SaveScenarioRequest, *, progress: Progress | None = None
) -> tuple[Scenario, Edited]:
    """Make an analysis and save its outcome under a name."""
    who = person(asked.person.who)
    with opened_store(asked.place.store) as store:
        environment = store.environment()
        outcome = analyse(environment, asked.question, progress=progress)
        store.save_codes(environment)
        scenario = propose_scenario(
            outcome,
            environment,
            name=asked.scenario,
            forms=asked.question.forms,
            groups=asked.question.groups,
            attacker=asked.attacker,
            description=asked.description,
            keys=asked.keys,
            revision=store.content_revision(),
            who=who,
        )
        edit = SaveScenario(scenario=document_of(scenario), replace=asked.replace)
        return scenario, acknowledged(store, store.apply([edit], who=who, note=asked.note))


def list_scenarios(asked: NamesRequest, *, for_people: bool = False) -> Listing:
    """List scenarios, and whether what they rest on has changed since they were made."""
    with opened(asked.opened.environment, as_of=asked.opened.as_of) as place:
        rows: list[tuple[Cell, ...]] = [
            (
                item.name,
                item.attacker,
                item.target,
                len(item.match_forms),
                exact_percent(item.prevalence),
                len(item.keys),
                f"{item.at:%Y-%m-%d}",
                item.who,
                "yes" if staleness(item, place.environment) else "no",
            )
            for item in place.environment.scenarios.values()
            if folded(asked.matching) in folded(item.name)
        ]
    columns = (
        "scenario",
        "attacker",
        "target",
        "match forms",
        "prevalence",
        "key variables",
        "made",
        "by",
        "stale",
    )
    page = asked.lines.chosen(for_people=for_people)
    return make_listing("scenarios", columns, rows, page)


def show_scenario(
    asked: ScenarioRequest,
) -> tuple[Listing, Sequence[str], WholeKey | None]:
    """Return the key variables of a scenario, the main facts in words, and who holds the whole key.

    The last is None where the environment has changed in what the scenario rests on.
    """
    with opened(asked.opened.environment, as_of=asked.opened.as_of) as place:
        scenario = place.environment.scenario(asked.scenario)
        stale = staleness(scenario, place.environment)
        now = place.content_revision
        is_older = bool(now and scenario.revision) and scenario.revision != now
        whole = None if stale else find_whole_key(scenario, place.environment)
    against = "; ".join([*(f"group '{group}'" for group in scenario.groups), *scenario.forms])
    n_forms = count_of(len(scenario.match_forms), "form")
    made = f"made by {scenario.who or 'somebody'} on {scenario.at:%Y-%m-%d}"
    lines = [
        f"Scenario '{scenario.name}'",
        f"attacker: {scenario.attacker or 'not said'}",
        f"target: {scenario.target}",
        f"matched against: {against or 'all other forms'} ({n_forms}, {scenario.mode.value})",
        f"prevalence: {exact_percent(scenario.prevalence)}",
        f"{made} from revision {scenario.revision}",
    ]
    if scenario.description:
        lines.insert(1, scenario.description)
    if scenario.left_out:
        lines.append(f"left out, though they can be matched: {'; '.join(scenario.left_out)}")
    if whole is not None:
        lines.append(f"whole key: {whole.sentence}")
        steps = [
            f"{number_text(key.size)} for {count_of(len(key.forms), 'form')}"
            for key in whole.curve.keys[:_SHOWN_STEPS]
        ]
        more = "" if len(whole.curve.keys) <= _SHOWN_STEPS else "; and so on"
        known = "" if whole.curve.is_complete else "; for more forms not known"
        lines.append(f"combinations by forms together: {'; '.join(steps) or 'none'}{more}{known}")
    if stale:
        lines.append(f"! The environment has changed since. {stale}")
    elif is_older:
        lines.append("The environment has changed since, in nothing that this scenario rests on.")
    rows: list[tuple[Cell, ...]] = [
        (
            key.variable,
            key.code,
            number_text(key.n_categories),
            f"{key.n_forms} of {len(scenario.match_forms)}",
            key.why,
        )
        for key in scenario.keys
    ]
    columns = ("variable", "code", "categories", "forms", "why")
    return make_listing("key variables", columns, rows, EVERYTHING), lines, whole


def review(asked: ReviewRequest, *, progress: Progress | None = None) -> ScenarioReview:
    """Say what has changed for a scenario, and what its analysis would give now."""
    with opened(asked.environment, progress=progress) as place:
        return review_scenario(
            place.environment.scenario(asked.scenario),
            place.environment,
            revision=place.content_revision,
            max_nodes=asked.max_nodes,
            progress=progress,
        )


def renew(
    asked: RenewScenarioRequest, *, progress: Progress | None = None
) -> tuple[ScenarioReview, Edited]:
    """Accept what a review says, as an edit: the same question, of the forms that there are now."""
    who = person(asked.person.who)
    with opened_store(asked.place.store) as store:
        environment = store.environment()
        reviewed = review_scenario(
            environment.scenario(asked.scenario),
            environment,
            revision=store.content_revision(),
            max_nodes=asked.max_nodes,
            progress=progress,
        )
        renewed = renew_scenario(reviewed, environment, who=who)
        store.save_codes(environment)
        edit = SaveScenario(scenario=document_of(renewed), replace=True)
        note = asked.note or f"renewed after a review of revision {reviewed.scenario.revision}"
        return reviewed, acknowledged(store, store.apply([edit], who=who, note=note))


def export_scenario(asked: ExportScenarioRequest) -> str:
    """Write a scenario to a JSON file, and return what has changed for it since, if anything."""
    require_outputs(asked)
    with opened(asked.opened.environment, as_of=asked.opened.as_of) as place:
        scenario = place.environment.scenario(asked.scenario)
        stale = staleness(scenario, place.environment)
        document = document_of(scenario)
    text = document.model_dump_json(indent=1, by_alias=True)
    write_file(asked.file, f"{text}\n".encode(), private=False, replace=asked.replace)
    return stale
