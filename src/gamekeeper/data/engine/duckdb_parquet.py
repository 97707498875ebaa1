"""How DuckDB scans a Parquet file in place: its columns as codes, by subtraction or by a map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gamekeeper.data.engine.gate import Scan, ScannedColumn

_SMALLINT_CODES = 2**15


def file_sql(path: Path) -> str:
    """Return the file as a table of SQL, with the number of each row."""
    # A folder named year=2031 may not add a column that the file does not have.
    return f"read_parquet({_exact(path)}, file_row_number=true, hive_partitioning=false)"


def rows_sql(path: Path) -> str:
    """Return the query for how many rows a file says it has."""
    return f"SELECT num_rows FROM parquet_file_metadata({_exact(path)})"


def copy_sql(sql: str, path: Path) -> str:
    """Return the statement that writes the result of a query to a file."""
    return f"COPY ({sql}) TO {_literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"


def _exact(path: Path) -> str:
    # DuckDB takes names for patterns: without brackets, data[1].parquet would read data1.parquet.
    return _literal(re.sub(r"[][*?]", lambda sign: f"[{sign.group()}]", str(path)))


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _name(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _is_run(values: Sequence[int | str]) -> bool:
    """Tell whether values are whole numbers without gaps, which are coded by subtraction."""
    if not values or isinstance(values[0], str):
        return False
    first = values[0]
    return all(value == number for number, value in enumerate(values, start=int(first)))


def needs_map(column: ScannedColumn) -> bool:
    """Tell whether the values of a column are coded by a join with a table of them."""
    return column.scan is Scan.CODE and not _is_run(column.values)


def scanned_sql(column: ScannedColumn, found: str, mapped: str) -> tuple[str, str]:
    """Return a column of the file `f` as an expression, and the join with its map it needs."""
    cell = f"f.{_name(found)}"
    if column.scan is Scan.RAW:
        return cell, ""
    if column.scan is Scan.NUMBER:
        return f"CAST({cell} AS DOUBLE)", ""
    kind = "SMALLINT" if len(column.values) < _SMALLINT_CODES else "INTEGER"
    if needs_map(column):
        cast = "BIGINT" if column.values and isinstance(column.values[0], int) else "VARCHAR"
        join = f" LEFT JOIN {mapped} ON {mapped}.value = CAST({cell} AS {cast})"
        return f"CAST(COALESCE({mapped}.code, 0) AS {kind})", join
    first, last = column.values[0], column.values[-1]
    code = (
        f"CASE WHEN {cell} BETWEEN {first} AND {last} THEN CAST({cell} AS BIGINT) - ({first}) + 1"
    )
    return f"CAST({code} ELSE 0 END AS {kind})", ""


def make_map(cursor: Any, name: str, values: Sequence[int | str]) -> None:
    """Keep the values of a column with their codes as a table."""
    import pyarrow as pa

    kind = pa.int64() if values and isinstance(values[0], int) else pa.string()
    table = pa.table(
        {"value": pa.array(values, kind), "code": pa.array(range(1, len(values) + 1), pa.int32())}
    )
    cursor.register(f"{name}_values", table)
    cursor.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_values")
    cursor.unregister(f"{name}_values")
