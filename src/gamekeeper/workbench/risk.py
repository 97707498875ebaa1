"""Stage two as a person does it: count keys, attack the release, write down what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from gamekeeper.algorithms.uniques.minimal_uniques import least_bytes, require_least_seconds
from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.matching.strategies import assess_matching, matching_bytes
from gamekeeper.attack.measures.measuring import measure_risk, measures_bytes
from gamekeeper.attack.measures.result import RiskMeasures
from gamekeeper.attack.models.inference import inference_bytes
from gamekeeper.attack.uniques.dis import assess_dis
from gamekeeper.attack.uniques.dis_result import DisRisk
from gamekeeper.attack.uniques.options import DisMethod
from gamekeeper.attack.uniques.record_table import write_unique_records
from gamekeeper.attack.uniques.special import SpecialUniques, assess_special_uniques, special_bytes
from gamekeeper.attack.uniques.suda import UniquesRisk, assess_uniques, estimate_search
from gamekeeper.data.engine.bringing import MOST_WRITTEN
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.writing import write_classes
from gamekeeper.data.reading.column_names import matched_names
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import given
from gamekeeper.report.attacks.attack_report import (
    keys_report,
    matching_report,
    shown_to,
    special_report,
    what_if_section,
)
from gamekeeper.report.attacks.file_facts import AboutFile
from gamekeeper.report.attacks.risk_report import assessment_report
from gamekeeper.report.risk_page import RiskReport
from gamekeeper.report.tables import write_table
from gamekeeper.results import Progress, Result
from gamekeeper.wording import count_of
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.microdata.file import Microdata
from gamekeeper.workbench.microdata.need import WITHOUT_HOUSEHOLDS, Need
from gamekeeper.workbench.microdata.opening import (
    OtherFile,
    open_microdata,
    open_other,
    require_other,
)
from gamekeeper.workbench.outputs import (
    listed_notices,
    listed_writer,
    require_outputs,
    write_outputs,
    write_where_counted,
)
from gamekeeper.workbench.requests.risk import (
    DisRequest,
    KeysRequest,
    MatchRequest,
    MeasuresRequest,
    SpecialRequest,
    SudaRequest,
)

Found = TypeVar("Found", bound=Result)

# Records times sets of variables: below that a search takes a second or two.
_LONG_SEARCH = 1 << 28


@dataclass(frozen=True, slots=True)
class CountedFile:
    """A file and its counted keys."""

    source: Source
    table: KeyTable


def count_release(asked: KeysRequest, *, progress: Progress | None = None) -> Answer[CountedFile]:
    """Count the keys of a file; write its classes to a table where asked for."""
    require_outputs(asked)
    data = open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        sensitive=asked.sensitive,
        progress=progress,
    )
    table = data.count(progress=progress)
    what_if = data.what_if(table, progress=progress)
    about = data.about(data.notices, what_if)
    write_outputs(
        asked,
        table,
        report=lambda: shown_to(asked.report_for, keys_report(about, table), about, table, [table]),
        counted=lambda path: write_where_counted(
            table.coded.engine,
            path,
            table.n_classes,
            "classes",
            there=partial(write_classes, table),
            here=table.to_arrow,
            raw=asked.raw,
        ),
    )
    return Answer(CountedFile(data.source, table), data.notices, what_if)


def find_uniques(
    asked: SudaRequest,
    *,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Answer[UniquesRisk]:
    """Find and score the minimal sample uniques of a file; write records and a report.

    With a population the report also tells what matching strategies would achieve and cost. Before
    a search that may take long, `tell` is given an estimate of it in words.
    """
    require_outputs(asked)
    _require_used(asked)
    search = asked.search
    need = Need(
        least_bytes,
        lambda first, n: require_least_seconds(
            first, n, search.max_size, search.max_seconds or None
        ),
        by_key=True,
    )
    data, table, everybody = _opened(asked, need, progress, identifier=asked.identifier)
    if tell is not None and table.n_records << len(table.keys) > _LONG_SEARCH:
        tell(_estimated(table, asked.search.max_size))
    notices = (*data.notices, *everybody.notices)
    risk = assess_uniques(table, **given(replace(asked.search, progress=progress)))
    plain = risk.records.table
    risk = replace(risk, records=replace(risk.records, table=data.with_identifiers(plain)))
    what_if = data.what_if(table, progress=progress)
    about = data.about(notices, what_if)

    def write_there(path: Path) -> None:
        write_unique_records(
            table, plain, path, not_known=risk.not_known, identifier=data.identifier
        )

    def report() -> RiskReport:
        people = everybody.keys
        matching = None if people is None else assess_matching(table, population=people)
        results = [table, risk, *([] if matching is None else [matching])]
        page = assessment_report(
            table,
            risk,
            matching=matching,
            name=about.name,
            scenario=about.scenario,
            attacker=about.attacker,
            settings=about.settings,
            notices=notices,
            with_records=asked.report_records,
        )
        if what_if is not None:
            compared = what_if_section(what_if, with_rules=asked.report_records)
            page = replace(page, sections=[compared, *page.sections])
        return shown_to(asked.report_for, page, about, table, results)

    write_outputs(
        asked,
        risk,
        report=report,
        msus=lambda path: write_table(data.with_identifiers(risk.msus()), path, raw=asked.raw),
        counted=lambda path: write_where_counted(
            table.coded.engine,
            path,
            table.coded.n_records,
            "records",
            there=write_there,
            here=risk.records.to_arrow,
            raw=asked.raw,
        ),
    )
    return Answer(risk, notices, what_if)


def _opened(
    asked: SudaRequest | MatchRequest | SpecialRequest | MeasuresRequest,
    need: Need,
    progress: Progress | None,
    *,
    identifier: str = "",
    extra: Sequence[str] = (),
) -> tuple[Microdata, KeyTable, OtherFile]:
    """Open and count a file, and the population beside it; one that cannot be read is refused first."""
    require_other(asked.microdata, asked.population, counting=asked.counting)
    data = open_microdata(
        asked.microdata,
        counting=asked.counting,
        design=asked.design,
        extra=extra,
        identifier=identifier,
        by_weight=isinstance(asked, MatchRequest),
        need=need,
        progress=progress,
    )
    table = data.count(progress=progress)
    return data, table, open_other(asked.microdata, asked.population, counting=asked.counting)


def _require_used(asked: SudaRequest) -> None:
    """Refuse what would have no effect."""
    if asked.population is not None and asked.report is None:
        raise InputError(
            Reason.BAD_OPTION,
            "A population was given to the search for uniques.",
            "It is for the report, and none is asked for.",
            "Ask for a --report, or compare strategies (gamekeeper risk match).",
        )
    if (asked.explain or asked.msus) and not asked.search.listing:
        raise InputError(
            Reason.BAD_OPTION,
            "Records were to be explained, or their minimal sample uniques written.",
            "Without the list of minimal sample uniques there is nothing to explain by.",
            "Leave out --no-listing.",
        )


def _estimated(table: KeyTable, max_size: int | None) -> str:
    estimate = estimate_search(table, max_size=max_size)
    about = "more than" if estimate.at_least else "about"
    return (
        f"There are {about} {estimate.n_msus:,} minimal sample uniques to find, which takes {about}"
        f" {max(estimate.seconds, 1):,.0f} s of processor time (estimated from"
        f" {count_of(estimate.n_sampled, 'record')})."
    )


_BY_ORDER = (
    "Records of the release and of the original are taken to be in the same order. If they are not, as where"
    " a release was shuffled ('protect apply' does), the figures mean nothing."
)


def simulate_intrusion(asked: DisRequest, *, progress: Progress | None = None) -> Answer[DisRisk]:
    """Estimate by data intrusion simulation what an intruder's unique match is worth.

    An original is for the special method, which is taken where there is one.
    """
    require_outputs(asked)
    require_other(asked.microdata, asked.original, counting=asked.counting)
    data = open_microdata(asked.microdata, counting=asked.counting, design=asked.design)
    table = data.count()
    # Only the keys of the original matter; weights and strata are those of the release.
    before = open_other(asked.microdata, asked.original, counting=asked.counting)
    options = replace(asked.dis, progress=progress)
    if before.keys is not None:
        options = replace(options, method=DisMethod.SPECIAL, original=before.keys)
    found = assess_dis(table, **given(options))
    write_outputs(asked, found)
    what_if = data.what_if(table, progress=progress)
    by_order = () if asked.original is None else (_BY_ORDER,)
    return Answer(found, (*data.notices, *before.notices, *by_order), what_if)


def match_release(asked: MatchRequest, *, progress: Progress | None = None) -> Answer[MatchingRisk]:
    """Work out what matching strategies would achieve and cost."""
    require_outputs(asked)
    bytes_of = matching_bytes if asked.population is not None else inference_bytes
    data, table, everybody = _opened(asked, Need(bytes_of, by_key=True), progress)
    options = replace(asked.matching, population=everybody.keys, progress=progress)
    found = assess_matching(table, **given(options))
    return _reported(asked, data, table, everybody.notices, found, matching_report, progress)


def find_special(
    asked: SpecialRequest, *, progress: Progress | None = None
) -> Answer[SpecialUniques]:
    """Tell special from random uniques by what makes their uniqueness go away."""
    require_outputs(asked)
    need = Need(special_bytes, by_key=True)
    data, table, everybody = _opened(asked, need, progress, identifier=asked.identifier)
    options = replace(
        asked.special,
        coarser=data.coarser(),
        population=everybody.keys,
        progress=progress,
    )
    found = assess_special_uniques(table, **given(options))
    found = replace(found, table=data.with_identifiers(found.table))
    return _reported(asked, data, table, everybody.notices, found, special_report, progress)


def _reported(
    asked: MatchRequest | SpecialRequest,
    data: Microdata,
    table: KeyTable,
    notices: tuple[str, ...],
    found: Found,
    report: Callable[[AboutFile, KeyTable, Found], RiskReport],
    progress: Progress | None,
) -> Answer[Found]:
    """Write the outputs that were asked for, the report for whom it is meant; answer."""
    what_if = data.what_if(table, progress=progress)
    notices = (*data.notices, *notices)
    about = data.about(notices, what_if)
    results = [table, found]
    write_outputs(
        asked,
        found,
        report=lambda: shown_to(
            asked.report_for, report(about, table, found), about, table, results
        ),
    )
    return Answer(found, notices, what_if)


def measure_release(
    asked: MeasuresRequest, *, progress: Progress | None = None
) -> Answer[RiskMeasures]:
    """Measure a file as offices and their software do; write its records."""
    require_outputs(asked)
    wanted = asked.measures
    others = [*wanted.sensitive, *wanted.ordered, *([wanted.household] if wanted.household else [])]
    need = Need(
        measures_bytes,
        by_key=not wanted.household,
        most_elsewhere=MOST_WRITTEN,
        do=WITHOUT_HOUSEHOLDS,
    )
    data, table, everybody = _opened(
        asked, need, progress, identifier=asked.identifier, extra=list(dict.fromkeys(others))
    )
    names = data.coded.codebook.names
    options = replace(
        wanted,
        sensitive=matched_names(wanted.sensitive, names),
        ordered=matched_names(wanted.ordered, names),
        household=matched_names([wanted.household], names)[0],
        population=everybody.keys,
        progress=progress,
    )
    found = measure_risk(table, **given(options))
    plain = found.records.to_arrow()

    counted = listed_writer(
        table.listed,
        lambda: plain,
        data.identifier,
        lambda: data.with_identifiers(plain),
        raw=asked.raw,
    )
    write_outputs(asked, found, counted=counted)
    what_if = data.what_if(table, progress=progress)
    notices = (*data.notices, *everybody.notices, *listed_notices(table.listed))
    return Answer(found, notices, what_if)
