"""The same clusterings of two files that share records but no variables, cut alike.

Two files can be matched by their clusters only where a technique makes as many of them in one as
in the other. A number that is not given is chosen for both files together: that with the greatest
mean silhouette, the mean of both files, each file counting alike. The silhouette of a record
compares its mean dissimilarity to its own cluster with that to the next (Rousseeuw 1987); it is
calculated exactly for up to `_SAMPLE` records, evenly spread over the file.

Torra, Towards the re-identification of individuals in data files with non-common variables.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import (
    CRITERIA,
    MOST_RECORDS,
    Clusterer,
    agglomerate,
    check_values,
    dissimilarity_code,
    labels_by,
    refuse_faults,
)
from gamekeeper.errors import Problem, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

_ASKED = "The same clusterings of two files were asked for."
_SAMPLE = 500
# Silhouettes mostly favour two clusters, which tell few records apart.
_FEWEST_CLUSTERS = 4
_MOST_CLUSTERS = 10

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Technique:
    """An agglomerative clustering: a criterion and a dissimilarity."""

    criterion: str = "average"
    dissimilarity: str = "manhattan"

    def __str__(self) -> str:
        return f"{self.criterion}, {self.dissimilarity}"


TECHNIQUES = tuple(
    Technique(criterion, dissimilarity)
    for criterion in CRITERIA
    for dissimilarity in ("manhattan", "penrose_size", "taxonomic")
)
"""Six techniques in the manner of Torra; mean differences would repeat the partitions of Manhattan."""


@dataclass(frozen=True, eq=False, repr=False)
class CommonClusterings:
    """The labels of the records of two files, one column per technique.

    Attributes
    ----------
    labels_a, labels_b
        Labels from 0, by first record.
    names
        The names of the techniques.
    n_clusters
        The numbers of clusters asked for or chosen; 0 where a clusterer decides itself.
    """

    labels_a: Labels
    labels_b: Labels
    names: tuple[str, ...]
    n_clusters: tuple[int, ...]

    def __repr__(self) -> str:
        return (
            f"CommonClusterings({count_of(len(self.names), 'technique')},"
            f" {len(self.labels_a):,} and {len(self.labels_b):,} records)"
        )


def cluster_alike(
    values_a: ArrayLike,
    values_b: ArrayLike,
    techniques: Sequence[Technique | Clusterer] = TECHNIQUES,
    *,
    n_clusters: int | Sequence[int] | None = None,
    fewest: int = _FEWEST_CLUSTERS,
    most_records: int = MOST_RECORDS,
    progress: Progress | None = None,
) -> CommonClusterings:
    """Cluster two files by the same techniques into the same numbers of clusters.

    Parameters
    ----------
    values_a, values_b
        Records of the files, of any variables; see `normalise`.
    techniques
        Agglomerative techniques, or objects with `fit_predict`. An object is copied, and told the
        number of clusters where it has an attribute `n_clusters`; otherwise it decides itself.
    n_clusters
        The number of clusters, one for all or one per technique; chosen if left out.
    fewest
        The least number to choose from, up to 10 or one less than the records of the smaller file.
    most_records
        Refuse larger files, as `agglomerate` does.
    progress
        Called with the number of techniques done and all of them.

    Examples
    --------
    >>> a, b = [[0.0], [0.1], [5.0], [5.1]], [[30.0], [2.0], [31.0], [3.0], [2.5]]
    >>> found = cluster_alike(a, b, fewest=2)
    >>> found.n_clusters
    (2, 2, 2, 2, 2, 2)
    >>> found.labels_b[:, 0]
    array([0, 1, 0, 1, 1])
    """
    a, b = check_values(values_a, "File A"), check_values(values_b, "File B")
    numbers = _numbers(techniques, n_clusters, fewest, min(len(a), len(b)))
    columns_a: list[Labels] = []
    columns_b: list[Labels] = []
    used: list[int] = []
    for done, (technique, asked) in enumerate(zip(techniques, numbers, strict=True)):
        if progress is not None:
            progress(done, len(techniques))
        cut_a, cut_b = (_cutter(technique, values, most_records) for values in (a, b))
        number = 0 if _decides_itself(technique) else asked
        if number is None:
            choices = range(fewest, min(_MOST_CLUSTERS, len(a) - 1, len(b) - 1) + 1)
            number = _chosen(a, b, cut_a, cut_b, technique, choices)
        columns_a.append(cut_a(number))
        columns_b.append(cut_b(number))
        used.append(number)
    if progress is not None:
        progress(len(techniques), len(techniques))
    names = tuple(
        str(item) if isinstance(item, Technique) else type(item).__name__ for item in techniques
    )
    return CommonClusterings(
        np.stack(columns_a, axis=1), np.stack(columns_b, axis=1), names, tuple(used)
    )


def silhouette(values: ArrayLike, labels: ArrayLike, *, dissimilarity: str = "taxonomic") -> float:
    """Return the mean silhouette of up to 500 records, evenly spread; 0 for a single cluster.

    Examples
    --------
    >>> round(silhouette([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]), 3)
    1.0
    """
    rows, sums = _sample_sums(check_values(values), np.asarray(labels, np.int64), dissimilarity)
    return _mean_silhouette(sums, rows, np.asarray(labels, np.int64))


def _sample_sums(
    values: NDArray[np.float64], labels: Labels, dissimilarity: str
) -> tuple[Labels, NDArray[np.float64]]:
    """Return some records, evenly spread, and the sums of their dissimilarities to each cluster."""
    from gamekeeper.algorithms.structure.clustering_kernels import cluster_sums

    rows = np.unique(np.linspace(0, len(values) - 1, min(len(values), _SAMPLE)).astype(np.int64))
    n_clusters = int(labels.max(initial=0)) + 1
    code = dissimilarity_code(dissimilarity)
    return rows, cluster_sums(values, rows, labels[:, None], n_clusters, code)


def _silhouettes(
    values: NDArray[np.float64],
    cut: Callable[[int], Labels],
    numbers: range,
    dissimilarity: str,
    is_nested: bool,
) -> list[float]:
    """Return the mean silhouettes of a file for numbers of clusters.

    Nested clusterings add up the sums of the finest, so that dissimilarities are taken once.
    """
    if not is_nested:
        return [silhouette(values, cut(k), dissimilarity=dissimilarity) for k in numbers]
    finest = cut(numbers[-1])
    rows, sums = _sample_sums(values, finest, dissimilarity)
    first = np.unique(finest, return_index=True)[1]
    widths: list[float] = []
    for number in numbers:
        labels = cut(number)
        joined = np.zeros((len(rows), number))
        np.add.at(joined.T, labels[first], sums.T)
        widths.append(_mean_silhouette(joined, rows, labels))
    return widths


def _mean_silhouette(sums: NDArray[np.float64], rows: Labels, labels: Labels) -> float:
    sizes = np.bincount(labels, minlength=sums.shape[1])
    if len(sizes) < 2:
        return 0.0
    own, at = labels[rows], np.arange(len(rows))
    within = sums[at, own] / np.maximum(sizes[own] - 1, 1)
    others = sums / sizes
    others[at, own] = np.inf
    next_one = others.min(axis=1)
    widest = np.maximum(within, next_one)
    # A record alone in its cluster counts 0, as do records that coincide with all others.
    is_counted = (sizes[own] > 1) & (widest > 0)
    widths = (next_one - within) / np.where(is_counted, widest, 1.0)
    return float(np.where(is_counted, widths, 0.0).mean())


def _chosen(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    cut_a: Callable[[int], Labels],
    cut_b: Callable[[int], Labels],
    technique: Technique | Clusterer,
    numbers: range,
) -> int:
    """Return the first number of clusters with the greatest mean silhouette of both files."""
    is_nested = isinstance(technique, Technique)
    kind = technique.dissimilarity if isinstance(technique, Technique) else "taxonomic"
    widths = np.add(
        _silhouettes(a, cut_a, numbers, kind, is_nested),
        _silhouettes(b, cut_b, numbers, kind, is_nested),
    )
    return numbers[int(widths.argmax())]


def _cutter(
    technique: Technique | Clusterer, values: NDArray[np.float64], most_records: int
) -> Callable[[int], Labels]:
    """Return the function that clusters a file into a number of clusters."""
    if isinstance(technique, Technique):
        return agglomerate(
            values,
            criterion=technique.criterion,
            dissimilarity=technique.dissimilarity,
            most_records=most_records,
        ).cut

    def cut(number: int) -> Labels:
        clusterer = copy.copy(technique)
        if number:
            clusterer.n_clusters = number  # pyright: ignore[reportAttributeAccessIssue]
        return labels_by(clusterer, values)

    return cut


def _decides_itself(technique: Technique | Clusterer) -> bool:
    return not isinstance(technique, Technique) and not hasattr(technique, "n_clusters")


def _numbers(
    techniques: Sequence[Technique | Clusterer],
    n_clusters: int | Sequence[int] | None,
    fewest: int,
    n_records: int,
) -> Sequence[int | None]:
    """Return the number of clusters of each technique, None where it is to be chosen."""
    problems: list[Problem] = []
    if not techniques:
        problems.append(Problem(Reason.NOTHING_GIVEN, "techniques", "none was given."))
    if n_clusters is None:
        numbers = [None] * len(techniques)
        is_open = not all(_decides_itself(technique) for technique in techniques)
        if is_open and n_records < 2:
            few = "no record" if not n_records else "1 record"
            found = f"it has {few}, which cannot be divided into clusters."
            do = f"Give files of more than {fewest} records."
            problems.append(Problem(Reason.BAD_OPTION, "smaller file", found, do))
        elif is_open and (not 2 <= fewest <= _MOST_CLUSTERS or fewest >= n_records):
            records = count_of(n_records, "record")
            found = f"{fewest} to {_MOST_CLUSTERS} clusters, where the smaller file has {records}."
            do = (
                "Give the number of clusters (--clusters), or choose from at least 2 and from fewer than"
                " the records."
            )
            problems.append(Problem(Reason.BAD_OPTION, "fewest and most", found, do))
    else:
        is_one = isinstance(n_clusters, int)
        numbers = [n_clusters] * len(techniques) if is_one else list(n_clusters)
        if len(numbers) != len(techniques):
            asked = count_of(len(techniques), "technique")
            found = f"{count_of(len(numbers), 'number')} for {asked}."
            do = "Give one number (--clusters), or one per technique."
            problems.append(Problem(Reason.BAD_OPTION, "n_clusters", found, do))
        do = f"Ask for 1 to {n_records:,} (--clusters), the records of the smaller file."
        for number in sorted(set(numbers)):
            if not 1 <= number <= n_records:
                found = f"{count_of(number, 'cluster')} of {count_of(n_records, 'record')}."
                problems.append(Problem(Reason.BAD_OPTION, "n_clusters", found, do))
    problems += [
        Problem(
            Reason.BAD_OPTION,
            f"technique {place + 1}",
            f"'{type(item).__name__}' does not cluster.",
            "Give a Technique, or an object with fit_predict.",
        )
        for place, item in enumerate(techniques)
        if not isinstance(item, Technique) and not callable(getattr(item, "fit_predict", None))
    ]
    refuse_faults(_ASKED, problems)
    return numbers
