"""Stage one as a person does it: check, map a target, look at graphs, keep scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from gamekeeper.errors import InputError, Reason
from gamekeeper.files import write_file
from gamekeeper.mapping.analysis import composite_keys
from gamekeeper.mapping.analysis.key_mapping import MapLevels, map_key_variables, map_levels
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.edits import SaveScenario
from gamekeeper.mapping.environment import overview
from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.mapping.scenario.document import document_of, staleness
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import ScenarioReview, renew_scenario, review_scenario
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.report.graphs import MAX_DRAWN, draw_harmonization_graph, draw_partition_graph
from gamekeeper.report.mapping_report import write_mapping_report
from gamekeeper.report.page import save_curves
from gamekeeper.results import EVERYTHING, Cell, Listing, Progress, make_listing
from gamekeeper.store.folder import read_named_graph, write_codes
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.wording import count_of, exact_percent, folded, number_text, quoted
from gamekeeper.workbench.answers import require_outputs, write_outputs
from gamekeeper.workbench.environment.editing import Edited, acknowledged
from gamekeeper.workbench.environment.opening import is_store, opened, opened_store, person
from gamekeeper.workbench.requests import editing
from gamekeeper.workbench.requests.environment import NamesRequest, ScenarioRequest


def check(
    asked: editing.CheckRequest, *, progress: Progress | None = None
) -> tuple[
    overview.EnvironmentCheck | overview.CategoryTable,
    Mapping[str, Mapping[str, str]],
    Sequence[str],
]:
    """Check an environment folder, a store, or a single file with a partition graph.

    Returned are the result, per variable the forms that are inconsistent, and the files that were changed:
    with `assign`, codes that were worked out are written into a folder (a store keeps them anyway).
    """
    path = asked.path
    if asked.assign and (isinstance(path, ServerPlace) or path.is_file()):
        raise InputError(
            Reason.BAD_OPTION,
            "Codes were to be written.",
            "The path is a store, which keeps its codes anyway."
            if is_store(path)
            else "The path is a single file.",
            "Name the folder of an environment.",
        )
    if _is_graph(path):
        return overview.list_categories(*read_named_graph(path)), {}, ()
    with opened(path, progress=progress) as place:
        if place.store is not None:
            place.store.check(progress=progress)
        files = ()
        if asked.assign and isinstance(path, Path):
            files = write_codes(place.environment, path)
        found = overview.check_environment(place.environment)
        return found, found.faults, files


def map_target(
    asked: editing.MapRequest, *, progress: Progress | None = None
) -> tuple[KeyVariableMap, composite_keys.CompositeKeys]:
    """Map the key variables of a target, singly and together; write a report and a plot if asked."""
    where = asked.opened
    require_outputs(asked)
    with opened(where.environment, as_of=where.as_of, progress=progress) as place:
        environment = place.environment
        outcome = analyse(environment, asked.question, progress=progress)
        composite = composite_keys.find_composite_keys(outcome, environment, most=asked.most_keys)
        place.keep_codes()
        write_outputs(
            asked,
            outcome,
            page=lambda path: write_mapping_report(outcome, environment, path, composite),
            picture=lambda path: save_curves(outcome, path),
        )
    return outcome, composite


def map_every_level(
    asked: editing.MapRequest, *, progress: Progress | None = None
) -> tuple[MapLevels, int]:
    """Map the key variables of a target at every prevalence; the last is the revision, or 0."""
    where = asked.opened
    with opened(where.environment, as_of=where.as_of, progress=progress) as place:
        found = map_levels(place.environment, replace(asked.question, progress=progress))
        place.keep_codes()
        return found, 0 if place.store is None else place.store.revision


def analyse(
    environment: Environment, question: MapOptions, *, progress: Progress | None = None
) -> KeyVariableMap:
    """Map the key variables of a target in an environment that is open."""
    return map_key_variables(environment, asked=question, progress=progress)


def show_graph(
    asked: editing.GraphRequest, *, progress: Progress | None = None
) -> overview.CodeTable | overview.CategoryTable:
    """List the codes of a variable, or its categories, and draw their graph where asked for."""
    of_categories = asked.kind is editing.Kind.PARTITION or _is_graph(asked.path)
    require_outputs(asked)
    _require_fitting(asked, of_categories)
    if of_categories:
        return _categories(asked, progress)
    return _codes(asked, progress)


def _codes(asked: editing.GraphRequest, progress: Progress | None) -> overview.CodeTable:
    variable = asked.variable or ""
    with opened(asked.path, as_of=asked.as_of, progress=progress) as place:
        environment = place.environment
        only = environment.harmonize_codes(variable, asked.codes) if asked.codes else None
        table = overview.list_codes(
            environment, variable, only=only, max_nodes=asked.max_nodes, progress=progress
        )
        place.keep_codes()
        # A limit that was raised for the search is meant for the drawing as well.
        most = MAX_DRAWN if asked.max_nodes == MAX_NODES else asked.max_nodes
        write_outputs(
            asked,
            table,
            picture=lambda path: draw_harmonization_graph(
                environment, variable, max_nodes=most
            ).save(path),
        )
    return table


def _categories(asked: editing.GraphRequest, progress: Progress | None) -> overview.CategoryTable:
    selected: Sequence[str] = ()
    if _is_graph(asked.path):
        name, graph = read_named_graph(asked.path)
    else:
        assert asked.variable is not None, "else it would have been refused"
        with opened(asked.path, as_of=asked.as_of, progress=progress) as place:
            name = asked.variable
            graph = place.environment.variable(name).graph
            if asked.form is not None:
                selected = place.environment.categorization(asked.form, name).categories
    if asked.deepen:
        # Every category points to its largest parts: fewer edges, more levels.
        graph = graph.deepen()
    table = overview.list_categories(name, graph)
    write_outputs(
        asked,
        table,
        picture=lambda path: draw_partition_graph(graph, selected=selected, title=name).save(path),
    )
    return table


def _is_graph(path: StorePlace) -> TypeGuard[Path]:
    """Tell whether a place is a single file with a partition graph."""
    try:
        return isinstance(path, Path) and path.is_file() and not is_store(path)
    except OSError:
        return False  # whoever opens it says why it cannot be


def _require_fitting(asked: editing.GraphRequest, of_categories: bool) -> None:
    """Refuse an option that the graph asked for would ignore, and a graph of nothing."""
    idle = (
        {"--code": asked.codes}
        if of_categories
        else {"--form": asked.form, "--deepen": asked.deepen}
    )
    told = [name for name, value in idle.items() if value]
    if told:
        kind, other = ("categories", "codes") if of_categories else ("codes", "categories")
        raise InputError(
            Reason.BAD_OPTION,
            f"The graph of {kind} was asked for with {quoted(told)}.",
            f"That goes with the graph of {other} only.",
            "Leave it out, or choose the other graph with --kind.",
        )
    if asked.variable is None and not _is_graph(asked.path):
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The graph of a variable was asked for.",
            "No variable was named.",
            "Name one after the path; 'gamekeeper variable list' has them.",
        )


def save_scenario(
    asked: editing.SaveScenarioRequest, *, progress: Progress | None = None
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
        *("scenario", "attacker", "target", "match forms", "prevalence", "key variables"),
        *("made", "by", "stale"),
    )
    page = asked.lines.chosen(for_people=for_people)
    return make_listing("scenarios", columns, rows, page)


def show_scenario(
    asked: ScenarioRequest,
) -> tuple[Listing, Sequence[str], composite_keys.WholeKey | None]:
    """Return the key variables of a scenario, the main facts in words, and who holds the whole key.

    The last is None where the environment has changed in what the scenario rests on.
    """
    with opened(asked.opened.environment, as_of=asked.opened.as_of) as place:
        scenario = place.environment.scenario(asked.scenario)
        stale = staleness(scenario, place.environment)
        now = place.content_revision
        is_older = bool(now and scenario.revision) and scenario.revision != now
        whole = None if stale else composite_keys.find_whole_key(scenario, place.environment)
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
            for key in whole.curve.keys[:8]
        ]
        more = "" if len(whole.curve.keys) <= 8 else "; and so on"
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


def review(asked: editing.ReviewRequest, *, progress: Progress | None = None) -> ScenarioReview:
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
    asked: editing.RenewScenarioRequest, *, progress: Progress | None = None
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


def export_scenario(asked: editing.ExportScenarioRequest) -> str:
    """Write a scenario to a JSON file, and return what has changed for it since, if anything."""
    require_outputs(asked)
    with opened(asked.opened.environment, as_of=asked.opened.as_of) as place:
        scenario = place.environment.scenario(asked.scenario)
        stale = staleness(scenario, place.environment)
        document = document_of(scenario)
    text = document.model_dump_json(indent=1, by_alias=True)
    write_file(asked.file, f"{text}\n".encode(), private=False, replace=asked.replace)
    return stale
