from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gamekeeper.wording import (
    asking_text,
    exact_percent,
    fraction_text,
    joined,
    large_text,
    listed,
    magnitude_text,
    number_text,
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
