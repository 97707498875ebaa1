from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.prevalence import (
    SizeCurve,
    is_null,
    parse_prevalence,
    threshold,
)
from gamekeeper.errors import InputError, Reason

SHARES = sorted({Fraction(k, n) for n in range(1, 13) for k in range(n + 1)})


@st.composite
def curves(draw):
    n_forms = draw(st.integers(1, 9))
    sizes = draw(st.lists(st.integers(1, 5) | st.just(math.inf), max_size=n_forms))
    return SizeCurve(n_forms, tuple(sorted(sizes, reverse=True)))


@pytest.mark.parametrize("n_forms", range(13))
def test_the_threshold_is_the_largest_number_of_forms_within_the_share(n_forms):
    for share in SHARES:
        within = [k for k in range(n_forms + 1) if Fraction(k) <= n_forms * share]
        assert threshold(n_forms, share) == max(1, within[-1])
        for n_having in range(n_forms + 1):
            enough = n_having >= 1 and Fraction(n_having, 1) >= n_forms * share
            assert is_null(n_forms, n_having, share) == (not enough)


@pytest.mark.parametrize(("n_forms", "share"), [(100, 0.29), (100, 0.57), (100, 0.07), (10, 0.7)])
def test_floats_mean_their_decimals(n_forms, share):
    exact = parse_prevalence(share)
    assert exact == Fraction(str(share))
    assert threshold(n_forms, exact) == round(n_forms * share)
    assert not is_null(n_forms, round(n_forms * share), exact)
    assert is_null(n_forms, round(n_forms * share) - 1, exact)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0", Fraction(0)),
        ("1", Fraction(1)),
        (" 0.25 ", Fraction(1, 4)),
        ("1/3", Fraction(1, 3)),
        ("25%", Fraction(1, 4)),
        ("12.5 %", Fraction(1, 8)),
        ("1e-3", Fraction(1, 1000)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_prevalences_are_read_exactly(written, meant):
    assert parse_prevalence(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        *(
            "abc",
            "",
            "1.5",
            "-0.1",
            "1/0",
            "101%",
            "nan",
            "inf",
            "0.2.1",
            "1e-9999999",
            "1e9999999",
        ),
        *(math.nan, math.inf, -math.inf, 1.01, -0.5, 2, Fraction(3, 2), None, True),
    ],
)
def test_other_prevalences_are_refused(written):
    with pytest.raises(InputError) as caught:
        parse_prevalence(written)
    assert caught.value.reason is Reason.BAD_PREVALENCE
    assert "0.25, 1/4 or 25%" in str(caught.value)


@given(st.fractions(0, 1, max_denominator=10_000))
def test_any_fraction_is_read_back(share):
    assert parse_prevalence(str(share)) == parse_prevalence(share) == share


@given(curves())
def test_the_curve_is_the_size_at_the_threshold(curve):
    n_having = len(curve.sizes)
    for share in SHARES:
        asked = curve.n_forms * share
        if n_having == 0 or n_having < asked:
            assert curve.at(share) == 0
        else:
            assert curve.at(share) == curve.sizes[max(1, math.floor(asked)) - 1]


@given(curves())
def test_the_area_is_the_integral_of_the_curve(curve):
    # The curve is constant between k/|E| and (k+1)/|E|, so the middle stands for the piece.
    middles = [Fraction(2 * k + 1, 2 * curve.n_forms) for k in range(curve.n_forms)]
    heights = [curve.at(middle) for middle in middles]
    expected = math.inf if math.inf in heights else Fraction(sum(heights), curve.n_forms)
    assert curve.area == expected
    if expected != math.inf:
        assert curve.area == sum((stop - start) * size for start, stop, size in curve.steps)


@given(curves())
def test_the_steps_tile_the_curve(curve):
    ends = [Fraction(0), *(stop for _, stop, _ in curve.steps)]
    assert [start for start, _, _ in curve.steps] == ends[:-1]
    assert ends[-1] == Fraction(len(curve.sizes), curve.n_forms)
    sizes = [size for _, _, size in curve.steps]
    assert all(a != b for a, b in pairwise(sizes))
    for start, stop, size in curve.steps:
        for share in (start, (start + stop) / 2, stop - Fraction(1, 10_000)):
            assert curve.at(share) == size


@given(curves())
def test_the_unbounded_stretch_ends_where_the_size_becomes_a_number(curve):
    end = curve.unbounded_up_to
    unbounded = [share for share in SHARES if curve.at(share) == math.inf]
    assert all(share <= end for share in unbounded)
    if end:
        assert curve.at(end / 2) == math.inf
        assert curve.at(end + Fraction(1, 10_000)) != math.inf
    else:
        assert not unbounded


def test_a_variable_that_nobody_has_is_a_flat_curve():
    curve = SizeCurve(5, ())
    assert (curve.area, curve.steps, curve.at(Fraction(0))) == (0, (), 0)
    assert curve.unbounded_up_to == 0


def test_the_last_point_has_a_size_of_its_own():
    curve = SizeCurve(4, (6, 3))
    assert (curve.at("1/2"), curve.end) == (3, 3)
    assert curve.last_point == ((Fraction(1, 2), Fraction(1, 2), 3),)
    assert SizeCurve(4, (6, 6)).last_point == ()
    assert SizeCurve(4, ()).last_point == ()
