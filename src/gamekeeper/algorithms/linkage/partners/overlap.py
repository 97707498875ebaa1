"""How many people are in both of two files: by fitted weights, and by what each file says of itself.

Two estimates that err in different directions, and a bound.

- **By weights**: the expected number of records with a partner under the fitted model. Where
  variables agree together among different people more often than their product says, it is too
  large.
- **By each file itself**: two records of one file are two people, if nobody is there twice. So the
  pairs within the files show how often different people reach a weight, whatever the dependence
  between variables. With T pairs between the files at a weight or above, and D to be expected of
  different people, T - D are matches; those below the weight are missing. People who are in one
  file twice make it too small, and so do values that were made alike in one file.

- **By margins** (`margin_evidence`): at least so many have a partner, as they are farther ahead than
  records are within their file.

The interval takes in both: from what the files themselves leave at the least, with Poisson limits of
D, or two standard errors below the estimate by weights where that is lower, up to the larger of the
two estimates with its error. Neither sees a match that agrees in nothing. A pair costs one comparison
with a limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.fellegi_sunter import FellegiSunterModel

Floats = NDArray[np.float64]

_Z = 1.959963984540054
_DRAWN = 20_000
_GRID = 400
_DEEP = 3
# By themselves the files tell of the matches above a weight: of the others, if these are few.
_SEEN = 0.5
_SMALLEST = 1e-3


@dataclass(frozen=True, slots=True)
class OverlapEstimate:
    """How many people are in both files.

    Attributes
    ----------
    estimate, low, high
        The number, and an interval at 95% that takes in both ways.
    by_weights
        What the fitted weights say. It is the estimate where the files themselves leave as many, or
        else the least that they leave is.
    is_by_weights
        Whether the files themselves agree with the weights, so that these can be believed.
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

    Parameters
    ----------
    shape
        The numbers of records.
    evidence
        For each record of the first file the sum of m / u over its candidates, and their number.
    between
        Costs of pairs between the files: the least ones suffice, as many as `deepest` says.
    within
        Costs of pairs within the files, as far as they are not larger; None where there are none.
    n_between, n_within
        How many pairs between the files, and how many within them, these are the least costs of.
    model, known
        The weights that these costs are of, and how often both values of each variable are known.
    at_least
        How many are in both by the margins of records (`margin_evidence`).
    made_alike
        Whether records of a file were made alike, as by microaggregation: then matches come no
        nearer than others, and all may be in both.
    blurred
        Whether weights rest on numbers in which matches hardly ever agree, as where noise was added:
        where the files do not agree with the weights then, these may miss any number of matches.
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
    above += above * (1 - share) + _Z * math.sqrt(above * (1 - share))
    above = min(above, most)
    # Where more are there than the weights say, these miss matches, and nobody knows how many.
    misses = at_least > number + _Z * error
    agree = share >= _SEEN and number <= above and least > 0 and not (misses or made_alike)
    least = min(max(least, at_least), most)
    is_open = misses or made_alike or (blurred and not agree)
    return OverlapEstimate(
        max(number, least) if agree else least,
        max(math.floor(least if misses else min(number - _Z * error, least)), 0),
        most if is_open else min(math.ceil(max(number + _Z * error, above)), most),
        number,
        agree,
    )


def number_by_weights(sums: Floats, candidates: Floats) -> tuple[float, float]:
    """Return the expected number of records with a partner, and its standard error.

    The odds of a pair are the likeliest by the sum of m / u over the candidates of each record. The
    error has what single records leave open, and what is not known of the odds; not that of m and u.

    Examples
    --------
    >>> number, error = number_by_weights(np.array([1e9, 1e9, 1e-9]), np.full(3, 10.0))
    >>> round(number, 6), round(error, 3)
    (2.0, 0.0)
    """
    from gamekeeper.algorithms.linkage.partners.partner_kernels import likeliest_odds

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
    return np.maximum(fewest - _Z * np.sqrt(fewest), 0.0), largest + _Z * np.sqrt(largest)
