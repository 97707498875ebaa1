from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.tables.cell_facts import cell_facts
from gamekeeper.data.tables.cell_file import CellRows, Share
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.table_set import TableSet, cells_of_release
from gamekeeper.errors import InputError, LimitError, Reason

CODES = CellRows.typed(["Code"], [["Total", 12], ["A", 5], ["A01", 3], ["A02", None], ["B", 7]])


def refused(*args, **options):
    with pytest.raises(InputError) as error:
        cell_facts(TableSet.of(*args, **options))
    return error.value


def test_a_subtotal_is_never_taken_for_a_category_of_its_own():
    assert refused([CODES]).reason is Reason.POSSIBLE_SUBTOTALS
    # 'A' is the sum of its codes, or they exclude each other: somebody must say so.
    by_codes = cell_facts(TableSet.of([CODES], {"Code": "codes"}))
    assert len(by_codes.wanted) == 1


def test_sums_that_are_found_are_taken_when_they_are_confirmed():
    rows = [["Total", 41, 57], ["x", 30, 41], ["y", 11, 16], ["p", 12, 20], ["q", 18, 21]]
    lines = [
        [line, label, row[at]]
        for row in rows
        for label in [row[0]]
        for at, line in ((1, "m"), (2, "f"))
    ]
    table = CellRows.typed(["Sex", "Code"], [[a, b, c] for a, b, c in lines])
    assert refused([table]).reason is Reason.POSSIBLE_SUBTOTALS
    made = TableSet.of([table], {"Code": "detected"})
    assert made.notices == ("On axis 'Code', 1 label is taken as a sum: 'x' of 'p', 'q'.",)
    assert made.system.n_equations == 4
    assert not len(cell_facts(made).wanted)


def test_sums_that_do_not_add_up_are_named_with_the_tolerance_that_they_need():
    table = CellRows.typed(["Area"], [["Total", 10], ["a", 5], ["b", 4]])
    error = refused([table])
    assert error.reason is Reason.CONFLICTING_COUNTS
    assert "--tolerance 0.34" in error.do
    cell_facts(TableSet.of([table]), tolerance=Fraction("0.34"))


def test_two_totals_are_one_cell_and_must_agree():
    table = CellRows.typed(["Area"], [["Total", 9], ["All", 9], ["a", 5], ["b", 4]])
    made = TableSet.of([table], totals=["Total", "All"])
    assert made.system.n_cells == 3
    other = CellRows.typed(["Area"], [["Total", 9], ["All", 8], ["a", 5], ["b", 4]])
    assert refused([other], totals=["Total", "All"]).reason is Reason.CONFLICTING_COUNTS


def test_missing_rows_are_told_and_read_as_said():
    rows = [["Total", "Total", 9], ["a", "Total", 5], ["b", "Total", 4], ["a", "m", 2],
            ["Total", "m", 6], ["Total", "f", 3], ["a", "f", 3]]  # fmt: skip
    table = CellRows.typed(["Area", "Sex"], rows)
    error = refused([table])
    assert error.reason is Reason.NOTHING_GIVEN
    assert "--absent" in error.problems[0].do
    # As 0, the sum of the women and men of b would not be what is published.
    assert refused([table], absent="zero").reason is Reason.CONFLICTING_COUNTS
    hidden = cell_facts(TableSet.of([table], absent="hidden"))
    assert len(hidden.cells) == 2
    assert not len(hidden.wanted)


def test_a_row_that_is_there_twice_is_refused():
    table = CellRows.typed(["Area"], [["Total", 9], ["a", 5], ["a", 4]])
    assert refused([table]).reason is Reason.DUPLICATE


def test_labels_outside_the_hierarchy_and_unknown_axes_are_refused():
    tree = Hierarchy.of_tree({"A": ["A01", "A02"]}, "a tree")
    error = refused([CODES], {"Code": tree})
    assert error.reason is Reason.UNKNOWN_NAME
    assert "'B'" in str(error)
    assert refused([CODES], {"Kode": tree}).reason is Reason.UNKNOWN_NAME
    assert refused([CODES], {"Code": "nonsense"}).reason is Reason.BAD_OPTION


def test_tables_with_other_labels_on_an_axis_are_questioned():
    coarse = CellRows.typed(["Area"], [["Total", 9], ["North", 5], ["South", 4]])
    fine = CellRows.typed(["Area"], [["Total", 9], ["Hill", 2], ["Dale", 3], ["South", 4]])
    assert refused([coarse, fine]).reason is Reason.POSSIBLE_SUBTOTALS
    tree = Hierarchy.of_tree({"North": ["Hill", "Dale"], "South": []}, "a tree")
    made = TableSet.of([coarse, fine], {"Area": tree})
    assert made.system.n_cells == 5


def test_what_one_table_hides_and_another_shows_is_told():
    hidden = CellRows.typed(["Area"], [["Total", 9], ["a", None], ["b", None]])
    shown = CellRows.typed(["Area"], [["Total", 9], ["a", 5], ["b", None]])
    made = TableSet.of([hidden, shown])
    assert [made.words(cell) for cell in made.published_elsewhere] == ["Area=a"]


def test_a_huge_product_of_axes_is_refused_before_any_work():
    labels = [[f"{axis}{number}" for axis in range(9)] for number in range(200)]
    table = CellRows.typed([f"v{axis}" for axis in range(9)], [[*own, 1] for own in labels])
    with pytest.raises(LimitError) as error:
        TableSet.of([table], disjoint=[f"v{axis}" for axis in range(9)])
    assert error.value.reason is Reason.TOO_LARGE


def test_negative_values_leave_hidden_ones_without_a_least():
    table = CellRows.typed(["Area"], [["Total", 3], ["a", -5], ["b", None], ["c", None]])
    made = cell_facts(TableSet.of([table], whole=False))
    assert made.facts.lower.max() < 0
    assert "below 0" in made.notices[0]


def test_a_mean_and_a_count_limit_a_sum():
    table = CellRows.typed(["Area"], [["Total", 40], ["a", None], ["b", None]])
    share = Share("mean", [None, Fraction("4.2"), None], [1, 1, 1], (), 1)
    told = replace(table, counts=[None, Fraction(5), None], means=(share,))
    made = cell_facts(TableSet.of([told], whole=False))
    at = int(made.number[made.cells[0]])
    row = made.facts.n_rows - 1
    # 4.15 and 4.25 times 5, four times as large.
    assert made.facts.row(row) == {at: 4}
    assert (made.facts.low[row], made.facts.high[row]) == (83, 85)
    assert made.share(row).name == "mean"


def test_codes_may_hold_more_than_the_parts_that_are_published():
    rows = [["Total", 20], ["A", 9], ["A1", 3], ["B", 11], ["B1", None], ["B2", 4]]
    made = TableSet.of([CellRows.typed(["Code"], rows)], {"Code": "codes"})
    assert "may hold more than that: 'A'" in made.notices[1]
    # 'A' has one part; that is not taken for the whole of it.
    facts = cell_facts(made)
    assert len(facts.wanted) == 1
    more = [["Total", 20], ["A", 9], ["A1", 3], ["A2", 2], ["A3", None], ["B", 11]]
    lines = [["x", *row] for row in more] + [
        ["y", "A", 9],
        ["y", "A1", 3],
        ["y", "A2", 2],
        ["y", "A3", 1],
    ]
    table = CellRows.typed(["Line", "Code"], lines)
    told = TableSet.of([table], {"Code": "codes"}, absent="hidden")
    assert "may hold more than that: 'A'" in told.notices[1]
    cell_facts(told)


@pytest.mark.parametrize("lead", [".", "@", "- ", "  "])
def test_codes_after_dots_and_dashes_are_questioned_as_others_are(lead):
    rows = [[f"{lead}A", 5], [f"{lead * 2}A01", 3], [f"{lead * 2}A02", None], [f"{lead}B", 7]]
    error = refused([CellRows.typed(["Code"], rows)])
    assert error.reason is Reason.POSSIBLE_SUBTOTALS


def test_a_level_that_was_left_out_is_not_taken_for_empty():
    # 'A' and 'A1' have no row in the line of men, and 'A11' has one.
    tree = Hierarchy.of_tree({"A": ["A1"], "A1": ["A11", "A12"], "B": []}, "a tree")
    rows = [["Total", "Total", 9], ["A", "Total", 5], ["B", "Total", 4], ["A1", "Total", 5],
            ["A11", "Total", 3], ["A12", "Total", 2], ["Total", "m", None], ["B", "m", 1],
            ["A11", "m", None], ["A12", "m", 2], ["Total", "f", None], ["B", "f", 3]]  # fmt: skip
    made = cell_facts(
        TableSet.of([CellRows.typed(["Code", "Sex"], rows)], {"Code": tree}, absent="zero")
    )
    hidden = [made.cells[number] for number in made.wanted.tolist()]
    assert len(hidden) == 3


def test_percentages_are_read_from_a_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Area,n,pct\nTotal,37,100\na,*,8\nb,*,41\nc,*,5\nd,*,46\n")
    from gamekeeper.data.tables.cell_file import Columns, read_cells

    table = read_cells(path, Columns(percents=[("pct", ("Area",))]))
    made = cell_facts(TableSet.of([table]))
    assert (made.equations < 0).sum() == 8


def test_parts_that_stand_between_tables_are_not_missing_from_any():
    ways = {"0-24": [["0-17", "18-24"]], "18-64": [["18-24", "25-64"]]}
    ages = Hierarchy.of_ways(ways, "two ways")
    one = CellRows.typed(["Age"], [["0-24", 30], ["25-64", None]], "one")
    two = CellRows.typed(["Age"], [["0-17", 20], ["18-64", 85]], "two")
    # Nobody published 18-24, which both are sums over: 85 less 30 less 20.
    for absent in ("error", "zero", "hidden"):
        made = cell_facts(TableSet.of([one, two], {"Age": ages}, absent=absent))
        assert len(made.wanted) == 1
        assert made.facts.n_rows == 2
    # In one table with its whole and a sibling, it is missing, and that is asked about.
    both = CellRows.typed(["Age"], [["0-24", 30], ["0-17", 20], ["25-64", None]], "both")
    with pytest.raises(InputError):
        TableSet.of([both], {"Age": ages})


@pytest.mark.parametrize(
    ("total", "labels", "said"),
    [
        ("NT", ["NT", "NU", "North", "South", "Total"], "as a part of 'Total', 'North'"),
        ("NT", ["NT", "NU"], "as a part of 'Total', 'North'"),
        ("North", ["NT", "North", "Total"], "as a part of 'Total'"),
        ("North", ["NT", "NU", "North", "South"], "'South' beside it"),
        ("Total", ["NT", "NU", "North", "South", "Total"], ""),
        # A table of a part of what the classification is of.
        ("North", ["NT", "NU", "North"], ""),
    ],
)
def test_the_whole_axis_does_not_lie_within_its_hierarchy(total, labels, said):
    tree = Hierarchy.of_tree({"Total": ["North", "South"], "North": ["NT", "NU"]}, "a tree")
    rows = [[label, {"Total": 20, "North": 12, "South": 8}.get(label, 6)] for label in labels]
    table = CellRows.typed(["area"], rows)
    if not said:
        assert TableSet.of([table], {"area": tree}, totals=[total]).system.n_cells == len(labels)
        return
    with pytest.raises(InputError) as caught:
        TableSet.of([table], {"area": tree}, totals=[total])
    assert said in str(caught.value)
    assert caught.value.reason is Reason.BAD_OPTION


def test_a_total_that_is_a_category_beside_trees_that_cross_is_no_part_of_itself():
    crossing = {"A": [["a", "b"]], "S": [["b", "c"]]}
    tree = Hierarchy.of_ways(crossing, "two trees", ["All"])
    assert tree.with_total("All").parts["All"] == (("a", "b", "c"),)


AXES = {"age": ["0-14", "15-64", "65+"], "work": ["yes", "no"]}


@pytest.mark.parametrize("hidden", [None, (1, 4)])
def test_an_audit_and_bounds_of_a_release_are_the_same(hidden):
    inner = {"margin": ["age", "work"], "counts": [[0, 9], [None, None], [None, None]]}
    groups = {"age": {"adult": ["15-64", "65+"], "child": ["0-14"]}}
    release = Release.typed(
        AXES,
        [
            inner | ({} if hidden is None else {"hidden": list(hidden)}),
            {"margin": ["age"], "counts": [9, 7, 5]},
            {"margin": ["age", "work"], "groups": groups, "counts": [[5, 7], [0, 9]]},
        ],
    )
    tables, hierarchies = cells_of_release(release)
    found = audit_tables(TableSet.of(tables, hierarchies))
    bounds = bound_cells(release)
    assert len(found.cells) == 4
    for one in found.cells:
        age, work = found.tables.labels_of(one.cell)
        place = AXES["age"].index(age), AXES["work"].index(work)
        assert (one.interval.low, one.interval.high) == (bounds.lower[place], bounds.upper[place])
        assert one.is_tight


def test_perturbed_tables_of_a_release_are_audited_with_what_they_stand_for():
    release = Release.typed(
        AXES, [{"margin": ["age"], "scheme": "conventional:3", "counts": [9, 6, 3]}]
    )
    made = TableSet.of(*cells_of_release(release))
    ends = [(int(one.low), int(one.high)) for _, one in sorted(made.perturbed.items())]
    assert ends == [(8, 10), (5, 7), (2, 4)]
    assert {str(made.statuses[cell]) for cell in made.perturbed} == {"perturbed"}
    assert not any(one is not None for one in made.figures)


def test_groups_of_one_name_and_different_categories_are_different_labels():
    axes = {"age": ["16-17", "18-24", "25-64", "65+"]}
    tables = [
        {
            "margin": ["age"],
            "groups": {"age": {"young": ["16-17"], "old": ["18-24", "25-64", "65+"]}},
            "counts": [3, None],
        },
        {
            "margin": ["age"],
            "groups": {"age": {"young": ["16-17", "18-24"], "old": ["25-64", "65+"]}},
            "counts": [7, 9],
        },
    ]
    found = audit_tables(TableSet.of(*cells_of_release(Release.typed(axes, tables))))
    assert [one.interval.low for one in found.cells] == [13]
    assert found.n_recomputed == 1


def test_intervals_of_a_release_are_limits_and_hidden_ones_have_their_own():
    table = {
        "margin": ["age"],
        "scheme": "interval:0,1,5,20",
        "counts": [[1, 4], [5, 19], None],
        "hidden": [0, 2],
    }
    release = Release.typed(AXES, [table, {"margin": [], "counts": 9}])
    found = audit_tables(TableSet.of(*cells_of_release(release)))
    bounds = bound_cells(release)
    at = [found.tables.system.axes[0].labels.index(age) for age in AXES["age"]]
    assert len(at) == 3
    for one in found.cells:
        place = AXES["age"].index(found.tables.labels_of(one.cell)[0])
        own = bounds.lower.sum(axis=1), bounds.upper.sum(axis=1)
        assert one.interval.low >= 0
        assert own[0][place] <= one.interval.low
        assert one.interval.high <= own[1][place]
    known = {found.tables.labels_of(one.cell)[0]: one.interval for one in found.cells}
    ends = [(int(known[age].low), int(known[age].high)) for age in AXES["age"]]
    assert ends == [(1, 4), (5, 8), (0, 2)]
