"""Simulations as a person runs them: a file as a notional population, an experiment on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from gamekeeper.attack.simulation.experiments import (
    FractionExperiment,
    StrategyExperiment,
    fraction_experiment,
    strategy_experiment,
)
from gamekeeper.attack.simulation.pilot import PilotStudy, pilot_study
from gamekeeper.attack.simulation.result import SimulationResult
from gamekeeper.attack.simulation.simulate import simulate
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.report.figures import save_figure
from gamekeeper.report.saving import PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.results import Progress
from gamekeeper.wording import count_of
from gamekeeper.workbench.destinations import require_destinations
from gamekeeper.workbench.sampled import SampledRequest, open_sampled

__all__ = ["Experiment", "ExperimentKind", "SimulationRequest", "run_simulation"]

Experiment = StrategyExperiment | FractionExperiment | PilotStudy | SimulationResult


class ExperimentKind(StrEnum):
    """What is done with the samples of a simulation."""

    STRATEGIES = "strategies"
    FRACTIONS = "fractions"
    PILOT = "pilot"
    MEASURES = "measures"


@dataclass(frozen=True, slots=True)
class SimulationRequest:
    """What a person asks of a simulation; what is left empty is as the experiment has it."""

    kind: ExperimentKind
    fractions: Sequence[str] = ()
    samples: int | None = None
    measures: Sequence[str] = ()
    stratify_by: Sequence[str] = ()
    r: int | None = None
    max_size: int | None = None
    with_models: bool = False
    seed: int = 0
    workers: int | None = None
    folder: Path | None = None


def run_simulation(
    request: SampledRequest,
    asked: SimulationRequest,
    *,
    plot: Path | None = None,
    output: Path | None = None,
    progress: Progress | None = None,
) -> Experiment:
    """Take a file as a notional population, draw samples from it and measure each."""
    require_destinations(
        {plot: PICTURE_ENDINGS, output: TABLE_ENDINGS}, read=(request.file, request.values)
    )
    given = _options(asked)
    data = open_sampled(request, extra=asked.stratify_by)
    given |= {"missing": request.missing, "progress": progress}
    run = {
        ExperimentKind.STRATEGIES: strategy_experiment,
        ExperimentKind.FRACTIONS: fraction_experiment,
        ExperimentKind.PILOT: pilot_study,
        ExperimentKind.MEASURES: simulate,
    }[asked.kind]
    found: Experiment = run(data.coded, data.keys, **given)
    if plot is not None:
        save_figure(found.plot(), plot)
    if output is not None:
        write_table(found.to_arrow(), output)
    return found


# Which options each experiment has, besides those that all have.
_OWN = {
    ExperimentKind.STRATEGIES: {"fraction", "r"},
    ExperimentKind.FRACTIONS: {"fractions", "with_models"},
    ExperimentKind.PILOT: {"fraction", "max_size"},
    ExperimentKind.MEASURES: {"fractions", "measures", "r", "max_size"},
}
_SOME_HAVE = {"measures": "--measure", "r": "--r", "max_size": "--max-size"}


def _options(asked: SimulationRequest) -> dict[str, Any]:
    own = _OWN[asked.kind]
    one = "fraction" in own
    given: dict[str, Any] = {
        "measures": tuple(asked.measures),
        "r": ((asked.r,) if asked.r and asked.kind is ExperimentKind.MEASURES else asked.r),
        "max_size": asked.max_size,
        "with_models": asked.with_models,
        "samples": asked.samples,
        "stratify_by": tuple(asked.stratify_by),
    }
    if one and len(asked.fractions) == 1:
        given["fraction"] = asked.fractions[0]
    elif asked.fractions:
        given["fractions"] = tuple(asked.fractions)
    chosen = {name: value for name, value in given.items() if value}
    problems = [
        Problem(Reason.BAD_OPTION, option, "this experiment has no such option.", "Leave it out.")
        for name, option in _SOME_HAVE.items()
        if name in chosen and name not in own
    ]
    if one and len(asked.fractions) > 1:
        found = f"{len(asked.fractions)} are given, and this experiment takes one."
        problems.append(Problem(Reason.BAD_OPTION, "--fraction", found, "Give one."))
    if asked.kind is ExperimentKind.MEASURES and not asked.fractions:
        problems.append(
            Problem(Reason.NOTHING_GIVEN, "--fraction", "it is needed.", "Give one or several.")
        )
    if problems:
        raise InputError(
            problems[0].reason,
            f"The experiment '{asked.kind}' was asked for.",
            f"{count_of(len(problems), 'option does', 'options do')} not fit.",
            problems=problems,
        )
    workers = asked.workers or min(os.cpu_count() or 1, 8)
    return {**chosen, "seed": asked.seed, "workers": workers, "folder": asked.folder}
