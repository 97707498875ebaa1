"""MDAV against its definition, step by step in exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import Cancelled, InputError, LimitError
from gamekeeper.algorithms.perturbation.group_means import error_share, group_means
from gamekeeper.algorithms.perturbation.mdav import mdav_groups, standardized

ROWS = st.integers(1, 3).flatmap(
    lambda m: st.lists(
        st.lists(st.integers(-6, 6), min_size=m, max_size=m), min_size=1, max_size=24
    )
)


def slow_groups(rows, k):
    """Return the groups by the definition, in fractions."""
    rows = [[Fraction(cell) for cell in row] for row in rows]
    left, groups = list(range(len(rows))), []

    def apart(one, other):
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

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
    monkeypatch.setattr("gamekeeper.algorithms.perturbation.mdav._CELLS", 1)
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
    monkeypatch.setattr("gamekeeper.algorithms.perturbation.mdav._MOST_WORK", 100)
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
