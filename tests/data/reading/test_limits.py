"""Limits that are printed in place of a number, in the spellings of those who publish tables."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gamekeeper.data.reading.columns import limits_of


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("<5", (None, 4)), (" < 5 ", (None, 4)), ("(<5)", (None, 4)), ("<5*", (None, 4)),
        ("n<5", (None, 4)), ("Suppressed (<5)", (None, 4)), ("less than 5", (None, 4)),
        ("Fewer than 5", (None, 4)), ("under 5", (None, 4)), ("below 5", (None, 4)),
        ("≤4", (None, 4)), ("<=4", (None, 4)), ("up to 4", (None, 4)), ("at most 4", (None, 4)),
        ("no more than 4", (None, 4)), ("5 or fewer", (None, 5)), ("5 or less", (None, 5)),
        ("1-4", (1, 4)), ("1–4", (1, 4)), ("1 to 4", (1, 4)), ("[1-4]", (1, 4)),
        ("between 1 and 4", (1, 4)), ("0-4", (0, 4)), ("<1,000", (None, 999)),
        ("5+", (5, None)), ("5 or more", (5, None)), (">5", (6, None)), ("≥5", (5, None)),
    ],
)  # fmt: skip
def test_limits_are_read_in_every_spelling(text, whole):
    assert limits_of(text).of_whole() == whole


@pytest.mark.parametrize(
    "text", ["5", "-1", "1e5", "x", "*", "..", "c", "n", "(*)", "A01", "", "5%"]
)
def test_what_is_no_limit_is_not_read_as_one(text):
    assert limits_of(text) is None


@pytest.mark.parametrize(
    "text", ["4-1", "<x5", "about <5 people", "fewer than five", "*" * 99 + " < 5"]
)
def test_what_reads_like_a_limit_is_never_passed_over(text):
    with pytest.raises(ValueError, match=r"^$"):
        limits_of(text)


def test_of_values_no_end_is_cut():
    assert (limits_of("<2,5", ",").high, limits_of("1.5-2.5").low) == (
        Fraction(5, 2),
        Fraction(3, 2),
    )
