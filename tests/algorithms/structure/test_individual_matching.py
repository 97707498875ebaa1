from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from gamekeeper.algorithms.structure.clusterings import (
    cluster_alike,
    conjunction,
    dissimilarity_code,
    normalise,
)
from gamekeeper.algorithms.structure.group_matching import group_success, match_groups
from gamekeeper.algorithms.structure.individual_matching import (
    landmark_features,
    match_individuals,
    match_structure,
)
from gamekeeper.algorithms.structure.kernels import square_table
from gamekeeper.errors import InputError


def grouped_files(seed, n, noise):
    """Return two files of the same records in another order and other units, and the truth."""
    rng = np.random.default_rng(seed)
    centres = 4 * rng.normal(size=(5, 4))
    sizes = rng.multinomial(n, [0.35, 0.25, 0.2, 0.12, 0.08])
    values = np.repeat(centres, sizes, axis=0) + rng.normal(size=(n, 4))
    order = rng.permutation(n)
    copy = (values + noise * rng.normal(size=values.shape))[order] * [3.0, 0.5, 40.0, 7.0]
    return normalise(values), normalise(copy), np.argsort(order)


def matched(values, copy, **options):
    labels = cluster_alike(values, copy, n_clusters=5)
    a, b = conjunction(labels.labels_a), conjunction(labels.labels_b)
    matching = match_groups(a.rows, b.rows, sizes=(a.sizes, b.sizes), restarts=10, **options)
    return a, b, matching, labels


@pytest.mark.parametrize("seed", range(3))
def test_groups_and_then_records_are_found_again(seed):
    values, copy, truth = grouped_files(seed, 120, 0.02)
    _, b, _, labels = matched(values, copy)
    both = labels.labels_a, labels.labels_b
    matching = match_groups(*both, one_to_one=True, restarts=10, exact=False)
    pointed = b.classes[matching.groups]
    success = group_success(pointed, b, truth)
    assert success.share > 0.75 > 3 * success.by_chance / 120
    blocks = pointed, b.classes
    within = match_individuals(values, copy, *both, matching.mappings, blocks=blocks)
    whole = match_individuals(values, copy, *both, matching.mappings)
    assert (within == truth).sum() > 0.75 * success.n_correct
    assert (whole == truth).mean() > 0.95
    linked = within >= 0
    assert (b.classes[within[linked]] == pointed[linked]).all()
    assert len(set(within[linked].tolist())) == linked.sum()


def test_landmarks_alone_link_large_blocks(monkeypatch):
    monkeypatch.setattr("gamekeeper.algorithms.structure.individual_matching._MOST_STRUCTURED", 99)
    values, copy, truth = grouped_files(4, 100, 0.02)
    _, _, matching, labels = matched(values, copy)
    found = match_individuals(values, copy, labels.labels_a, labels.labels_b, matching.mappings)
    assert (found == truth).mean() > 0.8


def test_landmark_features_are_mean_distances_standardized():
    values = np.array([[0.0, 1.0], [2.0, 5.0], [3.0, 3.0], [9.0, 0.0]])
    labels = np.array([[7, 1], [7, 0], [3, 1], [7, 1]])
    found = landmark_features(values, labels, [[7], [1, 0]], "manhattan")
    members = [[0, 1, 3], [0, 2, 3], [1]]
    means = np.array(
        [[np.mean([np.abs(x - values[j]).sum() for j in part]) for part in members] for x in values]
    )
    assert np.allclose(found, (means - means.mean(axis=0)) / means.std(axis=0))


def test_success_is_counted_by_hand():
    a = conjunction([[0], [0], [1], [2]])
    b = conjunction([[5], [6], [6], [7]])
    matching = match_groups(a.rows, b.rows, sizes=(a.sizes, b.sizes))
    pointed = matching.groups[a.classes].tolist()
    assert pointed[:2] == [1, 1]
    success = group_success(pointed, b, [1, 3, -1, 2])
    assert success.is_correct.tolist() == [True, False, False, False]
    assert (success.n_correct, success.n_known, success.alone) == (1, 3, 0)
    assert success.by_chance == pytest.approx((2 + 2 + 1) / 4)


@pytest.mark.parametrize("bad", [[0, 1], [0, 0, 1], [0, 1, 9], [-1, -1, -1], [0.0, 1.0, 2.0]])
def test_a_truth_that_cannot_be_is_refused(bad):
    a = conjunction([[0], [1], [1]])
    with pytest.raises(InputError, match="at least one known"):
        group_success([0, 0, 0], a, bad)


def test_files_that_were_not_clustered_are_refused():
    with pytest.raises(InputError, match="belong together"):
        match_individuals([[1.0], [2.0]], [[1.0]], [[0]], [[0]], [{0: 0}])
    with pytest.raises(InputError, match="no record is in"):
        match_individuals([[1.0]], [[1.0]], [[0]], [[0]], [{0: 4}])
    with pytest.raises(InputError, match="no clusters were matched"):
        match_individuals([[1.0]], [[1.0]], [[0]], [[0]], [{}])
    with pytest.raises(InputError, match="one number per record"):
        match_individuals([[1.0]], [[1.0]], [[0]], [[0]], [{0: 0}], blocks=([0, 1], [0]))


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


def least_distortion_by_trial(a, b):
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
    least = least_distortion_by_trial(a, b)
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
    monkeypatch.setattr("gamekeeper.algorithms.structure.individual_matching._SINGLE_ABOVE", 50)
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
