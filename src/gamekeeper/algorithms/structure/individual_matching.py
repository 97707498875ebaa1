"""Linking the records of two files without common variables, once their groups are matched.

Clusters that were matched with each other are landmarks that both files share. How far a record
lies from each landmark, on average over the cluster, can be compared across files, once every such
distance is brought to mean 0 and variance 1 within its file. Costs of pairs are the mean squared
differences of these distances. Records are linked either within blocks, such as matched classes, or
over the whole files, one-to-one: by an assignment on these costs and, where a block is small enough, by the
distances within the files too (see `distance_matching`), starting from these costs.

The second stage that Torra leaves open. The landmarks cost a look at all pairs of records of a
file, a block its assignment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import check_values, dissimilarity_code
from gamekeeper.algorithms.structure.distance_matching import match_structure
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

_ASKED = "Links of records were asked for, from matched clusters."
# In blocks of up to so many records of either file, distances within the files are used too.
_MOST_STRUCTURED = 1000

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def landmark_features(
    values: ArrayLike, labels: ArrayLike, landmarks: Sequence[Sequence[int]], dissimilarity: str
) -> Floats:
    """Return the mean dissimilarity of each record to some clusters, standardized over the file.

    Parameters
    ----------
    values
        The records.
    labels
        Their labels, one column per technique.
    landmarks
        For each technique the labels of the clusters, in the order of the columns wanted.
    dissimilarity
        See `clusterings`.

    Examples
    --------
    >>> found = landmark_features([[0.0], [1.0], [5.0]], [[0], [0], [1]], [[1]], "manhattan")
    >>> found.round(2).tolist()
    [[0.93], [0.46], [-1.39]]
    """
    from gamekeeper.algorithms.structure.clustering_kernels import cluster_sums

    checked = check_values(values)
    given = np.asarray(labels, dtype=np.int64)
    numbered = np.empty_like(given)
    wanted: list[int] = []
    n_clusters = 0
    for t, clusters in enumerate(landmarks):
        codes, inverse = np.unique(given[:, t], return_inverse=True)
        if not np.isin(np.asarray(clusters, np.int64), codes).all():
            raise InputError(
                Reason.UNKNOWN_NAME,
                _ASKED,
                f"Technique {t + 1} has matched clusters that no record is in.",
                "Give the labels and mappings that belong together.",
            )
        numbered[:, t] = inverse + n_clusters
        wanted += (np.searchsorted(codes, np.asarray(clusters, np.int64)) + n_clusters).tolist()
        n_clusters += len(codes)
    rows = np.arange(len(checked))
    code = dissimilarity_code(dissimilarity)
    sums = cluster_sums(checked, rows, numbered, n_clusters, code)
    means = (sums / np.bincount(numbered.ravel(), minlength=n_clusters))[:, wanted]
    spread = means.std(axis=0)
    return (means - means.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def match_individuals(
    values_a: ArrayLike,
    values_b: ArrayLike,
    labels_a: ArrayLike,
    labels_b: ArrayLike,
    mappings: Sequence[Mapping[int, int]],
    *,
    blocks: tuple[ArrayLike, ArrayLike] | None = None,
    dissimilarity: str = "taxonomic",
    progress: Progress | None = None,
) -> Integers:
    """Link records one-to-one, within blocks or over the whole files.

    Returns for each record of A its record of B, -1 where it has none.

    Parameters
    ----------
    values_a, values_b
        The records that were clustered.
    labels_a, labels_b
        Their labels, one column per technique.
    mappings
        For each technique which cluster of B a cluster of A was matched with.
    blocks
        For each record of A and of B a number, -1 for none: only records with the same number are
        linked. With matched classes `(matching.groups[a.classes], b.classes)`.
    dissimilarity
        The dissimilarity of records.
    progress
        Called with the number of blocks done and all of them.

    Examples
    --------
    >>> values = np.array([[0.0], [1.0], [7.0], [9.0], [12.0]])
    >>> labels = [[0], [0], [1], [1], [1]]
    >>> match_individuals(values, 3 * values, labels, labels, [{0: 0, 1: 1}])
    array([0, 1, 2, 3, 4])
    """
    checked_a, checked_b = check_values(values_a, "File A"), check_values(values_b, "File B")
    its_labels = [np.asarray(labels, dtype=np.int64) for labels in (labels_a, labels_b)]
    shapes = [(len(checked_a), len(mappings)), (len(checked_b), len(mappings))]
    if [labels.shape for labels in its_labels] != shapes or not any(mappings):
        raise InputError(
            Reason.WRONG_SCHEMA,
            _ASKED,
            "The labels are not one per record and mapping, or no clusters were matched.",
            "Give the files, labels and mappings that belong together.",
        )
    features_a = landmark_features(
        checked_a, its_labels[0], [list(pairs) for pairs in mappings], dissimilarity
    )
    features_b = landmark_features(
        checked_b, its_labels[1], [list(pairs.values()) for pairs in mappings], dissimilarity
    )
    parts = _parts(blocks, len(checked_a), len(checked_b))
    columns = np.full(len(checked_a), -1, np.int64)
    for done, (rows, members) in enumerate(parts):
        if progress is not None:
            progress(done, len(parts))
        is_structured = min(len(rows), len(members)) >= 3 and (
            max(len(rows), len(members)) <= _MOST_STRUCTURED
        )
        links = _block_links(
            (checked_a[rows], checked_b[members]),
            (features_a[rows], features_b[members]),
            dissimilarity_code(dissimilarity) if is_structured else None,
        )
        columns[rows[links >= 0]] = members[links[links >= 0]]
    if progress is not None:
        progress(len(parts), len(parts))
    return columns


def _parts(
    blocks: tuple[ArrayLike, ArrayLike] | None, n_a: int, n_b: int
) -> list[tuple[Integers, Integers]]:
    """Return the records of A and of B of each block that has both."""
    if blocks is None:
        return [(np.arange(n_a), np.arange(n_b))]
    of_a, of_b = (np.asarray(numbers, dtype=np.int64) for numbers in blocks)
    if of_a.shape != (n_a,) or of_b.shape != (n_b,):
        raise InputError(
            Reason.WRONG_SCHEMA,
            _ASKED,
            "The blocks are not one number per record.",
            "Give one number for each record of A and of B.",
        )
    return [
        (np.flatnonzero(of_a == block), np.flatnonzero(of_b == block))
        for block in np.intersect1d(of_a, of_b).tolist()
        if block >= 0
    ]


def _block_links(
    values: tuple[Floats, Floats], features: tuple[Floats, Floats], kind: int | None
) -> Integers:
    """Link the records of one block; by their distances within the files too if a kind is given."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    from gamekeeper.algorithms.structure.clustering_kernels import square_table

    costs = cdist(*features, "sqeuclidean") / features[0].shape[1]
    if kind is not None:
        tables = [square_table(part, kind) for part in values]
        return match_structure(*tables, linear=costs).columns
    rows, columns = linear_sum_assignment(costs)
    links = np.full(len(costs), -1, np.int64)
    links[rows] = columns
    return links
