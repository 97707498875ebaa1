"""Two files that list their categories differently come to the same codes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.alignment import aligned
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import InputError, Reason

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
