"""Fellegi-Sunter weights: what agreement in each variable says for a link, learned without truth.

The distance of a pair in each variable falls into a level: 0 up to the first limit, 1 up to the
second, and so on. Pairs are a mixture of matches and non-matches. Within each, the levels of
different variables are taken to be independent; m and u are the probabilities of the levels among
matches and non-matches. They are found by EM from the counts of patterns of levels; u can be taken
from random pairs instead, nearly all of which are non-matches. A missing value says nothing: its
variable is left out for that pair, with weight 0. The weight of a level is log(m / u), a natural
logarithm, and that of a pair the sum over variables.

The independence is an assumption. Variables that err or agree together (a name and its spelling, an
address and its postcode) make weights too large, and probabilities too near to 0 and 1.

Fellegi and Sunter (1969); Winkler (1988). A round of EM costs patterns times variables, whatever
the number of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.level_patterns import (
    LevelPatterns,
    Limits,
    count_patterns,
    default_limits,
    require_limits,
    shares_of_pairs,
)
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.float64]

_ASKED = "Weights of agreement were to be learned from pairs of records."
# A level that EM never sees among matches, or non-matches, gets a weight of about 14 at most.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class FellegiSunterModel:
    """Probabilities of the levels of each variable among matches (m) and non-matches (u).

    Attributes
    ----------
    names, limits
        The variables and the limits between their levels.
    match_share
        The estimated share of matches among the pairs.
    log_likelihood, iterations, converged
        Where EM ended.
    starts_at_best
        How many of the starts ended at the log likelihood that was kept.
    """

    names: tuple[str, ...]
    limits: tuple[tuple[float, ...], ...]
    m: tuple[Floats, ...]
    u: tuple[Floats, ...]
    match_share: float
    log_likelihood: float
    iterations: int
    converged: bool
    n_starts: int
    starts_at_best: int
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

    def probability(self, weight: Floats) -> Floats:
        """Return the probability of a match for pairs of given weights, under the model."""
        log_odds = np.asarray(weight, np.float64) + self._log_prior_odds()
        return 1.0 / (1.0 + np.exp(-np.clip(log_odds, -700, 700)))

    def weight_of(self, probability: float) -> float:
        """Return the weight at which a pair is a match with the given probability."""
        return math.log(probability / (1 - probability)) - self._log_prior_odds()

    def _log_prior_odds(self) -> float:
        share = min(max(self.match_share, 1e-12), 1 - 1e-12)
        return math.log(share / (1 - share))


def fit_fellegi_sunter(
    comparisons: Sequence[Comparison],
    limits: Limits | None = None,
    candidates: CandidatePairs | None = None,
    *,
    u: Literal["random", "joint"] = "random",
    n_random: int = 100_000,
    starts: int = 4,
    max_iterations: int = 2_000,
    tolerance: float = 1e-10,
    seed: int = 0,
    progress: Progress | None = None,
) -> FellegiSunterModel:
    """Learn the weights of agreement from candidate pairs, or from all pairs.

    Parameters
    ----------
    comparisons
        The variables of the two files.
    limits
        For each variable the rising limits of its levels; `default_limits` by default.
    candidates
        The pairs to learn from; all pairs by default.
    u
        "random": u is counted on random pairs of records and kept; blocking does not distort it.
        "joint": u is found by EM together with m.
    n_random, seed
        How many random pairs are drawn, and the seed of these and of the starts.
    starts, max_iterations, tolerance
        EM runs from several starts, the first with 90% agreement among matches, the others at
        random; each until the log likelihood rises by less than `tolerance` of itself. The best is
        kept, in favour of the first where they agree.
    progress
        Told how many blocks of pairs are counted.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_categories
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(1, 11, (6, 200))
    >>> b = np.where(rng.random(a.shape) < 0.1, rng.integers(1, 11, a.shape), a)
    >>> model = fit_fellegi_sunter([compare_categories(x, y) for x, y in zip(a, b, strict=True)])
    >>> round(model.match_share * 200 * 200, -1), model.m[0].round(1), model.u[0].round(1)
    (190.0, array([0.9, 0.1]), array([0.1, 0.9]))
    """
    chosen = [default_limits(c) for c in comparisons] if limits is None else limits
    require_limits(comparisons, chosen)
    patterns = count_patterns(comparisons, chosen, candidates, progress=progress)
    known_u = None
    if u == "random":
        rng = np.random.default_rng(seed)
        n_rows, n_columns = comparisons[0].shape
        pairs = rng.integers(n_rows, size=n_random), rng.integers(n_columns, size=n_random)
        known_u = shares_of_pairs(comparisons, chosen, *pairs)
    return fit_patterns(
        patterns,
        names=[c.name for c in comparisons],
        limits=chosen,
        u=known_u,
        expected_share=min(comparisons[0].shape) / max(float(patterns.counts.sum()), 1.0),
        starts=starts,
        max_iterations=max_iterations,
        tolerance=tolerance,
        seed=seed,
    )


def fit_patterns(
    patterns: LevelPatterns,
    *,
    names: Sequence[str],
    limits: Limits,
    u: Sequence[Floats] | None = None,
    expected_share: float = 0.1,
    starts: int = 4,
    max_iterations: int = 2_000,
    tolerance: float = 1e-10,
    seed: int = 0,
) -> FellegiSunterModel:
    """Fit m, the share of matches and, where it is not given, u to counted patterns by EM."""
    if not len(patterns.counts):
        raise InputError(
            Reason.NOTHING_GIVEN, _ASKED, "There is no pair.", "Block by fewer variables."
        )
    rng = np.random.default_rng(seed)
    margins = _shares(patterns, patterns.counts)
    share = min(max(expected_share, 1e-6), 0.5)
    fits: list[_Fit] = []
    for start in range(max(starts, 1)):
        if start == 0:
            first = [_mostly_agreeing(n) for n in patterns.n_levels]
        else:
            first = [np.sort(rng.dirichlet(np.ones(n)))[::-1] for n in patterns.n_levels]
        fits.append(
            _run_em(patterns, first, u or margins, share, u is None, max_iterations, tolerance)
        )
    most = max(fit.log_likelihood for fit in fits)
    near = [fit for fit in fits if fit.log_likelihood >= most - 1e-6 * abs(most)]
    best = near[0]
    m, found_u, match_share = best.m, best.u, best.share
    if u is None and _agreement(m) < _agreement(found_u):
        m, found_u, match_share = found_u, m, 1 - match_share
    for k in range(len(m)):
        if (patterns.levels[:, k] < 0).all():
            m[k] = found_u[k]
    notes = () if best.converged else (f"EM stopped after {best.iterations:,} rounds.",)
    return FellegiSunterModel(
        tuple(names),
        tuple(tuple(float(limit) for limit in one) for one in limits),
        tuple(m),
        tuple(found_u),
        match_share,
        best.log_likelihood,
        best.iterations,
        best.converged,
        len(fits),
        len(near),
        notes,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    m: list[Floats]
    u: list[Floats]
    share: float
    log_likelihood: float
    iterations: int
    converged: bool


def _run_em(
    patterns: LevelPatterns,
    m: Sequence[Floats],
    u: Sequence[Floats],
    share: float,
    learns_u: bool,
    max_iterations: int,
    tolerance: float,
) -> _Fit:
    m, u = list(m), list(u)
    total = float(patterns.counts.sum())
    before = -math.inf
    iterations, converged = 0, False
    log_m, log_u = _log_probabilities(patterns, m), _log_probabilities(patterns, u)
    while True:
        with np.errstate(divide="ignore"):
            left = np.log(share) + log_m
            both = np.logaddexp(left, np.log1p(-share) + log_u)
        now = float(patterns.counts @ both)
        converged = now - before <= tolerance * abs(now)
        if converged or iterations >= max_iterations:
            return _Fit(m, u, share, now, iterations, converged)
        before = now
        iterations += 1
        matches = patterns.counts * np.exp(left - both)
        share = min(float(matches.sum()) / total, 1.0)
        m = _shares(patterns, matches, m)
        log_m = _log_probabilities(patterns, m)
        if learns_u:
            u = _shares(patterns, patterns.counts - matches, u)
            log_u = _log_probabilities(patterns, u)


def _log_probabilities(patterns: LevelPatterns, shares: Sequence[Floats]) -> Floats:
    total = np.zeros(len(patterns.counts))
    for k, values in enumerate(shares):
        # A level that has died out stays possible enough for the logarithm to be finite.
        logs = np.append(np.log(np.maximum(values, 1e-300)), 0.0)
        total += logs[patterns.levels[:, k]]
    return total


def _shares(
    patterns: LevelPatterns, weights: Floats, otherwise: Sequence[Floats] | None = None
) -> list[Floats]:
    """Return the share of each level among pairs where the variable is known."""
    found: list[Floats] = []
    for k, n_levels in enumerate(patterns.n_levels):
        sums = np.bincount(patterns.levels[:, k] + 1, weights, n_levels + 1)[1:]
        sums = np.maximum(sums, 0.0)
        known = float(sums.sum())
        if known > 0:
            found.append(sums / known)
        else:
            found.append(np.full(n_levels, 1 / n_levels) if otherwise is None else otherwise[k])
    return found


def _agreement(shares: Sequence[Floats]) -> float:
    return float(sum(np.log(max(values[0], _FLOOR)) for values in shares))


def _mostly_agreeing(n_levels: int) -> Floats:
    return np.array([0.9, *([0.1 / (n_levels - 1)] * (n_levels - 1))])
