from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.data.coding.codebook import (
    MISSING,
    Codebook,
    CodedVariable,
    Recode,
    number_of,
    sorted_values,
)
from gamekeeper.errors import InputError, Reason

TEXTS = st.text("abc019-. ()é", min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1", ".", 1),
        ("007", ".", 7),
        (" -3.50 ", ".", Fraction(-7, 2)),
        ("+.5", ".", Fraction(1, 2)),
        ("2.", ".", 2),
        ("1e3", ".", 1000),
        ("1,5", ",", Fraction(3, 2)),
        ("15", ",", 15),
        ("1,5", ".", None),
        ("1.5", ",", None),
        ("1.234,5", ",", None),
        ("", ".", None),
        ("nan", ".", None),
        ("inf", ".", None),
        ("1_0", ".", None),
        ("1/2", ".", None),
        ("٣", ".", None),
        ("1 000", ".", None),
        ("16-24", ".", None),
    ],
)
def test_numbers_are_read_exactly_and_nothing_else_is_one(text, decimal, number):
    assert number_of(text, decimal) == number


@pytest.mark.parametrize(
    ("values", "decimal", "expected"),
    [
        (["10", "9", "-1"], ".", ["-1", "9", "10"]),
        (["10", "9", "x"], ".", ["10", "9", "x"]),
        (["7", "07", "007"], ".", ["007", "07", "7"]),
        (["1,5", "1,25", "10"], ",", ["1,25", "1,5", "10"]),
        (["1,5", "1,25", "10"], ".", ["1,25", "1,5", "10"]),
        (["10,5", "9,5"], ".", ["10,5", "9,5"]),
        ([], ".", []),
    ],
)
def test_values_are_in_the_order_of_numbers_or_else_of_text(values, decimal, expected):
    assert sorted_values(values, decimal) == expected


NUMBERS = st.one_of(
    st.integers(0, 10**20).map(str),
    st.from_regex(r"-?0{0,2}[0-9]{1,3}(\.[0-9]{0,4})?(e-?[0-9]{1,2})?", fullmatch=True),
)


@given(st.lists(NUMBERS, unique=True))
def test_numbers_are_in_the_order_of_their_fractions_whatever_way_they_are_sorted(values):
    by_fraction = sorted(values, key=lambda text: (number_of(text), text))
    assert sorted_values(values) == by_fraction


@given(st.lists(TEXTS, unique=True), st.randoms())
def test_codes_do_not_depend_on_the_order_of_records(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert CodedVariable.of_values("v", values) == CodedVariable.of_values("v", shuffled)


@given(st.dictionaries(TEXTS, TEXTS | st.just("missing") | st.just("")))
def test_every_code_has_its_own_word(labels):
    variable = CodedVariable.of_values("v", labels, labels=labels)
    assert len(set(variable.words)) == variable.n_codes == len(labels) + 1
    assert variable.words[MISSING] == "missing"
    assert variable.values[MISSING] == ""
    assert sorted(variable.values[1:]) == sorted(labels)
    for word, value in zip(variable.words[1:], variable.values[1:], strict=True):
        assert word.startswith(labels[value] or value)


def test_labels_are_the_words_and_same_labels_get_the_value_in_brackets():
    labels = {"1": "yes", "2": "no", "3": "no", "9": "missing"}
    variable = CodedVariable.of_values("v", ["9", "3", "2", "1", "4"], labels=labels)
    assert variable.values == ("", "1", "2", "3", "4", "9")
    assert variable.words == ("missing", "yes", "no (2)", "no (3)", "4", "missing (9)")


def test_a_label_like_another_value_is_told_apart():
    variable = CodedVariable.of_values("v", ["1", "2"], labels={"2": "1"})
    assert variable.words == ("missing", "1 (1)", "1 (2)")


def test_a_codebook_finds_variables_by_name():
    age, sex = (CodedVariable.of_values(name, ["1", "2"]) for name in ("age", "sex"))
    book = Codebook((age, sex))
    assert book["sex"] is sex
    assert book.names == ("age", "sex")
    assert list(book) == [age, sex]
    assert len(book) == 2
    assert "age" in book
    assert "Age" not in book
    with pytest.raises(InputError, match="Near to it: 'age'") as caught:
        book["agee"]
    assert caught.value.reason is Reason.UNKNOWN_NAME


def test_reprs_have_counts_alone():
    variable = CodedVariable.of_values("v", ["canary"], labels={"canary": "bird"}, label="song")
    recode = Recode("v", [0, 1], ("missing", "canary"))
    for shown in (repr(variable), repr(Codebook((variable,))), repr(recode)):
        assert not {"canary", "bird", "song"} & set(shown.replace("'", " ").split())
    assert repr(variable) == "CodedVariable('v', 1 category)"


def test_a_recode_is_one_row_of_places_in_its_words():
    recode = Recode("age", np.array([0, 2, 1], dtype=np.uint8), ["missing", "old", "young"])
    assert recode.codes.dtype == np.int64
    assert recode.codes.tolist() == [0, 2, 1]
    assert recode.words == ("missing", "old", "young")
    assert recode.new_name == "age"
    assert Recode("age", [0], ["missing"], "Age").new_name == "Age"
    with pytest.raises(ValueError, match="read-only"):
        recode.codes[0] = 1


@pytest.mark.parametrize("codes", [[], [0.5], [[0]], [0, 2], [-1], 0])
def test_a_recode_with_other_codes_is_refused(codes):
    with pytest.raises(InputError, match="'age'") as caught:
        Recode("age", codes, ("missing", "old"))
    assert caught.value.reason is Reason.BAD_OPTION
