"""DIS of a file: general and special method, with and without perturbation."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.attack.uniques.dis import assess_dis, general_dis
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError, Reason


def key_table(codes, *, words=None, names=("A",), **options):
    return count_keys(coded_from_codes(codes, list(names), words), list(names), **options)


def sizes(*class_sizes):
    """Return one record after another with classes of these sizes."""
    return [[number] for number, size in enumerate(class_sizes, 1) for _ in range(size)]


def slow_dis(released, original, fraction):
    """Remove each record in turn, copy it back or not, and match it by its original key."""
    correct = unique = Fraction(0)
    for place, key in enumerate(original):
        rest = [other for number, other in enumerate(released) if number != place]
        for back, chance in ((True, fraction), (False, 1 - fraction)):
            found = rest.count(key) + (back and released[place] == key)
            unique += chance * (found == 1)
            correct += chance * (found == 1 and back and released[place] == key)
    return correct / unique if unique else None


def test_the_general_method_is_exact():
    # Table 2 of the thesis: 1019 uniques and 59 pairs in a sample of 1%.
    risk = assess_dis(key_table(sizes(*[1] * 1019, *[2] * 59, 5)), fraction="1%")
    assert risk.value == Fraction(1019, 12701)
    assert risk.standard_error is None
    assert risk.converged is None
    assert risk.summary()["dis"] == float(risk.value)
    assert "0.0802" in " ".join(risk.sentences())
    assert risk.provenance.parameters["fraction"] == "1/100"


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.sampled_from(["1/3", "1/10", "1"]))
def test_the_general_method_is_that_of_one_record_at_a_time(codes, fraction):
    found = general_dis(key_table([[code] for code in codes]), fraction)
    assert found.dis == slow_dis(codes, codes, Fraction(fraction))
    assert bool(found.why_none) == (found.dis is None)


def test_dis_is_undefined_without_uniques_and_pairs():
    risk = assess_dis(key_table(sizes(3)), fraction="1/2")
    assert risk.value is None
    assert risk.summary()["dis"] == "not known"
    assert "not defined" in risk.sentences()[1]


def test_the_special_method_tends_to_its_formula():
    table = key_table(sizes(1, 1, 1, 2, 2, 3), fraction="1/2")
    risk = assess_dis(table, method="special", seed=5)
    assert risk.converged
    assert risk.expected == Fraction(3, 7)
    assert abs(risk.value - 3 / 7) < 4 * risk.standard_error
    assert risk.standard_error <= 0.005
    assert assess_dis(table, method="special", seed=5).value == risk.value
    assert assess_dis(table, method="special", seed=6).value != risk.value
    assert risk.provenance.seed == 5
    assert risk.steps[-1].estimate == risk.value


def test_several_records_removed_together():
    table = key_table(sizes(1, 1, 1, 2, 2), fraction="2/5")
    risk = assess_dis(table, method="special", removed=2, seed=1)
    assert risk.expected == Fraction(17, 44)
    assert abs(risk.value - 17 / 44) < 4 * risk.standard_error


def test_too_few_rounds_are_told():
    table = key_table(sizes(1, 1, 2), fraction="1/2")
    risk = assess_dis(table, method="special", rounds=50)
    assert not risk.converged
    assert "did not settle" in risk.sentences()[2]


def test_a_release_with_swapped_keys_is_attacked_with_the_originals():
    original = [1, 2, 3, 4, 4, 5]
    released = [2, 1, 3, 4, 4, 4]
    risk = assess_dis(
        key_table([[code] for code in released], fraction="1/2"),
        method="special",
        original=key_table([[code] for code in original]),
        seed=2,
    )
    exact = slow_dis(released, original, Fraction(1, 2))
    assert risk.expected == exact
    assert abs(risk.value - float(exact)) < 4 * risk.standard_error
    assert "attacked with the originals" in risk.sentences()[1]


def test_categories_of_both_files_are_the_same_where_their_words_are():
    released = key_table([[1], [2], [3]], words=[("missing", "b", "c", "d")], fraction="1/2")
    original = key_table([[2], [3], [1]], words=[("missing", "a", "b", "c")])
    risk = assess_dis(released, method="special", original=original, seed=1)
    # The first two keep their key; the third had one that nobody has now.
    assert risk.expected == slow_dis(["b", "c", "d"], ["b", "c", "a"], Fraction(1, 2)) == 1
    assert risk.value == 1


def test_an_unperturbed_original_changes_nothing():
    table = key_table(sizes(1, 1, 2, 3), fraction="1/2")
    risk = assess_dis(table, method="special", original=table)
    assert risk.expected == general_dis(table).dis


def test_fractions_by_stratum():
    codes = [[1, 1], [2, 1], [3, 2], [3, 2]]
    coded = coded_from_codes(codes, ["A", "S"], [("missing", "1", "2", "3"), ("missing", "x", "y")])
    table = count_keys(coded, ["A"], strata="S", fraction={"x": "1/2", "y": "1/4"})
    assert assess_dis(table).value == Fraction(1) / (1 + Fraction(3, 2))
    risk = assess_dis(table, method="special", seed=3)
    assert abs(risk.value - 0.4) < 4 * risk.standard_error
    assert risk.expected is None


def test_records_that_were_left_out_are_not_attacked():
    table = key_table([[1], [0], [2], [2]], missing="exclude", fraction="1/2")
    risk = assess_dis(table, method="special", seed=1)
    assert risk.file["records"] == 3
    assert risk.expected == Fraction(1, 3)
    assert abs(risk.value - 1 / 3) < 4 * risk.standard_error


def test_a_fraction_is_needed():
    with pytest.raises(InputError, match="No sampling fraction") as raised:
        assess_dis(key_table(sizes(1, 2)))
    assert raised.value.reason is Reason.NOTHING_GIVEN


def test_all_faults_are_told_at_once():
    released = key_table([[1, 2], [0, 1]], names=("A", "B"), missing="wildcard", fraction="1/2")
    original = key_table(sizes(1, 2))
    with pytest.raises(InputError) as raised:
        assess_dis(released, method="special", original=original)
    told = str(raised.value)
    assert len(raised.value.problems) == 4
    assert "in no classes" in told
    assert "its key variables are 'A', not 'A', 'B'" in told
    assert "it has 3 records, and the release has 2" in told
    with pytest.raises(InputError, match="Near to it: 'special'"):
        assess_dis(original, method="specal", fraction="1/2")
    with pytest.raises(InputError, match="no use for it"):
        assess_dis(original, original=original, fraction="1/2")


def test_originals_with_other_records_left_out_are_refused():
    released = key_table([[1], [0], [2]], missing="exclude", fraction="1/2")
    original = key_table([[1], [2], [0]], missing="exclude")
    with pytest.raises(InputError, match="not the same records were left out"):
        assess_dis(released, method="special", original=original)


def test_a_simulation_can_be_plotted_and_a_formula_not():
    table = key_table(sizes(1, 1, 2), fraction="1/2")
    figure = assess_dis(table, method="special").plot()
    assert figure.axes[0].lines[0].get_ydata()[-1] > 0
    with pytest.raises(InputError, match="simulates nothing"):
        assess_dis(table).plot()
