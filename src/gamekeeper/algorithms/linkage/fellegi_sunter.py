"""Fellegi-Sunter weights, learned where each record has one partner at most, or none.

The distance of a pair in a variable falls into a level: 0 up to the first limit, 1 up to the
second, and so on. With m and u for the probabilities of the levels among matches and non-matches,
the weight of a level is log(m / u), a natural logarithm, and that of a pair the sum over variables.
A missing value has no level and says nothing: weight 0. The sum takes the levels of different
variables to be independent: variables that err or agree together (a name and its spelling, an
address and its postcode) make weights too large, and probabilities too near to 0 and 1. Fellegi and
Sunter (1969).

The classical mixture takes pairs one by one. Where variables go together (large firms are large in
everything), its class of matches becomes that of all similar pairs. Here the records of the first
file are taken one by one: record i has no partner, or exactly one of its candidates, all with the
same prior odds. If j is its partner, the levels of the pair have probabilities m, all other pairs
have u. So candidates compete, and at most one match per record is found:

    P(j is the partner of i) = odds r_ij / (1 + odds sum_k r_ik),   r = product over variables of m / u.

EM finds m, the likeliest under which no level says more for a match than a nearer one (without
that, it may take pairs for matches that are far apart in a peculiar way), and each round the odds
that are likeliest given m; u is counted on all pairs less the matches, or on random pairs where
only candidates are compared. EM starts from pairs that are nearest by the estimated weighted sum
and from 90% agreement, and keeps the likelier end. A round costs one look at each pair and one sum
for each combination of levels; of large files a sample of the records of the first is taken, with
all their candidates. After Sadinle (2017), who samples such matchings; Winkler (1988) for EM.

The share of records with a partner rests on independence of the variables, among pairs of different
people above all: where they agree together more often than the product of u says, it is too large.
`overlap` holds it against what each file says of itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import equal_rows
from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.algorithms.linkage.comparison import TEXT_MEASURES, Comparison, require_comparisons
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

Limits: TypeAlias = Sequence[Sequence[float]]
"""For each variable the rising limits of its levels."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_N_RANDOM = 100_000
_QUANTILES = (0.001, 0.003, 0.01, 0.02, *(k / 20 for k in range(1, 20)))
_SINKS = (0.0, 0.5, 0.8, 0.95, 1.0)


def fine_limits(comparison: Comparison) -> tuple[float, ...]:
    """Return the limits of levels of a variable: fine where distances are many.

    Categories: equal or not. Categories by sinks: five levels of overlap, and impossible. Texts:
    equal, a slip (0.12), alike (0.3), other. Numbers, dates and ranks: equal, and the distances
    that a tenth of a percent to 95% of random pairs are within, in steps of 5% from there on.
    """
    if comparison.measure == "different":
        return (0.0,)
    if comparison.measure == "sinks":
        return _SINKS
    if comparison.measure in TEXT_MEASURES:
        return (0.0, 0.12, 0.3)
    if not all(comparison.shape):
        return (0.0,)
    pairs = random_pairs(comparison.shape, 0)
    distances = comparison.with_missing(math.nan).pairs(*pairs)
    known = distances[~np.isnan(distances)]
    found = np.quantile(known, _QUANTILES) if known.size else np.zeros(1)
    return tuple(np.unique(np.append(found, 0.0)).tolist())


def require_limits(comparisons: Sequence[Comparison], limits: Limits) -> None:
    """Refuse limits that do not fit the variables, and variables of different files."""
    require_comparisons(comparisons)
    rising = all(len(one) and all(np.diff(one) > 0) and one[0] >= 0 for one in limits)
    if len(limits) != len(comparisons) or not rising or max(map(len, limits)) > 100:
        raise InputError(
            Reason.BAD_OPTION,
            "Levels of agreement of pairs of records were asked for.",
            f"{len(limits)} lists of limits were given for {len(comparisons)} variables, or one is "
            "empty, not rising, or has more than 100 limits.",
            "Give for each variable at least one limit of 0 or more, in rising order.",
        )


def random_pairs(shape: tuple[int, int], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw 100,000 pairs of records: the rows, and the columns."""
    rng = np.random.default_rng(seed)
    return rng.integers(shape[0], size=_N_RANDOM), rng.integers(shape[1], size=_N_RANDOM)


def shares_of_pairs(
    comparisons: Sequence[Comparison],
    limits: Limits,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> list[Floats]:
    """Return the share of each level among listed pairs, half a pair added to every level."""
    from gamekeeper.algorithms.linkage.kernels import set_levels

    levels = np.zeros((len(rows), len(limits)), np.uint8)
    found: list[Floats] = []
    for k, (comparison, one) in enumerate(zip(comparisons, limits, strict=True)):
        distances = comparison.with_missing(math.nan).pairs(rows, columns)
        set_levels(levels, k, distances, np.asarray(one, np.float64))
        counts = np.bincount(levels[:, k], minlength=len(one) + 2)[1:] + 0.5
        found.append(counts / counts.sum())
    return found


# A level that is never seen among matches, or non-matches, gets a weight of about 14 at most.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class FellegiSunterModel:
    """Probabilities of the levels of each variable among matches (m) and non-matches (u).

    `expected` is the expected number of records of the first file with a partner, no more than the
    smaller file has. (Two records may claim one partner: candidates compete for the records of the
    first file alone.) `n_learned` says of how many records of the first file weights were learned.
    """

    names: tuple[str, ...]
    limits: tuple[tuple[float, ...], ...]
    m: tuple[Floats, ...]
    u: tuple[Floats, ...]
    expected: float
    n_learned: int
    notes: tuple[str, ...] = ()

    @property
    def weights(self) -> tuple[Floats, ...]:
        """The weight log(m / u) of each level of each variable."""
        return tuple(
            np.log(np.maximum(m, _FLOOR)) - np.log(np.maximum(u, _FLOOR))
            for m, u in zip(self.m, self.u, strict=True)
        )

    @property
    def largest_weight(self) -> float:
        """The weight of a pair with the best level in every variable."""
        return float(sum(weights.max() for weights in self.weights))


_ASKED = "Weights of agreement were to be learned from pairs of records."
# From so many pairs weights are learned: of more, records are sampled.
_MOST_LEARNED = 1_000_000
_MOST_ROUNDS = 300
# EM ends when the log likelihood rises by less than this part of itself.
_SETTLED = 1e-7
_LEAST = 1e-6
_LEAST_ODDS, _MOST_ODDS = 1e-15, 1e9


def fit_one_partner(
    comparisons: Sequence[Comparison],
    limits: Limits | None = None,
    candidates: CandidatePairs | None = None,
    *,
    everybody: bool = False,
    only: Integers | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> FellegiSunterModel:
    """Learn the weights of agreement from records that have one partner at most.

    With `everybody`, each has one. Of the first file the records `only` are looked at, or all.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_categories
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(1, 11, (6, 200))
    >>> b = np.where(rng.random(a.shape) < 0.1, rng.integers(1, 11, a.shape), a)[:, :100]
    >>> model = fit_one_partner([compare_categories(x, y) for x, y in zip(a, b, strict=True)])
    >>> round(model.expected), model.m[0].round(1), model.u[0].round(1)
    (100, array([0.9, 0.1]), array([0.1, 0.9]))
    """
    chosen = [fine_limits(c) for c in comparisons] if limits is None else limits
    require_limits(comparisons, chosen)
    shape = comparisons[0].shape
    learned = _learned_rows(shape, candidates, seed) if only is None else only
    levels, starts, near = _levels(comparisons, chosen, candidates, learned, progress)
    if not len(levels):
        do = "Block by fewer variables."
        raise InputError(Reason.NOTHING_GIVEN, _ASKED, "There is no pair.", do)
    if all(levels[:, k].max(initial=0) <= 1 for k in range(levels.shape[1])):
        found = "No variable has a distance above 0."
        raise InputError(Reason.BAD_OPTION, _ASKED, found, "Give a variable that varies.")
    known_u = None
    if candidates is not None:
        known_u = shares_of_pairs(comparisons, chosen, *random_pairs(shape, seed))
    work = _Work(levels, starts, [len(one) + 1 for one in chosen], known_u, everybody)
    fits = [work.run(first) for first in (work.levels_of(near), work.agreeing())]
    best = max(fits, key=lambda fit: fit.likelihood)
    notes = () if best.converged else (f"EM stopped after {_MOST_ROUNDS:,} rounds.",)
    n_learned, n_rows = len(learned), shape[0]
    if n_learned < n_rows and only is None:
        notes = (*notes, f"Weights were learned from {n_learned:,} of {n_rows:,} records.")
    return FellegiSunterModel(
        tuple(one.name for one in comparisons),
        tuple(tuple(float(limit) for limit in one) for one in chosen),
        tuple(best.m),
        tuple(best.u),
        min(best.expected * n_rows / max(n_learned, 1), *shape),
        n_learned,
        notes,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    m: list[Floats]
    u: list[Floats]
    expected: float
    likelihood: float
    converged: bool


class _Work:
    """The pairs that weights are learned from."""

    def __init__(
        self,
        levels: NDArray[np.uint8],
        starts: Integers,
        n_levels: Sequence[int],
        known_u: Sequence[Floats] | None,
        everybody: bool,
    ) -> None:
        self._levels, self._starts = levels, starts
        self._patterns, self._places = _combinations(levels)
        self._n_levels, self._known_u = n_levels, known_u
        self._everybody = everybody
        self._counts = self._counted(levels)
        self._n_rows = int(np.count_nonzero(np.diff(starts)))

    def levels_of(self, pairs: Integers) -> list[Floats]:
        """Return the shares of levels among some pairs, with a little of all pairs."""
        return self._shares(self._counted(self._levels[pairs]), self._others(None))

    def agreeing(self) -> list[Floats]:
        return [np.array([0.9, *([0.1 / (n - 1)] * (n - 1))]) for n in self._n_levels]

    def run(self, m: list[Floats]) -> _Fit:
        from gamekeeper.algorithms.linkage.kernels import (
            expect_partners,
            likeliest_odds,
            weigh_records,
        )

        u = self._others(None)
        sums = np.zeros((len(m), max(self._n_levels) + 1))
        weights, evidence = np.zeros(len(self._patterns)), np.zeros(len(self._starts) - 1)
        of_pairs = self._patterns, self._places, self._starts
        n_pairs = np.diff(self._starts)
        # Half of the records have a partner, to begin with.
        odds = _MOST_ODDS if self._everybody else 1.0 / max(float(n_pairs.mean()), 1.0)
        before, iterations, converged = -math.inf, 0, False
        while True:
            weigh_records(*of_pairs, self._ratios(m, u), weights, evidence)
            if iterations and not self._everybody:
                odds = likeliest_odds(evidence, n_pairs, odds, _LEAST_ODDS, _MOST_ODDS)
            expected, now = expect_partners(*of_pairs, weights, evidence, odds, sums)
            # The sums of m and u need the constant part of the likelihood too.
            now += self._constant(u)
            converged = now - before <= _SETTLED * abs(now) and iterations > 2
            if converged or iterations >= _MOST_ROUNDS:
                return _Fit(m, u, expected, now, converged)
            before = now
            iterations += 1
            m = self._shares(sums[:, 1:], u)
            u = self._others(sums[:, 1:])

    def _constant(self, u: Sequence[Floats]) -> float:
        return float(
            sum(
                self._counts[k, : len(values)] @ np.log(np.maximum(values, 1e-300))
                for k, values in enumerate(u)
            )
        )

    def _ratios(self, m: Sequence[Floats], u: Sequence[Floats]) -> Floats:
        ratios = np.zeros((len(m), max(self._n_levels) + 1))
        for k, (its, other) in enumerate(zip(m, u, strict=True)):
            ratios[k, 1 : len(its) + 1] = np.log(np.maximum(its, _LEAST)) - np.log(
                np.maximum(other, _LEAST)
            )
        return ratios

    def _counted(self, levels: NDArray[np.uint8]) -> Floats:
        most = max(self._n_levels)
        return np.array(
            [
                np.bincount(levels[:, k], minlength=most + 1)[1:].astype(np.float64)
                for k in range(levels.shape[1])
            ]
        )

    def _others(self, matches: Floats | None) -> list[Floats]:
        """Return the shares of levels among pairs of different people."""
        if self._known_u is not None:
            return list(self._known_u)
        left = self._counts if matches is None else np.maximum(self._counts - matches, 0.0)
        made: list[Floats] = []
        for k, n in enumerate(self._n_levels):
            its = left[k, :n] + 0.5
            made.append(its / its.sum())
        return made

    def _shares(self, sums: Floats, u: Sequence[Floats]) -> list[Floats]:
        """Return the shares of levels among matches, one pair like others added.

        They are the likeliest under which no level says more for a match than a nearer one.
        """
        made: list[Floats] = []
        for k, n in enumerate(self._n_levels):
            its = falling(sums[k, :n] + u[k], u[k])
            made.append(its / its.sum())
        return made


def falling(shares: Floats, others: Floats) -> Floats:
    """Return shares whose ratios to others fall from place to place; their sum stays.

    Neighbours that rise are put together (pool adjacent violators): of all shares with falling
    ratios, these make the given ones likeliest.

    Examples
    --------
    >>> falling(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])).tolist()
    [3.0, 1.5, 1.5]
    """
    pools: list[list[float]] = []
    for share, other in zip(shares.tolist(), others.tolist(), strict=True):
        pools.append([share, other, 1])
        while len(pools) > 1 and pools[-1][0] * pools[-2][1] > pools[-2][0] * pools[-1][1]:
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    ratios = np.repeat(
        [share / other for share, other, _ in pools], [int(size) for _, _, size in pools]
    )
    return ratios * others


def _combinations(levels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the combinations of levels that are found, and the place of each pair among them."""
    found = equal_rows(levels)
    return levels[found.firsts], found.numbers.astype(np.int32)


def _learned_rows(shape: tuple[int, int], candidates: CandidatePairs | None, seed: int) -> Integers:
    """Return the records of the first file to learn from: all, or as many as pairs allow."""
    n_rows, n_columns = shape
    n_pairs = candidates.n_pairs if candidates is not None else n_rows * n_columns
    if n_pairs <= _MOST_LEARNED:
        return np.arange(n_rows)
    order = np.random.default_rng(seed).permutation(n_rows)
    sizes = np.full(n_rows, n_columns) if candidates is None else np.diff(candidates.starts)[order]
    n_taken = max(int(np.searchsorted(np.cumsum(sizes), _MOST_LEARNED, side="right")), 1)
    return np.sort(order[:n_taken])


def _levels(
    comparisons: Sequence[Comparison],
    limits: Limits,
    candidates: CandidatePairs | None,
    learned: Integers,
    progress: Progress | None,
) -> tuple[NDArray[np.uint8], Integers, Integers]:
    """Return the levels of all pairs of some records, where each begins, and its nearest pair."""
    from gamekeeper.algorithms.linkage.kernels import set_levels

    n_columns = comparisons[0].shape[1]
    sizes = (
        np.full(len(learned), n_columns)
        if candidates is None
        else np.diff(candidates.starts)[learned]
    )
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    levels = np.zeros((int(starts[-1]), len(comparisons)), np.uint8)
    cost = np.zeros(len(levels))
    rows = columns = np.zeros(0, np.int64)
    if candidates is not None:
        rows = np.repeat(learned, sizes)
        place = np.arange(len(rows)) - np.repeat(starts[:-1], sizes)
        columns = candidates.columns[np.repeat(candidates.starts[learned], sizes) + place]
        columns = columns.astype(np.int64)
    for k, (comparison, one) in enumerate(zip(comparisons, limits, strict=True)):
        plain = comparison.with_missing(math.nan)
        if candidates is None:
            distances = plain.matrix(learned).ravel()
        else:
            distances = plain.pairs(rows, columns)
        set_levels(levels, k, distances, np.asarray(one, np.float64))
        usable = np.isfinite(distances)
        mean = float(distances[usable].mean()) if usable.any() else 0.0
        if mean > 0:
            cost += np.where(np.isnan(distances), 1.0, distances / mean)
        if progress is not None:
            progress(k + 1, len(comparisons))
    filled = np.flatnonzero(sizes)
    near = np.array(
        [starts[i] + int(np.argmin(cost[starts[i] : starts[i + 1]])) for i in filled], np.int64
    )
    return levels, starts, near
