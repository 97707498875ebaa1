"""A table of counts as records, one row for each unit that was counted; `tabulate` is the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.budget import require_memory
from gamekeeper.data.tables.axes import category_columns
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES = 12


def unit_records(table: CountTable) -> pa.Table:
    """Return one row per unit of a table of counts, with its category on each axis.

    Examples
    --------
    >>> table = CountTable.typed({"age": ["young", "old"], "work": ["yes", "no"]}, [[1, 0], [0, 2]])
    >>> unit_records(table).to_pylist()
    [{'age': 'young', 'work': 'yes'}, {'age': 'old', 'work': 'no'}, {'age': 'old', 'work': 'no'}]
    """
    import pyarrow as pa

    require_memory(
        "A table of counts was to be written as records.",
        table.total * len(table.axes) * _BYTES,
        f"{count_of(table.total, 'record')} of {count_of(len(table.axes), 'column')}",
        "Keep fewer columns as axes (--axes)",
    )
    return pa.table(category_columns(table.axes, np.repeat(*table.nonzero)))
