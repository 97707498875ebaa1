from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gamekeeper as gk
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import (
    HIDDEN,
    Conventional,
    Exact,
    Scheme,
    register_scheme,
)
from gamekeeper.data.tables.axes import Axis, cell_words
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import (
    PublishedTable,
    Release,
    check_truth,
    make_release,
    unit_records,
)
from gamekeeper.errors import InputError, Reason
from tests.given.count_tables import random_release, truths

AXES = {"age": ["16-17", "18-24", "25+"], "work": ["yes", "no"]}


class AddOne(Scheme):
    name = "add-one"

    @property
    def text(self):
        return self.name

    def mass(self, true):
        return {true + 1: Fraction(1)}

    def reach(self, published):
        return (published - 1, published - 1) if published > 0 else None


register_scheme("add-one", AddOne)


@pytest.mark.slow
@settings(deadline=None, max_examples=120)
@given(truths(), st.randoms(use_true_random=False))
def test_rows_are_the_published_cells_by_their_labels(truth, random):
    release = random_release(truth, random)
    constraints = release.constraints
    rows = constraints.rows
    assert constraints.admits(truth.dense())
    row = 0
    for number, table in enumerate(release.published):
        assert constraints.margins[number].lower.size == table.counts.size
        seen = set()
        for _ in range(table.counts.size):
            at, cell = release.row_of(row)
            assert at == number == rows.margin[row]
            seen.add(cell)
            # The base cells of the row are those whose labels are the labels of the cell.
            place = np.unravel_index(cell, table.counts.shape) if table.axes else ()
            wanted = []
            for axis in release.axes:
                if axis.name not in table.axes:
                    wanted.append(range(len(axis)))
                    continue
                label = place[table.axes.index(axis.name)]
                own = table.groups.get(axis.name)
                members = list(own.values())[label] if own else [axis.categories[label]]
                wanted.append([k for k, c in enumerate(axis.categories) if c in members])
                name = list(own)[label] if own else axis.categories[label]
                assert f"{axis.name}={name}" in release.row_words(row)
            cells = {
                int(np.ravel_multi_index(where, release.shape))
                for where in itertools.product(*wanted)
            }
            assert set(rows.cells[rows.starts[row] : rows.starts[row + 1]].tolist()) == cells
            lower, upper = (limits.reshape(-1)[cell] for limits in table.limits)
            assert (rows.lower[row], rows.upper[row]) == (lower, upper)
            low, weights = release.row_likelihood(row)
            assert low == lower
            if weights is None:
                assert upper == UNBOUNDED
            else:
                assert low + len(weights) - 1 == upper
                true = int(truth.dense().reshape(-1)[sorted(cells)].sum())
                assert weights[true - low] > 0
            row += 1
        assert seen == set(range(table.counts.size))
    assert row == len(rows)
    check_truth(release, truth)


@settings(deadline=None, max_examples=30)
@given(truths(), st.randoms(use_true_random=False))
def test_a_renamed_or_reordered_axis_is_still_plain(truth, random):
    names = list(truth.names)
    groups = {
        name: {f"new {c}": [c] for c in random.sample(truth.axis(name).categories, len(truth.axis(name)))}
        for name in names
    }  # fmt: skip
    random.shuffle(names)
    release = make_release(truth, [names], groups=groups)
    assert release.constraints.margins[0].plain
    assert np.array_equal(release.constraints.margins[0].lower, truth.dense())


def test_a_release_from_plain_values():
    release = Release.typed(
        AXES,
        [
            {"margin": ["age", "work"], "scheme": {"type": "conventional", "base": 3},
             "counts": [[0, 3], [None, 6], [3, 0]], "hidden": [1, 4]},
            {"margin": ["work"], "scheme": "interval", "counts": [[2, 5], [7, None]]},
            {"margin": ["age"], "counts": [3, 9], "name": "old and young",
             "groups": {"age": {"young": ["16-17", "18-24"], "old": ["25+"]}}},
            {"margin": ["age"], "counts": [4, 8], "name": "other ages",
             "groups": {"age": {"middle": ["18-24"], "others": ["25+", "16-17"]}}},
            {"margin": [], "counts": None},
            {"margin": [], "counts": 12, "scheme": "exact"},
        ],
        "A town",
    )  # fmt: skip
    assert [table.name for table in release.published] == [
        "age by work", "work", "old and young", "other ages", "total", "total (2)",
    ]  # fmt: skip
    lower, upper = release.published[0].limits
    assert lower.tolist() == [[0, 2], [1, 5], [2, 0]]
    assert upper.tolist() == [[1, 4], [4, 7], [4, 1]]
    assert release.published[1].limits[1].tolist() == [5, UNBOUNDED]
    assert release.published[4].limits[1].tolist() == UNBOUNDED
    words = [release.row_words(row) for row in range(len(release.constraints.rows))]
    assert words[2] == "table 'age by work', age=18-24, work=yes: hidden"
    assert words[6:8] == [
        "table 'work', work=yes: published 2 to 5",
        "table 'work', work=no: published 7 or more",
    ]
    assert words[10:12] == [
        # The first category of the group of others comes first in the base table.
        "table 'other ages', age=others: published 8",
        "table 'other ages', age=middle: published 4",
    ]
    assert words[-2:] == ["table 'total', total: hidden", "table 'total (2)', total: published 12"]
    assert cell_words(release.axes, 3) == "age=18-24, work=no"
    assert release.constraints.margins[2].groups[0].tolist() == [0, 0, 1]
    assert release.constraints.margins[3].groups[0].tolist() == [0, 1, 0]
    assert repr(release) == "Release(3 x 2 cells, 6 published tables)"
    with pytest.raises(IndexError):
        release.row_words(len(words))


def test_hidden_cells_are_unlimited_unless_the_scheme_or_the_release_says_more():
    def limits(**fields):
        table = {"margin": ["work"], "counts": [None, 6], **fields}
        found = Release.typed(AXES, [table]).published[0]
        return [int(limits[0]) for limits in found.limits]

    assert limits() == [0, UNBOUNDED]
    assert limits(scheme="random:3") == [0, UNBOUNDED]
    assert limits(scheme="suppressed:5") == [1, 4]
    assert limits(scheme="suppressed:5", hidden=[0, 9]) == [0, 9]
    assert limits(hidden=[2, None]) == [2, UNBOUNDED]


def test_a_published_count_that_no_count_leads_to_is_named():
    with pytest.raises(InputError) as refused:
        Release.typed(
            AXES,
            [
                {"margin": ["age", "work"], "scheme": "conventional:3",
                 "counts": [[0, 4], [3, 3], [1, 0]]},
                {"margin": ["work"], "scheme": "interval:0,5", "counts": [[0, 4], [3, 4]]},
                {"margin": ["work"], "scheme": "add-one", "counts": [0, 3], "name": "mine"},
            ],
        )  # fmt: skip
    text = str(refused.value)
    assert refused.value.reason is Reason.IMPOSSIBLE_COUNT
    assert "table 'age by work', age=16-17, work=no: the published count 4 cannot" in text
    assert "table 'age by work', age=25+, work=yes: the published count 1 cannot" in text
    assert "table 'work', work=no: the published interval cannot come from 'interval:0,5'" in text
    assert "table 'mine', work=yes: the published count 0 cannot come from 'add-one'" in text
    assert len(refused.value.problems) == 4


def test_all_problems_of_all_tables_are_told_at_once():
    with pytest.raises(InputError) as refused:
        Release.typed(
            AXES,
            [
                {"margin": ["ag", "work"], "counts": [[1]]},
                {"margin": ["age", "age"], "counts": [[1]]},
                {"margin": ["age"], "counts": [1, 2, 3],
                 "groups": {"age": {"young": ["16-17", "18-25"], "old": ["25+", "16-17"]},
                            "work": {"any": ["yes", "no"]}}},
                {"margin": ["age"], "counts": [1, 2], "groups": {"age": {"young": ["16-17"]}}},
                {"margin": ["work"], "scheme": "conventional:4", "counts": [1, -2]},
                {"margin": ["work"], "scheme": "rounded:4", "counts": [1, 2]},
                {"margin": ["work"], "counts": [1, -2, 3]},
                {"margin": ["work"], "counts": [1, -2]},
                {"margin": ["work"], "counts": [[1, 2], [3, 4]]},
                {"margin": ["work"], "scheme": "interval", "counts": [[5, 2], [1, 2, 3]]},
                {"margin": ["work"], "counts": [1, 2], "hidden": [4, 1]},
                {"margin": ["work"], "counts": [1, 2], "hidden": 4},
                {"margin": "work", "counts": [1, 2]},
                {"margin": ["work"], "counts": [1, 2], "groups": {"work": ["yes"]}},
                {"margin": ["work"], "counts": [1, 2], "hiden": [1, 2]},
                {"margin": ["work"]},
                {"margin": ["work"], "counts": [1, 2], "scheme": 3},
            ],
        )  # fmt: skip
    text = str(refused.value)
    for words in (
        "has the axis 'ag', which is not in the base table. Near to it: 'age'",
        "has an axis twice",
        "group 'young': names '18-25', which is not in the base table",
        "in more than one place: '16-17'",
        "in no group: '18-24'",
        "groups the axis 'work', which it does not have",
        "in no group: '18-24', '25+'",
        "is even",
        "There is no scheme of this name",
        "3 items at depth 1, where 2 belong",
        "1 count is below 0 (work=no)",
        "no number",
        "an upper limit below the lower one (work=yes)",
        "no interval",
        "limits of its hidden cells are no interval",
        "limits of its hidden cells are no pair",
        "margin is no list",
        "groups are no lists",
        "the field 'hiden', which is not known. Near to it: 'hidden'",
        "has no field 'counts'",
        "scheme is neither",
    ):
        assert words in text, words


@pytest.mark.parametrize(
    ("axes", "tables", "reason"),
    [
        (AXES, [], Reason.NOTHING_GIVEN),
        ({"a": ["x", "x"]}, [{"margin": ["a"], "counts": [1, 2]}], Reason.DUPLICATE),
        (
            {"a": ["x"]},
            [{"margin": [], "counts": 1, "name": "n"}, {"margin": [], "counts": 1, "name": "n"}],
            Reason.DUPLICATE,
        ),
        ({"a": ["x"]}, [{"margin": [], "counts": 1, "name": "n\a"}], Reason.BAD_NAME),
        ({"a": ["x"]}, [{"margin": [], "counts": 1, "name": 3}], Reason.BAD_NAME),
    ],
)
def test_releases_that_cannot_be_are_refused(axes, tables, reason):
    with pytest.raises(InputError) as refused:
        Release.typed(axes, tables)
    assert refused.value.reason is reason


def test_arrays_given_as_they_are_get_the_same_look():
    axis = Axis("a", ("x", "y"))
    for table in (
        PublishedTable("t", ("a",), Conventional(3), np.array([0, 4])),
        PublishedTable("t", ("a",), Exact(), np.array([0, 4, 5])),
        PublishedTable("t", ("a",), Exact(), np.array([0, -4])),
        PublishedTable("t", ("b",), Exact(), np.array([0, 4])),
        PublishedTable("t", ("a",), Exact(), np.array([0, 4]), np.array([3, 3])),
        PublishedTable("t", ("a",), Exact(), np.array([0, 4]), hidden=(-1, None)),
    ):
        with pytest.raises(InputError):
            Release((axis,), (table,))
    with pytest.raises(InputError, match="title"):
        Release((axis,), (PublishedTable("t", (), Exact(), np.array(1)),), "a\ab")


def test_many_impossible_counts_are_summed_up():
    axis = Axis("a", tuple(map(str, range(1000))))
    with pytest.raises(InputError) as refused:
        Release((axis,), (PublishedTable("t", ("a",), Conventional(3), np.ones(1000, int)),))
    assert len(refused.value.problems) == 21
    assert "980 more counts" in refused.value.problems[-1].found


def test_schemes_of_margins():
    truth = CountTable.typed(AXES, [[3, 0], [1, 2], [0, 7]])
    release = make_release(
        truth, [("age", "work"), ("work",), ()], ["add-one", "exact", "random:5"]
    )
    assert release.published[0].counts.tolist() == [[4, 1], [2, 3], [1, 8]]
    assert release.published[0].limits[0].tolist() == truth.dense().tolist()
    hidden = make_release(truth, [("work",)], "suppressed")
    assert hidden.published[0].counts.tolist() == [HIDDEN, HIDDEN]
    assert hidden.published[0].n_hidden == 2
    with pytest.raises(InputError, match="2 are given for 1 margins"):
        make_release(truth, [("age",)], ["exact", "exact"])
    with pytest.raises(InputError):
        make_release(truth, [("income",)])


def test_the_seed_decides_and_the_fingerprint_tells():
    truth = CountTable.typed(AXES, [[3, 1], [1, 2], [1, 7]])
    first, again, other = (
        make_release(truth, [("age", "work")], "random:5", seed=seed) for seed in (1, 1, 3)
    )
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint != other.fingerprint
    exact = make_release(truth, [("age", "work")])
    assert (
        exact.fingerprint != make_release(truth, [("age", "work")], "barnardization:1").fingerprint
    )


def test_a_truth_that_cannot_be_is_refused_without_its_counts():
    truth = CountTable.typed(AXES, [[3, 0], [1, 2], [0, 7]])
    other = CountTable.typed(AXES, [[918273, 0], [1, 2], [0, 7]])
    release = make_release(truth, [("age",), ("work",)], "conventional:3")
    with pytest.raises(InputError) as refused:
        check_truth(release, other)
    assert refused.value.reason is Reason.CONFLICTING_COUNTS
    assert len(refused.value.problems) == 2
    assert "918" not in str(refused.value)
    with pytest.raises(InputError, match="axes"):
        check_truth(release, truth.margin(["work", "age"]))


def test_a_release_of_a_table_too_large_to_hold():
    axes = [Axis(f"v{k}", tuple(map(str, range(50)))) for k in range(6)]
    truth = CountTable.of_cells(axes, [0, 50**6 - 1], [4, 2])
    release = make_release(truth, [("v0", "v1"), ("v5", "v2")])
    assert release.constraints.size == 50**6
    assert release.row_words(50 * 50 - 1) == "table 'v0 by v1', v0=49, v1=49: published 2"
    assert cell_words(release.axes, 1) == "v0=0, v1=0, v2=0, v3=0, v4=0, v5=1"


def test_a_base_table_has_axes():
    with pytest.raises(InputError) as caught:
        Release.typed({}, [{"margin": [], "counts": 5}])
    assert caught.value.reason is Reason.NOTHING_GIVEN


@pytest.mark.parametrize("seed", range(5))
def test_records_are_counted_back_to_the_table(seed):
    rng = np.random.default_rng(seed)
    axes = {"a": ["a1", "a2"], "b": ["b1", "b2", "b3"]}
    # Every category has somebody, so that none is lost.
    table = CountTable.typed(axes, (rng.integers(0, 6, (2, 3)) + np.eye(2, 3, dtype=int)).tolist())
    records = unit_records(table)
    assert records.num_rows == table.total
    names = list(axes)
    again = gk.tabulate(gk.code_source(gk.open_source(records), names), names)
    for a in axes["a"]:
        for b in axes["b"]:
            expected = table.dense()[axes["a"].index(a), axes["b"].index(b)]
            found = [list(axis.categories) for axis in again.axes]
            place = (found[0].index(a), found[1].index(b)) if b in found[1] else None
            assert (again.dense()[place] if place else 0) == expected
