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

Labels are numbered from 0 in each technique. A bound of what can be reached looks at one technique
at a time: an injective mapping uses at most as many labels of A as B has, and a one-to-one matching
at most as many rows of a label as its partner has.

Two steps alternate: for given mappings every row of A goes to the rows of B that agree with it
most, and for given rows the mapping of each technique is the best assignment of its labels by how
often they go together. Neither step lowers the similarity. Starts are random, or come from the
tables of each two techniques: how many records have both labels is known in either file, and
mappings under which these tables agree are found by assignments of a few dozen labels. The best is
then disturbed again and again, and what is no worse is kept. On small problems exchanges of single
labels are tried too. Many mappings may have the same similarity; of those that were met the one is
returned under which the tables agree best.

The paper leaves the algorithm of the search open. One round costs techniques times rows of A times
rows of B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.clusterings import Conjunction, refuse_faults
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, memory_text

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ASKED = "A matching of the classes of two files was asked for."
"""The first sentence of every refusal."""


@dataclass(frozen=True, eq=False)
class GroupProblem:
    """Labels and sizes of the rows of both files, and what is allowed."""

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


# Above this many comparisons of labels, exchanges of single labels are left to the end.
_SMALL = 2_000_000
_LARGE = 20_000_000
_MOST_ROUNDS = 60
_TABLE_ROUNDS = 20
# Candidates that are finished one-to-one, since the search itself is for matchings that need not be.
_FINISHED = 8


class _Search:
    """The working state of one search."""

    def __init__(self, problem: GroupProblem) -> None:
        self.problem = problem
        self.by_technique = problem.by_technique
        self.shape = (problem.n_techniques, int(problem.n_a.max()), int(problem.n_b.max()))
        self.counts = np.empty(self.shape)
        self.tables_a = _pair_tables(problem.a, problem.n_a, problem.shares_a)
        self.tables_b = _pair_tables(problem.b, problem.n_b, problem.shares_b)

    def alternate(self, mapping: Integers) -> int:
        """Improve a mapping in place until nothing changes; return its similarity."""
        from gamekeeper.algorithms.structure.kernels import agreement_counts

        problem, similarity = self.problem, -1
        for _ in range(_MOST_ROUNDS):
            before = mapping.copy()
            _, most = agreement_counts(
                problem.a,
                self.by_technique,
                problem.shares_a,
                problem.shares_b,
                mapping,
                self.counts,
            )
            reached = int(most.sum())
            if reached <= similarity:
                break
            similarity = reached
            self.remap(mapping, self.counts)
            if np.array_equal(before, mapping):
                break
        return similarity

    def remap(self, mapping: Integers, gains: Floats) -> None:
        """Set each mapping to the best for the gains of each pair of labels."""
        from scipy.optimize import linear_sum_assignment

        problem = self.problem
        for t in range(problem.n_techniques):
            n_a, n_b = int(problem.n_a[t]), int(problem.n_b[t])
            part = gains[t, :n_a, :n_b]
            if problem.is_free[t]:
                mapping[t, :n_a] = part.argmax(axis=1)
            else:
                rows, columns = linear_sum_assignment(part, maximize=True)
                mapping[t, :n_a] = -1
                mapping[t, rows] = columns

    def polish(self, mapping: Integers) -> int:
        """Exchange single labels and alternate while that helps; return the similarity."""
        from gamekeeper.algorithms.structure.kernels import improve

        problem = self.problem
        similarity = improve(
            problem.a, self.by_technique, mapping, problem.n_a, problem.n_b, problem.is_free
        )
        return max(int(similarity), self.alternate(mapping))

    def start(self, rng: np.random.Generator, noise: float) -> Integers:
        """Return mappings under which the tables of each two techniques nearly agree."""
        mapping = np.full(self.shape[:2], -1, np.int64)
        self.remap(mapping, rng.random(self.shape))
        # Sizes of clusters alone say little, but they break the tie of the first round.
        gains = np.zeros(self.shape)
        for t in range(self.shape[0]):
            n_a, n_b = int(self.problem.n_a[t]), int(self.problem.n_b[t])
            share_a, share_b = self.tables_a[t][t].diagonal(), self.tables_b[t][t].diagonal()
            gains[t, :n_a, :n_b] = -((share_a[:, None] - share_b[None, :]) ** 2)
            gains[t, :n_a, :n_b] += noise * rng.random((n_a, n_b)) * share_a.max() ** 2
        self.remap(mapping, gains)
        for _ in range(_TABLE_ROUNDS):
            before = mapping.copy()
            for t in range(self.shape[0]):
                gains[t] = 0.0
                n_a, n_b = int(self.problem.n_a[t]), int(self.problem.n_b[t])
                for other in range(self.shape[0]):
                    known = np.flatnonzero(mapping[other] >= 0)
                    table_a = self.tables_a[t][other][:, known]
                    table_b = self.tables_b[t][other][:, mapping[other, known]]
                    if other != t:
                        gains[t, :n_a, :n_b] -= (
                            (table_a[:, None, :] - table_b[None, :, :]) ** 2
                        ).sum(axis=2)
            self.remap(mapping, gains)
            if np.array_equal(before, mapping):
                break
        return mapping

    def difference(self, mapping: Integers) -> float:
        """Return how much the tables of each two techniques differ under mappings."""
        total = 0.0
        for t in range(self.shape[0]):
            known = np.flatnonzero(mapping[t] >= 0)
            for other in range(t + 1):
                its_known = np.flatnonzero(mapping[other] >= 0)
                table_a = self.tables_a[t][other][np.ix_(known, its_known)]
                places = np.ix_(mapping[t, known], mapping[other, its_known])
                total += float(np.abs(table_a - self.tables_b[t][other][places]).sum())
        return total

    def disturb(self, mapping: Integers, rng: np.random.Generator) -> Integers:
        """Return mappings with some labels of one technique exchanged."""
        changed = mapping.copy()
        t = int(rng.integers(self.shape[0]))
        n_a, n_b = int(self.problem.n_a[t]), int(self.problem.n_b[t])
        chosen = rng.permutation(n_a)[: int(rng.integers(2, 5))]
        if self.problem.is_free[t]:
            changed[t, chosen] = rng.integers(0, n_b, len(chosen))
        else:
            changed[t, chosen] = np.roll(changed[t, chosen], 1)
            unused = np.setdiff1d(np.arange(n_b), changed[t, :n_a])
            if len(unused):
                changed[t, chosen[0]] = rng.choice(unused)
        return changed


def search_mappings(
    problem: GroupProblem, *, restarts: int, seed: int
) -> tuple[int, Integers, Integers]:
    """Return the best similarity found, its mappings and the row of B for each row of A."""
    rng = np.random.default_rng(seed)
    search = _Search(problem)
    is_small = problem.work <= _SMALL
    found: dict[bytes, tuple[tuple[int, float], Integers]] = {}

    def finish(mapping: Integers, *, is_polished: bool) -> tuple[int, float]:
        similarity = search.polish(mapping) if is_polished else search.alternate(mapping)
        rank = similarity, -round(search.difference(mapping), 12)
        found[mapping.tobytes()] = (rank, mapping.copy())
        return rank

    n_disturbed = restarts * (4 if problem.work <= _LARGE else 1)
    best, mapping = (-1, 0.0), np.empty(0, np.int64)
    for number in range(restarts + n_disturbed):
        if number < restarts:
            if number % 2 == 0:
                trial = search.start(rng, noise=0.0 if number == 0 else 0.5)
            else:
                trial = np.full(search.shape[:2], -1, np.int64)
                search.remap(trial, rng.random(search.shape))
        else:
            trial = search.disturb(mapping, rng)
        rank = finish(trial, is_polished=is_small)
        if rank >= best:
            best, mapping = rank, trial
    if not is_small and problem.work <= 10 * _LARGE:
        finish(mapping, is_polished=True)
    ranked = sorted(found.values(), key=lambda pair: pair[0], reverse=True)
    if not problem.is_one_to_one:
        mapping = ranked[0][1]
        similarity, groups = assigned(problem, mapping)
        return similarity, mapping, groups
    n_finished = _FINISHED if is_small else 1
    finished = [_finish_one_to_one(search, mapping) for _, mapping in ranked[:n_finished]]
    return max(finished, key=lambda triple: triple[0])


def assigned(problem: GroupProblem, mapping: Integers) -> tuple[int, Integers]:
    """Return the similarity at the best rows of B for given mappings, and these rows.

    A row of A is left alone (-1) where a one-to-one matching has no row of B for it.
    """
    from scipy.optimize import linear_sum_assignment

    from gamekeeper.algorithms.structure.kernels import agreement_counts, score_matrix

    by_technique = problem.by_technique
    if not problem.is_one_to_one:
        counts = np.empty((problem.n_techniques, int(problem.n_a.max()), int(problem.n_b.max())))
        best, most = agreement_counts(
            problem.a, by_technique, problem.shares_a, problem.shares_b, mapping, counts
        )
        return int(most.sum()), best
    scores = score_matrix(problem.a, by_technique, mapping).astype(np.int64)
    rows, columns = linear_sum_assignment(scores, maximize=True)
    groups = np.full(len(problem.a), -1, np.int64)
    groups[rows] = columns
    return int(scores[rows, columns].sum()), groups


def _finish_one_to_one(search: _Search, mapping: Integers) -> tuple[int, Integers, Integers]:
    """Alternate between mappings and the one-to-one matching until the similarity stands still."""
    problem = search.problem
    similarity, groups = assigned(problem, mapping)
    while True:
        counts = np.zeros(search.shape)
        linked = np.flatnonzero(groups >= 0)
        for t in range(problem.n_techniques):
            pairs = problem.a[linked, t], problem.b[groups[linked], t]
            np.add.at(counts[t], pairs, 1)
        trial = mapping.copy()
        search.remap(trial, counts)
        reached, its_groups = assigned(problem, trial)
        if reached <= similarity:
            return similarity, mapping, groups
        similarity, mapping, groups = reached, trial, its_groups


def _pair_tables(labels: Integers, n_labels: Integers, shares: Floats) -> list[list[Floats]]:
    """Return the share of the file with each two labels, for each two techniques."""
    tables: list[list[Floats]] = []
    for t, n in enumerate(n_labels.tolist()):
        tables.append([])
        for other, n_other in enumerate(n_labels.tolist()):
            table = np.zeros((n, n_other))
            np.add.at(table, (labels[:, t], labels[:, other]), shares)
            tables[t].append(table)
    return tables


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
