"""The variables that two files are linked on, and how the values of their columns are compared.

What is not said is chosen: a variable with more than ten values, all of them numbers in both files,
is compared as a number, any other as a category. Categories in different categorizations are
compared by the sinks of the partition graph of stage one. Arrays are by code of the file, with code
0 for missing: NaN as a number, 0 as a joint code.

Of dates, 2031-05-01 and 20310501 are read as they stand, 1.5.2031, 1/5/2031 and 1-5-2031 day first,
unless more values of the column with that mark can be read month first. Where all can be read
either way, dates of the other file may tell: the reading that has more of them is chosen. Nothing
else is guessed: two digits of a year have no century.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage import distances
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.data.coding.codebook import MISSING, CodedVariable, sorted_values
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.recoding import SinkFinder, asked_of_codes
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.wording import count_of, did_you_mean, quoted

Columns: TypeAlias = tuple[CodedVariable, CodedVariable]
Codes: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
Found: TypeAlias = tuple[NDArray[Any], str]
_WHOLE = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?:[T ].*)?")
_BARE = re.compile(r"(\d{4})(\d{2})(\d{2})")
_SMALL_FIRST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})(?:[T ].*)?")
_YEARS = range(1800, 2200)
_FEW_BAD = 0.1
LARGEST = 1e150
"""The largest magnitude of numbers that are compared: sums of squares must stay finite."""
_FEW_VALUES = 10


@dataclass(frozen=True, eq=False)
class ReadDates:
    """Days of distinct values, NaN where a value is no date; how they are written, in words.

    `is_ambiguous` where all values with a mark can be read day first and month first; `by_other` says
    which of these was chosen by other dates, nothing where they did not tell.
    """

    days: NDArray[np.float64]
    ways: tuple[str, ...]
    is_ambiguous: bool
    by_other: str = ""

    @property
    def n_bad(self) -> int:
        """The number of values that are no dates."""
        return int(np.count_nonzero(np.isnan(self.days)))


def read_dates(values: Sequence[str], other: Sequence[float] = ()) -> ReadDates:
    """Read distinct values of a column as dates; `other` has days that they may agree with.

    >>> found = read_dates(["2031-05-01", "20310501", "5/13/2031", "31.2.2031"])
    >>> found.days.tolist(), found.ways
    ([741563.0, 741563.0, 741575.0, nan], ('year-month-day', 'yearmonthday', 'month/day/year'))
    """
    month_first: set[str] = set()
    is_ambiguous, days_of_other = False, set(other)
    chosen: dict[str, None] = {}
    for mark in "./-":
        small = [m for m in map(_SMALL_FIRST.fullmatch, values) if m and m[2] == mark]
        days_first = [_day(int(m[4]), int(m[3]), int(m[1])) for m in small]
        months_first = [_day(int(m[4]), int(m[1]), int(m[3])) for m in small]
        n_day, n_month = (
            sum(not math.isnan(x) for x in side) for side in (days_first, months_first)
        )
        if n_month > n_day:
            month_first.add(mark)
        # Where all could be either, which it is remains a guess.
        is_open = bool(small) and n_day == n_month and days_first != months_first
        is_ambiguous |= is_open
        shared = [len(days_of_other.intersection(side)) for side in (days_first, months_first)]
        if is_open and shared[0] != shared[1]:
            chosen["day first" if shared[0] > shared[1] else "month first"] = None
            if shared[1] > shared[0]:
                month_first.add(mark)
    days: list[float] = []
    ways: dict[str, None] = {}
    for value in values:
        day, way = _read(value, month_first)
        days.append(day)
        if not math.isnan(day):
            ways[way] = None
    return ReadDates(np.array(days, np.float64), tuple(ways), is_ambiguous, " and ".join(chosen))


def _read(value: str, month_first: set[str]) -> tuple[float, str]:
    whole = _WHOLE.fullmatch(value)
    if whole:
        return _day(int(whole[1]), int(whole[2]), int(whole[3])), "year-month-day"
    bare = _BARE.fullmatch(value)
    if bare:
        return _day(int(bare[1]), int(bare[2]), int(bare[3])), "yearmonthday"
    small = _SMALL_FIRST.fullmatch(value)
    if not small:
        return math.nan, ""
    mark = small[2]
    if mark in month_first:
        return _day(int(small[4]), int(small[1]), int(small[3])), f"month{mark}day{mark}year"
    return _day(int(small[4]), int(small[3]), int(small[1])), f"day{mark}month{mark}year"


def _day(year: int, month: int, day: int) -> float:
    if year not in _YEARS:
        return math.nan
    try:
        return float(date(year, month, day).toordinal())
    except ValueError:
        return math.nan


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

    A few values that are no dates are missing cells; where they are more than one in ten, the
    column is refused.
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


class Kind(StrEnum):
    """How values of a variable are compared."""

    NUMBER = "number"
    ORDINAL = "ordinal"
    CATEGORY = "category"
    DATE = "date"
    TEXT = "text"
    MAPPED = "mapped"


_MEASURES: dict[Kind | None, tuple[str, ...]] = {
    Kind.NUMBER: ("standardized", "absolute", "squared", "relative"),
    Kind.TEXT: ("levenshtein", "transposition", "jaro-winkler"),
}


@dataclass(frozen=True, slots=True)
class LinkVariable:
    """One variable to link on, by the name of its column in the first file.

    - `other`: its column in the second file; the same by default.
    - `kind`: if None, the kind that a given measure, order or variable is for, or one by the
      values.
    - `measure`: of numbers standardized, absolute, squared or relative; of texts levenshtein,
      transposition or jaro-winkler.
    - `order`: the categories from the lowest to the highest; if empty, the order that they have in
      data frames (ordered categories), or else that of numbers or of the alphabet.
    - `missing`: the distance of a missing value: a number, "expected", "largest", "zero" or
      "impossible".
    - `variable`: the one of the environment whose partition graph says what categories mean.
    - `fits`: truth values, a line per code of the first file from 1 and a column per code of the
      second: can the two be the same? Where given, that is the distance: 0 where they can, else 1.
    """

    name: str
    other: str = ""
    kind: Kind | None = None
    measure: str = ""
    order: tuple[str, ...] = ()
    missing: str | float = "expected"
    variable: Variable | None = None
    fits: NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in [kind.value for kind in Kind]:
            raise InputError(
                Reason.BAD_OPTION,
                f"{quoted([self.name])} was to be compared as {quoted([str(self.kind)])}.",
                "There is no such kind.",
                f"There are: {quoted(kind.value for kind in Kind)}.",
            )
        object.__setattr__(self, "kind", None if self.kind is None else Kind(self.kind))

    @property
    def column(self) -> str:
        """The column in the second file."""
        return self.other or self.name


def common_variables(
    a: Sequence[str], b: Sequence[str], *, without: Sequence[str] = ()
) -> list[LinkVariable]:
    """Return the variables that both files have, in the order of the first.

    >>> [one.name for one in common_variables(["id", "age", "sex"], ["sex", "age"], without=["id"])]
    ['age', 'sex']
    """
    found = [LinkVariable(name) for name in a if name in set(b) and name not in without]
    if not found:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Two files were to be linked on the variables they share.",
            "They have no column in common.",
            "Name the columns that belong together (--on FIRST=SECOND), or match the structure of the"
            " files instead (link structure).",
        )
    return found


def compare_files(
    a: CodedTable,
    b: CodedTable,
    variables: Sequence[LinkVariable],
    *,
    decimals: tuple[str, str] = (".", "."),
) -> tuple[tuple[LinkVariable, ...], tuple[Comparison, ...]]:
    """Return the variables with their kinds, and what compares the records of two files by each.

    Numbers of the two files are read with their own decimal marks.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> left, right = (coded_from_codes(codes, ["sex"]) for codes in ([[1], [2]], [[2]]))
    >>> chosen, compared = compare_files(left, right, [LinkVariable("sex")])
    >>> chosen[0].kind, compared[0].matrix().tolist()
    (<Kind.CATEGORY: 'category'>, [[1.0], [0.0]])
    """
    problems = [
        *_unknown(a, [one.name for one in variables], "first"),
        *_unknown(b, [one.column for one in variables], "second"),
    ]
    if not variables:
        problems.append(Problem(Reason.NOTHING_GIVEN, "variables", "none was given."))
    if problems:
        raise InputError(
            Reason.UNKNOWN_NAME,
            "Two files were to be compared record by record.",
            "Some variables cannot be used.",
            problems=problems,
        )
    chosen = tuple(_with_kind(a, b, one, decimals) for one in variables)
    made: list[Comparison] = []
    for one in chosen:
        try:
            made.append(_comparison(a, b, one, decimals))
        except InputError as error:
            found = error.problems or [
                Problem(error.reason, f"variable {quoted([one.name])}", error.message)
            ]
            problems += found
    refuse(
        problems,
        "Two files were to be compared record by record.",
        f"{count_of(len(problems), 'problem was', 'problems were')} found.",
    )
    return chosen, tuple(made)


def equal_codes(
    a: CodedTable, b: CodedTable, one: LinkVariable, comparison: Comparison
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return codes of both files that are equal where values are; 0 for missing.

    Numbers and dates are equal as such, whatever they are written like.
    """
    if one.kind is Kind.TEXT:
        columns = a.codebook[one.name], b.codebook[one.column]
        left, right = joint_codes([observed(column) for column in columns])
        return left[a.codes(one.name)], right[b.codes(one.column)]
    both = np.concatenate((comparison.a, comparison.b))
    if both.dtype.kind != "f":
        return comparison.a.astype(np.int64), comparison.b.astype(np.int64)
    _, codes = np.unique(both, return_inverse=True)
    codes = np.where(np.isnan(both), 0, codes.reshape(-1) + 1)
    return codes[: len(comparison.a)], codes[len(comparison.a) :]


def _unknown(table: CodedTable, names: Sequence[str], which: str) -> list[Problem]:
    return [
        Problem(
            Reason.UNKNOWN_NAME,
            f"column {quoted([name])}",
            f"is not in the {which} file.",
            did_you_mean(name, table.codebook.names),
        )
        for name in names
        if name not in table.codebook
    ]


def implied_kind(one: LinkVariable) -> Kind | None:
    """Return the kind that was given, or that a measure, an order or a partition graph is for."""
    if one.kind is not None:
        return one.kind
    if one.fits is not None:
        return Kind.CATEGORY
    if one.variable is not None:
        return Kind.MAPPED
    if one.order:
        return Kind.ORDINAL
    for kind, measures in _MEASURES.items():
        if one.measure in measures:
            return kind
    return None


def plain_kinds(
    a: CodedTable, b: CodedTable, variables: Sequence[LinkVariable], decimals: tuple[str, str]
) -> list[LinkVariable]:
    """Return variables with kinds: numbers with more than ten values, and categories."""
    return [
        _with_kind(a, b, one, decimals)
        if one.name in a.codebook and one.column in b.codebook
        else one
        for one in variables
    ]


def _with_kind(
    a: CodedTable, b: CodedTable, one: LinkVariable, decimals: tuple[str, str]
) -> LinkVariable:
    implied = implied_kind(one)
    if implied is not None:
        return replace(one, kind=implied)
    columns = a.codebook[one.name], b.codebook[one.column]
    numbers = exact_numbers(columns, decimals)
    values = set() if numbers is None else {*numbers[0], *numbers[1]}
    return replace(one, kind=Kind.NUMBER if len(values) > _FEW_VALUES else Kind.CATEGORY)


def _comparison(
    a: CodedTable, b: CodedTable, one: LinkVariable, decimals: tuple[str, str]
) -> Comparison:
    _require_fitting(one)
    columns = a.codebook[one.name], b.codebook[one.column]
    x, y = a.codes(one.name).astype(np.int64), b.codes(one.column).astype(np.int64)
    missing = cast("Literal['expected', 'largest', 'zero', 'impossible'] | float", one.missing)
    measure = one.measure or next(iter(_MEASURES.get(one.kind, ())), "")
    asked = f"{quoted([one.name])} was to be compared as {one.kind}."
    if one.fits is not None:
        return distances.compare_fitting(x, y, one.fits, missing=missing, name=one.name)
    if one.kind is Kind.NUMBER:
        numbers = as_numbers(columns, decimals, asked)
        return distances.compare_numbers(
            numbers[0][x],
            numbers[1][y],
            measure=cast("Literal['absolute', 'squared', 'standardized', 'relative']", measure),
            missing=missing,
            name=one.name,
        )
    if one.kind is Kind.DATE:
        days, notes = as_days(columns, (x, y), one.name, asked)
        made = distances.compare_numbers(days[0][x], days[1][y], missing=missing, name=one.name)
        return replace(made, notes=(*made.notes, *notes))
    if one.kind is Kind.TEXT:
        return distances.compare_texts(
            x,
            y,
            observed(columns[0]),
            observed(columns[1]),
            measure=cast("Literal['levenshtein', 'transposition', 'jaro-winkler']", measure),
            missing=missing,
            name=one.name,
        )
    if one.kind is Kind.MAPPED and one.variable is not None:
        sinks = as_sinks(columns, one.variable, decimals, asked)
        return distances.compare_sinks(x, y, *sinks, missing=missing, name=one.name)
    order = one.order or (common_order(columns, asked) if one.kind is Kind.ORDINAL else ())
    if order:
        left, right = as_ranks(columns, order, asked)
    else:
        left, right = as_categories(columns, decimals)
    compare = distances.compare_ranks if one.kind is Kind.ORDINAL else distances.compare_categories
    return compare(left[x], right[y], missing=missing, name=one.name)


def _require_fitting(one: LinkVariable) -> None:
    asked = f"{quoted([one.name])} was to be compared as {one.kind}"
    known = _MEASURES.get(one.kind, ())
    if one.measure and one.measure not in known:
        raise InputError(
            Reason.BAD_OPTION,
            f"{asked} by {quoted([one.measure])}.",
            "There is no such measure.",
            f"There are: {quoted(known)}." if known else "This kind has no measures.",
        )
    if one.order and one.kind is not Kind.ORDINAL:
        raise InputError(
            Reason.BAD_OPTION,
            f"{asked}, with an order.",
            "Only ordinal variables have an order.",
            "Compare it as ordinal, or leave the order out.",
        )
    if one.kind is Kind.MAPPED and one.variable is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"{asked}.",
            "No variable of an environment was given, whose partition graph it could be mapped by.",
            "Give one.",
        )
