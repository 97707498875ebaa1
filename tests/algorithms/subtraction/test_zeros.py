from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.releases.schemes import Conventional, Exact, RandomRounding
from gamekeeper.algorithms.subtraction.zeros import BANDS, band_numbers, subtraction_experiment
from gamekeeper.errors import InputError, LimitError

# Expected numbers among 1,200 tables of 2 x 6 cells with mean 2, rounded to base 5 with total.
EXPECTED = {
    2: [27.1647, 1172.8106, 0.024, 0.0004, 0, 0, 0, 0, 0, 0, 0, 0.0002],
    7: [25.1822, 123.4296, 337.5417, 318.4949, 200.7295, 106.3704, 53.1811, 21.8092, 9.5053,
        2.8422, 0.6867, 0.2271],
    12: [23.7916, 4.8074, 39.6321, 80.2671, 108.2273, 146.993, 188.3713, 135.5214, 179.4444,
         126.7594, 137.0834, 29.1015],
    18: [21.7613, 3.7923, 0.7262, 7.571, 18.5969, 29.7764, 46.991, 76.8981, 85.6659, 152.5685,
         425.9806, 329.6718],
}  # fmt: skip


def test_table_1_is_within_sampling_error_of_its_expectation():
    found = subtraction_experiment(Conventional(5), n_tables=12_000, seed=11)
    assert found.counts.shape == (25, len(BANDS))
    assert np.all(found.counts.sum(axis=1) == 12_000)
    for n, expected in EXPECTED.items():
        wanted = 10 * np.array(expected)
        error = np.sqrt(wanted * (1 - wanted / 12_000)) + 0.5
        assert np.all(np.abs(found.counts[n] - wanted) < 4.5 * error)


def test_probabilities_never_fall_with_the_number_of_people():
    found = subtraction_experiment(RandomRounding(3), n_tables=200, seed=2)
    assert np.all(np.diff(found.risks, axis=1) >= 0)
    assert np.all(np.diff(found.means) >= 0)


def test_a_total_never_makes_a_table_safer():
    for scheme in (Conventional(3), Exact()):
        alone = subtraction_experiment(scheme, n_tables=200, total=False, seed=4)
        both = subtraction_experiment(scheme, n_tables=200, total=True, seed=4)
        assert np.all(both.risks >= alone.risks)


def test_margins_by_search_are_the_formula_where_there_is_one():
    options = {"n_tables": 15, "shape": (2, 3), "mean": 1.0, "n": range(8), "seed": 6}
    for total, margins in ((True, [(0, 1), ()]), (False, [(1, 0)])):
        quick = subtraction_experiment(Conventional(3), total=total, **options)
        slow = subtraction_experiment(Conventional(3), margins=margins, **options)
        np.testing.assert_allclose(slow.risks, quick.risks, rtol=1e-12)


def test_margins_add_risk():
    options = {"n_tables": 10, "shape": (2, 2), "mean": 1.5, "n": range(6), "seed": 6}
    told = []
    alone = subtraction_experiment(Conventional(3), total=False, **options)
    found = subtraction_experiment(
        Conventional(3),
        margins=[(0, 1), (0,), (1,)],
        progress=lambda *at: told.append(at),
        **options,
    )
    assert np.all(found.risks >= alone.risks - 1e-12)
    assert found.means.sum() > alone.means.sum()
    assert told[-1] == (10, 10)
    assert found.n_sampled == 0


def test_experiments_depend_on_the_seed_alone():
    one, same, other = (
        subtraction_experiment(RandomRounding(5), n_tables=50, seed=seed).risks
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_bands_hold_their_lower_ends():
    tenths = np.array([k / 10 for k in range(11)])
    assert band_numbers(tenths).tolist() == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert band_numbers(np.nextafter(tenths[1:], 0)).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert BANDS[2] == "0.1-0.2"


def test_all_options_are_checked_at_once():
    with pytest.raises(InputError) as caught:
        subtraction_experiment(Exact(), n_tables=0, shape=(), mean=-1)
    assert len(caught.value.problems) == 3


def test_tables_that_would_not_fit_are_refused():
    with pytest.raises(LimitError, match="cells together"):
        subtraction_experiment(Conventional(5), n_tables=10**6, shape=(100, 100))
