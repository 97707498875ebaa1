"""Small files to link, and variables with categories that overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import gamekeeper as gk
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
)
from gamekeeper.data.coding.coded_table import CodedTable

AGE = gk.Variable.of_bands("Age", ["0-15", "16-24", "25-64", "65+", "0-24", "16+"])
STATUS = gk.Variable(
    "Status",
    gk.mapping.PartitionGraph(
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


def copies(seed, n_a=120, n_b=100, n_both=60, wrong=0.1, n_values=12, n_columns=5):
    """Draw two files with some people in both, and errors in the second."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, n_values + 1, (n_columns, n_a + n_b - n_both))
    a = people[:, :n_a]
    b = people[:, n_a - n_both :]
    b = np.where(rng.random(b.shape) < wrong, rng.integers(1, n_values + 1, b.shape), b)
    return [
        compare_categories(x, y, name=f"v{k}") for k, (x, y) in enumerate(zip(a, b, strict=True))
    ]
