from __future__ import annotations

import pytest

from gamekeeper.errors import InputError
from gamekeeper.protection.targets import parse_targets


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("both>=3", "both>=3"),
        (" Both >= 3 ", "both>=3"),
        ("(k,1)>=5", "released to people>=5"),
        ("candidates≥2", "both>=2"),
        ("expected matches<=0.5%", "expected matches<=0.5%"),
        ("expected_matches<=20", "expected matches<=20"),
        ("linkage<=2%", "linkage<=2%"),
        ("linkage<=0.02", "linkage<=2%"),
        ("policy=k3", "policy=k3"),
        ("k_anonymity>=3", "k anonymity>=3"),
        ("global risk<=3%", "global risk<=3%"),
    ],
)
def test_what_is_typed_is_read_and_written_again(typed, text):
    (target,) = parse_targets([typed])
    assert target.text == text
    assert parse_targets([target.text])[0] == target


@pytest.mark.parametrize(
    "typed",
    [
        "both", "both>3", "both<=3", "both>=1", "both>=2.5", "both>=50%", "linkage>=2%",
        "linkage<=20", "expected matches<=200%", "wildcard>=2", "(1,k)>=2", "nothing<=3",
        "policy>=k3", "policy=nosuch", "k_anonymity<=3", "k_anonymity>=1", "global_risk<=2",
        "k_anonymity>=50%", "", "both>=x",
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(typed):
    with pytest.raises(InputError):
        parse_targets([typed])


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(InputError) as error:
        parse_targets(["wildcard>=2", "linkage<=1%", "own>=1", "linkage<=1%"])
    assert [problem.where for problem in error.value.problems] == [
        "target 'wildcard>=2'",
        "target 'own>=1'",
        "target 'linkage<=1%'",
    ]
    assert "protect nobody" in error.value.problems[0].found
