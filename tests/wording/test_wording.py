from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gamekeeper.wording import (
    asking_text,
    exact_percent,
    fraction_text,
    listed,
    number_text,
    percent_text,
    share_text,
    short,
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
    [(0, "0"), (1e-9, "1e-09"), (Fraction(1, 7), "0.143"), (99.96, "100"), (1_234.5, "1,234")],
)
def test_estimates_for_people(value: float, text: str):
    assert three_digits(value) == text


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
