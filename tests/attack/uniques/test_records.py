"""Why a record is unique, in words."""

from __future__ import annotations

import pytest

from gamekeeper.attack.uniques.records import variables_of
from gamekeeper.attack.uniques.suda import assess_uniques
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError, Reason

WORDS = [
    ("missing", "16", "40", "70"),
    ("missing", "single", "married", "widowed"),
    ("missing", "male", "female"),
]
NAMES = ["Age", "Marital status", "Sex"]
PEOPLE = [[1, 1, 1], [1, 1, 1], [1, 3, 2], [3, 3, 2], [3, 3, 2], [2, 2, 1], [2, 2, 0], [1, 1, 2]]


def assess(codes=PEOPLE, *, missing="category", **options):
    coded = coded_from_codes(codes, NAMES, WORDS)
    return assess_uniques(count_keys(coded, NAMES, missing=missing), **options)


def test_a_record_is_told_apart_by_variables_and_their_words():
    assert assess().explain(3) == ["unique by Age 16 + Marital status widowed"]
    assert assess().explain(8) == ["unique by Marital status single + Sex female"]


def test_a_missing_cell_is_called_missing():
    assert assess().explain(7) == ["unique by Sex missing"]


def test_an_ignored_missing_cell_is_never_a_reason():
    told = [line for record in range(1, 9) for line in assess(missing="ignore").explain(record)]
    assert not any("missing" in line for line in told)


def test_who_is_not_unique_is_told_how_many_share_the_key():
    assert assess().explain(1) == ["not unique: it shares its key with 1 other record"]
    assert assess([[1, 1, 1]] * 3 + [[2, 1, 1]]).explain(2) == [
        "not unique: it shares its key with 2 other records"
    ]


def test_a_long_list_is_cut_after_the_smallest_and_the_rest_is_counted():
    codes = [[1, 1, 1], [2, 2, 2], [2, 2, 2]]
    risk = assess(codes)
    assert risk.explain(1) == ["unique by Age 16", "unique by Marital status single",
                               "unique by Sex male"]  # fmt: skip
    assert risk.explain(1, most=2)[1:] == [
        "unique by Marital status single",
        "and by 1 more combination",
    ]
    assert risk.explain(1, most=1)[1:] == ["and by 2 more combinations"]
    made = risk.explanations([1], most=1)
    assert made.left_out == 2
    assert made.summary() == {"records": 1, "msus": 1, "left_out": 2, "more_uniques": 0}
    assert "2 further combinations" in made.sentences()[1]


def test_uniques_that_are_not_told_are_counted():
    made = assess([[1, 1, 1], [2, 2, 2], [3, 1, 2]]).explanations([2])
    assert made.more_uniques == 2
    assert "2 further sample uniques" in made.sentences()[-1]
    assert "2 further sample uniques" in made._repr_html_()


def test_explanations_are_of_the_riskiest_uniques_by_default():
    made = assess().explanations()
    table = made.to_arrow().to_pydict()
    # Record 6 has two combinations of two, as much as the single variable of record 7.
    assert table["record"] == [6, 6, 7, 3, 8]
    assert all(text.startswith("unique by") for text in table["in_words"])
    row = table["record"].index(3)
    assert table["variables"][row] == "Age + Marital status"
    assert table["size"][row] == 2


def test_explanations_of_any_record():
    table = assess().explanations([1, 3]).to_arrow().to_pydict()
    assert table["record"] == [1, 3]
    assert table["size"] == [None, 2]


def test_records_that_are_not_in_the_file_are_all_named():
    with pytest.raises(InputError) as raised:
        assess().explanations([0, 3, 9, -1])
    assert [problem.where for problem in raised.value.problems] == [
        "Record 0", "Record 9", "Record -1"]  # fmt: skip
    assert "1 to 8" in str(raised.value)
    with pytest.raises(InputError, match="counted from 1"):
        assess().explain(9)
    with pytest.raises(InputError, match="less than one"):
        assess().explain(3, most=0)


def test_without_a_list_only_uniques_cannot_be_explained():
    risk = assess(listing=False)
    assert risk.explain(1) == ["not unique: it shares its key with 1 other record"]
    with pytest.raises(InputError, match="listing=True") as raised:
        risk.explain(3)
    assert raised.value.reason is Reason.BAD_OPTION
    assert risk.variables.to_arrow()["uniques"].to_pylist() == [None] * 3


def test_an_error_shows_no_value():
    with pytest.raises(InputError) as raised:
        assess(listing=False).explain(3)
    assert not any(word in str(raised.value) for word in ("16", "widowed"))


def test_masks_as_variables():
    assert variables_of(0) == ()
    assert variables_of(1 << 63 | 1) == (0, 63)
