"""Scenarios as a person keeps them: save what an analysis gave, look again when things change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gamekeeper.mapping.edits import SaveScenario
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.scenario.document import document_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import ScenarioReview, review_scenario
from gamekeeper.mapping.scenario.staleness import staleness
from gamekeeper.report.saving import write_file
from gamekeeper.results import EVERYTHING, Cell, Listing, Page, Progress, make_listing
from gamekeeper.wording import count_of, exact_percent, folded, number_text
from gamekeeper.workbench.editing import Edited, acknowledged
from gamekeeper.workbench.environments import Place, opened, opened_store
from gamekeeper.workbench.mapping import MapRequest, analyse

__all__ = [
    "export_scenario",
    "list_scenarios",
    "review",
    "save_scenario",
    "show_scenario",
]


def save_scenario(
    path: Path,
    request: MapRequest,
    *,
    name: str,
    attacker: str = "",
    description: str = "",
    keys: Mapping[str, str] | None = None,
    replace: bool = False,
    who: str,
    note: str = "",
    progress: Progress | None = None,
) -> tuple[Scenario, Edited]:
    """Make an analysis and save its outcome under a name.

    `keys` has the key variables to take, each with a code or empty for the finest; by default
    all that can be matched are taken.
    """
    with opened_store(path) as store:
        environment = store.environment()
        outcome = analyse(environment, request, progress=progress)
        store.save_codes(environment)
        scenario = propose_scenario(
            outcome,
            environment,
            name=name,
            forms=request.forms,
            groups=request.groups,
            attacker=attacker,
            description=description,
            keys=keys,
            revision=store.content_revision(),
            who=who,
        )
        edit = SaveScenario(scenario=document_of(scenario), replace=replace)
        return scenario, acknowledged(store, store.apply([edit], who=who, note=note))


def list_scenarios(
    path: Path, *, matching: str = "", page: Page = EVERYTHING, as_of: str = ""
) -> Listing:
    """List scenarios, and whether the environment has changed since they were made."""
    with opened(path, as_of=as_of) as place:
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
                "yes" if _has_changed(item, place) else "no",
            )
            for item in place.environment.scenarios.values()
            if folded(matching) in folded(item.name)
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
        "changed since",
    )
    return make_listing("scenarios", columns, rows, page)


def show_scenario(path: Path, name: str, *, as_of: str = "") -> tuple[Listing, Sequence[str]]:
    """Return the key variables of a scenario, and the main facts in words."""
    with opened(path, as_of=as_of) as place:
        scenario = place.environment.scenario(name)
        stale = staleness(scenario, place.environment)
        has_changed = _has_changed(scenario, place)
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
    if stale:
        lines.append(f"! The environment has changed since. {stale}")
    elif has_changed:
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
    return make_listing("key variables", columns, rows, EVERYTHING), lines


def review(
    path: Path, name: str, *, max_nodes: int, progress: Progress | None = None
) -> ScenarioReview:
    """Say what has changed for a scenario, and what its analysis would give now."""
    with opened(path, progress=progress) as place:
        return review_scenario(
            place.environment.scenario(name),
            place.environment,
            revision=place.content_revision,
            max_nodes=max_nodes,
            progress=progress,
        )


def export_scenario(path: Path, name: str, file: Path, *, as_of: str = "") -> None:
    """Write a scenario to a JSON file."""
    with opened(path, as_of=as_of) as place:
        document = document_of(place.environment.scenario(name))
    text = document.model_dump_json(indent=1, by_alias=True)
    write_file(file, f"{text}\n".encode())


def _has_changed(scenario: Scenario, place: Place) -> bool:
    """Tell whether anything in the environment has changed since, as far as that can be known."""
    now = place.content_revision
    if now and scenario.revision:
        return scenario.revision != now
    return bool(staleness(scenario, place.environment))
