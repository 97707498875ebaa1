"""The variables that two files are linked on, and how their values are compared.

What is not said is chosen: a variable with more than ten values, all of them numbers in both files,
is compared as a number, any other as a category. Categories in different categorizations are
compared by the sinks of the partition graph of stage one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_fitting,
    compare_numbers,
    compare_ranks,
    compare_sinks,
    compare_texts,
)
from gamekeeper.attack.linkage.columns.column_pairs import (
    as_categories,
    as_days,
    as_numbers,
    as_ranks,
    as_sinks,
    common_order,
    exact_numbers,
    joint_codes,
    observed,
)
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import count_of, did_you_mean, quoted

_FEW_VALUES = 10


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
    """One variable to link on.

    Attributes
    ----------
    name
        Its column in the first file.
    other
        Its column in the second file; the same by default.
    kind
        How values are compared; if None, the kind that a given measure, order or variable is for,
        or else one chosen by the values.
    measure
        Of numbers: standardized, absolute, squared or relative. Of texts: levenshtein,
        transposition or jaro-winkler.
    order
        The categories of an ordinal variable from the lowest to the highest; if empty, the order
        that they have in data frames (ordered categories), or else that of numbers or of the
        alphabet.
    missing
        The distance of a missing value: "expected", "largest", "zero", "impossible" or a number.
    variable
        The variable of the environment whose partition graph says what categories mean.
    fits
        Truth values, a line per code of the first file from 1 and a column per code of the second: can
        the two be the same? Where given, that is the distance: 0 where they can, else 1.
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

    Examples
    --------
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
        return compare_fitting(x, y, one.fits, missing=missing, name=one.name)
    if one.kind is Kind.NUMBER:
        numbers = as_numbers(columns, decimals, asked)
        return compare_numbers(
            numbers[0][x],
            numbers[1][y],
            measure=cast("Literal['absolute', 'squared', 'standardized', 'relative']", measure),
            missing=missing,
            name=one.name,
        )
    if one.kind is Kind.DATE:
        days, notes = as_days(columns, (x, y), one.name, asked)
        made = compare_numbers(days[0][x], days[1][y], missing=missing, name=one.name)
        return replace(made, notes=(*made.notes, *notes))
    if one.kind is Kind.TEXT:
        return compare_texts(
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
        return compare_sinks(x, y, *sinks, missing=missing, name=one.name)
    order = one.order or (common_order(columns, asked) if one.kind is Kind.ORDINAL else ())
    if order:
        left, right = as_ranks(columns, order, asked)
    else:
        left, right = as_categories(columns, decimals)
    compare = compare_ranks if one.kind is Kind.ORDINAL else compare_categories
    return compare(left[x], right[y], missing=missing, name=one.name)


def _require_fitting(one: LinkVariable) -> None:
    """Refuse options that the kind of a variable has no use for."""
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
