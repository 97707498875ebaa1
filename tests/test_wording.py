"""Numbers, texts and names in a sentence: how they are shown, folded, near to each other, or odd."""

from __future__ import annotations

import math
import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.mapping.edits import AddForm, apply_edits
from gamekeeper.mapping.edits.consequences import edit_notes, name_notes
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.wording import (
    asking_text,
    exact_percent,
    folded,
    fraction_text,
    joined,
    large_text,
    likeness,
    listed,
    look_alikes,
    magnitude_text,
    near_names,
    number_text,
    oddity,
    percent_text,
    power_text,
    share_text,
    short,
    there_are,
    three_digits,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (Fraction(1, 3), "0.33"),
        (2.5, "2.5"),
        (100, "100"),
        (12_345.678, "12,345.68"),
        (math.inf, "∞"),
    ],
)
def test_numbers_for_people(value: float, text: str):
    assert number_text(value) == text


def test_shares_for_people():
    assert exact_percent(Fraction(0)) == "0%"
    assert exact_percent(Fraction(1, 8)) == "12.5%"
    assert exact_percent(Fraction(29, 100)) == "29%"
    assert exact_percent(Fraction(2, 3)) == "2/3, about 66.67%"
    # The same share as it was chosen, counted, estimated, and drawn.
    share = Fraction(1, 3_000)
    told = [exact_percent(share), percent_text(float(share)), share_text(share)]
    assert told == ["1/3000, about 0.03%", "0.0%", "0.0333%"]
    assert fraction_text(share) == "0.03333%"
    assert share_text(1) == "100%"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1e-9, "less than 0.000001"),
        (Fraction(1, 7), "0.143"),
        (99.96, "100"),
        (1_234.5, "1,234"),
    ],
)
def test_estimates_for_people(value: float, text: str):
    assert three_digits(value) == text


def test_numbers_of_any_size():
    much = "more than a million billion (a number of"
    assert [large_text(10**15 - 1), large_text(10**15)] == [
        "999,999,999,999,999",
        f"{much} 16 digits)",
    ]
    assert large_text(7 * 10**5_000) == f"{much} 5,001 digits)"
    more = "more than a billion (a number of"
    assert [magnitude_text(999_999_999), magnitude_text(2e9)] == [
        "999,999,999",
        f"{more} 10 digits)",
    ]
    assert magnitude_text(2**20_000) == f"{more} 6,021 digits)"
    assert [power_text(0), power_text(8.5), power_text(9)] == [
        "about 1", "about 316,227,766", f"{more} 10 digits)",
    ]  # fmt: skip


def test_verbs_follow_numbers():
    assert [there_are(n, "class", "classes") for n in (0, 1, 2)] == [
        "There are 0 classes",
        "There is 1 class",
        "There are 2 classes",
    ]


def test_parts_of_a_sentence():
    parts = ["a", "b", "c"]
    assert [joined(parts[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert [joined(parts, most) for most in (1, 2, 3)] == [
        "a and 2 more",
        "a, b and 1 more",
        "a, b and c",
    ]
    assert joined(parts, 3, among=1_234) == "a, b, c and 1,231 more"
    assert listed(parts, 3, among=1_234) == "a; b; c; and 1,231 more"


def test_texts_are_cut():
    assert short("a  b\tc\x07") == "a b c\N{REPLACEMENT CHARACTER}"
    assert short("x" * 10_000) == "x" * 79 + "…"
    assert listed([], 3) == ""
    assert listed(["a"] * 1_003, 3) == "a; a; a; and 1,000 more"


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((9, 46, 1), "9 of 46 forms ask for it, 1 of them set aside"),
        ((1, 46, 1), "1 of 46 forms asks for it, and is set aside"),
        ((2, 46, 2), "2 of 46 forms ask for it, all of them set aside"),
        ((1, 46, 0), "1 of 46 forms asks for it"),
        ((0, 46, 0), "none of 46 forms ask for it"),
        ((1, 1, 0), "the one form asks for it"),
        ((1, 1, 1), "the one form asks for it, and is set aside"),
        ((0, 1, 0), "the one form does not ask for it"),
    ],
)
def test_forms_that_ask(counts: tuple[int, int, int], text: str):
    assert asking_text(*counts) == text


@pytest.mark.parametrize(
    "name",
    ["B\u0430nk", "B\u0430\u043dk".replace("\u043d", "n"), "\u0412ank", "Ban\u212a", "Ba\u00adnk", "Bank\u200b",
     "B\u200dank", "Bank\ufe0f", "\u0392\u03b1nk", "Ｂａｎｋ", "B\u3164ank"],
)  # fmt: skip
def test_what_looks_like_bank(name):
    assert look_alikes(name, ["Bank", "Shop"]) == ("Bank",)


@pytest.mark.parametrize("name", ["Bonk", "Банк", "Bank 1", "銀行", "Bänke"])
def test_what_does_not(name):
    assert look_alikes(name, ["Bank"]) == ()


@pytest.mark.parametrize(
    "name",
    ["Bank", "Банк", "Возраст (age)", "Größe", "α-level", "日本ひらがなカナ", "Ηλικία", "µg", "Çà"],
)
def test_names_of_one_script_a_word_are_not_odd(name):
    assert oddity(name) == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("B\u0430nk", "mixes Cyrillic and Latin letters in a word"),
        ("\u0391ge", "mixes Greek and Latin letters in a word"),
        ("so\u00adft", "holds U+00AD, which does not show"),
        ("a\u200bb\u200dc", "holds U+200B, U+200D, which do not show"),
        ("\U0001f469\u200d\U0001f467", ""),
        ("\U0001f469\u200dBank", "holds U+200D, which does not show"),
    ],
)
def test_what_is_odd_is_said(name, said):
    assert oddity(name) == said


@given(st.text(max_size=8))
def test_likeness_is_stable(name):
    assert likeness(likeness(name)) == likeness(name) or not name.isascii()
    assert look_alikes(name, [name]) == ()


def test_edits_point_it_out():
    before = Environment([], [Form("Bank")])
    edits = [AddForm(name="B\u0430nk")]
    assert edit_notes(before, apply_edits(before, edits), edits) == (
        "The new form 'B\u0430nk' mixes Cyrillic and Latin letters in a word.",
        "The new form 'B\u0430nk' looks like 'Bank', and is written otherwise.",
    )


def test_a_whole_environment_is_looked_through():
    made = Environment([], [Form("Bank"), Form("Ba\u00adnk"), *(Form(f"F{n}") for n in range(9))])
    assert [note.split("'")[0] for note in name_notes(made)] == ["The form ", "The forms "]
    assert name_notes(Environment([], [Form("Bank"), Form("Shop")])) == ()
    many = Environment([], [Form(f"F\u00ad{n}") for n in range(40)])
    assert len(name_notes(many)) == 21


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
def test_what_does_not_fold_to_the_same(one, other):
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
