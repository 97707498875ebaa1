"""Stage two as a person does it: count keys, attack the release, write down what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gamekeeper.algorithms.uniques.minimal_uniques import MAX_MSUS, MAX_SECONDS
from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.matching.strategies import assess_matching
from gamekeeper.attack.risk_classes import DEFAULT_RISK_CLASSES, parse_risk_classes
from gamekeeper.attack.uniques.dis import assess_dis
from gamekeeper.attack.uniques.dis_result import DisMethod, DisRisk
from gamekeeper.attack.uniques.special import SpecialUniques, assess_special_uniques
from gamekeeper.attack.uniques.suda import UniquesRisk, assess_uniques, estimate_search
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.report.figures import save_figure
from gamekeeper.report.risk_page import write_risk_report
from gamekeeper.report.risk_report import assessment_report
from gamekeeper.report.saving import PAGE_ENDINGS, PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.results import Progress
from gamekeeper.wording import count_of
from gamekeeper.workbench.destinations import require_destinations
from gamekeeper.workbench.microdata import Microdata
from gamekeeper.workbench.sampled import SampledRequest, open_sampled

__all__ = [
    "UniquesRequest",
    "count_release",
    "find_special",
    "find_uniques",
    "match_release",
    "simulate_intrusion",
]


# Records times sets of variables: below that a search takes a second or two.
_LONG_SEARCH = 1 << 28


@dataclass(frozen=True, slots=True)
class UniquesRequest:
    """What a person asks of the search for special uniques."""

    max_size: int | None = None
    power: int = 6
    classes: str = ""
    rank_by: str = "dis_is"
    listing: bool = True
    max_msus: int | None = MAX_MSUS
    max_seconds: float | None = MAX_SECONDS
    workers: int | None = None


def count_release(
    request: SampledRequest, *, output: Path | None = None, progress: Progress | None = None
) -> tuple[Microdata, KeyTable]:
    """Count the keys of a file; write its classes to a table where asked for."""
    require_destinations({output: TABLE_ENDINGS}, read=(request.file, request.values))
    data = open_sampled(request, progress=progress)
    table = data.count(progress=progress)
    if output is not None:
        write_table(table.to_arrow(), output)
    return data, table


def find_uniques(
    request: SampledRequest,
    asked: UniquesRequest,
    *,
    population: Path | None = None,
    records: Path | None = None,
    report: Path | None = None,
    with_records: bool = True,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> UniquesRisk:
    """Find and score the minimal sample uniques of a file; write records and a report.

    With a population the report also tells what matching strategies would achieve and cost. Before
    a search that may take long, `tell` is given an estimate of it in words.
    """
    require_destinations(
        {records: TABLE_ENDINGS, report: PAGE_ENDINGS},
        read=(request.file, request.values, population),
    )
    if population is not None and report is None:
        raise InputError(
            Reason.BAD_OPTION,
            "A population was given to the search for uniques.",
            "It is for the report, and none is asked for.",
            "Ask for a report, or compare strategies (gamekeeper risk match).",
        )
    data = open_sampled(request, progress=progress)
    table = data.count(progress=progress)
    if tell is not None and table.n_records << len(table.keys) > _LONG_SEARCH:
        tell(_estimated(table, asked))
    risk = _assessed(table, asked, progress)
    if records is not None:
        write_table(risk.to_arrow(), records)
    if report is not None:
        everybody = _population(request, population)
        matching = None if everybody is None else assess_matching(table, population=everybody)
        _write_report(data, table, risk, matching, report, with_records)
    return risk


def _estimated(table: KeyTable, asked: UniquesRequest) -> str:
    estimate = estimate_search(table, max_size=asked.max_size)
    about = "more than" if estimate.at_least else "about"
    return (
        f"There are {about} {estimate.n_msus:,} minimal sample uniques to find, which takes {about}"
        f" {max(estimate.seconds, 1):,.0f} s of processor time (estimated from"
        f" {count_of(estimate.n_sampled, 'record')})."
    )


def _assessed(table: KeyTable, asked: UniquesRequest, progress: Progress | None) -> UniquesRisk:
    classes = DEFAULT_RISK_CLASSES
    if asked.classes:
        classes = parse_risk_classes(asked.classes, measure=asked.rank_by)
    return assess_uniques(
        table,
        max_size=asked.max_size,
        power=asked.power,
        classes=classes,
        rank_by=asked.rank_by,
        listing=asked.listing,
        max_msus=asked.max_msus,
        max_seconds=asked.max_seconds,
        workers=asked.workers,
        progress=progress,
    )


def _write_report(
    data: Microdata,
    table: KeyTable,
    risk: UniquesRisk,
    matching: MatchingRisk | None,
    path: Path,
    with_records: bool,
) -> None:
    scenario = data.scenario
    write_risk_report(
        assessment_report(
            table,
            risk,
            matching=matching,
            name=data.source.path.name,
            scenario="" if scenario is None else scenario.name,
            attacker="" if scenario is None else scenario.attacker,
            settings=data.source.settings,
            with_records=with_records,
        ),
        path,
    )


def simulate_intrusion(
    request: SampledRequest,
    *,
    method: DisMethod = DisMethod.GENERAL,
    original: Path | None = None,
    removed: int = 1,
    rounds: int = 200_000,
    tolerance: float = 0.005,
    seed: int = 0,
    plot: Path | None = None,
    progress: Progress | None = None,
) -> DisRisk:
    """Estimate by data intrusion simulation what an intruder's unique match is worth."""
    require_destinations({plot: PICTURE_ENDINGS})
    table = open_sampled(request).count()
    before = None
    if original is not None:
        # Only the keys of the original matter; weights and strata are those of the release.
        plain = replace(request, file=original, weight="", strata="", fraction="", sensitive=())
        before = open_sampled(plain).count()
    found = assess_dis(
        table,
        method=method,
        original=before,
        removed=removed,
        rounds=rounds,
        tolerance=tolerance,
        seed=seed,
        progress=progress,
    )
    if plot is not None:
        save_figure(found.plot(), plot)
    return found


def match_release(
    request: SampledRequest,
    *,
    population: Path | None = None,
    r: Sequence[int] = (1, 2, 3),
    plot: Path | None = None,
    progress: Progress | None = None,
) -> MatchingRisk:
    """Work out what matching strategies would achieve and cost."""
    require_destinations({plot: PICTURE_ENDINGS})
    table = open_sampled(request, progress=progress).count(progress=progress)
    found = assess_matching(table, population=_population(request, population), r=r)
    if plot is not None:
        save_figure(found.plot(), plot)
    return found


def find_special(
    request: SampledRequest,
    *,
    special_size: int | None = None,
    population: Path | None = None,
    rounds: int = 20,
    seed: int = 0,
    workers: int | None = None,
    records: Path | None = None,
    progress: Progress | None = None,
) -> SpecialUniques:
    """Tell special from random uniques by what makes their uniqueness go away."""
    require_destinations({records: TABLE_ENDINGS}, read=(request.file, request.values, population))
    data = open_sampled(request, progress=progress)
    found = assess_special_uniques(
        data.count(progress=progress),
        special_size=special_size,
        coarser=data.coarser(),
        population=_population(request, population),
        rounds=rounds,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    if records is not None:
        write_table(found.to_arrow(), records)
    return found


def _population(request: SampledRequest, population: Path | None) -> KeyTable | None:
    if population is None:
        return None
    plain = replace(request, file=population, weight="", strata="", fraction="", sensitive=())
    return open_sampled(plain).count()
