from __future__ import annotations

import csv
import datetime as dt
import gc
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.codebook import sorted_values
from gamekeeper.data.coding.source_coding import code_frame, code_source
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.reading import csv_file
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import Cancelled, InputError, Reason

TOWNS = st.sampled_from(["", "007", "7", "Köln", "x y", 'a"b', "a,b", "NA"])
AGES = st.none() | st.integers(-9, 120)
SHARES = st.none() | st.sampled_from([0.5, 1.0, 2.25, -3.0, 1e-7])
RECORDS = st.lists(st.tuples(TOWNS, AGES, SHARES), min_size=1, max_size=12)
NAMES = ("town", "age", "share")


@pytest.fixture(scope="module")
def engine():
    with DuckDBEngine(threads=1) as made:
        yield made


def cell_text(cell):
    """The one text of a cell, written down once more."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell)


def coded_by_sorting(records, missing=()):
    """Values per variable and codes per record, by sorting all texts."""
    texts = [[cell_text(cell) for cell in record] for record in records]
    texts = [["" if text in missing else text for text in record] for record in texts]
    books = [
        ["", *sorted_values({text for text in column if text})]
        for column in zip(*texts, strict=True)
    ]
    codes = [
        [book.index(text) for book, text in zip(books, record, strict=True)] for record in texts
    ]
    return [tuple(book) for book in books], codes


def columns_of(records):
    return [list(column) for column in zip(*records, strict=True)]


def arrow(records):
    towns, ages, shares = columns_of(records)
    return pa.table(
        {
            "town": pa.array([town or None for town in towns], pa.string()),
            "age": pa.array(ages, pa.int64()),
            "share": pa.array(shares, pa.float64()),
        }
    )


def write_csv(records, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [NAMES, *([cell_text(cell) for cell in record] for record in records)]
        )


def write_stat(write):
    def written(records, path):
        towns, ages, shares = columns_of(records)
        frame = {
            "town": towns,
            "age": pd.array(ages, "Float64"),
            "share": pd.array(shares, "Float64"),
        }
        write(pd.DataFrame(frame).astype({"age": float, "share": float}), path)

    return written


WRITERS = {
    "csv": write_csv,
    "parquet": lambda records, path: pq.write_table(arrow(records), path),
    "sav": write_stat(pyreadstat.write_sav),
    "dta": write_stat(pyreadstat.write_dta),
    "xpt": write_stat(pyreadstat.write_xport),
}


def frames(records):
    table = arrow(records)
    towns, ages, shares = columns_of(records)
    yield table
    yield table.to_pandas()
    yield pd.DataFrame({"town": towns, "age": ages, "share": shares}, dtype=object)
    yield pl.from_arrow(table)
    yield pl.from_arrow(table).lazy()
    yield pl.from_arrow(table).with_columns(pl.col("town").cast(pl.Categorical))
    yield duckdb.from_arrow(table)
    yield pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))


def check(coded, records, missing=()):
    books, codes = coded_by_sorting(records, missing)
    assert [variable.values for variable in coded.codebook] == books
    assert coded.matrix().tolist() == codes
    assert coded.n_records == len(records)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(RECORDS, st.lists(st.sampled_from(["NA", "-9", "7", "1"]), max_size=2))
def test_every_kind_of_file_has_the_same_codes(engine, records, missing):
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in WRITERS.items():
            path = Path(folder, f"x.{suffix}")
            write(records, path)
            source = open_source(path, missing=missing, delimiter=",")
            coded = code_source(source, NAMES, engine=engine)
            check(coded, records, missing)
            assert coded.fingerprint == source.fingerprint


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(RECORDS, st.lists(st.sampled_from(["NA", "-9", "7"]), max_size=2))
def test_every_kind_of_frame_has_the_same_codes(engine, records, missing):
    marks = set()
    for frame in frames(records):
        coded = code_frame(frame, missing=missing, engine=engine)
        check(coded, records, missing)
        marks.add(coded.fingerprint)
    assert len(marks) == 1


@settings(deadline=None, max_examples=15)
@given(RECORDS, st.randoms())
def test_the_order_of_records_does_not_change_the_codebook(engine, records, random):
    shuffled = list(records)
    random.shuffle(shuffled)
    one, other = (code_frame(arrow(rows), engine=engine) for rows in (records, shuffled))
    assert list(one.codebook) == list(other.codebook)
    check(other, shuffled)


def test_values_that_come_late_are_put_in_order(tmp_path, monkeypatch, engine):
    # Blocks of a few records, so that most values are new in a later one; beyond 2**15 of them.
    monkeypatch.setattr(csv_file, "_READ_BLOCK", 1 << 14)
    numbers = np.random.default_rng(7).permutation(40_000)
    letters = ["zyxwv"[number % 5] for number in range(40_000)]
    path = tmp_path / "x.csv"
    path.write_text(
        "id,letter,w\n" + "".join(f"{n},{c},{n}.5\n" for n, c in zip(numbers, letters, strict=True))
    )
    coded = code_source(open_source(path), ["id", "letter"], numbers=["w"], engine=engine)
    assert coded.codes("id").tolist() == (numbers + 1).tolist()
    assert coded.codebook["id"].values[1:] == tuple(map(str, range(40_000)))
    assert coded.codes("letter").tolist() == ["_vwxyz".index(letter) for letter in letters]
    assert coded.number("w").tolist() == (numbers + 0.5).tolist()


def weights(tmp_path, text, engine, **options):
    path = tmp_path / "w.csv"
    path.write_text(text, encoding="utf-8")
    return code_source(open_source(path, **options), ["a"], numbers=["w"], engine=engine).number(
        "w"
    )


@pytest.mark.parametrize(
    ("text", "options", "numbers"),
    [
        ("a;w\nx;1,5\ny; 2 \n", {}, [1.5, 2]),
        ("a,w\nx,1.5\ny,+1e3\n", {}, [1.5, 1000]),
        ('a,w\nx,"1,5"\ny,.5\n', {"decimal": "."}, None),
        ('a,w\nx,"1,5"\ny,\n', {"decimal": ","}, [1.5, np.nan]),
        ("a,w\nx,NA\ny,-9\n", {"missing": ["NA", "-9.0"]}, [np.nan, np.nan]),
        ("a,w\nx,NA\ny,1\n", {}, None),
        ("a,w\nx,inf\ny,nan\n", {}, None),
        ("a,w\nx,1e999\ny,1\n", {"missing": []}, None),
        ("a;w\nx;1.234,5\ny;1,5\n", {}, None),
        ("a;w\nx;1 234\ny;1,5\n", {}, None),
        ("a,w\nx,0x10\ny,1\n", {}, None),
    ],
)
def test_numbers_are_read_or_counted_never_guessed(tmp_path, engine, text, options, numbers):
    if numbers is None:
        with pytest.raises(InputError, match="cannot be read as numbers") as caught:
            weights(tmp_path, text, engine, **options)
        assert caught.value.reason is Reason.WRONG_SCHEMA
        assert "of 2 cells" in caught.value.problems[0].found
    else:
        np.testing.assert_array_equal(weights(tmp_path, text, engine, **options), numbers)


def test_every_column_that_is_not_numeric_is_told_with_its_count(tmp_path, engine):
    path = tmp_path / "x.csv"
    path.write_text("a,v,w\n1,x,1\n2,y,z\n3,4,\n")
    with pytest.raises(InputError) as caught:
        code_source(open_source(path), ["a"], numbers=["w", "v", "a"], engine=engine)
    assert [str(problem) for problem in caught.value.problems] == [
        "column 'w': 1 of 3 cells is not a number.",
        "column 'v': 2 of 3 cells are not numbers.",
    ]
    both = code_source(open_source(path), ["a"], numbers=["a"], engine=engine)
    assert both.number("a").tolist() == [1, 2, 3]
    assert both.codes("a").tolist() == [1, 2, 3]


def test_wrong_columns_of_a_frame(engine):
    table = pa.table({"age": [1], "sex": ["f"]})
    with pytest.raises(InputError, match="Near to it: 'age'"):
        code_frame(table, ["agee"], engine=engine)
    with pytest.raises(InputError, match="as one text"):
        code_frame(table, "age", engine=engine)
    with pytest.raises(InputError, match="No column is named"):
        code_frame(table, [], engine=engine)
    with pytest.raises(InputError, match="more than once"):
        code_frame(table, ["age", "age"], engine=engine)
    with pytest.raises(InputError, match="no records"):
        code_frame(table.slice(1), engine=engine)
    assert code_frame(table, numbers=["age"], engine=engine).codebook.names == ("sex",)


def test_what_is_no_frame_is_refused(engine):
    for frame in ([1, 2], {"a": [1]}, "text", None):
        with pytest.raises(InputError, match="not a known data frame") as caught:
            code_frame(frame, engine=engine)
        assert caught.value.reason is Reason.WRONG_SCHEMA
    with pytest.raises(InputError, match="same name"):
        code_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]), engine=engine)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for frame in (twice, pa.RecordBatchReader.from_batches(twice.schema, twice.to_batches())):
        with pytest.raises(InputError, match="same name"):
            code_frame(frame, engine=engine)
    with pytest.raises(InputError, match="2 columns have a name that is not text"):
        code_frame(pd.DataFrame([[1, 2]]), engine=engine)


def test_mixed_objects_of_pandas_are_values(engine):
    cells = [1, "1", 2.0, "x", None, np.nan, np.int64(3), True, dt.date(2020, 1, 2), pd.NaT]
    coded = code_frame(pd.DataFrame({"a": pd.Series(cells, dtype=object)}), engine=engine)
    values = [coded.codebook["a"].values[code] for code in coded.codes("a")]
    assert values == ["1", "1", "2", "x", "", "", "3", "true", "2020-01-02", ""]
    odd = pd.DataFrame({"a": pd.Series([1, {"canary"}], dtype=object), "b": [1, 2]})
    with pytest.raises(InputError) as caught:
        code_frame(odd, engine=engine)
    assert "It holds objects of type set." in str(caught.value)
    assert code_frame(odd, ["b"], engine=engine).n_records == 2


@pytest.mark.parametrize("suffix", ["csv", "parquet", "sav"])
def test_progress_is_told_and_may_cancel(tmp_path, engine, suffix):
    path = tmp_path / f"x.{suffix}"
    WRITERS[suffix]([("x", 1, 0.5)] * 5, path)
    told = []
    source = open_source(path)
    code_source(source, ["town"], engine=engine, progress=lambda *done: told.append(done))
    assert told[-1] == (5, source.n_records)

    def stop(done, whole):
        raise Cancelled("Reading.")

    with pytest.raises(Cancelled):
        code_source(source, ["town"], engine=engine, progress=stop)


def test_nothing_is_left_in_the_engine(tmp_path):
    path = tmp_path / "x.csv"
    write_csv([("z", 1, 0.5), ("a", 2, None)], path)
    with DuckDBEngine(threads=1) as engine:
        for _ in range(3):
            code_source(open_source(path), ["town", "age"], engine=engine)
            with pytest.raises(InputError):
                code_source(open_source(path), ["age"], numbers=["town"], engine=engine)
        gc.collect()
        engine.create("SELECT 1 AS v0")
        tables = engine.query("SELECT table_name FROM information_schema.tables")
        assert tables.num_rows == 1
