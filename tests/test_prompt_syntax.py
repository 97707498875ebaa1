"""What is typed for options: names, pairs, pairs with numbers, and sampling fractions read exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.errors import InputError, Reason
from gamekeeper.prompt_syntax import (
    names_of,
    number_pairs_of,
    pairs_of,
    parse_fraction,
    whole_pairs_of,
)


def test_names_are_split_at_commas_and_bare():
    assert names_of(["a,b", " c ", ",", "d e, f"]) == ("a", "b", "c", "d e", "f")
    assert names_of([]) == ()


def test_pairs_are_split_at_the_first_equals_sign():
    assert pairs_of("--order COLUMN=LOW|HIGH", [" a = x|y=z "]) == {"a": "x|y=z"}


def test_all_that_are_no_pairs_are_told_with_how_to_write_them():
    with pytest.raises(InputError) as caught:
        pairs_of("--kind COLUMN=KIND", ["a", "=b", "c=", "d=e"])
    assert caught.value.reason is Reason.BAD_OPTION
    assert len(caught.value.problems) == 3
    assert "3 of 4 cannot be read. Write --kind COLUMN=KIND." in caught.value.message


def test_a_name_has_one_value():
    assert pairs_of("--kind COLUMN=KIND", ["a=x", "a = x"]) == {"a": "x"}
    with pytest.raises(InputError, match="'a' is given twice"):
        pairs_of("--kind COLUMN=KIND", ["a=x", "a=y"])


def test_pairs_with_numbers():
    assert number_pairs_of("--weight COLUMN=NUMBER", ["a=1e3", "b=-2"]) == {"a": 1000, "b": -2}
    with pytest.raises(InputError, match="Write --weight COLUMN=NUMBER"):
        number_pairs_of("--weight COLUMN=NUMBER", ["a=1", "b=heavy"])


@pytest.mark.parametrize("number", ["0", "1.5", "-1", "nan", "inf"])
def test_pairs_with_whole_numbers(number):
    assert whole_pairs_of("--window COLUMN=NUMBER", ["a=3", "b=1"]) == {"a": 3, "b": 1}
    with pytest.raises(InputError, match="whole number of at least 1"):
        whole_pairs_of("--window COLUMN=NUMBER", ["a=3", f"b={number}"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [("2%", "1/50"), (0.1, "1/10"), ("1/3", "1/3"), (1, "1"), (np.float64(0.3), "3/10")],
)
def test_fractions_are_read_exactly(written, meant):
    assert parse_fraction(written) == Fraction(meant)


@pytest.mark.parametrize(
    "written", [0, 0.0, -0.1, 1.01, "101%", "x", "", "1/0", math.nan, math.inf, "1e-99999", None]
)
def test_other_fractions_are_refused(written):
    with pytest.raises(InputError, match="above 0 and up to 1"):
        parse_fraction(written)
