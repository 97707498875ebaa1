"""Who has a partner at all: how many people are in both files, and how likely each link is right.

Probabilities are those of the fitted weights, where nobody has more than one partner. How often
somebody without a partner would be linked all the same is found by linking records with others of
their own file, by weights that do not know them: those are two people, if nobody is there twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.algorithms.linkage.fellegi_sunter import fit_one_partner, shares_of_pairs
from gamekeeper.algorithms.linkage.objective import (
    FellegiSunterCost,
    cost_matrix,
    cost_pairs,
    fellegi_sunter_cost,
)
from gamekeeper.algorithms.linkage.overlap import (
    LinkMarginals,
    MarginEvidence,
    OverlapEstimate,
    deepest,
    estimate_overlap,
    least_odds,
    link_marginals,
    margin_evidence,
    margins_of,
)
from gamekeeper.attack.linkage.group_links import Groups, find_groups
from gamekeeper.attack.linkage.linking import Compared, Linked, ahead_of, candidates
from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.errors import LimitError
from gamekeeper.wording import count_of, percent_range

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_OWN_PAIRS = 2_000_000
_FEW_LEARNED, _N_COMPARED, _LIKE = 0.25, 20_000, 0.05
_MANY_COSTS, _N_SAMPLED = 1_000_000, 50_000
# Of more pairs that could be followed, those of small odds are left out, by steps.
_MOST_FOLLOWED = 20_000_000
_STEP = 2.0
_SELDOM_EQUAL = 0.05


@dataclass(frozen=True, eq=False)
class Check:
    """Costs of pairs of some records of the first file, by weights learned from others.

    Costs are on the scale of all: less one constant they are weights, whatever they were learned
    from. Margins are of the records, where all pairs were compared.
    """

    objective: FellegiSunterCost
    costs: Floats
    shift: float
    margins: Floats


def is_comparable(objective: FellegiSunterCost, seed: int) -> bool:
    """Tell whether pairs within the files are like pairs of different people between them.

    In each variable of categories or texts, the levels of random pairs must be as frequent within
    each file as between them. Where one file has coarser categories, or other words, they are not.
    Numbers are taken to be: on masked ones the outcome was measured.
    """
    chosen = [k for k, one in enumerate(objective.comparisons) if one.a.dtype.kind != "f"]
    if not chosen:
        return True
    limits = [objective.model.limits[k] for k in chosen]
    coded = [objective.comparisons[k] for k in chosen]
    rng = np.random.default_rng((seed, 3))
    shares: list[list[Floats]] = []
    for sides in ((0, 1), (0, 0), (1, 1)):
        comparisons = [one if sides == (0, 1) else one.own(sides[0]) for one in coded]
        n_rows, n_columns = comparisons[0].shape
        rows, columns = (rng.integers(n, size=_N_COMPARED) for n in (n_rows, n_columns))
        if sides != (0, 1):
            rows, columns = rows[rows != columns], columns[rows != columns]
        shares.append(shares_of_pairs(comparisons, limits, rows, columns))
    between, *within = shares
    return all(
        float(np.abs(one - other).sum()) / 2 <= _LIKE
        for own in within
        for one, other in zip(between, own, strict=True)
    )


def checked_costs(
    objective: FellegiSunterCost, costs: NDArray[Any], pairs: CandidatePairs | None, seed: int
) -> list[Check]:
    """Return costs by weights that do not know the records.

    Weights that are learned from all records fit what these agree in by chance. So they are learned
    anew from each half of them, and the other half is looked at.
    """
    model, n_rows = objective.model, objective.shape[0]
    whole = Check(objective, costs.ravel(), 0.0, _margins(costs if pairs is None else None))
    if model.n_learned < _FEW_LEARNED * n_rows or n_rows < 2:
        return [whole]
    order = np.random.default_rng((seed, 7)).permutation(n_rows)
    halves = np.sort(order[: n_rows // 2]), np.sort(order[n_rows // 2 :])
    made: list[Check] = []
    for learned, others in (halves, halves[::-1]):
        is_other = np.zeros(n_rows, np.bool_)
        is_other[others] = True
        if pairs is not None and not np.diff(pairs.starts)[learned].any():
            return [whole]
        again = fit_one_partner(objective.comparisons, model.limits, pairs, only=learned, seed=seed)
        fitted = fellegi_sunter_cost(objective.comparisons, again)
        shift = model.largest_weight - again.largest_weight
        if pairs is None:
            part = [one.of_rows(others) for one in objective.comparisons]
            matrix = cost_matrix(fellegi_sunter_cost(part, again))
            margins, found = _margins(matrix), matrix.ravel()
        else:
            margins = _margins(None)
            rows = pairs.rows()
            kept = is_other[rows]
            found = fitted.pairs(rows[kept], pairs.columns[kept])
        made.append(Check(fitted, found + shift, shift, margins))
    return made


@dataclass(frozen=True, eq=False)
class OwnPairs:
    """Pairs within the files: least costs, numbers, and by record odds and (of all pairs) margins."""

    costs: Floats
    n_pairs: int
    nearest: Floats
    sums: Floats
    times: float
    margins: tuple[Floats, Floats]


def own_costs(
    compared: Compared,
    checks: Sequence[Check],
    most: float,
    block: Sequence[str],
    max_pairs: int,
    seed: int,
) -> OwnPairs | None:
    """Compare each file with itself, pairs taken as between the files; None where there are none."""
    try:
        parts = [
            _own_of(compared, check, side, (k, len(checks)), most, block, max_pairs, seed)
            for side in (0, 1)
            for k, check in enumerate(checks)
        ]
    except LimitError:
        # A file can have more pairs with itself than with the other.
        return None
    costs, n_pairs, nearest, sums, margins = zip(*parts, strict=True)
    n_records = sum(map(len, nearest))
    if not sum(n_pairs) or not n_records:
        return None
    per_record = sum(n_pairs) / n_records
    candidates_each = compared.b.n_records if not block else per_record
    return OwnPairs(
        np.concatenate(costs),
        sum(n_pairs),
        np.concatenate(nearest),
        np.concatenate(sums),
        candidates_each / max(per_record, 1),
        (np.concatenate(margins[: len(checks)]), np.concatenate(margins[len(checks) :])),
    )


def _own_of(
    compared: Compared,
    check: Check,
    side: int,
    part: tuple[int, int],
    most: float,
    block: Sequence[str],
    max_pairs: int,
    seed: int,
) -> tuple[Floats, int, Floats, Floats, Floats]:
    """Compare part `part[0]` of `part[1]` of a file with all of it, each pair once: costs, odds, margins."""
    n = (compared.b if side else compared.a).n_records
    model = check.objective.model
    # Odds are exp(best - cost) on the scale of all costs.
    best = model.largest_weight + check.shift
    weighed = [one.own(side) for one in check.objective.comparisons]
    drawn = drawn_all = np.random.default_rng((seed, side)).permutation(n)
    is_drawn = np.zeros(n, np.bool_)
    if not block:
        drawn = drawn[: max(_OWN_PAIRS // 2 // max(n, 1), 1)]
        is_drawn[drawn] = True
        rows = np.sort(drawn[part[0] :: part[1]])
        costs = cost_matrix(fellegi_sunter_cost([one.of_rows(rows) for one in weighed], model))
        costs += check.shift
        costs[np.arange(len(rows)), rows] = np.inf
        odds = np.exp(best - costs)
        # No more candidates than the other file has: the more there are, the smaller are margins.
        others = drawn_all[: min(compared.b.n_records, n)]
        margins = _margins(np.ascontiguousarray(costs[:, np.sort(others)]))
        twice = is_drawn & (np.arange(n) <= rows[:, None])
        once = ~twice
        return (
            costs[once & (costs <= most)],
            int(np.count_nonzero(once)) - int(np.count_nonzero(once[np.arange(len(rows)), rows])),
            odds.max(1, initial=0.0),
            odds.sum(1),
            margins,
        )
    found = _own_candidates(compared, side, block, max_pairs)
    sizes = np.diff(found.starts)
    drawn = drawn[: max(int(np.searchsorted(np.cumsum(sizes[drawn]), _OWN_PAIRS // 2)), 1)]
    is_drawn[drawn] = True
    taken = np.zeros(n, np.bool_)
    taken[drawn[part[0] :: part[1]]] = True
    i, j = found.rows(), found.columns
    kept = taken[i] & (i != j)
    pairs = CandidatePairs.from_pairs(i[kept], j[kept], (n, n))
    costs = cost_pairs(fellegi_sunter_cost(weighed, model), pairs) + check.shift
    odds = np.exp(best - costs)
    i, rows = pairs.rows(), np.flatnonzero(taken)
    once = ~(is_drawn[pairs.columns] & (pairs.columns < i))
    nearest = np.zeros(n)
    np.maximum.at(nearest, i, odds)
    sums = np.bincount(i, odds, n).astype(np.float64)
    n_once = int(np.count_nonzero(once))
    return costs[once & (costs <= most)], n_once, nearest[rows], sums[rows], _margins(None)


def _margins(costs: NDArray[Any] | None) -> Floats:
    from gamekeeper.algorithms.assignment.dense import two_least

    return np.zeros(0) if costs is None else margins_of(*two_least(costs))


def _own_candidates(
    compared: Compared, side: int, block: Sequence[str], max_pairs: int
) -> CandidatePairs:
    table, order = compared.b if side else compared.a, compared.orders[side]
    named = [
        replace(one, name=one.column if side else one.name, other="") for one in compared.variables
    ]
    own = [one.own(side) for one in compared.comparisons]
    names = {one.name: other.name for one, other in zip(compared.variables, named, strict=True)}
    found = candidates(
        Compared(table, table, (order, order), named, own),
        block=[names[name] for name in block],
        window={},
        neighbours=None,
        max_pairs=max_pairs,
    )
    assert found is not None
    return found


def least_costs(costs: Sequence[NDArray[Any]], number: int) -> Floats:
    """Return the least costs of all that are given, as many as are wanted.

    Of many costs, those below a limit that a sample suggests are sorted out first: partitioning all
    of them would take most of the time of linking.
    """
    total = sum(map(len, costs))
    if total > _MANY_COSTS:
        step = total // _N_SAMPLED
        drawn = np.concatenate([one[::step] for one in costs])
        place = min(4 * number // step + 40, len(drawn) - 1)
        limit = np.partition(drawn, place)[place]
        near = [one[one <= limit] for one in costs]
        if sum(map(len, near)) >= number:
            costs = near
    together = np.concatenate(costs) if len(costs) else np.zeros(0)
    if len(together) > number:
        together = np.partition(together, number - 1)[:number]
    return together[np.isfinite(together)].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Partners:
    """How many people are in both files, and what is to be expected of links.

    - `odds`: the odds of a pair that nothing is known of, among those that were compared.
    - `n_pairs`: the number of candidate pairs; None where all were compared.
    - `best`, `rows`: the largest weight, and the odds of all candidates, of records of the first
      file.
    - `marginals`: how likely pairs are linked where nobody has more than one partner.
    - `n_tried`, `n_false`: how many records were linked with others of their own file, and how many
      would have been linked as probable matches; 0 tried where that could not be done.
    - `margins`, `nearest`: what margins say, where the files do not agree with the fitted weights
      and links are judged by margins; with the two least costs of each record of the second file.
    - `groups`: groups of equal records of one file, where links are to groups.
    - `at_best`: the share of links that are right if all groups are; 1 without groups.
    - `made_alike`: whether many records of a file are equal to another of it.
    """

    overlap: OverlapEstimate
    odds: float
    n_tried: int
    n_false: float
    best: float = field(repr=False)
    rows: Floats = field(repr=False)
    marginals: LinkMarginals = field(repr=False)
    shape: tuple[int, int] = (0, 0)
    n_pairs: int | None = None
    margins: MarginEvidence | None = field(default=None, repr=False)
    nearest: tuple[Floats, Floats] | None = field(default=None, repr=False)
    groups: Groups | None = field(default=None, repr=False)
    at_best: float = 1.0
    made_alike: bool = False

    def most_cost(self, probability: float) -> float | None:
        """Return the cost of a pair that by itself is a match with this probability; None if margins tell."""
        if self.margins is not None or self.groups is not None:
            return None
        return self.best + math.log(self.odds) - math.log(probability / (1 - probability))

    def probabilities(self, linked: Linked, *, one_to_one: bool) -> Floats:
        """Return how likely each link is right, by weights or margins; NaN without link."""
        found = np.full(len(linked.columns), np.nan)
        i = np.flatnonzero(linked.columns >= 0)
        if one_to_one:
            found[i] = self.marginals.of_links(linked.columns)[i]
        else:
            own = self.odds * np.exp(self.best - linked.costs[i])
            found[i] = own / (1.0 + np.maximum(self.odds * self.rows[i], own))
        if self.margins is None or self.nearest is None:
            return found
        ahead = ahead_of(linked.costs[i], linked.best[i], linked.second[i])
        if one_to_one:
            least, second = (one[linked.columns[i]] for one in self.nearest)
            ahead = np.minimum(ahead, ahead_of(linked.costs[i], least, second))
        by_margins = 1.0 - self.margins.wrong(ahead)
        # Where nothing shows that anybody is in both files, weights have to agree.
        found[i] = by_margins if self.overlap.low else np.minimum(found[i], by_margins)
        return found

    def precision(self, probabilities: Floats) -> tuple[float, float] | None:
        """Return between what the share of right links is to be expected; None without links."""
        known = probabilities[~np.isnan(probabilities)]
        if not known.size:
            return None
        by_weights = float(known.mean())
        at_most = self.at_best
        if self.margins is None and self.groups is None:
            # If more people are in both files, each link is likelier.
            times = self.overlap.odds(*self.shape, self.n_pairs, at_most=True) / self.odds
            at_most = float((known * times / (1 - known + known * times)).mean())
        if not self.n_tried:
            return 0.0, max(by_weights, at_most)
        # At the most, all that have no partner by the lower end of the interval are at risk.
        alone = max(self.shape[self._told_by] - self.overlap.low, 0)
        _, rate = share_interval(round(self.n_false), self.n_tried)
        by_itself = self.at_best * max(1.0 - rate * alone / known.size, 0.0)
        return min(by_weights, by_itself), max(by_weights, by_itself, at_most)

    @property
    def _told_by(self) -> int:
        return 0 if self.groups is None else 1 - self.groups.side

    def recall(self, probabilities: Floats) -> tuple[float, float] | None:
        """Return between what the share of the people in both files that are found is expected."""
        precision = self.precision(probabilities)
        n_links = int(np.count_nonzero(~np.isnan(probabilities)))
        if precision is None:
            return None
        low = precision[0] * n_links / max(self.overlap.high, 1)
        high = precision[1] * n_links / max(self.overlap.low, 1)
        return min(low, 1.0), min(high, 1.0)

    def summary(self, probabilities: Floats | None) -> dict[str, Any]:
        """Return the numbers to be expected, without knowing the truth, those that are known."""
        found = self.overlap
        numbers: dict[str, Any] = {} if self._told is None else {"in_both": self._told}
        numbers |= {"in_both_low": found.low, "in_both_high": found.high}
        if probabilities is not None:
            for name, ends in (
                ("expected_precision", self.precision(probabilities)),
                ("expected_recall", self.recall(probabilities)),
            ):
                if ends is not None:
                    # More digits would say more than is known.
                    numbers[f"{name}_low"], numbers[f"{name}_high"] = (round(e, 6) for e in ends)
        return numbers

    @property
    def _about(self) -> int:
        return round(min(max(self.overlap.estimate, self.overlap.low), self.overlap.high))

    @property
    def _told(self) -> int | None:
        """The estimate where there is one; None where only the ends of the interval are known."""
        found = self.overlap
        is_known = found.low > 0 and (found.is_by_weights or found.low == found.high)
        return self._about if is_known else None

    def sentence(self, *, is_truth_known: bool = False) -> str:
        """Return how many people are in both files, in words."""
        found = self.overlap
        most = min(self.shape)
        # Beside a count of right links, that all may be wrong would be a contradiction.
        if found.low == 0 and is_truth_known:
            which = (
                f"anything from none to {most:,}"
                if found.high == most
                else f"none to {found.high:,}"
            )
            return (
                "To somebody who does not know the truth, how many people are in both files is not"
                f" known: {which} agrees with what the files say."
            )
        if found.low == 0 and found.high == most:
            return (
                f"How many people are in both files is not known: anything from none to {most:,} agrees"
                " with what the files say, and all links may be wrong."
            )
        if found.low == 0:
            return (
                f"Nothing shows that anybody is in both files: none to {found.high:,} are, and all"
                " links may be wrong."
            )
        if found.low == found.high:
            return f"{count_of(found.low, 'person is', 'people are')} in both files, as estimated."
        if not found.is_by_weights:
            return (
                f"At least {count_of(found.low, 'person is', 'people are')} in both files, as estimated,"
                f" and up to {found.high:,} can be."
            )
        return (
            f"About {count_of(self._about, 'person is', 'people are')} in both files, as estimated:"
            f" {found.low:,} to {found.high:,}."
        )

    def expectations(self, probabilities: Floats) -> list[str]:
        """Return what share of the links is expected to be right, in words."""
        precision, recall = self.precision(probabilities), self.recall(probabilities)
        if precision is None or recall is None:
            return []
        words = (
            f"To be expected without knowing the truth: {percent_range(*precision)} of the links are"
            f" right, and {percent_range(*recall)} of the people in both files are found."
        )
        return [words]


def find_partners(
    compared: Compared,
    objective: FellegiSunterCost,
    costs: NDArray[Any],
    pairs: CandidatePairs | None,
    *,
    block: Sequence[str],
    is_blocked_only: bool,
    unlinked: float,
    max_pairs: int,
    seed: int,
) -> Partners:
    """Estimate who has a partner from the costs of all pairs, or of candidate pairs."""
    from gamekeeper.algorithms.assignment.dense import two_least
    from gamekeeper.algorithms.linkage.kernels import sum_odds

    model, shape = objective.model, objective.shape
    best = model.largest_weight
    rows = np.zeros(shape[0])
    if pairs is None:
        sum_odds(costs, best, rows)
        n_candidates = np.full(shape[0], float(shape[1]))
    else:
        rows = np.bincount(pairs.rows(), np.exp(best - costs), shape[0]).astype(np.float64)
        n_candidates = np.diff(pairs.starts).astype(np.float64)
    is_fit = is_blocked_only and is_comparable(objective, seed)
    checks = checked_costs(objective, costs, pairs, seed) if is_fit else []
    looked_at = [one.costs for one in checks]
    least = least_costs(looked_at, deepest(min(shape)))
    own, evidence, groups, made_alike = None, None, None, False
    if len(least):
        own = own_costs(compared, checks, float(least.max()), block, max_pairs, seed)
    if own is not None and pairs is None:
        groups, made_alike = find_groups(objective.comparisons, seed)
        between = np.concatenate([one.margins for one in checks])
        evidence = margin_evidence(between, own.margins, n_records=shape[0], counts=not made_alike)
    known = np.array(
        [
            (1 - one.n_missing[0] / max(shape[0], 1)) * (1 - one.n_missing[1] / max(shape[1], 1))
            for one in objective.comparisons
        ]
    )
    overlap = estimate_overlap(
        shape,
        (rows, n_candidates),
        least,
        None if own is None else own.costs,
        sum(map(len, looked_at)),
        0 if own is None else own.n_pairs,
        checks[0].objective.model if checks else model,
        known,
        max((one.least for one in (evidence, groups and groups.evidence) if one), default=0.0),
        made_alike=made_alike,
        blurred=_is_blurred(objective),
    )
    n_pairs = None if pairs is None else pairs.n_pairs
    odds_of_pair = overlap.odds(*shape, n_pairs)
    marginals = _marginals(costs, pairs, best, odds_of_pair, rows, n_candidates)
    found = Partners(overlap, odds_of_pair, 0, 0.0, best, rows, marginals, shape, n_pairs)
    found = replace(found, made_alike=made_alike)
    if own is None:
        return found
    if groups is not None and not overlap.is_by_weights:
        n_false = int(np.count_nonzero(1.0 - groups.evidence.wrong(groups.own) >= unlinked))
        return replace(found, n_tried=len(groups.own), n_false=n_false, groups=groups)
    if evidence is not None and not overlap.is_by_weights:
        of_own = np.concatenate(own.margins)
        n_false = int(np.count_nonzero(1.0 - evidence.wrong(of_own) >= unlinked))
        nearest = two_least(costs.T)
        return replace(
            found, n_tried=len(of_own), n_false=n_false, margins=evidence, nearest=nearest
        )
    # With a second file of another size, chance has as many times more or fewer candidates.
    scaled = own.nearest * found.odds / (1.0 + found.odds * own.sums)
    n_false = float(np.count_nonzero(scaled >= unlinked)) * own.times
    return replace(found, n_tried=len(scaled), n_false=min(n_false, len(scaled)))


def _is_blurred(objective: FellegiSunterCost) -> bool:
    """Tell whether most of the weight is that of numbers in which matches hardly ever agree."""
    model = objective.model
    blurred = sum(
        float(weights.max())
        for one, m, weights in zip(objective.comparisons, model.m, model.weights, strict=True)
        if one.a.dtype.kind == "f" and m[0] < _SELDOM_EQUAL
    )
    return blurred > model.largest_weight / 2


def _marginals(
    costs: NDArray[Any],
    pairs: CandidatePairs | None,
    best: float,
    odds: float,
    sums: Floats,
    n_candidates: Floats,
) -> LinkMarginals:
    # The largest cost of a pair that is followed, by record.
    limits = best + math.log(odds) - np.log(least_odds(odds * sums, n_candidates))
    rows = None if pairs is None else pairs.rows()
    while True:
        taken = costs <= (limits[:, None] if rows is None else limits[rows])
        if np.count_nonzero(taken) <= _MOST_FOLLOWED:
            break
        limits -= _STEP
    if pairs is None or rows is None:
        i, j = np.nonzero(taken)
        its = costs[i, j]
    else:
        i, j = (side[taken].astype(np.int64) for side in (rows, pairs.columns))
        its = costs[taken]
    shape = costs.shape if pairs is None else pairs.shape
    return link_marginals(i, j, odds * np.exp(best - its), (shape[0], shape[1]))
