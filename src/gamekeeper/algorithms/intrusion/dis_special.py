"""The special method of data intrusion simulation (DIS), exactly: what one round may give.

A round removes b of the n records at random, copies each back with the sampling fraction as
probability and matches all b against the file. With b = 1 the expected correct unique matches over
the expected unique matches are the general formula; with more they have the closed form of
`special_dis`. The mean of the ratio over rounds is another number: `match_chances` has the whole
distribution. Elliot and Manning 2003, whose table of outcomes is that of b = 1. The closed form
costs as many fractions as there are class sizes, the distribution some b^5 products of fractions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.errors import InputError, LimitError, Reason

_MOST_REMOVED = 12

Chances = dict[tuple[int, int, int], Fraction]
"""By (records removed, unique matches, correct unique matches)."""


@dataclass(frozen=True, slots=True)
class SpecialDis:
    """Expected correct and all unique matches of one round of the special method."""

    correct: Fraction
    unique: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """The ratio of the two, what a ratio of totals over many rounds tends to."""
        return self.correct / self.unique if self.unique else None


def special_dis(
    structure: Mapping[int, int], fraction: str | float | Fraction, removed: int = 1
) -> SpecialDis:
    """Return what one round of the special method gives on average, for any number removed.

    Of a class of size s, a removed record matches uniquely if the rest of its class is removed
    too and one of the s is copied back, or if all but one of the rest are removed and none is
    copied back. The other removed records are a simple random sample.

    Parameters
    ----------
    structure
        The number of classes of each size.
    fraction
        The sampling fraction.
    removed
        How many records are removed together, 1 up to all. With 1 the ratio equals `dis`.

    Examples
    --------
    >>> special_dis({1: 3, 2: 2}, "2/5", removed=2).ratio
    Fraction(17, 44)
    """
    fraction = parse_fraction(fraction)
    n_records = _checked_size(structure, removed)
    correct, unique = Fraction(0), Fraction(0)
    for size, n_classes in structure.items():
        if 1 <= size <= removed + 1:
            none_back = n_classes * size * (1 - fraction) ** (size - 1)
            orders = math.perm(n_records, size)
            all_gone = Fraction(math.perm(removed, size), orders)
            one_left = Fraction(math.perm(removed, size - 1) * (n_records - removed), orders)
            correct += none_back * fraction * all_gone
            unique += none_back * (size * fraction * all_gone + (size - 1) * one_left)
    return SpecialDis(correct, unique)


@dataclass(frozen=True, slots=True)
class MatchChances:
    """The exact distribution of (unique matches, correct unique matches) in one round."""

    chances: Mapping[tuple[int, int], Fraction]

    @property
    def any_unique(self) -> Fraction:
        """The probability that a round has a unique match."""
        return sum((c for (unique, _), c in self.chances.items() if unique), Fraction(0))

    @property
    def mean_ratio(self) -> Fraction | None:
        """The mean of correct over unique matches in rounds that have a unique match."""
        ratios = [
            c * Fraction(good, unique) for (unique, good), c in self.chances.items() if unique
        ]
        return sum(ratios, Fraction(0)) / self.any_unique if ratios else None


def match_chances(
    structure: Mapping[int, int], fraction: str | float | Fraction, removed: int = 1
) -> MatchChances:
    """Return the distribution of the matches of one round of the special method, exactly.

    Classes are independent given how many of their records are removed, so that the distribution
    is a product over classes, cut at `removed` records.

    Examples
    --------
    >>> found = match_chances({1: 3, 2: 2}, "2/5", removed=2)
    >>> found.any_unique, found.mean_ratio
    (Fraction(128, 175), Fraction(3, 8))
    """
    fraction = parse_fraction(fraction)
    n_records = _checked_size(structure, removed)
    if removed > _MOST_REMOVED:
        raise LimitError(
            Reason.TOO_LARGE,
            f"All outcomes of removing {removed} records were asked for.",
            f"They are listed for up to {_MOST_REMOVED}.",
            "Use special_dis for the means, or simulate.",
        )
    whole: Chances = {(0, 0, 0): Fraction(1)}
    for size, n_classes in structure.items():
        if size >= 1:
            one = _class_chances(size, fraction, removed)
            whole = _product(whole, _to_the_power(one, n_classes, removed), removed)
    n_sets = math.comb(n_records, removed)
    return MatchChances(
        {(u, c): chance / n_sets for (gone, u, c), chance in whole.items() if gone == removed}
    )


def _class_chances(size: int, fraction: Fraction, removed: int) -> Chances:
    """Return the outcomes of one class, weighted by the sets of records that may be removed."""
    chances: Chances = {}
    for gone in range(min(size, removed) + 1):
        n_sets, rest = math.comb(size, gone), size - gone
        one_back = gone * fraction * (1 - fraction) ** (gone - 1) if gone else Fraction(0)
        none_back = (1 - fraction) ** gone
        unique, good = (one_back, 1) if rest == 0 else (none_back, 0)
        if gone == 0 or rest > 1:
            unique = Fraction(0)
        outcomes = {(gone, gone, good): unique, (gone, 0, 0): 1 - unique}
        chances.update({key: n_sets * chance for key, chance in outcomes.items() if chance})
    return chances


def _product(left: Chances, right: Chances, removed: int) -> Chances:
    product: Chances = {}
    for (gone, unique, good), chance in left.items():
        for (more, unique_more, good_more), other in right.items():
            if gone + more <= removed:
                key = (gone + more, unique + unique_more, good + good_more)
                product[key] = product.get(key, Fraction(0)) + chance * other
    return product


def _to_the_power(base: Chances, exponent: int, removed: int) -> Chances:
    power: Chances = {(0, 0, 0): Fraction(1)}
    while exponent:
        if exponent & 1:
            power = _product(power, base, removed)
        base = _product(base, base, removed)
        exponent >>= 1
    return power


def _checked_size(structure: Mapping[int, int], removed: int) -> int:
    n_records = sum(size * n_classes for size, n_classes in structure.items())
    if (
        min((*structure.keys(), *structure.values()), default=0) < 0
        or not 1 <= removed <= n_records
    ):
        raise InputError(
            Reason.BAD_OPTION,
            f"Removing {removed:,} of {n_records:,} records was asked for.",
            "At least one record must be removed and no more than there are.",
            "Give the number of classes of each size, and fewer records to remove.",
        )
    return n_records
