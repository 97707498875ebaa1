"""Tail coding and sampling against their definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import InputError
from gamekeeper.algorithms.perturbation.masking import (
    TailValue,
    draw_records,
    tail_coded,
    tail_limit,
)

VALUES = st.lists(st.integers(0, 9), min_size=1, max_size=20)


@given(VALUES, st.integers(0, 9), st.booleans(), st.booleans())
def test_the_limit_leaves_at_most_the_share_beyond(values, tenths, bottom, weighted):
    share = Fraction(tenths, 10)
    weights = [1 + value % 3 for value in values] if weighted else [1] * len(values)
    found = tail_limit(values, float(share), bottom=bottom, weights=weights)
    sign = -1 if bottom else 1

    def beyond(limit):
        return sum(w for v, w in zip(values, weights, strict=True) if sign * v > sign * limit)

    fitting = [v for v in values if beyond(v) <= share * sum(weights)]
    assert found == (max(fitting) if bottom else min(fitting))


@given(VALUES, st.integers(0, 9), st.integers(2, 6), st.sampled_from(TailValue))
def test_so_many_look_alike_at_the_end(values, tenths, least, value):
    if least > len(values):
        return
    limit = tail_limit(values, tenths / 10, least=least, value=value)
    coded = tail_coded(values, top=limit, value=value)
    alike = np.count_nonzero(coded == coded.max())
    assert alike >= least or limit == min(values)


@given(VALUES, st.integers(0, 9))
def test_means_keep_the_total_and_missing_stays(values, limit):
    cells = np.array([*values, np.nan])
    coded = tail_coded(cells, top=limit, bottom=min(2, limit), value=TailValue.MEAN)
    assert np.nansum(coded) == pytest.approx(np.nansum(cells))
    assert np.isnan(coded[-1])
    within = (cells <= limit) & (cells >= min(2, limit))
    assert coded[within].tolist() == cells[within].tolist()


def test_tails_that_cannot_be():
    with pytest.raises(InputError):
        tail_limit([1, 2], 1.0)
    with pytest.raises(InputError):
        tail_limit([1, 2], 0.1, least=3)
    with pytest.raises(InputError):
        tail_coded([1.0], top=1, bottom=2)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=25), st.integers(1, 10), st.integers(0, 99))
def test_every_stratum_has_its_share_and_weights_stand_for_all(strata, tenths, seed):
    fraction = Fraction(tenths, 10)
    rng = np.random.default_rng(seed)
    draws = rng.random(len(strata))
    found = draw_records(fraction, draws, strata=strata)
    for stratum in set(strata):
        members = np.array(strata) == stratum
        n = int(members.sum())
        assert found.drawn[members].sum() == max(1, int(fraction * n + Fraction(1, 2)))
        assert found.factors[members].sum() == pytest.approx(n)
    order = rng.permutation(len(strata))
    again = draw_records(fraction, draws[order], strata=np.array(strata)[order])
    assert again.drawn.tolist() == found.drawn[order].tolist()
    larger = draw_records(Fraction(1), draws, strata=strata)
    assert larger.drawn.all()


def test_households_are_drawn_whole():
    homes = np.repeat(np.arange(10), 3)
    found = draw_records(Fraction(1, 2), np.random.default_rng(1).random(30), units=homes)
    assert found.drawn.sum() == 15
    assert all(len(set(found.drawn[homes == home])) == 1 for home in range(10))
    with pytest.raises(InputError):
        draw_records(Fraction(1, 2), np.zeros(2), units=[1, 1], strata=[1, 2])
    with pytest.raises(InputError):
        draw_records(Fraction(2), np.zeros(2))
