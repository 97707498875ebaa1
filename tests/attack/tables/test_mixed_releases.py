"""Tables that are rounded and have subtotals, are linked, or hide cells: held against enumeration."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.attack.tables.bounds import bound_cells, bound_recoded
from gamekeeper.data.tables.cell_file import CellRows, Share
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.data.tables.table_set import TableSet, cells_of_release
from gamekeeper.errors import InputError, Reason
from tests.given.count_tables import SCHEMES
from tests.given.mixed_tables import mixed_tables


def held_against_enumeration(made):
    """Check both questions about one case; every cell has the extremes of all that was possible."""
    lows, highs = made.possible.min(axis=0), made.possible.max(axis=0)
    assert np.all((made.truth >= lows) & (made.truth <= highs))
    extremes = {
        key: (int(low), int(high)) for key, low, high in zip(made.cells, lows, highs, strict=True)
    }
    axes = made.tables.axes
    kept = [("x", "y").index(name) for name in axes]
    extremes = {tuple(key[at] for at in kept): ends for key, ends in extremes.items()}

    bounds = bound_cells(made.tables, rules=["exact", "within:10"])
    rows = {tuple(row[name] for name in axes): row for row in bounds.to_arrow().to_pylist()}
    assert rows.keys() >= extremes.keys()
    for key, (low, high) in extremes.items():
        assert (rows[key]["lower"], rows[key]["upper"]) == (low, high), key
        assert rows[key]["tight"]

    audit = audit_tables(made.tables, rules=["exact", "within:10"])
    assert not audit.n_odd
    concealed = dict(labelled(audit))
    for key, one in concealed.items():
        low, high = extremes[key]
        assert (one.interval.low, one.interval.high) == (low, high)
        assert one.is_known == (low == high)
        is_near = 100 * (high - low) <= 10 * (high + low)
        assert one.is_near == is_near
        assert (one.verdict == "open") == (low < high and not is_near)
    exact, within = (one.is_met for one in audit.standings)
    known = [low == high for low, high in (extremes[key] for key in concealed)]
    near = [100 * (h - low) <= 10 * (h + low) for low, h in (extremes[key] for key in concealed)]
    assert exact == (bool(known) and not any(known))
    assert within == (bool(near) and not any(near))
    assert [one.is_met for one in bounds.standings] == [exact, within]
    return len(concealed)


def labelled(audit):
    return [(audit.tables.labels_of(one.cell), one) for one in audit.cells]


def cases(first, n):
    found = 0
    seed = first
    while found < n:
        made = mixed_tables(np.random.default_rng(seed))
        seed += 1
        if made is not None:
            found += 1
            yield made


def test_bounds_and_audits_of_mixed_tables_are_those_of_enumeration():
    assert sum(held_against_enumeration(made) for made in cases(0, 120)) > 500


@pytest.mark.slow
def test_nothing_is_open_that_a_sum_which_nobody_told_gives_away():
    n_known = n_open = 0
    for seed in range(400):
        try:
            made = mixed_tables(np.random.default_rng(seed), is_told=False)
        except InputError:
            # Asked which labels are sums of others, or that tables contradict each other if none is.
            continue
        if made is None:
            continue
        lows, highs = made.possible.min(axis=0), made.possible.max(axis=0)
        ends = dict(zip(made.cells, zip(lows.tolist(), highs.tolist(), strict=True), strict=True))
        kept = [("x", "y").index(name) for name in made.tables.axes]
        extremes = {tuple(key[at] for at in kept): own for key, own in ends.items()}
        try:
            audit = audit_tables(made.tables, rules=["exact"])
            bounds = bound_cells(made.tables, rules=["exact"])
        except InputError:
            continue
        known = [low == high for low, high in (extremes[k] for k, _ in labelled(audit))]
        n_known += sum(known)
        for key, one in labelled(audit):
            low, high = extremes[key]
            n_open += one.verdict == "open"
            assert one.verdict != "open" or low < high
            assert not one.is_tight or (one.interval.low, one.interval.high) == (low, high)
        assert not (audit.is_met or bounds.is_met) or not any(known)
        for row in bounds.to_arrow().to_pylist():
            own = extremes.get(tuple(row[name] for name in made.tables.axes))
            assert not row["tight"] or own in (None, (row["lower"], row["upper"]))
    assert n_known > 50
    assert n_open > 50


@pytest.mark.slow
def test_two_thousand_mixed_tables_have_the_bounds_of_enumeration():
    assert sum(held_against_enumeration(made) for made in cases(10_000, 2_000)) > 8_000


def chapters(counts, scheme, axes=("code",), name="chapters"):
    return CellRows.typed(axes, [list(row) for row in counts], name, scheme)


TREE = {"code": Hierarchy.of_tree({"A": ["A1", "A2"], "B": []}, "the case")}


def ends_of(tables, **options):
    found = bound_cells(tables, **options)
    names = tables.axes
    return {
        ", ".join(row[name] for name in names): (row["lower"], row["upper"])
        for row in found.to_arrow().to_pylist()
    }


def test_sums_hold_of_true_counts_and_not_of_rounded_ones():
    rows = [("Total", 15), ("A", 9), ("A1", 3), ("A2", 3), ("B", 6)]
    tables = TableSet.of([chapters(rows, "conventional:3")], TREE)
    assert ends_of(tables) == {
        "Total": (14, 15), "A": (8, 8), "A1": (4, 4), "A2": (4, 4), "B": (6, 7)
    }  # fmt: skip
    found = audit_tables(tables, rules=["exact"])
    assert (found.n_hidden, found.n_recomputed, found.n_perturbed) == (5, 3, 5)
    assert found.summary()["rounding"] == "examined"
    assert found.verdict().startswith("3 of 5 perturbed cells can be recomputed")
    assert "as its published 9 stands for 8 to 10" in found.why(found.cells[0])


def test_a_count_that_two_tables_round_differently_is_what_both_allow():
    one = chapters([("Total", 12), ("A", 9), ("B", 3)], "conventional:3")
    two = chapters([("A", 10), ("B", None)], "conventional:5", name="other")
    tables = TableSet.of([one, two], disjoint=["code"])
    assert ends_of(tables)["A"] == (8, 10)
    apart = chapters([("A", 15), ("B", None)], "conventional:5", name="other")
    with pytest.raises(InputError, match="1 problem") as caught:
        TableSet.of([one, apart], disjoint=["code"])
    assert caught.value.problems[0].reason is Reason.CONFLICTING_COUNTS


def test_what_one_table_shows_as_it_is_another_cannot_conceal():
    one = chapters([("Total", 12), ("A", 9), ("B", 3)], "conventional:3")
    two = chapters([("A", 8)], "exact", name="exact one")
    tables = TableSet.of([one, two], disjoint=["code"])
    found = audit_tables(tables, rules=["exact"])
    assert found.cells[0].verdict == "published elsewhere"
    assert not found.is_met
    assert "published as it is in 'exact one'" in found.why(found.cells[0])


def test_rounded_values_stand_for_half_a_base_on_either_side():
    rows = [("Total", "100"), ("A", "70"), ("A1", "30"), ("A2", None), ("B", "30")]
    tables = TableSet.of([chapters(rows, "conventional:10:up")], TREE, whole=False)
    found = ends_of(tables)
    assert found["A2"] == (30, 50)
    assert found["A"] == (65, 75)
    assert found["Total"] == (95, 105)
    tables = TableSet.of([chapters(rows, "random:10")], TREE, whole=False)
    assert ends_of(tables)["A2"] == (20, 60)
    with pytest.raises(InputError, match="1 problem") as caught:
        TableSet.of([chapters(rows, "barnardization:0.5")], TREE, whole=False)
    assert "is a scheme for counts" in str(caught.value)


def test_a_rounded_cell_without_a_row_is_what_a_published_zero_stands_for():
    rows = [("A", "x", 3), ("A", "y", 6), ("B", "x", 3), ("Total", "x", 6), ("Total", "y", 6)]
    one = chapters(rows, "conventional:3", ("code", "other"))
    tables = TableSet.of([one], disjoint=["code", "other"], absent="zero")
    assert ends_of(tables)["B, y"] == (0, 1)
    assert len(audit_tables(tables).cells) == 6
    two = chapters([("A", 9), ("B", 3)], "random:3", name="by code")
    with pytest.raises(InputError, match="several schemes"):
        TableSet.of([one, two], disjoint=["code", "other"], absent="zero")


@pytest.mark.parametrize(
    ("scheme", "rows", "said"),
    [
        ("conventional:3", [("A", 4), ("B", 3)], "cannot come from 'conventional:3'"),
        ("suppressed:5", [("A", 4), ("B", None)], "cannot come from 'suppressed:5'"),
    ],
)
def test_what_no_scheme_publishes_is_refused(scheme, rows, said):
    with pytest.raises(InputError) as caught:
        TableSet.of([chapters(rows, scheme)], disjoint=["code"])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"insiders": True}, "that is not examined"),
        ({"tolerance": Fraction(1)}, "Give one of them"),
    ],
)
def test_what_perturbed_figures_do_not_go_with_is_refused(options, said):
    tables = TableSet.of([chapters([("A", 6), ("B", 3)], "random:3")], disjoint=["code"])
    with pytest.raises(InputError, match=said):
        audit_tables(tables, **options)


def test_rules_on_contributions_are_not_proven_of_perturbed_figures():
    rows = CellRows.typed(["code"], [["A", 6], ["B", 3]], scheme="random:3")
    counted = replace(rows, counts=[Fraction(6), Fraction(3)])
    tables = TableSet.of([counted], disjoint=["code"])
    (one,) = audit_tables(tables, rules=["p:10"]).standings
    assert str(one.standing) == "not proven"
    assert "published ones are perturbed" in one.sentence()


def test_percentages_beside_perturbed_figures_leave_nothing_open():
    rows = CellRows.typed(["code"], [["Total", 9], ["A", 6], ["B", 3]], scheme="random:3")
    share = Share("pct", [Fraction(100), Fraction(67), Fraction(33)], [0, 0, 0], ("code",))
    tables = TableSet.of([replace(rows, shares=(share,))], disjoint=["code"])
    found = audit_tables(tables, rules=["exact"])
    assert not found.is_met
    assert {one.verdict for one in found.cells} == {"not settled"}


def test_figures_of_hidden_cells_under_a_scheme_are_held_against_nothing():
    rows = [["Total", 15], ["A", 9, "unsafe"], ["B", 6, "unsafe"]]
    made = CellRows.typed(["code"], rows, scheme="conventional:3")
    levels = [None, Fraction(1), Fraction(1)]
    tables = TableSet.of([replace(made, lower_levels=levels, upper_levels=levels)], whole=True)
    found = audit_tables(tables, rules=["levels"])
    assert not any(tables.truths)
    assert not found.n_odd
    assert str(found.standings[0].standing) == "not proven"


def random_margins(seed):
    random, rng = np.random.default_rng(seed), np.random.default_rng(seed)
    sizes = random.integers(2, 4, int(random.integers(1, 4))).tolist()
    names = ["p", "q", "r"][: len(sizes)]
    axes = {
        name: [f"{name}{at}" for at in range(size)] for name, size in zip(names, sizes, strict=True)
    }
    truth = CountTable.typed(axes, random.integers(0, int(random.integers(2, 12)), sizes))
    margins = dict.fromkeys(
        tuple(name for name in names if random.random() < 0.7)
        for _ in range(int(random.integers(1, 4)))
    )
    schemes = [SCHEMES[int(random.integers(len(SCHEMES)))] for _ in margins]
    return make_release(truth, margins, schemes, seed=int(rng.integers(99)))


def test_the_tables_of_a_release_put_together_have_its_bounds():
    n_cells = 0
    for seed in range(80):
        release = random_margins(seed)
        found = ends_of(TableSet.of(*cells_of_release(release), disjoint=()))
        names = dict.fromkeys(name for table in release.published for name in table.axes)
        for table in release.published:
            wanted = bound_recoded(release, {}, keep=list(table.axes))
            for row in wanted.to_arrow().to_pylist():
                cell = ", ".join(row.get(name, "Total") for name in names)
                assert found[cell] == (row["lower"], row["upper"]), (seed, cell)
                n_cells += 1
    assert n_cells > 400


def test_a_release_of_a_total_alone_has_one_cell():
    release = Release.typed({"p": ["a", "b"]}, [{"margin": [], "counts": None}])
    found = audit_tables(TableSet.of(*cells_of_release(release)))
    assert (found.n_hidden, found.n_recomputed) == (1, 0)
