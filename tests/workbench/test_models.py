"""A comparison on a file: the library's own, with attacks where a page is asked for."""

from __future__ import annotations

import pytest

import gamekeeper as gk
from gamekeeper.errors import InputError
from gamekeeper.workbench.models import compare_on_population
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.requests.models import CompareRequest
from tests.given.microdata import KEYS, OTHERS, PEOPLE, write


@pytest.fixture
def census(tmp_path):
    return MicrodataRequest(file=write(tmp_path, "census.csv", PEOPLE + "".join(OTHERS)), keys=KEYS)


def compared(census, **more):
    asked = CompareRequest(
        microdata=census, fractions=("50%",), measures=("is",), workers=1, seed=2, **more
    )
    return compare_on_population(asked).found


@pytest.mark.parametrize(
    ("more", "fractions"),
    [
        ({}, ()),
        ({"attacks": True}, None),
        ({"attacks": False}, ()),
        ({"attack_fractions": ("20%",), "attack_samples": 2}, ["20%"]),
    ],
)
def test_the_range_of_attacks_is_a_choice(census, more, fractions):
    coded = gk.code_source(gk.open_source(census.file), KEYS)
    expected = gk.risk.compare_measures(
        coded, KEYS, fractions=["50%"], measures=["is"], seed=2, attack_fractions=fractions,
        attack_samples=more.get("attack_samples", 1),
    )  # fmt: skip
    found = compared(census, **more)
    assert found.attacks.to_arrow() == expected.attacks.to_arrow()
    assert found.to_arrow() == expected.to_arrow()


def test_a_comparison_hands_on_how_far_to_search(census):
    told = compared(census, max_size=2).provenance.parameters
    assert told["max_size"] == "2"


@pytest.mark.slow
def test_a_page_has_the_whole_range_unless_told_otherwise(census, tmp_path):
    page = tmp_path / "page.html"
    whole = compared(census, attacks=True).attacks
    assert compared(census, report=page).attacks.to_arrow() == whole.to_arrow()
    assert whole.sentences()[1] in page.read_text(encoding="utf-8")
    alone = compared(census, report=page, replace=True, attacks=False).attacks
    assert [str(step) for step in alone.fractions] == ["1/2"]


def test_attacks_cannot_be_left_out_and_asked_for(census):
    with pytest.raises(InputError) as caught:
        compared(census, attacks=False, attack_fractions=("5%",))
    assert "--no-attacks" in str(caught.value)
