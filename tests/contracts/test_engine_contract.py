"""The exam that every engine passes. A new engine needs an entry here."""

from __future__ import annotations

import sys
import threading
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gamekeeper.algorithms.blocks import Kernel
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.engine.gate import Scan, ScannedColumn
from gamekeeper.data.keys.weights import sum_of_weights
from gamekeeper.errors import Cancelled, GamekeeperError, InputError, Reason
from gamekeeper.prompt_syntax import Pool

ENGINES = {
    "duckdb": lambda _: lambda folder: DuckDBEngine(memory_limit="500MB", threads=2, folder=folder),
    "spark": lambda request: request.getfixturevalue("spark"),
}
SCHEMA = pa.schema([("v0", pa.int16()), ("v1", pa.int32()), ("x0", pa.float64())])
CANARY = "canary-7f3a"


@pytest.fixture(params=ENGINES)
def engine(request, tmp_path):
    with ENGINES[request.param](request)(tmp_path) as made:
        yield made


def batch(rows):
    cells = [[row[place] for row in rows] for place in range(3)]
    arrays = [pa.array(own, kind) for own, kind in zip(cells, SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def rows_of(engine, sql):
    return [tuple(row.values()) for row in engine.query(sql).to_pylist()]


def numbers_to(engine, n):
    """Return a relation whose records are so many."""
    schema = pa.schema([("v0", pa.int16())])
    return engine.load(
        schema, [pa.RecordBatch.from_arrays([pa.array([0] * n, pa.int16())], schema=schema)]
    )


def endless(engine):
    """Return a query that nobody waits for."""
    some = numbers_to(engine, 3_000)
    return (
        f"SELECT COUNT(*) AS n FROM {some} a, {some} b, {some} c, {some} d "
        "WHERE (a.record * b.record + c.record * d.record) % 7 = 3"
    )


ROWS = [(1, 70_000, 0.5), (0, 0, None), (1, 70_000, 2.5), (2, 1, -1.0)]


def test_it_says_what_it_is(engine):
    name, _, version = engine.name.partition(" ")
    assert name
    assert version[0].isdigit()


def test_loaded_records_are_numbered_across_batches(engine):
    told = []
    relation = engine.load(
        SCHEMA,
        (batch(part) for part in (ROWS[:1], [], ROWS[1:])),
        progress=lambda done, whole: told.append((done, whole)),
    )
    found = rows_of(engine, f"SELECT record, v0, v1, x0 FROM {relation} ORDER BY record")
    assert found == [(place, *row) for place, row in enumerate(ROWS)]
    assert told == [(1, None), (1, None), (4, None)]


def test_a_relation_may_be_empty(engine):
    relation = engine.load(SCHEMA, [])
    assert rows_of(engine, f"SELECT COUNT(*) FROM {relation}") == [(0,)]


def test_a_load_that_is_cancelled_leaves_the_engine_usable(engine):
    def stop(done, whole):
        raise Cancelled("Loading.")

    with pytest.raises(Cancelled):
        engine.load(SCHEMA, [batch(ROWS)], progress=stop)
    assert rows_of(engine, f"SELECT COUNT(*) FROM {engine.load(SCHEMA, [batch(ROWS)])}") == [(4,)]


def test_counts_over_partitions_and_by_groups_agree(engine):
    relation = engine.load(SCHEMA, [batch(ROWS)])
    over = f"SELECT record, COUNT(*) OVER (PARTITION BY v0, v1) AS n FROM {relation}"
    assert sorted(rows_of(engine, over)) == [(0, 2), (1, 1), (2, 2), (3, 1)]
    grouped = engine.create(f"SELECT v0, v1, COUNT(*) AS n FROM {relation} GROUP BY v0, v1")
    assert sorted(rows_of(engine, f"SELECT * FROM {grouped}")) == [
        (0, 0, 1),
        (1, 70_000, 2),
        (2, 1, 1),
    ]


def test_a_view_is_run_when_it_is_asked(engine):
    relation = engine.load(SCHEMA, [batch(ROWS)])
    view = engine.view(f"SELECT record, v0 + 1 AS v0 FROM {relation}")
    assert sorted(rows_of(engine, f"SELECT v0 FROM {view}")) == [(1,), (2,), (2,), (3,)]


def test_a_stream_brings_every_row_once(engine):
    few = numbers_to(engine, 100)
    relation = engine.create(f"SELECT a.record * 100 + b.record AS i FROM {few} a, {few} b")
    batches = list(engine.stream(f"SELECT i FROM {relation}"))
    numbers = np.sort(np.concatenate([part.column(0).to_numpy() for part in batches]))
    assert np.array_equal(numbers, np.arange(10_000))


def test_two_streams_may_be_open_at_once(engine):
    relation = engine.load(SCHEMA, [batch(ROWS)])
    one, other = (engine.stream(f"SELECT record FROM {relation}") for _ in range(2))
    assert next(one).num_rows + next(other).num_rows == 2 * len(ROWS)
    assert rows_of(engine, f"SELECT COUNT(*) FROM {relation}") == [(4,)]


def test_threads_may_use_it_at_once(engine):
    relation = engine.load(SCHEMA, [batch(ROWS)])
    found, faults = [], []

    def work():
        try:
            own = engine.create(f"SELECT v0, COUNT(*) AS n FROM {relation} GROUP BY v0")
            found.append(sorted(rows_of(engine, f"SELECT v0, n FROM {own}")))
            engine.drop(own)
        except GamekeeperError as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert found == [[(0, 1), (1, 2), (2, 1)]] * 8


def test_what_was_dropped_is_gone_once_another_is_made(engine):
    table = engine.load(SCHEMA, [batch(ROWS)])
    view = engine.view(f"SELECT v0 FROM {table}")
    engine.drop(view)
    engine.drop(table)
    engine.create("SELECT 1 AS v0")
    for relation in (view, table):
        with pytest.raises(GamekeeperError):
            engine.query(f"SELECT * FROM {relation}")


def test_a_long_statement_tells_how_far_it_is_and_can_be_stopped(engine):
    def stop(done, whole):
        assert 0 <= done <= whole
        raise Cancelled("Counting.")

    with pytest.raises(Cancelled):
        engine.create(endless(engine), progress=stop)
    assert rows_of(engine, "SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [f"SELECT CAST('{CANARY}' AS INTEGER)", f"SELECT '{CANARY}' FROM nowhere", f"'{CANARY}"],
)
def test_an_error_shows_no_value(engine, sql):
    with pytest.raises(GamekeeperError) as caught:
        engine.query(sql)
    assert_says_nothing(caught.value)
    with pytest.raises(GamekeeperError) as caught:
        list(engine.stream(sql))
    assert_says_nothing(caught.value)
    with pytest.raises(GamekeeperError) as caught:
        engine.create(sql, progress=lambda done, whole: None)
    assert_says_nothing(caught.value)


def test_an_error_in_the_middle_of_a_stream_shows_no_value(engine):
    some = numbers_to(engine, 1_600)
    texts = f"CASE WHEN a.record + b.record = 3198 THEN '{CANARY}' ELSE '1' END"
    sql = f"SELECT CAST({texts} AS INTEGER) AS i FROM {some} a, {some} b"
    with pytest.raises(GamekeeperError) as caught:
        for _ in engine.stream(sql):
            pass
    assert_says_nothing(caught.value)


def assert_says_nothing(error):
    assert CANARY not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None


PARQUET = pa.table(
    {
        'odd "name"; --': pa.array([5, 7, None, 6, 5, 9], pa.int8()),
        "gaps": pa.array([10, 500, 10, None, 77, 500], pa.uint32()),
        "text": pa.array(["b", "a'b", None, "", "b", "z"]),
        "dictionary": pa.array(["u", "v", "u", None, "v", "w"]).dictionary_encode(),
        "weight": pa.array([1, 2, 3, None, 5, 6], pa.int32()),
    }
)


def test_a_parquet_file_is_scanned_in_place(engine, tmp_path):
    path = tmp_path / "it's here.parquet"
    pq.write_table(PARQUET, path, row_group_size=2)
    raw = engine.scan_parquet([path], [ScannedColumn(1, "v0"), ScannedColumn(2, "v1")])
    assert sorted(rows_of(engine, f"SELECT DISTINCT v0 FROM {raw} WHERE v0 IS NOT NULL")) == [
        (10,),
        (77,),
        (500,),
    ]
    coded = engine.scan_parquet(
        [path],
        [
            ScannedColumn(0, "v0", Scan.CODE, (5, 6, 7)),
            ScannedColumn(1, "v1", Scan.CODE, (10, 500)),
            ScannedColumn(2, "v2", Scan.CODE, ("a'b", "b", "z")),
            ScannedColumn(3, "v3", Scan.CODE, ("u", "w")),
            ScannedColumn(0, "v4", Scan.CODE, ()),
            ScannedColumn(4, "x0", Scan.NUMBER),
        ],
    )
    assert rows_of(engine, f"SELECT * FROM {coded} ORDER BY record") == [
        (0, 1, 1, 2, 1, 0, 1.0),
        (1, 3, 2, 1, 0, 0, 2.0),
        (2, 0, 1, 0, 1, 0, 3.0),
        (3, 2, 0, 0, 0, 0, None),
        (4, 1, 0, 2, 0, 0, 5.0),
        (5, 0, 2, 3, 2, 0, 6.0),
    ]


@pytest.mark.parametrize("name", ["data[1].parquet", "da*1.parquet", "d?ta1.parquet", "x=1/data1"])
def test_the_name_of_a_file_is_no_pattern(engine, tmp_path, name):
    if sys.platform == "win32" and set(name) & set("*?"):
        pytest.skip("no file can have this name here")
    pq.write_table(pa.table({"a": [0]}), tmp_path / "data1.parquet")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"a": [7, 8]}), path)
    relation = engine.scan_parquet([path], [ScannedColumn(0, "v0")])
    found = rows_of(engine, f"SELECT * FROM {relation} ORDER BY record")
    assert found == [(0, 7), (1, 8)]


def test_columns_whose_names_differ_in_case_alone_are_told_apart(engine, tmp_path):
    path = tmp_path / "case.parquet"
    arrays = [pa.array([number]) for number in range(4)]
    names = ["Age", "age", "AGE_1", "record"]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), path)
    columns = [ScannedColumn(place, f"v{place}") for place in range(4)]
    relation = engine.scan_parquet([path], columns)
    assert rows_of(engine, f"SELECT * FROM {relation}") == [(0, 0, 1, 2, 3)]


def test_a_damaged_file_is_one_clear_error(engine, tmp_path):
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1" + CANARY.encode() + b"PAR1")
    with pytest.raises(InputError, match=r"broken\.parquet") as caught:
        engine.scan_parquet([path], [ScannedColumn(0, "v0")])
    assert CANARY not in str(caught.value)


def test_a_closed_engine_says_so(engine, tmp_path):
    relation = engine.load(SCHEMA, [batch(ROWS)])
    engine.close()
    engine.close()
    engine.drop(relation)
    assert engine.is_closed
    path = tmp_path / "any.parquet"
    pq.write_table(PARQUET, path)
    calls = [
        lambda: engine.query(f"SELECT * FROM {relation}"),
        lambda: list(engine.stream(f"SELECT * FROM {relation}")),
        lambda: engine.create("SELECT 1 AS v0"),
        lambda: engine.view("SELECT 1 AS v0"),
        lambda: engine.load(SCHEMA, []),
        lambda: engine.scan_parquet([path], [ScannedColumn(0, "v0")]),
    ]
    for call in calls:
        with pytest.raises(InputError, match="was closed"):
            call()


def test_nothing_is_left_on_disk(engine, tmp_path):
    engine.load(SCHEMA, [batch(ROWS)])
    engine.close()
    assert not list(tmp_path.iterdir())


def test_several_files_are_one(engine, tmp_path):
    files = []
    for number, size in enumerate((2, 0, 3, 1)):
        files.append(tmp_path / f"it's {number}.parquet")
        start = sum((2, 0, 3, 1)[:number])
        pq.write_table(PARQUET.slice(start, size), files[-1])
    whole = tmp_path / "whole.parquet"
    pq.write_table(PARQUET, whole)
    columns = [
        ScannedColumn(0, "v0", Scan.CODE, (5, 6, 7, 9)),
        ScannedColumn(2, "v1", Scan.CODE, ("", "a'b", "b", "z")),
        ScannedColumn(4, "x0", Scan.NUMBER),
    ]
    question = "SELECT record, v0, v1, x0 FROM {} ORDER BY record"
    one, many = (engine.scan_parquet(given, columns) for given in ([whole], files))
    assert rows_of(engine, question.format(one)) == rows_of(engine, question.format(many))
    assert [row[0] for row in rows_of(engine, question.format(many))] == list(range(6))


def test_different_values_of_columns(engine, tmp_path):
    path = tmp_path / "file.parquet"
    pq.write_table(PARQUET, path)
    raw = engine.scan_parquet([path], [ScannedColumn(0, "v0"), ScannedColumn(2, "v1")])
    ages, texts = engine.distinct(raw, ["v0", "v1"])
    assert sorted(ages.drop_null().to_pylist()) == [5, 6, 7, 9]
    assert set(texts.to_pylist()) == {"b", "a'b", None, "", "z"}
    with pytest.raises(GamekeeperError, match="more than 2"):
        list(engine.distinct(raw, ["v1"], most=2))


def test_results_are_written_as_a_folder(engine, tmp_path):
    relation = engine.load(SCHEMA, [batch(ROWS)])
    folder = tmp_path / "it's [new]"
    assert (
        engine.write_parquet(f"SELECT v0, COUNT(*) AS n FROM {relation} GROUP BY v0", folder) == 3
    )
    found = pq.read_table(folder).to_pylist()
    assert sorted((row["v0"], row["n"]) for row in found) == [(0, 1), (1, 2), (2, 1)]
    for sql in (f"SELECT v0 FROM {relation}", f"SELECT CAST('{CANARY}' AS INTEGER) AS x"):
        with pytest.raises(GamekeeperError) as caught:
            engine.write_parquet(sql, folder if "v0" in sql else tmp_path / "other")
        assert_says_nothing(caught.value)
    # Nothing else is left, neither of what was refused nor of what was made aside.
    names = {entry.name for entry in tmp_path.iterdir() if entry.name.startswith(("it", "other"))}
    assert names == {"it's [new]"}


def test_a_folder_within_one_that_is_not_there_is_refused_by_its_name(engine, tmp_path):
    with pytest.raises(GamekeeperError) as caught:
        engine.write_parquet("SELECT 1 AS v0", tmp_path / "nowhere" / "out")
    assert caught.value.reason is Reason.NOT_WRITABLE
    assert "'out'" in caught.value.asked


def test_written_columns_have_the_names_that_people_give_them(engine, tmp_path):
    words = engine.load(
        pa.schema([("w", pa.string())]),
        [pa.RecordBatch.from_arrays([pa.array(["-", "f", "it's"])], names=["w"])],
    )
    relation = engine.load(SCHEMA, [batch(ROWS)])
    names = ['a "quoted" name', "sex; DROP TABLE r0", "käse`s"]
    sql = (
        f"SELECT r.record AS a, w.w AS b, r.x0 AS c FROM {relation} r JOIN {words} w"
        " ON w.record = r.v0"
    )
    assert engine.write_parquet(sql, tmp_path / "named", names=names) == len(ROWS)
    found = pq.read_table(tmp_path / "named")
    assert found.column_names == names
    assert sorted(zip(*(found[name].to_pylist() for name in names[:2]), strict=True)) == [
        (0, "f"), (1, "-"), (2, "f"), (3, "it's"),
    ]  # fmt: skip


def _offset(by, shared):
    return shared["numbers"] + by


def _total(numbers, block):
    if block.start == 13:
        raise ZeroDivisionError
    return int(numbers[block.start : block.stop].sum())


@pytest.mark.slow
@pytest.mark.parametrize("pool", list(Pool))
def test_blocks_give_the_same_whoever_does_them(engine, pool):
    numbers = np.arange(100, dtype=np.int64)
    kernel = Kernel(partial(_offset, 1), _total)
    told = []
    for size in (100, 40, 6):
        tasks = [range(start, min(start + size, 100)) for start in range(0, 100, size)]
        found = list(
            engine.map_blocks(
                kernel, {"numbers": numbers}, tasks, workers=2, pool=pool,
                progress=lambda done, whole: told.append((done, whole)),
            )
        )  # fmt: skip
        assert found == [int((numbers[task.start : task.stop] + 1).sum()) for task in tasks]
    assert told[-1] == (17, 17)
    assert list(engine.map_blocks(kernel, {"numbers": numbers}, [], pool=pool)) == []
    with pytest.raises(ZeroDivisionError):
        list(engine.map_blocks(kernel, {"numbers": numbers}, [range(13, 14)] * 3, pool=pool))


def test_blocks_can_be_stopped(engine):
    def stop(done, whole):
        raise Cancelled("Counting.")

    kernel = Kernel(partial(_offset, 1), _total)
    shared = {"numbers": np.arange(9)}
    with pytest.raises(Cancelled):
        list(engine.map_blocks(kernel, shared, [range(1)] * 9, workers=2, progress=stop))


@pytest.mark.parametrize("orders", [0, 3, 12, 17])
def test_sums_of_weights_are_exact(engine, orders):
    rng = np.random.default_rng(orders)
    weights = [float(w) for w in 10.0 ** rng.uniform(0, orders, 300) * rng.uniform(1, 2, 300)]
    weights += [100.99, 1.0]
    rows = [(0, 0, weight) for weight in weights]
    relation = engine.load(SCHEMA, [batch(rows)])
    how = sum_of_weights(len(weights), min(weights), max(weights))
    whole = engine.query(f"SELECT {how.whole('x0')} AS w FROM {relation}").column(0)[0].as_py()
    exact = sum(map(Fraction, weights))
    assert how.exact(whole) == exact
    near = engine.query(f"SELECT {how.number('x0')} AS w FROM {relation}").column(0)[0].as_py()
    assert near == float(exact)
