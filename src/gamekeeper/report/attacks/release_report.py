"""What the report on released tables says: bounds, what can be said of people, what subtraction adds."""

from __future__ import annotations

from gamekeeper.attack.tables.attributions import Attributions
from gamekeeper.attack.tables.bounds import TableBounds
from gamekeeper.attack.tables.subtraction import SubtractionAttack
from gamekeeper.data.tables.release import Release
from gamekeeper.report.risk_page import RiskReport, RiskSection, RiskTable
from gamekeeper.results import Provenance
from gamekeeper.wording import shape_text

_STATEMENTS = 50
_WORDS = (
    ("Base table", "the table over all variables of the release, published or not"),
    ("Bounds", "the smallest and largest count that agree with everything published"),
    ("Tight", "some table that agrees with the release has exactly this count"),
    ("Attribution", "a statement that holds for everybody of a kind, because cells are empty"),
    (
        "SAP(n)",
        (
            "the probability that somebody who knows n people of the table at random, and takes them"
            " out, finds a cell in which nobody else can be"
        ),
    ),
)


def released_report(
    release: Release,
    bounds: TableBounds,
    attributions: Attributions,
    *,
    subtraction: SubtractionAttack | None = None,
    with_records: bool = True,
) -> RiskReport:
    """Put together what released tables give away; without records, no cells and no statements."""
    sections = [_bounds(bounds), _attributions(attributions)] if with_records else []
    provenances: list[Provenance] = [bounds.provenance, attributions.provenance]
    tiles = [
        (f"{bounds.n_cells:,}", "cells"),
        (f"{bounds.n_known:,}", "known exactly"),
        (f"{bounds.n_zeros:,}", "certainly empty"),
        (f"{len(attributions.statements):,}", "certain statements"),
    ]
    if subtraction is not None:
        sections.append(_subtraction(subtraction, with_records))
        provenances.append(subtraction.provenance)
    shape = shape_text(release.shape)
    facts = [
        ("Base table", f"{', '.join(release.names)} ({shape} cells)"),
        *((table.name, table.scheme.text) for table in release.published),
        *(
            (name, "said to be disjoint, although some labels look like sums of others")
            for name in release.doubted
        ),
    ]
    return RiskReport(
        f"What {release.title or 'the release'} gives away",
        [
            *(bounds.sentences() if with_records else bounds.sentences(0)),
            attributions.sentences()[0],
            *([] if with_records else ["Single cells and statements are left out of this page."]),
        ],
        facts,
        tiles,
        sections,
        provenances,
        words=_WORDS,
        kicker="Released tables",
        question="What can an intruder work out about the cells, and about people?",
    )


def _bounds(found: TableBounds) -> RiskSection:
    return RiskSection(
        "bounds",
        "Bounds on the cells",
        found.sentences(),
        [(found.plot(), "The possible counts of each cell.")],
        [RiskTable.of("Cells, those that are known best first", found.top(found.n_cells))],
    )


def _attributions(found: Attributions) -> RiskSection:
    return RiskSection(
        "attributions",
        "What can be said of people for certain",
        found.sentences(most=5),
        (),
        [
            RiskTable.of(
                "Statements, those that concern most people first",
                found.to_arrow(),
                names={"people_from": "people, at least", "people_to": "at most"},
                most=_STATEMENTS,
            )
        ],
    )


def _subtraction(found: SubtractionAttack, with_records: bool) -> RiskSection:
    tables = [
        RiskTable.of(
            "SAP by the number of people known",
            found.to_arrow(),
            names={"n": "people known", "sap": "SAP", "expected_zeros": "zeros expected"},
        )
    ]
    if found.detail is not None and with_records:
        tables.append(
            RiskTable.of(
                f"Where zeros are recovered when {found.detail.n} people are known",
                found.detail.to_arrow(),
            )
        )
    return RiskSection(
        "subtraction",
        "What somebody learns who knows some of the people",
        found.sentences(),
        [(found.plot(), "The probability of recovering at least one zero.")],
        tables,
    )
