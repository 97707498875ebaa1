"""Measures of classes of equal keys: risks of attackers, l-diversity, t-closeness, individual risk.

Risks of attackers. A prosecutor knows that somebody is in the file; the risk of a record is 1/f,
with f the records of its class. A journalist does not; the risk is 1/F, with F the people of the
class in the population. Of both there are the highest risk, the average over records, and the share
of records above a threshold. A marketer wants many records, not a certain one: the expected share
of records that are matched rightly is the average of 1/F (or of 1/f where the file is the
population). El Emam 2013, chapters 16 to 19. Exact; linear in classes.

l-diversity: how many values of a sensitive variable a class has. Distinct: the number of different
values. Entropy: exp(H), with H the entropy of the values in the class, so that a class of l equally
frequent values has l. Recursive (c, l): with the values' counts r_1 >= r_2 >= ... it holds where
r_1 < c (r_l + r_(l+1) + ...); reported is the largest l for which it holds. A class with one value
has 1 in every sense: by definition r_1 < c r_1 for c > 1, and for c <= 1 it holds for no l, hence
0. A missing cell counts as no value; a class without any value has 0. Machanavajjhala, Kifer,
Gehrke and Venkitasubramaniam 2007. One sort of the pairs of class and value.

t-closeness: the earth mover's distance between the known values of a class and those of the file.
With equal distances between values it is half the sum of |p_i - q_i|. With ordered values it is the
sum over i of |sum_(j<=i) (p_j - q_j)| / (m - 1), with m the number of values of the variable that
occur in the file. A file is t-close where no class is further away than t. Li, Li and
Venkatasubramanian 2007. Linear in the pairs of class and value; a class is never spread out over
all values.

The risk of a household, that at least one of its members is re-identified, is 1 - prod (1 - r_i),
with r_i the individual risks, taken as independent. Each of its members has it, since who
recognizes one recognizes all. A record without a household is one by itself. Franconi and Polettini
2004; the mu-Argus manual calls it household risk, others hierarchical risk. Linear.

Unsafe combinations, the rule of mu-Argus: for every set of at most d key variables, a combination
of their categories is unsafe if at least one record has it and fewer than k have: tables of one,
two, three variables are what somebody may know of another person. A threshold may differ by number
of variables. One numbering of records per set, each from that of a smaller set.

Individual risk from sampling weights: E[1/F] of the population count F of a class, given f in the
sample. Under the superpopulation of Benedetti and Franconi, F given f is negative binomial, Pr(F=h)
= C(h-1, f-1) p^f (1-p)^(h-f) for h >= f, with p estimated by f over the sum of the weights of the
class. With q = 1-p the risk is the integral of u^(f-1) p / (p + q u) over u from 0 to 1, hence

    r_1 = (p/q) ln(1/p),    r_(f+1) = (p/q) (1/f - r_f),    r_f = p sum_k q^k k! (f-1)! / (k+f)!

The recurrence damps errors for small p/q and is used there for small f; the series has positive
terms only and is used elsewhere (under 100 terms). Franconi and Polettini 2004. Linear in classes.
The approximate form that software prints is exact for f = 1 and 2, and p / (f - q) from f = 3 on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import dense_numbers
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    """The highest risk, the average, and the share above a threshold; None without any record."""

    highest: Fraction | None
    average: Fraction | None
    at_risk: Fraction | None


def attacker_risk(records: Mapping[int, int], threshold: Fraction) -> AttackerRisk:
    """Return the risk of records whose class has a known number of members.

    `records` has how many records there are in classes of each size: of the file for a prosecutor,
    of the population for a journalist. One is at risk where one over that size is above the
    threshold.

    Examples
    --------
    >>> attacker_risk({1: 1, 3: 3}, Fraction(1, 3))
    AttackerRisk(highest=Fraction(1, 1), average=Fraction(1, 2), at_risk=Fraction(1, 4))
    """
    held = {size: n for size, n in records.items() if n > 0}
    n_records = sum(held.values())
    if not n_records:
        return AttackerRisk(None, None, None)
    total = sum((Fraction(n, size) for size, n in held.items()), Fraction(0))
    exposed = sum(n for size, n in held.items() if Fraction(1, size) > threshold)
    return AttackerRisk(Fraction(1, min(held)), total / n_records, Fraction(exposed, n_records))


def estimated_risk(
    sizes: NDArray[np.integer[Any]],
    people: NDArray[np.floating[Any]],
    threshold: Fraction,
    counts: Integers | None = None,
) -> tuple[float, float, float]:
    """Return a journalist's highest and average risk and share at risk, F estimated per record.

    Where one stands for several records, `counts` says for how many.

    Examples
    --------
    >>> estimated_risk(np.array([1, 0]), np.array([17.5, 0.0]), Fraction(1, 20))
    (0.05714285714285714, 0.05714285714285714, 1.0)
    """
    counted = np.asarray(sizes) > 0
    if not counted.any():
        return float("nan"), float("nan"), float("nan")
    # The population holds at least the sample, whatever the weights say.
    risk = 1 / np.maximum(people[counted], sizes[counted])
    each = None if counts is None else counts[counted]
    average, at_risk = (np.average(x, weights=each) for x in (risk, risk > float(threshold)))
    return float(risk.max()), float(average), float(at_risk)


@dataclass(frozen=True, slots=True, repr=False)
class ValueCounts:
    """The values of a variable in each class: one line per class and value that occurs there.

    Lines are sorted by class, then by value. `n_classes` classes are numbered from 0; values are
    codes from 1 to `n_values`, those that occur nowhere included.
    """

    classes: Integers
    values: Integers
    counts: Integers
    n_classes: int
    n_values: int

    def __repr__(self) -> str:
        return f"ValueCounts({self.n_classes:,} classes, {len(self.counts):,} lines)"

    def totals(self) -> Integers:
        """Return how many values each class has, each counted as often as it occurs."""
        made = np.zeros(self.n_classes, dtype=np.int64)
        np.add.at(made, self.classes, self.counts)
        return made


@dataclass(frozen=True, slots=True, repr=False)
class Diversity:
    """l of each class in three senses."""

    distinct: Integers
    entropy: Floats
    recursive: Integers

    def __repr__(self) -> str:
        return f"Diversity({len(self.distinct):,} classes)"


def count_values(
    classes: NDArray[np.integer[Any]],
    values: NDArray[np.integer[Any]],
    n_values: int,
    counts: Integers | None = None,
) -> ValueCounts:
    """Count the values of each class.

    A class below 0 is that of a record that was left out, and the value 0 a missing cell; values
    are from 1 to `n_values`. `counts` says for how many records each stands; one if None.

    Examples
    --------
    >>> found = count_values(np.array([0, 0, 1, 1]), np.array([2, 2, 1, 0]), 2)
    >>> found.classes.tolist(), found.values.tolist(), found.counts.tolist()
    ([0, 1], [2, 1], [2, 1])
    """
    n_classes = int(classes.max(initial=-1)) + 1
    known = (classes >= 0) & (values > 0)
    packed = classes[known].astype(np.int64) * (n_values + 1) + values[known]
    if counts is None:
        pairs, sums = np.unique(packed, return_counts=True)
    else:
        pairs, line = np.unique(packed, return_inverse=True)
        sums = np.bincount(line, counts[known], len(pairs))
    return ValueCounts(
        pairs // (n_values + 1), pairs % (n_values + 1), sums.astype(np.int64), n_classes, n_values
    )


def diversity(found: ValueCounts, c: Fraction) -> Diversity:
    """Return l of each class; `c`, above 0, is that of recursive diversity.

    Examples
    --------
    >>> counts = count_values(np.array([0, 0, 0, 0]), np.array([1, 1, 2, 3]), 3)
    >>> found = diversity(counts, Fraction(2))
    >>> found.distinct.tolist(), found.entropy.round(4).tolist(), found.recursive.tolist()
    ([3], [2.8284], [2])
    """
    n, totals = found.n_classes, found.totals()
    distinct = np.bincount(found.classes, minlength=n).astype(np.int64)
    share = found.counts / totals[found.classes]
    entropy = np.bincount(found.classes, weights=-share * np.log(share), minlength=n)
    by_entropy = np.where(distinct > 0, np.exp(entropy), 0.0)
    return Diversity(distinct, by_entropy, _recursive(found, c))


def _recursive(found: ValueCounts, c: Fraction) -> Integers:
    """Return the largest l for which r_1 < c (r_l + ... + r_m), in whole numbers."""
    order = np.lexsort((-found.counts, found.classes))
    classes, counts = found.classes[order], found.counts[order]
    starts = np.searchsorted(classes, np.arange(found.n_classes))
    before = np.concatenate(([0], np.cumsum(counts)))
    ends = np.append(starts[1:], len(classes))
    # What is left from each line to the end of its class, the line included.
    left = before[ends[classes]] - before[:-1]
    largest = counts[starts[classes]] if len(classes) else counts
    holds = largest * c.denominator < left * c.numerator
    return np.bincount(classes[holds], minlength=found.n_classes).astype(np.int64)


def equal_distance(found: ValueCounts) -> Floats:
    """Return t of each class with equal distances between values; NaN for a class without values.

    Examples
    --------
    >>> counts = count_values(np.array([0, 0, 1, 1]), np.array([1, 2, 1, 1]), 2)
    >>> equal_distance(counts)
    array([0.25, 0.25])
    """
    whole, totals = _whole(found), found.totals()
    n_cells = int(whole.sum())
    if not n_cells:
        return np.full(found.n_classes, np.nan)
    # |p - q| as whole numbers over n_c N, so that equal shares differ by exactly nothing. What a
    # class does not have differs by the whole of q.
    of_class, of_file = found.counts * n_cells, whole[found.values] * totals[found.classes]
    apart = np.abs(of_class - of_file) - of_file
    sums = np.zeros(found.n_classes, dtype=np.int64)
    np.add.at(sums, found.classes, apart)
    sums, most = sums + totals * n_cells, 2 * totals * n_cells
    return np.divide(sums, most, out=np.full(len(sums), np.nan), where=most > 0)


def ordered_distance(found: ValueCounts) -> Floats:
    """Return t of each class where values are in the order of their codes; NaN without values.

    Examples
    --------
    The salaries of the paper, 3k to 11k: {3k, 4k, 5k}, {6k, 8k, 11k} and {7k, 9k, 10k}.

    >>> counts = count_values(np.array([0, 0, 0, 1, 2, 1, 2, 2, 1]), np.arange(1, 10), 9)
    >>> ordered_distance(counts).round(3)
    array([0.375, 0.167, 0.236])
    """
    whole, totals = _whole(found), found.totals()
    n_cells = int(whole.sum())
    occurring = np.flatnonzero(whole)
    if not n_cells:
        return np.full(found.n_classes, np.nan)
    if len(occurring) == 1:
        return np.where(totals > 0, 0.0, np.nan)
    # Shares of the file up to each value, and their running sum: between two values of a class its
    # own share is constant, and the sum of distances there follows from where the file crosses it.
    reached = np.cumsum(whole[occurring]) / n_cells
    running = np.concatenate(([0.0], np.cumsum(reached)))
    places = np.searchsorted(occurring, found.values)
    cumulated = np.cumsum(found.counts)
    firsts = np.searchsorted(found.classes, np.arange(found.n_classes))
    before = np.concatenate(([0], cumulated))[firsts]
    own = (cumulated - before[found.classes]) / totals[found.classes]
    is_last = np.append(found.classes[1:] != found.classes[:-1], True)
    ends = np.where(is_last, len(occurring), np.append(places[1:], 0))
    sums = np.bincount(
        found.classes,
        weights=_distances(own, places, ends, reached, running),
        minlength=found.n_classes,
    )
    has_values = totals > 0
    sums[has_values] += running[places[firsts[has_values]]]
    return np.where(has_values, sums / (len(occurring) - 1), np.nan)


def _distances(
    own: Floats, begins: Integers, ends: Integers, reached: Floats, running: Floats
) -> Floats:
    """Return the sum of |own - reached[i]| over begin <= i < end, for each line."""
    crossing = np.clip(np.searchsorted(reached, own), begins, ends)
    below = own * (crossing - begins) - (running[crossing] - running[begins])
    above = running[ends] - running[crossing] - own * (ends - crossing)
    return below + above


def _whole(found: ValueCounts) -> Integers:
    made = np.zeros(found.n_values + 1, dtype=np.int64)
    np.add.at(made, found.values, found.counts)
    return made


def household_risk(risk: NDArray[np.floating[Any]], households: NDArray[np.integer[Any]]) -> Floats:
    """Return for each record the risk of its household.

    A record that was left out has no risk (NaN), adds nothing to its household and has no household
    risk. Households are numbers from 1; 0 for a record without one.

    Examples
    --------
    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([1, 1, 0]))
    array([0.75, 0.75, 0.1 ])
    """
    alone = np.asarray(households) == 0
    with np.errstate(divide="ignore"):  # log(0) is right: who is certain to be found exposes all
        safe = np.log1p(-np.nan_to_num(risk, nan=0.0))
    together = np.bincount(households, weights=safe)[households]
    return np.where(np.isnan(risk), np.nan, -np.expm1(np.where(alone, safe, together)))


@dataclass(frozen=True, slots=True, repr=False)
class UnsafeCombinations:
    """How many there are of 1, 2, ... variables, the same by variable, and of each line."""

    by_size: Integers
    by_variable: Integers
    per_record: Integers

    def __repr__(self) -> str:
        return f"UnsafeCombinations({int(self.by_size.sum()):,} of up to {len(self.by_size)} variables)"


def n_sets(n_variables: int, max_size: int) -> int:
    """Return how many sets of variables are looked at."""
    return sum(math.comb(n_variables, size) for size in range(1, min(max_size, n_variables) + 1))


def unsafe_combinations(
    codes: NDArray[np.integer[Any]],
    thresholds: Sequence[int],
    *,
    counts: Integers | None = None,
    counts_missing: bool = True,
    progress: Progress | None = None,
) -> UnsafeCombinations:
    """Count unsafe combinations.

    - `codes`: one line per record, one column per variable; 0 is a missing cell. `counts` says how
      many records each line stands for; one if None.
    - `thresholds`: for combinations of 1, 2, ... variables: fewer records than that are unsafe. As
      many as the largest number of variables to look at.
    - `counts_missing`: whether a missing cell is a category like others. If not, a record takes
      part in no combination of a variable that is missing in it.

    Examples
    --------
    >>> found = unsafe_combinations(np.array([[1, 1], [1, 2], [1, 2]]), [2, 2])
    >>> found.by_size.tolist(), found.by_variable.tolist(), found.per_record.tolist()
    ([1, 1], [[0, 1], [1, 1]], [2, 0, 0])
    """
    n_records, n_variables = codes.shape
    max_size = min(len(thresholds), n_variables)
    by_size = np.zeros(max_size, dtype=np.int64)
    by_variable = np.zeros((n_variables, max_size), dtype=np.int64)
    per_record = np.zeros(n_records, dtype=np.int64)
    total, done = n_sets(n_variables, max_size), 0
    n_codes = [int(codes[:, place].max(initial=0)) + 1 for place in range(n_variables)]

    def descend(chosen: tuple[int, ...], rows: Integers, numbers: Integers) -> None:
        nonlocal done
        size = len(chosen)
        for place in range(chosen[-1] + 1 if chosen else 0, n_variables):
            column = codes[rows, place].astype(np.int64)
            kept, before = (rows, numbers)
            if not counts_missing and not column.all():
                has = column > 0
                kept, before, column = rows[has], numbers[has], column[has]
            own = dense_numbers(before * n_codes[place] + column)
            found = np.bincount(own, None if counts is None else counts[kept])
            unsafe = (found > 0) & (found < thresholds[size])
            n_unsafe = int(np.count_nonzero(unsafe))
            by_size[size] += n_unsafe
            by_variable[[*chosen, place], size] += n_unsafe
            per_record[kept[unsafe[own]]] += 1
            done += 1
            if progress is not None:
                progress(done, total)
            if size + 1 < max_size:
                descend((*chosen, place), kept, own)

    descend((), np.arange(n_records), np.zeros(n_records, dtype=np.int64))
    return UnsafeCombinations(by_size, by_variable, per_record)


# Below 1/3, p/q is below 1/2; from f = 20 on, the series needs some 40 terms for any p.
_RECURRENCE_BELOW = 1 / 3
_SERIES_FROM = 20
_ENOUGH = 2.0**-56


@dataclass(frozen=True, slots=True, repr=False)
class IndividualRisk:
    """Per class or record: E[1/F], Pr(F=1) and E[F], given the sample; NaN where f is 0."""

    risk: Floats
    pr_population_unique: Floats
    expected_size: Floats

    def __repr__(self) -> str:
        return f"IndividualRisk({len(self.risk):,} lines)"


def individual_risk(
    class_sizes: NDArray[np.integer[Any]], class_weights: NDArray[np.floating[Any]]
) -> IndividualRisk:
    """Return the individual risk of classes from their size and the sum of their weights.

    A size is the number f of records in the class of each line, 0 for a record that was left out;
    the sum of sampling weights estimates F. Where it is below f (weights below 1), f is taken,
    since the population holds at least the sample.

    Examples
    --------
    >>> found = individual_risk(np.array([2, 1]), np.array([110.0, 17.0]))
    >>> found.risk.round(8)
    array([0.01714426, 0.17707583])
    """
    sizes, weights = np.asarray(class_sizes), np.asarray(class_weights, dtype=np.float64)
    if sizes.shape != weights.shape:
        raise InputError(
            Reason.BAD_OPTION,
            f"The individual risk of {sizes.size:,} lines was asked for.",
            f"There are {weights.size:,} sums of weights.",
            "Give one sum of weights for each class size.",
        )
    counted = sizes > 0
    n_wrong = int(np.count_nonzero(counted & ~((weights > 0) & np.isfinite(weights))))
    n_negative = int(np.count_nonzero(sizes < 0))
    if n_wrong or n_negative:
        raise InputError(
            Reason.BAD_OPTION,
            f"The individual risk of {sizes.size:,} lines was asked for.",
            f"{n_wrong:,} sums of weights are not positive numbers; {n_negative:,} class sizes are"
            " negative.",
            "Give one positive sum of weights for each class size.",
        )
    expected = np.where(counted, np.maximum(weights, sizes), np.nan)
    share = np.divide(sizes, expected, out=np.full(sizes.shape, np.nan), where=counted)
    risk = np.full(sizes.shape, np.nan)
    risk[counted] = expected_reciprocal(sizes[counted], share[counted])
    unique = np.where(sizes == 1, share, 0.0)
    return IndividualRisk(risk, np.where(counted, unique, np.nan), expected)


def expected_reciprocal(
    class_sizes: NDArray[np.integer[Any]], share: NDArray[np.floating[Any]]
) -> Floats:
    """Return E[1/F] given f >= 1 in the sample and p in (0, 1], for arrays of equal length.

    Examples
    --------
    >>> expected_reciprocal(np.array([1, 1, 4]), np.array([1.0, 0.5, 1.0]))
    array([1.        , 0.69314718, 0.25      ])
    """
    sizes, p = np.asarray(class_sizes), np.asarray(share, dtype=np.float64)
    if not (np.all(sizes >= 1) and np.all((p > 0) & (p <= 1))):
        raise InputError(
            Reason.BAD_OPTION,
            f"The mean of 1/F for {len(sizes):,} classes was asked for.",
            "Some class sizes are below 1, or some probabilities are outside (0, 1].",
            "Leave out classes without records.",
        )
    risk = np.empty(len(p))
    by_steps = (p < _RECURRENCE_BELOW) & (sizes < _SERIES_FROM)
    risk[by_steps] = _by_recurrence(sizes[by_steps], p[by_steps])
    risk[~by_steps] = _by_series(sizes[~by_steps], p[~by_steps])
    return risk


def approximate_reciprocal(
    class_sizes: NDArray[np.integer[Any]], share: NDArray[np.floating[Any]]
) -> Floats:
    """Return the approximate form of E[1/F]: exact for f = 1 and 2, p / (f - q) for more.

    Examples
    --------
    >>> approximate_reciprocal(np.array([1, 2, 4]), np.array([0.5, 0.5, 0.5])).round(4)
    array([0.6931, 0.3069, 0.1429])
    """
    sizes, p = np.asarray(class_sizes), np.asarray(share, dtype=np.float64)
    few = sizes < 3
    risk = np.empty(len(p))
    risk[few] = expected_reciprocal(sizes[few], p[few])
    risk[~few] = p[~few] / (sizes[~few] - (1 - p[~few]))
    return risk


def _by_recurrence(sizes: NDArray[Any], p: Floats) -> Floats:
    odds = p / (1 - p)
    risk = -odds * np.log(p)
    for size in range(1, int(sizes.max(initial=1))):
        further = sizes > size
        risk[further] = odds[further] * (1 / size - risk[further])
    return risk


def _by_series(sizes: NDArray[Any], p: Floats) -> Floats:
    q = 1 - p
    term = p / sizes
    total = term.copy()
    active = np.arange(len(p))
    k = 0
    while len(active):
        k += 1
        term = term * q[active] * k / (sizes[active] + k)
        total[active] += term
        open_ones = term > _ENOUGH * total[active]
        active, term = active[open_ones], term[open_ones]
    return total
