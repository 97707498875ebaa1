"""Tables written to files that other programs read: CSV, Parquet or an Excel workbook."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gamekeeper.files.writing import write_file
from gamekeeper.report.saving import require_ending
from gamekeeper.wording import shown_cell
from gamekeeper.wording.spreadsheets import NUMERAL, STARTS

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_ENDINGS = (".csv", ".parquet", ".xlsx")


def write_table(table: pa.Table, path: str | Path, *, raw: bool = False) -> Path:
    r"""Write a table in the format that the name of the file ends in, .csv, .parquet or .xlsx.

    In CSV, texts that a spreadsheet would run as formulas get an apostrophe before them, unless
    the table is to be `raw`, for programs.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_table(pa.table({"record": [1, 2]}), Path(folder, "risk.csv"))
    ...     Path(folder, "risk.csv").read_text()
    '"record"\n1\n2\n'
    """
    ending = require_ending("table", path, TABLE_ENDINGS)
    shown = table if raw or ending != ".csv" else _shown(table)
    return write_file(path, partial(_write_as[ending], shown), private=True)


def _shown(table: pa.Table) -> pa.Table:
    """Return a table whose texts a spreadsheet shows and does not run."""
    import pyarrow as pa

    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    shown = [_shown_column(column) if _is_text(column.type) else column for column in columns]
    return pa.Table.from_arrays(shown, names=[shown_cell(name) for name in table.column_names])


def _shown_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    starts = pc.match_substring_regex(column, f"^'*[{re.escape(STARTS)}]")
    is_number = pc.match_substring_regex(column, NUMERAL, ignore_case=True)
    risky = pc.fill_null(pc.and_not(starts, is_number), False)
    if not pc.any(risky).as_py():
        return column
    marked = pc.binary_join_element_wise(
        pa.scalar("'", column.type), column, pa.scalar("", column.type)
    )
    return pc.if_else(risky, marked, column)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    import pyarrow.csv as csv

    csv.write_csv(table, file)


def _write_parquet(table: pa.Table, file: BinaryIO) -> None:
    import pyarrow.parquet as parquet

    parquet.write_table(table, file)


def _write_excel(table: pa.Table, file: BinaryIO) -> None:
    from gamekeeper.report.workbook import workbook

    file.write(workbook({"Table": table}))


_write_as = {".csv": _write_csv, ".parquet": _write_parquet, ".xlsx": _write_excel}
