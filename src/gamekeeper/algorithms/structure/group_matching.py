"""Matching the classes of two files without common variables, by mappings of cluster labels.

Every class of a file has one label per clustering technique. Sought are a mapping f_t of the labels
of A to those of B for each technique, and a row m(i) of B for each row i of A, with the greatest
similarity S: the number of pairs of row and technique in which f_t(label of i) is the label of
m(i). Mappings are injective unless they are declared free; with all of them free and rows of B used
more than once, constant mappings reach any similarity, so that is refused. Small problems are
solved exactly, by branch and bound; beyond, the best of many starts is given with an upper bound of
what can be reached.

How many records lie in the class that their class was matched with is Torra's measure of
re-identification at the level of groups. It says nothing by itself: with one class per file all
records are right. By chance, were the records of B dealt to its classes at random, a record of a
class matched with a class of n_b records would lie in it with probability n_b over the records of
B. Torra, Towards the re-identification of individuals in data files with non-common variables,
section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import Conjunction
from gamekeeper.algorithms.structure.group_search import (
    ASKED,
    GroupProblem,
    assigned,
    group_problem,
    search_mappings,
    simple_bound,
)
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of, memory_text

Integers = NDArray[np.int64]

# Branch and bound keeps one byte per pair of rows and level.
_MOST_BYTES = 200_000_000
_MOST_BYTES_ASKED = 4_000_000_000
# One node looks at every pair of rows in every technique: about a second in all.
_AUTO_WORK = 500_000_000
_NO_LIMIT = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class GroupMatching:
    """Mappings of labels and the matching of classes that go with them.

    `groups` has for each row of A its row of B; -1 where a one-to-one matching leaves it alone.
    `mappings` have for each technique the labels of A and what they are mapped to; a label without
    partner is left out. `similarity` is the number of agreements reached, `agreements` tells of
    each row and technique.
    """

    groups: Integers
    mappings: tuple[dict[int, int], ...]
    similarity: int
    upper_bound: int
    agreements: NDArray[np.bool_]

    @property
    def is_optimal(self) -> bool:
        """Whether it is proven that nothing better exists."""
        return self.similarity == self.upper_bound

    @property
    def by_technique(self) -> Integers:
        """The number of agreements in each technique."""
        return self.agreements.sum(axis=0)

    def __repr__(self) -> str:
        return (
            f"GroupMatching(similarity={self.similarity}, upper_bound={self.upper_bound},"
            f" {len(self.groups)} rows)"
        )


def match_groups(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    *,
    injective: bool | Sequence[bool] = True,
    one_to_one: bool = False,
    sizes: tuple[ArrayLike, ArrayLike] | None = None,
    restarts: int = 40,
    seed: int = 0,
    exact: bool | str = "auto",
    allow_degenerate: bool = False,
) -> GroupMatching:
    """Find the mappings of labels and the matching of classes with the greatest similarity.

    - `rows_a`, `rows_b`: the labels of each class, one column per technique; see `conjunction`.
    - `injective`: whether different labels of A must have different labels of B, for all techniques
      or for each. With as many labels in A as in B such a mapping is one-to-one; with more in A,
      some are without partner.
    - `one_to_one`: whether different rows of A must have different rows of B.
    - `sizes`: the number of records of each row of A and of B. They do not change the similarity;
      among equals they decide for mappings and rows whose clusters are alike in size.
    - `restarts`, `seed`: the number of starts of the search, and what reproduces it.
    - `exact`: True searches until the optimum is proven, however long that takes, False does not
      try; "auto" tries for about a second.
    - `allow_degenerate`: whether to go on where constant mappings reach the greatest similarity.

    Examples
    --------
    >>> found = match_groups([[0, 0], [0, 1], [1, 1]], [[5, 8], [5, 9], [6, 9], [6, 8]])
    >>> found
    GroupMatching(similarity=6, upper_bound=6, 3 rows)
    >>> found.mappings
    ({0: 5, 1: 6}, {0: 8, 1: 9})
    >>> found.groups
    array([0, 1, 2])
    """
    problem, codes_a, codes_b = group_problem(
        rows_a, rows_b, injective, one_to_one, sizes, restarts, exact
    )
    if problem.is_free.all() and not one_to_one and not allow_degenerate:
        raise InputError(
            Reason.BAD_OPTION,
            ASKED,
            "All mappings are free and rows of B may be used more than once: mapping every label to"
            " those of one row of B reaches the greatest similarity and says nothing.",
            "Make a mapping injective, match one-to-one, or allow_degenerate.",
        )
    similarity, mapping, groups = search_mappings(problem, restarts=restarts, seed=seed)
    upper = simple_bound(problem)
    if exact and similarity < upper:
        similarity, mapping, groups, upper = _branched(
            problem, similarity, mapping, groups, upper, is_endless=exact is True
        )
    mapping = _completed(problem, mapping)
    linked = groups >= 0
    rows = np.arange(problem.n_techniques)
    targets = mapping[rows, problem.a]
    agreements = (targets == problem.b[groups]) & linked[:, None]
    return GroupMatching(
        groups,
        tuple(
            {
                int(codes_a[t][label]): int(codes_b[t][value])
                for label, value in enumerate(mapping[t, : problem.n_a[t]].tolist())
                if value >= 0
            }
            for t in range(problem.n_techniques)
        ),
        similarity,
        upper,
        agreements,
    )


def _branched(
    problem: GroupProblem,
    similarity: int,
    mapping: Integers,
    groups: Integers,
    upper: int,
    *,
    is_endless: bool,
) -> tuple[int, Integers, Integers, int]:
    """Search by branch and bound for what is better than a matching already found."""
    from gamekeeper.algorithms.structure.kernels import branch

    n_bytes = (int(problem.n_a.sum()) + 1) * len(problem.a) * len(problem.b)
    work = problem.work
    if problem.is_one_to_one:
        work += len(problem.a) * len(problem.b) * min(len(problem.a), len(problem.b))
    if is_endless and n_bytes > _MOST_BYTES_ASKED:
        raise LimitError(
            Reason.TOO_LARGE,
            ASKED,
            f"To prove the optimum would take {memory_text(n_bytes)} of memory.",
            "Match without exact=True: an upper bound is then stated.",
        )
    if not is_endless and (n_bytes > _MOST_BYTES or work > _AUTO_WORK // 100):
        return similarity, mapping, groups, upper
    most_nodes = _NO_LIMIT if is_endless else _AUTO_WORK // work
    best, found, bound, _ = branch(
        problem.a,
        problem.b,
        problem.n_a,
        problem.n_b,
        problem.is_free,
        problem.is_one_to_one,
        similarity,
        most_nodes,
    )
    if best > similarity:
        similarity, groups = assigned(problem, found)
        mapping = found
    return similarity, mapping, groups, min(upper, int(bound))


def _completed(problem: GroupProblem, mapping: Integers) -> Integers:
    """Give labels without partner, which agree nowhere, the labels of B that are left."""
    full = mapping.copy()
    for t in range(problem.n_techniques):
        part = full[t, : problem.n_a[t]]
        left = np.setdiff1d(np.arange(problem.n_b[t]), part)
        alone = np.flatnonzero(part < 0)
        n_given = min(len(left), len(alone))
        part[alone[:n_given]] = left[:n_given]
    return full


@dataclass(frozen=True, eq=False, repr=False)
class GroupSuccess:
    """Records re-identified at the level of groups: whether the true record is in the class pointed at.

    `n_known` are the records of A that have a true record in B, `by_chance` is the number expected
    to be correct by chance, and `alone` that of correct records whose class of B holds no other
    record.
    """

    is_correct: NDArray[np.bool_]
    n_known: int
    by_chance: float
    alone: int

    @property
    def n_correct(self) -> int:
        """The number of correct records."""
        return int(self.is_correct.sum())

    @property
    def share(self) -> float:
        """The share of correct records among those known; 0 if none is known."""
        return self.n_correct / max(self.n_known, 1)

    def __repr__(self) -> str:
        return (
            f"GroupSuccess({self.n_correct:,} of {self.n_known:,} correct,"
            f" {self.by_chance:.1f} by chance)"
        )


def group_success(pointed: ArrayLike, b: Conjunction, truth: ArrayLike) -> GroupSuccess:
    """Compare the classes that records were pointed at with the truth.

    `pointed` has for each record of A a class of B, -1 for none: `matching.groups[a.classes]` where
    classes were matched, `b.classes[matching.groups]` where records were. `truth` has the number of
    its record of B, -1 where there is none.

    Examples
    --------
    >>> from gamekeeper.algorithms.structure.clusterings import conjunction
    >>> a, b = conjunction([[0], [0], [1]]), conjunction([[7], [8], [8]])
    >>> matching = match_groups(a.rows, b.rows, sizes=(a.sizes, b.sizes))
    >>> group_success(matching.groups[a.classes], b, [2, 1, 0])
    GroupSuccess(3 of 3 correct, 1.7 by chance)
    """
    classes = np.asarray(pointed, dtype=np.int64)
    links = checked_truth(truth, len(classes), len(b.classes))
    is_known = links >= 0
    is_correct = is_known & (classes >= 0) & (b.classes[links] == classes)
    sizes = np.where(classes >= 0, b.sizes[classes], 0)
    return GroupSuccess(
        is_correct,
        int(is_known.sum()),
        float(sizes[is_known].sum()) / len(b.classes),
        int((is_correct & (sizes == 1)).sum()),
    )


def checked_truth(truth: ArrayLike, n_a: int, n_b: int) -> NDArray[np.int64]:
    """Return true links as numbers of records of B, or refuse what cannot be."""
    links = np.asarray(truth)
    if links.shape == (n_a,) and np.issubdtype(links.dtype, np.integer):
        known = links[links >= 0]
        is_single = len(np.unique(known)) == len(known) > 0
        if is_single and int(links.min()) >= -1 and int(known.max()) < n_b:
            return links.astype(np.int64)
    raise InputError(
        Reason.BAD_OPTION,
        "A comparison of links with the truth was asked for.",
        f"The truth does not link {count_of(n_a, 'record')} with different ones of {n_b:,}.",
        "Give for each record of A the number of its record of B from 0, or -1, at least one known.",
    )
