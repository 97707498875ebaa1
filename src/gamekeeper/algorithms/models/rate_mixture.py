"""The rate of a class given its records, a mixture of Poisson laws, and measures of the file.

Two classes with the same expected count under the models differ in truth. Here the rate r of a
class in the sample is log-normal around what `rate_calibration` found, and its log has the standard
deviation

    spread - 0.1 log E[r | no twin]

with a spread near 0.61 in a file of a thousand records: so 0.61 where a twin is to be expected and
1.1 where one record in a hundred has one. Models fail more, in proportion, where they expect
little. They fail less the more records they are fitted to: in each of seven populations the spread
that fits the true sizes best was smaller at 5% than at 1%, by 0.05 to 0.3, and it falls by 0.04
with the logarithm of the number of records, within 0.4 and 0.9. The sampling fraction does not
enter beyond that. These numbers were chosen by looking at populations; given the true line, the
populations but one led to 0.64 to 0.70 and to 0.04 to 0.08, and the mean over what is not known of
the spread does the rest. They do not hold where a model is exactly right or leaves all dependence
out. The sample speaks for its own spread through its classes of three, 2 P(y = 2) / P(y = 0) =
E[r^2 | y = 0]; with a prior deviation of 0.15, few triples change little, and a triple counts as
0.3 of one, since the law itself is not exactly true. What remains unknown is kept as a law, which
is averaged over. A gamma mixture needs a shape that falls with the rate and with the sampling
fraction.

Given f records the density of r is the log-normal one times r^(f-1) e^-r, by the trapezoidal rule
around its mode in log r, and there are Poisson((1-pi)/pi r) people of the class outside the sample.
Where people have several records, the other records of a sample unique's person are added to that:
a number of its own, of a Poisson law whose mean is gamma distributed over people, by Gauss' rule.
The shape of that law is not known. With 1 it is geometric, with 1/2 few people have many records,
and without end all have the same number on average; `REPEAT_SHAPES` are taken in turn.

Measures of a whole file are sums over its n1 sample uniques: tau1 = sum of P(F=1), tau2 = sum of
E[1/F], Pr(CM|UM) = n1 / sum of E[F], Pr(CM|SU) = tau2 / n1. Intervals hold what is not known of the
laws, by draws, and the chance in F itself, by the normal law. Skinner and Elliot 2002; Smith's
thesis, chapter 7. Where classes were merged, a record that is alone in the population was alone
before, and its class has only grown: P(F=1) and E[1/F] are at most, E[F] is at least what they
were. Two estimates, each calibrated by its own classes, need not agree to that; so each record is
held to it, and no sum ends up beyond the bounds of the sum before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.models import match_probability
from gamekeeper.algorithms.models.rate_calibration import LARGEST_LOG_RATE, binned, mixed_shares

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REPEAT_SHAPES = (0.5, 1.0, 2.0, np.inf)
_REPEAT_NODES = 8
# Of a file of a thousand records.
SPREAD = 0.61
_LESS_PER_LOG_RECORDS = 0.04
_LEAST_SPREAD, _MOST_SPREAD = 0.4, 0.9
SPREAD_DEVIATION = 0.15
# A log-normal law is not exactly what rates have: many triples would make it all too sure.
_TRIPLES_COUNT = 0.3
_SPREAD_PER_LOG_RATE = 0.1
_SPREADS = np.round(np.arange(0.2, 1.41, 0.1), 2)
_LEAST_DEVIATION, _MOST_DEVIATION = 0.1, 2.2
# Below this rate a record without a twin says nothing about r.
_LOWEST_TABLED = -12.0
_TABLED = 301
_NODES = np.linspace(-7, 7, 57)
_FEW_NODES = np.linspace(-6, 6, 25)
# So many classes with their nodes fit into the caches of a processor.
_AT_ONCE = 2_000
_SETTLED = 1e-6


@dataclass(frozen=True, slots=True, repr=False)
class MixedSizes:
    """What is known of the population size F of each class, given its f records in the sample.

    `p_next` is E[1/(1+F)], which tells how long a search without replacement takes.
    """

    p_match: Floats
    p_match_set: Floats
    p_unique: Floats
    expected_size: Floats
    variance: Floats
    p_next: Floats


@dataclass(frozen=True, slots=True)
class SpreadLaw:
    """What is known of the spread of a file: values and their probabilities."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The expected spread, rounded to 0.02."""
        return round(round(float(np.dot(self.values, self.weights)) * 50) / 50, 2)

    def even(self, n: int) -> list[float]:
        """Return n values that stand for the law, mixed so that neighbours differ."""
        places = np.searchsorted(np.cumsum(self.weights), mixed_shares(n, 1))
        return [self.values[place] for place in np.minimum(places, len(self.values) - 1).tolist()]


def usual_spread(n_records: int) -> float:
    """Return the spread that files of so many records usually have.

    Examples
    --------
    >>> [round(usual_spread(n), 2) for n in (1, 500, 1_000, 10_000, 10_000_000)]
    [0.89, 0.64, 0.61, 0.52, 0.4]
    """
    spread = SPREAD - _LESS_PER_LOG_RECORDS * float(np.log(max(n_records, 1) / 1_000))
    return min(max(spread, _LEAST_SPREAD), _MOST_SPREAD)


def learn_spread(
    log_rates: Floats,
    counts: NDArray[np.integer[Any]],
    repeats: float = 0.0,
    n_records: int | None = None,
) -> SpreadLaw:
    """Return what classes of up to three records and the prior say of the spread.

    Given the rates, the numbers of classes of 1, 2 and 3 records are as 1, E[r]/2 and E[r^2]/6, all
    given no twin: a class of f is seen by f records. `repeats` is the rate of twins that are the
    same person, of an exponential law over people. `n_records` is that of the whole file, where
    large classes were left out.

    Examples
    --------
    Without classes of up to three records it is the prior's.

    >>> learn_spread(np.log([0.5, 2.0]), np.array([600, 400])).mean
    0.62
    """
    used = counts <= 3
    logs, (n_classes, triples) = binned(log_rates[used], np.ones(used.sum()), counts[used] == 3)
    usual = usual_spread(int(counts.sum()) if n_records is None else n_records)
    heights = -0.5 * ((_SPREADS - usual) / SPREAD_DEVIATION) ** 2
    for at, spread in enumerate(_SPREADS.tolist()):
        log_second = np.interp(logs, *_second_moments(spread))
        if repeats:
            own = 2 * repeats * (np.exp(logs) + repeats)
            log_second = np.logaddexp(log_second, np.log(own))
        log_sixth = log_second - np.log(6)
        every = np.log1p((np.exp(logs) + repeats) / 2 + np.exp(log_sixth))
        heights[at] += _TRIPLES_COUNT * (triples @ log_sixth - n_classes @ every)
    weights = np.exp(heights - heights.max())
    return SpreadLaw(tuple(_SPREADS.tolist()), tuple((weights / weights.sum()).tolist()))


def mix_sizes(
    log_rates: Floats,
    counts: NDArray[np.integer[Any]],
    outside: Floats,
    *,
    spread: float = SPREAD,
    most: float = np.inf,
    repeats: Floats | None = None,
    shape: float = np.inf,
    seen: NDArray[np.integer[Any]] | None = None,
) -> MixedSizes:
    """Return E[1/F], E[1/C(F,f)], P(F=1), E[F], the variance of F and E[1/(1+F)] of each class.

    - `log_rates`: log E[r | no twin] of each class; `counts`: its number f of records, 1 or more.
    - `outside`: (1-pi)/pi: how many people are outside the sample for each one within.
    - `spread`: the standard deviation of log r where E[r | no twin] is 1.
    - `most`: how many people there are outside the sample: no class of several records has more.
      That of one record is kept small by having no twin.
    - `repeats`, `shape`: of classes of one record, how many other records their person has outside
      the sample on average, none if not given, and the shape of its law.
    - `seen`: how many households those records are of, where they are in the sample with all
      members.

    Examples
    --------
    >>> found = mix_sizes(np.log([0.01, 0.01]), np.array([1, 2]), np.array([99.0, 0.0]))
    >>> found.p_match.round(3), found.expected_size.round(2)
    (array([0.712, 0.5  ]), array([1.99, 2.  ]))
    """
    n = len(counts)
    columns = np.empty((6, n))
    for start in range(0, n, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        own = None if repeats is None else repeats[part]
        met = counts[part] if seen is None else seen[part]
        columns[:, part] = _mixed(
            log_rates[part], counts[part], met, outside[part], spread, most, own, shape
        )
    # Sums of weights pass 1 by rounding, and with everybody in the sample so would chances.
    columns[:3] = np.minimum(columns[:3], 1.0)
    columns[4] = np.maximum(columns[4], 0.0)
    return MixedSizes(*columns)


def size_interval(
    log_rates: Floats,
    counts: NDArray[np.integer[Any]],
    outside: Floats,
    levels: tuple[float, float],
    *,
    spread: float = SPREAD,
    most: float = np.inf,
    unsure: Floats | None = None,
    seen: NDArray[np.integer[Any]] | None = None,
) -> tuple[Integers, Integers]:
    """Return two quantiles of F of each class.

    Classes whose log rates differ by less than 0.02 share their quantiles. `unsure` is how far the
    log rate of each class is from known, a standard deviation, the same for the same rate; `seen`
    is that of `mix_sizes`.
    """
    rounded = np.round(log_rates * 50).astype(np.int64)
    shares = np.unique(outside, return_inverse=True)[1].ravel()
    seen = counts if seen is None else seen
    (place,) = class_numbers(np.stack([rounded, counts, shares, seen], axis=1))
    _, first = np.unique(place, return_index=True)
    f, k = seen[first], outside[first]
    wider = 0.0 if unsure is None else unsure[first]
    rates, weights = _posterior(rounded[first] / 50, f, spread, _FEW_NODES, wider)
    means = k[:, None] * rates
    low, high = (
        np.minimum(_quantile(means, weights, level), most).astype(np.int64) for level in levels
    )
    return counts + low[place], counts + high[place]


def _mixed(
    log_rates: Floats,
    counts: NDArray[np.integer[Any]],
    seen: NDArray[np.integer[Any]],
    outside: Floats,
    spread: float,
    most: float,
    repeats: Floats | None,
    shape: float,
) -> Floats:
    found = np.empty((6, len(counts)))
    for chosen, nodes in ((counts == 1, _NODES), (counts > 1, _FEW_NODES)):
        f = counts[chosen]
        if not len(f):
            continue
        rates, weights = _posterior(log_rates[chosen], seen[chosen], spread, nodes)
        means = outside[chosen, None] * rates
        if nodes is _NODES and repeats is not None:
            others, shares = _repeat_nodes(shape)
            means = (means[:, :, None] + repeats[chosen, None, None] * others).reshape(len(f), -1)
            weights = (weights[:, :, None] * shares).reshape(len(f), -1)
        if nodes is _NODES:
            single = as_set = match_probability.of_uniques(means)
            following = match_probability.next_to_uniques(means)
        else:
            means = np.minimum(means, most)
            repeated, law = np.repeat(f, len(nodes)), match_probability.Poisson(means.ravel())
            single = match_probability.single_unit(repeated, law).reshape(means.shape)
            as_set = match_probability.set_match(repeated, law).reshape(means.shape)
            following = match_probability.single_unit(repeated + 1, law).reshape(means.shape)
        mean = _sums(weights, means)
        # The variance of a mixture: that of the Poisson laws and that of their means.
        between = _sums(weights, (means - mean[:, None]) ** 2)
        found[:, chosen] = (
            _sums(weights, single),
            _sums(weights, as_set),
            _sums(weights, np.exp(-means)) if nodes is _NODES else np.zeros(len(f)),
            f + mean,
            mean + between,
            _sums(weights, following),
        )
    return found


def _sums(weights: Floats, values: Floats) -> Floats:
    return np.einsum("ij,ij->i", weights, values)


def _posterior(
    log_rates: Floats,
    counts: NDArray[np.integer[Any]],
    spread: float,
    nodes: Floats,
    unsure: Floats | float = 0.0,
) -> tuple[Floats, Floats]:
    """Return nodes for the rate of each class and their weights, which sum to 1."""
    deviation = np.hypot(_deviation(log_rates, spread), unsure)
    centre = log_rates + np.interp(log_rates, *_offsets(spread))
    twins = counts - 1.0
    precision = deviation**-2
    # The slope of the log density falls ever faster, so Newton's method goes down to the mode and
    # never past it if it starts at or above the mode. Both bounds are: the slope is below twins -
    # precision (m - centre), and at a mode of 0 or more the rate is at most the other logarithm's.
    mode = np.minimum(
        centre + twins / precision,
        np.log(np.maximum(twins + precision * np.maximum(centre, 0.0), 1.0)),
    )
    settled = False
    while not settled:
        rate = np.exp(mode)
        step = (twins - rate - precision * (mode - centre)) / (rate + precision)
        mode = mode + step
        settled = not np.abs(step).max(initial=0) > _SETTLED
    width = (np.exp(mode) + precision) ** -0.5
    logs = mode[:, None] + width[:, None] * nodes
    rates = np.exp(logs)
    height = twins[:, None] * logs - rates
    height -= 0.5 * precision[:, None] * (logs - centre[:, None]) ** 2
    weights = np.exp(height - height.max(axis=1, keepdims=True))
    return rates, weights / weights.sum(axis=1, keepdims=True)


def _deviation(log_rates: Floats, spread: float) -> Floats:
    deviation = spread - _SPREAD_PER_LOG_RATE * log_rates
    return np.clip(deviation, _LEAST_DEVIATION, _MOST_DEVIATION)


@cache
def _offsets(spread: float) -> tuple[Floats, Floats]:
    """Return log rates and, for each, how far the centre of log r lies from it.

    The centre is where the mean of r given no twin equals the rate: found by halving.
    """
    targets = np.linspace(_LOWEST_TABLED, LARGEST_LOG_RATE, _TABLED)
    deviation = _deviation(targets, spread)
    # Having no twin moves a large rate below its centre, by as many deviations as deviation times
    # rate: the largest rate has the smallest deviation and goes farthest.
    reach = np.ceil(8 + deviation[-1] * np.exp(LARGEST_LOG_RATE))
    nodes = np.linspace(-reach, 8, 5 * (int(reach) + 8) + 1)
    low, high = targets - 4 * deviation**2 - 1, targets + 60.0
    for _ in range(45):
        middle = (low + high) / 2
        logs = middle[:, None] + deviation[:, None] * nodes
        rates = np.exp(np.minimum(logs, 30.0))
        exponent = -0.5 * nodes**2 - rates
        weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        mean = (weights * rates).sum(axis=1) / weights.sum(axis=1)
        below = np.log(mean) < targets
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    far = np.linspace(-60, _LOWEST_TABLED, 100)[:-1]
    grid = np.concatenate([far, targets])
    centre = np.concatenate([far - 0.5 * _deviation(far, spread) ** 2, (low + high) / 2])
    return grid, centre - grid


@cache
def _repeat_nodes(shape: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of the gamma law of a shape with mean 1."""
    if np.isinf(shape):
        return np.ones(1), np.ones(1)
    from scipy.special import roots_genlaguerre

    nodes, weights = roots_genlaguerre(_REPEAT_NODES, shape - 1)
    return nodes / shape, weights / weights.sum()


@cache
def _second_moments(spread: float) -> tuple[Floats, Floats]:
    """Return log rates and log E[r^2 | no twin] at each."""
    grid = np.linspace(-60, LARGEST_LOG_RATE, 316)
    rates, weights = _posterior(grid, np.ones(len(grid), dtype=np.int64), spread, _NODES)
    moments = _sums(weights, rates**2)
    return grid, np.log(moments)


def _quantile(means: Floats, weights: Floats, level: float) -> Integers:
    from scipy.special import pdtr

    def cumulative(count: Floats, chosen: Integers) -> Floats:
        return (weights[chosen] * pdtr(count[:, None], means[chosen])).sum(axis=1)

    return match_probability.smallest_reaching(
        cumulative, np.ceil((weights * means).sum(axis=1)), level
    )


_N_DRAWS = 512


@dataclass(frozen=True, slots=True)
class Measure:
    """One estimate of the file with an interval; NaN where there are no sample uniques."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class FileEstimate:
    """Estimates over the sample uniques of a file.

    tau1 is the expected number of them that are population uniques, tau2 that of right matches when
    each is matched to one person of its class. Pr(CM|UM) and Pr(CM|SU) are the chance that a unique
    match is correct, from the population to the file and from a sample unique to the population.
    """

    n_uniques: int
    tau1: Measure
    tau2: Measure
    pr_cm_given_um: Measure
    pr_cm_given_su: Measure


@dataclass(frozen=True, slots=True, repr=False)
class FinerClasses:
    """What was inferred of the same sample uniques, and of the file, before classes were merged."""

    p_unique: Floats
    p_match: Floats
    expected_size: Floats
    file: FileEstimate


def sum_over_uniques(
    sizes: MixedSizes,
    draws: Floats | None,
    levels: tuple[float, float],
    finer: FinerClasses | None = None,
    *,
    seed: int = 0,
) -> FileEstimate:
    """Return the measures of a file from what is known of its sample uniques.

    `draws` are of the sums of P(F=1), E[1/F] and E[F], for what is not known of the laws; None
    where they are taken as known. The chance in F itself, by `seed`, is added. `levels` are those
    of the intervals; `finer` is what was inferred of these sample uniques before classes were
    merged.

    Examples
    --------
    >>> sizes = mix_sizes(np.array([-3.0]), np.array([1]), np.array([9.0]))
    >>> found = sum_over_uniques(sizes, None, (0.025, 0.975))
    >>> bool(found.tau1.value == sizes.p_unique[0])
    True
    """
    n = len(sizes.p_unique)
    if not n:
        nothing = Measure(np.nan, np.nan, np.nan)
        return FileEstimate(0, Measure(0.0, 0.0, 0.0), Measure(0.0, 0.0, 0.0), nothing, nothing)
    unique, single, people = sizes.p_unique, sizes.p_match, sizes.expected_size
    free = np.array([unique.sum(), single.sum(), people.sum()])
    if finer is not None:
        unique = np.minimum(unique, finer.p_unique)
        single = np.minimum(single, finer.p_match)
        people = np.maximum(people, finer.expected_size)
    sums = np.array([unique.sum(), single.sum(), people.sum()])
    # 1/F lies between 0 and 1 with mean p, so its variance is at most p (1 - p).
    chance = np.array(
        [(unique * (1 - unique)).sum(), (single * (1 - single)).sum(), sizes.variance.sum()]
    )
    centred = np.zeros((1, 3)) if draws is None else draws - free
    normal = np.random.default_rng([_N_DRAWS, seed]).standard_normal((_N_DRAWS, 3))
    spread = sums + np.resize(centred, (_N_DRAWS, 3)) + normal * np.sqrt(np.maximum(chance, 0.0))
    spread = np.clip(spread, [0.0, 0.0, float(n)], [float(n), float(n), np.inf])

    def measure(value: float, values: Floats) -> Measure:
        low, high = np.quantile(values, levels)
        return Measure(float(value), float(min(low, value)), float(max(high, value)))

    tau1, tau2 = measure(sums[0], spread[:, 0]), measure(sums[1], spread[:, 1])
    if finer is not None:
        tau1 = _at_most(tau1, finer.file.tau1)
        tau2 = _at_most(tau2, finer.file.tau2)
    return FileEstimate(
        n,
        tau1,
        tau2,
        measure(n / sums[2], n / spread[:, 2]),
        measure(sums[1] / n, spread[:, 1] / n),
    )


def spanned(file: FileEstimate, readings: Sequence[FileEstimate]) -> FileEstimate:
    """Return an estimate whose intervals also hold those of other readings of the same file.

    Examples
    --------
    >>> one, two = (Measure(5.0, 4.0, 6.0), Measure(3.0, 2.0, 4.5))
    >>> spanned(FileEstimate(9, one, one, one, one), [FileEstimate(9, two, two, two, two)]).tau1
    Measure(value=5.0, lower=2.0, upper=6.0)
    """

    def over(name: str) -> Measure:
        every: list[Measure] = [getattr(one, name) for one in (file, *readings)]
        lower, upper = min(one.lower for one in every), max(one.upper for one in every)
        return Measure(every[0].value, lower, upper)

    names = ("tau1", "tau2", "pr_cm_given_um", "pr_cm_given_su")
    return FileEstimate(file.n_uniques, *map(over, names))


def _at_most(measure: Measure, before: Measure) -> Measure:
    """Return a measure of some of the records that were summed before; sums round differently."""
    value = min(measure.value, before.value)
    return Measure(value, min(measure.lower, value), min(measure.upper, before.upper))
