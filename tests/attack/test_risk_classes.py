"""Risk classes: who is in which, what is read from a text, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.attack.risk_classes import (
    DEFAULT_RISK_CLASSES,
    NOT_UNIQUE,
    RiskClasses,
    parse_risk_classes,
)
from gamekeeper.errors import InputError, Reason


def slow_class(classes, value):
    """Return the class by reading the thresholds from the top."""
    if math.isnan(value):
        return -1
    for number, lower in enumerate(classes.lower):
        if value >= lower:
            return number
    raise AssertionError(value)


def test_the_classes_that_are_there_by_default():
    assert DEFAULT_RISK_CLASSES.names == ("very high", "high", "medium", "low")
    assert DEFAULT_RISK_CLASSES.lower == (0.5, 0.2, 0.05, 0.0)
    assert DEFAULT_RISK_CLASSES.measure == "dis_is"
    assert DEFAULT_RISK_CLASSES.lowest_threshold == 0.05


def test_a_value_on_a_threshold_is_in_the_class_above():
    values = np.array([1.0, 0.5, 0.49, 0.2, 0.05, 0.049, 0.0, math.nan])
    assert DEFAULT_RISK_CLASSES.classify(values).tolist() == [0, 0, 1, 1, 2, 3, 3, -1]


@given(
    st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5, 1.0]), min_size=1, unique=True),
    st.lists(st.one_of(st.floats(0, 1), st.just(math.nan), st.sampled_from([0.1, 0.25, 0.5]))),
)
def test_classes_as_by_the_slow_twin(thresholds, values):
    classes = RiskClasses({f"c{place}": value for place, value in enumerate(thresholds)})
    found = classes.classify(np.array(values, dtype=np.float64)).tolist()
    assert found == [slow_class(classes, value) for value in values]


def test_thresholds_may_come_in_any_order():
    classes = RiskClasses({"medium": 0.05, "high": 0.2})
    assert classes == RiskClasses({"high": 0.2, "medium": 0.05})
    assert classes.text == "high=0.2,medium=0.05"


def test_the_text_of_classes_reads_back():
    for text in ("high=0.2,medium=0.05", "a=0.5,low=0", "any=0", "x=1", "y=0.1234567891"):
        classes = parse_risk_classes(text)
        assert parse_risk_classes(classes.text) == classes


def test_a_threshold_of_zero_leaves_nothing_below():
    assert parse_risk_classes("high=0.2,low=0").names == ("high", "low")
    assert parse_risk_classes("all=0").lowest_threshold == 0


def test_scores_may_have_thresholds_above_one():
    assert parse_risk_classes("high=100", measure="is").lower == (100.0, 0.0)


def problems_of(make):
    with pytest.raises(InputError) as raised:
        make()
    assert raised.value.problems
    return raised.value.problems


def test_all_faults_of_a_text_are_told_at_once():
    problems = problems_of(lambda: parse_risk_classes("high=lots,medium=-1,odd,medium=2,=0.3"))
    told = " ".join(map(str, problems))
    assert "'lots' is not a number" in told
    assert "it has no threshold" in told
    assert "it is given twice" in told
    assert "above 1" in told
    assert "the name is empty" in told


def test_all_faults_of_thresholds_are_told_at_once():
    problems = problems_of(
        lambda: RiskClasses(
            {"a": math.nan, "b": 0.3, "c": 0.3, "low": 0.1, NOT_UNIQUE: 0.2}, measure="dis_si"
        )
    )
    assert [problem.reason for problem in problems].count(Reason.DUPLICATE) == 2
    told = " ".join(map(str, problems))
    assert "Near to it: 'dis_is'" in told
    assert "kept for records that are not unique" in told
    assert "not a finite number" in told


@pytest.mark.parametrize("text", ["", " , "])
def test_no_thresholds_are_refused(text):
    (problem,) = problems_of(lambda: parse_risk_classes(text))
    assert problem.reason is Reason.NOTHING_GIVEN


def test_a_name_that_would_not_read_back_is_refused():
    (problem,) = problems_of(lambda: RiskClasses({"a=b": 0.3}))
    assert problem.reason is Reason.BAD_NAME
