"""How Spark scans Parquet files in place: rows numbered, each column under a name of ours.

The files are scanned by way of links in the scratch folder. Their own names could be taken for
patterns, for hidden files, which Spark passes over without a word, or for columns (`year=2031`); and
numbered links tell which file a row is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.data.engine.gate import RECORD, ScannedColumn
from gamekeeper.data.engine.spark.scratch import pattern
from gamekeeper.errors import InputError, Reason
from gamekeeper.files.scratch import make_folder, make_link
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = 8
_TYPES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "uint8": "SMALLINT",
    "uint16": "INT",
    "uint32": "BIGINT",
    "uint64": "DECIMAL(20, 0)",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "large_string": "STRING",
    "string_view": "STRING",
}


def look_at(files: Sequence[Path], asked: str) -> tuple[pa.Schema, list[int]]:
    """Return the columns of files of one schema, and how many rows each has: footers tell."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    schemas: list[pa.Schema] = []
    rows: list[int] = []
    try:
        for path in files:
            with parquet.ParquetFile(path) as file:
                schemas.append(file.schema_arrow)
                rows.append(file.metadata.num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        kind = type(error).__name__
    else:
        return schemas[0], rows
    raise InputError(
        Reason.NOT_READABLE,
        asked,
        f"The file cannot be read ({kind}).",
        "Check that it is whole, and is still in its place.",
    )


def link_files(files: Sequence[Path], folder: Path) -> None:
    """Make a folder of numbered links to the files."""
    make_folder(folder)
    for number, path in enumerate(files):
        make_link(folder / f"{number:0{_DIGITS}d}.parquet", path)


def numbered_rows(
    session: Any,
    schema: pa.Schema,
    rows_of_files: Sequence[int],
    folder: Path,
    columns: Sequence[ScannedColumn],
    asked: str,
) -> Any:
    """Return the linked files as a frame: `record`, and each column by its place, as `c0`, `c1`.

    `record` goes on from file to file.
    """
    places = sorted({column.place for column in columns})
    fields = [schema.field(place) for place in places]
    kinds = [_type_of(field, asked) for field in fields]
    declared = ", ".join(
        f"{_name(field.name)} {kind}" for field, kind in zip(fields, kinds, strict=True)
    )
    read = session.read.schema(declared) if declared else session.read
    frame = read.parquet(pattern(folder))
    about = frame.metadataColumn("_metadata")
    chosen = [about["row_index"], about["file_name"], *(_name(field.name) for field in fields)]
    own = [f"c{place}" for place in places]
    rows = frame.select(*chosen).toDF("row", "file", *own)
    before = list(accumulate(rows_of_files[:-1], initial=0))
    record = "row"
    if len(before) > 1:
        offsets = ", ".join(f"{number}L" for number in before)
        record = (
            f"row + element_at(array({offsets}), CAST(SUBSTRING(file, 1, {_DIGITS}) AS INT) + 1)"
        )
    return rows.selectExpr(f"{record} AS {RECORD}", *own)


def _type_of(field: pa.Field, asked: str) -> str:
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_decimal128(kind) or pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    made = _TYPES.get(str(kind))
    if made is None:
        raise InputError(
            Reason.WRONG_SCHEMA,
            asked,
            f"Spark does not read column {quoted([field.name])} of type {kind}.",
            "Write it anew as whole numbers, floating point numbers of 4 or 8 bytes, or texts.",
        )
    return made


def _name(column: str) -> str:
    doubled = column.replace("`", "``")
    return f"`{doubled}`"
