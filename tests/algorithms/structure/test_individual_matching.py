from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.structure.clusterings import normalise
from gamekeeper.algorithms.structure.common_clusterings import cluster_alike
from gamekeeper.algorithms.structure.conjunction import conjunction
from gamekeeper.algorithms.structure.group_matching import match_groups
from gamekeeper.algorithms.structure.group_success import group_success
from gamekeeper.algorithms.structure.individual_matching import landmark_features, match_individuals
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
