"""Clusterings of the records of one file, of two files alike, and who is together in all of them.

Sequential agglomerative hierarchic clustering merges the two nearest clusters until one is left.
By the average criterion clusters are as far apart as their members on average (UPGMA); by the
centroid criterion as far as their means, in the dissimilarity chosen. The updating formula by
which centroids are often calculated is right for squared Euclidean distances only, so means are
kept. With centroids a later merger can be nearer than an earlier one, so a dendrogram is cut by a
number of clusters, not at a height.

Dissimilarities of two records with differences d: `manhattan` is the sum of abs(d), `differences`
the mean of abs(d), `taxonomic` the root of the mean of d**2, and `penrose_size` the square of the
mean of d (Penrose's coefficient of size). The first two lead to the same partitions. Time is about
quadratic in the records, memory 8 bytes per pair.

Two records are in one class of the conjunction of several clusterings exactly where each puts them
in one cluster; by a theorem of Fishburn and Rubinstein every consistent way to aggregate partitions
is of this kind. A class has one label per clustering, the row by which it is matched with the
classes of another file. It costs one sort of the records.

Two files that share records but no variables can be matched by their clusters only where a
technique makes as many of them in one as in the other. A number that is not given is chosen for
both files together: that with the greatest mean silhouette, the mean of both files, each file
counting alike. The silhouette of a record compares its mean dissimilarity to its own cluster with
that to the next (Rousseeuw 1987); it is calculated exactly for up to `_SAMPLE` records, evenly
spread over the file.

Torra, Towards the re-identification of individuals in data files with non-common variables.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.classes import EqualRows, class_numbers, numbers_as_they_come
from gamekeeper.budget import require_memory
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, did_you_mean, memory_text

Labels = NDArray[np.int64]

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
    """The mergers, in order: `removed` joins `kept` (first records) at a dissimilarity, `heights`."""

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
        return numbers_as_they_come(root)

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
    whose second does. More than `most_records` are refused, since memory grows with the square. See
    `normalise` for the scale of the values.

    Examples
    --------
    >>> dendrogram = agglomerate([[0.0], [0.1], [0.9], [1.0]])
    >>> dendrogram.cut(2)
    array([0, 0, 1, 1])
    >>> dendrogram.heights.round(3)
    array([0.1, 0.1, 0.9])
    """
    from gamekeeper.algorithms.structure import kernels

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
    return numbers_as_they_come(labels)


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


@dataclass(frozen=True, eq=False, repr=False)
class Conjunction:
    """The classes of records that no clustering separates, ordered by their first records.

    `classes` has the class of each record, `rows` the labels of each class, one column per
    clustering.
    """

    classes: NDArray[np.int64]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def taken(self, records: ArrayLike) -> tuple[Conjunction, NDArray[np.int64]]:
        """Return the classes of the records in another order, and the new number of each class.

        Examples
        --------
        >>> found, numbers = conjunction([[5], [6], [5]]).taken([1, 0, 2])
        >>> found.classes, numbers
        (array([0, 1, 1]), array([1, 0]))
        """
        before = self.classes[np.asarray(records, dtype=np.int64)]
        classes = numbers_as_they_come(before)
        numbers = np.empty(len(self.sizes), np.int64)
        numbers[before] = classes
        order = np.argsort(numbers)
        return Conjunction(classes, self.rows[order], self.sizes[order]), numbers

    def __repr__(self) -> str:
        return (
            f"Conjunction({count_of(len(self.rows), 'class', 'classes')} of"
            f" {count_of(len(self.classes), 'record')})"
        )


def conjunction(labels: ArrayLike) -> Conjunction:
    """Intersect partitions of the same records, one row per record, a column of whole numbers for each.

    Examples
    --------
    >>> found = conjunction([[0, 0], [0, 1], [0, 0], [1, 1]])
    >>> found
    Conjunction(3 classes of 4 records)
    >>> found.classes, found.sizes
    (array([0, 1, 0, 2]), array([2, 1, 1]))
    """
    matrix = np.asarray(labels)
    if matrix.ndim != 2 or not matrix.size or not np.issubdtype(matrix.dtype, np.integer):
        raise InputError(
            Reason.WRONG_SCHEMA,
            "The conjunction of clusterings was asked for.",
            "What was given is not a table of whole numbers with rows and columns.",
            "Give one row per record and one column of labels per clustering.",
        )
    found = EqualRows.of(numbers_as_they_come(class_numbers(matrix)[0]))
    return Conjunction(found.numbers, matrix[found.firsts].astype(np.int64), found.sizes)


_ASKED_ALIKE = "The same clusterings of two files were asked for."
_SAMPLE = 500
# Silhouettes mostly favour two clusters, which tell few records apart.
_FEWEST_CLUSTERS = 4
_MOST_CLUSTERS = 10


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
    """The labels of the records of two files, from 0 by first record, one column per technique.

    `n_clusters` are the numbers asked for or chosen; 0 where a clusterer decides itself.
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

    Files have any variables; see `normalise`. Techniques are agglomerative, or objects with
    `fit_predict`; an object is copied, and told the number of clusters where it has an attribute
    `n_clusters`; otherwise it decides itself. `n_clusters` is one for all or one per technique; if
    left out it is chosen, from `fewest` up to 10 or one less than the records of the smaller file.
    Progress is in techniques.

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
    from gamekeeper.algorithms.structure.kernels import cluster_sums

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
    refuse_faults(_ASKED_ALIKE, problems)
    return numbers
