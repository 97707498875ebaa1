"""Every statement that is sent to an engine gives the same arrays on each of them, record by record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gamekeeper.data.coding.codebook import Recode
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.coding.source_coding import code_frame, code_source
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.tables.release import tabulate
from gamekeeper.errors import InputError
from gamekeeper.prompt_syntax import Missing

KEYS = ["age", "region", "sex"]


def people(n_records=300, seed=7):
    rng = np.random.default_rng(seed)

    def lacking(values, share=0.15):
        return pa.array(values, mask=rng.random(n_records) < share)

    regions = np.array(["010", "7", "it's", "é", " x"])
    return pa.table(
        {
            "age": lacking(rng.integers(20, 27, n_records).astype(np.int8)),
            "region": lacking(regions[rng.integers(0, len(regions), n_records)]),
            "sex": pa.array(rng.integers(1, 3, n_records), pa.int64()),
            "trade": lacking(rng.choice([-4, 70_000, 2**40], n_records)),
            "stratum": pa.array(np.array(["a", "b"])[rng.integers(0, 2, n_records)]),
            "weight": 10.0 ** rng.uniform(0.1, 12, n_records),
            "small": pa.array(rng.integers(1, 9, n_records), pa.uint16()),
        }
    )


@pytest.fixture(params=["csv", "parquet", "folder"])
def place(request, tmp_path):
    """The same people as a file of each kind that is read in another way."""
    table = people()
    if request.param == "csv":
        import pyarrow.csv

        path = tmp_path / "people.csv"
        pyarrow.csv.write_csv(table, path)
        return path
    if request.param == "parquet":
        path = tmp_path / "_it's {people}.parquet"
        pq.write_table(table, path, row_group_size=40)
        return path
    folder = tmp_path / "people=1"
    folder.mkdir()
    # Written in another order than that of their names, which is that of their records.
    cuts = {"b2": (100, 100), "a": (0, 1), "b": (1, 100), "c": (100, 300)}
    for name, (start, stop) in cuts.items():
        pq.write_table(table.slice(start, stop - start), folder / f"{name}.parquet")
    return folder


@pytest.fixture
def engines(spark, tmp_path):
    scratch = tmp_path / "scratch [1]"
    scratch.mkdir()
    with DuckDBEngine(threads=2) as here, spark(scratch) as there:
        yield here, there
    assert not list(scratch.iterdir())


def told(table):
    """Return all that a key table tells, as plain values."""
    rows = table.classes()
    return {
        "structure": dict(table.structure),
        "by size": dict(table.records_by_size),
        "released": dict(table.released_by_size),
        "diversity": {name: dict(found) for name, found in table.diversity.items()},
        "fraction": table.fraction,
        "fractions": table.fractions,
        "left out": table.n_excluded,
        "sizes": table.class_sizes().tolist(),
        "numbers": table.class_numbers().tolist(),
        "records": table.counted.records().tolist(),
        "classes": {name: rows.column(name).to_pylist() for name in rows.column_names},
    }


def test_columns_of_files_have_the_same_codes(engines, place):
    found = []
    for engine in engines:
        coded = code_source(
            open_source(place), [*KEYS, "trade"], numbers=["weight", "small"], engine=engine
        )
        values = [(variable.name, variable.values, variable.words) for variable in coded.codebook]
        numbers = [coded.number(name).tolist() for name in ("weight", "small")]
        found.append((values, coded.matrix().tolist(), numbers, coded.fingerprint))
    assert found[0] == found[1]
    assert len(found[0][1]) == 300


@pytest.mark.parametrize("missing", list(Missing))
def test_classes_are_the_same(engines, missing):
    found = []
    for engine in engines:
        frame = people()
        coded = code_frame(frame, [*KEYS, "trade", "stratum"], numbers=["weight"], engine=engine)
        found.append(
            told(count_keys(coded, KEYS, missing=missing, sensitive=["trade"], fraction="1/10"))
        )
    assert found[0] == found[1]


def test_weights_and_strata_are_the_same(engines):
    found = []
    for engine in engines:
        coded = code_frame(people(), [*KEYS, "trade", "stratum"], numbers=["weight"], engine=engine)
        table = count_keys(coded, KEYS, weight="weight", strata="stratum", missing="exclude")
        plain = count_keys(coded, KEYS, weight="weight")
        found.append(
            (
                table.fraction,
                table.fractions,
                plain.fraction,
                table.class_weights().tolist(),
                table.record_fractions().tolist(),
                table.l_diversity("trade").tolist(),
            )
        )
    assert found[0] == found[1]


def test_bad_weights_are_refused_alike(engines, tmp_path):
    bad = [0.0, -1.0, float("nan"), float("inf"), -float("inf"), None]
    columns = {f"w{number}": pa.array([1.5, weight, 2.0]) for number, weight in enumerate(bad)}
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"sex": [1, 2, 2], **columns}), path)
    texts = []
    for engine in engines:
        coded = code_source(open_source(path), ["sex"], numbers=list(columns), engine=engine)
        for weight in columns:
            with pytest.raises(InputError) as caught:
                count_keys(coded, ["sex"], weight=weight)
            texts.append(str(caught.value))
    assert texts[: len(bad)] == texts[len(bad) :]


def test_recoded_and_counted_tables_are_the_same(engines):
    found = []
    for engine in engines:
        coded = code_frame(people(), [*KEYS, "trade"], engine=engine)
        n_codes = coded.codebook["age"].n_codes
        coarse = Recode("age", [0, *([1] * 3), *([2] * (n_codes - 4))], ("missing", "young", "old"))
        recoded = coded.recoded([coarse])
        table = tabulate(recoded, ["age", "sex"])
        counted = count_keys(recoded, ["age", "region"])
        found.append((recoded.matrix().tolist(), np.asarray(table.counts).tolist(), told(counted)))
    assert found[0] == found[1]


def test_many_variables_are_packed_alike(engines):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (40, 64))
    codes[20:] = codes[:20]
    names = [f"x{number}" for number in range(64)]
    found = []
    for engine in engines:
        coded = coded_from_codes(codes, names, engine=engine)
        found.append(told(count_keys(coded, names)))
    assert found[0] == found[1]
    assert found[0]["structure"] == {2: 20}


@pytest.mark.parametrize("n_blocks", [1, 3, 17])
def test_any_blocks_and_any_order_of_partitions_give_the_same(spark, tmp_path, n_blocks):
    """Records that come in other files, and in other partitions, are counted alike."""
    table = people(120)
    folder = tmp_path / "people"
    folder.mkdir()
    cuts = np.linspace(0, 120, n_blocks + 1).astype(int)
    for number in np.random.default_rng(n_blocks).permutation(n_blocks):
        part = table.slice(cuts[number], cuts[number + 1] - cuts[number])
        pq.write_table(part, folder / f"{number:03d}.parquet", row_group_size=5)
    whole = tmp_path / "whole.parquet"
    pq.write_table(table, whole)
    with DuckDBEngine(threads=1) as here, spark(tmp_path) as there:
        expected = code_source(open_source(whole), KEYS, engine=here)
        found = code_source(open_source(folder), KEYS, engine=there)
        # As if workers had handed their parts out in whatever order.
        shuffled = there._session.table(found.relation).repartition(n_blocks + 2, "v0")
        shuffled.createOrReplaceTempView(found.relation)
        assert expected.matrix().tolist() == found.matrix().tolist()
        assert told(count_keys(expected, KEYS)) == told(count_keys(found, KEYS))
