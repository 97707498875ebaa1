"""Linking the records of two files without common variables, and whether such links can be believed.

**By the distances within each file.** Sought is a one-to-one link of the records of the smaller
file under which distances agree: the sum over pairs of records of (distance in A - distance of the
linked records in B)**2 is least. That is the Gromov-Wasserstein problem with square loss (Mémoli
2011; Peyré, Cuturi and Solomon 2016), relaxed to couplings whose rows sum to 1 and whose columns
sum to at most 1. It is hard, so a local optimum is sought by conditional gradients: the gradient of
a coupling T is two products of matrices, A T B; its best direction is an assignment; the best step
along it is exact, as the loss is quadratic. (For files of one size this is the algorithm FAQ of
Vogelstein et al. 2015.) The product for a single assignment is one product of matrices, so a step
costs that and one assignment. The coupling is then rounded by an assignment, which is improved by
full steps and, in small files, by exchanges of two links. Starts are links by sorted distances
(every record has a profile of its distances to the others), links by linear costs where there are
any, and in files of up to 500 records the uniform coupling, which takes many steps in larger ones
and was measured to end worse there; the best is returned. Linear costs of pairs, such as from
matched groups, can be mixed in (fused Gromov-Wasserstein). Memory is about six matrices of pairs,
of single precision for more than 2,000 records.

**By matched clusters**, the second stage that Torra leaves open. Clusters that were matched with
each other are landmarks that both files share. How far a record lies from each landmark, on average
over the cluster, can be compared across files, once every such distance is brought to mean 0 and
variance 1 within its file. Costs of pairs are the mean squared differences of these distances.
Records are linked either within blocks, such as matched classes, or over the whole files,
one-to-one: by an assignment on these costs and, where a block is small enough, by the distances
within the files too, starting from these costs. The landmarks cost a look at all pairs of records
of a file, a block its assignment.

**Steadiness**: do halves of columns agree? Records are linked several times, each time from a
random half of the columns of each file. Where files share a structure, halves of them share it too,
and links come back; where they do not, each half finds links of its own. The steadiness is the
share of records that two such runs link alike, on average over pairs of runs. By chance it would be
one over the number of records. Measured (docs/explain/linkage.md): on 12 splits of the ionosphere
data 0.28 to 0.72, where 16 to 35 of 35 are linked rightly; at most 0.07 on files where next to
nothing is. Each run costs a matching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import (
    check_values,
    dissimilarity_code,
    refuse_faults,
)
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Distances = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Steadiness:
    """How links of halves of the columns agree: the share of records that two runs link alike.

    `votes` tells for each record of the first file how many runs make the link that is given.
    """

    share: float
    votes: Integers
    n_runs: int


def steadiness(
    a: Floats,
    b: Floats,
    links: Integers,
    linking: Callable[[Floats, Floats], Integers],
    *,
    n_runs: int,
    origins: tuple[Integers, Integers] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Steadiness | None:
    """Link halves of the columns several times; None where a file has fewer than four columns.

    Where several numbers stand for one column, `origins` has its number for each of them.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a = rng.normal(size=(5, 8))
    >>> found = steadiness(a, a, np.arange(5), lambda x, y: np.arange(5), n_runs=3)
    >>> found.share, found.votes.tolist()
    (1.0, [3, 3, 3, 3, 3])
    """
    if origins is None:
        origins = np.arange(a.shape[1]), np.arange(b.shape[1])
    columns = [np.unique(of_side) for of_side in origins]
    if min(map(len, columns)) < 4 or n_runs < 2:
        return None
    runs: list[Integers] = []
    for number, child in enumerate(np.random.SeedSequence(seed).spawn(n_runs)):
        rng = np.random.default_rng(child)
        halves = [
            np.ascontiguousarray(side[:, np.isin(of_side, rng.permutation(its)[: len(its) // 2])])
            for side, of_side, its in zip((a, b), origins, columns, strict=True)
        ]
        runs.append(linking(halves[0], halves[1]))
        if progress is not None:
            progress(number + 1, n_runs)
    alike = [
        float(((one == other) & (one >= 0)).sum()) / max(int((one >= 0).sum()), 1)
        for k, one in enumerate(runs)
        for other in runs[:k]
    ]
    votes = np.sum([(run == links) & (links >= 0) for run in runs], axis=0)
    return Steadiness(float(np.mean(alike)), votes.astype(np.int64), n_runs)


_ASKED = "A matching of records by the distances within two files was asked for."
_SINGLE_ABOVE = 2000
_EXCHANGED = 600
_UNIFORM_UP_TO = 500
_QUANTILES = 33
_TOLERANCE = 1e-5
_LINEAR_SHARE = 0.5
# A full step that gains less than this share hardly moves a link to its right place.
_WORTH_A_STEP = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class StructureMatching:
    """Links of records by structure: for each record of A its record of B; -1 where B is smaller.

    `distortion` is the mean of the squared differences of linked distances, where both files are
    scaled to a mean squared distance of 1; 0 means that all distances agree.
    """

    columns: Integers
    distortion: float

    def __repr__(self) -> str:
        n_links = int((self.columns >= 0).sum())
        return f"StructureMatching({n_links:,} links, distortion={self.distortion:.4g})"


def match_structure(
    distances_a: ArrayLike,
    distances_b: ArrayLike,
    *,
    linear: ArrayLike | None = None,
    most_steps: int = 60,
    progress: Progress | None = None,
) -> StructureMatching:
    """Link records so that distances within one file agree with those within the other.

    Distances are symmetric, of all pairs of records of each file, in any unit. `linear` are costs
    of linking each record of A with each of B, from 0, in any unit; half of the objective. Each of
    `most_steps` from each start takes one assignment and one product of matrices. Progress is in
    starts.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 3.0, 7.0])
    >>> order = np.array([2, 0, 3, 1])
    >>> a = np.abs(points[:, None] - points)
    >>> b = 100 * a[np.ix_(order, order)]
    >>> match_structure(a, b).columns
    array([1, 3, 0, 2])
    """
    a, b, costs = _checked(distances_a, distances_b, linear, most_steps)
    if len(a) > len(b):
        swapped = match_structure(
            b,
            a,
            linear=None if costs is None else costs.T,
            most_steps=most_steps,
            progress=progress,
        )
        columns = np.full(len(a), -1, np.int64)
        columns[swapped.columns] = np.arange(len(b))
        return replace(swapped, columns=columns)
    task = _Task(a, b, costs)
    starts: list[Integers | None] = [] if costs is None else [_assign(costs)]
    starts.append(_by_profile(a, b))
    if len(a) <= _UNIFORM_UP_TO:
        starts.append(None)
    best, least = np.empty(0, np.int64), np.inf
    for done, links in enumerate(starts):
        if progress is not None:
            progress(done, len(starts))
        columns = _descend(task, links, most_steps)
        objective = task.objective(columns)
        if not len(best) or objective < least:
            best, least = columns, objective
    if progress is not None:
        progress(len(starts), len(starts))
    return StructureMatching(best, task.distortion(best))


def profile_costs(distances_a: Distances, distances_b: Distances) -> Distances:
    """Return how much the sorted distances of each two records differ, each file scaled to mean 1.

    Examples
    --------
    >>> a = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> profile_costs(a, 10 * a).argmin(axis=1)
    array([0, 1, 2])
    """
    from scipy.spatial.distance import cdist

    at = np.linspace(0, 1, min(_QUANTILES, max(len(distances_a), 2)))
    profiles = [
        np.quantile(distances / (distances.mean() or 1.0), at, axis=1).T
        for distances in (distances_a, distances_b)
    ]
    return cdist(profiles[0], profiles[1], "cityblock")


class _Task:
    """Two structures and linear costs, scaled; A is not larger than B."""

    def __init__(self, a: Distances, b: Distances, costs: Distances | None) -> None:
        fused = 0.0 if costs is None else _LINEAR_SHARE
        self.kind = np.float32 if len(b) > _SINGLE_ABOVE else np.float64
        self.a = (a / _scale(a)).astype(self.kind)
        self.b = (b / _scale(b)).astype(self.kind)
        # Both parts are means: of pairs of pairs, and of pairs.
        self.structure_share = (1.0 - fused) / len(a) ** 2
        self.linear: Distances | None = None
        if costs is not None:
            self.linear = (costs * (fused / len(a) / (costs.mean() or 1.0))).astype(self.kind)
        self.is_square = len(a) == len(b)
        self.b_squares = self.b[:0] if self.is_square else self.b**2

    def coupling(self, columns: Integers) -> Distances:
        matrix = np.zeros((len(self.a), len(self.b)), self.kind)
        matrix[np.arange(len(columns)), columns] = 1.0
        return matrix

    def product(self, columns: Integers) -> Distances:
        return self.a @ self.b[columns]

    def gradient(self, product: Distances, sums: Distances) -> Distances:
        """Return the gradient of the objective at a coupling with these products and column sums."""
        gradient = product * (-4.0 * self.structure_share)
        if not self.is_square:
            gradient += 2.0 * self.structure_share * (self.b_squares @ sums)
        if self.linear is not None:
            gradient += self.linear
        return gradient

    def distortion(self, columns: Integers) -> float:
        return float(np.mean((self.a - self.b[np.ix_(columns, columns)]) ** 2, dtype=np.float64))

    def objective(self, columns: Integers) -> float:
        value = self.structure_share * len(self.a) ** 2 * self.distortion(columns)
        if self.linear is not None:
            value += float(self.linear[np.arange(len(columns)), columns].sum(dtype=np.float64))
        return value


def _descend(task: _Task, links: Integers | None, most_steps: int) -> Integers:
    """Go down from links, or where there are none from all alike; round, and improve."""
    if links is None:
        coupling = np.full((len(task.a), len(task.b)), 1 / len(task.b), task.kind)
        product = task.a @ coupling @ task.b
    else:
        coupling = task.coupling(links)
        product = task.product(links)
    sums = coupling.sum(axis=0)
    n_steps = 0
    while n_steps < most_steps:
        n_steps += 1
        gradient = task.gradient(product, sums)
        columns = _assign(gradient)
        its_product = task.product(columns)
        its_sums = np.zeros_like(sums)
        its_sums[columns] = 1.0
        at = np.arange(len(columns)), columns
        slope = float(gradient[at].sum(dtype=np.float64)) - _dot(gradient, coupling)
        change = its_product - product
        bend = _dot(change, coupling) - float(change[at].sum(dtype=np.float64))
        bend *= 2.0 * task.structure_share
        if not task.is_square:
            way = its_sums - sums
            bend += task.structure_share * float(way @ (task.b_squares @ way))
        if slope > -_TOLERANCE:
            break
        step = 1.0 if bend <= 0 else min(1.0, -slope / (2.0 * bend))
        coupling *= 1.0 - step
        coupling[at] += step
        product += step * change
        sums = (1.0 - step) * sums + step * its_sums
    return _improved(task, _assign(-coupling), max(most_steps - n_steps, 1))


def _improved(task: _Task, columns: Integers, most_steps: int) -> Integers:
    """Take full steps while they help, at most so many, then exchange links in small files."""
    from gamekeeper.algorithms.structure.kernels import exchange_links

    objective = task.objective(columns)
    least = _WORTH_A_STEP if len(task.b) > _EXCHANGED else 0.0
    for _ in range(most_steps):
        sums = np.zeros(len(task.b), task.kind)
        sums[columns] = 1.0
        trial = _assign(task.gradient(task.product(columns), sums))
        reached = task.objective(trial)
        gain = objective - reached
        if gain > 1e-12:
            columns, objective = trial, reached
        if gain <= max(1e-12, least * objective):
            break
    if len(task.b) <= _EXCHANGED:
        linear = np.zeros(task.a.shape[:1] + task.b.shape[:1])
        if task.linear is not None:
            linear[:] = task.linear
        share = task.structure_share
        exchange_links(task.a.astype(np.float64), task.b.astype(np.float64), linear, share, columns)
    return columns


def _by_profile(a: Distances, b: Distances) -> Integers:
    """Return links of similar profiles.

    In large files costs are squared. Links then start no worse, and are found several times faster:
    sums of differences leave many assignments that are nearly as good as the best.
    """
    costs = profile_costs(a, b)
    return _assign(costs if len(a) <= _UNIFORM_UP_TO else costs**2)


def _assign(costs: Distances) -> Integers:
    from gamekeeper.algorithms.assignment.dense import solve_assignment

    return solve_assignment(costs).columns


def _dot(first: Distances, second: Distances) -> float:
    return float(np.vdot(first, second))


def _scale(distances: Distances) -> float:
    return float(np.sqrt(np.mean(distances**2))) or 1.0


def _checked(
    distances_a: ArrayLike, distances_b: ArrayLike, linear: ArrayLike | None, most_steps: int
) -> tuple[Distances, Distances, Distances | None]:
    problems: list[Problem] = []
    matrices: list[Distances] = []
    for name, given in (("distances_a", distances_a), ("distances_b", distances_b)):
        matrix = _numbers(given)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            problems.append(
                Problem(Reason.WRONG_SCHEMA, name, "not a square table of numbers.", "Give one.")
            )
        elif not np.isfinite(matrix).all() or (matrix < 0).any():
            problems.append(
                Problem(Reason.MALFORMED, name, "holds missing, infinite or negative distances.")
            )
        elif not (np.array_equal(matrix, matrix.T) or np.allclose(matrix, matrix.T)):
            problems.append(Problem(Reason.MALFORMED, name, "not symmetric."))
        matrices.append(matrix)
    costs = None
    if linear is not None:
        costs = _numbers(linear)
        if costs.shape != (len(matrices[0]), len(matrices[1])):
            found = "not one cost per record of A and record of B."
            problems.append(Problem(Reason.WRONG_SCHEMA, "linear", found))
        elif not np.isfinite(costs).all() or (costs < 0).any():
            problems.append(Problem(Reason.MALFORMED, "linear", "missing or negative costs."))
    if most_steps < 1:
        problems.append(Problem(Reason.BAD_OPTION, "most_steps", "fewer than 1."))
    refuse_faults(_ASKED, problems)
    return matrices[0], matrices[1], costs


def _numbers(given: ArrayLike) -> Distances:
    try:
        matrix = np.asarray(given)
        return matrix if matrix.dtype == np.float32 else matrix.astype(np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


_ASKED_FROM_CLUSTERS = "Links of records were asked for, from matched clusters."
# In blocks of up to so many records of either file, distances within the files are used too.
_MOST_STRUCTURED = 1000


def landmark_features(
    values: ArrayLike, labels: ArrayLike, landmarks: Sequence[Sequence[int]], dissimilarity: str
) -> Floats:
    """Return the mean dissimilarity of each record to some clusters, standardized over the file.

    Labels have one column per technique; `landmarks` are for each technique the labels of the
    clusters, in the order of the columns wanted.

    Examples
    --------
    >>> found = landmark_features([[0.0], [1.0], [5.0]], [[0], [0], [1]], [[1]], "manhattan")
    >>> found.round(2).tolist()
    [[0.93], [0.46], [-1.39]]
    """
    from gamekeeper.algorithms.structure.kernels import cluster_sums

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
                _ASKED_FROM_CLUSTERS,
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

    Returns for each record of A its record of B, -1 where it has none. Labels have one column per
    technique, and `mappings` say for each which cluster of B a cluster of A was matched with.
    `blocks` has for each record of A and of B a number, -1 for none: only records with the same
    number are linked. With matched classes `(matching.groups[a.classes], b.classes)`. Progress is
    in blocks.

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
            _ASKED_FROM_CLUSTERS,
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
            _ASKED_FROM_CLUSTERS,
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

    from gamekeeper.algorithms.structure.kernels import square_table

    costs = cdist(*features, "sqeuclidean") / features[0].shape[1]
    if kind is not None:
        tables = [square_table(part, kind) for part in values]
        return match_structure(*tables, linear=costs).columns
    rows, columns = linear_sum_assignment(costs)
    links = np.full(len(costs), -1, np.int64)
    links[rows] = columns
    return links
