from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from gamekeeper.algorithms.structure.clustering_kernels import square_table
from gamekeeper.algorithms.structure.clusterings import dissimilarity_code, normalise
from gamekeeper.algorithms.structure.distance_matching import match_structure
from gamekeeper.errors import InputError

TAXONOMIC = dissimilarity_code("taxonomic")


def distances(values):
    return square_table(normalise(values), TAXONOMIC)


def noisy_copy(seed, n, noise):
    """Return a file, and a copy with noise, in other units and another order; and the truth."""
    rng = np.random.default_rng(seed)
    values = rng.gamma(2.0, size=(n, 6)) + rng.integers(0, 3, size=(n, 1))
    order = rng.permutation(n)
    copy = (values + noise * values.std(axis=0) * rng.normal(size=values.shape))[order]
    return values, copy * rng.uniform(1, 100, 6) + rng.normal(size=6), np.argsort(order)


def slowly(a, b):
    """Return the least distortion over all links of the smaller file A."""
    a, b = (matrix / (np.sqrt((matrix**2).mean()) or 1.0) for matrix in (a, b))
    return min(
        ((a - b[np.ix_(columns, columns)]) ** 2).mean()
        for columns in map(list, permutations(range(len(b)), len(a)))
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_a_noisy_copy_in_other_units_is_linked_again(seed, noise):
    values, copy, truth = noisy_copy(seed, 150, noise)
    found = match_structure(distances(values), distances(copy))
    assert (found.columns == truth).mean() > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_files_of_different_sizes_are_linked_either_way(seed):
    values, copy, truth = noisy_copy(seed, 120, 0.03)
    part = np.flatnonzero(truth < 100)
    found = match_structure(distances(values[part]), distances(copy))
    assert (found.columns == truth[part]).mean() > 0.95
    found = match_structure(distances(copy), distances(values[part]))
    expected = np.full(120, -1)
    expected[truth[part]] = np.arange(len(part))
    assert (found.columns == expected).mean() > 0.95
    assert (found.columns >= 0).sum() == len(part)


@pytest.mark.parametrize(("n_a", "n_b"), [(6, 6), (4, 6), (1, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_the_distortion_is_its_definition_and_nearly_least(n_a, n_b, seed):
    rng = np.random.default_rng(seed)
    a, b = distances(rng.normal(size=(n_a, 2))), distances(rng.normal(size=(n_b, 2)))
    found = match_structure(a, b)
    least = slowly(a, b)
    assert sorted(set(found.columns.tolist())) == sorted(found.columns.tolist())
    scaled = [matrix / (np.sqrt((matrix**2).mean()) or 1.0) for matrix in (a, b)]
    linked = scaled[1][np.ix_(found.columns, found.columns)]
    assert found.distortion == pytest.approx(((scaled[0] - linked) ** 2).mean())
    # A local optimum: on these files within a fifth of the least, mostly the least itself.
    if n_a > 1:
        assert least - 1e-12 <= found.distortion <= 1.2 * least + 0.01


def test_an_exact_copy_has_no_distortion():
    values, copy, truth = noisy_copy(9, 60, 0.0)
    found = match_structure(distances(values), distances(copy))
    assert found.distortion == pytest.approx(0.0, abs=1e-12)
    assert np.array_equal(found.columns, truth)


def test_linear_costs_decide_where_distances_cannot():
    a = np.ones((5, 5)) - np.eye(5)
    order = np.array([3, 1, 4, 0, 2])
    costs = np.ones((5, 5))
    costs[np.arange(5), order] = 0.0
    found = match_structure(a, a, linear=costs)
    assert np.array_equal(found.columns, order)
    assert found.distortion == 0.0


def test_files_whose_records_are_all_alike_are_linked_somehow():
    found = match_structure(np.zeros((3, 3)), np.zeros((4, 4)))
    assert found.distortion == 0.0
    assert len(set(found.columns.tolist())) == 3


def test_single_precision_of_large_files_finds_the_copy_too(monkeypatch):
    monkeypatch.setattr("gamekeeper.algorithms.structure.distance_matching._SINGLE_ABOVE", 50)
    values, copy, truth = noisy_copy(2, 120, 0.05)
    found = match_structure(distances(values), distances(copy))
    assert (found.columns == truth).mean() > 0.98


def test_all_faults_are_reported_at_once():
    lopsided = np.array([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(InputError) as error:
        match_structure(lopsided, [[np.nan]], linear=[[1.0]], most_steps=0)
    assert [problem.where for problem in error.value.problems] == [
        "distances_a",
        "distances_b",
        "linear",
        "most_steps",
    ]
