"""Stage one as a person does it: open an environment, check it, map a target, look at graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from gamekeeper.algorithms.categories.limits import MAX_NODES
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.composite_keys import CompositeKeys, find_composite_keys
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.analysis.levels import MapLevels, map_levels
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import (
    CategoryTable,
    CodeTable,
    EnvironmentCheck,
    check_environment,
    list_categories,
    list_codes,
)
from gamekeeper.options import given
from gamekeeper.report.drawings.figures import save_curves
from gamekeeper.report.drawings.graphs import (
    MAX_DRAWN,
    draw_harmonization_graph,
    draw_partition_graph,
)
from gamekeeper.report.mapping.mapping_report import write_mapping_report
from gamekeeper.results import Progress
from gamekeeper.store.codes import write_codes
from gamekeeper.store.graph_file import read_named_graph
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.wording import quoted
from gamekeeper.workbench.environment.opening import is_store, opened
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.requests.environment.mapping import (
    CheckRequest,
    GraphRequest,
    Kind,
    MapRequest,
)


def check(
    asked: CheckRequest, *, progress: Progress | None = None
) -> tuple[EnvironmentCheck | CategoryTable, Mapping[str, Mapping[str, str]], Sequence[str]]:
    """Check an environment folder, a store, or a single file with a partition graph.

    Returned are the result, per variable the forms that are inconsistent, and the files that were
    changed. With `assign`, codes that were worked out are written into the folder, so that they
    stay. A store keeps its codes anyway.
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
        return list_categories(*read_named_graph(path)), {}, ()
    with opened(path, progress=progress) as place:
        if place.store is not None:
            place.store.check(progress=progress)
        files = ()
        if asked.assign and isinstance(path, Path):
            files = write_codes(place.environment, path)
        found = check_environment(place.environment)
        return found, found.faults, files


def map_target(
    asked: MapRequest, *, progress: Progress | None = None
) -> tuple[KeyVariableMap, CompositeKeys]:
    """Map the key variables of a target, singly and together; write a report and a plot if asked."""
    where = asked.opened
    require_outputs(asked)
    with opened(where.environment, as_of=where.as_of, progress=progress) as place:
        environment = place.environment
        outcome = analyse(environment, asked.question, progress=progress)
        composite = find_composite_keys(outcome, environment, most=asked.most_keys)
        place.keep_codes()
        write_outputs(
            asked,
            outcome,
            page=lambda path: write_mapping_report(outcome, environment, path, composite),
            picture=lambda path: save_curves(outcome, path),
        )
    return outcome, composite


def map_every_level(
    asked: MapRequest, *, progress: Progress | None = None
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
    return map_key_variables(environment, **given(question, progress=progress))


def show_graph(
    asked: GraphRequest, *, progress: Progress | None = None
) -> CodeTable | CategoryTable:
    """List the codes of a variable, or its categories, and draw their graph where asked for."""
    of_categories = asked.kind is Kind.PARTITION or _is_graph(asked.path)
    require_outputs(asked)
    _require_fitting(asked, of_categories)
    if of_categories:
        return _categories(asked, progress)
    return _codes(asked, progress)


def _codes(asked: GraphRequest, progress: Progress | None) -> CodeTable:
    """List the codes; where some are given, only their harmonization."""
    variable = asked.variable or ""
    with opened(asked.path, as_of=asked.as_of, progress=progress) as place:
        environment = place.environment
        only = environment.harmonize_codes(variable, asked.codes) if asked.codes else None
        table = list_codes(
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


def _categories(asked: GraphRequest, progress: Progress | None) -> CategoryTable:
    """List the categories; those that a form offers are marked in the drawing."""
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
    table = list_categories(name, graph)
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


def _require_fitting(asked: GraphRequest, of_categories: bool) -> None:
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
