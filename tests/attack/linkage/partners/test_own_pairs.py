from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.attack.linkage.partners.own_pairs import least_costs


@pytest.mark.parametrize("number", [1, 40, 3_000])
def test_least_costs_of_many_are_the_first_in_order(number):
    rng = np.random.default_rng(number)
    parts = [rng.exponential(size=700_000), rng.normal(5, 1, 500_000)]
    parts[0][:5] = np.inf
    together = np.sort(np.concatenate(parts))
    assert np.sort(least_costs(parts, number)).tolist() == together[:number].tolist()
    # In an order that a sample cannot tell.
    rising = [together[together < np.inf]]
    assert np.sort(least_costs(rising, number)).tolist() == together[:number].tolist()


def test_least_costs_of_few_are_all_that_are_finite():
    assert sorted(least_costs([np.array([3.0, np.inf]), np.array([1.0])], 5)) == [1.0, 3.0]
    assert least_costs([], 5).tolist() == []
