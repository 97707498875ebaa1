"""Sampling fractions, exact sums of weights, and counts of cells of margins, asked of the engine.

A fraction is the share of the population that a file, or each of its strata, holds. It is given, or
follows from weights as the number of records over the sum of their weights. All are exact rationals.
With strata the fraction of the file is the number of records over the population that the strata imply.

Floating point sums differ in their last digits with the order of the terms, and so with the number
of threads. Here weights are scaled by a power of two to whole numbers and summed as such. A weight
loses digits only when the file's weights span more than some twenty decimal orders.

Of margins, only how many cells have how many records comes here, a few hundred rows for each. Many are
asked for in one query, each part of which groups the different keys by its own columns; written as parts
of a union and not as grouping sets, which would first copy every key once for each margin.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.prompt_syntax import FractionLike, parse_fraction
from gamekeeper.wording import count_of, quoted


def fractions_by_code(
    variable: CodedVariable, counts: Mapping[int, int], given: Mapping[str, FractionLike]
) -> tuple[dict[int, Fraction], list[Problem]]:
    """Return the fraction of each stratum that occurs, by its code, and what is wrong.

    A stratum is given by its word or by its value in the file, the missing cell by "missing".
    """
    where = f"strata {quoted([variable.name])}"
    problems: list[Problem] = []
    read: dict[str, Fraction] = {}
    for name, value in given.items():
        try:
            read[name] = parse_fraction(value)
        except InputError as error:
            problems.append(Problem(error.reason, where, error.found, error.do))
    found: dict[int, Fraction] = {}
    lost: list[int] = []
    for code in counts:
        names = [name for name in (variable.words[code], variable.values[code]) if name in given]
        if not names:
            lost.append(code)
        elif names[0] in read:
            found[code] = read[names[0]]
    if lost:
        n_records = sum(counts[code] for code in lost)
        problems.append(
            Problem(
                Reason.UNKNOWN_NAME,
                where,
                f"{len(lost)} of {count_of(len(counts), 'stratum', 'strata')} have no fraction "
                f"({count_of(n_records, 'record')}).",
                "Give one for each, by its word.",
            )
        )
    return found, problems


def overall_fraction(counts: Mapping[int, int], fractions: Mapping[int, Fraction]) -> Fraction:
    """Return the number of records over the population that the strata imply.

    >>> overall_fraction({1: 10, 2: 10}, {1: Fraction(1, 10), 2: Fraction(1, 30)})
    Fraction(1, 20)
    """
    population = sum((count / fractions[code] for code, count in counts.items()), Fraction(0))
    return sum(counts.values()) / population


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

    >>> sum_of_weights(1000, 1.5, 200.0)
    WeightSum(bits=52, largest_bits=8)
    """
    needed = _FLOAT_BITS - math.frexp(smallest)[1]
    possible = _SUM_BITS - math.frexp(largest)[1] - n_records.bit_length()
    return WeightSum(max(min(needed, possible), -1000), math.frexp(largest)[1])


_AT_ONCE = 16


class Marginals:
    """The margins of the keys of a file.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> coded = coded_from_codes([[1, 1], [1, 2], [2, 2], [1, 2]], ["age", "sex"])
    >>> (sizes, cells), (all_sizes, _) = Marginals(count_keys(coded, ["age", "sex"])).of([1, 3])
    >>> sizes.tolist(), cells.tolist(), all_sizes.tolist()
    ([1, 3], [1, 1], [1, 2])
    """

    def __init__(self, table: KeyTable) -> None:
        counted, self._engine = table.counted, table.coded.engine
        self._columns = list(counted.packing.columns)
        columns = ", ".join(self._columns)
        # Keys by their variables; the packed ones would have to be taken apart by every query.
        self._relation = self._engine.create(
            f"SELECT {columns}, COUNT(*) AS n FROM {counted.select(*self._columns)}"
            f" GROUP BY {columns}"
        )
        weakref.finalize(self, self._engine.drop, self._relation).atexit = False

    def ranges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the lowest and the highest code of each key variable."""
        ends = ", ".join(
            f"{end}({column}) AS {end}_{column}"
            for end in ("MIN", "MAX")
            for column in self._columns
        )
        found = self._engine.query(f"SELECT {ends} FROM {self._relation}")
        numbers = np.array([column[0].as_py() for column in found.columns], np.int64)
        return numbers[: len(self._columns)], numbers[len(self._columns) :]

    def of(self, masks: Sequence[int]) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Return, for each set of variables, the sizes of its cells and how many have each.

        A set is given by its bits and is not empty. Sizes rise.
        """
        made: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
        for start in range(0, len(masks), _AT_ONCE):
            part = masks[start : start + _AT_ONCE]
            found = self._engine.query(
                " UNION ALL ".join(self._sizes_sql(place, mask) for place, mask in enumerate(part))
            )
            places, sizes, cells = (column.to_numpy() for column in found.columns)
            for place in range(len(part)):
                own = np.flatnonzero(places == place)
                own = own[np.argsort(sizes[own])]
                made.append((sizes[own], cells[own]))
        return made

    def _sizes_sql(self, place: int, mask: int) -> str:
        columns = [column for bit, column in enumerate(self._columns) if mask >> bit & 1]
        cells = f"SELECT CAST(SUM(n) AS BIGINT) AS n FROM {self._relation} GROUP BY {', '.join(columns)}"
        return (
            f"SELECT {place} AS place, n, COUNT(*) AS cells FROM ({cells}) AS m{place} GROUP BY n"
        )
