"""Results of a risk assessment: ranking, lines, contributions."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from gamekeeper.attack.contribution_risk import (
    CategoryRisk,
    Contribution,
    SizeContribution,
    SizeRisk,
    VariableRisk,
    whole_numbers,
)
from gamekeeper.attack.risk import FileRisk, RecordRisk, RiskLine
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
