"""Links to groups of equal records, where one of two files was microaggregated.

If g records of a file are equal, nobody can tell which of them somebody is; but which group
somebody is in may be plain, and with it the values of the group. So records of the other file are
compared with different records only, and how far the nearest group is ahead of the second nearest
is held against what chance gives: the same records, compared with as many others of their own file
as there are groups (`margin_evidence`). A single link is right with the probability of the group
over its size.

Costs are the sum of distances over their means, which nothing is learned for: weights that were
fitted to these records would take chance for evidence.

Where groups have lost members, as in a part of a masked file, their values still tell of people who
are not there. Then nothing is said of partners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.blocking import EqualRecords, equal_records
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.objective import WeightedSum, cost_matrix, weighted_sum
from gamekeeper.algorithms.linkage.overlap import MarginEvidence, margin_evidence, margins_of
from gamekeeper.attack.linkage.linking import ahead_of
from gamekeeper.wording import count_of, digits_text, percent_text

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
_OWN_PAIRS, _DRAWS = 1_000_000, 4


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of equal records of one file, and what margins say of the records of the other.

    The equal records are in the first file (`side` 0) or the second (1). `own` has the margins of
    records of the other file within it; `best` and `second` the two least costs of each of them, of
    different groups.
    """

    side: int
    equal: EqualRecords
    objective: WeightedSum = field(repr=False)
    costs: Floats = field(repr=False)
    evidence: MarginEvidence = field(repr=False)
    own: Floats = field(repr=False)
    best: Floats = field(repr=False)
    second: Floats = field(repr=False)

    def of_links(self, columns: Integers, costs: Floats) -> GroupLinks:
        """Return the group of each link, its size, and how likely it is right."""
        rows = np.flatnonzero(columns >= 0)
        grouped, single = (columns[rows], rows) if self.side else (rows, columns[rows])
        ahead = ahead_of(costs[rows], self.best[single], self.second[single])
        likely, sizes = np.full(len(columns), np.nan), np.zeros(len(columns), np.int64)
        likely[rows] = 1.0 - self.evidence.wrong(ahead)
        sizes[rows] = self.equal.sizes[self.equal.numbers[grouped]]
        return GroupLinks(self.side, len(self.equal.sizes), likely, sizes)

    def right(self, columns: Integers, truth: Integers) -> Truths:
        """Return whether each link is to the right group."""
        linked = (columns >= 0) & (truth >= 0)
        if self.side:
            found = self.equal.numbers[columns] == self.equal.numbers[truth]
            return found & linked
        # Who is linked to a record is in the group of whom that record belongs to.
        owner = np.full(self.objective.shape[1], -1)
        owner[truth[truth >= 0]] = np.flatnonzero(truth >= 0)
        true_row = owner[columns]
        found = self.equal.numbers == self.equal.numbers[true_row]
        return found & (columns >= 0) & (true_row >= 0)


@dataclass(frozen=True, eq=False)
class GroupLinks:
    """Links to groups of equal records, which are in the first file (`side` 0) or the second (1).

    - `probabilities`: how likely each link is to the right group; NaN without link.
    - `sizes`: the number of equal records of each group that is linked to; 0 without link.
    - `is_right`: whether each link is to the right group; None where truth is not known.
    """

    side: int
    n_groups: int
    probabilities: Floats = field(repr=False)
    sizes: Integers = field(repr=False)
    is_right: Truths | None = field(default=None, repr=False)

    @property
    def single(self) -> Floats:
        """How likely each link is to the right record."""
        return self.probabilities / np.maximum(self.sizes, 1)

    def kept(self, kept: Truths) -> GroupLinks:
        """Return the links of some records alone."""
        return replace(
            self,
            probabilities=np.where(kept, self.probabilities, np.nan),
            sizes=np.where(kept, self.sizes, 0),
            is_right=None if self.is_right is None else self.is_right & kept,
        )

    def of_rows(self, rows: Integers) -> GroupLinks:
        """Return the same with the records of the first file in another order."""
        right = None if self.is_right is None else self.is_right[rows]
        likely, sizes = self.probabilities[rows], self.sizes[rows]
        return GroupLinks(self.side, self.n_groups, likely, sizes, right)

    @property
    def n_links(self) -> int:
        """The number of links."""
        return int(np.count_nonzero(self.sizes))

    @property
    def by_guessing(self) -> float:
        """The share of links that are right if all groups are: one of each group."""
        return float((1.0 / self.sizes[self.sizes > 0]).mean()) if self.n_links else 0.0

    def summary(self) -> dict[str, float | int | None]:
        """Return the headline numbers."""
        n = self.n_links
        right = None if self.is_right is None else int(np.count_nonzero(self.is_right))
        return {
            "groups": self.n_groups,
            "in_right_group": right,
            "group_precision": None if right is None or not n else right / n,
            "expected_group_precision": round(float(np.nanmean(self.probabilities)), 6)
            if n
            else None,
        }

    def sentences(self, n_records: int) -> list[str]:
        """Return what the groups say, in words."""
        which = ("first", "second")[self.side]
        begin = (
            f"The {count_of(n_records, 'record')} of the {which} file come in"
            f" {count_of(self.n_groups, 'group')} of equal ones, as microaggregation makes them"
        )
        if not self.n_links:
            return [f"{begin}; to which of them anybody belongs was not found."]
        known = "which of a group somebody is cannot be told, but the group can, and with it its values."
        said = [f"{begin}: {known}"]
        stated = percent_text(float(np.nanmean(self.probabilities)))
        one_in = digits_text(1 / self.by_guessing, 3)
        if self.is_right is None:
            said.append(
                f"{stated} of the links are expected to be to the right group, and of these one in"
                f" {one_in} to the right record."
            )
        else:
            n_right = int(np.count_nonzero(self.is_right))
            said.append(
                f"{count_of(n_right, 'link is', 'links are')} to the right group,"
                f" {percent_text(n_right / self.n_links)} of them (stated: {stated}); by chance one in"
                f" {one_in} of these is to the right record."
            )
        return said


def find_groups(comparisons: Sequence[Comparison], seed: int) -> tuple[Groups | None, bool]:
    """Look for groups in one of two files, and compare the other with them; tell if many are equal.

    None where neither or both have groups, or groups have lost members.
    """
    from gamekeeper.algorithms.assignment.dense import two_least

    equal = [equal_records(comparisons, side) for side in (0, 1)]
    are_many = [one.are_many for one in equal]
    if sum(are_many) != 1:
        return None, any(are_many)
    side = int(are_many[1])
    if not equal[side].are_whole:
        return None, True
    objective = weighted_sum(comparisons, "estimated")
    costs = cost_matrix(objective)
    between = costs[:, equal[1].firsts] if side else costs[equal[0].firsts].T
    best, second = two_least(np.ascontiguousarray(between))
    own = _own_margins(objective, 1 - side, len(equal[side].sizes), seed)
    # Records that are near one group have that group in common: by chance they go together.
    alike = max(len(best) / len(equal[side].sizes), 1.0)
    evidence = margin_evidence(
        margins_of(best, second), (own, own), n_records=len(best), by_small=True, alike=alike
    )
    if evidence is None:
        return None, True
    return Groups(side, equal[side], objective, costs, evidence, own, best, second), True


def _own_margins(objective: WeightedSum, side: int, n_others: int, seed: int) -> Floats:
    from gamekeeper.algorithms.assignment.dense import two_least

    own = [one.own(side) for one in objective.comparisons]
    n = len(own[0].b)
    n_others = min(n_others, n)
    made: list[Floats] = []
    for draw in range(_DRAWS):
        rng = np.random.default_rng((seed, 5, draw))
        others = np.sort(rng.permutation(n)[:n_others])
        rows = np.sort(rng.permutation(n)[: max(_OWN_PAIRS // max(n_others, 1), 1)])
        part = tuple(replace(one, a=one.a[rows], b=one.b[others]) for one in own)
        costs = cost_matrix(WeightedSum(part, objective.weights))
        costs[rows[:, None] == others[None, :]] = np.inf
        made.append(margins_of(*two_least(costs)))
    return np.concatenate(made)
