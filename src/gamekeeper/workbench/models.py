"""The Bayesian intruder and experiments as a person runs them: fit models, infer, compare, simulate.

A comparison and a simulation take a file as a whole population and draw samples from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.experiments import pilot
from gamekeeper.attack.experiments.compare import Comparison, compare_measures
from gamekeeper.attack.experiments.simulate import SimulationResult, simulate
from gamekeeper.attack.matching import RankedAttack, rank_attacks
from gamekeeper.attack.models import levels
from gamekeeper.attack.models.fitting import ModelFit, fit_models
from gamekeeper.attack.models.inference import ModelRisk, infer_risk
from gamekeeper.attack.options import FitOptions
from gamekeeper.budget import Work
from gamekeeper.data.engine.gate import MOST_WRITTEN
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.prompt_syntax import MAX_SECONDS
from gamekeeper.results import Progress
from gamekeeper.wording import count_of
from gamekeeper.workbench import answers
from gamekeeper.workbench.microdata import Attacked, open_microdata, open_other, require_other
from gamekeeper.workbench.requests import records

if TYPE_CHECKING:
    from gamekeeper.report.page import RiskReport


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was inferred from models: the risk, what variables add, attacks, a person's values."""

    risk: ModelRisk
    variables: levels.RelativeRisk
    categories: levels.RelativeRisk | None
    attacks: RankedAttack | None
    values: levels.Inference | None


def fit_release(
    asked: records.ModelRequest, *, progress: Progress | None = None
) -> answers.Answer[ModelFit]:
    """Fit models to the keys of a file; a search that is cancelled keeps what it has found."""
    answers.require_outputs(asked)
    data = open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        need=answers.Need(Work.FITTING, by_key=True),
    )
    table = data.count()
    fit = _fitted(table, asked.fit, progress)
    return Attacked(asked, data, table).finish(fit, fit=asked.fit, progress=progress)


def _fitted(table: KeyTable, asked: FitOptions, progress: Progress | None) -> ModelFit:
    return fit_models(table, asked=asked, progress=progress, keep_partial=True)


def infer_release(
    asked: records.InferRequest, *, progress: Progress | None = None
) -> answers.Answer[Inferred]:
    """Fit models to a file, and infer how many people share the key of each record."""
    answers.require_outputs(asked)
    if asked.person and asked.population is not None:
        raise InputError(
            Reason.BAD_OPTION,
            "Attacks on a population were to be tried with one record of each person (--person).",
            "The population is read record by record: whose its records are is not looked at.",
            "Leave out --population, or give files with one record of each person and no --person.",
        )
    require_other(asked.microdata, asked.population, counting=asked.counting)
    need = answers.Need(Work.INFERENCE, by_key=True)
    if asked.infer.household:
        need = answers.Need(
            Work.INFERENCE, most_elsewhere=MOST_WRITTEN, do=answers.WITHOUT_HOUSEHOLDS
        )
    data = open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        identifier=asked.identifier,
        person=asked.person,
        extra=[asked.infer.household] if asked.infer.household else [],
        by_weight=True,
        need=need,
    )
    table = data.count()
    _require_answerable(asked, table)
    everybody = open_other(asked.microdata, asked.population, counting=asked.counting)
    fit = _fitted(table, asked.fit, progress)
    (household,) = matched_names([asked.infer.household], data.coded.codebook.names)
    risk = infer_risk(table, fit, asked=asked.infer, seed=asked.fit.seed, household=household)
    plain = risk.records.table
    risk = replace(risk, records=replace(risk.records, table=data.with_identifiers(plain)))
    attacks = None if everybody.keys is None else rank_attacks(risk, table, everybody.keys)
    judged = (
        levels.categories_risk(risk, table, asked.categories, asked=asked.of_categories)
        if asked.categories
        else None
    )
    values = (
        levels.infer_target(
            risk,
            table,
            asked.known,
            asked.ask,
            precision=asked.ask_precision,
            most_cells=asked.most_cells,
        )
        if asked.ask
        else None
    )
    found = Inferred(risk, levels.variables_risk(risk), judged, attacks, values)
    answer = Attacked(asked, data, table, everybody).finish(
        risk,
        answers.listed_notices(table.listed),
        fit=asked.fit,
        progress=progress,
        besides=lambda: [found.variables, judged, attacks, values],
        counted=answers.listed_writer(
            table.listed, lambda: plain, data.identifier, risk.to_arrow, raw=asked.raw
        ),
    )
    return answers.Answer(found, answer.notices, answer.what_if)


def _require_answerable(asked: records.InferRequest, table: KeyTable) -> None:
    """Refuse what cannot be answered before models are searched, which may take minutes."""
    if table.fraction is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Population sizes were to be inferred.",
            "No sampling fraction is known.",
            "Give the fraction of the population that is in the file (--fraction), such as '1/50' or"
            " '2%'.",
        )
    if asked.known or asked.ask:
        levels.check_question(table, asked.known, asked.ask)
    if asked.categories:
        levels.check_variable(asked.categories, table.keys)


def compare_on_population(
    asked: records.CompareRequest, *, progress: Progress | None = None
) -> answers.Answer[Comparison]:
    """Take a file as a population, draw samples, judge measures of risk by the truth, and attack.

    Samples that are judged are attacked in any case; others, over the whole range of sampling fractions or
    at those given, where that is asked for, and by default where a report is.
    """
    answers.require_outputs(asked)
    if asked.attacks is False and asked.attack_fractions:
        n_fractions = count_of(len(asked.attack_fractions), "sampling fraction")
        raise InputError(
            Reason.BAD_OPTION,
            "A comparison without attacks was asked for.",
            f"{n_fractions} of attacks are given as well.",
            "Leave out --no-attacks or --attack-fraction.",
        )
    whole_range = asked.attacks or (asked.attacks is None and asked.report is not None)
    data = open_microdata(
        asked.microdata, extra=asked.stratify_by, need=answers.Need(Work.POPULATION)
    )
    found = compare_measures(
        data.coded,
        data.keys,
        fractions=asked.fractions,
        samples=asked.samples,
        attack_fractions=asked.attack_fractions or (None if whole_range else ()),
        attack_samples=asked.attack_samples,
        measures=asked.measures,
        missing=data.missing,
        stratify_by=asked.stratify_by,
        max_size=asked.max_size,
        max_seconds=asked.max_seconds,
        seed=asked.seed,
        workers=answers.sampling_workers(asked.workers),
        folder=asked.folder,
        progress=progress,
    )

    def report() -> RiskReport:
        from gamekeeper.report.risk_report import comparison_report

        return comparison_report(found, name=data.source.name, notices=data.notices)

    answers.write_outputs(asked, found, report=report)
    return answers.Answer(found, data.notices, data.what_if(data.count()) if data.recoded else None)


Experiment = (
    pilot.StrategyExperiment | pilot.FractionExperiment | pilot.PilotStudy | SimulationResult
)


def run_simulation(
    asked: records.SimulateRequest, *, progress: Progress | None = None
) -> answers.Answer[Experiment]:
    """Take a file as a notional population, draw samples from it and measure each."""
    answers.require_outputs(asked)
    chosen = _options(asked)
    data = open_microdata(
        asked.microdata, extra=asked.stratify_by, need=answers.Need(Work.POPULATION)
    )
    run: Callable[..., Experiment] = {
        records.ExperimentKind.STRATEGIES: pilot.strategy_experiment,
        records.ExperimentKind.FRACTIONS: pilot.fraction_experiment,
        records.ExperimentKind.PILOT: pilot.pilot_study,
        records.ExperimentKind.MEASURES: simulate,
    }[asked.experiment]
    found = run(data.coded, data.keys, missing=data.missing, progress=progress, **chosen)
    answers.write_outputs(asked, found)
    return answers.Answer(found, data.notices, data.what_if(data.count()) if data.recoded else None)


# Which options each experiment has, besides those that all have.
_OWN = {
    records.ExperimentKind.STRATEGIES: {"fraction", "r"},
    records.ExperimentKind.FRACTIONS: {"fractions", "with_models"},
    records.ExperimentKind.PILOT: {"fraction", "max_size", "max_seconds"},
    records.ExperimentKind.MEASURES: {"fractions", "measures", "r", "max_size", "max_seconds"},
}
_SOME_HAVE = {
    "measures": "--measure",
    "r": "--r",
    "max_size": "--max-size",
    "max_seconds": "--max-seconds",
    "with_models": "--with-models",
}


def _options(asked: records.SimulateRequest) -> dict[str, Any]:
    own = _OWN[asked.experiment]
    one = "fraction" in own
    given: dict[str, Any] = {
        "measures": asked.measures,
        "r": (
            (asked.r,)
            if asked.r and asked.experiment is records.ExperimentKind.MEASURES
            else asked.r
        ),
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
    if asked.experiment is records.ExperimentKind.MEASURES and not asked.fractions:
        problems.append(
            Problem(Reason.NOTHING_GIVEN, "--fraction", "it is needed.", "Give one or several.")
        )
    refuse(
        problems,
        f"The experiment '{asked.experiment}' was asked for.",
        f"{count_of(len(problems), 'option does', 'options do')} not fit.",
    )
    workers = answers.sampling_workers(asked.workers)
    return {**chosen, "seed": asked.seed, "workers": workers, "folder": asked.folder}
