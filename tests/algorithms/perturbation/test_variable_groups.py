"""Groups of variable size against their definition, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.perturbation import variable_groups
from gamekeeper.algorithms.perturbation.group_means import error_share
from gamekeeper.algorithms.perturbation.mdav import mdav_groups
from gamekeeper.algorithms.perturbation.variable_groups import variable_mdav_groups
from gamekeeper.errors import LimitError


def slow(rows, k, gain):
    """V-MDAV as it is written, on whole numbers, so that ties are ties."""
    n = len(rows)
    if n < 2 * k:
        return [0] * n

    def apart(one, other):
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

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
    assert found == slow(scaled, k, gain)
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
    monkeypatch.setattr(variable_groups, "_MOST_WORK", 10)
    with pytest.raises(LimitError, match="two hours"):
        variable_mdav_groups(np.zeros((9, 2)), 3)
