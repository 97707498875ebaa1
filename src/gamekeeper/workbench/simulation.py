"""Simulations as a person runs them: a file as a notional population, an experiment on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.simulation.experiments import (
    FractionExperiment,
    StrategyExperiment,
    fraction_experiment,
    strategy_experiment,
)
from gamekeeper.attack.simulation.notional import population_bytes
from gamekeeper.attack.simulation.pilot import PilotStudy, pilot_study
from gamekeeper.attack.simulation.result import SimulationResult
from gamekeeper.attack.simulation.simulate import simulate
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.results import Progress
from gamekeeper.wording import count_of
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.microdata.need import Need, sampling_workers
from gamekeeper.workbench.microdata.opening import open_microdata
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.requests.simulation import ExperimentKind, SimulateRequest

Experiment = StrategyExperiment | FractionExperiment | PilotStudy | SimulationResult


def run_simulation(
    asked: SimulateRequest, *, progress: Progress | None = None
) -> Answer[Experiment]:
    """Take a file as a notional population, draw samples from it and measure each."""
    require_outputs(asked)
    chosen = _options(asked)
    data = open_microdata(asked.microdata, extra=asked.stratify_by, need=Need(population_bytes))
    run: Callable[..., Experiment] = {
        ExperimentKind.STRATEGIES: strategy_experiment,
        ExperimentKind.FRACTIONS: fraction_experiment,
        ExperimentKind.PILOT: pilot_study,
        ExperimentKind.MEASURES: simulate,
    }[asked.experiment]
    found = run(data.coded, data.keys, missing=data.missing, progress=progress, **chosen)
    write_outputs(asked, found)
    return Answer(found, data.notices, data.what_if(data.count()) if data.recoded else None)


# Which options each experiment has, besides those that all have.
_OWN = {
    ExperimentKind.STRATEGIES: {"fraction", "r"},
    ExperimentKind.FRACTIONS: {"fractions", "with_models"},
    ExperimentKind.PILOT: {"fraction", "max_size", "max_seconds"},
    ExperimentKind.MEASURES: {"fractions", "measures", "r", "max_size", "max_seconds"},
}
_SOME_HAVE = {
    "measures": "--measure",
    "r": "--r",
    "max_size": "--max-size",
    "max_seconds": "--max-seconds",
    "with_models": "--with-models",
}


def _options(asked: SimulateRequest) -> dict[str, Any]:
    own = _OWN[asked.experiment]
    one = "fraction" in own
    given: dict[str, Any] = {
        "measures": asked.measures,
        "r": ((asked.r,) if asked.r and asked.experiment is ExperimentKind.MEASURES else asked.r),
        "max_size": asked.max_size,
        "with_models": asked.with_models,
        "samples": asked.samples,
        "stratify_by": asked.stratify_by,
    }
    if one and len(asked.fractions) == 1:
        given["fraction"] = asked.fractions[0]
    elif asked.fractions:
        given["fractions"] = asked.fractions
    chosen = {name: value for name, value in given.items() if value}
    if asked.max_seconds != MAX_SECONDS:
        chosen["max_seconds"] = asked.max_seconds
    problems = [
        Problem(Reason.BAD_OPTION, option, "this experiment has no such option.", "Leave it out.")
        for name, option in _SOME_HAVE.items()
        if name in chosen and name not in own
    ]
    if one and len(asked.fractions) > 1:
        found = f"{len(asked.fractions)} are given, and this experiment takes one."
        problems.append(Problem(Reason.BAD_OPTION, "--fraction", found, "Give one."))
    if asked.experiment is ExperimentKind.MEASURES and not asked.fractions:
        problems.append(
            Problem(Reason.NOTHING_GIVEN, "--fraction", "it is needed.", "Give one or several.")
        )
    refuse(
        problems,
        f"The experiment '{asked.experiment}' was asked for.",
        f"{count_of(len(problems), 'option does', 'options do')} not fit.",
    )
    workers = sampling_workers(asked.workers)
    return {**chosen, "seed": asked.seed, "workers": workers, "folder": asked.folder}
