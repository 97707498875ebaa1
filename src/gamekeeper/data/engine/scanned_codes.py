"""Columns of a Parquet file as codes, in plain SQL: by subtraction, or by a join with their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.data.engine.gate import Scan, ScannedColumn, code_sql

if TYPE_CHECKING:
    import pyarrow as pa


def needs_map(column: ScannedColumn) -> bool:
    """Tell whether the values of a column are coded by a join with a table of them."""
    return column.scan is Scan.CODE and not _is_run(column.values)


def scanned_sql(column: ScannedColumn, cell: str, mapped: str) -> tuple[str, str]:
    """Return a column of a file as an expression, and the join with its map it needs.

    `cell` is its name as SQL; `mapped` that of the table with its values and codes.
    """
    if column.scan is Scan.RAW:
        return cell, ""
    if column.scan is Scan.NUMBER:
        return f"CAST({cell} AS DOUBLE)", ""
    kind = code_sql(len(column.values) + 1)
    if needs_map(column):
        cast = "BIGINT" if column.values and isinstance(column.values[0], int) else "STRING"
        join = f" LEFT JOIN {mapped} ON {mapped}.value = CAST({cell} AS {cast})"
        return f"CAST(COALESCE({mapped}.code, 0) AS {kind})", join
    first, last = column.values[0], column.values[-1]
    code = (
        f"CASE WHEN {cell} BETWEEN {first} AND {last} THEN CAST({cell} AS BIGINT) - ({first}) + 1"
    )
    return f"CAST({code} ELSE 0 END AS {kind})", ""


def values_table(values: Sequence[int | str]) -> pa.Table:
    """Return the values of a column with their codes."""
    import pyarrow as pa

    kind = pa.int64() if values and isinstance(values[0], int) else pa.string()
    codes = pa.array(range(1, len(values) + 1), pa.int32())
    return pa.table({"value": pa.array(values, kind), "code": codes})


def _is_run(values: Sequence[int | str]) -> bool:
    """Tell whether values are whole numbers without gaps, which are coded by subtraction."""
    if not values or isinstance(values[0], str):
        return False
    first = values[0]
    return all(value == number for number, value in enumerate(values, start=int(first)))
