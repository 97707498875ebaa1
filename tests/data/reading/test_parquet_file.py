from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.engine.gate import Scan
from gamekeeper.data.reading.column import ColumnKind
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason


def written(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


def values_of(coded, name):
    return [coded.codebook[name].values[code] for code in coded.codes(name)]


class Watched(DuckDBEngine):
    """An engine that tells which columns it scanned in place."""

    def __init__(self):
        super().__init__(threads=1)
        self.coded = []

    def scan_parquet(self, path, columns):
        self.coded += [column.name for column in columns if column.scan is not Scan.RAW]
        return super().scan_parquet(path, columns)


COLUMNS = {
    "integer": (pa.array([10, 9, None, 10], pa.int64()), ["10", "9", "", "10"]),
    "small": (pa.array([1, 2, 3, None], pa.uint8()), ["1", "2", "3", ""]),
    "gaps": (pa.array([-9, 10**12, 5, 5]), ["-9", "1000000000000", "5", "5"]),
    "text": (pa.array(["010", "", None, "007"]), ["010", "", "", "007"]),
    "large": (pa.array(["b", "a", "b", None], pa.large_string()), ["b", "a", "b", ""]),
    "dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([1, None, 1, 2]), ["unused", "y", "x"]),
        ["y", "", "y", "x"],
    ),
}
OTHERS = {
    "huge": (pa.array([2**64 - 1, 1, None, 1], pa.uint64()), ["18446744073709551615", "1", "", "1"]),
    "spaces": (pa.array(["a", "a ", " a", " "]), ["a", "a", "a", ""]),
    "truth": (pa.array([True, None, False, True]), ["true", "", "false", "true"]),
    "date": (pa.array([dt.date(2020, 1, 31), None, None, None]), ["2020-01-31", "", "", ""]),
    "decimal": (pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-0.25")]),
                ["1.5", "2", "", "-0.25"]),
    "float": (pa.array([1.0, float("nan"), 2.5, None]), ["1", "", "2.5", ""]),
    "float32": (pa.array([0.1, 1, 7, None], pa.float32()), ["0.1", "1", "7", ""]),
    "numbers": (pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array([2.5, 3.0])),
                ["2.5", "3", "", "2.5"]),
    "nothing": (pa.nulls(4), ["", "", "", ""]),
}  # fmt: skip


@pytest.mark.parametrize("name", [*COLUMNS, *OTHERS])
def test_every_type_is_coded(tmp_path, name):
    array, expected = (COLUMNS | OTHERS)[name]
    path = written(tmp_path / "x.parquet", {"other": [1, 2, 3, 4], name: array})
    with Watched() as engine:
        coded = code_source(open_source(path), [name], engine=engine)
        assert values_of(coded, name) == expected
        assert engine.coded == (["v0"] if name in COLUMNS else [])


def test_columns_in_place_and_read_have_the_same_codes(tmp_path):
    arrays = {name: array for name, (array, _) in COLUMNS.items()}
    path = written(tmp_path / "x.parquet", arrays | {"w": [0.5, None, 2.5, 3.5], "f": [1.0] * 4})
    source = open_source(path)
    with Watched() as engine:
        scanned = code_source(source, list(arrays), numbers=["w"], engine=engine)
        assert len(engine.coded) == len(arrays) + 1
        read = code_source(source, [*arrays, "f"], numbers=["w"], engine=engine)
        assert len(engine.coded) == len(arrays) + 1
        assert scanned.matrix().tolist() == read.matrix(list(arrays)).tolist()
        assert list(scanned.codebook) == list(read.codebook)[:-1]
        np.testing.assert_array_equal(scanned.number("w"), [0.5, np.nan, 2.5, 3.5])
        np.testing.assert_array_equal(read.number("w"), [0.5, np.nan, 2.5, 3.5])
        assert scanned.fingerprint == read.fingerprint == source.fingerprint


@pytest.mark.parametrize("missing", [["-9", "007"], ["5"]])
def test_missing_values_are_texts_in_every_type(tmp_path, missing):
    columns = {"a": [-9, 5, 5], "t": ["007", "5", "x"], "f": [-9.0, 5.0, 2.5]}
    path = written(tmp_path / "x.parquet", columns)
    source = open_source(path, missing=missing)
    coded = code_source(source, ["a", "t", "f"], numbers=["f"])
    plain = code_source(source, ["a", "t"])
    for name, cells in {"a": ["-9", "5", "5"], "t": columns["t"], "f": ["-9", "5", "2.5"]}.items():
        expected = ["" if cell in missing else cell for cell in cells]
        assert values_of(coded, name) == expected
        if name != "f":
            assert values_of(plain, name) == expected
    numbers = [np.nan if cell in missing else float(cell) for cell in ("-9", "5", "2.5")]
    np.testing.assert_array_equal(coded.number("f"), numbers)


@pytest.mark.parametrize("name", ["x[1].parquet", "it's.parquet", "x*.parquet", "x?y.parquet"])
def test_a_name_is_no_pattern(tmp_path, name):
    written(tmp_path / "x1.parquet", {"a": [1, 2, 3]})
    coded = code_source(open_source(written(tmp_path / name, {"a": [4, 5]})), ["a"])
    assert values_of(coded, "a") == ["4", "5"]


@pytest.mark.parametrize(
    "names", [("a", "A"), ("record", "v0"), ('x"y', "x y"), ("é", "file_row_number")]
)
def test_any_names_are_told_apart(tmp_path, names):
    one, other = names
    path = written(tmp_path / "x.parquet", {one: [4, 5], other: ["u", "v"]})
    coded = code_source(open_source(path), [other, one])
    assert values_of(coded, one) == ["4", "5"]
    assert values_of(coded, other) == ["u", "v"]


def test_a_folder_is_no_column(tmp_path):
    (tmp_path / "a=1").mkdir()
    path = written(tmp_path / "a=1" / "x.parquet", {"b": ["u", "v"], "a": [4, 5]})
    with Watched() as engine:
        coded = code_source(open_source(path), ["a", "b"], engine=engine)
        assert values_of(coded, "a") == ["4", "5"]
        assert values_of(coded, "b") == ["u", "v"]
        assert engine.coded == ["v0", "v1"]


def test_row_groups_keep_the_order_of_the_file(tmp_path):
    cells = np.random.default_rng(1).integers(0, 400, 20_000)
    path = written(tmp_path / "x.parquet", {"a": cells, "t": cells.astype(str)}, row_group_size=999)
    coded = code_source(open_source(path), ["a", "t"])
    order = {value: code for code, value in enumerate(sorted(set(cells.tolist())), 1)}
    expected = [order[cell] for cell in cells.tolist()]
    assert coded.codes("a").tolist() == expected
    assert coded.codes("t").tolist() == expected


def test_kinds_and_size_come_from_the_file(tmp_path):
    source = open_source(written(tmp_path / "x.parquet", {"a": [1], "b": ["x"], "c": [True]}))
    assert (source.kind, source.n_records) == ("parquet", 1)
    assert [column.kind for column in source.columns] == [
        ColumnKind.NUMBER,
        ColumnKind.TEXT,
        ColumnKind.TRUTH,
    ]


def test_text_numbers_are_parsed_and_dates_are_none(tmp_path):
    path = written(tmp_path / "x.pq", {"w": [" 1.5", "2", ""], "d": [dt.date(2020, 1, 1)] * 3})
    source = open_source(path)
    np.testing.assert_array_equal(
        code_source(source, [], numbers=["w"]).number("w"), [1.5, 2, np.nan]
    )
    with pytest.raises(InputError, match="is of type date32") as caught:
        code_source(source, ["w"], numbers=["d"])
    assert caught.value.reason is Reason.WRONG_SCHEMA


def test_lists_and_bytes_are_refused_together(tmp_path):
    columns = {"a": [[1]], "b": [b"x"], "c": [{"canary": 1}], "d": [1]}
    source = open_source(written(tmp_path / "x.parquet", columns))
    assert source.column("a").kind is ColumnKind.OTHER
    with pytest.raises(InputError) as caught:
        code_source(source, ["a", "b", "c", "d"])
    assert [problem.where for problem in caught.value.problems] == [
        "column 'a'",
        "column 'b'",
        "column 'c'",
    ]
    assert "canary" not in str(caught.value)
    assert code_source(source, ["d"]).n_records == 1


def test_a_file_without_records(tmp_path):
    source = open_source(written(tmp_path / "x.parquet", {"a": pa.array([], pa.int64())}))
    with pytest.raises(InputError, match="no records"):
        code_source(source, ["a"])


def test_other_content_is_one_error(tmp_path):
    path = tmp_path / "x.parquet"
    for content in (b"", b"PAR1 and no more"):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            open_source(path)
        assert caught.value.reason is Reason.MALFORMED
        assert caught.value.__context__ is None


def test_a_damaged_page_is_one_error(tmp_path):
    path = written(tmp_path / "x.parquet", {"a": np.arange(10_000) * 1.5}, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[100:20_000] = bytes(19_900)
    path.write_bytes(whole)
    with pytest.raises(InputError) as caught:
        code_source(open_source(path), ["a"])
    assert caught.value.reason is Reason.MALFORMED
