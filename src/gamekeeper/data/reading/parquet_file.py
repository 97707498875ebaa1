"""Parquet files: read in batches, or described so that an engine scans them in place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.data.reading.column import Column, ColumnKind, unreadable
from gamekeeper.data.reading.values import is_text, kind_of
from gamekeeper.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 17


class ParquetFile:
    """A Parquet file of flat columns."""

    kind = "parquet"
    decimal = "."
    detected: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self.path = path
        error: InputError | None = None
        try:
            with parquet.ParquetFile(path) as file:
                self.schema: pa.Schema = file.schema_arrow
                self.n_records: int | None = file.metadata.num_rows
        except _faults():
            error = self._broken()
        if error is not None:
            raise error
        self.columns = tuple(Column(field.name, kind=kind_of(field.type)) for field in self.schema)

    @property
    def settings(self) -> Mapping[str, str]:
        """Nothing: a Parquet file says all about itself."""
        return {}

    @property
    def fingerprint(self) -> str:
        """The first digits of the hash of all bytes of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]

    def place(self, column: str) -> int:
        """Return the place of a column in the file, from 0."""
        return self.schema.names.index(column)

    def in_place(self, column: str) -> bool:
        """Whether an engine can code the column without a copy: whole numbers and texts.

        Not where a path with wildcards would be read as a pattern of several files, and not where
        a column has the name that DuckDB gives to the numbers of records.
        """
        import pyarrow as pa

        if any(wildcard in str(self.path) for wildcard in "*?["):
            return False
        if "file_row_number" in map(str.lower, self.schema.names):
            return False
        kind = self.schema.field(column).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        return is_text(kind) or (pa.types.is_integer(kind) and kind != pa.uint64())

    def is_number(self, column: str) -> bool:
        """Whether the column holds numbers, none of them wrapped in a dictionary."""
        import pyarrow as pa

        kind = self.schema.field(column).type
        return kind_of(kind) is ColumnKind.NUMBER and not pa.types.is_dictionary(kind)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns in their own types."""
        from pyarrow import parquet

        error: InputError | None = None
        try:
            with parquet.ParquetFile(self.path) as file:
                for batch in file.iter_batches(_BATCH, columns=list(columns)):
                    yield batch.select(list(columns))
        except _faults():
            error = self._broken()
        if error is not None:
            raise error

    def _broken(self) -> InputError:
        return unreadable(
            self.path,
            "It is not a Parquet file, or it is damaged.",
            "Check the file; its kind is told from the end of its name.",
        )


def _faults() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    # Names of columns may be no text any more.
    return (pa.ArrowException, OSError, UnicodeDecodeError)
