"""Classes, and results of records, written as Parquet by the engine that has the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.gate import RECORD, Engine
from gamekeeper.data.keys.key_table import KeyTable, free_name
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.prompt_syntax import Missing

_LOADED_WORDS = 1 << 16

# What rows and records are joined by: a name for it, how it is had from a record, and the rows'.
_Joined = tuple[str, str, Any]


def write_classes(table: KeyTable, folder: Path) -> int:
    """Write the different keys in words to a new folder of Parquet files; return how many there are.

    Columns are those of `KeyTable.to_arrow`; rows come in no particular order.

    >>> import pathlib, tempfile
    >>> from pyarrow import parquet
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> coded = coded_from_codes([[1], [1], [2]], ["sex"], [("missing", "f", "m")])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     n = write_classes(count_keys(coded, ["sex"]), pathlib.Path(place, "classes.parquet"))
    ...     rows = parquet.read_table(pathlib.Path(place, "classes.parquet")).to_pylist()
    >>> n, sorted(rows, key=lambda row: row["sex"])
    (2, [{'sex': 'f', 'count': 2}, {'sex': 'm', 'count': 1}])
    """
    coded, engine, counted = table.coded, table.coded.engine, table.counted
    columns = [coded.column(key) for key in table.keys]
    numbers = list(counted.packing.names)
    keys = f"(SELECT DISTINCT {', '.join([*numbers, *columns])} FROM {counted.select(*columns)})"
    equal = " AND ".join(f"s.{name} = c.{name}" for name in numbers)
    chosen, joins, words = [], [], []
    names = list(table.keys)
    try:
        for place, (key, column) in enumerate(zip(table.keys, columns, strict=True)):
            words.append(load_words(engine, coded.codebook[key].words))
            joins.append(f"JOIN {words[-1]} AS w{place} ON w{place}.record = s.{column}")
            chosen.append(f"w{place}.w AS o{place}")
        sums = {"count": "n"}
        if table.missing in (Missing.IGNORE, Missing.WILDCARD):
            sums["class_size"] = table.size_column
        if table.weight:
            sums["weight"] = "weight"
        for name, column in sums.items():
            chosen.append(f"c.{column} AS o{len(names)}")
            names.append(free_name(name, names))
        return engine.write_parquet(
            f"SELECT {', '.join(chosen)} FROM {keys} AS s JOIN {table.relation} AS c ON {equal} "
            f"{' '.join(joins)}",
            folder,
            names=names,
        )
    finally:
        for relation in words:
            engine.drop(relation)


def load_words(engine: Engine, words: Sequence[str]) -> str:
    """Let an engine keep the words of codes, a code as its `record`; return the relation's name."""
    schema = pa.schema([("w", pa.string())])
    parts = (
        pa.RecordBatch.from_arrays(
            [pa.array(words[first : first + _LOADED_WORDS], pa.string())], schema=schema
        )
        for first in range(0, len(words), _LOADED_WORDS)
    )
    return engine.load(schema, parts)


def write_records(
    table: KeyTable,
    rows: pa.Table,
    folder: Path,
    *,
    others: Mapping[str, float | str | None],
    identifier: str = "",
) -> int:
    """Write results of every record of the file to a new folder of Parquet files; return how many.

    - `rows`: `record` (from 1), `class_size` and further columns of some records, such as the uniques.
    - `folder`: where to write; it has the same columns.
    - `others`: by the name of each further column, what it says of a counted record that is not
      among the rows. One that was left out has neither a class size nor anything else.
    - `identifier`: a coded column of the file with the user's own name of each record; it comes second.

    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2], [1]], ["sex"]), ["sex"])
    >>> unique = pa.table({"record": [2], "class_size": [1], "score": [0.5]})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = pathlib.Path(place, "records")
    ...     n = write_records(keys, unique, folder, others={"score": 0.0})
    ...     found = parquet.read_table(folder).sort_by("record").to_pydict()
    >>> n, found
    (3, {'record': [1, 2, 3], 'class_size': [2, 1, 2], 'score': [0.0, 0.5, 0.0]})
    """
    counted = table.counted
    names = [name for name in rows.column_names if name not in ("record", "class_size")]
    sizes = f"SELECT s.{RECORD}, c.{table.size_column} AS size"
    sizes += f" FROM {counted.joined(table.relation, RECORD)}"
    cells = {"class_size": "d.size"}
    for place, name in enumerate(names):
        other = _literal(others[name], rows.schema.field(name).type)
        cells[name] = (
            f"CASE WHEN u.q0 IS NOT NULL THEN u.u{place} WHEN d.size IS NULL THEN NULL "
            f"ELSE {other} END"
        )
    return _write_joined(
        table.coded,
        rows.select(names),
        [("place", f"{RECORD} AS place", rows["record"].to_numpy() - 1)],
        cells,
        folder,
        joins=[f"LEFT JOIN ({sizes}) AS d ON d.{RECORD} = r.{RECORD}"],
        identifier=identifier,
    )


def write_listed(
    listed: ListedRecords, rows: pa.Table, folder: Path, *, identifier: str = ""
) -> int:
    """Write results of every record of the file to a new folder of Parquet files; return how many.

    - `rows`: their results, as `ListedRecords.table_of` has them. What a row that stands for a key
      says is written for all records with that key, where they are.
    - `folder`, `identifier`: as of `write_records`.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from pyarrow import parquet
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2], [1]], ["sex"]), ["sex"])
    >>> rows = keys.listed.table_of({"share": np.array([0.5, 1.0, 0.5])})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     n = write_listed(keys.listed, rows, pathlib.Path(place, "records"))
    ...     found = parquet.read_table(pathlib.Path(place, "records")).sort_by("record").to_pydict()
    >>> n, found
    (3, {'record': [1, 2, 3], 'share': [0.5, 1.0, 0.5]})
    """
    table = listed.table
    coded, packing = table.coded, table.counted.packing
    names = [name for name in rows.column_names if name != "record"]
    by: list[_Joined] = []
    strata = listed.strata()
    if not listed.by_key:
        by.append(("place", f"{RECORD} AS place", rows["record"].to_numpy() - 1))
    else:
        by += zip(packing.names, packing.expressions(), listed.numbers(), strict=True)
    if strata is not None:
        by.append(("stratum", f"{coded.column(table.strata)} AS stratum", strata))
    cells = {
        name: f"u.u{place} = 1" if _is_flag(rows, name) else f"u.u{place}"
        for place, name in enumerate(names)
    }
    return _write_joined(coded, rows.select(names), by, cells, folder, identifier=identifier)


def _write_joined(
    coded: CodedTable,
    rows: pa.Table,
    by: Sequence[_Joined],
    cells: Mapping[str, str],
    folder: Path,
    *,
    joins: Sequence[str] = (),
    identifier: str,
) -> int:
    """Write a row for every record `r`: its number, its identifier and cells, by name as SQL.

    Results of rows, `u`, are joined to the records that they are of as `u0`, `u1`, ...
    """
    engine = coded.engine
    kept: list[str] = []
    try:
        kept.append(_load_rows(engine, rows, [values for *_, values in by]))
        own = [f"{coded.column(identifier)} AS own"] if identifier else []
        read = ", ".join([RECORD, *(text for _, text, _ in by), *own])
        records = f"(SELECT {read} FROM {coded.relation}) AS r"
        equal = " AND ".join(f"u.q{place} = r.{name}" for place, (name, *_) in enumerate(by))
        joined = [*joins, f"LEFT JOIN {kept[0]} AS u ON {equal}"]
        chosen = {"record": f"CAST(r.{RECORD} + 1 AS BIGINT)"}
        if identifier:
            kept.append(load_words(engine, coded.codebook[identifier].values))
            joined.append(f"LEFT JOIN {kept[-1]} AS w ON w.{RECORD} = r.own")
            chosen[free_name(identifier, ["record", *cells])] = (
                f"CASE WHEN r.own > {MISSING} THEN w.w END"
            )
        chosen |= cells
        sql = ", ".join(f"{cell} AS o{place}" for place, cell in enumerate(chosen.values()))
        return engine.write_parquet(
            f"SELECT {sql} FROM {records} {' '.join(joined)}", folder, names=list(chosen)
        )
    finally:
        for relation in kept:
            engine.drop(relation)


def _load_rows(engine: Engine, rows: pa.Table, by: Sequence[Any]) -> str:
    """Let an engine keep results of rows, `u0`, ..., with what they are joined by, `q0`, ..."""
    columns = {f"q{place}": pa.array(values, pa.int64()) for place, values in enumerate(by)}
    for place, name in enumerate(rows.column_names):
        columns[f"u{place}"] = _loadable(rows[name])
    made = pa.table(columns)
    return engine.load(made.schema, made.to_batches(_LOADED_WORDS))


def _is_flag(rows: pa.Table, name: str) -> bool:
    return pa.types.is_boolean(rows.schema.field(name).type)


def _loadable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that every engine keeps: a flag is 1 or 0."""
    kind = column.type
    small = pa.types.is_integer(kind) and kind.bit_width < 32
    return column.cast(pa.int32()) if small or pa.types.is_boolean(kind) else column


def _literal(value: float | str | None, kind: pa.DataType) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return f"CAST('{value!r}' AS {'DOUBLE' if pa.types.is_floating(kind) else 'BIGINT'})"
