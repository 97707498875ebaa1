"""The variables that two files are linked on, and how their values are compared.

What is not said is chosen: a variable with more than ten values, all of them numbers in both files,
is compared as a number, any other as a category. Categories in different categorizations are
compared by the sinks of the partition graph of stage one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.link_comparison import Comparison
from gamekeeper.algorithms.link_distances import (
    compare_categories,
    compare_dates,
    compare_numbers,
    compare_ranks,
    compare_sinks,
    compare_texts,
)
from gamekeeper.data.codebook import MISSING, CodedVariable, number_of
from gamekeeper.data.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, count_of, did_you_mean, quoted
from gamekeeper.mapping.sink_sets import SinkFinder
from gamekeeper.mapping.variable import Variable

__all__ = ["Kind", "LinkVariable", "common_variables", "compare_files", "equal_codes"]

Floats = NDArray[np.float64]

_FEW_VALUES = 10
_NUMBER_MEASURES = ("standardized", "absolute", "squared", "relative")
_TEXT_MEASURES = ("levenshtein", "transposition", "jaro-winkler")


class Kind(StrEnum):
    """How values of a variable are compared."""

    NUMBER = "number"
    ORDINAL = "ordinal"
    CATEGORY = "category"
    DATE = "date"
    TEXT = "text"
    MAPPED = "mapped"


@dataclass(frozen=True, slots=True)
class LinkVariable:
    """One variable to link on.

    Attributes
    ----------
    name
        Its column in the first file.
    other
        Its column in the second file; the same by default.
    kind
        How values are compared; chosen by the values if None.
    measure
        Of numbers: standardized, absolute, squared or relative. Of texts: levenshtein,
        transposition or jaro-winkler.
    order
        The categories of an ordinal variable from the lowest to the highest; the order of numbers
        or of the alphabet if empty.
    missing
        The distance of a missing value: "expected", "largest", "zero", "impossible" or a number.
    variable
        The variable of the environment whose partition graph says what categories mean.
    """

    name: str
    other: str = ""
    kind: Kind | None = None
    measure: str = ""
    order: tuple[str, ...] = ()
    missing: str | float = "expected"
    variable: Variable | None = None

    @property
    def column(self) -> str:
        """The column in the second file."""
        return self.other or self.name


def common_variables(
    a: Sequence[str], b: Sequence[str], *, without: Sequence[str] = ()
) -> list[LinkVariable]:
    """Return the variables that both files have, in the order of the first.

    Examples
    --------
    >>> [one.name for one in common_variables(["id", "age", "sex"], ["sex", "age"], without=["id"])]
    ['age', 'sex']
    """
    found = [LinkVariable(name) for name in a if name in set(b) and name not in without]
    if not found:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Two files were to be linked on the variables they share.",
            "They have no column in common.",
            "Name the columns that belong together, or match the structure of the files instead"
            " (link structure).",
        )
    return found


def compare_files(
    a: CodedTable, b: CodedTable, variables: Sequence[LinkVariable], *, decimal: str = "."
) -> tuple[tuple[LinkVariable, ...], tuple[Comparison, ...]]:
    """Return the variables with their kinds, and what compares the records of two files by each.

    Examples
    --------
    >>> from gamekeeper.data.coded_table import coded_from_codes
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
    chosen = tuple(_with_kind(a, b, one, decimal) for one in variables)
    made: list[Comparison] = []
    for one in chosen:
        try:
            made.append(_comparison(a, b, one, decimal))
        except InputError as error:
            found = error.problems or [
                Problem(error.reason, f"variable {quoted([one.name])}", error.message)
            ]
            problems += found
    if problems:
        raise InputError(
            problems[0].reason,
            "Two files were to be compared record by record.",
            f"{count_of(len(problems), 'problem was', 'problems were')} found.",
            problems=problems,
        )
    return chosen, tuple(made)


def equal_codes(
    a: CodedTable, b: CodedTable, one: LinkVariable, comparison: Comparison
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return codes of both files that are equal where values are; 0 for missing.

    Numbers and dates are equal as such, whatever they are written like.
    """
    if one.kind not in (Kind.NUMBER, Kind.DATE):
        left, right = _joint_codes(a.codebook[one.name], b.codebook[one.column], one)
        return left[a.codes(one.name)], right[b.codes(one.column)]
    both = np.concatenate((comparison.a, comparison.b))
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


def _with_kind(a: CodedTable, b: CodedTable, one: LinkVariable, decimal: str) -> LinkVariable:
    if one.kind is not None:
        return one
    if one.variable is not None:
        return replace(one, kind=Kind.MAPPED)
    values = {*_observed(a.codebook[one.name]), *_observed(b.codebook[one.column])}
    are_numbers = all(number_of(value, decimal) is not None for value in values)
    is_number = are_numbers and len(values) > _FEW_VALUES
    return replace(one, kind=Kind.NUMBER if is_number else Kind.CATEGORY)


def _observed(column: CodedVariable) -> tuple[str, ...]:
    return column.values[MISSING + 1 :]


def _comparison(a: CodedTable, b: CodedTable, one: LinkVariable, decimal: str) -> Comparison:
    left, right = a.codebook[one.name], b.codebook[one.column]
    x, y = a.codes(one.name).astype(np.int64), b.codes(one.column).astype(np.int64)
    missing = cast("Literal['expected', 'largest', 'zero', 'impossible'] | float", one.missing)
    if one.kind is Kind.NUMBER:
        measure = _measure(one, _NUMBER_MEASURES)
        numbers = [
            _numbers(column, decimal, one)[codes] for column, codes in ((left, x), (right, y))
        ]
        return compare_numbers(
            *numbers,
            measure=cast("Literal['absolute', 'squared', 'standardized', 'relative']", measure),
            missing=missing,
            name=one.name,
        )
    if one.kind is Kind.DATE:
        days = [_days(column, one)[codes] for column, codes in ((left, x), (right, y))]
        return compare_dates(*days, missing=missing, name=one.name)
    if one.kind is Kind.TEXT:
        measure = _measure(one, _TEXT_MEASURES)
        return compare_texts(
            x,
            y,
            _observed(left),
            _observed(right),
            measure=cast("Literal['levenshtein', 'transposition', 'jaro-winkler']", measure),
            missing=missing,
            name=one.name,
        )
    if one.kind is Kind.MAPPED:
        assert one.variable is not None
        sinks = [_sink_table(column, one, decimal) for column in (left, right)]
        return compare_sinks(x, y, *sinks, missing=missing, name=one.name)
    joint = _joint_codes(left, right, one)
    x, y = joint[0][x], joint[1][y]
    if one.kind is Kind.ORDINAL:
        return compare_ranks(x, y, missing=missing, name=one.name)
    return compare_categories(x, y, missing=missing, name=one.name)


def _measure(one: LinkVariable, known: Sequence[str]) -> str:
    if one.measure and one.measure not in known:
        raise InputError(
            Reason.BAD_OPTION,
            f"{quoted([one.name])} was to be compared by {quoted([one.measure])}.",
            "There is no such measure.",
            f"There are: {quoted(known)}.",
        )
    return one.measure or known[0]


def _numbers(column: CodedVariable, decimal: str, one: LinkVariable) -> Floats:
    found = [number_of(value, decimal) for value in _observed(column)]
    n_other = sum(number is None for number in found)
    if n_other:
        raise _unfit(one, column, f"{count_of(n_other, 'value is', 'values are')} no number.")
    return np.array([math.nan, *(float(number) for number in found if number is not None)])


def _days(column: CodedVariable, one: LinkVariable) -> Floats:
    made = [math.nan]
    n_other = 0
    for value in _observed(column):
        text = value if "-" in value else f"{value[:4]}-{value[4:6]}-{value[6:8]}"
        try:
            made.append(float(date.fromisoformat(text[:10]).toordinal()))
        except ValueError:
            n_other += 1
    if n_other:
        raise _unfit(
            one, column, f"{count_of(n_other, 'value is', 'values are')} no date as 2031-05-01."
        )
    return np.array(made)


def _sink_table(column: CodedVariable, one: LinkVariable, decimal: str) -> NDArray[np.bool_]:
    assert one.variable is not None
    finder = SinkFinder(one.variable, decimal)
    table = np.zeros((len(column.words) - 1, len(one.variable.graph.sinks)), np.bool_)
    n_other = 0
    for code in range(MISSING + 1, len(column.words)):
        sinks = finder.first_of((column.words[code], column.values[code]))
        n_other += not sinks
        table[code - 1, sinks] = True
    if n_other:
        raise _unfit(
            one,
            column,
            f"{count_of(n_other, 'value is', 'values are')} no category of"
            f" {quoted([one.variable.name])} in the environment.",
        )
    return table


def _joint_codes(
    left: CodedVariable, right: CodedVariable, one: LinkVariable
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the categories of both files together, those that read alike as one."""
    words = {**dict.fromkeys(left.words[1:]), **dict.fromkeys(right.words[1:])}
    values = {**dict.fromkeys(_observed(left)), **dict.fromkeys(_observed(right))}
    by_word = set(left.words[1:]) & set(right.words[1:])
    by_value = set(_observed(left)) & set(_observed(right))
    is_by_value = len(by_value) >= len(by_word)
    names = list(one.order) or list(values if is_by_value else words)
    if not one.order:
        names = _in_order(names)
    place = {name: number for number, name in enumerate(names, start=1)}
    made: list[NDArray[np.int64]] = []
    for column in (left, right):
        texts = _observed(column) if is_by_value else column.words[1:]
        n_other = sum(text not in place for text in texts)
        if n_other:
            raise _unfit(
                one,
                column,
                f"{count_of(n_other, 'value is', 'values are')} not in the given order.",
            )
        made.append(np.array([0, *(place[text] for text in texts)], np.int64))
    return made[0], made[1]


def _in_order(names: Sequence[str]) -> list[str]:
    from gamekeeper.data.codebook import sorted_values

    return sorted_values(names)


def _unfit(one: LinkVariable, column: CodedVariable, found: str) -> InputError:
    where = f"column {quoted([column.name])}"
    return InputError(
        Reason.BAD_OPTION,
        f"{quoted([one.name])} was to be compared as {one.kind}.",
        f"The {where}: {found}",
        "Choose another kind.",
        problems=[Problem(Reason.BAD_OPTION, where, found, "Choose another kind.")],
    )
