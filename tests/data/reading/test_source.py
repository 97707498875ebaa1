from __future__ import annotations

import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gamekeeper.data.coding.source_coding import code_frame
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
