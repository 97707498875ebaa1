"""How many people are in both files, whether nearest records are partners, how likely links are.

**How many**: two estimates that err in different directions, and a bound.

- By weights: the expected number of records with a partner under the fitted model. Where variables
  agree together among different people more often than their product says, it is too large.
- By each file itself: two records of one file are two people, if nobody is there twice. So the
  pairs within the files show how often different people reach a weight, whatever the dependence
  between variables. With T pairs between the files at a weight or above, and D to be expected of
  different people, T - D are matches; those below the weight are missing. People who are in one
  file twice make it too small, and so do values that were made alike in one file.
- By margins: at least so many have a partner, as they are farther ahead than records are within
  their file.

The interval takes in both: from what the files themselves leave at the least, with Poisson limits
of D, or two standard errors below the estimate by weights where that is lower, up to the larger of
the two estimates with its error. Neither sees a match that agrees in nothing. A pair costs one
comparison with a limit.

**Margins**: the margin of a record is the cost of its second nearest candidate less that of its
nearest. Somebody without a partner is as far ahead by chance as a record is within its own file,
the record itself left out: there nobody has a partner. That holds where values of one file are
blurred as well. Costs are larger between blurred values and true ones than within the true file, so
that counting pairs up to a cost shows nothing; margins hardly change.

With a share r of margins of at least t within the files and K of n between them, at most n r + N (1
- r) of these K are to be expected if N have a partner: so N is at least (K - n r) / (1 - r). The
largest of these over t is taken, with r at its upper limit (0.999, of the file where it is larger)
and two standard errors. A margin is of somebody without a partner with a probability of at most (n
- N) f0 / f, where f0 and f are the densities of margins within and between the files (Efron's local
false discovery rate); their ratio is fitted so that it falls with the margin. Where records of one
file were made alike, as by microaggregation, margins within that file are too small: then no number
of partners follows. B. Efron, Large-scale inference (2010), chapter 5.

**Links**: every set of one-to-one links has the product of the odds of its pairs as its weight; the
probability of a pair is the share of the sets that have it. A candidate that most likely belongs to
another record hardly competes, which sums of odds by row and column do not know. Exact marginals
are out of reach (they are permanents); messages are passed between records and candidates until
they settle:

    a_ij = 1 / (1 + sum over k != j of odds_ik b_kj),   and b_ij likewise by columns,
    P(ij) = odds_ij a_ij b_ij / (1 + odds_ij a_ij b_ij),

where a_ij is how likely i is free if j is left out. That is exact where the pairs form no cycle,
and settles for one-to-one links in any case (P. O. Vontobel, The Bethe permanent of a nonnegative
matrix, 2013). A round costs two looks at each pair. Pairs that together have less than a hundredth
of the odds of a record are not followed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.fellegi_sunter import FellegiSunterModel, falling
from gamekeeper.algorithms.statistics import Z_95

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]

_DRAWN = 20_000
_GRID = 400
_DEEP = 3
# By themselves the files tell of the matches above a weight: of the others, if these are few.
_SEEN = 0.5
_SMALLEST = 1e-3


@dataclass(frozen=True, slots=True)
class OverlapEstimate:
    """How many people are in both files, and an interval at 95% that takes in both ways.

    What the fitted weights say, `by_weights`, is the estimate where the files themselves leave as
    many, or else the least that they leave is; `is_by_weights` says whether the files agree with
    the weights, so that these can be believed.
    """

    estimate: float
    low: int
    high: int
    by_weights: float
    is_by_weights: bool = False

    def odds(
        self, n_first: int, n_second: int, n_pairs: int | None = None, *, at_most: bool = False
    ) -> float:
        """Return the odds of a pair that nothing is known of, given that others are linked.

        Among one-to-one links of N records, there are N ways to take a link out and as many as
        pairs of unlinked records to put one in: that pair again, or another that blocking left, of
        `n_pairs` candidates (all pairs by default). With `at_most`, N is the end of the interval.
        """
        number = min(max(self.high if at_most else self.estimate, 0.5), n_first, n_second)
        others = (n_first - number + 1.0) * (n_second - number + 1.0) - 1.0
        compared = 1.0 if n_pairs is None else n_pairs / max(n_first * n_second, 1)
        return number / (1.0 + compared * others)


def estimate_overlap(
    shape: tuple[int, int],
    evidence: tuple[Floats, Floats],
    between: Floats,
    within: Floats | None,
    n_between: int,
    n_within: int,
    model: FellegiSunterModel,
    known: Floats,
    at_least: float = 0.0,
    made_alike: bool = False,
    blurred: bool = False,
) -> OverlapEstimate:
    """Estimate the number of people in both files.

    - `evidence`: for each record of the first file the sum of m / u over its candidates, and their
      number.
    - `between`: costs of pairs between the files: the least ones suffice, as many as `deepest`
      says.
    - `within`: costs of pairs within the files, as far as they are not larger; None where there are
      none.
    - `n_between`, `n_within`: of how many pairs these are the least costs.
    - `model`, `known`: the weights behind these costs, and how often both values of each variable
      are known.
    - `at_least`: how many are in both by the margins of records (`margin_evidence`).
    - `made_alike`: whether records of a file were made alike, as by microaggregation: then matches
      come no nearer than others, and all may be in both.
    - `blurred`: whether weights rest on numbers in which matches hardly ever agree, as where noise
      was added: where the files do not agree with the weights then, these may miss any number of
      matches.
    """
    most = min(shape)
    number, error = number_by_weights(*evidence)
    number = min(number, most)
    if within is None or not len(between):
        return OverlapEstimate(number, 0, most, number)
    costs = np.sort(between)
    apart = np.sort(within)
    limits = _limits(costs, most)
    counts = np.searchsorted(costs, limits, side="right")
    others = np.searchsorted(apart, limits, side="right")
    times = n_between / max(n_within, 1)
    fewest, largest = _poisson(others, times)
    # Of the pairs between the files, all but the matches are of different people.
    lowest = (counts - largest) / np.maximum(1 - largest / n_between, _SMALLEST)
    best = int(np.argmax(lowest))
    least = min(max(float(lowest[best]), 0.0), most)
    share = found_share(model, known, limits[best])
    chance = float(fewest[best])
    above = max(float(counts[best] - chance), 0.0) / max(share - chance / n_between, _SMALLEST)
    # What cannot be seen may be twice what the model says of it.
    above += above * (1 - share) + Z_95 * math.sqrt(above * (1 - share))
    above = min(above, most)
    # Where more are there than the weights say, these miss matches, and nobody knows how many.
    misses = at_least > number + Z_95 * error
    agree = share >= _SEEN and number <= above and least > 0 and not (misses or made_alike)
    least = min(max(least, at_least), most)
    is_open = misses or made_alike or (blurred and not agree)
    return OverlapEstimate(
        max(number, least) if agree else least,
        max(math.floor(least if misses else min(number - Z_95 * error, least)), 0),
        most if is_open else min(math.ceil(max(number + Z_95 * error, above)), most),
        number,
        agree,
    )


def number_by_weights(sums: Floats, candidates: Floats) -> tuple[float, float]:
    """Return the expected number of records with a partner, and its standard error.

    The odds of a pair are the likeliest by the sum of m / u over the candidates of each record. The
    error has what single records leave open, and what is not known of the odds; not that of m and
    u.

    Examples
    --------
    >>> number, error = number_by_weights(np.array([1e9, 1e9, 1e-9]), np.full(3, 10.0))
    >>> round(number, 6), round(error, 3)
    (2.0, 0.0)
    """
    from gamekeeper.algorithms.linkage.kernels import likeliest_odds

    used = candidates > 0
    sums, candidates = sums[used], candidates[used]
    if not sums.size:
        return 0.0, 0.0
    odds = likeliest_odds(sums, candidates, 1.0 / float(candidates.mean()), 1e-15, 1e9)
    having = 1.0 - 1.0 / (1.0 + odds * sums)
    open_ = float((having * (1.0 - having)).sum())
    prior = odds * candidates / (1.0 + odds * candidates)
    known = float(((having - prior) ** 2).sum())
    return float(having.sum()), math.sqrt(open_ + (open_**2 / known if known > 0 else 0.0))


def found_share(model: FellegiSunterModel, known: Floats, cost: float) -> float:
    """Return the share of matches that cost no more, under the model, by drawing 20,000."""
    rng = np.random.default_rng(0)
    drawn = np.full(_DRAWN, model.largest_weight)
    for m, weights, share in zip(model.m, model.weights, known, strict=True):
        levels = rng.choice(len(m), _DRAWN, p=m / m.sum())
        drawn -= np.where(rng.random(_DRAWN) < share, weights[levels], 0.0)
    return max(float((drawn <= cost + 1e-9).mean()), 1 / _DRAWN)


def deepest(most: int) -> int:
    """Return of how many pairs between the files the costs are needed."""
    return _DEEP * max(most, 1)


def _limits(costs: Floats, most: int) -> Floats:
    """Return costs up to which pairs are counted: some for each size of the overlap."""
    numbers = np.linspace(1, min(len(costs), deepest(most)), _GRID).astype(np.int64)
    limits = np.unique(costs[numbers - 1])
    # Of the last cost, some pairs may have been left out.
    inner = limits[limits < costs[-1]]
    return inner if inner.size else limits


def _poisson(counts: NDArray[np.integer], times: float) -> tuple[Floats, Floats]:
    """Return limits of how many pairs of different people there are between the files."""
    # Quantiles of chi squared; scipy.stats has them too, and takes a second to import.
    from scipy.special import gammaincinv

    fewest = times * np.where(counts > 0, gammaincinv(np.maximum(counts, 1), 0.001), 0.0)
    largest = times * gammaincinv(counts + 1, 0.999)
    return np.maximum(fewest - Z_95 * np.sqrt(fewest), 0.0), largest + Z_95 * np.sqrt(largest)


_MARGIN_GRID = 200
_SURE = 0.999
_MARGIN_ERRORS = 2.0
_FEWEST = 20
_SMALL = 0.25


@dataclass(frozen=True, eq=False)
class MarginEvidence:
    """What margins say of partners: how many records of the first file have one at the least.

    The probability of being of somebody without a partner is in `shares`, for margins from each
    start on.
    """

    least: float
    starts: Floats = field(repr=False)
    shares: Floats = field(repr=False)

    def wrong(self, margins: Floats) -> Floats:
        """Return the probability that each margin is of somebody without a partner."""
        place = np.searchsorted(self.starts, margins, side="right") - 1
        return np.where(place < 0, 1.0, self.shares[np.maximum(place, 0)])


def margin_evidence(
    between: Floats,
    within: tuple[Floats, Floats],
    *,
    n_records: int,
    counts: bool = True,
    by_small: bool = False,
    alike: float = 1.0,
) -> MarginEvidence | None:
    """Hold margins between two files against those within each; None where there are too few.

    `n_records` are in the first file, of which `between` may be a part. Without `counts`, as where
    records were made alike, no partner is taken to be certain. With `by_small`, how many are alone
    is estimated from small margins for the shares, and not for the number of partners. So many
    records go together as `alike` says, and count as one for errors.

    Examples
    --------
    >>> apart = np.linspace(0, 1, 100)
    >>> found = margin_evidence(np.append(apart, np.full(100, 9.0)), (apart, apart), n_records=200)
    >>> 80 < found.least <= 100, found.wrong(np.array([0.1, 9.0])).round(1).tolist()
    (True, [1.0, 0.0])
    """
    between = between[np.isfinite(between)]
    sides = [side[np.isfinite(side)] for side in within]
    if min(map(len, (between, *sides))) < _FEWEST:
        return None
    number = least_partners(between, sides, alike) if counts else 0.0
    n_alone = len(between) - number
    if by_small:
        n_alone = min(n_alone, alone_by_small(between, np.concatenate(sides), alike))
    starts, shares = _falling_shares(between, np.concatenate(sides), n_alone)
    return MarginEvidence(number * n_records / len(between), starts, shares)


def least_partners(between: Floats, sides: list[Floats], alike: float = 1.0) -> float:
    """Return how many records have a partner at the least."""
    from scipy.special import betaincinv

    n = len(between)
    limits = np.unique(np.quantile(between, np.linspace(0, 1, _MARGIN_GRID)))
    counts = _at_least(between, limits)
    rates = np.zeros(len(limits))
    for side in sides:
        reached = _at_least(side, limits) / alike
        others = len(side) / alike - reached
        has_others = others * alike > 0.5
        upper = betaincinv(reached + 1.0, np.where(has_others, others, 1.0), _SURE)
        upper = np.where(has_others, upper, 1.0)
        rates = np.maximum(rates, upper)
    usable = rates < 1.0
    if not usable.any():
        return 0.0
    counts, rates = counts[usable], rates[usable]
    by_chance = n * rates + _MARGIN_ERRORS * np.sqrt(alike * n * rates * (1 - rates))
    return max(float(((counts - by_chance) / (1 - rates)).max()), 0.0)


def alone_by_small(between: Floats, within: Floats, alike: float = 1.0) -> float:
    """Return how many records are alone at the most, by how many have small margins.

    A quarter of the margins within the files are below some limit, and so are a quarter of those
    alone. Others with small margins are counted besides, so that the number is rather too large;
    one standard error is added. (Storey's estimate of the share of true hypotheses.)

    Examples
    --------
    >>> apart = np.linspace(0, 1, 100)
    >>> round(alone_by_small(np.append(apart, np.full(100, 9.0)), apart))
    120
    """
    limit = float(np.quantile(within, _SMALL))
    n_small = int(np.count_nonzero(between <= limit))
    share = float(np.count_nonzero(within <= limit)) / len(within)
    return (n_small + math.sqrt(alike * n_small)) / max(share, _SMALL)


def _at_least(values: Floats, limits: Floats) -> NDArray[np.int64]:
    return len(values) - np.searchsorted(np.sort(values), limits, side="left")


def _falling_shares(between: Floats, within: Floats, n_alone: float) -> tuple[Floats, Floats]:
    """Return shares of those alone that fall with the margin, and the margins they begin at."""
    values, places = np.unique(np.concatenate((between, within)), return_inverse=True)
    ours = np.bincount(places[: len(between)], minlength=len(values)).astype(np.float64)
    theirs = np.bincount(places[len(between) :], minlength=len(values)).astype(np.float64)
    theirs *= n_alone / len(within)
    # One of those alone may be as far ahead as anybody: few that are farthest ahead prove nothing.
    theirs[-1] += 1.0
    # So that no ratio is infinite where nobody between the files is.
    ours += 1e-9
    ratios = np.clip(falling(theirs, ours) / ours, 0.0, 1.0)
    # Rounding must not make them rise.
    return values, np.minimum.accumulate(ratios)


def margins_of(best: Floats, second: Floats) -> Floats:
    """Return second least less least costs; NaN where there are no two candidates.

    Examples
    --------
    >>> margins_of(np.array([1.0, 2.0]), np.array([4.0, math.inf])).tolist()
    [3.0, nan]
    """
    with np.errstate(invalid="ignore"):
        found = second - best
    return np.where(np.isfinite(found), found, math.nan)


_SMALL_SHARE = 1e-2
_SETTLED = 1e-2
_MOST_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class LinkMarginals:
    """The pairs that are followed, row by row, and the probability of each."""

    rows: Integers = field(repr=False)
    columns: Integers = field(repr=False)
    probabilities: Floats = field(repr=False)

    def of_links(self, columns: Integers) -> Floats:
        """Return the probability of the pair of each row and its column; 0 where not followed."""
        found = np.zeros(len(columns))
        hit = columns[self.rows] == self.columns
        found[self.rows[hit]] = self.probabilities[hit]
        return found


def least_odds(sums: Floats, candidates: Floats) -> Floats:
    """Return from which odds on pairs are followed, of the odds of all pairs of each record.

    Examples
    --------
    >>> least_odds(np.array([9.0, 99.0]), np.array([10.0, 10.0])).tolist()
    [0.01, 0.1]
    """
    return _SMALL_SHARE * (1.0 + sums) / np.maximum(candidates, 1.0)


def link_marginals(
    rows: Integers, columns: Integers, odds: Floats, shape: tuple[int, int]
) -> LinkMarginals:
    """Work out the probability of each pair, until none changes by more than 0.01.

    `rows`, `columns` and `odds` are the pairs that are followed, in the order of their rows.

    Examples
    --------
    >>> one = np.array([0])
    >>> link_marginals(one, one, np.array([3.0]), (1, 1)).probabilities
    array([0.75])
    """
    from gamekeeper.algorithms.linkage.kernels import pass_messages

    starts = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int64)
    room = np.zeros((2, shape[1])), np.zeros(shape[1], np.int64)
    by_row, by_column, found = np.ones(len(odds)), np.ones(len(odds)), np.zeros(len(odds))
    for _ in range(_MOST_ROUNDS):
        if pass_messages(starts, columns, odds, by_row, by_column, found, *room) <= _SETTLED:
            break
    return LinkMarginals(rows, columns, found)
