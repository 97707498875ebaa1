"""Match probabilities of a class with f records in the sample and F in the population.

F - f, the number of people of the class outside the sample, follows a law: Poisson as in the
thesis, or binomial where the population is known to be finite and the fraction is large. With the
generating function G(u) = E[u^(F-f)] of the law,

    single unit   E[1/F]              = integral of u^(f-1) G(u) over u from 0 to 1
    set           E[1 / C(F, f)]      = f times the integral of (1-u)^(f-1) G(u)
    unique        P(F = 1)            = G(0) where f = 1, else 0
    E[F]          = f + mean of the law

The first is the chance that one given record belongs to a person who was picked among the F. The
second, printed in chapter 7 of the thesis, is the chance that f people picked among the F are all
those of the sample; the two agree for f = 1 only. For f = 1 and for the Poisson set there are
closed forms, and for other Poisson classes of up to 64 records a recurrence in f; other integrals
are taken by the double exponential rule, whose nodes crowd at both ends. Relative errors are some
1e-13 for means up to 1e6. Smith's thesis, chapter 7; Skinner and Holmes 1998.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Nodes v and weights of the rule on (0, 1), with 1 - v kept apart for its digits near 1.
_STEPS = np.arange(-190, 191) / 50
_ODDS = np.exp(np.pi * np.sinh(_STEPS))
_NODES, _REST = _ODDS / (1 + _ODDS), 1 / (1 + _ODDS)
_WEIGHTS = np.pi * np.cosh(_STEPS) * _NODES * _REST / 50
_AT_ONCE = 2_000
_RECURRENCE_UP_TO = 64
_STEPS_DOWN = 90
_LARGEST = 2.0**62
# (m - 1 + e^-m) / m^2 = sum of (-m)^k / (k+2)!, the highest power first.
_NEXT_BY_SERIES = 0.1
_NEXT_SERIES = [(-1.0) ** k / factorial(k + 2) for k in range(9, -1, -1)]


@dataclass(frozen=True, repr=False)
class Poisson:
    """The Poisson law with the given means.

    Examples
    --------
    >>> single_unit([1, 2], Poisson(np.array([0.5, 1.0]))).round(6)
    array([0.786939, 0.367879])
    """

    mean: Floats

    def __post_init__(self) -> None:
        _set_checked(self, mean=(0, np.inf))

    def log_generating(self, missing: Floats) -> Floats:
        """Return log E[u^K] for u = 1 - missing; classes in rows, `missing` in columns."""
        return -self.mean[:, None] * missing

    def cumulative(self, count: Floats) -> Floats:
        """Return P(K <= count) for one count of each class."""
        from scipy.special import pdtr

        return pdtr(count, self.mean)

    def take(self, chosen: NDArray[np.bool_] | Integers | slice) -> Poisson:
        """Return the law of some of the classes."""
        return Poisson(self.mean[chosen])


@dataclass(frozen=True, repr=False)
class Binomial:
    """The binomial law: of so many people outside the sample, each is of the class by chance.

    Examples
    --------
    >>> pr_unique([1], Binomial(np.array([99.0]), np.array([0.01]))).round(6)
    array([0.36973])
    """

    trials: Floats
    chance: Floats

    def __post_init__(self) -> None:
        _set_checked(self, trials=(0, np.inf), chance=(0, 1))

    @property
    def mean(self) -> Floats:
        """The mean of each class."""
        return self.trials * self.chance

    def log_generating(self, missing: Floats) -> Floats:
        """Return log E[u^K] for u = 1 - missing."""
        lost = self.chance[:, None] * missing
        with np.errstate(divide="ignore"):
            factor = np.log1p(-np.minimum(lost, 1.0))
        trials = np.broadcast_to(self.trials[:, None], factor.shape)
        return np.multiply(trials, factor, out=np.zeros(factor.shape), where=trials > 0)

    def cumulative(self, count: Floats) -> Floats:
        """Return P(K <= count)."""
        from scipy.special import betainc

        within = count < self.trials
        left = np.where(within, self.trials - count, 1.0)
        return np.where(within, betainc(left, count + 1, 1 - self.chance), 1.0)

    def take(self, chosen: NDArray[np.bool_] | Integers | slice) -> Binomial:
        """Return the law of some of the classes."""
        return Binomial(self.trials[chosen], self.chance[chosen])


CountLaw = Poisson | Binomial
"""The law of the number of people of a class who are not in the sample, for many classes."""


def single_unit(sample_counts: ArrayLike, law: CountLaw) -> Floats:
    """Return E[1/F], the chance that a match of one record is right; 0 where f is 0.

    Examples
    --------
    >>> single_unit([1, 1, 0], Poisson(np.array([0.0, 1.0, 1.0]))).round(6)
    array([1.      , 0.632121, 0.      ])
    """
    counts = _checked_counts(sample_counts, law)
    found = np.zeros(len(counts))
    one = counts == 1
    found[one] = _mean_generating(law.take(one))
    rest = counts > 1
    if isinstance(law, Poisson):
        short = rest & (counts <= _RECURRENCE_UP_TO)
        found[short] = _poisson_recurrence(counts[short], law.mean[short])
        rest &= ~short
    for chosen in _blocks(rest):
        f = counts[chosen, None]
        # u^(f-1) G(u) at u = 1 - v, v being small where the integrand is large.
        exponent = (f - 1) * np.log(_REST) + law.take(chosen).log_generating(_NODES)
        found[chosen] = np.exp(exponent) @ _WEIGHTS
    # Neither the rule nor rounding may step over 1/f, the value for F = f.
    return np.minimum(found, 1 / np.maximum(counts, 1))


def set_match(sample_counts: ArrayLike, law: CountLaw) -> Floats:
    """Return E[1 / C(F, f)], the chance that a class is matched as a set; 0 where f is 0.

    Examples
    --------
    >>> set_match([2, 2], Poisson(np.array([0.001, 1.0]))).round(6)
    array([0.999334, 0.528482])
    """
    counts = _checked_counts(sample_counts, law)
    found = np.zeros(len(counts))
    one = counts == 1
    found[one] = _mean_generating(law.take(one))
    if isinstance(law, Poisson):
        found[counts > 1] = _poisson_set(counts[counts > 1], law.mean[counts > 1])
        return found
    for chosen in _blocks(counts > 1):
        f = counts[chosen, None]
        exponent = np.log(f) + (f - 1) * np.log(_NODES) + law.take(chosen).log_generating(_NODES)
        found[chosen] = np.exp(exponent) @ _WEIGHTS
    return np.minimum(found, 1.0)


def pr_unique(sample_counts: ArrayLike, law: CountLaw) -> Floats:
    """Return P(F = 1), the chance that a record is alone in the population.

    Examples
    --------
    >>> pr_unique([1, 2], Poisson(np.array([1.0, 1.0]))).round(6)
    array([0.367879, 0.      ])
    """
    counts = _checked_counts(sample_counts, law)
    alone = np.exp(law.log_generating(np.ones(1))[:, 0])
    return np.where(counts == 1, alone, 0.0)


def expected_size(sample_counts: ArrayLike, law: CountLaw) -> Floats:
    """Return E[F], the expected number of people of the class in the population.

    Examples
    --------
    >>> expected_size([1, 2], Poisson(np.array([0.5, 1.0])))
    array([1.5, 3. ])
    """
    return _checked_counts(sample_counts, law) + law.mean


def size_quantiles(sample_counts: ArrayLike, law: CountLaw, level: float) -> Integers:
    """Return the smallest size F of each class whose cumulative chance reaches a level.

    Examples
    --------
    >>> law = Poisson(np.array([0.0, 3.0]))
    >>> size_quantiles([1, 1], law, 0.025), size_quantiles([1, 1], law, 0.975)
    (array([1, 1]), array([1, 8]))
    """
    if not 0 < level < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"The quantile {level} of class sizes was asked for.",
            "A level is a probability strictly between 0 and 1.",
            "Give, for example, 0.025 or 0.975.",
        )
    counts = _checked_counts(sample_counts, law)

    def cumulative(count: Floats, chosen: Integers) -> Floats:
        return law.take(chosen).cumulative(count)

    return counts + smallest_reaching(cumulative, np.ceil(law.mean), level)


def smallest_reaching(
    cumulative: Callable[[Floats, Integers], Floats], start: Floats, level: float
) -> Integers:
    """Return for each class the smallest count whose cumulative chance reaches a level.

    `cumulative` has the chances of counts of chosen classes; the search begins at `start`. Doubling
    finds a count that reaches the level, halving the smallest such count.
    """
    low, high = np.full(len(start), -1.0), start.copy()
    short = np.arange(len(start))
    while len(short):
        short = short[cumulative(high[short], short) < level]
        # Chances sum to 1 but for rounding, which a level next to 1 would wait for in vain.
        short = short[high[short] < _LARGEST]
        low[short], high[short] = high[short], 2 * high[short] + 1
    wide = np.flatnonzero(high - low > 1)
    while len(wide):
        middle = np.floor((low[wide] + high[wide]) / 2)
        reached = cumulative(middle, wide) >= level
        high[wide] = np.where(reached, middle, high[wide])
        low[wide] = np.where(reached, low[wide], middle)
        # Beyond 2^53 neighbouring numbers are more than 1 apart.
        wide = wide[high[wide] - low[wide] > np.maximum(1, high[wide] * 2.0**-51)]
    return high.astype(np.int64)


def of_uniques(mean: Floats) -> Floats:
    """Return E[1/F] of sample uniques, for Poisson laws with means that are finite and 0 or more.

    Both readings, of a single unit and of a set, agree for them.

    Examples
    --------
    >>> of_uniques(np.array([0.0, 1.0])).round(6)
    array([1.      , 0.632121])
    """
    with np.errstate(invalid="ignore"):
        found = -np.expm1(-mean) / mean
    return np.where(mean == 0, 1.0, np.minimum(found, 1.0))


def next_to_uniques(mean: Floats) -> Floats:
    """Return E[1/(1+F)] of sample uniques, for Poisson laws with finite means of 0 or more.

    Examples
    --------
    >>> next_to_uniques(np.array([0.0, 1.0])).round(6)
    array([0.5     , 0.367879])
    """
    # Near 0 the difference loses its digits, and the series is short.
    near = np.polyval(_NEXT_SERIES, np.minimum(mean, _NEXT_BY_SERIES))
    with np.errstate(invalid="ignore"):
        found = (mean + np.expm1(-mean)) / mean**2
    return np.where(mean < _NEXT_BY_SERIES, near, np.minimum(found, 0.5))


def _mean_generating(law: CountLaw) -> Floats:
    """Return the integral of G over (0, 1): E[1/F] and the set reading for f = 1."""
    if isinstance(law, Poisson):
        return of_uniques(law.mean)
    zero = law.mean == 0
    # (1 - q^(M+1)) / ((M+1) p)
    with np.errstate(divide="ignore"):
        lost = (law.trials + 1) * np.log1p(-law.chance)
    found = -np.expm1(lost) / np.where(zero, 1.0, (law.trials + 1) * law.chance)
    return np.where(zero, 1.0, np.minimum(found, 1.0))


def _poisson_recurrence(counts: Integers, mean: Floats) -> Floats:
    """Return E[1/F] by f r_f = 1 - mean r_(f+1), upwards for large means and downwards else.

    An error is multiplied by f/mean or mean/f on each step, which is below 1 either way.
    """
    found = np.empty(len(counts))
    up = mean >= counts - 1
    f, lam = counts[up], mean[up]
    value = -np.expm1(-lam) / lam
    for size in range(1, int(f.max(initial=1))):
        further = f > size
        value = np.where(further, (1 - size * value) / lam, value)
    found[up] = value
    f, lam = counts[~up], mean[~up]
    # Far enough above f the start does not matter.
    value = 1 / (lam + f + _STEPS_DOWN)
    for step in range(_STEPS_DOWN - 1, -1, -1):
        value = (1 - lam * value) / (f + step)
    found[~up] = value
    return found


def _poisson_set(counts: Integers, mean: Floats) -> Floats:
    """Return f! mean^-f P(Poisson >= f); by its series with positive terms for small means."""
    from scipy.special import gammainc, gammaln

    found = np.empty(len(counts))
    small = mean <= counts + 1
    term = np.exp(-mean[small])
    total = term.copy()
    active = np.arange(len(term))
    f, lam = counts[small], mean[small]
    step = 0
    while len(active):
        step += 1
        term = term * lam[active] / (f[active] + step)
        total[active] += term
        still = term > 2.0**-54 * total[active]
        active, term = active[still], term[still]
    found[small] = total
    f, lam = counts[~small], mean[~small]
    found[~small] = np.exp(gammaln(f + 1.0) - f * np.log(lam)) * gammainc(f, lam)
    return np.minimum(found, 1.0)


def _blocks(chosen: NDArray[np.bool_]) -> list[Integers]:
    """Return the positions of some classes, a few at a time, to bound the memory of a rule."""
    places = np.flatnonzero(chosen)
    return [places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE)]


def _checked_counts(sample_counts: ArrayLike, law: CountLaw) -> Integers:
    counts = np.asarray(sample_counts)
    n_means = len(law.mean)
    whole = counts.ndim == 1 and (counts.size == 0 or np.issubdtype(counts.dtype, np.integer))
    if not whole or len(counts) != n_means or bool(np.any(counts < 0)):
        raise InputError(
            Reason.BAD_OPTION,
            f"Match probabilities of {count_of(n_means, 'class', 'classes')} were asked for.",
            f"There are {counts.size:,} sample counts, or some are negative or not whole.",
            "Give one whole number, 0 or more, for each class.",
        )
    return counts.astype(np.int64)


def _set_checked(law: object, **ranges: tuple[float, float]) -> None:
    """Turn the fields of a law into arrays of one length, and refuse numbers out of range."""
    given = {name: np.asarray(getattr(law, name), dtype=np.float64) for name in ranges}
    shapes = np.broadcast_shapes(*(values.shape for values in given.values()), (1,))
    problems: list[Problem] = []
    for name, (low, high) in ranges.items():
        values = np.broadcast_to(given[name], shapes)
        wrong = ~(np.isfinite(values) & (values >= low) & (values <= high))
        if wrong.any():
            found = f"{count_of(int(wrong.sum()), 'number')} out of range."
            problems.append(Problem(Reason.BAD_OPTION, name, found))
        object.__setattr__(law, name, values)
    if problems or len(shapes) != 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A {type(law).__name__} law was asked for.",
            "Its numbers must be finite, 0 or more (chances up to 1), one for each class.",
            problems=problems,
        )
