"""The field's own measures on small files, against records one by one."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity import expected_reciprocal
from gamekeeper.attack.measures import measure_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError, LimitError, Reason

RECORDS = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=10,
)
NAMES = ("Age", "Sex", "Illness", "Home")


def counted(records, **options):
    coded = coded_from_codes([list(record) for record in records], list(NAMES))
    return count_keys(coded, ["Age", "Sex"], **options)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(RECORDS)
def test_measures_are_those_of_records_one_by_one(records):
    found = measure_risk(
        counted(records, fraction="1/10"), sensitive=("Illness",), household="Home", threshold=0.4
    )
    classes = Counter(record[:2] for record in records)
    sizes = [classes[record[:2]] for record in records]
    risks = [expected_reciprocal(np.array([f]), np.array([0.1]))[0] for f in sizes]
    assert found["k"] == min(sizes)
    assert found["k_below_3"] == sum(f < 3 for f in sizes)
    assert found["prosecutor_average"] == sum(Fraction(1, f) for f in sizes) / len(sizes)
    assert found["prosecutor_at_risk"] == Fraction(sum(1 / f > 0.4 for f in sizes), len(sizes))
    assert found["journalist_highest"] == pytest.approx(max(0.1 / f for f in sizes))
    assert found["expected_reidentifications"] == pytest.approx(sum(risks))
    safe = {home: 1.0 for *_, home in records}
    for risk, (*_, home) in zip(risks, records, strict=True):
        safe[home] *= 1 - risk
    homes = [
        1 - safe[home] if home else risk for risk, (*_, home) in zip(risks, records, strict=True)
    ]
    assert found["household_reidentifications"] == pytest.approx(sum(homes))
    table = found.records.to_arrow()
    values = [{r[2] for r in records if r[:2] == record[:2] and r[2]} for record in records]
    assert table["l_distinct of Illness"].to_pylist() == list(map(len, values))
    assert found["l_distinct of Illness"] == min(map(len, values))
    assert table["household_risk"].to_pylist() == pytest.approx(homes)


def test_what_is_not_known_says_why():
    found = measure_risk(counted([(1, 1, 1, 1), (1, 2, 2, 1)]))
    table = {row["measure"]: row for row in found.to_arrow().to_pylist()}
    for measure in ("expected_reidentifications", "journalist_average", "tau1 Pitman"):
        assert table[measure]["value"] is None
        assert "not known" in table[measure]["meaning"]
    assert "not known" in found.sentences()[1]
    assert found.records.measure == "prosecutor_risk"


def test_a_population_is_counted():
    sample = counted([(1, 1, 1, 1), (1, 2, 1, 1)])
    people = counted([(1, 1, 1, 1)] * 4 + [(1, 2, 1, 1)] * 2 + [(2, 2, 1, 1)])
    found = measure_risk(sample, population=people)
    assert found["journalist_highest"] == Fraction(1, 2)
    assert found["marketer"] == Fraction(3, 8)


def test_where_a_missing_cell_matches_anything_nothing_is_proven_by_it():
    records = [(0, 1, 1, 1), (1, 1, 1, 1), (2, 2, 1, 1), (0, 0, 1, 1)]
    found = measure_risk(counted(records, missing="wildcard", fraction="1/10"))
    assert found["k"] == 1
    assert found["prosecutor_highest"] == 1
    assert found["tau1 Zayatz"] is None
    assert any("does not prove" in sentence for sentence in found.sentences())


def test_records_that_are_left_out_have_no_measures():
    found = measure_risk(counted([(0, 1, 1, 1), (1, 1, 1, 1)], missing="exclude", fraction="1/2"))
    rows = found.records.to_arrow().to_pylist()
    assert rows[0]["individual_risk"] is None
    assert rows[0]["unsafe_combinations"] is None
    assert rows[1]["individual_risk"] == pytest.approx(math.log(2))


def test_weights_below_one_are_said():
    frame = pa.table({"Age": ["1", "1", "2"], "w": [0.5, 0.5, 4.0]})
    table = count_keys(code_frame(frame, ["Age"], numbers=["w"]), ["Age"], weight="w")
    told = " ".join(measure_risk(table).sentences())
    assert "2 records in classes whose weights sum to less" in told


def test_households_across_strata_are_said():
    frame = pa.table(
        {"Age": ["1", "1", "2"], "Home": ["a", "a", "b"], "Area": ["n", "s", "n"],
         "w": [3.0, 5.0, 4.0]}
    )  # fmt: skip
    coded = code_frame(frame, ["Age", "Home", "Area"], numbers=["w"])
    table = count_keys(coded, ["Age"], weight="w", strata="Area")
    told = " ".join(measure_risk(table, household="Home").sentences())
    assert "1 household with members in more than one stratum" in told


def test_one_record_and_all_unique():
    alone = measure_risk(counted([(1, 1, 1, 1)], fraction="1/2"))
    assert alone["k"] == 1
    assert alone["tau1 Pitman"] is None
    unique = measure_risk(counted([(1, 1, 1, 1), (1, 2, 1, 1), (2, 1, 1, 1)], fraction="1/2"))
    assert unique["tau1 Zayatz"] == 3
    assert "no maximum" in {r.name: r.meaning for r in unique.file.lines}["tau1 Pitman"]


def test_all_faults_at_once():
    with pytest.raises(InputError) as caught:
        measure_risk(counted([(1, 1, 1, 1)]), sensitive=("Age", "Ilness"), household="Home")
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.BAD_OPTION, Reason.UNKNOWN_NAME, Reason.NOTHING_GIVEN,
    ]  # fmt: skip


def test_values_without_an_order_are_not_taken_as_ordered():
    frame = pa.table({"Age": ["1", "1"], "Pain": ["low", "high"], "Pay": ["9", "10"]})
    table = count_keys(code_frame(frame, ["Age", "Pain", "Pay"]), ["Age"])
    assert measure_risk(table, ordered=("Pay",))["t of Pay"] == 0
    with pytest.raises(InputError, match="without an order"):
        measure_risk(table, ordered=("Pain",))


def test_too_much_work_is_refused_with_the_way_around():
    with pytest.raises(LimitError, match="--dimension"):
        measure_risk(counted([(1, 1, 1, 1)] * 9), max_work=20)
    found = measure_risk(counted([(1, 1, 1, 1)] * 9), max_work=20, dimension=0)
    assert found.unsafe.column_names == ["variable"]
