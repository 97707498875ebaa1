"""What reports on linkage say: how many are found, how sure that is, and which variables carried it.

A page has no value of the files, unless tables are given to show them beside the examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.attack.linkage.evaluation import MaskingComparison
from gamekeeper.attack.linkage.file_links import FileLinks
from gamekeeper.attack.linkage.link_plots import plot_calibration, plot_margin_shares
from gamekeeper.attack.linkage.structure import StructureLinks
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.report.risk_page import RiskReport, RiskSection, RiskTable, facts_of
from gamekeeper.wording import percent_range, percent_text

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 50
_KICKER = "Record linkage"
_EXPECTED = "expected_group_precision"
_WORDS = (
    ("Link", "two records, one of each file, that are taken for the same person"),
    ("Precision", "the share of the links that are right"),
    ("Recall", "the share of the records with a partner in the other file that are linked to it"),
    ("Margin", "how much farther the second nearest record is than the nearest"),
    (
        "Probability",
        "how likely a link is right under the fitted weights; calibrated only where that was shown",
    ),
    (
        "Group",
        "records of one file that are equal in all that is compared: who is found in it has its values",
    ),
    ("Weight", "the logarithm of how much likelier an agreement is for one person than for two"),
    ("In every optimum", "the link is part of every set of links that costs as little"),
)


def links_report(
    found: FileLinks,
    files: tuple[str, str],
    tables: tuple[CodedTable, CodedTable] | None = None,
) -> RiskReport:
    """Put together what links of two files say; `tables` show their values beside the examples."""
    made = found.provenance
    said = found.sentences()
    lead = said[: len(said) - len(found.notes)] if found.notes else said
    facts = facts_of(
        [
            ("First file", f"{files[0]}, {found.n_records[0]:,} records"),
            ("Second file", f"{files[1]}, {found.n_records[1]:,} records"),
            *((f"{one.name}", f"compared as {one.kind}") for one in found.variables),
            ("Blocked on", made.parameters.get("blocking")),
            ("Links", made.variant),
            ("Unlinked below", made.parameters.get("unlinked")),
        ]
    )
    sections = [_sureness(found), _carried(found), _examples(found, tables), _listed_links(found)]
    return RiskReport(
        "Who can be linked",
        lead,
        facts,
        _tiles(found),
        [section for section in sections if section is not None],
        [made],
        notices=found.notes,
        words=_WORDS,
        kicker=_KICKER,
        question="Which records of two files are the same person, and how sure can an intruder be?",
    )


def maskings_report(found: MaskingComparison, original: str) -> RiskReport:
    """Put together how masked versions of a file compare."""
    tiles = [
        (percent_text(found.best(k).rate or 0.0), f"re-identified in {name}")
        for k, name in enumerate(found.names)
    ]
    names = {"lower": "from", "upper": "to", "by_chance": "by chance"}
    sections = [
        RiskSection(
            "rates",
            "Rates of all ways",
            ["An intruder may choose the way that finds most, so that is what counts."],
            [(found.plot(), "Share of records re-identified, with its interval at 95%")],
            [
                RiskTable.of(
                    "One line per version and way of linking", found.to_arrow(), names=names
                )
            ],
        ),
        *(_by_margin(name, found.best(k), k) for k, name in enumerate(found.names)),
    ]
    return RiskReport(
        "How well masking protects",
        found.sentences(),
        facts_of(
            [
                ("Original", original),
                ("Versions", ", ".join(found.names)),
                ("Ways", "; ".join(found.methods)),
                ("Variables", found.provenance.parameters.get("variables")),
                ("Blocked on", found.provenance.parameters.get("blocking")),
            ]
        ),
        tiles,
        sections,
        [found.provenance],
        words=_WORDS,
        kicker=_KICKER,
        question="How many records of each masked version are found in the original?",
    )


def structure_report(found: StructureLinks, files: tuple[str, str]) -> RiskReport:
    """Put together what files without a common variable give away by their structure."""
    numbers = found.summary()
    shown = {
        "groups_a": "groups in the first file",
        "similarity": "correspondences of clusters",
        "in_the_right_group": "in the group pointed at",
        "right_record": "linked to their partner",
    }
    tiles = [(f"{numbers[key]:,}", words) for key, words in shown.items() if key in numbers]
    sections = [
        RiskSection(
            "clusterings",
            "The clusterings",
            [],
            [(found.plot(), "How much each clustering agrees, and what is lost without it")],
            [RiskTable.of("One line per clustering", found.clusterings_table())],
        ),
        RiskSection(
            "records",
            "The records",
            [],
            (),
            [RiskTable.of("Records of the first file", found.to_arrow(), most=_LISTED)],
        ),
    ]
    return RiskReport(
        "What structure gives away",
        found.sentences(),
        facts_of(
            [
                ("First file", f"{files[0]}, {found.n_records[0]:,} records"),
                ("Second file", f"{files[1]}, {found.n_records[1]:,} records"),
                *((name, text) for name, text in found.provenance.parameters.items()),
            ]
        ),
        tiles,
        sections,
        [found.provenance],
        kicker=_KICKER,
        question="Which records belong together in files that have no variable in common?",
    )


def _tiles(found: FileLinks) -> list[tuple[str, str]]:
    tiles = [(f"{found.n_linked:,}", f"of {found.n_records[0]:,} records linked")]
    partners = found.partners
    if partners is not None:
        low, high = partners.overlap.low, partners.overlap.high
        tiles.append((f"{low:,} to {high:,}", "people in both files, as estimated"))
    groups = found.groups
    if groups is not None and groups.n_links:
        share = groups.summary()["group_precision" if groups.is_right is not None else _EXPECTED]
        words = "" if groups.is_right is not None else " as expected"
        tiles.append((percent_text(share or 0.0), f"of the links to the right group{words}"))
    if found.precision is not None and found.recall is not None:
        tiles.append((percent_text(found.precision), "of the links are right"))
        tiles.append((percent_text(found.recall), "of those with a partner are found"))
    elif partners is not None and found.linked.probabilities is not None:
        ends = partners.precision(found.linked.probabilities)
        if ends is not None:
            tiles.append((percent_range(*ends), "of the links expected to be right"))
    return tiles


def _sureness(found: FileLinks) -> RiskSection:
    figures = [(found.plot(), "How far ahead links are")]
    tables: list[RiskTable] = []
    said: list[str] = []
    margins = found.margin_table()
    names = {"lower": "from", "upper": "to"}
    if margins is not None and margins.num_rows:
        figures.append((plot_margin_shares(found), "Share of right links by margin, at 95%"))
        tables.append(RiskTable.of("Right links by fifths of the margin", margins, names=names))
    calibration = found.calibration
    if calibration is not None and calibration.bands:
        figures.append((plot_calibration(calibration), "Share of right links by what was stated"))
        said.append(calibration.sentence())
        table = calibration.to_arrow()
        tables.append(RiskTable.of("Right links by stated probability", table, names=names))
    return RiskSection("sureness", "How sure the links are", said, figures, tables)


def _by_margin(name: str, found: FileLinks, number: int) -> RiskSection:
    margins = found.margin_table()
    has_any = margins is not None and margins.num_rows > 0
    return RiskSection(
        f"margins-{number}",
        f"Links of {name} by margin",
        [] if has_any else ["No link has a second candidate."],
        [(plot_margin_shares(found), "Share of right links by margin, at 95%")] if has_any else [],
        [RiskTable.of("Right links by fifths of the margin", margins)]
        if margins is not None and has_any
        else [],
    )


def _carried(found: FileLinks) -> RiskSection | None:
    if found.carried is None:
        return None
    names = {
        "agree_share": "agree",
        "nearly_share": "nearly agree",
        "differ_share": "differ",
        "missing_share": "missing",
        "agree_by_chance_share": "agree by chance",
        "mean_weight": "mean weight",
    }
    tables = [
        RiskTable.of(
            "In which variables linked records agree", found.carried.to_arrow(), names=names
        )
    ]
    weights = found.weights_table()
    if weights is not None:
        header = {"up_to": "distance up to", "m": "among matches", "u": "among others"}
        tables.append(RiskTable.of("The weight of each level of agreement", weights, names=header))
    return RiskSection(
        "variables",
        "Which variables carried the links",
        [
            "A variable carries links if linked records agree in it and others seldom do: mask it first."
        ],
        (),
        tables,
    )


def _examples(found: FileLinks, tables: tuple[CodedTable, CodedTable] | None) -> RiskSection | None:
    import pyarrow as pa

    if found.carried is None or not found.carried.examples:
        return None
    shown = found.carried.examples
    stated, correct = found.linked.probabilities, found.is_correct
    columns: dict[str, Sequence[object]] = {
        "record": [one.record + 1 for one in shown],
        "linked_to": [one.other + 1 for one in shown],
        "in_words": [one.words() for one in shown],
    }
    if stated is not None:
        columns["probability"] = [float(stated[one.record]) for one in shown]
    if correct is not None:
        columns["correct"] = ["yes" if correct[one.record] else "no" for one in shown]
    listed = [RiskTable.of("The surest, some in the middle, the least sure", pa.table(columns))]
    said = ["The values themselves are not on this page; --report-values shows them."]
    if tables is not None:
        said = ["Values of the two files are shown because that was asked for."]
        listed.append(RiskTable.of("Their values", _values(found, tables)))
    return RiskSection("examples", "Examples", said, (), listed)


def _values(found: FileLinks, tables: tuple[CodedTable, CodedTable]) -> pa.Table:
    import pyarrow as pa

    assert found.carried is not None
    rows: list[dict[str, str]] = []
    for one in found.carried.examples:
        for table, record, which in ((tables[0], one.record, 0), (tables[1], one.other, 1)):
            row = {"record": f"{record + 1} of the {('first', 'second')[which]}"}
            for variable in found.variables:
                name = variable.column if which else variable.name
                code = int(table.codes(name)[record])
                row[variable.name] = table.codebook[name].words[code] if code else ""
            rows.append(row)
    return pa.Table.from_pylist(rows)


def _listed_links(found: FileLinks) -> RiskSection:
    surest = found.top(_LISTED)
    if not surest.num_rows:
        return RiskSection("links", "The surest links", ["Nothing is linked."], (), [])
    table = RiskTable.of("The surest links", surest, most=_LISTED)
    return RiskSection("links", "The surest links", [], (), [table])
