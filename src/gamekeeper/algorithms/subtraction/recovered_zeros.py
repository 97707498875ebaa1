"""How many zeros of one table somebody who knows n people recovers; SAP of many small tables at once.

With a second variable y that counts fully known cells, the generating function of a table is the
product of (1 + z)^c - z^c + y z^c over the relevant cells, times (1 + z)^rest; the coefficient of
y^k z^n over the number of samples is the probability of k zeros. Where the total gives the table
away (see `recovery_rule`) the samples that hold all unsure cells are taken out and put back with
all their fully known cells counted.

Exactly, the polynomial is one large integer. Otherwise its coefficients come from a discrete
Fourier transform: if every person is known with probability n / N independently, the number of
known people is binomial, and what is wanted is conditional on its being n. The transform needs as
many points as that binomial is wide, and one more than there are zeros to recover. Every factor is
the characteristic function of a distribution, at most 1 in size, so the error is that of rounding,
times the width of the binomial: below 1e-11 up to a population of a million.

Of small tables, such as one per small area, populations up to 56 are worked out together by a
compiled loop, with numbers of samples as whole numbers, so that each probability is the exact
rational rounded once: exactly 0 and exactly 1 mean what they say, and one tenth is the same tenth
everywhere. Larger ones come one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.subtraction import probability
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import digits_text

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BITS = 6_000_000
"""The size up to which the polynomial is kept exactly."""
_MOST_POINTS = 100_000_000
MAX_WORK = 3_000_000_000
"""Factors of the transform that are worked out without being asked to: about half a minute."""
_ERROR = 1e-11


@dataclass(frozen=True, eq=False)
class RecoveredZeros:
    """The probability of each number of recovered zeros, for each number n of known people.

    Probabilities have one row for each n, from no zero up, and `expected` is their mean;
    `fractions` and `expected_fractions` are the same as exact rationals, where they are. `error` is
    the stated absolute error of a probability, 0 if exact.
    """

    n: Integers
    probabilities: Floats
    expected: Floats
    fractions: tuple[tuple[Fraction, ...], ...] | None = None
    expected_fractions: tuple[Fraction, ...] | None = None
    error: float = 0.0

    @classmethod
    def exactly(
        cls, asked: Integers, numbers: Sequence[Sequence[int]], population: int
    ) -> RecoveredZeros:
        """Return exact rationals from numbers of samples, by their size and how many they recover."""
        of = probability.binomials(population)
        fractions = tuple(
            tuple(Fraction(number, of[k]) for number in numbers[k])
            for k in np.minimum(asked, population).tolist()
        )
        expected = tuple(
            sum((zeros * p for zeros, p in enumerate(row)), Fraction(0)) for row in fractions
        )
        return cls(
            asked,
            np.array([[float(p) for p in row] for row in fractions]).reshape(len(asked), -1),
            np.array([float(value) for value in expected]),
            fractions,
            expected,
        )

    def __repr__(self) -> str:
        return (
            f"RecoveredZeros({len(self.n)} numbers of known people, up to "
            f"{self.probabilities.shape[1] - 1} zeros)"
        )


def recovered_zeros(
    rule: probability.RecoveryRule,
    *,
    n: Iterable[int] | None = None,
    max_bits: int = MAX_BITS,
    max_work: float = MAX_WORK,
) -> RecoveredZeros:
    """Return the distribution and the expectation of the number of recovered zeros.

    The numbers of known people go from 0 to the population if not given. Rationals are exact for a
    polynomial of up to `max_bits`; a transform of more than `max_work` factors is refused.

    Examples
    --------
    >>> from gamekeeper.algorithms.subtraction.probability import recovery_rule
    >>> zeros = recovered_zeros(probability.recovery_rule([1, 2, 3], [1, 2, 4]), n=[3])
    >>> [str(p) for p in zeros.fractions[0]], str(zeros.expected_fractions[0])
    (['7/20', '3/5', '1/20'], '7/10')
    """
    population = rule.population
    asked = probability.numbers_of_people(n, population)
    n_known = np.minimum(asked, population)
    parts = _parts(rule)
    n_zeros = max(part.already + len(part.sizes) for part in parts)
    width = population + n_zeros + 8
    if width * (n_zeros + 1) * (population + 1) <= max_bits:
        return RecoveredZeros.exactly(asked, samples_by_zeros(rule), population)
    work = sum(
        _n_points(part.population) / 2 * (len(part.sizes) + 1) * len(set(part.sizes))
        for part in parts
    ) * len(np.unique(n_known))
    points = max(_n_points(part.population) / 2 * (len(part.sizes) + 1) for part in parts)
    if work > max_work or points > _MOST_POINTS:
        raise LimitError(
            Reason.TOO_LARGE,
            f"The number of recovered zeros was asked for {len(asked):,} numbers of known people.",
            f"That takes about {digits_text(work, 2)} factors, more than the limit of {digits_text(max_work, 2)}.",
            "Ask for fewer numbers of people, or raise the limit (max_work).",
        )
    found = np.zeros((len(asked), n_zeros + 1))
    for part in parts:
        for k in np.unique(n_known[n_known >= part.first]):
            one = np.array([k])
            share = part.sign * float(probability.all_known(part.first, population, one)[0])
            if abs(share) < 1e-300:
                continue
            row = _by_transform(part.sizes, part.population, int(k) - part.first)
            found[n_known == k, part.already : part.already + len(row)] += share * row
    summed = probability.cell_recovery(rule, n=n_known.tolist()).reshape(len(asked), -1).sum(axis=1)
    return RecoveredZeros(asked, np.clip(found, 0.0, 1.0), summed, error=_ERROR)


@dataclass(frozen=True)
class _Part:
    """Samples that hold `first` given people and count cells of `sizes` among the others."""

    sign: int
    first: int
    already: int
    sizes: tuple[int, ...]
    population: int


def _parts(rule: probability.RecoveryRule) -> list[_Part]:
    """Return the generating functions whose sum counts all recovered zeros."""
    parts = [_part(1, 0, 0, rule.counts[rule.relevant], rule.population)]
    if rule.unsure is None:
        return parts
    first = int(rule.counts[rule.unsure].sum())
    left = rule.population - first
    both = int((rule.relevant & rule.unsure).sum())
    parts.append(_part(-1, first, both, rule.counts[rule.relevant & ~rule.unsure], left))
    parts.append(_part(1, first, int(rule.unsure.sum()), rule.counts[~rule.unsure], left))
    return parts


def _part(sign: int, first: int, already: int, sizes: Integers, population: int) -> _Part:
    """Cells without people are always known."""
    empty = int((sizes == 0).sum())
    cells = tuple(sorted(int(size) for size in sizes if size))
    return _Part(sign, first, already + empty, cells, population)


def samples_by_zeros(rule: probability.RecoveryRule) -> list[list[int]]:
    """Return for each n and each number of recovered zeros how many samples there are, exactly.

    Examples
    --------
    >>> from gamekeeper.algorithms.subtraction.probability import recovery_rule
    >>> samples_by_zeros(probability.recovery_rule([1, 2], [1, 2]))
    [[1, 0, 0], [2, 1, 0], [0, 3, 0], [0, 0, 1]]
    """
    parts = _parts(rule)
    n_zeros = max(part.already + len(part.sizes) for part in parts)
    numbers = [[0] * (n_zeros + 1) for _ in range(rule.population + 1)]
    for part in parts:
        for k, row in enumerate(_numbers_of_samples(part.sizes, part.population)):
            for zeros, number in enumerate(row):
                numbers[part.first + k][part.already + zeros] += part.sign * number
    return numbers


def _numbers_of_samples(sizes: tuple[int, ...], population: int) -> list[list[int]]:
    """Return for each n and each number of fully known cells how many samples there are."""
    width = 8 * (population // 8 + 1)
    step = width * (len(sizes) + 1)
    factors: list[int] = []
    for size in sizes:
        # y z^size in place of z^size
        powers = sum(math.comb(size, k) << (step * k) for k in range(size))
        factors.append(powers + (1 << (step * size + width)))
    rest = population - sum(sizes)
    factors.append(sum(math.comb(rest, k) << (step * k) for k in range(rest + 1)))
    while len(factors) > 1:
        factors.sort(key=int.bit_length, reverse=True)
        factors.append(factors.pop() * factors.pop())
    flat = probability.unpacked(factors[0], width, (len(sizes) + 1) * (population + 1))
    row = len(sizes) + 1
    return [flat[at : at + row] for at in range(0, len(flat), row)]


def _n_points(population: int) -> int:
    """Return points that hold a binomial with at most this many people, but for 1e-18 of it."""
    return min(population, int(9 * math.sqrt(population)) + 40) + 1


def _by_transform(sizes: tuple[int, ...], population: int, n: int) -> Floats:
    """Return the probability of each number of fully known cells given n known people."""
    if n in (0, population) or not sizes:
        row = np.zeros(len(sizes) + 1)
        row[len(sizes) if n == population else 0] = 1.0
        return row
    p = n / population
    n_points = _n_points(population)
    angles = 2 * np.pi * np.arange(n_points // 2 + 1) / n_points
    turn = np.exp(1j * angles)
    person = np.log((1 - p) + p * turn)
    all_of = math.log(p) + 1j * angles
    y = np.exp(2j * np.pi * np.arange(len(sizes) + 1) / (len(sizes) + 1))
    joint = np.ones((len(angles), len(y)), np.complex128)
    for size, times in zip(*np.unique(sizes, return_counts=True), strict=True):
        some = np.exp(size * person)
        full = np.exp(size * all_of)
        joint *= (some[:, None] + full[:, None] * (y - 1)) ** int(times)
    rest = population - sum(sizes)
    # The joint transform is that of real numbers: angles beyond one half are mirror images.
    joint *= np.exp(rest * person - 1j * n * angles)[:, None]
    doubled = np.where((angles == 0) | (2 * np.arange(len(angles)) == n_points), 1.0, 2.0)
    back = np.fft.fft(joint, axis=1).real / len(y)
    row = (doubled[:, None] * back).sum(axis=0)
    return np.clip(row / row.sum(), 0.0, 1.0)


def small_area_risks(
    counts: ArrayLike,
    upper: ArrayLike,
    *,
    n: Iterable[int],
    lower: ArrayLike | None = None,
    total_upper: ArrayLike | None = None,
) -> Floats:
    """Return SAP of each table, the first axis, for each number of known people.

    `total_upper` has the upper limit of the total of each table, where totals are published.

    Examples
    --------
    >>> small_area_risks([[1, 2], [2, 2]], [[1, 3], [2, 2]], n=[1, 2]).round(3).tolist()
    [[0.333, 0.667], [0.0, 0.333]]
    """
    true = np.asarray(counts)
    if true.ndim < 2:
        raise InputError(
            Reason.MALFORMED,
            "The probability of recovering zeros was asked for many tables.",
            f"Their counts have {true.ndim} axes.",
            "Give an axis for the tables and at least one for their cells.",
        )
    n_tables = len(true)
    # One check of all limits; totals are checked below, each for its own table.
    probability.recovery_rule(true, upper, lower=lower)
    flat = true.reshape(n_tables, -1).astype(np.int64)
    high = np.asarray(upper).reshape(n_tables, -1)
    low = np.zeros_like(flat) if lower is None else np.asarray(lower).reshape(n_tables, -1)
    asked = probability.numbers_of_people(n, 0)
    totals = flat.sum(axis=1)
    most = None if total_upper is None else np.asarray(total_upper)
    if most is not None and most.shape != (n_tables,):
        raise InputError(
            Reason.MALFORMED,
            "The probability of recovering zeros was asked for many tables and their totals.",
            f"The limits of the totals have the shape {most.shape}.",
            f"Give one for each of the {n_tables:,} tables.",
        )
    if most is not None and bool(np.any(most < totals)):
        raise InputError(
            Reason.CONFLICTING_COUNTS,
            "The probability of recovering zeros was asked for many tables and their totals.",
            f"The upper limit of the total is below the true one in {int((most < totals).sum())}.",
            "Give limits that hold.",
        )
    return _risks(flat, low, high, most, asked)


def _risks(
    counts: NDArray[np.int64],
    lower: NDArray[np.generic],
    upper: NDArray[np.generic],
    total_upper: NDArray[np.generic] | None,
    asked: NDArray[np.int64],
) -> Floats:
    from gamekeeper.algorithms.subtraction.kernels import LARGEST_SMALL_POPULATION, small_tables

    totals = counts.sum(axis=1)
    relevant = np.equal(counts, upper)
    gives_away = np.zeros(len(counts), np.bool_)
    unsure = np.zeros(counts.shape, np.bool_)
    if total_upper is not None:
        gives_away = np.equal(total_upper, totals)
        unsure = np.greater(counts, lower) & gives_away[:, None]
        known = gives_away & ~unsure.any(axis=1)
        relevant = relevant | known[:, None]
        gives_away = gives_away & ~known
    out = np.zeros((len(counts), len(asked)))
    small = totals <= LARGEST_SMALL_POPULATION
    found = np.zeros((int(small.sum()), len(asked)))
    small_tables(counts[small], relevant[small], unsure[small], gives_away[small], asked, found)
    out[small] = found
    for table in np.flatnonzero(~small):
        rule = probability.recovery_rule(
            counts[table],
            upper[table],
            lower=lower[table],
            total_upper=None if total_upper is None else int(total_upper[table]),
        )
        out[table] = probability.subtraction_risk(rule, n=asked.tolist(), exact_up_to=0).values
    return out
