from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import silhouette_score

from gamekeeper.algorithms.structure.clusterings import agglomerate
from gamekeeper.algorithms.structure.common_clusterings import Technique, cluster_alike, silhouette
from gamekeeper.errors import InputError


def three_groups(seed, n, scale):
    rng = np.random.default_rng(seed)
    return scale * (np.repeat([0.0, 5.0, 11.0], n)[:, None] + rng.normal(size=(3 * n, 2)))


def test_silhouettes_are_those_of_scikit_learn():
    values = np.random.default_rng(2).normal(size=(80, 3))
    for number in (2, 5, 60):
        labels = agglomerate(values).cut(number)
        expected = silhouette_score(values, labels, metric="cityblock")
        assert silhouette(values, labels, dissimilarity="manhattan") == pytest.approx(expected)
    assert silhouette(values, np.zeros(80, int)) == 0.0


def test_one_number_is_chosen_for_both_files():
    found = cluster_alike(three_groups(0, 20, 1.0), three_groups(1, 31, 900.0), fewest=2)
    assert found.n_clusters[0] == 3
    assert found.n_clusters[2] == 3
    for column, number in enumerate(found.n_clusters):
        assert found.labels_a[:, column].max() == found.labels_b[:, column].max() == number - 1
    assert found.labels_a[:, 0].tolist() == [0] * 20 + [1] * 20 + [2] * 20


def test_numbers_can_be_given_and_clusterers_are_told_them():
    clusterer = AgglomerativeClustering(2)
    techniques = [Technique("centroid", "taxonomic"), clusterer]
    values = three_groups(3, 10, 1.0)
    found = cluster_alike(values, values[:15], techniques, n_clusters=[4, 3])
    assert found.n_clusters == (4, 3)
    assert found.names == ("centroid, taxonomic", "AgglomerativeClustering")
    assert found.labels_a[:, 1].max() == 2
    assert clusterer.n_clusters == 2
    assert cluster_alike(values, values, [clusterer], fewest=2).n_clusters == (3,)


def test_a_clusterer_without_a_number_decides_itself():
    class Signs:
        def fit_predict(self, values):
            return np.sign(values[:, 0]).astype(int)

    found = cluster_alike([[1.0], [-1.0], [2.0]], [[-1.0], [0.0], [3.0]], [Signs()])
    assert found.n_clusters == (0,)
    assert found.labels_b[:, 0].tolist() == [0, 1, 2]


def test_all_faults_are_reported_at_once():
    with pytest.raises(InputError) as error:
        cluster_alike([[1.0], [2.0]], [[1.0], [2.0], [3.0]], [Technique(), 3], n_clusters=[3, 1, 0])
    faults = {problem.where for problem in error.value.problems}
    assert faults == {"n_clusters", "technique 2"}
    assert len(error.value.problems) == 4
    with pytest.raises(InputError, match="File B"):
        cluster_alike([[1.0], [2.0], [3.0]], [[np.nan], [1.0], [2.0]])
    with pytest.raises(InputError, match="fewest and most"):
        cluster_alike([[1.0], [2.0], [3.0], [4.0]], [[1.0], [2.0], [3.0], [4.0]])


def test_progress_can_stop_the_work():
    seen = []
    cluster_alike(
        [[1.0], [2.0], [5.0]],
        [[1.0], [4.0], [5.0]],
        n_clusters=2,
        progress=lambda done, whole: seen.append((done, whole)),
    )
    assert seen == [(k, 6) for k in range(7)]
