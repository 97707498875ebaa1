"""Policies: what they may say, and how a file stands to them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.attack.assessment.criteria import CRITERIA, Found
from gamekeeper.attack.assessment.measured import Interval, measure_file
from gamekeeper.attack.assessment.policy import (
    PROFILES,
    Limit,
    Standing,
    judge_limit,
    judge_policy,
    read_policy,
)
from gamekeeper.attack.measures import measure_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import three_digits

PEOPLE = [[1, 1]] * 3 + [[1, 2]] * 2 + [[2, 1]] * 4 + [[2, 2]]


def measured(codes=PEOPLE, **more):
    table = count_keys(coded_from_codes(codes, ["a", "b"]), ["a", "b"], **more)
    return measure_file(table, workers=1)


def judged(criteria, found=None):
    policy = read_policy({"policy": "Ours", "criteria": criteria})
    return judge_policy(policy, found or measured())


def standings(criteria, found=None):
    return [line.standing.value for line in judged(criteria, found).lines]


def test_every_profile_names_its_source():
    assert {"k2", "k3", "k5", "ema", "health-canada", "hdx"} == set(PROFILES)
    for policy in PROFILES.values():
        assert policy.limits
        assert all(limit.source for limit in policy.limits)
    assert read_policy("ema").limits[0].value == 0.09
    assert read_policy("hdx").limits[0].value == 0.03


def test_exact_criteria_by_hand():
    # Classes of 3, 2, 4 and 1 records.
    found = measured()
    values = {name: criterion.measure(found).interval for name, criterion in CRITERIA.items()}
    assert values["k_anonymity"].value == 1
    assert values["share_of_uniques"].value == 1 / 10
    assert values["highest_risk"].value == 1
    assert values["average_risk"].value == pytest.approx(4 / 10)
    assert values["global_risk"].value is None
    assert values["global_risk"].upper == pytest.approx(4 / 10)
    assert values["average_match"] == values["global_risk"]
    assert values["individual_risk"].upper == 1
    assert values["household_risk"] is None
    # Of one variable none; of two the classes of 2 and of 1.
    assert values["unsafe_combinations"].value == 2
    assert values["right_matches"].upper == 1
    assert values["one_sensitive_value"] is None


def test_criteria_on_sensitive_values_by_hand():
    # Classes {x, y} and {x, x}: of the file 3/4 are x, so that the second is 1/4 away.
    coded = coded_from_codes([[1, 1], [1, 2], [2, 1], [2, 1]], ["a", "b"])
    found = measure_file(count_keys(coded, ["a"], sensitive=["b"]), workers=1)
    criteria = {"l_diversity": 2, "t_closeness": 0.25, "one_sensitive_value": 0.5}
    lines = judged(criteria, found).lines
    assert [line.found.value for line in lines] == [1, 0.25, 0.5]
    assert [line.standing.value for line in lines] == ["not met", "met", "met"]


def test_a_sensitive_variable_without_a_value_leaves_closeness_unknown():
    coded = coded_from_codes([[1, 0, 1], [1, 0, 2], [2, 0, 1], [2, 0, 1]], ["a", "b", "c"])
    found = measure_file(count_keys(coded, ["a"], sensitive=["b"]), workers=1)
    (line,) = judged({"t_closeness": 0.25}, found).lines
    assert (line.found_text, line.why) == ("not known", "no record has a sensitive value")
    both = measure_file(count_keys(coded, ["a"], sensitive=["b", "c"]), workers=1)
    assert judged({"t_closeness": 0.25}, both).lines[0].found.value == 0.25


def test_an_exact_measure_is_met_or_not():
    assert standings({"share_of_uniques": 0.1, "average_risk": 0.39, "k_anonymity": 2}) == [
        "met",
        "not met",
        "not met",
    ]


def test_a_bound_can_prove_a_limit_and_never_its_breach():
    assert standings({"global_risk": 0.4, "right_matches": 0}) == ["met", "not proven"]


def test_individual_risk_is_judged_as_published_at_its_value_and_said_to_be():
    codes = [
        [*line, home] for line, home in zip(PEOPLE, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], strict=True)
    ]
    keys = count_keys(coded_from_codes(codes, ["a", "b", "h"]), ["a", "b"], fraction="1/10")
    found = measure_file(keys, household="h", workers=1)
    published = measure_risk(keys, household="h")
    limits = {
        "global_risk": published["global_risk"],
        "individual_risk": published["individual_highest"],
        "household_risk": published["household_highest"],
    }
    ours = judged(limits, found)
    assert [line.found.value for line in ours.lines] == pytest.approx(list(limits.values()))
    strict = judged({name: value * 0.99 for name, value in limits.items()}, found)
    loose = judged({name: min(value * 1.01, 1) for name, value in limits.items()}, found)
    assert {line.standing for line in strict.lines} == {Standing.NOT_MET}
    assert {line.standing for line in loose.lines} == {Standing.MET}
    assert "as published, by point estimates (global_risk, " in loose.sentence
    for line in loose.lines:
        assert "judged as published, at its value" in line.standing_text


def test_individual_risk_proves_nothing_where_models_find_more():
    """By the fraction a sample unique has the same risk, 0.26, whatever its key; of one 0.9 is near."""
    rng = np.random.default_rng(3)
    rows = (1 + np.minimum(rng.geometric(0.25, (1_500, 4)), 15)).tolist()
    keys = count_keys(coded_from_codes(rows, list("abcd")), list("abcd"), fraction="1/10")
    found = measure_file(keys, workers=1)
    highest = float(found.chances.p.max())
    assert highest > 0.8
    (line,) = judged({"individual_risk": 0.3}, found).lines
    assert line.found.value < 0.3
    assert line.standing is Standing.NOT_PROVEN
    assert line.why.startswith("models of the file find more")
    assert line.note.endswith(f"models of the file give {three_digits(highest)}")
    assert judged({"individual_risk": 1}, found).is_met


def test_individual_risk_proves_nothing_where_missing_cells_match():
    found = measured([[1, 1], [0, 1], [2, 1]], missing="wildcard", fraction="1/10")
    (line,) = judged({"global_risk": 0.9}, found).lines
    assert line.standing is Standing.NOT_PROVEN
    assert "--missing category" in line.why


LIMITS = st.sampled_from([CRITERIA["average_match"], CRITERIA["k_anonymity"]])


@given(LIMITS, st.lists(st.floats(0, 1), min_size=3, max_size=3), st.floats(0, 1))
def test_an_estimate_is_judged_by_the_ends_of_its_interval(criterion, ends, limit):
    lower, value, upper = sorted(ends)
    standing, _ = judge_limit(Limit(criterion, limit), Found(Interval(value, lower, upper)))
    # A true value anywhere in the interval must not contradict what was said.
    for true in (lower, value, upper):
        meets = true >= limit if criterion.at_least else true <= limit
        assert meets or standing is not Standing.MET
        assert not meets or standing is not Standing.NOT_MET


def test_records_that_were_left_out_are_not_proven():
    found = measured([[1, 1], [1, 1], [0, 1]], missing="exclude")
    (line,) = judged({"k_anonymity": 2}, found).lines
    assert line.standing is Standing.NOT_PROVEN
    assert "left out" in line.why


def test_missing_cells_that_match_prove_nothing():
    found = measured([[1, 1], [0, 1], [2, 1]], missing="wildcard")
    assert standings({"k_anonymity": 2, "share_of_uniques": 0.5}, found) == ["not met", "not met"]


def test_what_is_not_known_is_not_proven_and_says_why():
    (line,) = judged({"one_sensitive_value": 1}).lines
    assert line.standing is Standing.NOT_PROVEN
    assert "--sensitive" in line.why


def test_one_sentence_on_the_policy_as_a_whole():
    assert judged({"share_of_uniques": 0.2}).sentence == "The file meets the policy 'Ours'."
    both = judged({"k_anonymity": 2, "right_matches": 0, "share_of_uniques": 1})
    assert both.sentence == (
        "The file does not meet the policy 'Ours': 1 criterion of 3 is not met (k_anonymity) and"
        " 1 criterion of 3 is not proven (right_matches)."
    )
    assert both.standing is Standing.NOT_MET
    assert "is not proven to meet" in judged({"right_matches": 0}).sentence


def test_all_faults_of_a_policy_are_told_at_once():
    with pytest.raises(InputError) as caught:
        read_policy(
            {
                "polcy": 1,
                "criteria": {
                    "k_anonimity": 3,
                    "global_risk": 3,
                    "k_anonymity": 2.5,
                    "average_risk": "high",
                    "highest_risk": float("nan"),
                    "right_matches": {"limit": -1, "by": "us", "source": 3},
                    "unique_match": True,
                },
            }
        )
    told = str(caught.value)
    assert len(caught.value.problems) == 11
    assert "'k_anonymity'" in told
    assert "from 0 to 1" in told
    assert caught.value.reason is Reason.UNKNOWN_NAME


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"policy": "x", "criteria": {}}', '{"policy": "x"', "\ufeff{}", "{" * 5000]
)
def test_a_file_that_is_no_policy_is_one_error(tmp_path, text):
    path = tmp_path / "policy.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_policy(path)
    assert caught.value.exit_code == 2
    assert "policy" in str(caught.value)


def test_a_name_twice_in_a_file_is_told(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text('{"policy": "x", "criteria": {"global_risk": 0.1, "global_risk": 0.9}}')
    with pytest.raises(InputError, match="more than once"):
        read_policy(path)


def test_an_unknown_profile_names_those_there_are():
    with pytest.raises(InputError, match="hdx") as caught:
        read_policy("hxd")
    assert caught.value.reason is Reason.NOT_FOUND


def test_a_file_is_read_as_its_content(tmp_path):
    content = {"policy": "Ours", "criteria": {"k_anonymity": {"limit": 3, "source": "the board"}}}
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(content))
    assert read_policy(path) == read_policy(str(path)) == read_policy(content)
    assert read_policy(content).limits[0].source == "the board"


def test_the_reference_names_every_criterion_and_profile():
    page = (Path(__file__).parents[3] / "docs/reference/assessment.md").read_text(encoding="utf-8")
    assert [name for name in (*CRITERIA, *PROFILES) if f"`{name}`" not in page] == []
