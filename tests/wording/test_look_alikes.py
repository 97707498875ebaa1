"""Names that look the same and are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.mapping.edits import AddForm, apply_edits
from gamekeeper.mapping.edits.notes import edit_notes, name_notes
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.wording import likeness, look_alikes, oddity


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
