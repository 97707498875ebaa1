"""Small files to link, and variables with categories that overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

import gamekeeper as gk
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
