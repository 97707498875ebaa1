"""Coded tables: what they keep, recoded, of no use any more, and brought to the same codes."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.codebook import CodedVariable, Recode
from gamekeeper.data.coding.coded_table import CodedTable, aligned, coded_from_codes
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.errors import InputError, Reason

CANARY = "canary-7f3a"
HOSTILE = ["record", 'a"b', "a'; DROP TABLE x; --", "Age", "age", "", "v0", "Größe\n"]


@st.composite
def matrices(draw):
    n_variables = draw(st.integers(1, 4))
    rows = st.lists(
        st.lists(st.integers(0, 300), min_size=n_variables, max_size=n_variables), max_size=20
    )
    return np.array(draw(rows), dtype=np.int64).reshape(-1, n_variables)


@given(matrices())
def test_codes_come_back_in_the_order_of_the_file(codes):
    names = [f"variable {place}" for place in range(codes.shape[1])]
    table = coded_from_codes(codes, names)
    assert table.n_records == len(codes)
    assert table.matrix().flags.c_contiguous
    assert table.matrix().tolist() == codes.tolist()
    assert table.matrix(names[::-1]).tolist() == codes[:, ::-1].tolist()
    assert table.codes(names[0]).tolist() == codes[:, 0].tolist()


@pytest.mark.parametrize(
    ("top", "kind"),
    [(0, np.uint8), (255, np.uint8), (256, np.uint16), (40_000, np.uint16), (70_000, np.uint32)],
)
def test_the_matrix_has_the_smallest_type_that_fits(top, kind):
    table = coded_from_codes([[top, 1], [0, 1]], ["a", "b"])
    assert table.matrix().dtype == kind
    assert table.matrix().tolist() == [[top, 1], [0, 1]]
    assert table.matrix(["b"]).dtype == np.uint8
    assert table.n_codes() == (top + 1, 2)


def test_records_of_many_batches_stay_in_order():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 9, (2_300_000, 2), dtype=np.uint8)
    with DuckDBEngine(threads=2) as engine:
        table = coded_from_codes(codes, ["a", "b"], engine=engine)
        assert np.array_equal(table.matrix(), codes)


def test_any_names_will_do():
    codes = np.arange(2 * len(HOSTILE)).reshape(2, -1)
    table = coded_from_codes(codes, HOSTILE, numbers={name: [0.5, 1.5] for name in HOSTILE})
    assert table.matrix().tolist() == codes.tolist()
    for place, name in enumerate(HOSTILE):
        assert table.codes(name).tolist() == codes[:, place].tolist()
        assert table.number(name).tolist() == [0.5, 1.5]


def test_numbers_come_back_with_nan_where_they_are_missing():
    table = coded_from_codes([[1], [1], [2]], ["a"], numbers={"weight": [1.5, np.nan, 3]})
    assert table.numbers == ("weight",)
    assert np.array_equal(table.number("weight"), [1.5, np.nan, 3], equal_nan=True)


def test_a_table_may_have_no_records_or_no_variables():
    empty = coded_from_codes([], ["a", "b"])
    assert empty.n_records == 0
    assert empty.matrix().shape == (0, 2)
    assert coded_from_codes([[1], [2]], ["a"]).matrix([]).shape == (2, 0)


def test_unknown_names_are_told_with_the_near_ones():
    table = coded_from_codes([[1]], ["region"], numbers={"weight": [1]})
    with pytest.raises(InputError, match="'region'") as caught:
        table.matrix(["regoin"])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    with pytest.raises(InputError, match="'weight'"):
        table.number("wieght")


def test_its_repr_has_counts_only():
    table = coded_from_codes(
        [[1], [0]], ["name"], [("missing", CANARY)], numbers={"weight": [1, 2]}
    )
    assert repr(table) == "CodedTable(2 records, 1 variable, 1 numeric column)"
    assert CANARY not in repr(table.codebook)


@pytest.mark.parametrize(
    ("codes", "names", "words", "numbers", "says"),
    [
        ([[1.5]], ["a"], None, {}, "type float64"),
        ([1, 2], ["a"], None, {}, "1 dimensions"),
        ([[1, 2]], ["a"], None, {}, "2 columns and 1 names"),
        ([[-1], [-2]], ["a"], None, {}, "2 codes below 0"),
        ([[1, 1]], ["a", "a"], None, {}, "more than once: 'a'"),
        ([[2], [1]], ["a"], [("missing", CANARY)], {}, "1 record of variable 'a'"),
        ([[2], [1]], ["a"], [("missing", CANARY, CANARY)], {}, "Two words of variable 'a'"),
        ([[1]], ["a"], [], {}, "words of 0 variables"),
        ([[1], [1]], ["a"], None, {"w": [1.0]}, r"numbers 'w' have shape \(1,\)"),
    ],
)
def test_codes_that_are_no_codes_are_refused(codes, names, words, numbers, says):
    with pytest.raises(InputError, match=says) as caught:
        coded_from_codes(codes, names, words, numbers=numbers)
    assert caught.value.reason is Reason.BAD_OPTION
    assert CANARY not in str(caught.value)


@given(matrices(), st.data())
def test_recoding_is_looking_up(codes, data):
    names = [f"v{place}" for place in range(codes.shape[1])]
    table = coded_from_codes(codes, names, numbers={"weight": np.arange(len(codes))})
    name = data.draw(st.sampled_from(names))
    n_codes = table.codebook[name].n_codes
    new = data.draw(st.lists(st.integers(0, 4), min_size=n_codes, max_size=n_codes))
    recoded = table.recoded([Recode(name, new, ("missing", *"abcd"), "coarse")])
    expected = codes.copy()
    expected[:, names.index(name)] = np.array(new)[codes[:, names.index(name)]]
    assert recoded.matrix().tolist() == expected.tolist()
    assert recoded.codebook.names == tuple("coarse" if own == name else own for own in names)
    assert recoded.codebook["coarse"].words == ("missing", *"abcd")
    assert recoded.number("weight").tolist() == list(range(len(codes)))
    assert table.matrix().tolist() == codes.tolist()


@pytest.mark.slow
def test_a_recoded_table_can_be_recoded_and_outlives_the_first():
    table = coded_from_codes([[1, 1], [2, 2], [3, 0]], ["a", "b"])
    once = table.recoded([Recode("a", [0, 1, 1, 2], ("missing", "x", "y"))])
    twice = once.recoded(
        [
            Recode("a", [0, 2, 1], ("missing", "y", "x")),
            Recode("b", [0, 1, 0], ("missing", "only")),
        ]
    )
    del table, once
    gc.collect()
    assert coded_from_codes([[1]], ["other"]).n_records == 1  # frees what was dropped
    assert twice.matrix().tolist() == [[2, 1], [2, 0], [1, 0]]


def test_fingerprints_tell_tables_apart():
    words = [("missing", "x", "y")]
    tables = [
        coded_from_codes([[1], [2]], ["a"], words),
        coded_from_codes([[2], [1]], ["a"], words),
        coded_from_codes([[1], [2]], ["b"], words),
        coded_from_codes([[1], [2]], ["a"], [("missing", "x", "z")]),
        coded_from_codes([[1], [2]], ["a"], words, numbers={"w": [1, 2]}),
        coded_from_codes([[1], [2]], ["a"], words).recoded([Recode("a", [0, 1, 1], words[0])]),
    ]
    prints = [table.fingerprint for table in tables]
    assert all(len(text) == 16 for text in prints)
    assert len(set(prints)) == len(prints)
    assert coded_from_codes([[1], [2]], ["a"], words).fingerprint == prints[0]


def test_every_fault_of_recodes_is_told_at_once():
    table = coded_from_codes([[1, 1]], ["age", "sex"], [("missing", CANARY), ("missing", "f")])
    with pytest.raises(InputError) as caught:
        table.recoded(
            [
                Recode("aeg", [0, 1], ("missing", "x")),
                Recode("age", [0, 1, 1], ("missing", "x")),
                Recode("sex", [0, 1], ("missing", "x")),
                Recode("sex", [0, 1], ("missing", "x"), "age"),
            ]
        )
    reasons = [problem.reason for problem in caught.value.problems]
    assert reasons == [
        Reason.UNKNOWN_NAME,
        Reason.BAD_OPTION,
        Reason.DUPLICATE,
        Reason.DUPLICATE,
    ]
    assert CANARY not in str(caught.value)


def test_a_table_that_is_no_longer_used_gives_its_relation_up():
    with DuckDBEngine() as engine:
        table = coded_from_codes([[1]], ["a"], engine=engine)
        relation = table.relation
        del table
        gc.collect()
        engine.create("SELECT 1 AS v0")
        with pytest.raises(Exception, match="refused"):
            engine.query(f"SELECT * FROM {relation}")


def test_a_table_of_a_closed_engine_says_so():
    engine = DuckDBEngine()
    table = coded_from_codes([[1]], ["a"], engine=engine)
    engine.close()
    assert isinstance(table, CodedTable)
    with pytest.raises(InputError, match="was closed"):
        table.matrix()


WORDS = st.lists(st.sampled_from(["1", "2", "10", "x", "north", ""]), unique=True, min_size=1)


@st.composite
def tables(draw, names=("a", "b")):
    """Draw a table with words of its own, and the same records in words."""
    words = [("missing", *draw(WORDS)) for _ in names]
    record = st.tuples(*(st.integers(0, len(own) - 1) for own in words))
    codes = draw(st.lists(record, min_size=1, max_size=6))
    return coded_from_codes(codes, names, words), spoken(codes, words)


def spoken(codes, words):
    return [[own[code] for own, code in zip(words, row, strict=True)] for row in codes]


def in_words(table):
    words = [variable.words for variable in table.codebook.variables]
    return spoken(table.matrix().tolist(), words)


@settings(max_examples=8)
@given(tables(), tables())
def test_words_stay_codes_are_shared_and_order_does_not_matter(one, other):
    first, second = aligned(one[0], other[0], ["a", "b"])
    assert in_words(first) == one[1]
    assert in_words(second) == other[1]
    for name in ("a", "b"):
        assert first.codebook[name].words == second.codebook[name].words
    turned_second, turned_first = aligned(other[0], one[0], ["a", "b"])
    assert (first.matrix() == turned_first.matrix()).all()
    assert (second.matrix() == turned_second.matrix()).all()


def test_numbers_are_ordered_by_size():
    small = coded_from_codes([[1]], ["age"], [("missing", "9")])
    large = coded_from_codes([[1], [2]], ["age"], [("missing", "10", "100")])
    first, second = aligned(small, large, ["age"])
    assert first.codebook["age"].words == ("missing", "9", "10", "100")
    assert second.matrix().ravel().tolist() == [2, 3]


def test_what_is_alike_already_stays_as_it_is():
    words = [("missing", "z", "a")]
    one, other = (coded_from_codes([[1], [2]], ["v"], words) for _ in range(2))
    first, second = aligned(one, other, ["v"])
    assert first.codebook["v"].words == ("missing", "z", "a")
    assert first.matrix().tolist() == second.matrix().tolist() == [[1], [2]]


def test_other_variables_are_left_alone():
    one = coded_from_codes([[1, 1]], ["v", "w"], [("missing", "b"), ("missing", "only here")])
    other = coded_from_codes([[1]], ["v"], [("missing", "a")])
    first, _ = aligned(one, other, ["v"])
    assert isinstance(first.codebook["w"], CodedVariable)
    assert first.codebook["w"].words == ("missing", "only here")
    assert in_words(first) == [["b", "only here"]]


def test_a_variable_that_one_lacks_is_named():
    one = coded_from_codes([[1]], ["v"])
    other = coded_from_codes([[1]], ["w"])
    with pytest.raises(InputError) as caught:
        aligned(one, other, ["v"])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "'v'" in str(caught.value)
