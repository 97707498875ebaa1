"""Clusterings of the records of a file: agglomerative by two criteria, or by any clusterer.

Sequential agglomerative hierarchic clustering merges the two nearest clusters until one is left.
By the average criterion clusters are as far apart as their members on average (UPGMA); by the
centroid criterion as far as their means, in the dissimilarity chosen. The updating formula by
which centroids are often calculated is right for squared Euclidean distances only, so means are
kept. With centroids a later merger can be nearer than an earlier one, so a dendrogram is cut by a
number of clusters, not at a height.

Dissimilarities of two records with differences d: `manhattan` is the sum of abs(d), `differences`
the mean of abs(d), `taxonomic` the root of the mean of d**2, and `penrose_size` the square of the
mean of d (Penrose's coefficient of size). The first two lead to the same partitions.

Torra, Towards the re-identification of individuals in data files with non-common variables. Time
is about quadratic in the records, memory 8 bytes per pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.budget import require_memory
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, memory_text

CRITERIA = ("average", "centroid")
DISSIMILARITIES = ("manhattan", "differences", "taxonomic", "penrose_size")

_ASKED = "A clustering of records was asked for."
MOST_RECORDS = 28_000
"""The most records that are clustered by default: 3.2 GB of dissimilarities."""


@runtime_checkable
class Clusterer(Protocol):
    """Anything with `fit_predict`, such as a clusterer of scikit-learn."""

    def fit_predict(self, X: Any, /) -> Any:  # noqa: N803 - scikit-learn's name
        """Return one label per record."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Dendrogram:
    """The mergers of a clustering, in order.

    Attributes
    ----------
    kept, removed
        For each merger the first records of the two clusters; the first keeps its name.
    heights
        How dissimilar the two were.
    """

    kept: NDArray[np.int64]
    removed: NDArray[np.int64]
    heights: NDArray[np.float64]

    @property
    def n_records(self) -> int:
        """The number of records."""
        return len(self.kept) + 1

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the label of each record among so many clusters, numbered by first record."""
        check_number(n_clusters, self.n_records)
        root = np.arange(self.n_records)
        n_mergers = self.n_records - n_clusters
        root[self.removed[:n_mergers]] = self.kept[:n_mergers]
        while not np.array_equal(root, root[root]):
            root = root[root]
        return dense_labels(root)

    def __repr__(self) -> str:
        return f"Dendrogram({count_of(self.n_records, 'record')})"


def agglomerate(
    values: ArrayLike,
    *,
    criterion: str = "average",
    dissimilarity: str = "manhattan",
    most_records: int = MOST_RECORDS,
) -> Dendrogram:
    """Merge the nearest clusters of records until one is left.

    Of equally near pairs the first is merged: that whose first cluster starts first, then that
    whose second does.

    Parameters
    ----------
    values
        One row per record, one column per variable; see `normalise`.
    criterion
        `average` or `centroid`.
    dissimilarity
        `manhattan`, `differences`, `taxonomic` or `penrose_size`.
    most_records
        Refuse more, since memory grows with the square.

    Examples
    --------
    >>> dendrogram = agglomerate([[0.0], [0.1], [0.9], [1.0]])
    >>> dendrogram.cut(2)
    array([0, 0, 1, 1])
    >>> dendrogram.heights.round(3)
    array([0.1, 0.1, 0.9])
    """
    from gamekeeper.algorithms.structure import clustering_kernels as kernels

    kind = dissimilarity_code(dissimilarity)
    _require_known("criterion", criterion, CRITERIA)
    checked = check_values(values)
    if len(checked) > most_records:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"{count_of(len(checked), 'record')} would take"
            f" {memory_text(len(checked) ** 2 * 4)} of memory.",
            "Raise most_records (--most-records), or cluster with another clusterer in Python.",
        )
    require_memory(
        _ASKED,
        len(checked) ** 2 * 4,
        f"The pairs of {count_of(len(checked), 'record')}",
        "Take a random part of the records, or cluster with another clusterer in Python",
    )
    table = kernels.pair_table(checked, kind)
    return Dendrogram(*kernels.merge_all(checked, table, kind, criterion == "centroid"))


def normalise(values: ArrayLike) -> NDArray[np.float64]:
    """Return the variables scaled to 0 .. 1 each; a constant variable becomes 0.

    Examples
    --------
    >>> normalise([[1.0, 7.0], [3.0, 7.0], [2.0, 7.0]])[:, 0]
    array([0. , 1. , 0.5])
    """
    checked = check_values(values)
    low, high = checked.min(axis=0), checked.max(axis=0)
    # Halves, since the width of a variable may overflow where its ends do not.
    width = np.where(high > low, high / 2 - low / 2, 1.0)
    return (checked / 2 - low / 2) / width


def labels_by(clusterer: Clusterer, values: ArrayLike) -> NDArray[np.int64]:
    """Return the labels that any object with `fit_predict` gives, numbered by first record.

    Examples
    --------
    >>> class Signs:
    ...     def fit_predict(self, X):
    ...         return (X[:, 0] > 0).astype(int)
    >>> labels_by(Signs(), [[2.0], [-1.0], [3.0]])
    array([0, 1, 0])
    """
    checked = check_values(values)
    labels = np.asarray(clusterer.fit_predict(checked))
    if labels.shape != (len(checked),):
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            f"The clusterer '{type(clusterer).__name__}' gave labels of another shape.",
            "Use one whose fit_predict returns one label per record.",
        )
    return dense_labels(labels)


def dense_labels(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Number labels 0, 1, ... in the order of their first records.

    Examples
    --------
    >>> dense_labels(np.array([7, 3, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def dissimilarity_code(name: str) -> int:
    """Return the number by which the kernels know a dissimilarity.

    Examples
    --------
    >>> dissimilarity_code("taxonomic")
    2
    """
    _require_known("dissimilarity", name, DISSIMILARITIES)
    return DISSIMILARITIES.index(name)


def _require_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        found, do = f"There is no such {what}.", did_you_mean(str(name), known)
        raise InputError(Reason.UNKNOWN_NAME, _ASKED, found, do)


def check_values(values: ArrayLike, where: str = "The file") -> NDArray[np.float64]:
    """Return records as a matrix of finite numbers, or say all that is wrong with them.

    Examples
    --------
    >>> check_values([[1, 2]]).shape
    (1, 2)
    """
    try:
        matrix = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = None
    if matrix is None or matrix.ndim != 2:
        raise InputError(
            Reason.WRONG_SCHEMA,
            _ASKED,
            f"{where} is not a table of numbers.",
            "Give one row per record and one numeric column per variable.",
        ) from None
    problems: list[Problem] = []
    if not len(matrix):
        problems.append(Problem(Reason.NOTHING_GIVEN, where, "has no records."))
    if not matrix.shape[1]:
        problems.append(Problem(Reason.NOTHING_GIVEN, where, "has no variables."))
    for number in np.flatnonzero(~np.isfinite(matrix).all(axis=0)).tolist():
        n_bad = int((~np.isfinite(matrix[:, number])).sum())
        found = f"{count_of(n_bad, 'value')} missing or infinite."
        do = "Fill in or leave out these records or this variable."
        problems.append(Problem(Reason.MALFORMED, f"{where}, variable {number + 1}", found, do))
    refuse_faults(_ASKED, problems)
    return matrix


def refuse_faults(asked: str, problems: Sequence[Problem]) -> None:
    """Refuse what was asked, saying all that is wrong with it; nothing if nothing is."""
    if problems:
        found = f"{count_of(len(problems), 'fault')} found."
        raise InputError(problems[0].reason, asked, found, problems=problems)


def check_number(n_clusters: int, n_records: int) -> None:
    """Refuse a number of clusters that so many records cannot form."""
    if not 1 <= n_clusters <= n_records:
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(n_clusters, 'cluster')} of {count_of(n_records, 'record')} were asked for.",
            "There cannot be so many." if n_clusters > n_records else "There must be at least one.",
            f"Ask for 1 to {n_records:,} clusters (--clusters).",
        )
