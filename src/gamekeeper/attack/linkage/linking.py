"""Linking records of two files: the pairs that are compared, one cost per pair, links of least cost.

All pairs are compared, or those that one of several passes takes: pairs that agree in some
variables (that are compatible, where categories are mapped), those within some places of each other
in the order of a variable (the sorted neighbourhood of Hernández and Stolfo 1995), or those that
are nearest by all numbers. Every record is linked one to one at the least total cost (Lenz 2003),
by one of two greedy heuristics, or with its nearest record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage import blocking
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.objective import (
    Objective,
    cost_matrix,
    cost_pairs,
    fellegi_sunter_cost,
    mahalanobis_cost,
    weighted_sum,
)
from gamekeeper.attack.linkage.columns import Kind, LinkVariable, equal_codes
from gamekeeper.attack.linkage.options import LinkMethod, ObjectiveName
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, did_you_mean, quoted

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_PAIRS = 400_000_000
"""The most pairs that are compared without blocking: a matrix of 3.2 GB."""
_BOUND_RECORDS = 3_000
# An increase takes a search that reads at most all costs: so many readings take a second or two.
_INCREASES_WORK = 2_000_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Compared:
    """Two files, the variables they are compared on, and how, with records in the given orders."""

    a: CodedTable
    b: CodedTable
    orders: tuple[Integers, Integers]
    variables: Sequence[LinkVariable]
    comparisons: Sequence[Comparison]

    def named(self, names: Sequence[str]) -> list[tuple[LinkVariable, Comparison]]:
        """Return variables by name; refuse those that are not compared."""
        places = {one.name: place for place, one in enumerate(self.variables)}
        unknown = [name for name in names if name not in places]
        if unknown:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"Pairs were to be blocked on {quoted(unknown)}.",
                "That is not among the variables that are compared.",
                did_you_mean(unknown[0], places),
            )
        return [(self.variables[places[n]], self.comparisons[places[n]]) for n in names]

    def codes(self, variable: LinkVariable, comparison: Comparison) -> tuple[Integers, Integers]:
        """Return codes in the order of the values, equal where these are; 0 for missing."""
        back = [np.argsort(order) for order in self.orders]
        in_file = replace(comparison, a=comparison.a[back[0]], b=comparison.b[back[1]])
        left, right = equal_codes(self.a, self.b, variable, in_file)
        return left[self.orders[0]], right[self.orders[1]]


def candidates(
    compared: Compared,
    *,
    block: Sequence[str],
    window: Mapping[str, int],
    neighbours: int | None,
    max_pairs: int,
) -> blocking.CandidatePairs | None:
    """Return the pairs that any pass takes; None where all pairs are to be compared."""
    passes: list[blocking.CandidatePairs] = []
    if block:
        passes.append(_agreeing(compared, block, max_pairs))
    for (variable, comparison), places in zip(
        compared.named(list(window)), window.values(), strict=True
    ):
        if variable.kind is Kind.MAPPED:
            raise InputError(
                Reason.BAD_OPTION,
                f"Records were to be sorted by {quoted([variable.name])} (--window).",
                "It is mapped, and mapped categories have no order.",
                "Block on it (--block), or sort by another.",
            )
        codes = compared.codes(variable, comparison)
        ranks = [np.where(side > 0, side.astype(np.float64), np.nan) for side in codes]
        passes.append(blocking.block_sorted(ranks[0], ranks[1], places, max_pairs=max_pairs))
    if neighbours is not None:
        left, right = _scaled(compared)
        passes.append(blocking.block_nearest(left, right, neighbours, max_pairs=max_pairs))
    return blocking.unite(passes) if passes else None


def passes_text(block: Sequence[str], window: Mapping[str, int], neighbours: int | None) -> str:
    """Return the passes in words.

    >>> passes_text(["sex"], {"age": 5}, 10)
    'sex, age within 5 places, 10 neighbours'
    """
    words = [*block, *(f"{name} within {count_of(n, 'place')}" for name, n in window.items())]
    if neighbours is not None:
        words.append(count_of(neighbours, "neighbour"))
    return ", ".join(words)


def _agreeing(compared: Compared, block: Sequence[str], max_pairs: int) -> blocking.CandidatePairs:
    chosen = compared.named(block)
    mapped = [one for variable, one in chosen if variable.kind is Kind.MAPPED]
    equal = [compared.codes(*one) for one in chosen if one[0].kind is not Kind.MAPPED]
    equal_a, equal_b = [left for left, _ in equal], [right for _, right in equal]
    if not mapped:
        return blocking.block_on_values(equal_a, equal_b, max_pairs=max_pairs)
    tables = [np.isfinite(one.table) for one in mapped if one.table is not None]
    return blocking.block_on_sinks(
        [one.a for one in mapped],
        [one.b for one in mapped],
        tables,
        equal_a=equal_a,
        equal_b=equal_b,
        max_pairs=max_pairs,
    )


def _scaled(compared: Compared) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    numbers = [one for one in compared.comparisons if one.a.dtype.kind == "f"]
    if not numbers:
        raise InputError(
            Reason.BAD_OPTION,
            "Each record was to be compared with its nearest (--neighbours).",
            "No variable is compared as a number, a date or by rank.",
            "Say which is (--kind COLUMN=number), or leave it out.",
        )
    scales = [float(np.nanstd(np.concatenate((one.a, one.b)))) or 1.0 for one in numbers]
    left, right = (
        np.column_stack([side / scale for side, scale in zip(sides, scales, strict=True)])
        for sides in ([one.a for one in numbers], [one.b for one in numbers])
    )
    return left, right


@dataclass(frozen=True, eq=False)
class Linked:
    """The links of the records of a first file.

    - `columns`: the record of the second file that each is linked to, from 0; -1 for none.
    - `costs`, `best`, `second`: what each link costs, NaN without link, and the least and second
      least cost of each record with any candidate.
    - `increases`: by how much the total rises if the link is forbidden; NaN if not worked out.
    - `is_sure`: whether every optimal assignment has the link; only for optimal links of all pairs.
    - `total`, `lower_bound`: what the links cost together, and what no one-to-one links of as many
      records could cost less than. None where records may stay unlinked: fewer links cost less
      without being better.
    - `probabilities`: how likely each link is right under the fitted weights, if there are some.
    """

    columns: Integers
    costs: Floats
    best: Floats
    second: Floats
    increases: Floats
    is_sure: NDArray[np.bool_] | None
    total: float
    lower_bound: float | None
    n_pairs: int
    solver: str
    probabilities: Floats | None = None

    def of_rows(self, rows: Integers) -> Linked:
        """Return the links of the records of the first file in another order."""
        columns = {item.name: getattr(self, item.name) for item in fields(self)}
        by_record = {name: its for name, its in columns.items() if isinstance(its, np.ndarray)}
        return replace(self, **{name: its[rows] for name, its in by_record.items()})

    @property
    def gap_to_bound(self) -> float | None:
        """What share of the cost could be saved at most; None without a bound, and of optimal links."""
        if self.lower_bound is None:
            return None
        gap = (self.total - self.lower_bound) / (abs(self.total) or 1.0)
        return gap if gap > _ROUNDING else 0.0


def ahead_of(costs: Floats, best: Floats, second: Floats) -> Floats:
    """Return by how much links are cheaper than the best other candidate of their record.

    A record may be linked to another than its nearest, which then is the best other one.
    """
    with np.errstate(invalid="ignore"):
        return np.where(costs > best, best, second) - costs


def make_objective(
    comparisons: Sequence[Comparison],
    name: ObjectiveName,
    *,
    weights: Sequence[float] = (),
    steps: Sequence[int | None] = (),
    candidates: blocking.CandidatePairs | None = None,
    everybody: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Objective, tuple[str, ...]]:
    """Return what makes costs of pairs, and what a reader should know of it."""
    for what, given, its in (
        ("Weights", weights, ObjectiveName.WEIGHTED),
        ("Steps", steps, ObjectiveName.LEXICOGRAPHIC),
    ):
        if len(given) and name is not its:
            raise InputError(
                Reason.BAD_OPTION,
                f"{what} were given with the objective '{name}'.",
                f"Only the objective '{its}' has use for them.",
                "Leave them out, or choose that objective (--objective).",
            )
    if name is ObjectiveName.MAHALANOBIS:
        return _mahalanobis(comparisons)
    if name is ObjectiveName.LEXICOGRAPHIC:
        from gamekeeper.algorithms.linkage.objective import lexicographic_cost

        made = lexicographic_cost(comparisons, steps=list(steps) or None)
        return made, made.notes
    if name is ObjectiveName.FELLEGI_SUNTER:
        from gamekeeper.algorithms.linkage.fellegi_sunter import fit_one_partner

        model = fit_one_partner(
            comparisons, candidates=candidates, everybody=everybody, seed=seed, progress=progress
        )
        cost = fellegi_sunter_cost(comparisons, model)
        return cost, cost.notes
    if name is ObjectiveName.WEIGHTED:
        if len(weights) != len(comparisons):
            raise InputError(
                Reason.BAD_OPTION,
                "Distances were to be weighted.",
                f"{count_of(len(weights), 'weight')} for"
                f" {count_of(len(comparisons), 'variable')} were given.",
                "Give one for each variable (--weight).",
            )
        found = weighted_sum(comparisons, list(weights))
    else:
        is_estimated = name is ObjectiveName.ESTIMATED
        found = weighted_sum(comparisons, "estimated" if is_estimated else "equal")
    return found, found.notes


def _mahalanobis(comparisons: Sequence[Comparison]) -> tuple[Objective, tuple[str, ...]]:
    unfit = [one.name for one in comparisons if one.a.dtype.kind != "f"]
    if unfit:
        raise InputError(
            Reason.BAD_OPTION,
            "The Mahalanobis distance was asked for.",
            f"It needs numbers, dates or ranks; {quoted(unfit)} cannot be compared as such.",
            "Leave out what has none (--on), or choose another objective (--objective).",
        )
    a = np.column_stack([one.a for one in comparisons])
    b = np.column_stack([one.b for one in comparisons])
    made = mahalanobis_cost(a, b)
    return made, made.notes


def link_pairs(
    objective: Objective,
    method: LinkMethod,
    *,
    candidates: blocking.CandidatePairs | None = None,
    most_cost: float | None = None,
    max_pairs: int = MOST_PAIRS,
    margins: bool = True,
    costs: NDArray[Any] | None = None,
    progress: Progress | None = None,
) -> Linked:
    """Link the records of two files, all pairs or candidate pairs.

    No link costs more than `most_cost`, and one is left out where others gain by it. Costs that are
    known already (`pair_costs`) are not worked out again.
    """
    from gamekeeper.algorithms.assignment.dense import two_least

    if costs is None:
        costs = pair_costs(objective, candidates, max_pairs=max_pairs, progress=progress)
    if candidates is not None:
        return _among_candidates(candidates, costs, method, most_cost, progress)
    if most_cost is None:
        return _among_all(costs, method, margins=margins, progress=progress)
    if method is LinkMethod.OPTIMAL:
        rows, columns = np.nonzero(costs < most_cost)
        kept = blocking.CandidatePairs.from_pairs(rows, columns, objective.shape)
        listed = costs[kept.rows(), kept.columns].astype(np.float64)
        found = _among_candidates(kept, listed, method, most_cost, progress)
        # Margins are of all pairs, not of those alone that may be linked.
        best, second = two_least(costs)
        return replace(found, best=best, second=second, n_pairs=costs.size)
    found = _among_all(costs, method, margins=False, progress=progress)
    return without(found, ~(found.costs <= most_cost))


def without(found: Linked, unlinked: NDArray[np.bool_]) -> Linked:
    """Return links without those of some records, with the numbers of those that are left."""
    costs = np.where(unlinked, np.nan, found.costs)
    likely = found.probabilities
    return replace(
        found,
        columns=np.where(unlinked, -1, found.columns),
        costs=costs,
        increases=np.where(unlinked, np.nan, found.increases),
        is_sure=None if found.is_sure is None else found.is_sure & ~unlinked,
        total=float(np.nansum(costs)),
        lower_bound=None,
        probabilities=None if likely is None else np.where(unlinked, np.nan, likely),
    )


def pair_costs(
    objective: Objective,
    candidates: blocking.CandidatePairs | None,
    *,
    max_pairs: int = MOST_PAIRS,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return the costs of all pairs as a matrix, or of candidate pairs in their order."""
    if candidates is not None:
        return cost_pairs(objective, candidates, progress=progress)
    n_rows, n_columns = objective.shape
    if n_rows * n_columns > max_pairs:
        raise LimitError(
            Reason.TOO_LARGE,
            f"{n_rows:,} records were to be linked with {n_columns:,}.",
            f"All {n_rows * n_columns:,} pairs would have to be compared; the limit is"
            f" {max_pairs:,}.",
            "Block on variables that must agree (--block), or raise max_pairs (--max-pairs).",
        )
    require_memory(
        f"{n_rows:,} records were to be linked with {n_columns:,}.",
        # The costs, and another table of their size on the way.
        n_rows * n_columns * 2 * 8,
        f"The costs of all {n_rows * n_columns:,} pairs",
        "Block on variables that must agree (--block)",
    )
    return cost_matrix(objective, progress=progress)


def require_worth(name: ObjectiveName, unlinked: float) -> float:
    """Return a least probability, or the most that a link may cost; refuse what cannot be."""
    if name is ObjectiveName.FELLEGI_SUNTER:
        if not 0 < unlinked < 1:
            raise InputError(
                Reason.BAD_OPTION,
                "Records were to stay unlinked below some probability of a match.",
                "It is not between 0 and 1.",
                "Give a probability such as 0.5 (--unlinked).",
            )
    elif not unlinked > 0:
        raise InputError(
            Reason.BAD_OPTION,
            "Records were to stay unlinked above some cost.",
            "The cost is not above 0.",
            "Give the cost above which no link is worth it (--unlinked).",
        )
    return float(unlinked)


def _among_all(
    costs: NDArray[Any], method: LinkMethod, *, margins: bool, progress: Progress | None
) -> Linked:
    from gamekeeper.algorithms.assignment.dense import (
        greedy_global,
        greedy_rows,
        nearest,
        solve_assignment,
        two_least,
    )
    from gamekeeper.algorithms.assignment.sparse import assignment_margins

    n_rows = len(costs)
    increases = np.full(n_rows, np.nan)
    is_sure: NDArray[np.bool_] | None = None
    least: tuple[Floats, Floats] | None = None
    if method is LinkMethod.OPTIMAL:
        found = solve_assignment(costs, partial=True, progress=progress)
        columns, total, lower = found.columns, found.cost, found.lower_bound
        solver = found.solver
        if margins:
            least = two_least(costs)
            asked = _farthest_ahead(least, costs.shape)
            told = assignment_margins(costs, found, rows=asked, progress=progress)
            increases, is_sure = told.increases, told.in_every_optimum
    else:
        heuristic = {
            LinkMethod.GREEDY: greedy_global,
            LinkMethod.GREEDY_ROWS: greedy_rows,
            LinkMethod.NEAREST: nearest,
        }[method]
        links = heuristic(costs)
        columns, total, solver = links.columns, links.cost, method.value
        lower = None
        if method is not LinkMethod.NEAREST:
            lower = _bound_of(costs, links.n_linked)
    best, second = least or two_least(costs)
    return Linked(
        columns,
        _costs_of(costs, columns),
        best,
        second,
        increases,
        is_sure,
        float(total),
        lower,
        costs.size,
        solver,
    )


def _farthest_ahead(least: tuple[Floats, Floats], shape: tuple[int, int]) -> Integers | None:
    """Return the records whose increases are worked out: as many as a second or two allows."""
    most = _INCREASES_WORK // max(shape[0] * shape[1], 1)
    if most >= shape[0]:
        return None
    with np.errstate(invalid="ignore"):
        ahead = np.nan_to_num(least[1] - least[0], nan=-1.0, posinf=np.inf)
    return np.sort(np.argsort(-ahead, kind="stable")[:most])


def _bound_of(costs: NDArray[Any], n_links: int) -> float | None:
    """Return what no one-to-one links of so many records can cost less than.

    The exact optimum where it takes seconds, else a bound that needs no search. None where a part of
    the records cannot be linked and the links are not as many as possible: links of fewer records
    cost less without being better.
    """
    from gamekeeper.algorithms.assignment.dense import assignment_lower_bound, solve_assignment

    if costs.size <= _BOUND_RECORDS**2:
        found = solve_assignment(costs, partial=True)
        return found.lower_bound if found.n_linked == n_links else None
    return assignment_lower_bound(costs) if n_links == min(costs.shape) else None


def _among_candidates(
    candidates: blocking.CandidatePairs,
    costs: Floats,
    method: LinkMethod,
    most_cost: float | None,
    progress: Progress | None,
) -> Linked:
    from gamekeeper.algorithms.assignment.sparse import nearest_candidates, solve_candidates

    near = nearest_candidates(candidates, costs)
    best = np.asarray(near.costs, np.float64)
    second = best + np.asarray(near.margins, np.float64)
    nothing = np.full(candidates.shape[0], np.nan)
    if method is LinkMethod.NEAREST:
        columns = np.asarray(near.columns, np.int64)
        if most_cost is not None:
            columns = np.where(best <= most_cost, columns, -1)
        its_costs = np.where(columns >= 0, best, np.nan)
        total = float(np.nansum(its_costs))
        return Linked(
            columns, its_costs, best, second, nothing, None, total, None, len(costs), "nearest"
        )
    if method is not LinkMethod.OPTIMAL:
        raise InputError(
            Reason.BAD_OPTION,
            f"Records were to be linked by the method '{method}' after blocking.",
            "After blocking there are optimal and nearest links only.",
            "Choose one of these (--method), or leave out the blocking.",
        )
    # A link takes the place of two unlinked records, so that each is worth half of it.
    price = None if most_cost is None else most_cost / 2
    found = solve_candidates(
        candidates, costs, unlinked_row=price, unlinked_column=price, progress=progress
    )
    return Linked(
        found.columns,
        np.asarray(found.costs, np.float64),
        best,
        second,
        nothing,
        None,
        found.cost,
        found.cost - found.gap if most_cost is None else None,
        len(costs),
        f"sparse, {count_of(found.n_components, 'part')}",
    )


def _costs_of(costs: NDArray[Any], columns: Integers) -> Floats:
    found = np.full(len(columns), np.nan)
    linked = np.flatnonzero(columns >= 0)
    found[linked] = costs[linked, columns[linked]]
    return found
