"""Variables to link on: their kinds, measures and rules, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gamekeeper.attack.linkage.columns import (
    Kind,
    LinkVariable,
    common_variables,
    compare_files,
    equal_codes,
)
from gamekeeper.data.coding.codebook import Codebook, CodedVariable
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.errors import InputError, Reason
from tests.given.linked_files import AGE, STATUS, file_of


def compared(a, b, decimals=(".", "."), **options):
    """Return the distances and the kind of one variable of two files."""
    left, right = file_of({"x": a}), file_of({"x": b})
    chosen, made = compare_files(left, right, [LinkVariable("x", **options)], decimals=decimals)
    return made[0].matrix().tolist(), chosen[0].kind


def refused(a, b, **options):
    with pytest.raises(InputError) as caught:
        compared(a, b, **options)
    return caught.value


@pytest.mark.parametrize(
    ("a", "b", "options", "kind"),
    [
        (range(11), range(5), {}, Kind.NUMBER),
        (range(10), range(5), {}, Kind.CATEGORY),
        (range(6), range(5, 11), {}, Kind.NUMBER),
        ([*range(20), "x"], range(5), {}, Kind.CATEGORY),
        (range(20), [*range(5), "x"], {}, Kind.CATEGORY),
        ([*range(20), None], [None], {}, Kind.NUMBER),
        ([f"{number}.0" for number in range(10)], range(10), {}, Kind.CATEGORY),
        ([None], [None], {}, Kind.CATEGORY),
        (range(20), range(20), {"kind": "category"}, Kind.CATEGORY),
        ([1, 2], [2], {"kind": "number"}, Kind.NUMBER),
        ([1, 2], [2], {"measure": "relative"}, Kind.NUMBER),
        (["a"], ["b"], {"measure": "jaro-winkler"}, Kind.TEXT),
        (["a"], ["b"], {"order": ("b", "a")}, Kind.ORDINAL),
        (["single"], ["married"], {"variable": STATUS}, Kind.MAPPED),
        (["20310501"], ["2031-05-02"], {"kind": Kind.DATE}, Kind.DATE),
    ],
)
def test_the_kind_is_chosen_or_given(a, b, options, kind):
    assert compared(list(a), list(b), **options)[1] is kind


def test_numbers_are_compared_by_every_measure():
    a, b = [1, 4], [2, -4]
    # Squared deviations are 4.5 and 18 with one degree of freedom each.
    pooled = np.sqrt((4.5 + 18) / 2)
    for measure, meant in {
        "absolute": [[1, 5], [2, 8]],
        "squared": [[1, 25], [4, 64]],
        "relative": [[0.5, 1.25], [0.5, 2]],
        "standardized": [[1 / pooled, 5 / pooled], [2 / pooled, 8 / pooled]],
    }.items():
        assert np.allclose(compared(a, b, kind="number", measure=measure)[0], meant)
    standard = compared(a, b, kind="number")[0]
    assert standard == compared(a, b, kind="number", measure="standardized")[0]


def test_numbers_are_read_with_the_mark_of_each_file():
    found = compared(["1,5"], ["1.5", "2.5"], (",", "."), kind="number", measure="absolute")
    assert found[0] == [[0, 1]]
    many = [f"{number},5" for number in range(12)]
    assert compared(many, ["0.5"], (",", "."))[1] is Kind.NUMBER
    assert compared(many, ["0.5"])[1] is Kind.CATEGORY


def test_categories_differ_or_not_and_numbers_are_categories_however_written():
    assert compared(["a", "b"], ["b", "c"])[0] == [[1, 1], [0, 1]]
    assert compared([1, 2], ["1.0", "2.0", "3.0"])[0] == [[0, 1, 1], [1, 0, 1]]
    # One file tells 1 from 01, so these are names.
    assert compared(["1", "01"], ["1", "1.0"])[0] == [[0, 1], [1, 1]]


def coded_with_words(codes, words, values):
    codebook = Codebook([CodedVariable("x", ("missing", *words), ("", *values))])
    table = coded_from_codes([[code] for code in codes], ["x"])
    table.codebook = codebook
    return table


def test_categories_are_alike_by_word_where_values_say_less():
    a = coded_with_words([1, 2], ["low", "high"], ["1", "2"])
    b = coded_with_words([1, 2], ["high", "low"], ["H", "L"])
    _, made = compare_files(a, b, [LinkVariable("x")])
    assert made[0].matrix().tolist() == [[1, 0], [0, 1]]
    # An order may be of words or of values.
    for order in (("low", "high"), ("high", "low")):
        _, made = compare_files(a, a, [LinkVariable("x", order=order)])
        assert made[0].matrix().tolist() == [[0, 1], [1, 0]]
    _, made = compare_files(a, a, [LinkVariable("x", order=("2", "1"))])
    assert made[0].matrix().tolist() == [[0, 1], [1, 0]]


def ordered(cells, *categories):
    return code_frame(pd.DataFrame({"x": pd.Categorical(cells, categories, ordered=True)}))


def test_ranks_are_of_the_order_that_a_frame_has():
    ordinal = [LinkVariable("x", kind=Kind.ORDINAL)]
    levels = ("low", "middle", "high")
    # No record of either is in the middle, and yet it lies between the others.
    a, b = ordered(["low", "high"], *levels), ordered(["middle", "high"], *levels)
    _, made = compare_files(a, b, ordinal)
    assert made[0].matrix().tolist() == [[0.5, 1.0], [0.5, 0.0]]
    _, made = compare_files(a, file_of({"x": ["middle"]}), ordinal)
    assert made[0].matrix().tolist() == [[0.5], [0.5]]
    # Without an order of their own they follow the alphabet, and as categories they need none.
    _, made = compare_files(*[file_of({"x": [*levels]})] * 2, ordinal)
    assert made[0].matrix()[0].tolist() == [0.0, 0.5, 0.5]
    compare_files(a, ordered(["high"], "high", "low"), [LinkVariable("x", kind=Kind.CATEGORY)])
    for other in (ordered(["high", "low"], "high", "low"), file_of({"x": ["lowest"]})):
        with pytest.raises(InputError, match="no order that holds for both files") as caught:
            compare_files(a, other, ordinal)
        assert "lowest" not in str(caught.value).replace("(lowest,", "")


def test_ranks_are_of_the_order_given_or_of_numbers():
    order = ("low", "middle", "high")
    assert compared(["low", "high"], ["middle"], order=order)[0] == [[0.5], [0.5]]
    assert compared([2, 10], [9], kind="ordinal")[0] == [[0.5], [0.5]]
    error = refused(["low", "huge"], ["high"], order=order)
    assert "1 value is not in the given order" in str(error)
    assert "huge" not in str(error)


def test_dates_are_days_apart():
    a, b = ["2031-05-01", "20310531"], ["2031-04-30", "2032-05-01T10:00:00"]
    assert compared(a, b, kind="date")[0] == [[1, 366], [31, 336]]
    error = refused(["2031-02-30", "1/2/31", "203105011", "2031-05-01"], b, kind="date")
    assert "3 values are no dates" in str(error)
    assert "02-30" not in str(error)


def test_texts_are_compared_by_every_measure():
    a, b = ["bart", "anna"], ["brat"]
    assert compared(a, b, kind="text")[0] == [[0.5], [1]]
    assert compared(a, b, kind="text", measure="levenshtein")[0] == [[0.5], [1]]
    assert compared(a, b, kind="text", measure="transposition")[0] == [[0.25], [1]]
    # Four letters in common, one transposition, one letter at the beginning.
    jaro = (1 + 1 + 3 / 4) / 3
    winkler = compared(a, b, kind="text", measure="jaro-winkler")[0]
    assert winkler[0] == pytest.approx([0.9 * (1 - jaro)], abs=1e-6)


MISSING = [("expected", 0.5), ("largest", 1), ("zero", 0), ("impossible", np.inf), (0.3, 0.3)]


@pytest.mark.parametrize(("rule", "distance"), MISSING)
def test_a_missing_value_is_as_far_as_the_rule_says(rule, distance):
    found = compared(["a", "b", None], ["a", "b"], missing=rule)[0]
    assert found == [[0, 1], [1, 0], [distance, distance]]
    found = compared([0, 4, None], [0, 4], kind="number", measure="absolute", missing=rule)[0]
    meant = {"expected": 2, "largest": 4}.get(rule, distance)
    assert found == [[0, 4], [4, 0], [meant, meant]]


def test_categorizations_are_compared_by_their_sinks():
    found, kind = compared(
        ["0-15", "16+", None], ["0-24", "25-64", "65+", "17", "20-30"], variable=AGE
    )
    assert kind is Kind.MAPPED
    # Sinks: 0-15, 16-24, 25-64, 65+. No sink in common is impossible, else 1 - Jaccard.
    assert found[0] == [0.5, np.inf, np.inf, np.inf, np.inf]
    assert found[1] == pytest.approx([3 / 4, 2 / 3, 2 / 3, 2 / 3, 1 / 3])
    possible = [value for row in found[:2] for value in row if np.isfinite(value)]
    assert found[2] == pytest.approx([np.mean(possible)] * 5)
    found, _ = compared(
        ["not married", "Married"], ["ever married", "single", "widowed"], variable=STATUS
    )
    assert found[0] == pytest.approx([1 / 2, 2 / 3, 2 / 3])
    assert found[1] == [pytest.approx(2 / 3), np.inf, np.inf]


def test_what_the_environment_does_not_know_is_counted_not_shown():
    error = refused(["single", "engaged", "bereaved"], ["single"], variable=STATUS)
    assert "2 values are no category of 'Status'" in str(error)
    assert "engaged" not in str(error)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"kind": "number"}, "2 values are no number"),
        ({"kind": "date"}, "2 values are no dates"),
        ({"kind": "colour"}, "There is no such kind"),
        ({"kind": "category", "measure": "absolute"}, "This kind has no measures"),
        ({"kind": "text", "measure": "absolute"}, "There is no such measure"),
        ({"measure": "manhattan"}, "There is no such measure"),
        ({"kind": "text", "order": ("a", "b")}, "Only ordinal variables have an order"),
        ({"kind": "mapped"}, "No variable of an environment"),
        ({"missing": "often"}, "expected, largest, zero, impossible"),
        ({"missing": -1.0}, "a distance of missing values that is negative"),
        ({"other": "z"}, "'z'"),
    ],
)
def test_what_does_not_fit_is_refused(options, found):
    error = refused(["a", "b"], ["b"], **options)
    assert found in str(error)
    assert error.exit_code == 2


def test_all_faults_are_told_at_once():
    left, right = file_of({"x": ["a"], "y": ["b"]}), file_of({"x": ["a"], "y": ["b"]})
    with pytest.raises(InputError) as caught:
        compare_files(
            left, right, [LinkVariable("x", kind="number"), LinkVariable("y", kind="date")]
        )
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError) as caught:
        compare_files(left, right, [LinkVariable("z"), LinkVariable("x", "w")])
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError):
        compare_files(left, right, [])


def test_common_variables_are_in_the_order_of_the_first_file():
    found = common_variables(["b", "id", "a", "c"], ["a", "id", "b"], without=["id"])
    assert [one.name for one in found] == ["b", "a"]
    with pytest.raises(InputError) as caught:
        common_variables(["a", "id"], ["b", "id"], without=["id"])
    assert caught.value.reason is Reason.NOTHING_GIVEN
    assert "link structure" in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "options"),
    [
        (["1", "2", None], ["2.0", "3"], {"kind": "number"}),
        (["1", "2", None], ["2.0", "3"], {}),
        (["x", "y", None], ["y", "z"], {}),
        (["x", "y", None], ["y", "z"], {"kind": "text"}),
        (["x", "y", None], ["y", "z"], {"order": ("z", "y", "x")}),
        (["2031-05-01", "2031-05-02", None], ["20310502", "20310503"], {"kind": "date"}),
    ],
)
def test_codes_for_blocking_are_equal_where_values_are(a, b, options):
    left, right = file_of({"x": a}), file_of({"x": b})
    chosen, made = compare_files(left, right, [LinkVariable("x", **options)])
    codes_a, codes_b = equal_codes(left, right, chosen[0], made[0])
    assert codes_a[2] == 0
    assert codes_a[1] == codes_b[0]
    assert len({*codes_a, *codes_b}) == 4
