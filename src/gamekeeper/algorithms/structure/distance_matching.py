"""Linking the records of two files by nothing but the distances within each file.

Sought is a one-to-one link of the records of the smaller file under which distances agree: the sum
over pairs of records of (distance in A - distance of the linked records in B)**2 is least. That is
the Gromov-Wasserstein problem with square loss (Mémoli 2011; Peyré, Cuturi and Solomon 2016),
relaxed to couplings whose rows sum to 1 and whose columns sum to at most 1. It is hard, so a local
optimum is sought by conditional gradients: the gradient of a coupling T is two products of
matrices, A T B; its best direction is an assignment; the best step along it is exact, as the loss
is quadratic. (For files of one size this is the algorithm FAQ of Vogelstein et al. 2015.) The
product for a single assignment is one product of matrices, so a step costs that and one
assignment. The coupling is then rounded by an assignment, which is improved by full steps and, in
small files, by exchanges of two links. Starts are links by sorted distances (every record has a
profile of its distances to the others), links by linear costs where there are any, and in files of up
to 500 records the uniform coupling, which takes many steps in larger ones and was measured to end
worse there; the best is returned.

Linear costs of pairs, such as from matched groups, can be mixed in (fused Gromov-Wasserstein).
Memory is about six matrices of pairs, of single precision for more than 2,000 records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import refuse_faults
from gamekeeper.errors import Problem, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]

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
    """Links of records by structure.

    Attributes
    ----------
    columns
        For each record of A its record of B; -1 where it has none, since B is smaller.
    distortion
        The mean of the squared differences of linked distances, where both files are scaled to a
        mean squared distance of 1; 0 means that all distances agree.
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

    Parameters
    ----------
    distances_a, distances_b
        Symmetric distances of all pairs of records of each file, in any unit.
    linear
        Costs of linking each record of A with each of B, from 0, in any unit; half of the objective.
    most_steps
        The most steps from each start; each takes one assignment and one product of matrices.
    progress
        Called with the number of starts done and all of them.

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


def profile_costs(distances_a: Floats, distances_b: Floats) -> Floats:
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

    def __init__(self, a: Floats, b: Floats, costs: Floats | None) -> None:
        fused = 0.0 if costs is None else _LINEAR_SHARE
        self.kind = np.float32 if len(b) > _SINGLE_ABOVE else np.float64
        self.a = (a / _scale(a)).astype(self.kind)
        self.b = (b / _scale(b)).astype(self.kind)
        # Both parts are means: of pairs of pairs, and of pairs.
        self.structure_share = (1.0 - fused) / len(a) ** 2
        self.linear: Floats | None = None
        if costs is not None:
            self.linear = (costs * (fused / len(a) / (costs.mean() or 1.0))).astype(self.kind)
        self.is_square = len(a) == len(b)
        self.b_squares = self.b[:0] if self.is_square else self.b**2

    def coupling(self, columns: Integers) -> Floats:
        """Return links as a matrix."""
        matrix = np.zeros((len(self.a), len(self.b)), self.kind)
        matrix[np.arange(len(columns)), columns] = 1.0
        return matrix

    def product(self, columns: Integers) -> Floats:
        """Return A P B for links P."""
        return self.a @ self.b[columns]

    def gradient(self, product: Floats, sums: Floats) -> Floats:
        """Return the gradient of the objective at a coupling with these products and column sums."""
        gradient = product * (-4.0 * self.structure_share)
        if not self.is_square:
            gradient += 2.0 * self.structure_share * (self.b_squares @ sums)
        if self.linear is not None:
            gradient += self.linear
        return gradient

    def distortion(self, columns: Integers) -> float:
        """Return the mean squared difference of linked distances."""
        return float(np.mean((self.a - self.b[np.ix_(columns, columns)]) ** 2, dtype=np.float64))

    def objective(self, columns: Integers) -> float:
        """Return the objective of links."""
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
    from gamekeeper.algorithms.structure.exchange_kernels import exchange_links

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


def _by_profile(a: Floats, b: Floats) -> Integers:
    """Return links of similar profiles.

    In large files costs are squared. Links then start no worse, and are found several times faster:
    sums of differences leave many assignments that are nearly as good as the best.
    """
    costs = profile_costs(a, b)
    return _assign(costs if len(a) <= _UNIFORM_UP_TO else costs**2)


def _assign(costs: Floats) -> Integers:
    """Return the links of least cost."""
    from gamekeeper.algorithms.assignment.dense import solve_assignment

    return solve_assignment(costs).columns


def _dot(first: Floats, second: Floats) -> float:
    return float(np.vdot(first, second))


def _scale(distances: Floats) -> float:
    return float(np.sqrt(np.mean(distances**2))) or 1.0


def _checked(
    distances_a: ArrayLike,
    distances_b: ArrayLike,
    linear: ArrayLike | None,
    most_steps: int,
) -> tuple[Floats, Floats, Floats | None]:
    problems: list[Problem] = []
    matrices: list[Floats] = []
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


def _numbers(given: ArrayLike) -> Floats:
    try:
        matrix = np.asarray(given)
        return matrix if matrix.dtype == np.float32 else matrix.astype(np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
