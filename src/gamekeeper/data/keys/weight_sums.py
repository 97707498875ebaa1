"""Sums of weights that do not depend on the order of records.

Floating point sums differ in their last digits with the order of the terms, and so with the number
of threads. Here weights are scaled by a power of two to whole numbers and summed as such. A weight
loses digits only when the file's weights span more than some twenty decimal orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

_SUM_BITS = 125  # below 10 ** 38, the largest whole number of plain SQL
_FLOAT_BITS = 53


@dataclass(frozen=True, slots=True)
class WeightSum:
    """How a column of weights is summed: times two to the power `bits`."""

    bits: int

    def whole(self, column: str) -> str:
        """Return the sum as SQL, a whole number still to be scaled back."""
        scale = f"CAST('{2.0**self.bits!r}' AS DOUBLE)"
        return f"SUM(CAST({column} * {scale} AS DECIMAL(38, 0)))"

    def number(self, column: str) -> str:
        """Return the sum as SQL, as a floating point number."""
        scale = f"CAST('{2.0**-self.bits!r}' AS DOUBLE)"
        return f"CAST({self.whole(column)} AS DOUBLE) * {scale}"

    def exact(self, whole: Decimal | int) -> Fraction:
        """Return the exact sum, given what the engine made of `whole`."""
        return Fraction(int(whole)) / Fraction(2) ** self.bits


def sum_of_weights(n_records: int, smallest: float, largest: float) -> WeightSum:
    """Return how to sum so many positive weights.

    Examples
    --------
    >>> sum_of_weights(1000, 1.5, 200.0)
    WeightSum(bits=52)
    """
    needed = _FLOAT_BITS - math.frexp(smallest)[1]
    possible = _SUM_BITS - math.frexp(largest)[1] - n_records.bit_length()
    return WeightSum(max(min(needed, possible), -1000))
