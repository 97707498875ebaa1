"""The Bayesian intruder as a person runs it: fit models, infer, compare measures on a population."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gamekeeper.attack.judging.compare import Comparison, compare_measures
from gamekeeper.attack.models.fitting import FitMethod, ModelFit, fit_models
from gamekeeper.attack.models.inference import Estimator, ModelRisk, infer_risk
from gamekeeper.attack.models.levels import (
    By,
    RelativeRisk,
    categories_risk,
    check_variable,
    variables_risk,
)
from gamekeeper.attack.models.queries import Inference, check_question, infer_target
from gamekeeper.attack.models.ranking import RankedAttack, rank_attacks
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.report.comparison import comparison_report
from gamekeeper.report.figures import save_figure
from gamekeeper.report.risk_page import write_risk_report
from gamekeeper.report.saving import PAGE_ENDINGS, PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.results import Progress
from gamekeeper.wording import count_of
from gamekeeper.workbench.destinations import require_destinations
from gamekeeper.workbench.sampled import SampledRequest, open_sampled

__all__ = ["Inferred", "ModelRequest", "compare_on_population", "fit_release", "infer_release"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a person asks of a search for models; one that is cancelled may keep what it found."""

    method: FitMethod = FitMethod.MC3
    precision: float | None = None
    chains: int = 4
    most_sweeps: int = 32_000
    window: float = 20.0
    seed: int = 0
    workers: int | None = None
    keep_partial: bool = False
    patient: bool = False


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was inferred from models: the risk, what variables add, attacks, a person's values."""

    risk: ModelRisk
    variables: RelativeRisk
    categories: RelativeRisk | None
    attacks: RankedAttack | None
    values: Inference | None


def fit_release(
    request: SampledRequest,
    asked: ModelRequest,
    *,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> ModelFit:
    """Fit models to the keys of a file; draw the model graph where asked for."""
    require_destinations({plot: PICTURE_ENDINGS}, read=[request.file])
    table = open_sampled(request).count()
    fit = _fitted(table, asked, progress)
    if plot is not None:
        save_figure(fit.plot(), plot)
    return fit


def _fitted(table: KeyTable, asked: ModelRequest, progress: Progress | None) -> ModelFit:
    return fit_models(
        table,
        method=asked.method,
        precision=asked.precision,
        chains=asked.chains,
        most_sweeps=asked.most_sweeps,
        window=asked.window,
        seed=asked.seed,
        workers=asked.workers,
        progress=progress,
        keep_partial=asked.keep_partial,
        patient=asked.patient,
    )


def infer_release(
    request: SampledRequest,
    asked: ModelRequest,
    *,
    estimator: Estimator = Estimator.CALIBRATED,
    population: Path | None = None,
    categories: str = "",
    by: By = By.SUPPRESSION,
    known: Mapping[str, str] | None = None,
    ask: Sequence[str] = (),
    records: Path | None = None,
    progress: Progress | None = None,
) -> Inferred:
    """Fit models to a file, and infer how many people share the key of each record.

    `categories` names a key variable whose categories are to be judged as well.
    """
    read = [file for file in (request.file, population) if file is not None]
    require_destinations({records: TABLE_ENDINGS}, read=read)
    table = open_sampled(request).count()
    # A search may take minutes: what cannot be answered is told before.
    if table.fraction is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Population sizes were to be inferred.",
            "No sampling fraction is known.",
            "Give the fraction of the population that is in the file, such as '1/50' or '2%'.",
        )
    if known or ask:
        check_question(table, known or {}, ask)
    if categories:
        check_variable(categories, table.keys)
    fit = _fitted(table, asked, progress)
    risk = infer_risk(table, fit, estimator=estimator, seed=asked.seed)
    attacks = None
    if population is not None:
        plain = replace(request, file=population, weight="", strata="", fraction="", sensitive=())
        attacks = rank_attacks(risk, table, open_sampled(plain).count())
    judged = categories_risk(risk, table, categories, by=by) if categories else None
    values = infer_target(risk, table, known or {}, ask) if ask else None
    if records is not None:
        write_table(risk.to_arrow(), records)
    return Inferred(risk, variables_risk(risk), judged, attacks, values)


def compare_on_population(
    request: SampledRequest,
    *,
    fractions: Sequence[str] = ("1%", "5%"),
    samples: int = 1,
    attacks: bool | None = None,
    attack_fractions: Sequence[str] = (),
    attack_samples: int = 1,
    measures: Sequence[str] = (),
    stratify_by: Sequence[str] = (),
    seed: int = 0,
    workers: int | None = None,
    folder: Path | None = None,
    report: Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Take a file as a population, draw samples, judge measures of risk by the truth, and attack.

    With `attacks`, they are tried over the whole range of sampling fractions, or at those given;
    by default where a report is asked for. The samples that are judged are attacked in any case.
    """
    require_destinations({report: PAGE_ENDINGS}, read=[request.file])
    if attacks is False and attack_fractions:
        raise InputError(
            Reason.BAD_OPTION,
            "A comparison without attacks was asked for.",
            f"{count_of(len(attack_fractions), 'sampling fraction')} of attacks are given as well.",
            "Leave out --no-attacks or --attack-fraction.",
        )
    whole_range = attacks or (attacks is None and report is not None)
    data = open_sampled(request, extra=stratify_by)
    chosen = {"measures": tuple(measures)} if measures else {}
    found = compare_measures(
        data.coded,
        data.keys,
        fractions=tuple(fractions),
        samples=samples,
        attack_fractions=tuple(attack_fractions) or (None if whole_range else ()),
        attack_samples=attack_samples,
        missing=request.missing,
        stratify_by=tuple(stratify_by),
        seed=seed,
        workers=workers or min(os.cpu_count() or 1, 8),
        folder=folder,
        progress=progress,
        **chosen,
    )
    if report is not None:
        write_risk_report(comparison_report(found, name=data.source.path.name), report)
    return found
