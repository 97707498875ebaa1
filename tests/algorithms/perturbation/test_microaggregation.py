"""MDAV and V-MDAV against their definitions, and the cheapest cut of one variable against all cuts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import Cancelled, InputError, LimitError
from gamekeeper.algorithms.perturbation.microaggregation import (
    error_share,
    group_means,
    group_sizes,
    mdav_groups,
    standardized,
    univariate_groups,
    variable_mdav_groups,
)

ROWS = st.integers(1, 3).flatmap(
    lambda m: st.lists(
        st.lists(st.integers(-6, 6), min_size=m, max_size=m), min_size=1, max_size=24
    )
)


def apart(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def slow_groups(rows, k):
    """Return the groups by the definition, in fractions."""
    rows = [[Fraction(cell) for cell in row] for row in rows]
    left, groups = list(range(len(rows))), []

    def farthest(place):
        # max() takes the first of equal ones.
        return max(left, key=lambda i: apart(rows[i], place))

    def take(first):
        others = sorted((i for i in left if i != first), key=lambda i: apart(rows[i], rows[first]))
        group = {first, *others[: k - 1]}
        left[:] = [i for i in left if i not in group]
        groups.append(sorted(group))

    def mean():
        return [sum(rows[i][j] for i in left) / len(left) for j in range(len(rows[0]))]

    while len(left) >= 3 * k:
        first = farthest(mean())
        take(first)
        take(farthest(rows[first]))
    if len(left) >= 2 * k:
        take(farthest(mean()))
    if left:
        groups.append(sorted(left))
    return groups


def in_lists(labels):
    return [np.flatnonzero(labels == group).tolist() for group in range(labels.max(initial=-1) + 1)]


@given(ROWS, st.integers(1, 5))
def test_groups_by_the_definition(rows, k):
    labels = mdav_groups(np.array(rows, float), k, standardize=False)
    assert in_lists(labels) == slow_groups(rows, k)


@given(ROWS, st.integers(1, 5))
def test_groups_have_their_sizes_and_means_keep_totals(rows, k):
    values = np.array(rows, float)
    labels = mdav_groups(values, k)
    sizes = [len(group) for group in in_lists(labels)]
    assert sum(sizes) == len(rows)
    if len(rows) < 2 * k:
        assert len(sizes) == min(1, len(rows))
    else:
        assert min(sizes) >= k
        assert max(sizes) <= 2 * k - 1
        assert all(size == k for size in sizes[:-1])
    means = group_means(values, labels)
    assert means.sum(axis=0) == pytest.approx(values.sum(axis=0))
    if len(rows):
        assert 0 <= error_share(values, labels) <= 1 + 1e-12


def test_many_records_are_moved_together_and_none_is_lost():
    values = np.random.default_rng(3).normal(size=(240, 3))
    labels = mdav_groups(values, 3, standardize=False)
    assert in_lists(labels) == slow_groups(values.tolist(), 3)


def test_who_waits_is_told_and_may_cancel(monkeypatch):
    values = np.random.default_rng(3).normal(size=(200, 2))
    whole = mdav_groups(values, 3)
    monkeypatch.setattr("gamekeeper.algorithms.perturbation.microaggregation._CELLS", 1)
    told: list[tuple[int, int | None]] = []
    parts = mdav_groups(values, 3, progress=lambda done, total: told.append((done, total)))
    assert parts.tolist() == whole.tolist()
    assert len(told) > 20
    assert told[-1] == (200, 200)

    def cancel(done: int, total: int | None) -> None:
        raise Cancelled("Groups were asked for.")

    with pytest.raises(Cancelled):
        mdav_groups(values, 3, progress=cancel)


def test_what_would_take_hours_is_refused_beforehand(monkeypatch):
    monkeypatch.setattr("gamekeeper.algorithms.perturbation.microaggregation._MOST_WORK", 100)
    with pytest.raises(LimitError, match="two hours"):
        mdav_groups(np.zeros((50, 1)), 3)


def test_weighted_totals_stay():
    values, weights = np.array([[1.0], [3.0], [8.0]]), [1.0, 3.0, 0.0]
    means = group_means(values, np.array([0, 0, 1]), weights)
    assert means.ravel().tolist() == [2.5, 2.5, 8.0]


def test_a_variable_that_does_not_vary_adds_nothing():
    values = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
    assert standardized(values)[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert standardized(values[:1]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("values", [[[1.0], [float("nan")]], [[1.0], [float("inf")]], [1.0, 2.0]])
def test_what_is_no_number_is_refused_without_being_shown(values):
    with pytest.raises(InputError) as refused:
        mdav_groups(values, 2)
    assert "nan" not in str(refused.value)


def test_no_records_are_no_group():
    assert mdav_groups(np.zeros((0, 2)), 3).tolist() == []
    assert group_means(np.zeros((0, 2)), np.zeros(0, np.int64)).shape == (0, 2)


def test_a_group_has_a_record_at_least():
    with pytest.raises(InputError):
        mdav_groups([[1.0]], 0)


VALUES = st.lists(st.integers(-30, 30), max_size=11)


def error(values):
    mean = Fraction(sum(values), len(values))
    return sum((value - mean) ** 2 for value in values)


def least_error(ordered, k):
    """Return the least error over all cuts in groups of at least k, of whatever size."""
    if not ordered:
        return 0
    ends = [n for n in range(k, len(ordered) + 1) if n == len(ordered) or len(ordered) - n >= k]
    found = [error(ordered[:n]) + least_error(ordered[n:], k) for n in ends]
    return min(found, default=error(ordered))


@given(VALUES, st.integers(1, 4))
def test_no_cut_is_cheaper(values, k):
    ordered = sorted(values)
    sizes = group_sizes(ordered, k)
    assert sum(sizes) == len(ordered)
    if len(ordered) >= 2 * k:
        assert min(sizes) >= k
        assert max(sizes) < 2 * k
    else:
        assert len(sizes) == min(1, len(ordered))
    total, rest = Fraction(0), ordered
    for size in sizes:
        total, rest = total + error(rest[:size]), rest[size:]
    assert total == (least_error(ordered, k) if len(ordered) >= k else error(ordered or [0]))


@given(VALUES, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing_but_equal_values(values, k, random):
    labels = univariate_groups(values, k)
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    again = univariate_groups([values[i] for i in shuffled], k)
    pairs = sorted(zip(values, labels, strict=True))
    assert sorted(zip([values[i] for i in shuffled], again, strict=True)) == pairs


def test_large_numbers_close_together_lose_no_digits():
    near = 1e9 + np.array([0.0, 0.001, 0.1, 0.101, 0.2, 0.201])
    assert group_sizes(near, 2) == [2, 2, 2]


def slow_variable_groups(rows, k, gain):
    """V-MDAV as it is written, on whole numbers, so that ties are ties."""
    n = len(rows)
    if n < 2 * k:
        return [0] * n

    def mean(places):
        return [sum(rows[p][j] for p in places) / len(places) for j in range(len(rows[0]))]

    centre = mean(range(n))
    left, groups = list(range(n)), []
    while len(left) >= k:
        first = max(left, key=lambda p: (apart(rows[p], centre), -p))
        own = sorted(left, key=lambda p: (p != first, apart(rows[p], rows[first]), p))[:k]
        left = [p for p in left if p not in own]
        while left and len(own) < 2 * k - 1:
            near = {p: min(apart(rows[p], rows[q]) for q in own) for p in left}
            best = min(left, key=lambda p: (near[p], p))
            others = [apart(rows[best], rows[q]) for q in left if q != best]
            if not near[best] < gain * gain * min(others, default=float("inf")):
                break
            own.append(best)
            left.remove(best)
        groups.append(own)
    means = [mean(own) for own in groups]
    labels = [0] * n
    for number, own in enumerate(groups):
        for place in own:
            labels[place] = number
    for place in left:
        labels[place] = min(range(len(means)), key=lambda g: (apart(rows[place], means[g]), g))
    return labels


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=24),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.5, 1.0, 2.0]),
)
def test_groups_are_those_of_the_definition(rows, k, gain):
    # Times the number of records: the mean of all is whole, and ties are ties.
    scaled = [[len(rows) * value for value in row] for row in rows]
    found = variable_mdav_groups(scaled, k, gain, standardize=False).tolist()
    assert found == slow_variable_groups(scaled, k, gain)
    sizes = np.bincount(found)
    assert len(rows) < 2 * k or sizes.min() >= k


def test_clusters_of_different_sizes_stay_together():
    random = np.random.default_rng(3)
    sizes = (4, 5, 3, 5, 4)
    rows = np.concatenate([random.normal(20 * n, 0.5, (size, 2)) for n, size in enumerate(sizes)])
    found = variable_mdav_groups(rows, 3, 1.1)
    assert sorted(np.bincount(found).tolist()) == sorted(sizes)
    assert error_share(rows, found) < error_share(rows, mdav_groups(rows, 3))


def test_what_would_take_hours_is_refused(monkeypatch):
    monkeypatch.setattr(
        "gamekeeper.algorithms.perturbation.microaggregation._MOST_VARIABLE_WORK", 10
    )
    with pytest.raises(LimitError, match="two hours"):
        variable_mdav_groups(np.zeros((9, 2)), 3)
