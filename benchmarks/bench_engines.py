"""DuckDB against Spark on the same files: `python -m benchmarks.bench_engines --sizes 1,5`.

Sizes are millions of records; shapes are `few` classes (some thousands) and `many` (most records are
alone). Each engine has a process of its own for each file. Counted are CPU seconds of that process
and of all that it started and that still live, such as Spark's, so those of Spark are a lower bound;
to open the engine is a step of its own. Ratios are to the first engine that is named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

MILLION = 1_000_000
SHAPES = {"few": (2, 5, 7, 3, 4, 6), "many": (2, 91, 16, 12, 9, 7, 30, 6, 5, 40, 11, 25)}
_PART = MILLION
_TICKS = os.sysconf("SC_CLK_TCK")


def write_people(folder: Path, shape: str, n_records: int) -> None:
    """Write a folder of Parquet files: whole numbers, every third variable a text, and a weight."""
    rng = np.random.default_rng(len(shape) + n_records)
    folder.mkdir()
    for number, start in enumerate(range(0, n_records, _PART)):
        rows = min(_PART, n_records - start)
        columns: dict[str, Any] = {}
        for place, size in enumerate(SHAPES[shape]):
            codes = np.minimum(rng.geometric(2.0 / size, rows), size).astype(np.int16)
            words = pa.array([f"word {code}" for code in range(size + 1)])
            columns[f"v{place}"] = words.take(pa.array(codes)) if place % 3 == 2 else codes
        columns["weight"] = np.round(rng.gamma(4.0, 12.0, rows) + 1.0, 2)
        parquet.write_table(pa.table(columns), folder / f"part-{number:05d}.parquet")


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all below it that live."""
    below: dict[int, list[int]] = {}
    spent: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(entry.name))
        spent[int(entry.name)] = sum(map(int, fields[11:15]))
    waiting, total = [os.getpid()], 0
    while waiting:
        process = waiting.pop()
        total += spent.get(process, 0)
        waiting += below.get(process, [])
    return total / _TICKS


def measured(engine: str, folder: Path, shape: str) -> dict[str, Any]:
    """Return CPU and wall seconds of each step, and what was found."""
    from gamekeeper.data.coding.source_coding import code_source
    from gamekeeper.data.engine.duckdb_engine import open_engine
    from gamekeeper.data.keys.counting import count_keys
    from gamekeeper.data.reading.source import open_source

    steps: dict[str, tuple[float, float]] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        cpu, wall = cpu_seconds(), time.perf_counter()
        made = work()
        steps[name] = (cpu_seconds() - cpu, time.perf_counter() - wall)
        # Told as it goes: what does not end in time has come this far.
        told = f"{engine}, {shape}: {name} {steps[name][0]:.1f} CPU s, {steps[name][1]:.1f} s"
        print(told, file=sys.stderr, flush=True)
        return made

    keys = [f"v{place}" for place in range(len(SHAPES[shape]))]
    opened = step("open", lambda: open_engine(engine))
    with opened:
        source = open_source(folder)
        coded = step("coding", lambda: code_source(source, keys, numbers=["weight"], engine=opened))
        plain = step("classes", lambda: count_keys(coded, keys))
        weighted = step("with weights", lambda: count_keys(coded, keys[:6], weight="weight"))
        sizes = step("sizes of records", plain.class_sizes)
    found = (plain.n_classes, plain.n_uniques, str(weighted.fraction), int(sizes.sum()))
    return {"steps": steps, "found": found}


def main() -> None:
    """Measure what is asked for, and print CPU seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,5", help="millions of records")
    parser.add_argument("--shapes", default="few,many")
    parser.add_argument("--engines", default="duckdb local[2]", help="with spaces between")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(asked.one[0], Path(asked.one[1]), asked.one[2])))
        return
    engines = asked.engines.split()
    for size in asked.sizes.split(","):
        for shape in asked.shapes.split(","):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place, "people")
                write_people(folder, shape, int(float(size) * MILLION))
                tell(size, shape, engines, folder)


def tell(size: str, shape: str, engines: list[str], folder: Path) -> None:
    """Measure all engines on one folder, and see that they find the same."""
    told: dict[str, Any] = {}
    for engine in engines:
        words = [sys.executable, "-m", "benchmarks.bench_engines", "--one", engine, str(folder)]
        done = subprocess.run([*words, shape], stdout=subprocess.PIPE, text=True, check=True)
        told[engine] = json.loads(done.stdout)
    found = {engine: one["found"] for engine, one in told.items()}
    same = len({json.dumps(one) for one in found.values()}) == 1
    print(f"{size} million records, {shape} classes ({found[engines[0]][0]:,}); same: {same}")
    for name, (first, _) in told[engines[0]]["steps"].items():
        cells: list[str] = []
        for engine in engines:
            cpu, wall = told[engine]["steps"][name]
            ratio = f"{cpu / first:.1f}x" if first else "-"
            cells.append(f"{engine} {cpu:.1f} CPU s, {wall:.1f} s ({ratio})")
        print(f"  {name}: {'; '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
