from __future__ import annotations

import csv
import json
import re
from itertools import combinations
from math import factorial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import Environment, Form
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.errors import InputError, Reason
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection.recipe import read_step
from gamekeeper.protection.recoding.options import Loss, Recoding
from gamekeeper.protection.recoding.search import SearchRecoding, search_for_recoding
from gamekeeper.protection.step import Setting
from tests.given.people_to_recode import AGE, SETTING, STATUS, people


def environment():
    return Environment(
        [AGE, STATUS],
        [
            Form("Census", {"Age": ["0-15", "16-24", "25-64", "65+"], "Status": ["any"]}),
            Form("Bank", {"Age": ["0-17", "18-64", "65+"], "Status": []}),
        ],
    )


def smallest(table, keys):
    _, counts = np.unique(table.matrix(list(keys)), axis=0, return_counts=True)
    return int(counts.min())


def words(table, name):
    return set(table.codebook[name].words[1:])


def test_a_search_meets_its_target_and_says_what_it_costs():
    made = SearchRecoding(k=4).apply(people(), SETTING)
    assert smallest(made.table, SETTING.keys) >= 4
    assert made.found["status"] == "optimal"
    assert made.found["is_met"]
    assert re.match(
        r"Recoded, every class has at least 4 records; that loses [\d,]+ bits", made.told[0]
    )
    assert "proven by" in made.told[-1]
    assert made.log.variables["Age"].recode is not None
    json.dumps(made.found)


def test_what_was_found_can_be_typed_again():
    table = people()
    found = search_for_recoding(table, SETTING, SearchRecoding(k=3))
    again = Recoding(rules=found.rules).apply(table, SETTING)
    once = found.step.apply(table, SETTING)
    assert again.table.fingerprint == once.table.fingerprint
    assert np.array_equal(again.table.matrix(), once.table.matrix())


def test_the_step_is_kept_and_read_again():
    step = SearchRecoding(k=4, keep=("Age: 18",), at_least={"Age": 3}, loss=Loss.SHARE)
    read = read_step(json.loads(json.dumps(step.to_json())))
    assert read == step
    frozen = step.apply(people(), SETTING).frozen[0]
    assert read_step(json.loads(json.dumps(frozen.to_json()))) == frozen


def test_the_order_of_records_does_not_matter():
    table = people()
    order = np.random.default_rng(9).permutation(table.n_records)
    frame = {
        name: [table.codebook[name].words[code] for code in table.codes(name)[order]]
        for name in SETTING.keys
    }
    other = code_frame(pa.table(frame), list(SETTING.keys))
    rules = [SearchRecoding(k=4).apply(each, SETTING).frozen[0] for each in (table, other)]
    assert rules[0] == rules[1]


def test_categories_of_an_environment_cover_what_nobody_has():
    setting = Setting(keys=("Age", "Sex", "Status"), environment=environment())
    found = search_for_recoding(people(), setting, SearchRecoding(k=5))
    assert found.problem.categories["Age"].source == "the environment"
    assert found.problem.categories["Sex"].source == "its own values"
    made = found.step.apply(people(), setting)
    assert smallest(made.table, setting.keys) >= 5
    # Nobody is below 14 or has reached 80: the bands are those of the graph all the same.
    ages = found.problem.categories["Age"]
    chosen = {ages.names[block] for block in found.blocks["Age"]}
    assert chosen <= {*AGE.graph.categories, *words(people(), "Age"), "any", "missing"}


def test_only_what_forms_have():
    setting = Setting(keys=("Age", "Sex", "Status"), environment=environment())
    made = SearchRecoding(k=3, observed=("Age",)).apply(people(), setting)
    assert words(made.table, "Age") in (
        {"0-15", "16-24", "25-64", "65+"},
        {"0-17", "18-64", "65+"},
    )


def test_forms_may_have_a_category_of_nobody():
    """One form tells those below 16 from the rest, and nobody is that young."""
    frame = {"Age": [str(18 + n % 60) for n in range(120)], "Sex": ["f", "m"] * 60}
    setting = Setting(keys=("Age", "Sex"), environment=environment())
    table = code_frame(pa.table(frame), ["Age", "Sex"])
    made = SearchRecoding(k=3, observed=("Age",)).apply(table, setting)
    assert words(made.table, "Age") in ({"16-24", "25-64", "65+"}, {"18-64", "65+"})


def test_a_cut_stays():
    made = SearchRecoding(k=2, keep=("age: 18",), at_least={"Age": 2}).apply(people(), SETTING)
    recode = made.log.variables["Age"].recode
    table = people()
    below = {
        int(recode.codes[code])
        for code in range(1, table.codebook["Age"].n_codes)
        if int(table.codebook["Age"].values[code]) < 18
    }
    above = {
        int(recode.codes[code])
        for code in range(1, table.codebook["Age"].n_codes)
        if int(table.codebook["Age"].values[code]) >= 18
    }
    assert not below & above
    assert smallest(made.table, SETTING.keys) >= 2


def test_a_category_stays_apart_or_is_forbidden():
    setting = Setting(keys=("Age", "Status"), environment=environment())
    kept = SearchRecoding(k=2, keep=("Status: was married",)).apply(people(), setting)
    grown = {word for word in words(kept.table, "Status") if "married" in word or word == "any"}
    assert "any" not in grown
    free = SearchRecoding(k=12, factors={"Status": 100.0}).apply(people(), setting)
    assert "was married" in words(free.table, "Status")
    without = SearchRecoding(
        k=12, factors={"Status": 100.0}, forbid=("Status: was married",)
    ).apply(people(), setting)
    assert "was married" not in words(without.table, "Status")
    assert without.found["loss"] >= free.found["loss"]


def test_at_least_so_many_categories():
    plain = SearchRecoding(k=10).apply(people(), SETTING)
    asked = SearchRecoding(k=10, at_least={"Status": 4}).apply(people(), SETTING)
    assert asked.found["categories"]["Status"] == 4
    assert plain.found["categories"]["Status"] < 4
    assert asked.found["loss"] >= plain.found["loss"]


def test_only_the_variables_that_may_be_recoded_are():
    made = SearchRecoding(k=2, variables=("Age",)).apply(people(), SETTING)
    assert set(made.log.variables) == {"Age"}
    assert smallest(made.table, SETTING.keys) >= 2


def test_some_records_may_be_in_small_classes():
    table = people()
    made = SearchRecoding(k=3, most_share=0.1).apply(table, SETTING)
    _, inverse, counts = np.unique(
        made.table.matrix(list(SETTING.keys)), axis=0, return_inverse=True, return_counts=True
    )
    assert int((counts[inverse.ravel()] < 3).sum()) == made.found["records_in_small_classes"] <= 12
    assert made.found["loss"] < SearchRecoding(k=3).apply(table, SETTING).found["loss"]
    assert "but for 12 records at most" in made.told[0]


def test_strata_are_never_recoded_and_count():
    setting = Setting(keys=SETTING.keys, strata="Region")
    made = SearchRecoding(k=3).apply(people(), setting)
    assert smallest(made.table, (*SETTING.keys, "Region")) >= 3
    assert "Region" not in made.log.variables


def test_classes_can_be_counted_by_weights():
    table = people()
    setting = Setting(keys=SETTING.keys, weight="w")
    made = SearchRecoding(k=40, weighted=True).apply(table, setting)
    _, inverse = np.unique(made.table.matrix(list(SETTING.keys)), axis=0, return_inverse=True)
    assert np.bincount(inverse.ravel(), table.number("w")).min() >= 40
    assert "at least 40 people" in made.told[0]


def test_missing_cells_stay_missing_and_are_a_class_unless_left_out():
    rows = [[1, 1]] * 3 + [[2, 1]] * 3 + [[0, 1]]
    table = coded_from_codes(rows, ["a", "b"])
    made = SearchRecoding(k=2).apply(table, Setting(keys=("a", "b")))
    assert not made.found["is_met"]  # whoever has no value is alone, whatever the others have
    assert made.found["records_in_small_classes"] == 1
    left_out = SearchRecoding(k=2).apply(table, Setting(keys=("a", "b"), missing=Missing.EXCLUDE))
    assert left_out.found["is_met"]
    assert left_out.found["loss"] == 0.0
    assert left_out.table.codes("a").tolist() == table.codes("a").tolist()


def test_what_cannot_be_met_is_answered_with_the_best_and_what_is_in_the_way():
    step = SearchRecoding(k=40, keep=("Status: widowed",), at_least={"Sex": 2})
    made = step.apply(people(), SETTING)
    assert not made.found["is_met"]
    assert made.found["status"] == "cannot be met"
    assert made.found["records_in_small_classes"] > 0
    assert made.found["blocked_by"] == ["Status"]
    assert made.told[0].startswith("No recoding that may be chosen")
    assert "'Status'" in made.told[-1]


def test_a_search_out_of_time_says_what_is_proven():
    found = search_for_recoding(
        people(2000), SETTING, SearchRecoding(k=3, most_share=0.05, seconds=0)
    )
    assert found.status in ("best so far", "not found in time")
    assert not found.found.is_optimal
    assert found.summary()["gap"] is None or found.summary()["gap"] > 0
    assert any("stopped after its time" in told or "in time" in told for told in found.sentences())


def test_a_stand_in_is_verified():
    tried = []

    def passes(step, loss):
        tried.append(step)
        return len(tried) == 3

    found = search_for_recoding(people(), SETTING, SearchRecoding(k=3), verify=passes)
    assert found.status == "best verified"
    assert found.found.n_failed == 2
    assert "not proven" in found.sentences()[-1]
    assert found.step == tried[-1]


def test_levels_of_a_file(tmp_path):
    path = tmp_path / "status.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [
                ["level0", "level1", "level2"],
                ["single", "not married", "*"],
                ["widowed", "not married", "*"],
                ["divorced", "not married", "*"],
                ["married", "married", "*"],
            ]
        )
    step = SearchRecoding(
        k=15, levels={"Status": str(path)}, whole_levels=True, factors={"Status": 50.0}
    )
    made = step.apply(people(), SETTING)
    assert words(made.table, "Status") == {"not married", "married"}


def test_a_value_without_a_level_is_counted_and_not_shown(tmp_path):
    path = tmp_path / "status.csv"
    path.write_text("level0,level1\nsingle,*\nmarried,*\n")
    with pytest.raises(InputError) as caught:
        SearchRecoding(levels={"Status": str(path)}).apply(people(), SETTING)
    assert "2 values" in str(caught.value)
    assert "widowed" not in str(caught.value)


def test_ways_that_are_typed():
    step = SearchRecoding(k=3, ways=("Age=width 30", "Age=0-17, 18-64, 65+"), whole_levels=True)
    made = step.apply(people(), Setting(keys=("Age", "Sex")))
    assert words(made.table, "Age") in (
        {"0-17", "18-64", "65+"},
        {"0-29", "30-59", "60-89"},
        words(people(), "Age"),
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"keep": ("Age 18",)}, "VARIABLE: CATEGORY"),
        ({"keep": ("Agee: 18",)}, "Agee"),
        ({"keep": ("Status: maried",)}, "no category"),
        ({"forbid": ("Status: maried",)}, "no category"),
        ({"at_least": {"Sex": 5}}, "at most 2"),
        ({"at_least": {"Sex": 0}}, "whole number from 1"),
        ({"at_least": {"Sexx": 1}}, "Sexx"),
        ({"k": 1000}, "1,000"),
        ({"weighted": True}, "--weight"),
        ({"observed": ("Age",)}, "--environment"),
        ({"factors": {"Age": 0.0}}, "above 0"),
        ({"variables": ("Nothing",)}, "Nothing"),
    ],
)
def test_wishes_that_cannot_be_granted(options, told):
    with pytest.raises(InputError) as caught:
        SearchRecoding(**options).apply(people(), SETTING)
    assert told in str(caught.value)
    assert caught.value.exit_code == 2


def test_contradictory_pins_are_one_error_with_all_of_them():
    setting = Setting(keys=("Age", "Sex", "Status"), environment=environment())
    step = SearchRecoding(
        observed=("Age",),
        keep=("Age: 16", "Age: 18"),
        at_least={"Sex": 3},
        variables=("Age", "Sex"),
    )
    with pytest.raises(InputError) as caught:
        step.apply(people(), setting)
    assert len(caught.value.problems) == 2
    assert "no categorization is left" in str(caught.value)
    assert "at most 2" in str(caught.value)


def test_every_kind_of_fault_is_in_the_one_error():
    step = SearchRecoding(
        keep=("Sex: m", "Colour: red", "Age"),
        forbid=("Sex: m", "Age: blue"),
        at_least={"Agee": 2, "Status": 0},
        factors={"Statuss": 2.0, "Status": 0.0},
        ways=("Agge=width 5", "Age=wide"),
        variables=("Age", "Sex", "Nobody"),
    )
    with pytest.raises(InputError) as caught:
        step.apply(people(), SETTING)
    told = "\n".join(map(str, caught.value.problems))
    for fault in ("'Colour'", "'Age': that is not", "'Age: blue'", "'Agee'", "'Statuss'", "'Agge'",
                  "recode of 'Age'", "'Nobody'", "whole number", "above 0",
                  "variable 'Sex': no categorization"):  # fmt: skip
        assert fault in told, fault
    assert len(caught.value.problems) == 11


def test_an_unknown_category_of_an_environment_is_told_with_near_names():
    setting = Setting(keys=("Status",), environment=environment())
    with pytest.raises(InputError) as caught:
        SearchRecoding(forbid=("Status: was maried",)).apply(people(), setting)
    assert "was married" in str(caught.value)
    assert caught.value.problems[0].reason is Reason.UNKNOWN_NAME


@pytest.mark.slow
def test_the_certificate_can_be_checked_by_counting_once():
    table = people(60)
    found = search_for_recoding(table, SETTING, SearchRecoding(k=3))
    codes = table.matrix(list(SETTING.keys))
    assert found.certificate()
    for cut in found.certificate():
        merged = np.column_stack(
            [
                np.array(cut["partitions"][name])[codes[:, place]]
                for place, name in enumerate(SETTING.keys)
            ]
        )
        assert np.unique(merged, axis=0, return_counts=True)[1].min() < 3


def test_the_table_has_a_row_per_variable():
    found = search_for_recoding(people(), SETTING, SearchRecoding(k=4))
    rows = found.to_arrow().to_pylist()
    assert [row["variable"] for row in rows] == list(SETTING.keys)
    assert sum(row["loss"] for row in rows) == pytest.approx(found.loss)
    assert "best" not in repr(found)


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from(["bits", "share"]))
def test_what_is_called_met_is_met(seed, k, loss):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (30, 3))
    codes[:, 0] = np.maximum(codes[:, 0], 1)
    table = coded_from_codes(codes, ["a", "b", "c"])
    setting = Setting(keys=("a", "b", "c"))
    made = SearchRecoding(k=k, loss=Loss(loss), ways=("a=neighbours 2",)).apply(table, setting)
    small = smallest(made.table, setting.keys) < k
    assert made.found["is_met"] == (not small)
    assert (made.table.codes("b") == 0).tolist() == (table.codes("b") == 0).tolist()


def highest_is(codes):
    """The highest IS by its definition: (M-s)! for each minimal unique set of a record."""
    n, m = codes.shape
    best = 0
    for row in range(n):
        minimal = []
        for size in range(1, m + 1):
            for columns in combinations(range(m), size):
                chosen = list(columns)
                alike = (codes[:, chosen] == codes[row, chosen]).all(axis=1).sum()
                if alike == 1 and not any(set(own) <= set(columns) for own in minimal):
                    minimal.append(columns)
        best = max(best, sum(factorial(m - len(own)) for own in minimal))
    return best


def test_no_record_has_an_is_above_what_is_asked():
    table = people(40)
    free = search_for_recoding(table, SETTING, SearchRecoding(k=1))
    few = SearchRecoding(k=1, most_is=1, ways=("Age=width 10", "Age=width 20"), whole_levels=True)
    asked = search_for_recoding(table, SETTING, few)
    assert free.loss == 0.0
    assert asked.status == "optimal"
    before, after = (
        highest_is(each.step.apply(table, SETTING).table.matrix(list(SETTING.keys)))
        for each in (free, asked)
    )
    assert before > 1
    assert after <= 1
    assert "no IS above 1" in asked.sentences()[0]


@pytest.mark.slow
def test_bands_of_numbers_whose_last_is_open():
    ages = [*map(str, range(60, 90)), "90+"] * 3
    table = code_frame(pa.table({"Age": ages, "Sex": ["f"] * len(ages)}), ["Age", "Sex"])
    found = search_for_recoding(table, Setting(keys=("Age", "Sex")), SearchRecoding(k=7))
    own = found.problem.categories["Age"]
    assert own.source == "bands of a few widths"
    assert "90+" in own.names.values()
    assert smallest(found.step.apply(table, SETTING).table, ("Age", "Sex")) >= 7
    assert found.rules
    assert not found.step.groups


def test_a_variable_that_nobody_has_is_no_obstacle():
    table = coded_from_codes([[1, 0]] * 3 + [[2, 0]] * 2, ["a", "b"])
    made = SearchRecoding(k=2).apply(table, Setting(keys=("a", "b")))
    assert made.found["is_met"]
    assert made.found["loss"] == 0.0
