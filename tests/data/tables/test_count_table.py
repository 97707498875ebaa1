from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import tabulate
from gamekeeper.errors import InputError, LimitError, Reason

AXES = {"age": ["16-17", "18-24", "25+"], "work": ["yes", "no"]}
SECRET = 918273


@st.composite
def tables(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=0, max_size=4))
    axes = [Axis(f"v{k}", tuple(f"c{j}" for j in range(n))) for k, n in enumerate(shape)]
    size = int(np.prod(shape, dtype=int))
    counts = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return CountTable(tuple(axes), np.array(counts, np.int64).reshape(shape))


def sums_by_hand(table, names, groups):
    """Sums over the labels of every cell, in a dictionary."""
    sums = {}
    dense = table.dense()
    for place in itertools.product(*(range(n) for n in table.shape)):
        label = []
        for name in names:
            at = table.names.index(name)
            category = table.axes[at].categories[place[at]]
            own = groups.get(name)
            label.append(
                next(new for new, old in own.items() if category in old) if own else category
            )
        sums[tuple(label)] = sums.get(tuple(label), 0) + int(dense[place])
    return sums


def as_labels(table):
    dense = table.dense()
    return {
        tuple(a.categories[k] for a, k in zip(table.axes, place, strict=True)): int(dense[place])
        for place in itertools.product(*(range(n) for n in table.shape))
    }


@settings(deadline=None, max_examples=80)
@given(tables(), st.randoms(use_true_random=False))
def test_margins_are_sums_by_labels_dense_and_sparse(table, random):
    names = random.sample(table.names, random.randint(0, len(table.names)))
    groups = {}
    for name in names:
        if random.random() < 0.5:
            own = {}
            for category in table.axis(name).categories:
                own.setdefault(f"g{random.randint(0, 2)}", []).append(category)
            groups[name] = own
    cells, counts = table.nonzero
    sparse = CountTable(table.axes, counts, cells)
    assert sparse.is_sparse
    expected = sums_by_hand(table, names, groups)
    for own in (table, sparse):
        margin = own.margin(names, groups)
        assert margin.names == tuple(names)
        assert as_labels(margin) == expected
        assert margin.total == table.total
        assert np.array_equal(own.dense(), table.dense())
        assert own.fingerprint == table.fingerprint


def test_a_total_is_a_table_without_axes():
    table = CountTable.typed(AXES, [[3, 0], [1, 2], [0, 0]])
    total = table.margin([])
    assert total.shape == ()
    assert total.size == 1
    assert total.dense().tolist() == 6
    assert table.axis("work").categories == ("yes", "no")


@pytest.mark.parametrize(
    ("counts", "reason", "words"),
    [
        ([[1, -SECRET], [1, 2], [0, 0]], Reason.BAD_COUNT, "below 0 (age=16-17, work=no)"),
        ([[1, SECRET + 0.5], [1, 2], [0, 0]], Reason.BAD_COUNT, "whole number (age=16-17, work=no)"),
        ([[1, float("nan")], [1, 2], [0, 0]], Reason.BAD_COUNT, "no whole number"),
        ([[1, float("inf")], [1, 2], [0, 0]], Reason.BAD_COUNT, "no whole number"),
        ([[1, str(SECRET)], [1, 2], [0, 0]], Reason.BAD_COUNT, "a text"),
        ([[1, None], [1, 2], [0, 0]], Reason.BAD_COUNT, "missing"),
        ([[1, True], [1, 2], [0, 0]], Reason.BAD_COUNT, "no number"),
        ([[1, [SECRET]], [1, 2], [0, 0]], Reason.BAD_COUNT, "no number"),
        ([[1, 2**53], [1, 2], [0, 0]], Reason.BAD_COUNT, "from 0 to 9,007,199,254,740,991"),
        ([[1, 2**52], [1, 2**52], [0, 0]], Reason.BAD_COUNT, "add up"),
        ([[SECRET, 2], [1, 2]], Reason.MALFORMED, "2 items at depth 1, where 3 belong"),
        ([[SECRET, 2], [1], [0, 0]], Reason.MALFORMED, "1 item at depth 2, where 2 belong"),
        ([SECRET, 1, 2], Reason.MALFORMED, "nested 1 deep"),
        (np.zeros((2, 3), int), Reason.MALFORMED, "shape (2, 3)"),
        (np.array([[0.5, 1], [-1, 1], [np.nan, 1]]), Reason.BAD_COUNT, "age=18-24, work=yes"),
    ],
)  # fmt: skip
def test_bad_counts_are_named_by_cell_and_never_shown(counts, reason, words):
    with pytest.raises(InputError) as refused:
        CountTable.typed(AXES, counts)
    assert refused.value.reason is reason
    assert words in str(refused.value)
    assert str(SECRET) not in str(refused.value)


def test_every_kind_of_fault_is_listed_once_with_its_cells():
    with pytest.raises(InputError) as refused:
        CountTable.typed(AXES, [[-1, "x"], [0.5, -2], [None, 3]])
    assert len(refused.value.problems) == 4
    assert "2 counts are below 0 (age=16-17, work=yes; age=18-24, work=no)" in str(refused.value)


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ({"age": ["a", "b", "a"], "work": ["yes", "no"]}, Reason.DUPLICATE),
        ({"age": [], "work": ["yes"]}, Reason.NOTHING_GIVEN),
        ({"": ["a"]}, Reason.BAD_NAME),
        ({"age": ["a\nb"]}, Reason.BAD_NAME),
        ([Axis("a", ("x",)), Axis("a", ("y",))], Reason.DUPLICATE),
    ],
)
def test_bad_axes_are_refused(axes, reason):
    with pytest.raises(InputError) as refused:
        CountTable.typed(axes, [])
    assert refused.value.reason is reason


def test_whole_floats_and_arrays_are_counts():
    assert CountTable.typed(AXES, [[3.0, 0], [1, 2], [0, 0]]).total == 6
    assert CountTable.typed(AXES, np.array([[3.0, 0], [1, 2], [0, 0]])).dense().dtype == np.int64
    assert CountTable.typed({}, 4).total == 4


def test_unknown_axes_of_a_margin_are_refused_together():
    table = CountTable.typed(AXES, [[3, 0], [1, 2], [0, 0]])
    with pytest.raises(InputError) as refused:
        table.margin(["wrk", "wrk", "income"])
    assert "Near to it: 'work'" in str(refused.value)
    assert "'income'" in str(refused.value)
    assert "twice" in str(refused.value)


def test_arrays_that_do_not_fit_are_refused():
    axes = (Axis("a", ("x", "y")),)
    for counts, cells in [
        (np.array([1, 2, 3]), None),
        (np.array([-1, 2]), None),
        (np.array([1, 2]), np.array([1, 0])),
        (np.array([1, 2]), np.array([0, 5])),
    ]:
        with pytest.raises(InputError):
            CountTable(axes, counts, cells)


def test_a_huge_table_is_kept_by_its_cells_and_never_filled():
    axes = [Axis(f"v{k}", tuple(map(str, range(100)))) for k in range(7)]
    table = CountTable.of_cells(axes, [0, 10**14 - 1, 0], [1, 2, 3])
    assert table.is_sparse
    assert table.total == 6
    assert table.margin(["v6", "v0"]).dense()[99, 99] == 2
    with pytest.raises(LimitError, match="most"):
        table.dense()
    with pytest.raises(LimitError):
        CountTable.of_cells(
            [*axes, *(Axis(f"w{k}", axes[0].categories) for k in range(2))], [0], [1]
        )


def test_repr_shows_no_cell():
    assert (
        repr(CountTable.typed(AXES, [[3, 0], [1, 2], [0, 0]])) == "CountTable(3 x 2 cells, total 6)"
    )


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 3))))
def test_tabulation_counts_every_record(records):
    words = [("missing", "a", "b"), ("missing", "x", "y", "z"), ("missing", "p", "q", "r")]
    # One record is complete: a variable without any value is refused when it is counted.
    records = [*records, (1, 1, 1)]
    coded = coded_from_codes(records, ["one", "two", "three"], words)
    table = tabulate(coded, ["three", "one"])
    assert table.total == len(records)
    expected = {}
    for one, _, three in records:
        cell = (words[2][three], words[0][one])
        expected[cell] = expected.get(cell, 0) + 1
    assert {cell: n for cell, n in as_labels(table).items() if n} == expected
    has_missing = any(three == 0 for _, _, three in records)
    assert table.axes[0].categories == (*words[2][1:], *(("missing",) if has_missing else ()))
    kept = tabulate(coded, ["three", "one"], missing="exclude")
    assert kept.shape == (3, 2)
    assert kept.total == sum(1 for one, _, three in records if one and three)
    assert tabulate(coded, []).total == len(records)


def test_tabulation_asks_for_one_cell_per_record():
    coded = coded_from_codes([[1]], ["one"])
    with pytest.raises(InputError, match="'category', 'exclude'"):
        tabulate(coded, ["one"], missing="wildcard")
    with pytest.raises(InputError):
        tabulate(coded, ["two"])
