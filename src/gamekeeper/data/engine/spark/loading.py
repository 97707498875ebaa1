"""Records of this machine written to the scratch folder, numbered as they come."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gamekeeper.data.engine.gate import RECORD
from gamekeeper.data.engine.spark.faults import run_discreetly
from gamekeeper.results import Progress

if TYPE_CHECKING:
    import pyarrow as pa

_FILE_ROWS: Final = 1 << 22


def write_numbered(
    folder: Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    asked: str,
    progress: Progress | None,
) -> None:
    """Write batches with the numbers of their records, in files that workers can share out."""
    import pyarrow as pa

    numbered = pa.schema([(RECORD, pa.int64()), *schema])
    files = _Files(folder, numbered, asked)
    n_records = 0
    try:
        for batch in batches:
            numbers = pa.array(np.arange(n_records, n_records + batch.num_rows))
            files.add(pa.Table.from_arrays([numbers, *batch.columns], schema=numbered))
            n_records += batch.num_rows
            if progress is not None:
                progress(n_records, None)
    finally:
        files.close()


class _Files:
    """Parquet files of a folder, begun one after the other; there is at least one."""

    def __init__(self, folder: Path, schema: pa.Schema, asked: str) -> None:
        self._folder, self._schema, self._asked = folder, schema, asked
        self._n_files = 0
        self._writer = self._begun()

    def add(self, table: pa.Table) -> None:
        """Write a table behind what there is."""
        if self._rows >= _FILE_ROWS:
            self.close()
            self._writer = self._begun()
        run_discreetly(partial(self._writer.write_table, table), self._asked)
        self._rows += table.num_rows

    def close(self) -> None:
        """End the last file."""
        run_discreetly(self._writer.close, self._asked)

    def _begun(self) -> Any:
        import pyarrow.parquet as parquet

        path = self._folder / f"part-{self._n_files:05d}.parquet"
        self._n_files += 1
        self._rows = 0
        made = partial(parquet.ParquetWriter, path, self._schema, compression="zstd")
        return run_discreetly(made, self._asked)
