"""What a matching of the classes of two files is about, checked, and a bound of what it can reach.

Labels are numbered from 0 in each technique. The bound looks at one technique at a time: an
injective mapping uses at most as many labels of A as B has, and a one-to-one matching at most as
many rows of a label as its partner has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import refuse_faults
from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ASKED = "A matching of the classes of two files was asked for."
"""The first sentence of every refusal."""


@dataclass(frozen=True, eq=False)
class GroupProblem:
    """Labels and sizes of the rows of both files, and what is allowed.

    Labels are numbered from 0 in each technique.
    """

    a: Integers
    b: Integers
    sizes_a: Integers
    sizes_b: Integers
    n_a: Integers
    n_b: Integers
    is_free: NDArray[np.bool_]
    is_one_to_one: bool

    @property
    def n_techniques(self) -> int:
        """The number of techniques."""
        return len(self.n_a)

    @property
    def by_technique(self) -> NDArray[np.int32]:
        """The labels of B, one row per technique."""
        return np.ascontiguousarray(self.b.T, dtype=np.int32)

    @property
    def shares_a(self) -> Floats:
        """The share of each row of A in its file."""
        return self.sizes_a / max(int(self.sizes_a.sum()), 1)

    @property
    def shares_b(self) -> Floats:
        """The share of each row of B in its file."""
        return self.sizes_b / max(int(self.sizes_b.sum()), 1)

    @property
    def work(self) -> int:
        """The comparisons of labels that one round takes."""
        return len(self.a) * len(self.b) * self.n_techniques


def group_problem(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    injective: bool | Sequence[bool],
    one_to_one: bool,
    sizes: tuple[ArrayLike, ArrayLike] | None,
    restarts: int,
    exact: bool | str,
) -> tuple[GroupProblem, list[Integers], list[Integers]]:
    """Return what was asked in numbers from 0, with the labels that the numbers stand for."""
    problems: list[Problem] = []
    a = _labels(rows_a, "rows_a", problems)
    b = _labels(rows_b, "rows_b", problems)
    if not problems and a.shape[1] != b.shape[1]:
        found = f"{count_of(a.shape[1], 'technique')} and {count_of(b.shape[1], 'technique')}."
        do = "Describe both files by the same techniques."
        problems.append(Problem(Reason.WRONG_SCHEMA, "rows_a and rows_b", found, do))
    flags = [injective] * a.shape[1] if isinstance(injective, bool) else list(injective)
    if len(flags) != a.shape[1]:
        found = f"{count_of(len(flags), 'value')} for {count_of(a.shape[1], 'technique')}."
        do = "Give one value, or one per technique."
        problems.append(Problem(Reason.BAD_OPTION, "injective", found, do))
    sizes_a = _whole_numbers(None if sizes is None else sizes[0], a, "sizes of A", problems)
    sizes_b = _whole_numbers(None if sizes is None else sizes[1], b, "sizes of B", problems)
    if restarts < 1:
        problems.append(Problem(Reason.BAD_OPTION, "restarts", "fewer than 1.", "Give at least 1."))
    if exact not in (True, False, "auto"):
        do = "Give True, False or 'auto'."
        problems.append(Problem(Reason.BAD_OPTION, "exact", "not known.", do))
    refuse_faults(ASKED, problems)
    codes_a, numbers_a = _numbered(a)
    codes_b, numbers_b = _numbered(b)
    problem = GroupProblem(
        numbers_a,
        numbers_b,
        sizes_a,
        sizes_b,
        np.array([len(codes) for codes in codes_a]),
        np.array([len(codes) for codes in codes_b]),
        ~np.array(flags, dtype=bool),
        one_to_one,
    )
    return problem, codes_a, codes_b


def simple_bound(problem: GroupProblem) -> int:
    """Return an upper bound of the similarity from the labels of each technique alone."""
    total = 0
    for t in range(problem.n_techniques):
        n_rows = np.bincount(problem.a[:, t], minlength=int(problem.n_a[t]))
        n_used = len(n_rows) if problem.is_free[t] else min(len(n_rows), int(problem.n_b[t]))
        bound = int(np.sort(n_rows)[::-1][:n_used].sum())
        if problem.is_one_to_one:
            bound = min(bound, _one_to_one_bound(problem, t))
        total += bound
    if problem.is_one_to_one:
        total = min(total, problem.n_techniques * min(len(problem.a), len(problem.b)))
    return total


def _one_to_one_bound(problem: GroupProblem, t: int) -> int:
    """Return the greatest number of rows that could agree in one technique, each label apart."""
    from scipy.optimize import linear_sum_assignment

    n_rows = (np.bincount(side[:, t]) for side in (problem.a, problem.b))
    gains = np.minimum.outer(*n_rows)
    if problem.is_free[t]:
        return int(gains.max(axis=1).sum())
    rows, columns = linear_sum_assignment(gains, maximize=True)
    return int(gains[rows, columns].sum())


def _whole_numbers(
    given: ArrayLike | None, rows: Integers, name: str, problems: list[Problem]
) -> Integers:
    """Return one whole number per row, 1 if none are given."""
    numbers = np.ones(len(rows), np.int64) if given is None else np.asarray(given)
    if (
        numbers.shape != (len(rows),)
        or not np.issubdtype(numbers.dtype, np.integer)
        or (numbers < 0).any()
        or float(numbers.sum(dtype=np.float64)) * rows.shape[1] > 2**53
    ):
        found, do = (
            "not one whole number from 0 per row.",
            "Give the number of records of each row.",
        )
        problems.append(Problem(Reason.BAD_OPTION, name, found, do))
        return np.ones(len(rows), np.int64)
    return numbers.astype(np.int64)


def _labels(rows: ArrayLike, name: str, problems: list[Problem]) -> Integers:
    matrix = np.asarray(rows)
    if matrix.ndim != 2 or not matrix.size or not np.issubdtype(matrix.dtype, np.integer):
        found = "not a table of whole numbers with rows and columns."
        do = "Give one row per class and one column of labels per technique."
        problems.append(Problem(Reason.WRONG_SCHEMA, name, found, do))
        return np.zeros((1, 1), np.int64)
    if matrix.shape[1] > 255:
        found = f"{matrix.shape[1]} techniques."
        problems.append(Problem(Reason.TOO_LARGE, name, found, "Give at most 255."))
    return matrix.astype(np.int64)


def _numbered(rows: Integers) -> tuple[list[Integers], Integers]:
    codes: list[Integers] = []
    numbers = np.empty_like(rows)
    for t in range(rows.shape[1]):
        distinct, numbers[:, t] = np.unique(rows[:, t], return_inverse=True)
        codes.append(distinct)
    return codes, numbers
