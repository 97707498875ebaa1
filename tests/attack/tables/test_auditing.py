"""Audits and marks of tables: what is told is proven, by hand and by putting figures in."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gamekeeper.attack.tables.auditing import audit_tables, mark_cells
from gamekeeper.attack.tables.insiders import Standing
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.tables.cell_file import CellRows, Share
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.magnitudes import tabulate_magnitudes
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import Cancelled, InputError, Reason
from tests.given.microdata import write

REGIONS = dict(zip("ABIJKLMN", (2, 2, 8, 8, 3, 3, 3, 7), strict=True))
COUNTIES = Hierarchy.of_tree({"county-1": "ABIJ", "county-2": "KLMN"}, "counties")
SIZES = Hierarchy.of_tree({"large": "LM", "small": "ABIJKN"}, "sizes")


def regions(groups: Hierarchy, name: str) -> CellRows:
    rows = [["Total", sum(REGIONS.values())]]
    rows += [[label, None if count <= 3 else count] for label, count in REGIONS.items()]
    rows += [[label, sum(REGIONS[one] for one in way)] for label, (way,) in groups.parts.items()]
    return CellRows.typed(["Region"], rows, name)


def test_two_safe_tables_give_a_cell_away_together():
    # sdcTable's test of linked tables: counties and, across them, sizes of place.
    first = audit_tables(
        TableSet.of([regions(COUNTIES, "t1")], {"Region": COUNTIES}), rules=["exact"]
    )
    second = audit_tables(TableSet.of([regions(SIZES, "t2")], {"Region": SIZES}), rules=["exact"])
    assert (first.n_recomputed, second.n_recomputed) == (0, 0)
    assert first.is_met
    assert second.is_met
    tables = [regions(COUNTIES, "t1"), regions(SIZES, "t2")]
    both = audit_tables(TableSet.of(tables, {"Region": COUNTIES.joined(SIZES)}), rules=["exact"])
    assert both.n_recomputed == 1
    assert not both.is_met
    assert both.sentences()[0] == "1 of 5 hidden cells can be recomputed from what is published."
    assert both.sentences()[-1] == (
        "Region=K is 3: 16 (Region=county-2) less 7 (Region=N) and 6 (Region=large)."
    )


def test_bounds_of_each_table_alone_are_those_that_enumeration_gives():
    # Golden values of the same example.
    first = audit_tables(TableSet.of([regions(COUNTIES, "t1")], {"Region": COUNTIES}))
    found = {
        first.tables.words(one.cell)[-1]: (one.interval.low, one.interval.high)
        for one in first.cells
    }
    assert found == {"A": (0, 4), "B": (0, 4), "K": (0, 9), "L": (0, 9), "M": (0, 9)}
    second = audit_tables(TableSet.of([regions(SIZES, "t2")], {"Region": SIZES}))
    found = {
        second.tables.words(one.cell)[-1]: (one.interval.low, one.interval.high)
        for one in second.cells
    }
    assert found == {"A": (0, 7), "B": (0, 7), "K": (0, 7), "L": (0, 6), "M": (0, 6)}


def random_set(
    rng: np.random.Generator, *, whole: bool
) -> tuple[TableSet, dict[tuple[str, str], int]]:
    tree = Hierarchy.of_tree({"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}, "a tree")
    fine, sex = ["a1", "a2", "a3", "b1", "b2"], ["m", "f", "x"]
    base = {key: int(rng.integers(0, 9)) for key in product(fine, sex)}
    holds = {**{f: [f] for f in fine}, "A": fine[:3], "B": fine[3:], "Total": fine}
    sides = {**{s: [s] for s in sex}, "Total": sex}
    rows = []
    truth = {}
    for area, side in product(holds, sides):
        figure = sum(base[key] for key in product(holds[area], sides[side]))
        truth[area, side] = figure
        rows.append([area, side, figure, "hidden" if rng.random() < 0.3 else "shown"])
    table = CellRows.typed(["Area", "Sex"], rows)
    return TableSet.of([table], {"Area": tree}, whole=whole), truth


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_every_proof_holds_when_figures_are_put_in(seed: int, whole: bool):
    tables, truth = random_set(np.random.default_rng(seed), whole=whole)
    found = audit_tables(tables)
    assert not found.n_not_settled
    for one in found.cells:
        labels = found.tables.labels_of(one.cell)
        figure = truth[labels[0], labels[1]]
        assert one.truth == figure
        assert one.interval.low <= figure
        assert one.interval.high is None or figure <= one.interval.high
        assert one.is_tight
        if one.is_known:
            assert one.interval.low == figure
            (proof, *_) = found.proofs[one.cell]
            figures = sum(times * tables.figures[cell] for cell, times in proof.terms)
            assert not proof.is_equation or figures == proof.value
            assert not proof.is_equation or proof.value == figure
            assert f" is {figure:,}:" in found.why(one) or not proof.is_equation


@pytest.mark.parametrize("seed", range(6))
def test_hiding_more_never_narrows_an_interval(seed: int):
    rng = np.random.default_rng([7, seed])
    tables, _ = random_set(rng, whole=True)
    before = {one.cell: one.interval for one in audit_tables(tables).cells}
    table = tables.tables[0]
    statuses = [type(s)("hidden") if rng.random() < 0.2 else s for s in table.statuses]
    tree = Hierarchy.of_tree({"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}, "a tree")
    more = TableSet.of([replace(table, statuses=statuses)], {"Area": tree})
    after = {one.cell: one.interval for one in audit_tables(more).cells}
    for cell, interval in before.items():
        assert after[cell].low <= interval.low
        assert after[cell].high is None or after[cell].high >= interval.high


def test_the_order_of_rows_and_the_names_of_labels_change_nothing():
    tables, _ = random_set(np.random.default_rng(3), whole=True)
    table = tables.tables[0]
    order = np.random.default_rng(1).permutation(len(table)).tolist()
    shuffled = replace(
        table,
        labels=tuple(
            [f"L{own[at]}" if own[at] != "Total" else "Total" for at in order]
            for own in table.labels
        ),
        figures=[table.figures[at] for at in order],
        statuses=[table.statuses[at] for at in order],
        marks=[table.marks[at] for at in order],
    )
    tree = Hierarchy.of_tree({"LA": ["La1", "La2", "La3"], "LB": ["Lb1", "Lb2"]}, "a tree")
    again = audit_tables(TableSet.of([shuffled], {"Area": tree}))

    def told(found):
        return sorted(
            (
                tuple(label.removeprefix("L") for label in found.tables.labels_of(one.cell)),
                one.interval.low,
                one.interval.high,
            )
            for one in found.cells
        )

    assert told(audit_tables(tables)) == told(again)


def test_whole_numbers_can_be_known_where_real_ones_are_not():
    # Golden 'audit_whole_against_real' in small: x + y = 1 as a count, with x at most one half.
    table = CellRows.typed(["Area"], [["Total", 1], ["a", None], ["b", None]])
    share = Share("pct", [None, Fraction(30), None], [0, 0, 0], ("Area",), 100)
    told = replace(table, shares=(share,))
    with pytest.raises(InputError):
        audit_tables(TableSet.of([told]))
    real = audit_tables(TableSet.of([told], whole=False))
    assert not real.n_recomputed


def test_percentages_give_hidden_counts_away():
    rows = [["Total", 37], ["a", None], ["b", None], ["c", None], ["d", None]]
    share = Share("pct", [None, *map(Fraction, (8, 41, 5, 46))], [0] * 5, ("Area",), 100)
    found = audit_tables(TableSet.of([replace(CellRows.typed(["Area"], rows), shares=(share,))]))
    assert found.n_recomputed == 4
    assert [int(one.interval.low) for one in sorted(found.cells, key=lambda one: one.cell)] == [
        3,
        15,
        2,
        17,
    ]


def test_levels_that_are_missed_break_the_rule():
    rows = [["Total", 20], ["a", 5, "unsafe"], ["b", 6, "secondary"], ["c", 9]]
    table = CellRows.typed(["Area"], rows)
    low = [None, Fraction(5), None, None]
    for up, standing in ((6, Standing.MET), (7, Standing.BROKEN)):
        told = replace(table, lower_levels=low, upper_levels=[None, Fraction(up), None, None])
        (rule,) = audit_tables(
            TableSet.of([told], whole=False, disjoint=["Area"]), rules=["levels"]
        ).standings
        assert rule.standing is standing
    # A level below 0 is cut to what is possible, and that is told.
    told = replace(table, lower_levels=[None, Fraction(9), None, None], upper_levels=[None] * 4)
    (rule,) = audit_tables(
        TableSet.of([told], whole=False, disjoint=["Area"]), rules=["levels"]
    ).standings
    assert rule.standing is Standing.MET
    assert rule.notes


def test_an_unsafe_cell_that_is_published_breaks_a_rule():
    rows = [["Total", 100], ["a", 60], ["b", 40]]
    table = replace(
        CellRows.typed(["Area"], rows),
        counts=[Fraction(9), Fraction(2), Fraction(7)],
        tops=(
            [Fraction(35), Fraction(35), Fraction(10)],
            [Fraction(25), Fraction(25), Fraction(9)],
        ),
    )
    found = audit_tables(
        TableSet.of([table], whole=False), rules=["p:10", "minimum:3", "dominance:1:85"]
    )
    assert [one.standing for one in found.standings] == [
        Standing.BROKEN,
        Standing.BROKEN,
        Standing.MET,
    ]


def test_a_rule_without_what_it_needs_is_not_proven():
    rows = [["Total", 20], ["a", None], ["b", None], ["c", 9]]
    found = audit_tables(
        TableSet.of([CellRows.typed(["Area"], rows)], disjoint=["Area"]),
        rules=["p:10", "levels", "within:10"],
    )
    assert [one.standing for one in found.standings] == [
        Standing.NOT_PROVEN, Standing.NOT_PROVEN, Standing.MET,
    ]  # fmt: skip
    assert not found.is_met
    with pytest.raises(InputError):
        audit_tables(TableSet.of([CellRows.typed(["Area"], rows)]), rules=["q:10", "exakt"])


def test_a_status_that_is_published_tells_something():
    rows = [["Total", 20], ["a", 1, "unsafe"], ["b", 10, "secondary"], ["c", 9]]
    table = replace(CellRows.typed(["Area"], rows), marks=["V", "A", "D", "V"])
    found = audit_tables(TableSet.of([table]), says={"A": (1, 1)})
    assert (found.n_recomputed, found.without_flags) == (2, 0)


def test_a_sole_contributor_learns_of_others():
    rows = [["Total", 20], ["a", 5, "unsafe"], ["b", 6, "secondary"], ["c", 9]]
    table = replace(
        CellRows.typed(["Area"], rows), counts=[Fraction(9), Fraction(1), Fraction(4), Fraction(4)]
    )
    found = audit_tables(TableSet.of([table], whole=False), insiders=True)
    assert not found.n_recomputed
    (gain,) = found.insiders.gains
    assert gain.who.words("Area=a") == "the only contributor to Area=a"
    assert [found.tables.words(cell) for cell in gain.cells] == ["Area=b"]


def test_what_was_proven_when_it_is_stopped_is_kept():
    side = [*"abc", "Total"]
    figures = np.arange(9).reshape(3, 3) + 1
    figures = np.vstack(
        [np.column_stack([figures, figures.sum(1)]), [*figures.sum(0), figures.sum()]]
    )
    rows = [
        [a, b, int(figures[i, j]), "hidden" if i < 3 and j < 2 else "shown"]
        for i, a in enumerate(side)
        for j, b in enumerate(side)
    ]
    tables = TableSet.of([CellRows.typed(["A", "B"], rows)])
    # All that is published is a multiple of 3, and was not rounded.
    whole = audit_tables(tables, rules=["exact"], tolerance=Fraction(0))
    assert whole.is_met

    def stop(done: int, total: int | None) -> None:
        raise Cancelled("An audit.")

    found = audit_tables(tables, rules=["exact"], progress=stop)
    assert found.is_stopped
    assert found.n_hidden == whole.n_hidden
    known = {one.cell: one.interval for one in whole.cells}
    for one in found.cells:
        assert one.interval.low <= known[one.cell].low
        if one.is_known:
            assert known[one.cell].is_known
    assert found.standings[0].standing is not Standing.BROKEN


def test_figures_that_contradict_each_other_are_refused():
    rows = [["Total", "Total", 9], ["a", "Total", 5], ["b", "Total", 4],
            ["Total", "m", 3], ["Total", "f", 6], ["a", "m", 4], ["b", "m", None], ["a", "f", None],
            ["b", "f", None]]  # fmt: skip
    with pytest.raises(InputError) as error:
        audit_tables(TableSet.of([CellRows.typed(["Area", "Sex"], rows)]))
    assert error.value.reason is Reason.CONFLICTING_COUNTS


def test_nothing_is_called_open_where_tables_are_not_joined(monkeypatch):
    # Two tables that share no margin but the total are joined through cells that nobody published.
    first = CellRows.typed(
        ["A", "B"], [[a, b, None if a == b == "1" else 2] for a in "12" for b in "12"], "one"
    )
    second = CellRows.typed(
        ["B", "C"], [[b, c, None if b == c == "1" else 2] for b in "12" for c in "12"], "two"
    )
    options = {"disjoint": ["A", "B", "C"]}
    joined = audit_tables(TableSet.of([first, second], **options), rules=["exact"])
    assert joined.tables.system.is_joined
    ring = CellRows.typed(
        ["A", "C"], [[a, c, None if a == c == "1" else 2] for a in "12" for c in "12"], "three"
    )
    made = TableSet.of([first, second, ring], **options)
    apart = replace(made, system=replace(made.system, is_joined=False))
    found = audit_tables(apart, rules=["exact"])
    assert found.n_not_settled + found.n_recomputed == found.n_hidden
    assert not found.is_met


@pytest.mark.parametrize("seed", range(6))
def test_the_figures_of_hidden_cells_are_used_for_nothing(seed: int):
    tables, _ = random_set(np.random.default_rng([11, seed]), whole=True)
    table = tables.tables[0]
    bare = replace(
        table,
        figures=[
            None if s.is_hidden else f for f, s in zip(table.figures, table.statuses, strict=True)
        ],
    )
    tree = Hierarchy.of_tree({"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}, "a tree")
    found, again = audit_tables(tables), audit_tables(TableSet.of([bare], {"Area": tree}))
    told = [
        [(one.cell, one.interval.low, one.interval.high) for one in own.cells]
        for own in (found, again)
    ]
    assert told[0] == told[1]


def test_nothing_that_prints_itself_shows_a_figure():
    tables, _ = random_set(np.random.default_rng(2), whole=True)
    found = audit_tables(tables)
    table = replace(tables.tables[0], figures=[Fraction(7_341_734)] * len(tables.tables[0]))
    shown = [table, tables, found.known, found.cells[0], found.cells[0].interval, found.known.facts]
    shown += [proof for own in found.proofs.values() for proof in own]
    for one in shown:
        assert "Fraction" not in repr(one)
        assert "7341734" not in repr(one)


def test_what_rounding_leaves_open_is_recomputed_all_the_same():
    rows = [["Total", "100.1"], ["a", None], ["b", "60.0"], ["c", "30.0"]]
    made = TableSet.of([CellRows.typed(["Area"], rows)], whole=False)
    found = audit_tables(made, tolerance=Fraction("0.05"), rules=["exact"])
    assert found.n_recomputed == 1
    assert not found.is_met
    (one,) = found.cells
    # Three figures may be off by 0.05 each.
    assert (one.interval.low, one.interval.high) == (Fraction("9.95"), Fraction("10.25"))
    wide = [["Total", "100.1"], ["a", None], ["b", None], ["c", "30.0"]]
    apart = audit_tables(
        TableSet.of([CellRows.typed(["Area"], wide)], whole=False), tolerance=Fraction("0.05")
    )
    assert not apart.n_recomputed


@pytest.mark.parametrize("negative", [False, True])
def test_a_level_below_0_is_cut_only_where_nothing_is_below_0(negative):
    rows = [["Total", 20], ["a", 2, "unsafe"], ["b", 18, "secondary"]]
    levels = [None, Fraction(5), None]
    table = replace(CellRows.typed(["Area"], rows), lower_levels=levels, upper_levels=[None] * 3)
    found = audit_tables(
        TableSet.of([table], whole=False, disjoint=["Area"]), rules=["levels"], negative=negative
    )
    (one,) = found.standings
    assert one.standing is Standing.MET
    # Without a cut, figures as low as -3 are shown to be possible.
    assert bool(one.notes) != negative
    (unsafe,) = [own for own in found.cells if own.truth == 2]
    assert (unsafe.interval.reached_low <= -3) == negative


def test_no_rule_is_met_for_a_share_below_0():
    table = CellRows.typed(["area"], [["Total", 18], ["South", None], ["North", None]])
    with pytest.raises(InputError) as caught:
        audit_tables(TableSet.of([table]), rules=["within:-5"])
    assert caught.value.reason is Reason.BAD_OPTION


def in_fives(*hidden: str) -> TableSet:
    """Return counts of regions and parts, all of them multiples of 5."""
    parts = {"N1": (5, 15), "N2": (10, 5), "S1": (20, 5), "S2": (15, 10)}
    sums = {"North": ("N1", "N2"), "South": ("S1", "S2"), "Total": tuple(parts)}
    columns = {
        **parts,
        **{k: tuple(map(sum, zip(*map(parts.get, v), strict=True))) for k, v in sums.items()},
    }
    rows = [
        [area, age, None if f"{area}{age}" in hidden else counts[age == "old"] if age != "Total" else sum(counts)]
        for area, counts in columns.items()
        for age in ("young", "old", "Total")
    ]  # fmt: skip
    tree = Hierarchy.of_tree({"North": ["N1", "N2"], "South": ["S1", "S2"]}, "a tree")
    return TableSet.of([CellRows.typed(["Area", "Age"], rows)], {"Area": tree})


@pytest.mark.parametrize("tolerance", [None, Fraction(2)])
def test_rounding_that_is_not_examined_is_not_nothing(tolerance):
    found = audit_tables(in_fives(), tolerance=tolerance, rules=["exact", "within:10", "p:10"])
    assert "what rounded figures stand for was not examined" in found.verdict()
    assert "--scheme conventional:5" in found.sentences()[1]
    assert "tables bounds" not in found.sentences()[1]
    assert found.summary()["rounding"] == "not examined"
    assert not found.is_met
    assert {one.standing for one in found.standings} == {Standing.NOT_PROVEN}


@pytest.mark.parametrize("tolerance", [None, Fraction(2)])
def test_rounding_is_not_examined_beside_hidden_cells_either(tolerance):
    hidden = "N1young", "N1old", "N2young", "N2old"
    found = audit_tables(in_fives(*hidden), tolerance=tolerance, rules=["exact"])
    assert not found.n_recomputed
    assert not found.is_met
    assert any("was not examined" in one for one in found.sentences())
    exact = audit_tables(in_fives(*hidden), tolerance=Fraction(0), rules=["exact"])
    assert exact.is_met
    assert exact.summary()["rounding"] == "none seen"


def test_values_that_are_rounded_to_be_read_keep_their_rules():
    rows = [["Total", "100.1"], ["a", None], ["b", None], ["c", "30.0"]]
    made = TableSet.of([CellRows.typed(["Area"], rows)], whole=False, disjoint=["Area"])
    found = audit_tables(made, tolerance=Fraction("0.05"), rules=["exact"])
    assert found.is_met
    assert any("was not examined" in one for one in found.sentences())


@pytest.mark.parametrize("rule", ["exact", "within:10", "levels", "p:10"])
def test_where_nothing_is_hidden_no_rule_is_met(rule):
    rows = [["Total", 18], ["South", 2], ["North", 9], ["East", 7]]
    found = audit_tables(TableSet.of([CellRows.typed(["area"], rows)]), rules=[rule])
    assert found.verdict() == (
        "No cell is hidden in what was given: every figure can be read. Whether one of them should be"
        " hidden was not examined."
    )
    assert not found.is_met
    assert found.standings[0].standing is Standing.NOT_PROVEN


@pytest.mark.parametrize("disjoint", [[], ["area"]])
def test_an_axis_may_have_its_total_alone(disjoint):
    rows = [["Total", "a", 8], ["Total", "b", None], ["Total", "Total", 10]]
    table = CellRows.typed(["area", "age"], rows)
    found = audit_tables(TableSet.of([table], disjoint=disjoint))
    assert found.sentences()[-1] == "age=b is 2: 10 (total) less 8 (age=a)."
    found = audit_tables(TableSet.of([CellRows.typed(["area"], [["Total", 8]])], disjoint=disjoint))
    assert found.n_hidden == 0


PEOPLE = "Area,Diagnosis\n" + "East,flu\n" * 2 + "East,liver\n" + "West,flu\n" * 3
FIRMS = """Act,Turnover,Invest
a,100,10
a,5,9
a,3,8
b,-50,5
b,40,5
b,12,5
c,0,1
c,0,1
"""


def unsafe(marked):
    return {
        labels: set(own)
        for *labels_, own in zip(*marked.table.labels, marked.unsafe, strict=True)
        if own
        for labels in [tuple(labels_)]
    }


def test_zeros_and_a_few_tell_of_everybody_else(tmp_path):
    source = open_source(write(tmp_path, "p.csv", PEOPLE))
    table = tabulate_magnitudes(source, ["Area", "Diagnosis"])
    found = mark_cells(table, rules=["zero", "disclosure:1"], about=["Diagnosis"])
    assert unsafe(found) == {("West", "liver"): {"zero"}, ("East", "liver"): {"disclosure:1"},
                             ("Total", "liver"): {"disclosure:1"}}  # fmt: skip
    assert len(found.table) == 9
    two = mark_cells(table, rules=["disclosure:2"], about=["Diagnosis"])
    assert ("East", "flu") in unsafe(two)
    known = [{"Area": "West", "Diagnosis": "liver"}]
    assert not unsafe(mark_cells(table, rules=["zero"], about=["Diagnosis"], structural=known))


@pytest.mark.parametrize(
    "options",
    [
        {"rules": ["zero"]},
        {"rules": ["disclosure:1"]},
        {"rules": ["zero"], "about": ["Nothing"]},
        {"rules": ["zero"], "about": ["Area"], "structural": [{"Nothing": "x"}]},
        {"rules": ["disclosure"], "about": ["Area"]},
        {"rules": ["zero:1"], "about": ["Area"]},
    ],
)
def test_counts_are_not_called_free_of_zeros_unless_it_is_known_of_what(tmp_path, options):
    source = open_source(write(tmp_path, "p.csv", PEOPLE))
    with pytest.raises(InputError):
        mark_cells(tabulate_magnitudes(source, ["Area", "Diagnosis"]), **options)


def test_a_shadow_is_what_rules_look_at_and_not_what_is_published(tmp_path):
    source = open_source(write(tmp_path, "f.csv", FIRMS))
    plain = tabulate_magnitudes(source, ["Act"], "Invest")
    shadowed = tabulate_magnitudes(source, ["Act"], "Invest", shadow="Turnover")
    assert shadowed.figures == plain.figures
    assert not unsafe(mark_cells(plain, rules=["dominance:1:85"]))
    found = mark_cells(shadowed, rules=["dominance:1:85", "zero"])
    # 100 of 108 are one's turnover; investments of c are not 0, whatever its turnover.
    assert unsafe(found) == {("a",): {"dominance:1:85"}}
    level = next(level for level in found.levels if level is not None)
    assert level == (Fraction(100 * 100, 85) - 108) * Fraction(27, 108)


def test_of_values_below_0_sizes_count(tmp_path):
    source = open_source(write(tmp_path, "f.csv", FIRMS))
    table = tabulate_magnitudes(source, ["Act"], "Turnover")
    place = table.labels[0].index("b")
    assert table.figures[place] == 2
    assert (table.cells[place].largest, table.cells[place].total) == (50, 102)
    found = mark_cells(table, rules=["p:10", "dominance:1:49", "zero", "records:3"])
    assert unsafe(found) == {
        ("a",): {"p:10", "dominance:1:49"},
        ("b",): {"dominance:1:49"},
        ("c",): {"zero", "records:3"},
    }


def test_by_no_rule_no_cell_is_called_safe(tmp_path):
    source = open_source(write(tmp_path, "r.csv", "R,v\na,1\nb,2\n"))
    with pytest.raises(InputError) as caught:
        mark_cells(tabulate_magnitudes(source, ["R"], "v"), rules=[])
    assert caught.value.reason is Reason.NOTHING_GIVEN
    with pytest.raises(InputError) as caught:
        tabulate_magnitudes(source, [])
    assert caught.value.reason is Reason.NOTHING_GIVEN
