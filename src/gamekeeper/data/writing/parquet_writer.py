"""Parquet files written as the original is: types, compression and what the schema says besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from gamekeeper.data.reading.parquet_file import ParquetFile
from gamekeeper.data.reading.source import Source
from gamekeeper.data.writing.released_cells import CellReplacer

if TYPE_CHECKING:
    import pyarrow as pa

# What pandas writes of types: it would be wrong of columns that have another one now.
_OF_PANDAS = b"pandas"


def write_parquet(
    file: BinaryIO,
    source: Source,
    names: Sequence[str],
    replacers: Mapping[str, CellReplacer],
    batches: Iterator[pa.RecordBatch],
) -> None:
    """Write batches as a Parquet file; it carries no time, so that the same cells are the same bytes."""
    import pyarrow as pa
    from pyarrow import parquet

    compression = "zstd"
    metadata: dict[bytes, bytes] = {}
    fields: dict[str, pa.Field] = {}
    if isinstance(source.reader, ParquetFile):
        fields = {item.name: item for item in source.reader.schema}
        metadata = dict(source.reader.schema.metadata or {})
        compression = _compression(source.reader)
    if replacers or len(names) < len(fields):
        metadata.pop(_OF_PANDAS, None)
    first = next(batches, None)
    kinds = {name: replacer.kind for name, replacer in replacers.items()}
    if first is not None:
        kinds = {name: first.schema.field(name).type for name in names} | kinds
    made = [
        pa.field(
            name,
            kinds.get(name, fields[name].type if name in fields else pa.string()),
            # A suppressed cell may be empty where none was before.
            nullable=name in replacers or name not in fields or fields[name].nullable,
            metadata=fields[name].metadata if name in fields else None,
        )
        for name in names
    ]
    schema = pa.schema(made, metadata or None)
    with parquet.ParquetWriter(file, schema, compression=compression) as writer:
        batch = first
        while batch is not None:
            writer.write_batch(batch.cast(schema))
            batch = next(batches, None)


def _compression(reader: ParquetFile) -> str:
    from pyarrow import parquet

    with parquet.ParquetFile(reader.files[0]) as file:
        if not file.metadata.num_row_groups or not file.metadata.num_columns:
            return "zstd"
        used = str(file.metadata.row_group(0).column(0).compression).lower()
    return "none" if used == "uncompressed" else used
