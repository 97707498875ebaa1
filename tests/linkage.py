"""Small files to link, and what brute force says of their links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa

import gamekeeper as gk
from gamekeeper.data.coding.coded_table import CodedTable

AGE = gk.Variable.of_bands("Age", ["0-15", "16-24", "25-64", "65+", "0-24", "16+"])
STATUS = gk.Variable(
    "Status",
    gk.PartitionGraph(
        {
            "not married": ["single", "formerly married"],
            "formerly married": ["divorced", "widowed"],
            "ever married": ["married", "formerly married"],
        }
    ),
)


def file_of(columns: Mapping[str, Sequence[Any]]) -> CodedTable:
    """Return a coded file of some columns; None is missing."""
    table = pa.table(
        {
            name: pa.array([None if value is None else str(value) for value in values], pa.string())
            for name, values in columns.items()
        }
    )
    return gk.code_frame(table, list(columns))


def every_linking(costs: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    """Return every way to link as many rows as can be, with its cost; -1 for none."""
    n_rows, n_columns = costs.shape
    places = [*range(n_columns), *[-1] * n_rows]
    found: dict[tuple[int, ...], float] = {}
    for columns in set(permutations(places, n_rows)):
        total = sum(costs[row, column] for row, column in enumerate(columns) if column >= 0)
        if np.isfinite(total):
            found[columns] = float(total)
    most = max(sum(column >= 0 for column in columns) for columns in found)
    return sorted(
        (total, columns)
        for columns, total in found.items()
        if sum(column >= 0 for column in columns) == most
    )


def least_cost(costs: np.ndarray) -> float:
    """Return the least cost of as many links as can be."""
    return every_linking(costs)[0][0]
