"""Parquet, SPSS, Stata and SAS: types, missing values, labels, and files that are damaged.

A .sas7bdat can be read but not written here, so it has no test of its own.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from gamekeeper.budget import within_memory
from gamekeeper.data.coding.source_coding import code_frame, code_source
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.engine.gate import Scan
from gamekeeper.data.reading import source as statistical_file
from gamekeeper.data.reading.columns import ColumnKind
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("region,sex,age\n007,f,16\n")
    return open_source(path, missing=["-9 ", "NA"])


def test_a_source_tells_what_it_found(source):
    assert repr(source) == "Source('people.csv', csv, 3 columns)"
    assert source.names == ("region", "sex", "age")
    assert source.missing == {"-9", "NA"}
    assert source.decimal == "."
    assert source.detected == ("delimiter", "encoding", "decimal")
    assert dict(source.settings) == {"delimiter": ",", "encoding": "utf-8", "decimal": "."}
    assert source.n_records is None
    assert source.column("sex").name == "sex"
    assert repr(source.column("sex")) == "Column('sex', text, 0 value labels)"


def test_the_fingerprint_is_that_of_the_bytes(tmp_path, source):
    parquet = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1]}), parquet)
    for opened in (source, open_source(parquet)):
        digest = hashlib.sha256(opened.path.read_bytes()).hexdigest()
        assert opened.fingerprint == digest[:16]


def test_all_wrong_columns_are_told_at_once_with_those_near(source):
    with pytest.raises(InputError) as caught:
        source.batches(["regoin", "sex", "agee", "sex"])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert [str(problem) for problem in caught.value.problems] == [
        "column 'regoin': It is not in the data. Near to it: 'region'.",
        "column 'agee': It is not in the data. Near to it: 'age'.",
        "column 'sex': It is asked for more than once.",
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.csv", Reason.NOT_FOUND),
        ("folder.csv", Reason.NOT_READABLE),
        ("x.xyz", Reason.NOT_READABLE),
        ("x", Reason.NOT_READABLE),
    ],
)
def test_what_is_no_known_file_is_refused(tmp_path, name, reason):
    (tmp_path / "folder.csv").mkdir()
    for other in ("x.xyz", "x"):
        (tmp_path / other).write_text("a,b\n1,2\n")
    with pytest.raises(InputError) as caught:
        open_source(str(tmp_path / name))
    assert caught.value.reason is reason


@pytest.mark.parametrize("name", ["X.CSV", "x.tsv", "x.txt"])
def test_the_end_of_a_name_may_be_in_capitals(tmp_path, name):
    (tmp_path / name).write_text("a\tb\n1\t2\n")
    assert open_source(tmp_path / name).names == ("a", "b")


@pytest.mark.parametrize("missing", ["NA", [-9]])
def test_missing_values_are_a_list_of_texts(source, missing):
    for read in (
        lambda: open_source(source.path, missing=missing),
        lambda: code_frame(pa.table({"a": [1]}), missing=missing),
    ):
        with pytest.raises(InputError, match="not given as a list of texts") as caught:
            read()
        assert caught.value.reason is Reason.BAD_OPTION


def test_parquet_columns_with_the_same_name_are_refused(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(InputError) as caught:
        open_source(path)
    assert caught.value.reason is Reason.DUPLICATE


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


LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "town": {"x": "Xanten"}}


def people():
    return pd.DataFrame(
        {
            "sex": [1.0, 2.0, 9.0, np.nan],
            "town": ["x", "yy ", "NA", ""],
            "born": [dt.date(2020, 1, 31), None, dt.date(1960, 12, 1), dt.date(1960, 12, 1)],
            "w": [1.5, 2.25, 3.0, 4.0],
        }
    )


def words_of(coded, name):
    return [coded.codebook[name].words[code] for code in coded.codes(name)]


@pytest.fixture(params=[".sav", ".zsav"])
def spss(request, tmp_path):
    path = tmp_path / f"x{request.param}"
    pyreadstat.write_sav(
        people(),
        path,
        compress=request.param == ".zsav",
        column_labels={"sex": "Sex of person"},
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9], "town": ["NA"]},
    )
    return path


def test_spss_values_labels_and_user_missing(spss):
    source = open_source(spss)
    assert (source.kind, source.n_records) == ("spss", 4)
    assert source.names == ("sex", "town", "born", "w")
    kinds = [column.kind for column in source.columns]
    assert kinds == [ColumnKind.NUMBER, ColumnKind.TEXT, ColumnKind.DATE, ColumnKind.NUMBER]
    assert source.settings["user_missing"] == "missing"
    coded = code_source(source, ["sex", "town", "born"], numbers=["w"])
    assert values_of(coded, "sex") == ["1", "2", "", ""]
    assert words_of(coded, "sex") == ["male", "female", "missing", "missing"]
    assert coded.codebook["sex"].label == "Sex of person"
    assert values_of(coded, "town") == ["x", "yy", "", ""]
    assert words_of(coded, "town") == ["Xanten", "yy", "missing", "missing"]
    assert values_of(coded, "born") == ["2020-01-31", "", "1960-12-01", "1960-12-01"]
    assert coded.number("w").tolist() == [1.5, 2.25, 3.0, 4.0]


def test_spss_user_missing_may_be_kept(spss):
    source = open_source(spss, keep_user_missing=True)
    assert source.settings["user_missing"] == "kept"
    coded = code_source(source, ["sex", "town"])
    assert words_of(coded, "sex") == ["male", "female", "refused", "missing"]
    assert values_of(coded, "town") == ["x", "yy", "NA", ""]


def test_spss_ranges_of_missing_values(tmp_path):
    path = tmp_path / "x.sav"
    frame = pd.DataFrame({"a": [1.0, 97.0, 98.5, 99.0, -1.0]})
    pyreadstat.write_sav(frame, path, missing_ranges={"a": [{"lo": 97, "hi": 99}, -1]})
    assert values_of(code_source(open_source(path), ["a"]), "a") == ["1", "", "", "", ""]


def test_given_missing_values_are_texts(spss):
    coded = code_source(open_source(spss, missing=["2", "x"]), ["sex", "town"], numbers=["w"])
    assert values_of(coded, "sex") == ["1", "", "", ""]
    assert values_of(coded, "town") == ["", "yy", "", ""]


@pytest.mark.slow
def test_leading_zeros_of_a_display_format_survive(tmp_path):
    frame = pd.DataFrame({"region": [7.0, 12.0, 1234.0]})
    labels = {"region": {7: "North"}}
    pyreadstat.write_sav(
        frame, tmp_path / "x.sav", variable_format={"region": "N3"}, variable_value_labels=labels
    )
    pyreadstat.write_dta(
        frame,
        tmp_path / "x.dta",
        variable_format={"region": "%03.0f"},
        variable_value_labels=labels,
    )
    for name in ("x.sav", "x.dta"):
        coded = code_source(open_source(tmp_path / name), ["region"])
        assert coded.codebook["region"].values == ("", "007", "012", "1234")
        assert coded.codebook["region"].words[1] == "North"


@pytest.mark.parametrize(
    ("suffix", "write", "kind", "spelt"),
    [("por", pyreadstat.write_por, "spss", str.upper), ("xpt", pyreadstat.write_xport, "sas", str)],
)
def test_portable_files(tmp_path, suffix, write, kind, spelt):
    path = tmp_path / f"x.{suffix}"
    write(people()[["sex", "town", "w"]], path)
    source = open_source(path)
    sex, town, weight = map(spelt, ("sex", "town", "w"))
    assert (source.kind, source.names) == (kind, (sex, town, weight))
    coded = code_source(source, [sex, town], numbers=[weight])
    assert values_of(coded, sex) == ["1", "2", "9", ""]
    assert values_of(coded, town) == ["x", "yy", "NA", ""]
    assert coded.number(weight).tolist() == [1.5, 2.25, 3.0, 4.0]


def stata(path):
    frame = pd.DataFrame(
        {
            "sex": pd.Series([1, 2, "a", None], dtype=object),
            "town": ["x", "yy", "NA", ""],
            "count": [1, 2, 3, 4],
            "share": [0.5, 2.0, np.nan, 4.0],
        }
    )
    pyreadstat.write_dta(
        frame,
        path,
        column_labels=["Sex of person", "", "", ""],
        missing_user_values={"sex": ["a"]},
        variable_value_labels={"sex": {1: "male", 2: "female", "a": "refused"}},
    )
    return path


def test_stata_values_labels_and_extended_missing(tmp_path):
    source = open_source(stata(tmp_path / "x.dta"))
    assert (source.kind, source.n_records) == ("stata", 4)
    coded = code_source(source, source.names)
    assert words_of(coded, "sex") == ["male", "female", "missing", "missing"]
    assert coded.codebook["sex"].label == "Sex of person"
    assert values_of(coded, "town") == ["x", "yy", "NA", ""]
    assert values_of(coded, "count") == ["1", "2", "3", "4"]
    assert values_of(coded, "share") == ["0.5", "2", "", "4"]


def test_stata_extended_missing_may_be_kept(tmp_path):
    source = open_source(stata(tmp_path / "x.dta"), keep_user_missing=True)
    coded = code_source(source, ["sex"])
    assert values_of(coded, "sex") == ["1", "2", "a", ""]
    assert words_of(coded, "sex") == ["male", "female", "refused", "missing"]


@pytest.mark.slow
@pytest.mark.parametrize("n_records", [0, 1, 6, 7, 14])
@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt", ".por"])
def test_files_are_read_in_chunks(tmp_path, monkeypatch, suffix, n_records):
    monkeypatch.setattr(statistical_file, "_CELLS", 14)
    path = tmp_path / f"x{suffix}"
    frame = pd.DataFrame(
        {"A": np.arange(n_records, dtype=float), "B": [f"t{i}" for i in range(n_records)]}
    )
    write = {".sav": "sav", ".dta": "dta", ".xpt": "xport", ".por": "por"}[suffix]
    getattr(pyreadstat, f"write_{write}")(frame, path)
    source = open_source(path)
    if not n_records:
        with pytest.raises(InputError, match="no records"):
            code_source(source, ["A"])
        return
    coded = code_source(source, ["B"], numbers=["A"])
    assert values_of(coded, "B") == [f"t{i}" for i in range(n_records)]
    assert coded.number("A").tolist() == list(range(n_records))
    # The type of a column must not depend on the chunk: here the first one is missing throughout.
    late = frame.assign(A=np.nan)
    if n_records > 7:
        late.loc[n_records - 1, "A"] = 5.0
        getattr(pyreadstat, f"write_{write}")(late, path)
        coded = code_source(open_source(path), ["A", "B"])
        assert values_of(coded, "A") == [""] * (n_records - 1) + ["5"]


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize("content", [b"", b"no such file" * 100])
def test_other_content_of_a_statistical_file_is_one_error(tmp_path, suffix, content):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(open_source(path).batches(["a"]))
    assert caught.value.reason is Reason.MALFORMED
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_cut_file_is_one_error(spss):
    spss.write_bytes(spss.read_bytes()[:-30])
    with pytest.raises(InputError) as caught:
        code_source(open_source(spss), ["sex"])
    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("encoding", ["klingon", "ascii", "utf-16"])
def test_a_wrong_encoding_is_one_error(tmp_path, encoding):
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": ["é"]}), path)
    with pytest.raises(InputError) as caught:
        code_source(open_source(path, encoding=encoding), ["a"])
    assert caught.value.reason is Reason.WRONG_ENCODING


@pytest.mark.slow
def test_an_old_stata_file_needs_its_encoding(tmp_path):
    path = tmp_path / "x.dta"
    pyreadstat.write_dta(pd.DataFrame({"a": ["é"]}), path)
    path.write_bytes(path.read_bytes().replace("é".encode(), "é\0".encode("cp1252")))
    with pytest.raises(InputError) as caught:
        code_source(open_source(path), ["a"])
    assert caught.value.reason is Reason.WRONG_ENCODING
    source = open_source(path, encoding="cp1252")
    assert source.settings["encoding"] == "cp1252"
    assert code_source(source, ["a"]).codebook["a"].values == ("", "é")


def test_a_small_budget_is_kept_by_reading_fewer_records_at_a_time(tmp_path):
    path = tmp_path / "x.sav"
    n_records = 90_000
    frame = pd.DataFrame(
        {"a": np.arange(n_records) % 50.0, "b": [f"t{i}" for i in range(n_records)]}
    )
    pyreadstat.write_sav(frame, path)
    with within_memory("64MB"):
        source = open_source(path)
        sizes = [batch.num_rows for batch in source.batches(["b", "a"])]
    assert sum(sizes) == n_records
    assert max(sizes) < n_records / 2


def test_long_texts_are_read_in_smaller_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(statistical_file, "_CELLS", 1_000)
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": ["x" * 640] * 200, "b": [1.0] * 200}), path)
    source = open_source(path)
    assert [batch.num_rows for batch in source.batches(["a"])] == [90, 90, 20]
    assert [batch.num_rows for batch in source.batches(["b"])] == [200]
