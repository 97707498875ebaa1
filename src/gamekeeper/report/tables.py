"""Tables written to files that other programs read: CSV, Parquet or an Excel workbook."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gamekeeper.files.writing import write_file
from gamekeeper.report.saving import require_ending

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_ENDINGS = (".csv", ".parquet", ".xlsx")


def write_table(table: pa.Table, path: str | Path) -> Path:
    r"""Write a table in the format that the name of the file ends in, .csv, .parquet or .xlsx.

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
    return write_file(path, partial(_write_as[ending], table), private=True)


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
