"""The exact distribution of what one round of the special method of DIS gives, class by class.

It costs some b^5 products of fractions for b records removed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.prompt_syntax import parse_fraction

Chances = dict[tuple[int, int, int], Fraction]
"""By (records removed, unique matches, correct unique matches)."""


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
    """
    fraction = parse_fraction(fraction)
    n_records = sum(size * n_classes for size, n_classes in structure.items())
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
