"""Distances, losses, overlaps and propensity scores by their definitions, or another program."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.utility import (
    complete_moments,
    entropy,
    fit_logistic,
    hellinger,
    il1s,
    logistic_pmse,
    margin_distances,
    mean_distances,
    n_margins,
    overlap,
    saturated_pmse,
    signed_overlap,
    worst,
)
from tests.twins.key_classes import discernibility, mean_class_size

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=12)


def slow_distance(before, after, chosen):
    first, second = (Counter() for _ in range(2))
    for counter, (rows, weights) in ((first, before), (second, after)):
        for row, weight in zip(rows, weights, strict=True):
            counter[tuple(row[place] for place in chosen)] += weight
    n, m = sum(first.values()), sum(second.values())
    squares = (
        (math.sqrt(first[cell] / n) - math.sqrt(second[cell] / m)) ** 2
        for cell in first.keys() | second.keys()
    )
    return math.sqrt(sum(squares) / 2)


@given(ROWS, ROWS, st.booleans())
def test_every_margin_by_its_definition(before, after, weighted):
    weights = [[1 + sum(row) % 3 if weighted else 1 for row in rows] for rows in (before, after)]
    found = margin_distances(
        np.array(before), np.array(after), weights=tuple(weights) if weighted else None
    )
    assert [m.variables for m in found] == [
        chosen for size in (1, 2, 3) for chosen in combinations(range(4), size)
    ]
    assert len(found) == n_margins(4)
    for margin in found:
        wanted = slow_distance((before, weights[0]), (after, weights[1]), margin.variables)
        assert margin.distance == pytest.approx(wanted, abs=1e-7)
    means = mean_distances(found)
    assert means[2] == pytest.approx(np.mean([m.distance for m in found if len(m.variables) == 2]))


@given(ROWS)
def test_a_copy_is_as_near_as_can_be(rows):
    table = np.array(rows)
    assert not worst(margin_distances(table, table), 10)
    shuffled = np.random.default_rng(1).permutation(table)
    assert max(m.distance for m in margin_distances(table, shuffled)) == pytest.approx(0, abs=1e-7)


def test_many_categories_are_counted_as_few_are():
    rng = np.random.default_rng(2)
    before, after = (rng.integers(0, 400, size=(300, 3)) for _ in range(2))
    few = np.unique(np.concatenate((before, after)), return_inverse=True)[1].reshape(600, 3)
    wide = margin_distances(before * 1000, after * 1000)
    near = margin_distances(few[:300], few[300:])
    assert [m.distance for m in wide] == pytest.approx([m.distance for m in near])


def test_the_worst_come_first():
    before, after = np.array([[0, 0], [1, 0]]), np.array([[0, 1], [1, 0]])
    assert [m.variables for m in worst(margin_distances(before, after), 10)] == [(0, 1), (1,)]


def test_nothing_at_all():
    assert hellinger([0, 0], [0, 0]) == 0
    assert hellinger([0, 0], [1, 0]) == 1
    assert entropy([]) == 0
    assert entropy([1, 1, 1, 1]) == 2


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


INTERVALS = st.tuples(st.integers(-9, 9), st.integers(0, 6)).map(
    lambda pair: (Fraction(pair[0]), Fraction(pair[0] + pair[1]))
)


@given(INTERVALS, INTERVALS)
def test_overlap_by_its_definition(first, second):
    signed = signed_overlap(first, second)
    assert signed == signed_overlap(second, first)
    common = min(first[1], second[1]) - max(first[0], second[0])
    lengths = [high - low for low, high in (first, second)]
    if common < 0:
        assert overlap(first, second) == 0
        assert signed is None if 0 in lengths else signed < 0
    elif 0 not in lengths:
        assert signed == overlap(first, second) == sum(common / length for length in lengths) / 2
    else:
        assert signed == sum(common / length if length else 1 for length in lengths) / 2
    assert signed_overlap(first, first) == 1


def test_an_interval_that_ends_before_it_begins():
    with pytest.raises(ValueError, match="begins"):
        overlap((2.0, 1.0), (0.0, 1.0))


@given(st.lists(st.tuples(*[st.integers(-9, 9)] * 4), min_size=2, max_size=9))
def test_il1s_by_its_definition(rows):
    before, after = [row[:2] for row in rows], [row[2:] for row in rows]
    total = 0.0
    for place in range(2):
        spread = stdev([float(row[place]) for row in before])
        moved = sum(abs(b[place] - a[place]) for b, a in zip(before, after, strict=True))
        if moved and not spread:
            assert il1s(before, after).total is None
            return
        total += moved / (math.sqrt(2) * spread) if moved else 0
    found = il1s(before, after)
    assert found.total == pytest.approx(total)
    assert found.per_cell == pytest.approx(total / (2 * len(rows)))


def test_lost_cells_are_counted_and_not_moved():
    found = il1s([[1.0], [3.0], [np.nan]], [[np.nan], [3.0], [4.0]])
    assert (found.total, found.n_cells, found.n_lost) == (0.0, 1, 1)


def test_moments_are_of_complete_records():
    values = np.array([[1.0, 2.0], [3.0, 6.0], [np.nan, 1.0], [5.0, 4.0]])
    found = complete_moments(values, [1, 2, 5, 1])
    repeated = values[[0, 1, 1, 3]]
    assert found.n_records == 3
    assert found.means == pytest.approx(repeated.mean(axis=0))
    assert found.covariances == pytest.approx(np.cov(repeated.T, ddof=0))
    assert np.isnan(complete_moments([[np.nan]]).means).all()


def test_sizes_of_classes():
    assert discernibility([1, 1, 4]) == 18
    assert mean_class_size([1, 1, 4]) == 2
    assert mean_class_size([]) == 0
