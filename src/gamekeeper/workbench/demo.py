"""The demo: stage one from made-up forms to a report, told as a story."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.errors import count_of
from gamekeeper.mapping.environment import Environment
from gamekeeper.mapping.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.overview import EnvironmentCheck, check_environment
from gamekeeper.report.build import write_report
from gamekeeper.report.drawing import draw_harmonization_graph
from gamekeeper.results import Progress
from gamekeeper.store.folder import read_environment, write_environment
from gamekeeper.workbench.demo_environment import TARGET, demo_environment
from gamekeeper.workbench.mapping import MapRequest, analyse

__all__ = ["Demo", "run_demo"]

_GROUP = "Commercial"
_PREVALENCE = "10%"
_STEPS = 5


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo found and wrote."""

    folder: Path
    check: EnvironmentCheck
    outcome: KeyVariableMap
    story: tuple[str, ...]
    files: Mapping[str, Path]


def run_demo(output: Path, *, seed: int, progress: Progress | None = None) -> Demo:
    """Make up an environment, keep it in a folder, map its target, and write a report."""

    def step(number: int) -> None:
        if progress is not None:
            progress(number, _STEPS)

    step(0)
    folder = output / "environment"
    write_environment(demo_environment(seed=seed), folder)
    step(1)
    environment = read_environment(folder)
    check = check_environment(environment)
    step(2)
    request = MapRequest(TARGET, groups=(_GROUP,), prevalence=_PREVALENCE, strict=False)
    outcome = analyse(environment, request)
    step(3)
    report = output / "report.html"
    write_report(outcome, environment, report)
    step(4)
    drawn = _most_telling(outcome)
    picture = output / "harmonization-graph.svg"
    draw_harmonization_graph(environment, drawn.variable).save(picture)
    step(5)
    return Demo(
        folder,
        check,
        outcome,
        tuple(_story(environment, outcome)),
        {"HTML report": report, f"Harmonization graph of {drawn.variable}": picture},
    )


def _most_telling(outcome: KeyVariableMap) -> KeyVariable:
    """Choose a variable whose result arose by harmonization, else the first of all."""
    harmonized = [item for item in outcome.variables if item.codes and item.codes[0][0] == "H"]
    return (harmonized or list(outcome.variables))[0]


def _story(environment: Environment, outcome: KeyVariableMap) -> list[str]:
    matchable = [item for item in outcome.variables if item.maximal]
    first = matchable[0]
    planned = count_of(len(outcome.variables), "variable")
    lines = [
        f"Of {planned} planned for release, {len(matchable)} match one in ten of these data sets.",
        f"The most useful to an intruder is {first.variable}, at {first.maximal[0].code}: {first.why}.",
    ]
    told = _most_telling(outcome)
    if told.maximal and told is not first:
        words = "; ".join(told.maximal[0].categories)
        own = environment.variable(told.variable)
        lines.append(
            f"{own.name} is released as {told.target_code}, but the forms cut it differently:"
            f" they can be matched on {told.maximal[0].code} only ({words})."
        )
    hidden = [
        item
        for item in matchable
        if item.effective != math.inf and item.effective > item.n_categories
    ]
    if hidden:
        most = max(hidden, key=lambda item: float(item.effective) / item.n_categories)
        lines.append(
            f"Beware of {most.variable}: harmonized it has {int(most.n_categories)} categories,"
            f" but single forms match it with {float(most.effective):.1f} effective categories,"
            " because their categories overlap."
        )
    return lines
