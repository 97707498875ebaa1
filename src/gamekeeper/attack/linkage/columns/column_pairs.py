"""A column of each of two files as what can be compared: numbers, days, sinks or joint codes.

Arrays are by code of the file, with code 0 for missing: NaN as a number, 0 as a joint code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage.columns.dates import read_dates
from gamekeeper.data.coding.codebook import MISSING, CodedVariable, sorted_values
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.variables.sink_sets import SinkFinder, asked_of_codes
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import count_of, quoted

Columns: TypeAlias = tuple[CodedVariable, CodedVariable]
Codes: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
Found: TypeAlias = tuple[NDArray[Any], str]


_FEW_BAD = 0.1
LARGEST = 1e150
"""The largest magnitude of numbers that are compared: sums of squares must stay finite."""


def observed(column: CodedVariable) -> tuple[str, ...]:
    """Return the values of a column that are not missing, in the order of their codes."""
    return column.values[MISSING + 1 :]


def exact_numbers(columns: Columns, decimals: Sequence[str]) -> list[list[Fraction]] | None:
    """Return the values of both files as numbers; None where one is not a number."""
    made: list[list[Fraction]] = []
    for column, decimal in zip(columns, decimals, strict=True):
        found = [number_of(value, decimal) for value in observed(column)]
        numbers = [number for number in found if number is not None]
        if len(numbers) < len(found):
            return None
        made.append(numbers)
    return made


def floats_of(column: CodedVariable, decimal: str) -> tuple[NDArray[np.float64], list[str]]:
    """Return the numbers of a column by code, NaN for missing, and what is wrong with others."""
    found = [number_of(value, decimal) for value in observed(column)]
    is_large = [number is not None and abs(number) > LARGEST for number in found]
    numbers = [
        math.nan if number is None or large else float(number)
        for number, large in zip(found, is_large, strict=True)
    ]
    n_other, n_large = sum(number is None for number in found), sum(is_large)
    faults = [
        f"{count_of(n_bad, 'value is', 'values are')} {what}"
        for n_bad, what in (
            (n_other, "no number"),
            (n_large, f"beyond {math.log10(LARGEST):.0f} digits"),
        )
        if n_bad
    ]
    return np.array([math.nan, *numbers]), faults


def as_numbers(columns: Columns, decimals: Sequence[str], asked: str) -> list[NDArray[Any]]:
    """Return the numbers of both files by code; refuse values that are none, or too large."""

    def read(column: CodedVariable, decimal: str) -> Found:
        numbers, faults = floats_of(column, decimal)
        return numbers, f"{' and '.join(faults)}." if faults else ""

    return _of_both(columns, decimals, asked, read)


def as_days(
    columns: Columns, records: Codes, name: str, asked: str
) -> tuple[list[NDArray[Any]], list[str]]:
    """Return the dates of both files as numbers of days by code, and what a reader should know.

    A few values that are no dates are missing cells; where they are more than one in ten, the column
    is refused.
    """
    notes: list[str] = []
    alone = [read_dates(observed(column)) for column in columns]
    both = [
        # Dates that can be read one way alone tell how the other file is to be read.
        read_dates(observed(column), other.days.tolist())
        if its.is_ambiguous and not other.is_ambiguous
        else its
        for column, its, other in zip(columns, alone, reversed(alone), strict=True)
    ]
    sides = iter(zip(records, both, ("first", "second"), strict=True))

    def read(_column: CodedVariable, _: str) -> Found:
        its_codes, found, which = next(sides)
        days = np.array([math.nan, *found.days])
        if found.n_bad > _FEW_BAD * len(found.days):
            words = count_of(found.n_bad, "value is no date", "values are no dates")
            return days, f"{words} such as 2031-05-01, 20310501 or 1.5.2031."
        n_bad = int(np.count_nonzero(np.isnan(days[its_codes]) & (its_codes != MISSING)))
        if n_bad:
            cells = count_of(n_bad, "cell", "cells")
            verb = "is no date and counts" if n_bad == 1 else "are no dates and count"
            notes.append(f"{cells} of {quoted([name])} in the {which} file {verb} as missing.")
        if len(found.ways) > 1:
            notes.append(
                f"Dates of {quoted([name])} in the {which} file are written in"
                f" {len(found.ways)} ways: {', '.join(found.ways)}."
            )
        if found.by_other:
            notes.append(
                f"Dates of {quoted([name])} in the {which} file can be read day first or month first;"
                f" they are read {found.by_other}, which agrees with more dates of the other file."
            )
        elif found.is_ambiguous:
            notes.append(f"Dates of {quoted([name])} in the {which} file are read day first.")
        return days, ""

    return _of_both(columns, ("", ""), asked, read), notes


def as_sinks(
    columns: Columns, variable: Variable, decimals: Sequence[str], asked: str
) -> list[NDArray[Any]]:
    """Return for both files which sinks each category stands for; refuse what is not known."""

    def read(column: CodedVariable, decimal: str) -> Found:
        finder = SinkFinder(variable, decimal)
        table = np.zeros((column.n_codes - 1, len(variable.graph.sinks)), np.bool_)
        for code in range(MISSING + 1, column.n_codes):
            table[code - 1, finder.of(column, code)] = True
        n_other = int(np.count_nonzero(~table.any(axis=1)))
        words = count_of(n_other, "value is", "values are")
        fault = f"{words} no category of {quoted([variable.name])} in the environment."
        return table, fault if n_other else asked_of_codes(finder, column)[0]

    return _of_both(columns, decimals, asked, read)


def as_ranks(columns: Columns, order: Sequence[str], asked: str) -> list[NDArray[Any]]:
    """Return the places of the categories of both files in a given order of values or of words."""
    place = {name: number for number, name in enumerate(order, start=1)}
    is_by_value = all(value in place for column in columns for value in observed(column))

    def read(column: CodedVariable, _: str) -> Found:
        texts = observed(column) if is_by_value else column.words[MISSING + 1 :]
        ranks = [place.get(text, 0) for text in texts]
        n_other = ranks.count(0)
        words = count_of(n_other, "value is", "values are")
        return np.array([0, *ranks]), f"{words} not in the given order." if n_other else ""

    return _of_both(columns, ("", ""), asked, read)


def common_order(columns: Columns, asked: str) -> tuple[str, ...]:
    """Return the order that the values of both files came with; none where they came with none."""
    orders = [column.order for column in columns if column.order]
    values = {value for column in columns for value in observed(column)}
    for order in orders:
        if values <= {*order} and _agree(orders):
            return order
    if not orders:
        return ()
    raise InputError(
        Reason.BAD_OPTION,
        asked,
        "The categories have no order that holds for both files.",
        "Give the order: LinkVariable(name, order=(lowest, ..., highest)), or --order.",
    )


def _agree(orders: Sequence[Sequence[str]]) -> bool:
    """Tell whether what several orders have in common is in the same order in each."""
    shared = set(orders[0]).intersection(*orders[1:])
    return len({tuple(value for value in order if value in shared) for order in orders}) == 1


def as_categories(columns: Columns, decimals: Sequence[str]) -> Codes:
    """Number the categories of both files together: by their values, or by their words."""
    values = [observed(column) for column in columns]
    words = [column.words[MISSING + 1 :] for column in columns]
    if len({*words[0]} & {*words[1]}) > len({*values[0]} & {*values[1]}):
        return joint_codes(words)
    numbers = exact_numbers(columns, decimals)
    # A masking program may write 1.0 for 1. Where a file tells 1 from 01, they are names.
    if numbers is None or any(len({*part}) < len(part) for part in numbers):
        return joint_codes(values)
    return joint_codes(numbers)


def joint_codes(parts: Sequence[Sequence[Fraction | str]]) -> Codes:
    """Number the values of both files together in their order, equal ones alike.

    Examples
    --------
    >>> [codes.tolist() for codes in joint_codes([["b", "a"], ["c", "b"]])]
    [[0, 2, 1], [0, 3, 2]]
    """
    distinct = dict.fromkeys([*parts[0], *parts[1]])
    numbers = [value for value in distinct if isinstance(value, Fraction)]
    texts = [value for value in distinct if isinstance(value, str)]
    place = {value: k for k, value in enumerate([*sorted(numbers), *sorted_values(texts)], start=1)}
    left, right = (np.array([0, *(place[value] for value in part)], np.int64) for part in parts)
    return left, right


def _of_both(
    columns: Columns,
    decimals: Sequence[str],
    asked: str,
    read: Callable[[CodedVariable, str], Found],
) -> list[NDArray[Any]]:
    """Read the column of each file; tell what is wrong with both at once."""
    found = [read(column, decimal) for column, decimal in zip(columns, decimals, strict=True)]
    problems = [
        Problem(
            Reason.BAD_OPTION,
            f"column {quoted([column.name])} of the {which} file",
            fault,
            "Choose another kind.",
        )
        for (_, fault), column, which in zip(found, columns, ("first", "second"), strict=True)
        if fault
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            f"{count_of(len(problems), 'column')} cannot be.",
            "Choose another kind.",
            problems=problems,
        )
    return [array for array, _ in found]
