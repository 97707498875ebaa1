"""The page of an assessment: the verdict first, then what drives the risk, what to do, and details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.attack.assessment.chances import Interval
from gamekeeper.attack.assessment.guidance import answers
from gamekeeper.attack.assessment.judged import JudgedPolicy
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.assessment.plots import plot_assessment
from gamekeeper.attack.risk import RecordRisk
from gamekeeper.report.attacks.attack_report import what_if_section
from gamekeeper.report.attacks.file_facts import AboutFile, file_facts
from gamekeeper.report.attacks.risk_report import (
    WORDS,
    categories_section,
    classes_section,
    matching_section,
    sizes_section,
    variables_section,
    with_reasons,
)
from gamekeeper.report.risk_page import RiskReport, RiskSection, RiskTable
from gamekeeper.wording import expected_text

_RECORDS = 25
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
    about: AboutFile
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
        *(
            []
            if about.what_if is None
            else [what_if_section(about.what_if, with_rules=with_records)]
        ),
    ]
    sections = [
        _guidance(measured),
        *([_records(page)] if with_records else []),
        classes_section(keys),
        *_relative(measured),
        variables_section(measured.uniques),
        *([categories_section(measured.uniques)] if with_records else []),
        sizes_section(measured.uniques),
        *([matching_section(measured.matching)] if measured.matching is not None else []),
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
        file_facts(
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
        WORDS,
        opening,
    )


def _tile(found: Interval, words: str) -> tuple[str, str]:
    """Return the number that is shown large, and the words and the interval below it."""
    if found.value is None:
        return f"0 to {found.upper:,.0f}", words
    if not found.is_given:
        return expected_text(found.value), f"{words} (no interval)"
    interval = f" ({expected_text(found.lower)} to {expected_text(found.upper)})"
    return expected_text(found.value), words + ("" if found.is_exact else interval)


def _policy(judged: JudgedPolicy) -> RiskSection:
    import pyarrow as pa

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
    return RiskSection(
        "policy",
        "How it stands to the policy",
        [judged.sentence],
        tables=[RiskTable.of(caption, pa.Table.from_pylist(rows))],
        notices=[
            "An estimate with an interval meets a limit only if its worse end does; else it is not proven.",
            *(f"Source: {source}." for source in sources),
        ],
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
    import pyarrow as pa

    rows = [answer.row() for answer in answers(measured)]
    table = pa.table(
        {
            name: pa.array([str(row[name]) for row in rows])
            for name in ("question", "measure", "answer")
        }
    )
    return RiskSection(
        "guidance",
        "What guidance on anonymity asks",
        ["Three criteria of WP216 (Opinion 05/2014) and the motivated intruder of the ICO."],
        tables=[RiskTable.of("Questions, measures and answers", table)],
    )


def _records(page: AssessmentPage) -> RiskSection:
    uniques = page.measured.uniques
    top = page.ranked.top(_RECORDS)
    own = top.column_names[1:2] if page.has_identifiers else []
    wanted = [_SHOWN[0], *own, *_SHOWN[1:]]
    shown = top.select([name for name in wanted if name in top.column_names])
    shown, caption = with_reasons(uniques, shown, "The records most probably matched rightly")
    return RiskSection(
        "records",
        "The riskiest records",
        tables=[RiskTable.of(caption, shown, names=_NAMES)],
        notices=["Click a heading to sort. Records are numbered from 1 in the order of the file."],
    )
