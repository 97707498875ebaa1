"""What the report of a risk assessment says: which results become which sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.risk_classes import NOT_UNIQUE
from gamekeeper.attack.uniques.suda import UniquesRisk
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.report.attacks.file_facts import AboutFile, file_facts
from gamekeeper.report.risk_page import RiskReport, RiskSection, RiskTable

if TYPE_CHECKING:
    import pyarrow as pa

_RECORDS = 25
_MSUS_OF_A_RECORD = 4
_CATEGORIES = 100
_MEASURES = ("record", "risk_class", "dis_is", "dis_suda", "is", "msus")
_UNIQUE_BY = "unique by "
WORDS = (
    ("Key variables", "what an intruder is assumed to know of people and to match on"),
    ("Sample unique", "a record whose key no other record of the file has"),
    (
        "Minimal sample unique (MSU)",
        ("a combination of key variables on which a record is unique, and no part of which"
        " would do; the fewer variables it takes, the more the record stands out"),
    ),
    ("Special unique", "a sample unique that fewer than all key variables set apart"),
    (
        "Probability of a right match",
        ("1 over the number of people who have the key of the record; where that number is not known,"
        " models of the file infer it, with a 95% interval"),
    ),
    (
        "DIS",
        ("estimated probability that a match with exactly one record of the file is correct, from"
        " the uniques, the pairs and the sampling fraction"),
    ),
    (
        "SUDA, IS",
        ("scores that rank records by their MSUs; they have no unit and can be compared within"
        " one assessment only"),
    ),
    (
        "DIS-SUDA, DIS-IS",
        ("two ways of spreading DIS over the records by their scores; they say which records to look"
        " at first, and not how many would be matched rightly"),
    ),
)  # fmt: skip


def assessment_report(
    key_table: KeyTable,
    uniques: UniquesRisk,
    *,
    matching: MatchingRisk | None = None,
    name: str,
    scenario: str = "",
    attacker: str = "",
    settings: Mapping[str, str] | None = None,
    notices: Sequence[str] = (),
    with_records: bool = True,
) -> RiskReport:
    """Put an assessment together as a report.

    Without records it has no words on single records, so that it can be shown to more people.
    `notices` say what is to be known of the file and the scenario.
    """
    file = uniques.file
    sections = [
        classes_section(key_table),
        *([_records(uniques)] if with_records else []),
        variables_section(uniques),
        *([categories_section(uniques)] if with_records else []),
        sizes_section(uniques),
        *([] if matching is None else [matching_section(matching)]),
    ]
    left_out = [] if with_records else ["Single records and categories are left out of this page."]
    shares = [line for line in file.lines if line.name.startswith("class ")]
    tiles = [
        (f"{key_table.n_records:,}", "records"),
        (f"{key_table.n_uniques:,}", "sample uniques"),
        *([(f"{key_table.n_unlike:,}", "like no other as released")] if key_table.caution else []),
        *((f"{int(line.value or 0):,}", line.name.removeprefix("class ")) for line in shares),
    ]
    return RiskReport(
        f"Disclosure risk of {name}",
        uniques.sentences(),
        file_facts(AboutFile(name, settings or {}, scenario, attacker), key_table),
        [tile for tile in tiles if tile[1] != NOT_UNIQUE],
        sections,
        [key_table.provenance, uniques.provenance, *([matching.provenance] if matching else [])],
        [*notices, *left_out],
        WORDS,
    )


def classes_section(key_table: KeyTable) -> RiskSection:
    """Tell how the records share their keys."""
    import pyarrow as pa

    sizes = sorted(key_table.records_by_size)
    table = pa.table(
        {
            "class_size": pa.array(sizes, pa.int64()),
            "records": pa.array([key_table.records_by_size[size] for size in sizes], pa.int64()),
            "share": [key_table.records_by_size[size] / key_table.n_records for size in sizes],
        }
    )
    caption = "How many records share their key with how many others"
    return RiskSection(
        "keys",
        "How the records share their keys",
        key_table.sentences(),
        tables=[RiskTable.of(caption, table, most=15)],
    )


def with_reasons(uniques: UniquesRisk, shown: pa.Table, caption: str) -> tuple[pa.Table, str]:
    """Return a table of records with what sets each apart, where that is known, and its caption."""
    if uniques.explainer.found.masks is None:
        return shown, caption
    import pyarrow as pa

    words = [
        "; ".join(
            line.removeprefix(_UNIQUE_BY)
            for line in uniques.explain(record, most=_MSUS_OF_A_RECORD)
        )
        for record in shown["record"].to_pylist()
    ]
    column = pa.array(words, pa.string())
    return shown.append_column("unique by", column), f"{caption}, with what sets them apart"


def _records(uniques: UniquesRisk) -> RiskSection:
    top = uniques.riskiest(_RECORDS)
    known = [name for name in _MEASURES if name in top.column_names]
    shown = top.select(known)
    shown, caption = with_reasons(
        uniques, shown, f"The riskiest records by {uniques.records.measure}"
    )
    return RiskSection(
        "records",
        "The riskiest records",
        figures=[(uniques.records.plot(), "How the risk is spread over the records")],
        tables=[RiskTable.of(caption, shown)],
        notices=["Click a heading to sort. Records are numbered from 1 in the order of the file."],
    )


def variables_section(uniques: UniquesRisk) -> RiskSection:
    """Tell which variables are to blame."""
    caption = "What each variable adds; an MSU counts for each of its variables"
    return RiskSection(
        "variables",
        "Which variables are to blame",
        figures=[(uniques.variables.plot(), "Contributions to IS by variable and size of the MSU")],
        tables=[RiskTable.of(caption, uniques.variables.to_arrow())],
    )


def categories_section(uniques: UniquesRisk) -> RiskSection:
    """Tell which categories are to blame."""
    caption = "What each category adds; the values of a variable sum to that of the variable"
    return RiskSection(
        "categories",
        "Which categories are to blame",
        figures=[(uniques.categories.plot(), "The categories that contribute most to IS")],
        tables=[RiskTable.of(caption, uniques.categories.to_arrow(), most=_CATEGORIES)],
    )


def sizes_section(uniques: UniquesRisk) -> RiskSection:
    """Tell how many variables it takes to set records apart."""
    caption = "Minimal sample uniques by the number of their variables"
    return RiskSection(
        "sizes",
        "How many variables it takes",
        figures=[(uniques.sizes.plot(), "Minimal sample uniques by size")],
        tables=[RiskTable.of(caption, uniques.sizes.to_arrow())],
    )


def matching_section(matching: MatchingRisk) -> RiskSection:
    """Tell what a match would cost."""
    return RiskSection(
        "matching",
        "What a match would cost",
        matching.sentences(),
        figures=[(matching.plot(), "Probability of a correct match against the cost of finding it")]
        if not matching.why_not_known
        else [],
        tables=[RiskTable.of("Matching strategies", matching.to_arrow())],
    )
