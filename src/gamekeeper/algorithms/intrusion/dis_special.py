"""The special method of data intrusion simulation (DIS), exactly: what one round may give.

A round removes b of the n records at random, copies each back with the sampling fraction as
probability and matches all b against the file. With b = 1 the expected correct unique matches over
the expected unique matches are the general formula; with more they have the closed form of
`special_dis`. The mean of the ratio over rounds is another number, which `dis_simulation` finds.
Elliot and Manning 2003, whose table of outcomes is that of b = 1. The closed form costs as many
fractions as there are class sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.errors import InputError, Reason


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

    `structure` has the number of classes of each size; 1 up to all records are `removed` together.
    With 1 the ratio equals `dis`.

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
