"""Results of a risk assessment, and risk classes: ranking, lines, contributions, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.attack.contributions import (
    CategoryRisk,
    Contribution,
    SizeContribution,
    SizeRisk,
    VariableRisk,
    whole_numbers,
)
from gamekeeper.attack.risk import (
    DEFAULT_RISK_CLASSES,
    NOT_UNIQUE,
    FileRisk,
    RecordRisk,
    RiskClasses,
    RiskLine,
    parse_risk_classes,
)
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Provenance

PROVENANCE = Provenance("example")


def record_risk(scores, sizes):
    table = pa.table(
        {
            "record": pa.array(range(1, len(scores) + 1), pa.int64()),
            "class_size": pa.array(sizes, pa.int64()),
            "is": pa.array(scores, pa.int64()),
            "risk_class": pa.array(["x"] * len(scores)),
        }
    )
    return RecordRisk("is", table, {}, PROVENANCE)


def contribution(variable, msus, *, category="", records=9, uniques=3, risky=1, weights=(2, 1)):
    by_size = (0, *msus)
    scores = tuple(n * weight for n, weight in zip(by_size, (6, *weights), strict=True))
    return Contribution(variable, category, records, by_size, scores, scores, uniques, risky)


def test_the_riskiest_come_first_and_of_equals_the_earlier():
    risk = record_risk([0, 5, None, 7, 5], [2, 1, None, 1, 1])
    assert risk.top(3)["record"].to_pylist() == [4, 2, 5]
    assert risk.top(99)["record"].to_pylist() == [4, 2, 5, 1]
    assert risk.top(1, by="class_size")["record"].to_pylist() == [1]
    assert risk.top(1, by="record")["record"].to_pylist() == [5]


def test_a_summary_counts_and_names_no_record():
    risk = record_risk([0, 5, None, 7, 5], [2, 1, None, 1, 1])
    assert risk.summary() == {
        "records": 5,
        "excluded": 1,
        "sample_uniques": 3,
        "measure": "is",
        "largest": 7,
    }


def test_a_notebook_shows_the_riskiest_only():
    shown = record_risk(list(range(1000)), [1] * 1000)._repr_html_()
    assert shown.count("<tr>") == 11
    assert "10 of 1,000 records" in shown


def test_ranking_by_an_unknown_measure_is_refused():
    with pytest.raises(InputError, match="Near to it: 'is'") as raised:
        record_risk([1], [1]).top(by="iss")
    assert raised.value.reason is Reason.UNKNOWN_NAME
    with pytest.raises(InputError, match="no such measure"):
        record_risk([1], [1]).top(by="risk_class")
    with pytest.raises(InputError, match="less than one"):
        record_risk([1], [1]).top(0)


def test_lines_of_a_file_keep_exact_values():
    line = RiskLine("dis", Fraction(1, 3), "DIS is a third.", Fraction(1, 2))
    big = RiskLine("is", 10**40, "Large.")
    risk = FileRisk((line, big, RiskLine("none", None, "Not known.")), ("dis", "none"), PROVENANCE)
    assert risk["dis"] == Fraction(1, 3)
    assert risk.summary() == {"dis": 1 / 3, "none": "not known"}
    assert risk.to_arrow()["exact"].to_pylist() == ["1/3", str(10**40), ""]
    assert risk.to_arrow()["value"].to_pylist() == [1 / 3, 1e40, None]
    assert risk.sentences() == ["DIS is a third.", "Large.", "Not known."]
    with pytest.raises(InputError, match="Near to it: 'dis'"):
        risk["diss"]


def test_shares_of_variables_are_of_the_file_level():
    lines = (contribution("Age", (2, 1)), contribution("Sex", (0, 1), uniques=None, risky=None))
    risk = VariableRisk(lines, 6, 6, PROVENANCE)
    table = risk.to_arrow()
    assert table["is"].to_pylist() == [5, 1]
    assert table["is_percent"].to_pylist() == [float(Fraction(500, 6)), float(Fraction(100, 6))]
    assert table["msus"].to_pylist() == [3, 1]
    assert table["uniques"].to_pylist() == [3, None]
    assert risk.by_size().select(["variable", "size", "msus", "is"]).to_pylist() == [
        {"variable": "Age", "size": 1, "msus": 2, "is": 4},
        {"variable": "Age", "size": 2, "msus": 1, "is": 1},
        {"variable": "Sex", "size": 1, "msus": 0, "is": 0},
        {"variable": "Sex", "size": 2, "msus": 1, "is": 1},
    ]


def test_shares_of_nothing_are_empty():
    lines = (contribution("Age", (0, 0)),)
    risk = VariableRisk(lines, 0, 0, PROVENANCE)
    assert risk.to_arrow()["is_percent"].to_pylist() == [None]
    assert risk.summary() == {"variables": 1, "first": "none", "is_percent": 0.0}


def test_categories_have_their_words_and_records():
    lines = (contribution("Age", (1, 0), category="16"), contribution("Age", (0, 0), category="40"))
    risk = CategoryRisk(lines, 2, 2, PROVENANCE)
    assert risk.to_arrow().select(["category", "records"]).to_pylist() == [
        {"category": "16", "records": 9},
        {"category": "40", "records": 9},
    ]
    assert risk.summary() == {"variables": 1, "categories": 2, "contributing": 1}


def test_sizes_sum_to_a_hundred_percent():
    lines = (SizeContribution(1, 3, 2, 2, 75), SizeContribution(2, 2, 1, 1, 0))
    risk = SizeRisk(lines, PROVENANCE)
    assert risk.to_arrow()["is_percent"].to_pylist() == [75.0, 25.0]
    assert risk.to_arrow()["suda_percent"].to_pylist() == [100.0, 0.0]
    assert risk.summary() == {"msus": 5, "smallest": 1, "largest": 2, "searched_to": 2}


def test_numbers_beyond_int64_become_floats():
    assert whole_numbers([2**63 - 1]).to_pylist() == [2**63 - 1]
    assert whole_numbers([1, 2**63]).to_pylist() == [1.0, float(2**63)]


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
