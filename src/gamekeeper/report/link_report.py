"""What reports on linkage say: how many are found, how sure that is, and which variables carried it.

A page has no value of the files, unless tables are given to show them beside the examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.arrow import pa
from gamekeeper.attack.linkage import truth
from gamekeeper.attack.linkage.file_links import Carried, FileLinks
from gamekeeper.attack.linkage.files import MaskingComparison
from gamekeeper.attack.linkage.structure import StructureLinks
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.report.page import RiskReport, RiskSection, RiskTable, facts_of
from gamekeeper.report.tables import glossary
from gamekeeper.wording import joined, percent_range, percent_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LISTED = 50
_KICKER = "Record linkage"
_EXPECTED = "expected_group_precision"
_ENDS = {"lower": "from", "upper": "to"}
_LEFT_OUT = "Single records are left out of this page."
_WHICH = "The surest, some in the middle, the least sure"
_WORDS = glossary("links")
_STRUCTURE_WORDS = glossary("structure")


def report_of(
    found: FileLinks | MaskingComparison | StructureLinks,
    names: tuple[str, ...],
    tables: tuple[CodedTable, CodedTable] | None = None,
    *,
    with_records: bool = True,
) -> RiskReport:
    """Return the page of links, of masked versions or of structure; `names` are those of the files."""
    match found:
        case FileLinks():
            return links_report(found, names, tables, with_records=with_records)
        case MaskingComparison():
            return maskings_report(found, names[0], with_records=with_records)
        case StructureLinks():
            return structure_report(found, names, with_records=with_records)


def links_report(
    found: FileLinks,
    files: Sequence[str],
    tables: tuple[CodedTable, CodedTable] | None = None,
    *,
    with_records: bool = True,
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
    sections = [_sureness(found), _carried(found)]
    if with_records:
        sections += [_examples(found, tables), _listed_links(found)]
    return RiskReport(
        "Who can be linked",
        lead,
        facts,
        _tiles(found),
        [section for section in sections if section is not None],
        [made],
        notices=[*found.notes, *([] if with_records else [_LEFT_OUT])],
        words=_WORDS,
        kicker=_KICKER,
        question="Which records of two files are the same person, and how sure can an intruder be?",
    )


def maskings_report(
    found: MaskingComparison, original: str, *, with_records: bool = True
) -> RiskReport:
    """Put together how masked versions of a file compare."""
    tiles = [
        (percent_text(found.best(k).rate or 0.0), f"re-identified in {name}")
        for k, name in enumerate(found.names)
    ]
    names = {**_ENDS, "by_chance": "by chance"}
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
        *(_version(name, found.best(k), k, with_records) for k, name in enumerate(found.names)),
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
        notices=[] if with_records else [_LEFT_OUT],
        words=_WORDS,
        kicker=_KICKER,
        question="How many records of each masked version are found in the original?",
    )


def structure_report(
    found: StructureLinks, files: Sequence[str], *, with_records: bool = True
) -> RiskReport:
    """Put together what files without a common variable give away by their structure."""
    numbers = found.summary()
    shown = {
        "groups_a": "groups in the first file",
        "in_the_right_group": "in the group pointed at",
        "right_record": "linked to their partner",
    }
    tiles = [(f"{numbers[key]:,}", words) for key, words in shown.items() if key in numbers]
    if found.steady is not None:
        words = "linked alike from halves of the columns"
        tiles.insert(0, (percent_text(found.steady.share), words))
    sections = [
        *_steadiness(found),
        RiskSection(
            "clusterings",
            "The clusterings",
            [],
            [(found.plot(), "How much each clustering agrees, and what is lost without it")],
            [RiskTable.of("One line per clustering", found.clusterings_table())],
        ),
    ]
    if with_records:
        tables = [RiskTable.of("Records of the first file", _by_votes(found), most=_LISTED)]
        sections.append(RiskSection("records", "The records", _told(found), (), tables))
    return RiskReport(
        "What structure gives away",
        found.sentences(),
        facts_of(
            [
                ("First file", f"{files[0]}, {found.n_records[0]:,} records"),
                ("Second file", f"{files[1]}, {found.n_records[1]:,} records"),
                ("Clusterings", "; ".join(found.clusterings)),
                ("Clusters", ", ".join(map(str, found.n_clusters))),
                *(
                    (name.capitalize(), text)
                    for name, text in found.provenance.parameters.items()
                    if name not in ("clusterings", "clusters")
                ),
            ]
        ),
        tiles,
        sections,
        [found.provenance],
        notices=[] if with_records else [_LEFT_OUT],
        words=_STRUCTURE_WORDS,
        kicker=_KICKER,
        question="Which records belong together in files that have no variable in common?",
    )


def _steadiness(found: StructureLinks) -> list[RiskSection]:
    """Tell how often links came back from halves of the columns, nothing where that was not tried."""
    table = truth.runs_table(found)
    if table is None:
        return []
    caption = "Links by how many runs made them"
    if found.truth is not None:
        caption = "Share of right links by how many runs made them, at 95%"
    return [
        RiskSection(
            "sureness",
            "How sure the links are",
            ["A link that comes back from other columns rests on what the files share."],
            [(truth.plot_came_back(found), caption)],
            [RiskTable.of("Links by runs on halves of the columns", table, names=_ENDS)],
        )
    ]


def _surest(found: StructureLinks) -> list[int]:
    """Return the linked records of the first file, those first whose links came back most often."""
    if found.links is None:
        return []
    votes = [0] * found.n_records[0] if found.steady is None else found.steady.votes.tolist()
    linked = [k for k, other in enumerate(found.links.tolist()) if other >= 0]
    return sorted(linked, key=lambda k: -votes[k])


def _by_votes(found: StructureLinks) -> pa.Table:
    first = _surest(found)
    rest = sorted({*range(found.n_records[0])} - {*first})
    return found.to_arrow().take([*first, *rest])


def _told(found: StructureLinks) -> list[str]:
    """Tell of a few links in words: the surest, one in the middle, the least sure."""
    surest = _surest(found)
    if found.links is None or not surest:
        return []
    chosen = dict.fromkeys((*surest[:2], surest[len(surest) // 2], surest[-1]))
    agree = found.matching.agreements.sum(axis=1)[found.groups_a.classes]
    said: list[str] = []
    for k in chosen:
        other = int(found.links[k])
        words = [f"their groups correspond in {agree[k]} of {len(found.clusterings)} clusterings"]
        if found.steady is not None:
            came_back = f"{found.steady.votes[k]} of {found.steady.n_runs} runs made the link"
            words.insert(0, came_back)
        if found.truth is not None:
            words.append("it is right" if other == found.truth[k] else "it is wrong")
        said.append(
            f"Record {k + 1:,} of the first file is linked to {other + 1:,} of the second:"
            f" {joined(words)}."
        )
    return said


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
    by_margin, tables = _by_margin(found)
    figures = [(found.plot(), "How far ahead links are"), *by_margin]
    said: list[str] = []
    calibration = found.calibration
    if calibration is not None and calibration.bands:
        figures.append(
            (truth.plot_calibration(calibration), "Share of right links by what was stated")
        )
        said.append(calibration.sentence())
        table = calibration.to_arrow()
        tables.append(RiskTable.of("Right links by stated probability", table, names=_ENDS))
    return RiskSection("sureness", "How sure the links are", said, figures, tables)


def _version(name: str, found: FileLinks, number: int, with_records: bool) -> RiskSection:
    """Tell of the links of one masked version: by margin, what carried them, examples."""
    figures, tables = _by_margin(found)
    said = [] if figures else ["No link has a second candidate."]
    if found.carried is not None:
        tables.append(_agreement(found.carried))
        if with_records:
            tables.append(RiskTable.of(_WHICH, _in_words(found, found.carried)))
    return RiskSection(f"version-{number}", f"Links of {name}", said, figures, tables)


def _by_margin(found: FileLinks) -> tuple[list[tuple[Figure, str]], list[RiskTable]]:
    """Return how many links are right by their margins, drawn and listed, where any has one."""
    margins = found.margin_table()
    if margins is None or not margins.num_rows:
        return [], []
    table = RiskTable.of("Right links by fifths of the margin", margins, names=_ENDS)
    return [(truth.plot_margin_shares(found), "Share of right links by margin, at 95%")], [table]


def _agreement(carried: Carried) -> RiskTable:
    names = {
        "agree_share": "agree",
        "nearly_share": "nearly agree",
        "differ_share": "differ",
        "missing_share": "missing",
        "agree_by_chance_share": "agree by chance",
        "mean_weight": "mean weight",
    }
    caption = "In which variables linked records agree"
    return RiskTable.of(caption, carried.to_arrow(), names=names)


def _carried(found: FileLinks) -> RiskSection | None:
    if found.carried is None:
        return None
    tables = [_agreement(found.carried)]
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
    if found.carried is None or not found.carried.examples:
        return None
    listed = [RiskTable.of(_WHICH, _in_words(found, found.carried))]
    said = ["The values themselves are not on this page; --report-values shows them."]
    if tables is not None:
        said = ["Values of the two files are shown because that was asked for."]
        listed.append(RiskTable.of("Their values", _values(found, tables)))
    return RiskSection("examples", "Examples", said, (), listed)


def _in_words(found: FileLinks, carried: Carried) -> pa.Table:
    """Return examples of links in words, without any value of the files."""
    shown = carried.examples
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
    return pa.table(columns)


def _values(found: FileLinks, tables: tuple[CodedTable, CodedTable]) -> pa.Table:
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
