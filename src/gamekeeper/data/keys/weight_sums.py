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
_WORD_BITS = 62


@dataclass(frozen=True, slots=True)
class WeightSum:
    """How a column of weights is summed: times two to the power `bits`."""

    bits: int
    largest_bits: int

    def whole(self, column: str) -> str:
        """Return the sum as SQL, a whole number still to be scaled back.

        A floating point number never becomes a decimal at once: some engines go by its first
        seventeen digits. By way of a whole number of 64 bits it is exact everywhere; a larger one
        goes in two parts.
        """
        scaled = f"({column} * {_double(2.0**self.bits)})"
        if self.largest_bits + self.bits <= _WORD_BITS:
            return f"SUM(CAST({_word(scaled)} AS DECIMAL(38, 0)))"
        high = f"FLOOR({scaled} * {_double(2.0**-_WORD_BITS)})"
        low = f"({scaled} - {high} * {_double(2.0**_WORD_BITS)})"
        unit = f"CAST({2**_WORD_BITS} AS DECIMAL(19, 0))"
        parts = (
            f"CAST({_word(high)} AS DECIMAL(19, 0)) * {unit} + CAST({_word(low)} AS DECIMAL(19, 0))"
        )
        return f"SUM(CAST({parts} AS DECIMAL(38, 0)))"

    def number(self, column: str) -> str:
        """Return the sum as SQL, as the floating point number that is nearest to it.

        By way of its digits: from a decimal to a floating point number, some engines round twice.
        """
        return f"CAST(CAST({self.whole(column)} AS STRING) AS DOUBLE) * {_double(2.0**-self.bits)}"

    def exact(self, whole: Decimal | int) -> Fraction:
        """Return the exact sum, given what the engine made of `whole`."""
        return Fraction(int(whole)) / Fraction(2) ** self.bits


def _double(number: float) -> str:
    return f"CAST('{number!r}' AS DOUBLE)"


def _word(expression: str) -> str:
    """Return the whole part of a number as a whole number; to cast alone rounds here, cuts there."""
    return f"CAST(FLOOR({expression}) AS BIGINT)"


def sum_of_weights(n_records: int, smallest: float, largest: float) -> WeightSum:
    """Return how to sum so many positive weights.

    Examples
    --------
    >>> sum_of_weights(1000, 1.5, 200.0)
    WeightSum(bits=52, largest_bits=8)
    """
    needed = _FLOAT_BITS - math.frexp(smallest)[1]
    possible = _SUM_BITS - math.frexp(largest)[1] - n_records.bit_length()
    return WeightSum(max(min(needed, possible), -1000), math.frexp(largest)[1])
