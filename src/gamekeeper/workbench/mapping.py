"""Stage one as a person does it: open an environment, check it, map a target, look at graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.algorithms.categories.limits import MAX_NODES
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.evidence import Mode
from gamekeeper.mapping.environment.overview import (
    CategoryTable,
    CodeTable,
    EnvironmentCheck,
    check_environment,
    list_categories,
    list_codes,
)
from gamekeeper.report.drawing import (
    MAX_DRAWN,
    draw_harmonization_graph,
    draw_partition_graph,
)
from gamekeeper.report.figures import save_curves
from gamekeeper.report.mapping_report import write_report
from gamekeeper.report.saving import PAGE_ENDINGS, PICTURE_ENDINGS
from gamekeeper.results import Progress
from gamekeeper.store.codes import write_codes
from gamekeeper.store.graph_file import read_named_graph
from gamekeeper.workbench.destinations import require_destinations
from gamekeeper.workbench.environments import is_store, opened

__all__ = ["MapRequest", "analyse", "check", "map_target", "show_categories", "show_codes"]


@dataclass(frozen=True, slots=True)
class MapRequest:
    """What a person asks of key variable mapping."""

    target: str
    forms: Sequence[str] = ()
    groups: Sequence[str] = ()
    mode: Mode | None = None
    prevalence: str = "0"
    strict: bool = True
    levels: int | None = None
    max_nodes: int = MAX_NODES


def check(
    path: Path, *, assign: bool = False, progress: Progress | None = None
) -> tuple[EnvironmentCheck | CategoryTable, Sequence[str]]:
    """Check an environment folder, a store, or a single file with a partition graph.

    With `assign`, codes that were worked out are written into the folder, so that they stay; the
    files that were changed are returned as well. A store keeps its codes anyway.
    """
    if path.is_file() and assign:
        raise InputError(
            Reason.BAD_OPTION,
            "Codes were to be written.",
            "The path is a store, which keeps its codes anyway."
            if is_store(path)
            else "The path is a single file.",
            "Name the folder of an environment.",
        )
    if path.is_file() and not is_store(path):
        return list_categories(*read_named_graph(path)), ()
    with opened(path, progress=progress) as place:
        if place.store is not None:
            place.store.check(progress=progress)
        written = write_codes(place.environment, path) if assign else ()
        return check_environment(place.environment), written


def map_target(
    path: Path,
    request: MapRequest,
    *,
    report: Path | None = None,
    plot: Path | None = None,
    as_of: str = "",
    progress: Progress | None = None,
) -> KeyVariableMap:
    """Map the key variables of a target; write a report and a plot where asked for."""
    require_destinations({report: PAGE_ENDINGS, plot: PICTURE_ENDINGS}, outside=path)
    with opened(path, as_of=as_of, progress=progress) as place:
        outcome = analyse(place.environment, request, progress=progress)
        place.keep_codes()
        if report is not None:
            write_report(outcome, place.environment, report)
        if plot is not None:
            save_curves(outcome, plot)
    return outcome


def analyse(
    environment: Environment, request: MapRequest, *, progress: Progress | None = None
) -> KeyVariableMap:
    """Map the key variables of a target in an environment that is open."""
    return map_key_variables(
        environment,
        request.target,
        forms=request.forms,
        groups=request.groups,
        mode=request.mode,
        prevalence=request.prevalence,
        strict=request.strict,
        levels=request.levels,
        max_nodes=request.max_nodes,
        progress=progress,
    )


def show_codes(
    path: Path,
    variable: str,
    *,
    codes: Sequence[str] = (),
    output: Path | None = None,
    max_nodes: int = MAX_NODES,
    as_of: str = "",
    progress: Progress | None = None,
) -> CodeTable:
    """List the codes of a variable and draw its harmonization graph where asked for.

    Where `codes` are given, only their harmonization is listed.
    """
    require_destinations({output: PICTURE_ENDINGS}, outside=path)
    with opened(path, as_of=as_of, progress=progress) as place:
        environment = place.environment
        only = environment.harmonize_codes(variable, codes) if codes else None
        table = list_codes(environment, variable, only=only, max_nodes=max_nodes, progress=progress)
        place.keep_codes()
        if output is not None:
            # A limit that was raised for the search is meant for the drawing as well.
            most = MAX_DRAWN if max_nodes == MAX_NODES else max_nodes
            draw_harmonization_graph(environment, variable, max_nodes=most).save(output)
    return table


def show_categories(
    path: Path,
    variable: str | None = None,
    *,
    form: str | None = None,
    deepen: bool = False,
    output: Path | None = None,
    as_of: str = "",
    progress: Progress | None = None,
) -> CategoryTable:
    """List the categories of a variable and draw its partition graph where asked for.

    `path` is an environment folder, a store, or a single file with a partition graph. Where a `form` is
    given, the categories that it offers are marked in the drawing. With `deepen`, every category
    points to its largest parts: fewer edges, more levels.
    """
    require_destinations({output: PICTURE_ENDINGS}, outside=path)
    selected: Sequence[str] = ()
    if variable is None or (path.is_file() and not is_store(path)):
        name, graph = read_named_graph(path)
    else:
        with opened(path, as_of=as_of, progress=progress) as place:
            name, graph = variable, place.environment.variable(variable).graph
            if form is not None:
                selected = place.environment.categorization(form, variable).categories
    if deepen:
        graph = graph.deepen()
    if output is not None:
        draw_partition_graph(graph, selected=selected, title=name).save(output)
    return list_categories(name, graph)
