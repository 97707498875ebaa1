"""Reports of single attacks: keys, special uniques, matching, inference; and what outsiders may read.

An internal report has everything. An external one says what was done and how, without a value of
risk, a parameter, a seed, a record or a category: by the handbook on disclosure control of the European Statistical
System, risk is confidential to the data holder, and what was changed in the data is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.models.inference import ModelRisk
from gamekeeper.attack.models.levels import RelativeRisk
from gamekeeper.attack.uniques.special import SpecialUniques
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.report.attacks.file_facts import AboutFile, file_facts
from gamekeeper.report.attacks.risk_report import classes_section, matching_section
from gamekeeper.report.audience import Audience, for_outsiders
from gamekeeper.report.risk_page import RiskReport, RiskSection, RiskTable, facts_of
from gamekeeper.results import Result

if TYPE_CHECKING:
    from gamekeeper.attack.what_if import WhatIf

_RECORDS = 25
_EXTERNAL = (
    "How large the risk is, and by which parameters it was measured, is known to the data holder and"
    " is not on this page."
)


def keys_report(about: AboutFile, table: KeyTable) -> RiskReport:
    """Return the report of how records share their keys."""
    anonymity = RiskSection(
        "anonymity", "k-anonymity", [table.k_sentence(k) for k in (2, 3, 5, 10)]
    )
    return _internal(about, table, [table], [classes_section(table), anonymity], table.sentences())


def special_report(about: AboutFile, table: KeyTable, found: SpecialUniques) -> RiskReport:
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
        classes_section(table),
    ]
    return _internal(about, table, [table, found], sections, found.file_sentences())


def matching_report(about: AboutFile, table: KeyTable, found: MatchingRisk) -> RiskReport:
    """Return the report of what matching would achieve and cost."""
    sections = [matching_section(found), classes_section(table)]
    return _internal(about, table, [table, found], sections, found.file_sentences())


def inference_report(
    about: AboutFile,
    table: KeyTable,
    found: ModelRisk,
    variables: RelativeRisk,
    others: Mapping[str, Result | None],
) -> RiskReport:
    """Return the report of a Bayesian intruder; `others` has further results by their titles."""
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
    for number, (title, result) in enumerate(others.items()):
        if result is not None:
            told = getattr(result, "sentences", list)()
            listed = RiskTable.of(title, result.to_arrow())
            sections.append(RiskSection(f"part-{number}", title, told, tables=[listed]))
    return _internal(about, table, [table, found.fit, found], sections, found.sentences())


def external_report(about: AboutFile, table: KeyTable, results: Sequence[Result]) -> RiskReport:
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


def shown_to(
    audience: Audience | str,
    internal: RiskReport,
    about: AboutFile,
    table: KeyTable,
    results: Sequence[Result],
) -> RiskReport:
    """Return the report for those who are to read it."""
    is_external = Audience(audience) is Audience.EXTERNAL
    return external_report(about, table, results) if is_external else internal


def what_if_section(what_if: WhatIf, *, with_rules: bool = True) -> RiskSection:
    """Return the section of a file before and after a recoding; rules may name categories."""
    told = what_if.sentences() if with_rules else what_if.outlines()
    table = RiskTable.of("Before and after", what_if.to_arrow())
    figures = [(what_if.plot(), "The file before and after recoding")]
    return RiskSection("what-if", "Before and after recoding", told, figures, [table])


def _internal(
    about: AboutFile,
    table: KeyTable,
    results: Sequence[Result],
    sections: Sequence[RiskSection],
    lead: Sequence[str],
) -> RiskReport:
    recoded = [] if about.what_if is None else [what_if_section(about.what_if)]
    return RiskReport(
        f"Disclosure risk of {about.name}",
        lead,
        file_facts(about, table),
        [(f"{table.n_records:,}", "records"), (f"{table.n_uniques:,}", "sample uniques")],
        [*recoded, *sections],
        [result.provenance for result in results],
        list(about.notices),
    )
