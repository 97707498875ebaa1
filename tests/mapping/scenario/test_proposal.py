"""Values of a file become categories of a scenario, or are reported without being shown."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper import Environment, Form, InputError, Variable, map_key_variables
from gamekeeper.data.coding.codebook import Codebook, CodedVariable
from gamekeeper.errors import Reason
from gamekeeper.mapping import PartitionGraph
from gamekeeper.mapping.scenario.proposal import columns_of, plan_recodes, propose_scenario

AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
STATUS = Variable(
    "Marital status",
    PartitionGraph(
        {"any": ["never married", "formerly", "Married"], "formerly": ["divorced", "Widowed"]}
    ),
)


def environment(
    form_ages=("0-15", "16-64", "65+"), statuses=("never married", "formerly", "Married")
):
    return Environment(
        [AGE, STATUS],
        [
            Form(
                "Census",
                {"Age": (), "Marital status": ("never married", "divorced", "Widowed", "Married")},
            ),
            Form("Bank", {"Age": form_ages, "Marital status": statuses}),
        ],
    )


def scenario(world):
    outcome = map_key_variables(world, "Census", forms=["Bank"])
    return propose_scenario(outcome, world, name="A clerk", forms=["Bank"])


def codebook(ages, statuses, labels=None):
    return Codebook(
        (
            CodedVariable.of_values("AGE", ages),
            CodedVariable.of_values("status", statuses, labels=labels),
        )
    )


def planned(ages, statuses, labels=None, **more):
    world = environment()
    columns = {"Age": "AGE", "Marital status": "status"}
    return plan_recodes(scenario(world), world, codebook(ages, statuses, labels), columns, **more)


def meanings(plan, name):
    """Return what each code of a column becomes, in words."""
    recode = next(item for item in plan.recodes if item.new_name == name)
    return [recode.words[code] for code in recode.codes]


def test_numbers_fall_into_their_bands():
    plan = planned(["0", "15", "16", "64.5", "65", "104"], ["married"])
    assert meanings(plan, "Age") == ["missing", "0-15", "0-15", "16-64", "16-64", "65+", "65+"]
    assert not plan.unmapped


def test_bands_of_the_file_fall_into_larger_ones():
    plan = planned(["0-4", "under 16", "16 to 24", "65 and over"], ["married"])
    assert meanings(plan, "Age") == ["missing", "0-15", "16-64", "65+", "0-15"]


def test_labels_count_before_values_and_case_does_not():
    labels = {"1": "NEVER  married", "2": "Divorced", "3": "widowed", "4": "married"}
    plan = planned(["3"], ["1", "2", "3", "4"], labels)
    assert meanings(plan, "Marital status") == [
        "missing", "never married", "formerly", "formerly", "Married",
    ]  # fmt: skip


def test_values_that_are_too_coarse_or_unknown_are_counted_and_not_shown():
    plan = planned(["10-20", "-9", "canary-7734"], ["any", "married", "canary-7735"])
    assert [(item.variable, len(item.values), item.n_coarse) for item in plan.unmapped] == [
        ("Age", 3, 1),
        ("Marital status", 2, 1),
    ]
    problems = plan.problems(lambda item: 10 * len(item.codes))
    text = " ".join(map(str, problems)) + repr(plan)
    assert "canary" not in text
    assert "10-20" not in text
    assert {problem.reason for problem in problems} == {Reason.UNMAPPED_VALUES}
    assert "3 values" in text
    assert "30 records" in text


def test_numbers_that_may_be_codes_are_unmapped_until_somebody_says_which():
    ages = [str(n) for n in range(1, 9)]
    (left,) = planned(ages, ["married"]).unmapped
    assert (left.values, left.as_numbers) == (tuple(ages), ("0-15",) * 8)
    assert not planned(ages, ["married"], numbers=["Age"]).unmapped
    meant = dict.fromkeys(ages, "16-64")
    plan = planned(ages, ["married"], values={"Age": meant})
    assert not plan.unmapped
    assert set(meanings(plan, "Age")[1:]) == {"16-64"}
    del meant["8"]
    (left,) = planned(ages, ["married"], values={"Age": meant}).unmapped
    assert left.values == ("8",)
    # What is neither known nor a number is asked about beside them.
    both = planned([*ages, "old"], ["married"]).unmapped
    assert [(item.values, item.as_numbers) for item in both] == [
        (("old",), ()),
        (tuple(ages), ("0-15",) * 8),
    ]


def test_a_steward_can_say_what_a_value_means():
    plan = planned(
        ["1"], ["W", "M"], values={"Marital status": {"W": "Widowed", "M": "Married", "X": ""}}
    )
    assert meanings(plan, "Marital status") == ["missing", "Married", "formerly"]


def test_a_given_category_must_exist():
    with pytest.raises(InputError) as caught:
        planned(["1"], ["W"], values={"Marital status": {"W": "Widow"}})
    assert caught.value.reason is Reason.UNKNOWN_NAME


def test_any_level_of_detail_keeps_the_values():
    world = environment(form_ages=())
    columns = {"Age": "AGE", "Marital status": "status"}
    plan = plan_recodes(scenario(world), world, codebook(["33", "34"], ["married"]), columns)
    recode = plan.recodes[0]
    assert recode.new_name == "Age"
    np.testing.assert_array_equal(recode.codes, [0, 1, 2])


def test_a_decimal_comma_is_read():
    plan = planned(["15,5", "64,9"], ["married"], decimal=",")
    assert meanings(plan, "Age") == ["missing", "0-15", "16-64"]


def test_a_scenario_that_no_longer_fits_is_named():
    world = environment()
    kept = scenario(world)
    other = Variable("Marital status", PartitionGraph({"any": ["never married", "ever married"]}))
    changed = Environment([AGE, other], [])
    columns = {"Age": "AGE", "Marital status": "status"}
    with pytest.raises(InputError) as caught:
        plan_recodes(kept, changed, codebook(["1"], ["married"]), columns)
    assert caught.value.reason is Reason.STALE


def test_columns_are_found_by_name_or_as_given():
    names = ["age", "Marital_Status", "sex", "SEX "]
    assert columns_of(["Age"], names, {"Age": "sex"}) == {"Age": "sex"}
    with pytest.raises(InputError) as caught:
        columns_of(["Sex", "Income"], names, {"Agee": "age"})
    assert len(caught.value.problems) == 3
