"""Guessed from values: how columns of two files compare, which identify; and columns as numbers.

By what the values of both files look like, in this order:

- **date**: at least nine in ten distinct values are dates;
- **text**, codes: digits of one width, four or more, but no years: postcodes, numbers of people;
- **number**: numbers, more than ten different ones;
- **ordinal**: numbers but for an open end, such as 90+;
- **text**: more than thirty different words, or more than ten of which a fifth is in one file
  alone,
  as where names are mistyped;
- **category**: all else.

An identifier is a column whose values are all different in both files and that only says which
record it is: running numbers, or codes of which the files have none in common. It can be left out.
Codes and names that are all different in both files, and in part the same, link by themselves. They
may be what an intruder has, so they are compared, and that is to be said.

For clustering, columns of any kind become numbers whose Manhattan distances are those of their kinds:

- A number is itself; it is scaled to 0 to 1 later.
- **Ordered categories** without a partition graph are numbers, their ranks: two are as far apart as
  the steps between them over all steps. An order is given, or came with the values, or is that of
  bands such as 16-24 and 65+ that do not overlap.
- A category of a **partition graph** is the uniform distribution on its sinks, and has for every
  category of the graph the share of its sinks in that one (a taxonomy: what is together in a coarser
  category is nearer). Two categories are apart by the sum of the differences of these shares, over
  the largest such sum of two sinks. If the graph has sinks alone that is the total variation. On the
  ordinal and interval scale the categories are the runs of sinks from the lowest on: then it is the
  least number of steps by which one distribution is moved into the other, over all steps.
- Without a graph or an order each category is a sink of its own, and the distance 0 or 1.
- A missing value is the mean of its column: as far from everybody as is usual.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import BandStyle, parse_band
from gamekeeper.algorithms.categories.partitions import bits
from gamekeeper.attack.linkage.columns import (
    Columns,
    Kind,
    LinkVariable,
    floats_of,
    implied_kind,
    observed,
    read_dates,
)
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.recoding import SinkFinder, asked_of_codes
from gamekeeper.mapping.variables.codes import Scale, Variable
from gamekeeper.wording import count_of, quoted

Floats = NDArray[np.float64]
_FEW_VALUES, _MANY_WORDS, _MOSTLY = 10, 30, 0.9
_OPEN_END = re.compile(
    r"[<>≤≥]?\s*\d+(?:[.,]\d+)?\s*(?:\+|and (?:over|more|older)|or (?:more|older))?"
)
_DIGITS = re.compile(r"\d+")
_YEARS = (1850, 2100)
_FEWEST = 20
_NAMED = (Kind.TEXT, Kind.CATEGORY)
MOST_CATEGORIES = 100
"""The most categories of a column without a partition graph: more are names, which cluster nothing."""


def guess_kinds(
    a: CodedTable,
    b: CodedTable,
    variables: Sequence[LinkVariable],
    *,
    decimals: tuple[str, str] = (".", "."),
) -> tuple[list[LinkVariable], list[str]]:
    """Return variables with kinds where none were given, and what was guessed that may surprise.

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
    digits = [value for value in values if _DIGITS.fullmatch(value)]
    widths = np.bincount([len(value) for value in digits]) if digits else np.zeros(1)
    width = int(np.argmax(widths))
    if width < 4 or widths[width] < 0.95 * len(values):
        return False
    usual = [int(value) for value in digits if len(value) == width]
    are_years = width == 4 and all(_YEARS[0] <= value <= _YEARS[1] for value in usual)
    return not are_years


@dataclass(frozen=True, eq=False)
class StructureColumns:
    """Columns as numbers: values, what each counts after scaling, from which column, what was done."""

    values: Floats
    weights: Floats
    origins: NDArray[np.int64]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


def structure_columns(
    table: CodedTable,
    names: Sequence[str],
    decimal: str,
    graphs: Mapping[str, Variable],
    which: str,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> StructureColumns:
    """Return columns of any kind as numbers; `graphs` and `orders` are by name."""
    parts: list[Floats] = []
    weights: list[Floats] = []
    origins: list[int] = []
    categories: list[str] = []
    ordered: list[str] = []
    problems: list[Problem] = []
    n_missing = 0
    for place, name in enumerate(names):
        column, codes = table.codebook[name], table.codes(name).astype(np.int64)
        n_missing += int(np.count_nonzero(codes == MISSING))
        made = _by_code(column, decimal, graphs.get(name), (orders or {}).get(name, ()))
        if made.fault:
            problems.append(Problem(Reason.BAD_OPTION, f"column {quoted([name])}", made.fault))
            continue
        values = made.values[codes]
        known = codes != MISSING
        values[~known] = values[known].mean(axis=0) if known.any() else 0.0
        parts.append(values)
        origins += [place] * values.shape[1]
        # Scaling makes each range 1: what it was, over the largest distance, gives distances back.
        ranges = values.max(axis=0, initial=-np.inf) - values.min(axis=0, initial=np.inf)
        weights.append(ranges / made.largest if made.largest else np.ones(1))
        {"category": categories, "ordinal": ordered}.get(made.kind, []).append(name)
    notes: list[str] = []
    if categories:
        notes.append(f"In the {which} file compared as categories: {quoted(categories)}.")
    if ordered:
        notes.append(f"In the {which} file compared by order: {quoted(ordered)}.")
    if n_missing:
        notes.append(
            f"Cells of the {which} file that are missing, {n_missing:,} in all, count as means."
        )
    empty = np.zeros((table.n_records, 0))
    return StructureColumns(
        np.hstack([empty, *parts]),
        np.concatenate([np.zeros(0), *weights]),
        np.array(origins, np.int64),
        tuple(notes),
        tuple(problems),
    )


@dataclass(frozen=True, eq=False)
class _Coded:
    """A row of numbers per code, their largest distance (0 for numbers), and what is wrong."""

    values: Floats
    largest: float
    kind: str
    fault: str = ""


def _by_code(
    column: CodedVariable, decimal: str, graph: Variable | None, order: Sequence[str]
) -> _Coded:
    if graph is not None:
        return _by_graph(column, decimal, graph)
    ranks, fault = _ranks(column, order)
    if ranks is not None:
        return _Coded(ranks[:, None], 0.0, "ordinal", fault)
    numbers, faults = floats_of(column, decimal)
    if not faults:
        return _Coded(numbers[:, None], 0.0, "number")
    if any("beyond" in fault for fault in faults):
        return _Coded(numbers[:, None], 0.0, "number", f"{' and '.join(faults)}.")
    n_values = len(observed(column))
    bands = _band_ranks(column)
    if bands is not None:
        return _Coded(bands[:, None], 0.0, "ordinal")
    if n_values > MOST_CATEGORIES:
        fault = f"{n_values:,} different values that are no numbers: names tell no structure."
        return _Coded(numbers[:, None], 0.0, "category", fault)
    return _Coded(np.vstack((np.zeros(n_values), np.eye(n_values))), 2.0, "category")


def _ranks(column: CodedVariable, order: Sequence[str]) -> tuple[Floats | None, str]:
    order = order or column.order
    if not order:
        return None, ""
    place = {text: rank for rank, text in enumerate(order)}
    found = np.zeros(column.n_codes)
    n_other = 0
    for code in range(MISSING + 1, column.n_codes):
        texts = (column.values[code], column.words[code])
        rank = next((place[text] for text in texts if text in place), None)
        n_other += rank is None
        found[code] = rank or 0
    other = f"{count_of(n_other, 'value is', 'values are')} not in the order." if n_other else ""
    return found, other


def _band_ranks(column: CodedVariable) -> Floats | None:
    bands: list[tuple[float, float, int]] = []
    for code in range(MISSING + 1, column.n_codes):
        try:
            band = parse_band(column.words[code], BandStyle.INCLUSIVE)
        except InputError:
            return None
        bands.append((float(band.low), float(band.high), code))
    bands.sort()
    if any(one[1] > other[0] for one, other in pairwise(bands)):
        return None
    found = np.zeros(column.n_codes)
    for rank, (_, _, code) in enumerate(bands):
        found[code] = rank
    return found


def _by_graph(column: CodedVariable, decimal: str, variable: Variable) -> _Coded:
    finder, graph = SinkFinder(variable, decimal), variable.graph
    n_sinks = len(graph.sinks)
    found = np.zeros((column.n_codes, n_sinks))
    for code in range(MISSING + 1, column.n_codes):
        found[code, finder.of(column, code)] = 1.0
    sizes = found.sum(axis=1, keepdims=True)
    n_other = int(np.count_nonzero(sizes[MISSING + 1 :] == 0))
    words = count_of(n_other, "value is", "values are")
    fault = f"{words} no category of the environment." if n_other else ""
    if fault := fault or asked_of_codes(finder, column)[0]:
        return _Coded(found, 0.0, "category", fault)
    found /= np.maximum(sizes, 1)
    if variable.scale is not Scale.NOMINAL and n_sinks > 1:
        runs = np.tri(n_sinks)[:-1].T
        return _Coded(found @ runs, float(n_sinks - 1), "ordinal")
    sets = np.zeros((n_sinks, len(graph.categories)))
    for place, name in enumerate(graph.categories):
        sets[bits(graph.sink_set(name)), place] = 1.0
    apart = np.abs(sets[:, None] - sets).sum(axis=2)
    return _Coded(found @ sets, float(apart.max(initial=0.0)) or 1.0, "category")
