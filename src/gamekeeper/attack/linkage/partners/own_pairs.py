"""A file compared with itself: how near different people come, by weights that do not know them.

Two records of one file are two people, if nobody is there twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.agreement_levels import shares_of_pairs
from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.algorithms.linkage.objective import (
    FellegiSunterCost,
    cost_matrix,
    cost_pairs,
    fellegi_sunter_cost,
)
from gamekeeper.algorithms.linkage.partners.margin_evidence import margins_of
from gamekeeper.algorithms.linkage.partners.one_partner import fit_one_partner
from gamekeeper.attack.linkage.pairs.candidates import Compared, candidates
from gamekeeper.errors import LimitError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_OWN_PAIRS = 2_000_000
_FEW_LEARNED = 0.25
_N_COMPARED = 20_000
_LIKE = 0.05
_MANY_COSTS, _N_SAMPLED = 1_000_000, 50_000


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
    """Pairs within the files: least costs, how many pairs; by record the odds of the nearest, of all.

    Where all pairs were compared, the margins of the records of each file.
    """

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
    """Compare some records of a file with all of it: costs, number of pairs, odds by record.

    And where all pairs are compared, margins by record. Of `part[1]` parts this is number `part[0]`.
    Each pair counts once, in whichever part it is.
    """
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
    """Return the margins of the rows of a matrix of costs; nothing without one."""
    from gamekeeper.algorithms.assignment.costs import two_least

    return np.zeros(0) if costs is None else margins_of(*two_least(costs))


def _own_candidates(
    compared: Compared, side: int, block: Sequence[str], max_pairs: int
) -> CandidatePairs:
    """Return the pairs within a file that agree in what is blocked on."""
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
