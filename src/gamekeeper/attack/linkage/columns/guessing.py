"""How the columns of two files are to be compared, guessed from their values, and said.

By what the values of both files look like, in this order:

- **date**: at least nine in ten distinct values are dates;
- **text**, codes: digits of one width, four or more, that are no years: postcodes, numbers of people;
- **number**: numbers, more than ten different ones;
- **ordinal**: numbers but for an open end, such as 90+;
- **text**: more than thirty different words, or more than ten of which a fifth is in one file alone,
  as where names are mistyped;
- **category**: all else.

An identifier is a column whose values are all different in both files and that only says which
record it is: running numbers, or codes of which the files have none in common. It can be left out.
Codes and names that are all different in both files, and in part the same, link by themselves. They
may be what an intruder has, so they are compared, and that is to be said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gamekeeper.attack.linkage.columns.column_pairs import Columns, observed
from gamekeeper.attack.linkage.columns.dates import read_dates
from gamekeeper.attack.linkage.columns.variables import Kind, LinkVariable, implied_kind
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.wording import quoted

_FEW_VALUES = 10
_MANY_WORDS = 30
_MOSTLY = 0.9
_OPEN_END = re.compile(
    r"[<>≤≥]?\s*\d+(?:[.,]\d+)?\s*(?:\+|and (?:over|more|older)|or (?:more|older))?"
)
_DIGITS = re.compile(r"\d+")
_YEARS = (1850, 2100)
_FEWEST = 20
_NAMED = (Kind.TEXT, Kind.CATEGORY)


def guess_kinds(
    a: CodedTable,
    b: CodedTable,
    variables: Sequence[LinkVariable],
    *,
    decimals: tuple[str, str] = (".", "."),
) -> tuple[list[LinkVariable], list[str]]:
    """Return the variables with kinds where none were given, and what was guessed that may surprise.

    Variables that are in neither file stay as they are.
    """
    made: list[LinkVariable] = []
    notes: list[str] = []
    for one in variables:
        if implied_kind(one) is not None or not _is_there(a, b, one):
            made.append(one)
            continue
        columns = a.codebook[one.name], b.codebook[one.column]
        kind = guess_kind(columns, decimals)
        if kind is Kind.ORDINAL:
            notes.append(f"{quoted([one.name])} is compared by rank: some values are open ends.")
        made.append(replace(one, kind=kind))
    return made, notes


def guess_kind(columns: Columns, decimals: Sequence[str]) -> Kind:
    """Return how a column of two files is best compared, by its values."""
    values = [observed(column) for column in columns]
    distinct = {*values[0], *values[1]}
    if not distinct:
        return Kind.CATEGORY
    if len(distinct) > _FEW_VALUES and all(_are_dates(part) for part in values if part):
        return Kind.DATE
    numbers = [
        [number_of(value, decimal) for value in part]
        for part, decimal in zip(values, decimals, strict=True)
    ]
    n_numbers = sum(number is not None for part in numbers for number in part)
    n_values = sum(map(len, values))
    different = {number for part in numbers for number in part if number is not None}
    if n_numbers == n_values:
        if len(different) <= _FEW_VALUES:
            return Kind.CATEGORY
        return Kind.TEXT if _are_codes(distinct) else Kind.NUMBER
    is_open = n_numbers >= _MOSTLY * n_values and all(map(_OPEN_END.fullmatch, distinct))
    if is_open and len(different) > _FEW_VALUES:
        return Kind.ORDINAL
    if n_numbers >= _MOSTLY * n_values and _are_codes(distinct):
        return Kind.TEXT
    alone = len({*values[0]} ^ {*values[1]})
    if len(distinct) > _MANY_WORDS or (len(distinct) > _FEW_VALUES and alone > len(distinct) / 5):
        return Kind.TEXT
    return Kind.CATEGORY


def identifiers(
    a: CodedTable, b: CodedTable, variables: Sequence[LinkVariable], decimals: tuple[str, str]
) -> list[str]:
    """Return the variables that only say which record it is, by their names in the first file."""
    return [
        one.name
        for one, columns in _of_different_values(a, b, variables)
        if any(_is_running(column, from_start=True) for column in columns)
        or (not _shared(columns) and guess_kind(columns, decimals) in _NAMED)
    ]


def telling_alone(
    a: CodedTable, b: CodedTable, variables: Sequence[LinkVariable], decimals: tuple[str, str]
) -> list[str]:
    """Return the variables that link records by themselves, by their names in the first file.

    They are whole numbers with hardly a gap, codes or names, all different in both files, of which
    the files have some in common.
    """
    return [
        one.name
        for one, columns in _of_different_values(a, b, variables)
        if _shared(columns)
        and (all(map(_is_running, columns)) or guess_kind(columns, decimals) in _NAMED)
    ]


def _of_different_values(
    a: CodedTable, b: CodedTable, variables: Sequence[LinkVariable]
) -> list[tuple[LinkVariable, Columns]]:
    """Return the variables of no given kind that have another value for each record of both files."""
    return [
        (one, (a.codebook[one.name], b.codebook[one.column]))
        for one in variables
        if one.kind is None
        and _is_there(a, b, one)
        and _is_unique(a, one.name)
        and _is_unique(b, one.column)
    ]


def _shared(columns: Columns) -> set[str]:
    return {*observed(columns[0])} & {*observed(columns[1])}


def _is_there(a: CodedTable, b: CodedTable, one: LinkVariable) -> bool:
    return one.name in a.codebook and one.column in b.codebook


def _is_unique(table: CodedTable, name: str) -> bool:
    codes = table.codes(name)
    known = codes[codes != MISSING]
    return (
        len(known) >= _FEWEST
        and len(known) == table.n_records
        and len(np.unique(known)) == len(known)
    )


def _is_running(column: CodedVariable, *, from_start: bool = False) -> bool:
    """Tell whether a column of different values counts records: whole numbers with hardly a gap."""
    values = observed(column)
    if not all(value.isdecimal() for value in values):
        return False
    numbers = sorted(map(int, values))
    is_dense = numbers[-1] - numbers[0] < 1.6 * len(numbers)
    return is_dense and (not from_start or numbers[0] <= len(numbers))


def _are_dates(values: Sequence[str]) -> bool:
    found = read_dates(values)
    return found.n_bad <= (1 - _MOSTLY) * len(values)


def _are_codes(values: set[str]) -> bool:
    """Tell whether values are digits of one width, four or more, and no years."""
    digits = [value for value in values if _DIGITS.fullmatch(value)]
    widths = np.bincount([len(value) for value in digits]) if digits else np.zeros(1)
    width = int(np.argmax(widths))
    if width < 4 or widths[width] < 0.95 * len(values):
        return False
    usual = [int(value) for value in digits if len(value) == width]
    are_years = width == 4 and all(_YEARS[0] <= value <= _YEARS[1] for value in usual)
    return not are_years
