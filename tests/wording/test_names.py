from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.wording import folded, near_names

names = st.text(st.characters(codec="utf-8"), max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Age", "AGE"),
        ("Économie", "economie"),
        ("Cafe\u0301", "Café"),
        ("Straße", "STRASSE"),
        ("ﬁeld", "field"),
        ("Marital  status", "marital\u00a0status"),
        ("İzmir", "izmir"),
    ],
)
def test_what_folds_to_the_same(one, other):
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("Age", "Ages"), ("16-24", "16 24"), ("und", "and")])
def test_what_does_not(one, other):
    assert folded(one) != folded(other)


@given(names)
def test_folding_is_idempotent_and_blind_to_composition(name):
    once = folded(name)
    assert folded(once) == once
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert folded(unicodedata.normalize(form, name)) == once


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Country of Residance", "Country of residence"),
        ("Residence, country of", "Country of residence"),
        ("Marital-status", "Marital status"),
        ("Ethnic groups", "Ethnic group"),
    ],
)
def test_near_names_are_found(name, near):
    assert near in near_names(name, ["Age", near, "Sex", "Income"])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Survey 1", "Survey 2"),
        ("Survey X", "Survey Y"),
        ("Sex", "Age"),
        ("Form 2029", "Form 2030"),
    ],
)
def test_other_names_are_not_near(name, other):
    assert near_names(name, [other]) == ()


@given(names, st.lists(names, max_size=4))
def test_near_names_takes_anything(name, known):
    assert set(near_names(name, known)) <= set(known) - {name}
    assert near_names("x" * 10_000, ["y" * 10_000]) == ()
