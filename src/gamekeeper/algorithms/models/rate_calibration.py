"""From expected counts to true rates: how often a record like this one has a twin in the sample.

**What rate is usual.** Models that expect e^x records of a class are believed by less than they
say, and by the less the rarer the class: what they expect of a class that hardly anybody should
have is the product of margins with a record or two each, the record's own among them. So log E[r |
no twin] does not rise as x does. Over 164 settings of seven populations (three sets of 6 to 15 key
variables, samples of 1% and 5%, each with a level of its own) its slope was 0.6 to 0.7 below x =
-8, 0.84 to 0.96 from -2.5 to 0, and above 1 it fell again, since a record without a twin can hardly
have a large rate. At 1% and at 5% the curve was much the same, and so it was whichever population
was left out, but for the low end, with 0.5 to 0.8.

The curve has the slopes 0.7, 0.92, 0.92 and 0.75 at x = -8, -2, 0 and 1.5, straight lines between
them, and the same slope beyond; it is 0 at 0. At the low end it is a little steeper than was found,
since probabilities of single records were too timid otherwise.

**What the file says.** Models are fitted to the sample they describe and leave things out, so the
expected count n p of a class is off by a factor that varies with p. The sample itself tells how:
seen from one record, the number y = f - 1 of other records of its class is a count with some rate
r, and by Bayes' rule

    P(y = 1 | x) / P(y = 0 | x) = E[r | y = 0, x]

for any distribution of r, where x = log(n p) is taken with each class counted as one record, so
that it does not know y. A class of two is seen by two records, so that among classes the odds of a
pair against a unique are half of that: a logistic regression over the classes of one and two, each
an observation of its own. With z for the log of the rate that is usual at x,

    log E[r | y = 0] = level + m + slope (z - m),

m being the mean of z weighted by e^z, where pairs are to be expected. Sampling from the
population at the fraction pi, a sample unique then has (1 - pi)/pi E[r | y = 0] other people in its
class on average. Summed over the sample uniques this is nearly the estimate of DIS; the regression
spreads it over them.

With few pairs the level is a guess, so it has a prior. Over 246 settings of seven populations (6 to
15 key variables, samples of 1%, 5% and 10%) the true level was 0.20 to 0.28 on average, whichever
population was left out, with a standard deviation of 0.24 to 0.32. The prior has 0.2 and 0.3, which
says as much as a dozen pairs. Near twins, records that agree on all variables but one, sharpen that
(`merged_classes`). A small part of the prior is a Cauchy law for files that are not like that. The
slope has a prior around 1 with a deviation of 0.07: pairs are where rates are high, and what they
say of the slope there is not so of low rates.

**Repeats.** People who have several records make pairs whatever the key: they add a rate of repeats
to that of the line, the same for all records, and pairs of keys that hardly anybody should share
tell it. In a small sample few pairs are repeats, while most uniques may be of people with other
records outside: where the sample cannot tell, the intervals must hold with repeats and without, and
the estimate should not suffer from what is rarely so. So repeats have a prior of 0.2 for intervals,
and lines with repeats count for as much less in the means as a prior of 0.03 would have it. A
person's other records number 0.1 to 4 in the mean, in equal steps of the logarithm. Nor is the law
of repeats true: a few people who happen to be alike in every way, whatever the key, look like a
whole file of repeats. So where repeats are likely or not excluded (`repeats_in_question`), the
posterior is made for two readings as well, that nobody has several records and that people have
(`RepeatLaw.readings`), and intervals span both (`population_model`).

The posterior is computed on a grid that closes in on where it is. Nothing is taken at its most
likely value: what is inferred is averaged over `lines` of the posterior, and intervals come from
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PLACES = (-8.0, -2.0, 0.0, 1.5)
_SLOPES = (0.7, 0.92, 0.92, 0.75)


def usual_log_rates(log_expected: Floats) -> Floats:
    """Return the log of the usual rate of twins for each log of an expected count.

    Examples
    --------
    >>> usual_log_rates(np.array([-8.0, -2.0, 0.0, 1.0])).round(3)
    array([-6.7  , -1.84 ,  0.   ,  0.863])
    """
    return _area(log_expected) - _area(np.zeros(1))


def _area(x: Floats) -> Floats:
    """Return the integral of the slope up to x, from its first place."""
    first, last = _PLACES[0], _PLACES[-1]
    total = np.minimum(x - first, 0.0) * _SLOPES[0] + np.maximum(x - last, 0.0) * _SLOPES[-1]
    for low, high, start, end in zip(
        _PLACES[:-1], _PLACES[1:], _SLOPES[:-1], _SLOPES[1:], strict=True
    ):
        along = np.clip(x, low, high) - low
        total += along * (start + (end - start) / (high - low) * along / 2)
    return total


_USUAL_SLOPE = 1.0
_SLOPE_DEVIATION = 0.07
_USUAL_LEVEL = 0.2
_LEVEL_DEVIATION = 0.3
# Of the prior, for files that are not like others: with more pairs than that, and with fewer.
_UNLIKE_ABOVE, _UNLIKE_BELOW = 0.03, 0.03
_REPEATED, _REPEATED_IN_MEANS = 0.2, 0.03
_LEAST_OTHERS, _MOST_OTHERS = 0.1, 4.0
_RATES_OF_REPEATS = 8
# Of means, a line with repeats has this part of the weight of one without.
_IN_MEANS = _REPEATED_IN_MEANS / (1 - _REPEATED_IN_MEANS) * (1 - _REPEATED) / _REPEATED
N_LINES = 96
_PLASTIC = 0.7548776662466927
_BINS_PER_UNIT = 20
_COARSE = 0.25
_FIRST_REACH = 10.0
_LEVELS, _GRID_SLOPES = 60, 14
_ROUNDS = 3
_TAIL = 0.001
_FINEST = 50
_NEVER = 1e-300
_LARGEST_LOG_ODDS = 600.0
# A record without a twin can hardly have a rate above e^3; a line would go on.
LARGEST_LOG_RATE = 3.0
_LIKELY = 0.5
# Intervals of 95% notice what has half of the rest.
_NOT_EXCLUDED = 0.025


@dataclass(frozen=True, slots=True)
class LevelPrior:
    """What is thought of the level before pairs are counted.

    Most of it is a normal law, with this mean and deviation; the rest is a Cauchy law, of more
    weight above than below. It rests on `n_near` near twins; on other populations alone where that
    is 0.
    """

    mean: float = _USUAL_LEVEL
    deviation: float = _LEVEL_DEVIATION
    n_near: int = 0

    def heights(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return the densities of the normal and of the Cauchy part."""
        z = (levels - self.mean) / self.deviation
        like = 1 - _UNLIKE_ABOVE - _UNLIKE_BELOW
        normal = like * np.exp(-0.5 * z * z) / (self.deviation * np.sqrt(2 * np.pi))
        unlike = np.where(z > 0, _UNLIKE_ABOVE, _UNLIKE_BELOW)
        cauchy = unlike * 2 / (np.pi * (1 + (levels - self.mean) ** 2))
        return normal, cauchy


@dataclass(frozen=True, slots=True)
class RepeatLaw:
    """What is thought of the rate of repeats: how many twins a record has that are the same person.

    Rates are given no twin, 0 first (nobody has several records), with their probabilities.
    """

    rates: tuple[float, ...] = (0.0,)
    weights: tuple[float, ...] = (1.0,)

    @classmethod
    def usual(cls, fraction: float) -> RepeatLaw:
        """Return the law before pairs are counted, for a sample of a fraction of the records.

        Examples
        --------
        >>> law = RepeatLaw.usual(0.1)
        >>> law.weights[0], round(law.rates[1], 4), round(law.rates[-1], 4)
        (0.8, 0.01, 0.4)
        """
        if fraction >= 1:
            return cls()
        rates = fraction * np.geomspace(_LEAST_OTHERS, _MOST_OTHERS, _RATES_OF_REPEATS)
        each = _REPEATED / _RATES_OF_REPEATS
        return cls((0.0, *rates.tolist()), (1 - _REPEATED, *[each] * _RATES_OF_REPEATS))

    @property
    def readings(self) -> tuple[RepeatLaw, ...]:
        """The two laws that it mixes: that nobody has several records, and that people have.

        Examples
        --------
        >>> nobody, some = RepeatLaw.usual(0.1).readings
        >>> nobody.rates, min(some.rates) > 0, round(sum(some.weights), 10)
        ((0.0,), True, 1.0)
        """
        some = self.possible
        if not some:
            return (self,)
        return RepeatLaw(), RepeatLaw(self.rates[1:], tuple(w / some for w in self.weights[1:]))

    @property
    def likely(self) -> float:
        """The probability that people have several records, as the means have it."""
        repeated = _IN_MEANS * self.possible
        nobody = sum(w for rate, w in zip(self.rates, self.weights, strict=True) if not rate)
        return repeated / (repeated + nobody) if repeated else 0.0

    @property
    def possible(self) -> float:
        """The same as the intervals have it."""
        return sum(w for rate, w in zip(self.rates, self.weights, strict=True) if rate)

    @property
    def mean(self) -> float:
        """The expected rate, as the means have it."""
        some = self.possible
        if not some:
            return 0.0
        return self.likely * float(np.dot(self.rates, self.weights)) / some


@dataclass(frozen=True, slots=True, repr=False)
class RateCalibration:
    """The posterior of the line log E[r | no twin, no repeats] = intercept + slope * z.

    Intercept and slope are those of the mean line. `lines` (intercept, slope, rate of repeats)
    stand for the posterior, each for as much of it. `n_uniques` and `n_pairs` are the classes of
    one and of two records that it rests on, `prior` is what was thought of the level before.
    `unlike` is the probability that the file is not like others: the weight of the Cauchy part.
    `repeats` is what is known of their rate.
    """

    intercept: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    lines: tuple[tuple[float, float, float], ...]
    n_uniques: int
    n_pairs: int
    prior: LevelPrior
    unlike: float
    repeats: RepeatLaw

    @property
    def repeats_likely(self) -> bool:
        """Whether people seem to have several records, or the file is like no other."""
        return self.repeats.likely > _LIKELY or self.unlike > _LIKELY

    @property
    def repeats_in_question(self) -> bool:
        """Whether the file leaves it open if people have several records, and that matters."""
        may = len(self.repeats.rates) > 1
        return may and (self.repeats_likely or self.repeats.possible > _NOT_EXCLUDED)

    @property
    def shares(self) -> Floats:
        """The weights of the lines in means."""
        weights = np.array([_IN_MEANS if rate else 1.0 for _, _, rate in self.lines])
        return weights / weights.sum()

    def __repr__(self) -> str:
        return f"RateCalibration(intercept {self.intercept:.3f}, slope {self.slope:.3f})"

    def log_rates(self, log_usual: Floats) -> Floats:
        """Return log E[r | no twin] for values of z by the mean line."""
        return np.minimum(self.intercept + self.slope * log_usual, LARGEST_LOG_RATE)

    def deviations(self, log_usual: Floats) -> Floats:
        """Return how far the line is from known at values of z."""
        (across, both), (_, along) = self.covariance
        variance = across + 2 * both * log_usual + along * log_usual**2
        return np.sqrt(np.maximum(variance, 0.0))


def calibrate_rates(
    log_usual: Floats,
    counts: NDArray[np.integer[Any]],
    prior: LevelPrior | None = None,
    repeats: RepeatLaw | None = None,
) -> RateCalibration:
    """Return the posterior of the line, from the classes of one and two records.

    `log_usual` is z of each class: the log of the rate that is usual for its expected count under
    the models, its own records counted as one. The prior of the level is that of other populations
    if not given, and without `repeats` there are none.

    Examples
    --------
    >>> z = np.log(np.array([0.1, 0.1, 0.1, 0.1, 2.0, 2.0, 2.0]))
    >>> fitted = calibrate_rates(z, np.array([1, 1, 1, 1, 2, 2, 1]))
    >>> fitted.n_uniques, fitted.n_pairs, 0.7 < fitted.slope < 1.3
    (5, 2, True)
    """
    prior, law = prior or LevelPrior(), repeats or RepeatLaw()
    used = counts <= 2
    if np.isnan(log_usual[used]).any():
        raise ArithmeticError(f"the calibration did not converge on {used.sum():,} classes")
    z, (n_classes, pairs) = binned(log_usual[used], np.ones(used.sum()), counts[used] == 2)
    middle, rough = _middle(z, n_classes, float(pairs.sum()))
    step = _FIRST_REACH + abs(rough)
    levels = np.arange(-step, step + _COARSE, _COARSE)
    slopes = _USUAL_SLOPE + _SLOPE_DEVIATION * np.linspace(-4, 4, _GRID_SLOPES)
    rates, some = np.array(law.rates), pairs > 0
    weights = np.ones((1, 1, 1))
    for last in range(_ROUNDS):
        if last:
            levels, slopes = (
                _closer(levels, weights.sum(axis=(1, 2)), _LEVELS),
                _closer(slopes, weights.sum(axis=(0, 2)), _GRID_SLOPES),
            )
        heights = np.empty((len(levels), len(slopes), len(rates)))
        # Grids are dense where most of the posterior is, so that points stand for stretches.
        heights[:] = np.log(sum(prior.heights(levels)) * np.gradient(levels))[:, None, None]
        heights += np.log(np.gradient(slopes))[:, None]
        heights += np.log(np.maximum(law.weights, _NEVER))
        heights -= 0.5 * (((slopes - _USUAL_SLOPE) / _SLOPE_DEVIATION) ** 2)[:, None]
        for at, slope in enumerate(slopes.tolist()):
            line = middle + slope * (z - middle) - np.log(2)
            log_odds = levels[:, None] + line
            odds = np.exp(np.minimum(log_odds, _LARGEST_LOG_ODDS))
            for place, rate in enumerate(law.rates):
                # Without repeats by logarithms, since odds may be as small as e^-1000.
                seen = np.log(odds[:, some] + rate / 2) if rate else log_odds[:, some]
                heights[:, at, place] += seen @ pairs[some]
                heights[:, at, place] -= np.log1p(odds + rate / 2) @ n_classes
        weights = np.exp(heights - heights.max())
        weights /= weights.sum()
    of_level, of_lines = weights.sum(axis=(1, 2)), weights.sum(axis=2)
    normal, cauchy = prior.heights(levels)
    unlike = float(of_level @ (cauchy / (normal + cauchy)))
    start = levels[:, None] + (1 - slopes) * middle
    intercept, slope = float((of_lines * start).sum()), float((of_lines * slopes).sum())
    off, tilt = start - intercept, np.broadcast_to(slopes - slope, of_lines.shape)
    across, both, along = (
        float((of_lines * part).sum()) for part in (off * off, off * tilt, tilt * tilt)
    )
    # In order of repeats, then of levels; slopes mixed.
    place, row = np.divmod(even_draws(weights.sum(axis=1).T.ravel(), N_LINES), len(levels))
    reached = np.cumsum(weights[row, :, place], axis=1)
    wanted = mixed_shares(N_LINES, 0)[:, None] * reached[:, -1:]
    column = np.minimum((reached < wanted).sum(axis=1), len(slopes) - 1)
    lines = zip(
        start[row, column].tolist(), slopes[column].tolist(), rates[place].tolist(), strict=True
    )
    return RateCalibration(
        intercept,
        slope,
        ((across, both), (both, along)),
        tuple(lines),
        int(np.count_nonzero(counts == 1)),
        int(np.count_nonzero(counts == 2)),
        prior,
        unlike,
        RepeatLaw(law.rates, tuple(weights.sum(axis=(0, 1)).tolist())),
    )


def binned(values: Floats, *weights: NDArray[Any]) -> tuple[Floats, list[Floats]]:
    """Return multiples of 1/20 and the weights of values there, each shared by its two neighbours.

    Examples
    --------
    >>> binned(np.array([0.1, 0.125]), np.array([1.0, 2.0]))
    (array([0.1 , 0.15]), [array([2., 1.])])
    """
    scaled = values * _BINS_PER_UNIT
    below = np.floor(scaled)
    share = scaled - below
    nodes, place = np.unique(np.concatenate([below, below + 1]), return_inverse=True)
    low, high = place[: len(values)], place[len(values) :]
    found = np.zeros((len(weights), len(nodes)))
    for at, one in enumerate(weights):
        found[at] += np.bincount(low, one * (1 - share), len(nodes))
        found[at] += np.bincount(high, one * share, len(nodes))
    kept = (found > 0).any(axis=0)
    return nodes[kept] / _BINS_PER_UNIT, list(found[:, kept])


def even_draws(weights: Floats, n: int) -> NDArray[np.int64]:
    """Return n places, as often as their weights, which sum to 1, have it: in order, not by chance.

    Examples
    --------
    >>> even_draws(np.array([0.5, 0.25, 0.25]), 4)
    array([0, 0, 1, 2])
    """
    reached = np.cumsum(weights)
    return np.searchsorted(reached / reached[-1], (np.arange(n) + 0.5) / n)


def mixed_shares(n: int, which: int) -> Floats:
    """Return the middles of n equal parts of (0, 1), in an order that mixes well with other orders.

    The order of Roberts' sequence in two dimensions, multiples modulo 1 of powers of the number
    whose square and cube sum to 1; `which` is 0 or 1.

    Examples
    --------
    >>> mixed_shares(4, 0)
    array([0.125, 0.875, 0.625, 0.375])
    """
    order = np.argsort(np.argsort(np.arange(n) * _PLASTIC ** (which + 1) % 1.0))
    return (order + 0.5) / n


def _middle(z: Floats, n_classes: Floats, n_pairs: float) -> tuple[float, float]:
    """Return m, and about where the level would be by the pairs alone."""
    if not len(z):
        return 0.0, 0.0
    top = float(z.max())
    expected = n_classes * np.exp(z - top)
    total = float(expected.sum())
    rough = np.log(2 * (n_pairs + 0.5) / total) - top
    return float((expected * z).sum()) / total, float(rough)


def _closer(values: Floats, weights: Floats, n: int) -> Floats:
    """Return a grid over the values that have nearly all weight, and one more on each side.

    Half of it is even over them, and half by weight: a narrow law may have a wide one around it.
    """
    reached = np.cumsum(weights)
    low, high = np.searchsorted(reached, [_TAIL, 1 - _TAIL])
    low, high = max(low - 1, 0), min(high + 1, len(values) - 1)
    even = np.linspace(values[low], values[high], n // 2)
    by_weight = np.interp((np.arange(n // 2) + 0.5) / (n // 2), reached, values)
    step = (values[high] - values[low]) / (_FINEST * n)
    return values[low] + step * np.unique(
        np.round((np.concatenate([even, by_weight]) - values[low]) / step)
    )
