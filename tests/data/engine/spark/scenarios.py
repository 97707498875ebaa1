"""What is done on a real cluster, in a process of its own: python -m ...scenarios NAME ADDRESS FOLDER

A process speaks with one cluster, and what it prints must be the outcome alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gamekeeper.algorithms.blocks import Kernel
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine, open_engine
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import GamekeeperError

CANARY = "canary-7f3a"
KEYS = ["age", "region", "sex"]


def people(folder, n_records=4_000):
    """Write people as a folder of Parquet files, and return it."""
    rng = np.random.default_rng(5)
    region = np.array(["north", "it's", "", "é", CANARY])[rng.integers(0, 5, n_records)]
    table = pa.table(
        {
            "age": rng.integers(0, 90, n_records),
            "region": region,
            "sex": pa.array(rng.integers(1, 3, n_records), mask=rng.random(n_records) < 0.1),
            "trade": rng.choice([3, 70, 5_000], n_records).astype(np.int32),
            "weight": 10.0 ** rng.uniform(0, 6, n_records),
        }
    )
    place = Path(folder, "people")
    place.mkdir()
    cuts = [0, 7, 7, n_records // 3, n_records]
    for number, (start, stop) in enumerate(pairwise(cuts)):
        pq.write_table(table.slice(start, stop - start), place / f"{number}.parquet")
    return place


def answers(engine, place):
    """Return what stage two finds of people, as plain values."""
    coded = code_source(open_source(place), [*KEYS, "trade"], numbers=["weight"], engine=engine)
    found = count_keys(coded, KEYS, weight="weight", sensitive=["trade"])
    return {
        "matrix": coded.matrix().tolist(),
        "sizes": found.class_sizes().tolist(),
        "weights": found.class_weights().tolist(),
        "structure": sorted(found.structure.items()),
        "fraction": str(found.fraction),
        "values": found.l_diversity("trade").tolist(),
    }


def uniques(codes, **options):
    found = find_minimal_uniques(codes, **options)
    return [found.counts.tolist(), found.masks.tolist(), found.by_size.tolist()]


def same(address, folder):
    """Everything is as with DuckDB."""
    place = people(folder)
    with DuckDBEngine() as here, open_engine(address, scratch=folder) as there:
        expected, found = answers(here, place), answers(there, place)
        codes = np.random.default_rng(2).integers(0, 4, (200, 8)).astype(np.uint8)
        plain = uniques(codes, workers=1)
        workers = there.n_workers
        spread = uniques(codes, blocks=partial(there.map_blocks, workers=2), apart=workers)
    different = [name for name in expected if expected[name] != found[name]]
    uniques_are_same = plain == spread and workers > 0
    return {"different": different, "uniques": uniques_are_same, "left": left(folder)}


def left(folder):
    return sorted(entry.name for entry in Path(folder).iterdir() if "gamekeeper" in entry.name)


def slowly(numbers, task):
    time.sleep(0.5)
    return int(numbers[task].sum()), os.getpid()


def first(shared):
    return shared["numbers"]


def killed(address, folder):
    """A worker is killed in the middle of blocks, and one in the middle of a statement."""
    numbers = np.arange(1_000)
    tasks = [slice(start, start + 50) for start in range(0, 1_000, 50)]
    with open_engine(address, scratch=folder) as engine:
        outcomes = engine.map_blocks(Kernel(first, slowly), {"numbers": numbers}, tasks)
        found = [next(outcomes)]
        blocks_killed = kill_one(folder)
        found += outcomes
        sums = [total for total, _ in found] == [int(numbers[task].sum()) for task in tasks]
        schema = pa.schema([("v0", pa.int16())])
        batch = pa.RecordBatch.from_arrays([pa.array([1] * 4_000, pa.int16())], schema=schema)
        some = engine.load(schema, [batch])
        sql = (
            f"SELECT (a.record * 31 + b.record * 17) % 1009 AS k, COUNT(*) AS n FROM {some} a, {some} b "
            "GROUP BY 1"
        )
        victim = []
        timer = threading.Timer(2.0, lambda: victim.append(kill_one(folder)))
        timer.start()
        made = engine.create(sql)
        timer.join()
        counted = engine.query(f"SELECT COUNT(*) AS k, SUM(n) AS n FROM {made}").to_pylist()
    return {
        "processes": len({process for _, process in found}),
        "killed": [blocks_killed, *victim],
        "sums": sums,
        "counted": {name: int(value) for name, value in counted[0].items()},
    }


def kill_one(folder):
    """Kill one of the processes that work for the cluster of a folder."""
    from tests.spark_cluster import executors_of

    found = executors_of(Path(folder))
    if found:
        os.kill(found[0], signal.SIGKILL)
    return len(found)


def refused(address, folder):
    """Return the error of whatever is refused on the way."""
    started = time.monotonic()
    try:
        with open_engine(address, scratch=folder) as engine:
            some = engine.load(
                pa.schema([("v0", pa.int32())]),
                [pa.RecordBatch.from_arrays([pa.array(range(2_000), pa.int32())], names=["v0"])],
            )
            engine.create(
                f"SELECT a.record * 7919 + b.record * b.record AS x, HASH(a.record, b.record) AS y "
                f"FROM {some} a, {some} b"
            )
            kernel = Kernel(first, slowly)
            list(engine.map_blocks(kernel, {"numbers": np.arange(4)}, [slice(0, 2), slice(2, 4)]))
    except GamekeeperError as error:
        return {
            "reason": error.reason.value,
            "text": str(error),
            "context": error.__context__ is not None or error.__cause__ is not None,
            "seconds": time.monotonic() - started,
            "left": left(folder),
        }
    return {"reason": "nothing"}


def written(address, folder):
    """A result is kept between two steps, and one is written to stay."""
    with open_engine(address, scratch=folder) as engine:
        schema = pa.schema([("v0", pa.int16())])
        batch = pa.RecordBatch.from_arrays([pa.array(range(9), pa.int16())], schema=schema)
        made = engine.create(f"SELECT record, v0 FROM {engine.load(schema, [batch])}")
        n = engine.write_parquet(f"SELECT v0 FROM {made}", Path(folder, "out"))
        assert pq.read_table(Path(folder, "out")).num_rows == n
    mode = f"{Path(folder, 'out').stat().st_mode & 0o7777:o}"
    return {"n": n, "mode": mode, "left": left(folder)}


def lost(address, folder):
    """The whole cluster goes in the middle of a statement; whoever started it ends it then."""
    with open_engine(address, scratch=folder) as engine:
        endless = endless_sql(engine)
        Path(folder, "begun").touch()
        try:
            engine.query(endless)
        except GamekeeperError as error:
            return {"reason": error.reason.value, "text": str(error)}
    return {"reason": "nothing"}


def endless_sql(engine):
    schema = pa.schema([("v0", pa.int16())])
    batch = pa.RecordBatch.from_arrays([pa.array([1] * 3_000, pa.int16())], schema=schema)
    some = engine.load(schema, [batch])
    return (
        f"SELECT COUNT(*) AS n FROM {some} a, {some} b, {some} c, {some} d "
        "WHERE (a.record * b.record + c.record * d.record) % 7 = 3"
    )


def pressed(address, folder):
    """Ctrl-C in the middle of a statement ends it, and the engine goes on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open_engine(address, scratch=folder) as engine:
        endless = endless_sql(engine)
        engine.query("SELECT 1 AS one")
        threading.Timer(3.0, os.kill, [os.getpid(), signal.SIGINT]).start()
        interrupted = False
        try:
            engine.query(endless)
        except KeyboardInterrupt:
            interrupted = True
        active = [0]
        if not address.startswith("sc"):
            active = engine._session.sparkContext.statusTracker().getActiveJobsIds()
        answered = engine.query("SELECT 1 AS one").num_rows
    return {"interrupted": interrupted, "active": len(list(active)), "answered": answered}


def canaries(address, folder):
    """Errors of every kind say nothing of values; nor does anything that is printed."""
    texts = []
    with open_engine(address, scratch=folder) as engine:
        for sql in (
            f"SELECT CAST('{CANARY}' AS INTEGER) AS x",
            f"SELECT '{CANARY}' AS x FROM nowhere",
            f"'{CANARY}",
            f"SELECT RAISE_ERROR('{CANARY}') AS x",
            f"SELECT `{CANARY}` AS x",
        ):
            for call in (
                engine.query,
                lambda sql: list(engine.stream(sql)),
                engine.create,
                lambda sql: engine.create(sql, progress=lambda done, whole: None),
                lambda sql: engine.write_parquet(sql, Path(folder, "out")),
            ):
                try:
                    call(sql)
                except GamekeeperError as error:
                    texts.append(f"{error!s} {error.__context__} {error.__cause__}")
                else:
                    texts.append(f"{CANARY} was let through")
    return {"n": len(texts), "shown": [text for text in texts if CANARY in text][:3]}


if __name__ == "__main__":
    # By its own name, under which workers find what they are to do.
    from tests.data.engine.spark import scenarios

    name, address, folder = sys.argv[1:]
    print(json.dumps(getattr(scenarios, name)(address, folder)))
