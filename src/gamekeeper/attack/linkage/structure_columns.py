"""Columns of any kind as numbers whose Manhattan distances are those of their kinds, for clustering.

- A number is itself; it is scaled to 0 to 1 later.
- A category is the uniform distribution on its sinks in a partition graph, half of it in each
  direction: two categories are as far apart as one minus the overlap of their sinks (the total
  variation, which is 1 without a common sink, and 1 - |S| / |T| where S is part of T). Without a
  partition graph each category is a sink of its own, and the distance 0 or 1.
- A missing value is the mean of its column: as far from everybody as is usual.

So the dissimilarities of clusterings, and the distances within files, take all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.linkage.columns import floats_of, observed
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import Problem, Reason
from gamekeeper.mapping.variables.sink_sets import SinkFinder
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import count_of, quoted

Floats = NDArray[np.float64]

MOST_CATEGORIES = 100
"""The most categories of a column without a partition graph: more are names, which cluster nothing."""


@dataclass(frozen=True, eq=False)
class StructureColumns:
    """Columns as numbers: their values, what each counts after scaling, and what was done."""

    values: Floats
    weights: Floats
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


def structure_columns(
    table: CodedTable,
    names: Sequence[str],
    decimal: str,
    graphs: Mapping[str, Variable],
    which: str,
) -> StructureColumns:
    """Return columns of any kind as numbers; `graphs` has partition graphs by name."""
    parts: list[Floats] = []
    weights: list[Floats] = []
    categories: list[str] = []
    problems: list[Problem] = []
    n_missing = 0
    for name in names:
        column, codes = table.codebook[name], table.codes(name).astype(np.int64)
        n_missing += int(np.count_nonzero(codes == MISSING))
        by_code, is_number, fault = _by_code(column, decimal, graphs.get(name))
        if fault:
            problems.append(Problem(Reason.BAD_OPTION, f"column {quoted([name])}", fault))
            continue
        values = by_code[codes]
        known = codes != MISSING
        values[~known] = values[known].mean(axis=0) if known.any() else 0.0
        parts.append(values)
        if is_number:
            weights.append(np.ones(1))
        else:
            categories.append(name)
            # Scaling makes each range 1; half of what it was gives the distance back.
            weights.append((values.max(axis=0) - values.min(axis=0)) / 2)
    notes: list[str] = []
    if categories:
        notes.append(f"In the {which} file compared as categories: {quoted(categories)}.")
    if n_missing:
        notes.append(
            f"Cells of the {which} file that are missing, {n_missing:,} in all, count as means."
        )
    empty = np.zeros((table.n_records, 0))
    return StructureColumns(
        np.hstack([empty, *parts]),
        np.concatenate([np.zeros(0), *weights]),
        tuple(notes),
        tuple(problems),
    )


def _by_code(
    column: CodedVariable, decimal: str, graph: Variable | None
) -> tuple[Floats, bool, str]:
    """Return a row of numbers per code, whether it is one number, and what is wrong."""
    if graph is None:
        numbers, faults = floats_of(column, decimal)
        if not faults:
            return numbers[:, None], True, ""
        if any("beyond" in fault for fault in faults):
            return numbers[:, None], True, f"{' and '.join(faults)}."
        n_values = len(observed(column))
        if n_values > MOST_CATEGORIES:
            fault = f"{n_values:,} different values that are no numbers: names tell no structure."
            return numbers[:, None], False, fault
        return np.vstack((np.zeros(n_values), np.eye(n_values))), False, ""
    finder = SinkFinder(graph, decimal)
    found = np.zeros((column.n_codes, len(graph.graph.sinks)))
    for code in range(MISSING + 1, column.n_codes):
        found[code, finder.first_of((column.words[code], column.values[code]))] = 1.0
    sizes = found.sum(axis=1, keepdims=True)
    n_other = int(np.count_nonzero(sizes[MISSING + 1 :] == 0))
    if n_other:
        words = count_of(n_other, "value is", "values are")
        return found, False, f"{words} no category of the environment."
    return found / np.maximum(sizes, 1), False, ""
