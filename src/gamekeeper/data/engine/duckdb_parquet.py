"""How DuckDB names, scans and writes Parquet files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gamekeeper.data.engine.scanned_codes import values_table


def file_sql(path: Path) -> str:
    """Return the file as a table of SQL, with the number of each row."""
    # A folder named year=2031 may not add a column that the file does not have.
    return f"read_parquet({_exact(path)}, file_row_number=true, hive_partitioning=false)"


def rows_sql(path: Path) -> str:
    """Return the query for how many rows a file says it has."""
    return f"SELECT num_rows FROM parquet_file_metadata({_exact(path)})"


def copy_sql(sql: str, path: Path, names: Sequence[str] = ()) -> str:
    """Return the statement that writes the result of a query to a file, under names of columns."""
    if names:
        sql = f"SELECT * FROM ({sql}) AS t({', '.join(map(_name, names))})"
    return f"COPY ({sql}) TO {_literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"


def cell_sql(column: str) -> str:
    """Return the column of a file `f` as SQL."""
    return f"f.{_name(column)}"


def make_map(cursor: Any, name: str, values: Sequence[int | str]) -> None:
    """Keep the values of a column with their codes as a table."""
    cursor.register(f"{name}_values", values_table(values))
    cursor.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_values")
    cursor.unregister(f"{name}_values")


def _exact(path: Path) -> str:
    # DuckDB takes names for patterns: without brackets, data[1].parquet would read data1.parquet.
    return _literal(re.sub(r"[][*?]", lambda sign: f"[{sign.group()}]", str(path)))


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _name(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
