"""The page of an assessment, and pages of single attacks: keys, special uniques, matching, inference.

Of an assessment the verdict comes first, then what drives the risk, what to do, and details. An
internal report has everything. An external one says what was done and how, without a value of risk,
a parameter, a seed, a record or a category: by the handbook on disclosure control of the European
Statistical System, risk is confidential to the data holder, and what was changed in the data is
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gamekeeper.arrow import pa
from gamekeeper.attack.assessment.criteria import answers
from gamekeeper.attack.assessment.measured import Interval, Measured
from gamekeeper.attack.assessment.policy import JudgedPolicy
from gamekeeper.attack.assessment.sentences import plot_assessment
from gamekeeper.attack.matching_result import MatchingRisk
from gamekeeper.attack.models.inference import ModelRisk
from gamekeeper.attack.models.levels import RelativeRisk
from gamekeeper.attack.risk import RecordRisk
from gamekeeper.attack.uniques.special import SpecialUniques
from gamekeeper.attack.uniques.suda import UniquesRisk
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.report import risk_report
from gamekeeper.report.page import RiskReport, RiskSection, RiskTable, facts_of
from gamekeeper.results import Audience, Result, for_outsiders
from gamekeeper.wording import expected_text

if TYPE_CHECKING:
    pass


_RECORDS = 25
_EXTERNAL = (
    "How large the risk is, and by which parameters it was measured, is known to the data holder and"
    " is not on this page."
)


def keys_report(about: risk_report.AboutFile, table: KeyTable) -> RiskReport:
    """Return the report of how records share their keys."""
    anonymity = RiskSection(
        "anonymity", "k-anonymity", [table.k_sentence(k) for k in (2, 3, 5, 10)]
    )
    return _internal(
        about, table, [table], [risk_report.classes_section(table), anonymity], table.sentences()
    )


def special_report(
    about: risk_report.AboutFile, table: KeyTable, found: SpecialUniques
) -> RiskReport:
    """Return the report of special and random uniques."""
    properties = RiskTable.of(
        "Properties of special and random uniques", found.properties.to_arrow()
    )
    records = RiskTable.of("Sample uniques and their kind", found.to_arrow(), most=_RECORDS)
    sections = [
        RiskSection(
            "special", "Special and random uniques", found.sentences(), tables=[properties]
        ),
        RiskSection("records", "The sample uniques", tables=[records]),
        risk_report.classes_section(table),
    ]
    return _internal(about, table, [table, found], sections, found.file_sentences())


def matching_report(
    about: risk_report.AboutFile, table: KeyTable, found: MatchingRisk
) -> RiskReport:
    """Return the report of what matching would achieve and cost."""
    sections = [risk_report.matching_section(found), risk_report.classes_section(table)]
    return _internal(about, table, [table, found], sections, found.file_sentences())


# Further results of models, in the order in which they are given.
_OF_MODELS = (
    "What each category adds",
    "Attacks on the population",
    "What is inferred of a person",
)


def inference_report(
    about: risk_report.AboutFile,
    table: KeyTable,
    found: ModelRisk,
    besides: Sequence[Result | None],
) -> RiskReport:
    """Return the report of a Bayesian intruder; `besides` has what variables add, and what `_OF_MODELS` says."""
    variables, *others = besides
    assert isinstance(variables, RelativeRisk)
    top = RiskTable.of("The records most probably matched rightly", found.records.top(_RECORDS))
    sections = [
        RiskSection(
            "records",
            "The riskiest records",
            figures=[(found.records.plot(), "How the risk is spread over the records")],
            tables=[top],
        ),
        RiskSection(
            "file",
            "The file",
            found.file.sentences(),
            tables=[RiskTable.of("Measures of the file", found.file.to_arrow())],
        ),
        RiskSection(
            "variables",
            "Which variables are to blame",
            variables.sentences(),
            tables=[RiskTable.of("What each variable adds", variables.to_arrow())],
        ),
    ]
    for number, (title, result) in enumerate(zip(_OF_MODELS, others, strict=True)):
        if result is not None:
            told = getattr(result, "sentences", list)()
            listed = RiskTable.of(title, result.to_arrow())
            sections.append(RiskSection(f"part-{number}", title, told, tables=[listed]))
    return _internal(about, table, [table, found.fit, found], sections, found.sentences())


def external_report(
    about: risk_report.AboutFile, table: KeyTable, results: Sequence[Result]
) -> RiskReport:
    """Return what people outside may read: what was done, without risks and parameters."""
    made = [for_outsiders(result.provenance) for result in results]
    methods = list(dict.fromkeys(item.method for item in made))
    # Rules of recoding have categories and limits in them.
    changed = [] if about.what_if is None else [one.outline for one in about.what_if.changes]
    coarser = RiskSection(
        "changes",
        "How variables were made coarser",
        changed,
        notices=["So recoded it was examined; the file itself was left as it is."],
    )
    sections = [coarser] if changed else []
    return RiskReport(
        f"Disclosure control of {about.name}",
        [
            f"The file was examined as an intruder would examine it: {', '.join(methods)}.",
            _EXTERNAL,
        ],
        facts_of([("File", about.name), ("Variables examined", ", ".join(table.keys))]),
        [],
        sections,
        made,
        kicker="Disclosure control",
        question="How was the file examined for what it could give away about people?",
        footer="This page has no values of risk, no parameters, no records and no categories.",
    )


def report_of(
    about: risk_report.AboutFile,
    table: KeyTable,
    found: Result,
    *,
    besides: Sequence[Result | None] = (),
    audience: Audience | str = Audience.INTERNAL,
    with_records: bool = True,
) -> RiskReport:
    """Return the report of an attack on a file, as those who are to read it may see it."""
    results = [found, *(one for one in besides if one is not None)]
    match found:
        case ModelRisk():
            page = inference_report(about, table, found, besides)
            results = [found.fit, found]
        case SpecialUniques():
            page = special_report(about, table, found)
        case MatchingRisk():
            page = matching_report(about, table, found)
        case UniquesRisk():
            matching = next((one for one in besides if isinstance(one, MatchingRisk)), None)
            page = risk_report.uniques_report(
                about, table, found, matching=matching, with_records=with_records
            )
        case _:
            page, results = keys_report(about, table), []
    return shown_to(audience, page, about, table, [table, *results])


def shown_to(
    audience: Audience | str,
    internal: RiskReport,
    about: risk_report.AboutFile,
    table: KeyTable,
    results: Sequence[Result],
) -> RiskReport:
    """Return the report for those who are to read it."""
    is_external = Audience(audience) is Audience.EXTERNAL
    return external_report(about, table, results) if is_external else internal


def _internal(
    about: risk_report.AboutFile,
    table: KeyTable,
    results: Sequence[Result],
    sections: Sequence[RiskSection],
    lead: Sequence[str],
) -> RiskReport:
    return RiskReport(
        f"Disclosure risk of {about.name}",
        lead,
        risk_report.file_facts(about, table),
        [(f"{table.n_records:,}", "records"), (f"{table.n_uniques:,}", "sample uniques")],
        [*risk_report.recoded_sections(about), *sections],
        [result.provenance for result in results],
        list(about.notices),
    )


_SHOWN = (
    "record",
    "risk_class",
    "p_match",
    "p_bound",
    "expected_size",
    "people_lower",
    "people_upper",
    "household_match",
)
_NAMES = {
    "p_match": "probability of a right match",
    "p_bound": "at most, for certain",
    "expected_size": "people with its key",
    "people_lower": "people from",
    "people_upper": "people to",
    "household_match": "its household",
    "risk_class": "class",
}


@dataclass(frozen=True, slots=True)
class AssessmentPage:
    """What the page tells: what was measured, and what is said about it."""

    measured: Measured
    policy: JudgedPolicy | None
    ranked: RecordRisk
    verdict: str
    reservations: Sequence[str]
    drivers: Sequence[str]
    advice: Sequence[str]
    about: risk_report.AboutFile
    has_identifiers: bool = False
    """Whether the second column of `ranked` has the user's own names of records."""


def assessment_page(page: AssessmentPage, *, with_records: bool = True) -> RiskReport:
    """Put an assessment together as a report; without records more people may see it."""
    measured, policy, about = page.measured, page.policy, page.about
    keys, chances = measured.keys, measured.chances
    opening = [
        *([_policy(policy)] if policy is not None else []),
        RiskSection(
            "drivers",
            "What drives the risk",
            page.drivers,
            figures=[(plot_assessment(measured), "How many records can be matched, and why")],
        ),
        RiskSection("advice", "What to do about it", page.advice),
        *risk_report.recoded_sections(about, with_rules=with_records),
    ]
    sections = [
        _guidance(measured),
        *([_records(page)] if with_records else []),
        risk_report.classes_section(keys),
        *_relative(measured),
        risk_report.variables_section(measured.uniques),
        *([risk_report.categories_section(measured.uniques)] if with_records else []),
        risk_report.sizes_section(measured.uniques),
        *(
            [risk_report.matching_section(measured.matching)]
            if measured.matching is not None
            else []
        ),
    ]
    left_out = [] if with_records else ["Single records and categories are left out of this page."]
    judged = [] if policy is None else [(policy.standing.value, f"policy {policy.policy.name}")]
    tiles = [
        *judged,
        (f"{keys.n_records:,}", "records"),
        (f"{keys.n_unlike:,}", "unique in the file"),
        _tile(chances.population_uniques, "unique in the population"),
        _tile(chances.right_matches, "would be matched rightly"),
    ]
    models, matching = measured.models, measured.matching
    made = [item for item in (keys, measured.uniques, models, matching) if item is not None]
    return RiskReport(
        f"Disclosure risk of {about.name}",
        [page.verdict, *page.reservations],
        risk_report.file_facts(
            about,
            keys,
            ("Households", measured.household),
            ("Probabilities", chances.basis_words),
            ("Why not estimated", chances.why),
        ),
        tiles,
        sections,
        [item.provenance for item in made],
        [*about.notices, *left_out],
        risk_report.WORDS,
        opening,
    )


def _tile(found: Interval, words: str) -> tuple[str, str]:
    if found.value is None:
        return f"0 to {found.upper:,.0f}", words
    if not found.is_given:
        return expected_text(found.value), f"{words} (no interval)"
    interval = f" ({expected_text(found.lower)} to {expected_text(found.upper)})"
    return expected_text(found.value), words + ("" if found.is_exact else interval)


def _policy(judged: JudgedPolicy) -> RiskSection:
    rows = [
        {
            "criterion": line.limit.criterion.name.replace("_", " "),
            "what it measures": line.limit.criterion.words,
            "asked": line.limit.text,
            "found": line.found_text,
            "standing": line.standing_text,
        }
        for line in judged.lines
    ]
    sources = dict.fromkeys(line.limit.source for line in judged.lines if line.limit.source)
    caption = f"The policy {judged.policy.name}, criterion by criterion"
    tables = [RiskTable.of(caption, pa.Table.from_pylist(rows))]
    notices = [
        "An estimate with an interval meets a limit only if its worse end does; else it is not proven.",
        *(f"Source: {source}." for source in sources),
    ]
    return RiskSection(
        "policy", "How it stands to the policy", [judged.sentence], tables=tables, notices=notices
    )


def _relative(measured: Measured) -> list[RiskSection]:
    if measured.variables is None:
        return []
    names = {
        "tau1_left": "population uniques left without it",
        "tau1_lower": "from",
        "tau1_upper": "to",
        "relative_tau1": "times fewer",
        "relative_match": "match probability, times less",
    }
    caption = "What each variable adds, by models"
    table = measured.variables.to_arrow()
    shown = RiskTable.of(caption, table, names=names, columns=["variable", *names])
    return [RiskSection("relative", "What each variable adds", tables=[shown])]


def _guidance(measured: Measured) -> RiskSection:
    rows = [answer.row() for answer in answers(measured)]
    table = pa.table(
        {
            name: pa.array([str(row[name]) for row in rows])
            for name in ("question", "measure", "answer")
        }
    )
    said = ["Three criteria of WP216 (Opinion 05/2014) and the motivated intruder of the ICO."]
    tables = [RiskTable.of("Questions, measures and answers", table)]
    return RiskSection("guidance", "What guidance on anonymity asks", said, tables=tables)


def _records(page: AssessmentPage) -> RiskSection:
    uniques = page.measured.uniques
    top = page.ranked.top(_RECORDS)
    own = top.column_names[1:2] if page.has_identifiers else []
    wanted = [_SHOWN[0], *own, *_SHOWN[1:]]
    shown = top.select([name for name in wanted if name in top.column_names])
    shown, caption = risk_report.with_reasons(
        uniques, shown, "The records most probably matched rightly"
    )
    tables = [RiskTable.of(caption, shown, names=_NAMES)]
    notices = ["Click a heading to sort. Records are numbered from 1 in the order of the file."]
    return RiskSection("records", "The riskiest records", tables=tables, notices=notices)
