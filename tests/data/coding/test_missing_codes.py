"""Values that look like codes for missing: what is suspected, and what is not."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.data.coding.codebook import (
    CodedVariable,
    SuspectedCode,
    suspected_codes,
    suspected_values,
)
from gamekeeper.data.coding.source_coding import code_frame
from tests.given.cases import cases


def suspected(counts, *, labels=None, decimal="."):
    """Return the values that are suspected, of a column with so many records of each."""
    variable = CodedVariable.of_values("column", counts, labels=labels, decimal=decimal)
    of_codes = [counts.get(value, 0) for value in variable.values]
    return {variable.values[code] for code in suspected_values(variable, of_codes, decimal)}


def of_each(values, n_records=10):
    return dict.fromkeys(map(str, values), n_records)


@pytest.mark.parametrize("sign", ["NA", "N/A", "na", "NaN", "null", "<NA>", ".", "-", "?", "*"])
def test_words_and_signs_for_nothing_are_suspected_anywhere(sign):
    assert suspected({sign: 12, **of_each(range(80))}) == {sign}
    assert suspected({sign: 12, **of_each(["north", "south"])}) == {sign}


@pytest.mark.parametrize("word", ["none", "unknown", "refused"])
def test_words_that_people_may_answer_are_suspected_among_numbers_only(word):
    assert suspected({word: 12, **of_each(range(5))}) == {word}
    assert suspected({word: 12, **of_each(["christian", "hindu"])}) == set()
    assert suspected({word: 12, **of_each(range(5)), **of_each(["many"])}) == set()


@pytest.mark.parametrize(
    ("codes", "others"),
    [
        (["99"], range(86)),
        (["999"], range(0, 400, 10)),
        (["9"], [1, 2]),
        (["8", "9"], [1, 2, 3, 4, 5]),
        (["98", "99"], range(16, 75)),
        (["9999"], [1950, 1961, 1972, 1983, 1994, 2005]),
        (["-9"], range(86)),
        (["-9", "-8", "-1"], range(6)),
        (["-1"], range(86)),
        (["-99"], range(-20, 40)),
        (["99999"], range(100, 60_000, 1370)),
    ],
)
def test_numbers_apart_from_all_others_are_suspected(codes, others):
    assert suspected({**of_each(codes), **of_each(others)}) == set(codes)


@pytest.mark.parametrize(
    "values",
    [
        range(1, 10),
        range(100),
        range(1, 1000),
        [*range(92), 94, 95, 97, 99],
        [1, 99],
        [1, 10, 19, 28, 37, 46, 55, 64, 73, 82, 99],
        [-2, -1, 0, 1, 2],
        [-1, 0, 1],
        range(-9, 30),
        range(-99, 100, 3),
        [0, 5, 10, 77, 88, 200],
        ["-9999.5", "3", "4"],
        ["0-9", "10-19", "99"],
    ],
)
def test_numbers_that_belong_to_the_range_are_not(values):
    assert suspected(of_each(values)) == set()


@cases(50)
@given(
    low=st.integers(-50, 90),
    n_values=st.integers(2, 150),
    step=st.integers(1, 9),
    counts=st.randoms(use_true_random=False),
)
def test_a_plain_range_never_raises_an_alarm(low, n_values, step, counts):
    values = [low + step * number for number in range(n_values)]
    if values[0] == -1 and step == 1:
        return  # -1, 0, 1, ... is what many files have for missing
    assert suspected({str(value): counts.randint(1, 500) for value in values}) == set()


@cases(50)
@given(
    some=st.sets(st.integers(0, 99), min_size=12),
    ages=st.lists(st.integers(0, 99), max_size=400),
    code=st.sampled_from(["NA", "-9", "999", "."]),
    n_records=st.integers(2, 60),
)
def test_a_code_among_ages_is_found_and_no_age_is_suspected(some, ages, code, n_records):
    counts = {str(age): n for age, n in Counter([*some, *ages]).items()}
    found = suspected({**counts, code: n_records})
    assert (code in found) == (n_records >= 0.005 * (sum(counts.values()) + n_records))
    # With so few ages a gap below 99 may be there by chance.
    assert found - {code} <= {"99", "98", "97", "88", "77"}
    assert "99" in found or found <= {code}


def test_what_is_rare_is_left_alone():
    others = of_each(range(40), 100)
    assert suspected({"NA": 20, **others}) == set()
    assert suspected({"NA": 21, **others}) == {"NA"}
    assert suspected({"NA": 1, "1": 5, "2": 6}) == set()


def test_numbers_among_words():
    assert suspected({"999": 12, "-9": 12, **of_each(["north", "south"])}) == {"999", "-9"}
    assert suspected({"9": 12, **of_each(["north", "south"])}) == set()
    assert suspected({"999": 12, "12": 12, **of_each(["north", "south"])}) == set()
    assert suspected({"999": 12, **of_each(["A01", "A02"])}) == set()


def test_a_label_says_what_a_number_means():
    values = of_each([1, 2, 3, 9])
    assert suspected(values) == {"9"}
    assert suspected(values, labels={"9": "nine or more"}) == set()
    assert suspected(values, labels={"9": "No answer"}) == {"9"}


def test_numbers_as_they_are_written_elsewhere():
    assert suspected({"99,0": 12, **of_each(f"{n},0" for n in range(60))}, decimal=",") == {"99,0"}
    assert suspected({"-9.00": 12, **of_each(f"{n}.50" for n in range(60))}) == {"-9.00"}


def test_of_a_table_only_what_nobody_explained():
    people = pa.table(
        {
            "age": ["34", "NA", "52", "NA", "7", "8"],
            "sex": ["1", "2", "2", "1", "9", "9"],
            "region": ["N", "S", "N", "S", "N", "S"],
        }
    )
    table = code_frame(people, ["age", "sex", "region"])
    assert suspected_codes(table) == [
        SuspectedCode("age", "NA", 2),
        SuspectedCode("sex", "9", 2),
    ]
    assert suspected_codes(table, known={"age": {"NA"}, "sex": {"1"}}) == [
        SuspectedCode("sex", "9", 2)
    ]


@cases(40)
@given(st.dictionaries(st.text(min_size=1, max_size=6), st.integers(1, 50), min_size=1))
def test_no_value_that_is_not_on_the_list_is_ever_named(counts):
    stripped = {value.strip(): n for value, n in counts.items() if value.strip()}
    for value in suspected(stripped):
        bare = value.casefold()
        assert bare in {
            "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "(null)", "nil", ".", "..",
            "...", "-", "--", "?", "??", "*", "**", "#", "\\n", "none", "inf",
        } or float(value) == int(float(value))  # fmt: skip
