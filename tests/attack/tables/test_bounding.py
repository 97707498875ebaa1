"""Labels that could be sums of others: nothing that rests on their being none is called open, tight or met."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.feasible import explore_tables, infer_attributions
from gamekeeper.attack.tables.subtraction import subtract_known
from gamekeeper.data.tables.cell_file import CellRows
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.table_set import TableSet, cells_of_release
from gamekeeper.errors import InputError
from gamekeeper.report.page import build_risk_report
from gamekeeper.report.tables_report import audit_report

DEPARTMENTS = {
    "Brittany": ["Finistere", "Morbihan", "Armor"],
    "Normandy": ["Calvados", "Orne"],
    "Alsace": ["Rhin"],
}
ROWS = [
    ["Brittany", "young", 12], ["Finistere", "young", None], ["Morbihan", "young", 8],
    ["Normandy", "young", None], ["Brittany", "old", 15], ["Finistere", "old", 10],
    ["Morbihan", "old", None], ["Normandy", "old", 22],
]  # fmt: skip


def drawn(rng):
    """Return which label is the sum of which, and rows that hide a part of one in every column."""
    names = rng.permutation(list(DEPARTMENTS))[: int(rng.integers(1, 4))].tolist()
    tree = {name: DEPARTMENTS[name][: int(rng.integers(1, 4))] for name in names}
    tops = [*tree, *["Savoy", "Corsica"][: int(rng.integers(0, 3))]]
    labels = [one for top in tops for one in (top, *tree.get(top, ()))]
    columns = ["a", "b", "c"][: int(rng.integers(1, 4))]
    counts = {
        (label, column): int(rng.integers(0, 12))
        for label, column in product(labels, columns)
        if label not in tree
    }
    for (top, parts), column in product(tree.items(), columns):
        counts[top, column] = sum(counts[part, column] for part in parts)
    if rng.random() < 0.5:
        counts |= {("Total", c): sum(counts[top, c] for top in tops) for c in columns}
    if rng.random() < 0.4:
        every = dict.fromkeys(label for label, _ in counts)
        counts |= {(label, "Total"): sum(counts[label, c] for c in columns) for label in every}
    share = rng.choice([0.1, 0.25, 0.5])
    hidden = {key for key in counts if rng.random() < share}
    parts = [part for own in tree.values() for part in own]
    hidden |= {(str(rng.choice(parts)), column) for _, column in counts}
    rows = [[*key, None if key in hidden else count] for key, count in counts.items()]
    flat = {label: [] for label in labels if label not in tree}
    return Hierarchy.of_tree({**tree, **flat}, "the truth"), rows


@pytest.mark.slow
def test_no_cell_is_falsely_open_whatever_the_labels_are_sums_of():
    seen = Counter()
    for seed in range(120):
        tree, rows = drawn(np.random.default_rng([18, seed]))
        table = CellRows.typed(["area", "column"], rows)
        told = audit_tables(TableSet.of([table], {"area": tree}, disjoint=["column"]))
        axes = told.tables.system.axes
        truth = {tuple(told.tables.system.nodes[one.cell].tolist()): one for one in told.cells}
        seen["given away"] += told.n_recomputed > 0
        try:
            found = audit_tables(TableSet.of([table], disjoint=["column"]), rules=["exact"])
        except InputError:
            # The figures contradict each other if no label is the sum of others.
            seen["refused"] += 1
            continue
        seen["not known" if found.assumed else "known"] += 1
        assert told.n_recomputed == 0 or not found.is_met
        for one in found.cells:
            labels = found.tables.labels_of(one.cell)
            place = tuple(axis.number[label] for axis, label in zip(axes, labels, strict=True))
            right = truth[place]
            assert not (one.verdict == "open" and right.is_known)
            own, other = one.interval, right.interval
            if one.is_tight:
                assert (own.low, own.high) == (other.low, other.high)
    assert seen["given away"] > 50
    assert seen["not known"] > 50


@pytest.mark.slow
def test_no_bound_is_falsely_tight_whatever_the_labels_are_sums_of():
    seen = Counter()
    for seed in range(120):
        tree, rows = drawn(np.random.default_rng([19, seed]))
        base = [row for row in rows if "Total" not in row[:2]]
        areas, columns = (list(dict.fromkeys(row[at] for row in base)) for at in (0, 1))
        published = [
            {
                "margin": margin,
                "counts": np.reshape([row[2] for row in rows if keep(row)], shape).tolist(),
            }
            for margin, shape, keep in (
                (
                    ["area", "column"],
                    (len(areas), len(columns)),
                    lambda row: "Total" not in row[:2],
                ),
                (["column"], (len(columns),), lambda row: row[0] == "Total" != row[1]),
                (["area"], (len(areas),), lambda row: row[1] == "Total" != row[0]),
            )
            if any(keep(row) for row in rows)
        ]
        right = audit_tables(
            TableSet.of(
                [CellRows.typed(["area", "column"], rows)], {"area": tree}, disjoint=["column"]
            )
        )
        limits = {
            labels: (one.interval.low, one.interval.high)
            for one in right.cells
            for labels in [right.tables.labels_of(one.cell)]
        }
        try:
            release = Release.typed(
                {"area": areas, "column": columns}, published, disjoint=["column"]
            )
            found = bound_cells(release)
        except InputError:
            seen["refused"] += 1
            continue
        seen["not known" if found.assumed else "known"] += 1
        for area, column in product(range(len(areas)), range(len(columns))):
            own = limits.get((areas[area], columns[column]))
            if found.tight[area, column] and own is not None:
                assert own[0] == found.lower[area, column]
                assert own[1] is None or own[1] == found.upper[area, column]
    assert seen["not known"] > 50


def test_what_could_be_a_sum_is_asked_about_before_anything_is_met():
    table = CellRows.typed(["area", "age"], ROWS)
    found = audit_tables(TableSet.of([table]), rules=["exact"])
    assert not found.is_met
    assert found.summary()["assumed_disjoint"] == "area"
    assert found.summary()["tight"] == 0
    assert found.summary()["not_settled"] == found.summary()["open_if_disjoint"] == 3
    assert found.summary()["rules_met_if_disjoint"] == 1
    said = found.sentences()
    assert said[0].startswith("Whether hidden cells are safe is not known: labels of 'area' may be")
    assert "On axis 'area', 'Brittany' could be the sum of 'Finistere', 'Morbihan'." in said
    assert "If no label is the sum of others, rule exact is met." in said
    assert not any("Brittany" in one for one in found.sentences(0))
    page = build_risk_report(audit_report(found))
    assert "Labels to ask about" in page
    assert "No hidden cell is given away" not in page
    told = audit_tables(TableSet.of([table], disjoint=["area"]), rules=["exact"])
    assert told.is_met
    assert told.sentences()[0] == found.if_disjoint.sentences()[0]
    tree = Hierarchy.of_tree({"Brittany": ["Finistere", "Morbihan"], "Normandy": []}, "a tree")
    known = audit_tables(TableSet.of([table], {"area": tree}), rules=["exact"])
    assert known.n_recomputed == 2


@pytest.mark.parametrize(
    ("more", "is_asked"),
    [
        ([], True),
        # All labels with their total, once: nobody is counted twice.
        ([["Brittany", "Total", 27], ["Finistere", "Total", 15], ["Morbihan", "Total", 12],
          ["Normandy", "Total", 40], ["Total", "Total", 94]], False),
        ([["Brittany", "Total", 27], ["Finistere", "Total", 15], ["Morbihan", "Total", 12],
          ["Normandy", "Total", 40], ["Total", "Total", None]], True),
    ],
)  # fmt: skip
def test_a_published_total_tells_that_labels_exclude_each_other(more, is_asked):
    table = CellRows.typed(["area", "age"], [*ROWS, *more])
    assert bool(audit_tables(TableSet.of([table], disjoint=["age"])).assumed) == is_asked
    # The line of totals may stand in a table of its own.
    alone = [
        CellRows.typed(["area"], [[row[0], row[2]] for row in more], "more")
        for _ in range(bool(more))
    ]
    tables = TableSet.of([CellRows.typed(["area", "age"], ROWS), *alone], disjoint=["age"])
    assert bool(audit_tables(tables).assumed) == is_asked


def test_values_below_0_and_rounded_ones_are_asked_about_too():
    rows = [["Total", 20], ["a", 9], ["b", None], ["c", None], ["d", 3]]
    table = CellRows.typed(["area"], rows)
    assert audit_tables(TableSet.of([table], whole=False), negative=True).assumed
    shown = [["a", 10], ["b", 4], ["c", 7], ["d", None]]
    table = CellRows.typed(["area"], shown)
    assert audit_tables(TableSet.of([table])).assumed
    exact = [["a", 10], ["b", 4], ["c", 7], ["d", None], ["Total", 23]]
    assert not audit_tables(TableSet.of([CellRows.typed(["area"], exact)])).assumed
    rounded = TableSet.of([CellRows.typed(["area"], exact)])
    assert audit_tables(rounded, tolerance=1).assumed


def test_sums_that_were_found_leave_the_other_labels_to_ask_about():
    shown = [
        ["A", "x", 31],
        ["a", "x", 14],
        ["b", "x", 17],
        ["A", "y", 52],
        ["a", "y", 23],
        ["b", "y", 29],
    ]
    rest = [["c", "x", 9], ["c", "y", None], ["d", "x", None], ["d", "y", 8]]
    table = CellRows.typed(["area", "age"], [*shown, *rest])
    found = audit_tables(TableSet.of([table], {"area": "detected"}, disjoint=["age"]))
    assert [one.axis for one in found.assumed] == ["area"]
    assert {own.whole for one in found.assumed for own in one.sums} <= {"A", "c", "d"}
    given = {"area": "detected"}
    assert not audit_tables(TableSet.of([table], given, disjoint=["age", "area"])).assumed


def test_every_attack_on_a_release_says_what_it_takes_for_granted():
    axes = {"area": ["Brittany", "Finistere", "Morbihan"]}
    published = [{"margin": ["area"], "counts": [12, None, 8]}]
    truth = CountTable.typed(axes, [12, 4, 8], disjoint=True)
    release = Release.typed(axes, published)
    bounds = bound_cells(release)
    assert not bounds.tight.any()
    assert bounds.summary()["assumed_disjoint"] == "area"
    assert "'Brittany' could be the sum of 'Finistere', 'Morbihan'" in " ".join(bounds.sentences())
    assert bounds.why.startswith("If no label is the sum of others: ")
    for found in (
        bounds,
        infer_attributions(release),
        explore_tables(release, prior="poisson"),
        subtract_known(release, truth),
    ):
        assert "is not known: labels of 'area' may be sums" in found.sentences()[0]
        assert found.provenance.parameters["assumed_disjoint"] == "area"
    # Who knows that the truth does not add up knows that nobody is counted twice.
    other = CountTable.typed(axes, [12, 5, 8], disjoint=True)
    assert "not known" not in subtract_known(release, other).sentences()[0]
    sure = Release.typed(axes, published, disjoint=True)
    assert bound_cells(sure).tight.all()
    assert bound_cells(sure, rules=["exact"]).is_met
    asked = bound_cells(release, rules=["exact"])
    assert not asked.is_met
    assert not asked.standings[0].broken
    for made, is_asked in ((release, True), (sure, False)):
        tables, hierarchies = cells_of_release(made)
        assert bool(audit_tables(TableSet.of(tables, hierarchies)).assumed) == is_asked


def test_a_table_that_shows_every_cell_rests_on_nothing():
    axes = {"area": ["Brittany", "Finistere", "Morbihan"]}
    release = Release.typed(axes, [{"margin": ["area"], "counts": [5, 3, 2]}])
    assert bound_cells(release).tight.all()


def test_what_is_known_by_sums_that_nobody_confirmed_is_not_called_tight():
    # That 'B1' is all of 'B', and so published beside it, is no more than what codes suggest.
    rows = [["B", "x", 2], ["B1", "x", None], ["Orne", "x", None], ["Rhin", "x", 7]]
    found = audit_tables(
        TableSet.of([CellRows.typed(["area", "age"], rows)], {"area": "codes"}, disjoint=["age"]),
        rules=["exact"],
    )
    assert found.assumed
    assert not found.is_met
    assert not any(one.is_tight for one in found.cells)


@pytest.mark.parametrize("way", ["detected", "codes"])
def test_a_sum_that_holds_more_than_its_codes_may_hold_another_label(way):
    # 'B' is 'B1' and 'Savoy', so that 'Savoy' is 5 and 5.
    counts = {"B1": (3, 5, 8), "B": (8, 10, 18), "Savoy": (None, None, 10), "Corsica": (0, 7, 7)}
    rows = [
        [label, column, count]
        for label, own in counts.items()
        for column, count in zip(("a", "b", "Total"), own, strict=True)
    ]
    table = CellRows.typed(["area", "column"], rows)
    found = audit_tables(TableSet.of([table], {"area": way}, disjoint=["column"]), rules=["exact"])
    assert found.assumed
    assert not found.is_met
    assert not any(one.verdict == "open" or one.is_tight for one in found.cells)
