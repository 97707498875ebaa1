from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import silhouette_score

from gamekeeper.algorithms.classes import numbers_as_they_come
from gamekeeper.algorithms.structure.clusterings import (
    CRITERIA,
    DISSIMILARITIES,
    Technique,
    agglomerate,
    cluster_alike,
    conjunction,
    labels_by,
    normalise,
    silhouette,
)
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases

# Eight objects of three variables; merger heights and clusters worked out apart from this package.
EIGHT = [
    [0.7698, 0.2212, 0.7269],
    [0.251, 0.2242, 0.8661],
    [0.0527, 0.9509, 0.6406],
    [0.627, 0.7578, 0.1386],
    [0.6528, 0.3853, 0.8041],
    [0.6992, 0.0186, 0.3489],
    [0.791, 0.7365, 0.8943],
    [0.1954, 0.7636, 0.1139],
]
HEIGHTS = [
    0.1246029025879146,
    0.24961456287644757,
    0.26854455633867685,
    0.3308888737538664,
    0.3813181786170744,
    0.3936878683469355,
    0.5188028183686604,
]


def dissimilarity(x, y, name):
    d = np.asarray(x, float) - np.asarray(y, float)
    return {
        "manhattan": np.abs(d).sum(),
        "differences": np.abs(d).sum() / len(d),
        "taxonomic": np.sqrt((d**2).sum() / len(d)),
        "penrose_size": (d.sum() / len(d)) ** 2,
    }[name]


def merged_by_all_pairs(values, criterion, name):
    """Merge by looking at all pairs of clusters every time; yield the clusters after each step."""
    clusters = [[i] for i in range(len(values))]
    heights = []
    partitions = {len(clusters): [list(cluster) for cluster in clusters]}
    while len(clusters) > 1:
        best = None
        for p in range(len(clusters)):
            for q in range(p + 1, len(clusters)):
                first, second = clusters[p], clusters[q]
                if criterion == "average":
                    total = sum(
                        dissimilarity(values[i], values[j], name) for i in first for j in second
                    )
                    apart = total / (len(first) * len(second))
                else:
                    apart = dissimilarity(
                        np.sum(values[first], axis=0) / len(first),
                        np.sum(values[second], axis=0) / len(second),
                        name,
                    )
                if best is None or apart < best[0]:
                    best = (apart, p, q)
        apart, p, q = best
        heights.append(apart)
        clusters[p] = clusters[p] + clusters[q]
        del clusters[q]
        clusters.sort(key=min)
        partitions[len(clusters)] = [sorted(cluster) for cluster in clusters]
    return heights, partitions


def blocks(labels):
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", DISSIMILARITIES)
@pytest.mark.parametrize("seed", range(4))
def test_mergers_are_those_of_a_search_of_all_pairs(criterion, name, seed):
    values = np.random.default_rng(seed).gamma(1.0, size=(17, 1 + seed))
    heights, partitions = merged_by_all_pairs(values, criterion, name)
    dendrogram = agglomerate(values, criterion=criterion, dissimilarity=name)
    assert np.allclose(dendrogram.heights, heights)
    for number, expected in partitions.items():
        assert blocks(dendrogram.cut(number)) == expected


@cases(25)
@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=11
        )
    )
)
def test_of_equal_pairs_the_first_is_merged(rows):
    values = np.array(rows, float)
    _, partitions = merged_by_all_pairs(values, "average", "manhattan")
    dendrogram = agglomerate(values, dissimilarity="manhattan")
    for number, expected in partitions.items():
        assert blocks(dendrogram.cut(number)) == expected


def test_a_worked_example():
    assert np.allclose(agglomerate(EIGHT, dissimilarity="taxonomic").heights, HEIGHTS, rtol=1e-12)
    for criterion in CRITERIA:
        labels = agglomerate(EIGHT, criterion=criterion, dissimilarity="differences").cut(4)
        assert blocks(labels) == [[0, 1, 4, 6], [2], [3, 7], [5]]


def test_centroids_may_come_nearer_and_are_cut_by_number():
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.88]])
    dendrogram = agglomerate(corner, criterion="centroid", dissimilarity="taxonomic")
    assert dendrogram.heights[1] < dendrogram.heights[0]
    assert blocks(dendrogram.cut(2)) == [[0, 1], [2]]


def test_the_average_criterion_agrees_with_scipy_where_nothing_is_equal():
    from scipy.cluster.hierarchy import average, fcluster
    from scipy.spatial.distance import pdist

    values = np.random.default_rng(5).normal(size=(300, 4))
    links = average(pdist(values, "cityblock"))
    dendrogram = agglomerate(values)
    assert np.allclose(dendrogram.heights, links[:, 2])
    expected = numbers_as_they_come(fcluster(links, 9, "maxclust"))
    assert np.array_equal(dendrogram.cut(9), expected)


def test_a_single_record_is_a_cluster():
    assert agglomerate([[3.0, 4.0]]).cut(1).tolist() == [0]


def test_constant_variables_become_nought_and_wide_ones_do_not_overflow():
    scaled = normalise([[5.0, -1.7e308, 1.0], [5.0, 1.7e308, 3.0], [5.0, 0.0, 2.0]])
    assert scaled.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.5, 0.5]]


def test_any_clusterer_will_do():
    from sklearn.cluster import KMeans

    values = np.array([[0.0], [0.1], [9.0], [9.1], [0.2]])
    assert labels_by(KMeans(2, random_state=0), values).tolist() == [0, 0, 1, 1, 0]

    class Wrong:
        def fit_predict(self, values):
            return values

    with pytest.raises(InputError, match="another shape"):
        labels_by(Wrong(), values)


@pytest.mark.parametrize("number", [0, 4, -1])
def test_more_clusters_than_records_is_one_clear_error(number):
    with pytest.raises(InputError, match="1 to 3 clusters") as error:
        agglomerate([[1.0], [2.0], [4.0]]).cut(number)
    assert error.value.reason == Reason.BAD_OPTION


def test_missing_values_are_refused_for_all_variables_at_once_and_not_shown():
    with pytest.raises(InputError) as error:
        agglomerate([[1.0, np.nan, 8765.0], [2.0, 3.0, np.inf], [8765.0, np.nan, 1.0]])
    assert [problem.found for problem in error.value.problems] == [
        "2 values missing or infinite.",
        "1 value missing or infinite.",
    ]
    assert "8765" not in str(error.value)


@pytest.mark.parametrize("bad", [[], [1.0, 2.0], [[]], [["a"]], np.zeros((0, 2))])
def test_what_is_no_table_of_numbers_is_refused(bad):
    with pytest.raises(InputError):
        agglomerate(bad)


def test_unknown_names_and_too_many_records_are_refused():
    with pytest.raises(InputError, match="'centroid'"):
        agglomerate([[1.0], [2.0]], criterion="centroids")
    with pytest.raises(InputError, match="'taxonomic'"):
        agglomerate([[1.0], [2.0]], dissimilarity="taxonomical")
    with pytest.raises(LimitError, match="most_records"):
        agglomerate([[1.0], [2.0]], most_records=1)


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


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-2, 3), min_size=width, max_size=width), min_size=1, max_size=30
        )
    )
)
def test_records_are_together_exactly_where_all_partitions_agree(labels):
    found = conjunction(labels)
    for i, row in enumerate(labels):
        assert found.rows[found.classes[i]].tolist() == row
        for j, other in enumerate(labels):
            assert (found.classes[i] == found.classes[j]) == (row == other)
    members = [np.flatnonzero(found.classes == k) for k in range(len(found.sizes))]
    assert [len(part) for part in members] == found.sizes.tolist()
    assert [int(part[0]) for part in members] == sorted(int(part[0]) for part in members)


@pytest.mark.parametrize("bad", [[], [1, 2], [[0.5]], np.zeros((3, 0), int)])
def test_what_is_no_table_of_labels_is_refused(bad):
    with pytest.raises(InputError, match="one column of labels per clustering"):
        conjunction(bad)
