from __future__ import annotations

import pytest

from gamekeeper.data.coding.coded_table import CodedTable, coded_from_codes
from gamekeeper.errors import InputError
from gamekeeper.protection.recipe import read_step
from gamekeeper.protection.recoding.options import Recoding
from gamekeeper.protection.step import Setting

SETTING = Setting(keys=("age", "work"))


@pytest.fixture
def table() -> CodedTable:
    return coded_from_codes(
        [[1, 1], [2, 2], [3, 0]],
        ["age", "work"],
        [("missing", "1", "2", "3"), ("missing", "a|b", "c;d")],
    )


def test_rules_are_applied_and_kept_in_the_log(table):
    made = Recoding(rules=("age=width 2",)).apply(table, SETTING)
    assert made.table.codebook["age"].words == ("missing", "0-1", "2-3")
    assert made.table.codes("age").tolist() == [1, 2, 2]
    assert made.log.variables["age"].recode is not None
    assert made.told == ("'age': 3 categories become 2.",)
    assert made.log.n_changed == 0


def test_values_that_no_rule_can_write_are_put_together_by_groups(table):
    step = Recoding(groups={"work": {"any work": ("1", "2")}})
    made = step.apply(table, SETTING)
    assert made.table.codebook["work"].words == ("missing", "any work")
    assert made.table.codes("work").tolist() == [1, 1, 0]
    assert read_step(step.to_json()).to_json() == step.to_json()


def test_a_group_of_values_that_are_not_there(table):
    step = {"do": "recode", "groups": {"work": {"x": ["1", "secret"]}}}
    with pytest.raises(InputError) as caught:
        read_step(step).apply(table, SETTING)
    assert "secret" not in str(caught.value)
    assert "1 value is not in the file" in str(caught.value)
    assert read_step({**step, "strict": False}).apply(table, SETTING).table.n_records == 3
