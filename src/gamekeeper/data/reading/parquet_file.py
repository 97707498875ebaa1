"""Parquet files: read in batches, or described so that an engine scans them in place.

A folder of Parquet files, such as others write in parts, is read as one file: its files in the order
of their names, all with the same columns.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from gamekeeper.data.reading.column import Column, ColumnKind, unreadable
from gamekeeper.data.reading.values import is_text, kind_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 17
# The length of the footer, in four bytes, and the letters that a Parquet file ends in.
_TAIL = 8


SUFFIXES = (".parquet", ".pq")
"""How the names of Parquet files end."""


class ParquetFile:
    """A Parquet file of flat columns, or a folder of such files.

    Attributes
    ----------
    files
        The files in the order of their records: the one, or those of the folder by name.
    """

    kind = "parquet"
    decimal = "."
    detected: tuple[str, ...] = ()
    settings: ClassVar[Mapping[str, str]] = {}

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self.path = path
        self.files = parts_of(path) if path.is_dir() else (path,)
        error: InputError | None = None
        schemas: list[pa.Schema] = []
        n_records = 0
        try:
            for part in self.files:
                with parquet.ParquetFile(part) as file:
                    schemas.append(file.schema_arrow)
                    n_records += file.metadata.num_rows
        except _faults():
            error = self._broken()
        if error is not None:
            raise error
        self.schema: pa.Schema = schemas[0]
        self.n_records: int | None = n_records
        self._require_same(schemas)
        self.columns = tuple(Column(field.name, kind=kind_of(field.type)) for field in self.schema)

    @property
    def fingerprint(self) -> str:
        """The first digits of the hash of all bytes of the file."""
        digests: list[bytes] = []
        for part in self.files:
            with part.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").digest())
        whole = digests[0] if self.path.is_file() else hashlib.sha256(b"".join(digests)).digest()
        return whole.hex()[:16]

    @property
    def n_bytes(self) -> int:
        """The bytes of all its files."""
        return sum(part.stat().st_size for part in self.files)

    @property
    def fingerprint_of_footers(self) -> str:
        """The first digits of a hash of what its files say of themselves, and of their sizes.

        A footer has the rows, the bytes and, as a rule, the least and the largest value of every
        column chunk. Two files that differ in cells alone and agree in all of that have the same.
        """
        digest = hashlib.sha256()
        for part in self.files:
            with part.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(size - _TAIL)
                (length,) = struct.unpack("<I", file.read(4))
                file.seek(max(0, size - _TAIL - length))
                digest.update(size.to_bytes(8) + file.read(length))
        return digest.hexdigest()[:16]

    def place(self, column: str) -> int:
        """Return the place of a column in the file, from 0."""
        return self.schema.names.index(column)

    def in_place(self, column: str) -> bool:
        """Whether an engine can code the column without a copy: whole numbers and texts.

        Not where a path with wildcards would be read as a pattern of several files, and not where
        a column has the name that DuckDB gives to the numbers of records.
        """
        import pyarrow as pa

        if any(wildcard in str(part) for part in self.files for wildcard in "*?["):
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
            for part in self.files:
                with parquet.ParquetFile(part) as file:
                    for batch in file.iter_batches(_BATCH, columns=list(columns)):
                        yield batch.select(list(columns))
        except _faults():
            error = self._broken()
        if error is not None:
            raise error

    def _require_same(self, schemas: Sequence[pa.Schema]) -> None:
        """Refuse files of a folder that have other columns than the first."""
        first = [(field.name, field.type) for field in schemas[0]]
        problems = [
            Problem(
                Reason.WRONG_SCHEMA,
                f"file {quoted([part.name])}",
                "it has other columns, or columns of other types, than the first file.",
            )
            for part, schema in zip(self.files, schemas, strict=True)
            if [(field.name, field.type) for field in schema] != first
        ]
        if problems:
            raise InputError(
                Reason.WRONG_SCHEMA,
                f"The folder of Parquet files {quoted([self.path.name])} was to be read as one file.",
                f"{count_of(len(problems), 'file')} of {len(self.files)} cannot be a part of it.",
                "Put files of another kind elsewhere, or write them anew with the same columns.",
                problems=problems,
            )

    def _broken(self) -> InputError:
        return unreadable(
            self.path,
            "It is not a Parquet file, or it is damaged.",
            "Check the file; its kind is told from the end of its name.",
        )


def parts_of(folder: Path) -> tuple[Path, ...]:
    """Return the Parquet files of a folder by name; none where it is not such a folder.

    What begins with a dot or an underscore says that work is done and the like, and is left out.
    """
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    if any(entry.is_dir() for entry in entries):
        # Names of folders within may be values of a column, which no file has.
        return ()
    parts = [entry for entry in entries if entry.suffix.lower() in SUFFIXES]
    return tuple(sorted(parts, key=lambda part: part.name)) if parts else ()


def _faults() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    # Names of columns may be no text any more.
    return (pa.ArrowException, OSError, UnicodeDecodeError)
