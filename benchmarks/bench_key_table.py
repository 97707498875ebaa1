"""Key tables: counting the keys of a Parquet file against the bare grouping by the same engine.

The file has the shape that the search for minimal sample uniques finds hard: twelve variables of
100, 36, 4, 4, 8, 13 and six times 6 categories, drawn independently, so that nearly every record
is unique. Each measurement has a process of its own, with the same limit of memory and the same
number of threads. `python -m benchmarks.bench_key_table 50000000` measures at another size.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Row
from gamekeeper.data.coding.codebook import Codebook, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.engine.gate import Scan, ScannedColumn, code_column
from gamekeeper.data.keys.counting import count_keys

__all__ = ["rows"]

LEVELS = (100, 36, 4, 4, 8, 13, 6, 6, 6, 6, 6, 6)
NAMES = tuple(f"c{number}" for number in range(len(LEVELS)))
RECORDS = 2_000_000
MEMORY = "10GB"
THREADS = 2
_BLOCK = 1_000_000


def write_codes(path: Path, n_records: int) -> None:
    """Write codes 1, 2, ... of every variable; small codes are more frequent."""
    rng = np.random.default_rng(1)
    schema = pa.schema([(name, pa.uint8()) for name in NAMES])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, n_records, _BLOCK):
            size = min(_BLOCK, n_records - start)
            columns = [
                pa.array((1 + level * rng.random(size) ** 1.5).astype(np.uint8)) for level in LEVELS
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def bare_grouping(path: Path, n_records: int) -> int:
    """Group by the engine alone, and return how many classes there are."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        config: dict[str, Any] = {
            "memory_limit": MEMORY,
            "threads": THREADS,
            "temp_directory": folder,
        }
        connection = duckdb.connect(":memory:", config=config)
        connection.execute("SET enable_progress_bar = false")
        keys = ", ".join(NAMES)
        connection.execute(
            f"CREATE TEMP TABLE classes AS SELECT {keys}, count(*) AS n "
            f"FROM read_parquet('{path}') GROUP BY {keys}"
        )
        (found,) = connection.execute("SELECT count(*) FROM classes").fetchall()
        connection.close()
    return found[0]


def scanned(engine: DuckDBEngine, path: Path, n_records: int) -> CodedTable:
    """Return the file as a coded table that is read in place."""
    variables = [
        CodedVariable.of_values(name, map(str, range(1, level + 1)))
        for name, level in zip(NAMES, LEVELS, strict=True)
    ]
    columns = [
        ScannedColumn(place, code_column(place), Scan.CODE, tuple(range(1, level + 1)))
        for place, level in enumerate(LEVELS)
    ]
    relation = engine.scan_parquet([path], columns)
    return CodedTable(engine, relation, Codebook(tuple(variables)), n_records, "0" * 16)


def key_table(path: Path, n_records: int) -> int:
    """Count keys, with the partition structure, and return how many classes there are."""
    with DuckDBEngine(memory_limit=MEMORY, threads=THREADS, folder=path.parent) as engine:
        return count_keys(scanned(engine, path, n_records), NAMES).n_classes


def key_table_and_sizes(path: Path, n_records: int) -> int:
    """Count keys and bring the class size of every record to Python, in the order of the file."""
    with DuckDBEngine(memory_limit=MEMORY, threads=THREADS, folder=path.parent) as engine:
        return len(count_keys(scanned(engine, path, n_records), NAMES).class_sizes())


def _timed(
    work: Callable[[Path, int], int], path: Path, n_records: int
) -> tuple[int, float, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    output = work(path, n_records)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return output, wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def rows(n_records: int = RECORDS) -> Iterator[Row]:
    """Measure the bare grouping, then ours as multiples of it."""
    millions = f"{n_records / 1e6:g} million records × {len(LEVELS)} variables"
    works = {
        f"bare grouping, {millions}": (bare_grouping, ""),
        f"key table, {millions}": (key_table, "1.3 × bare"),
        "key table and class sizes per record": (key_table_and_sizes, ""),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.parquet"
        write_codes(path, n_records)
        bare_cpu = bare_wall = 0.0
        for name, (work, aim) in works.items():
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                output, wall, cpu, peak = pool.submit(_timed, work, path, n_records).result()
            if work is bare_grouping:
                bare_cpu, bare_wall = cpu, wall
            else:
                name += f" ({cpu / bare_cpu:.2f} × bare in CPU, {wall / bare_wall:.2f} in wall)"
            yield Row(name, output, wall, cpu, peak, aim)


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS):
        print(
            f"{row.name}: {row.output:,} out, {row.wall:.2f} s wall, {row.cpu:.2f} s CPU, "
            f"peak {row.peak_mb:,.0f} MB"
        )
