"""Propensity scores: the saturated one exactly, the logistic one against another program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.utility.propensity import (
    fit_logistic,
    logistic_pmse,
    saturated_pmse,
)

COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)


@given(COUNTS)
def test_saturated_by_its_definition(pairs):
    before, after = zip(*pairs, strict=True)
    if not sum(before) or not sum(after):
        return
    total = sum(before) + sum(after)
    share = Fraction(sum(after), total)
    each = [(Fraction(b, a + b) - share) ** 2 for a, b in pairs for _ in range(a + b)]
    pmse, of_most = saturated_pmse(before, after)
    assert pmse == sum(each) / total
    assert 0 <= of_most <= 1


def test_a_model_with_all_pairs_of_two_variables_is_saturated():
    rng = np.random.default_rng(1)
    before, after = rng.integers(0, 3, (300, 2)), rng.integers(0, 3, (250, 2))
    found = logistic_pmse(before, after)
    classes = [np.bincount(t[:, 0] * 3 + t[:, 1], minlength=9) for t in (before, after)]
    exact, of_most = saturated_pmse(*classes)
    assert found.has_pairs
    assert found.n_parameters == 8
    assert found.pmse == pytest.approx(float(exact), rel=1e-3)
    assert found.of_most == pytest.approx(float(of_most), rel=1e-3)


def test_main_effects_as_another_program_fits_them():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    before, after = rng.integers(0, 4, (400, 3)), rng.integers(0, 4, (400, 3))
    after[:, 0] = np.minimum(after[:, 0], rng.integers(0, 4, 400))
    found = logistic_pmse(before, after, most_parameters=9)
    assert not found.has_pairs
    both = np.concatenate((before, after))
    design = np.column_stack([both[:, [j]] == np.arange(1, 4) for j in range(3)]).astype(float)
    label = np.repeat([0, 1], 400)
    model = LogisticRegression(C=1e8, max_iter=2000, tol=1e-10).fit(design, label)
    wanted = np.mean((model.predict_proba(design)[:, 1] - 0.5) ** 2)
    assert found.pmse == pytest.approx(wanted, rel=1e-3)


def test_the_null_is_what_dealing_labels_gives():
    rng = np.random.default_rng(3)
    before, after = rng.integers(0, 3, (400, 3)), rng.integers(0, 3, (400, 3))
    both = np.concatenate((before, after))
    dealt = []
    for draws in rng.random((60, 800)):
        order = np.argsort(draws, kind="stable")
        found = logistic_pmse(both[order[:400]], both[order[400:]]).pmse
        assert found is not None
        dealt.append(found)
    assert np.mean(dealt) == pytest.approx(logistic_pmse(before, after).expected, rel=0.12)


def test_a_category_on_one_side_alone_has_an_answer():
    before, after = np.array([[0]] * 50 + [[1]] * 50), np.array([[0]] * 50 + [[2]] * 50)
    found = logistic_pmse(before, after)
    exact, _ = saturated_pmse([50, 50, 0], [50, 0, 50])
    assert found.pmse == pytest.approx(float(exact), rel=0.01)


def test_rare_categories_are_one_and_weights_count():
    rng = np.random.default_rng(4)
    before, after = rng.integers(0, 60, (500, 1)), rng.integers(0, 60, (500, 1))
    assert logistic_pmse(before, after).n_parameters == 11
    twice = (np.full(500, 2.0), np.full(500, 2.0))
    plain, weighted = (logistic_pmse(before, after, weights=w) for w in (None, twice))
    assert weighted.pmse == pytest.approx(plain.pmse, rel=1e-6)


def test_nothing_to_tell_apart_and_no_variables():
    same = np.array([[0, 1], [1, 0]])
    assert logistic_pmse(same, same).pmse == 0
    empty = np.zeros((3, 0), np.int64)
    assert logistic_pmse(empty, empty).ratio is None
    alone = fit_logistic(np.zeros((1, 0), np.int64), 1, np.array([3.0]), np.array([1.0]))
    assert alone == pytest.approx([0.25])


def test_more_variables_than_a_key_has_room_for():
    rng = np.random.default_rng(6)
    before, after = rng.integers(0, 3, (200, 41)), rng.integers(0, 3, (200, 41))
    found = logistic_pmse(before, after)
    assert found.n_parameters == 41 * 2
    turned = logistic_pmse(before[:, ::-1], after[:, ::-1])
    assert turned.pmse == pytest.approx(found.pmse, rel=1e-4)
