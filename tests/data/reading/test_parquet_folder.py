"""A folder of Parquet files is read as one file, whoever wrote it in parts."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason

PEOPLE = pa.table(
    {
        "age": pa.array([30, 31, 30, None, 44, 31, 30], pa.int16()),
        "town": pa.array(["b", "a", "b", "c", None, "a", "é"]),
        "weight": pa.array([1.5, 2.0, 1.25, 3.0, 4.0, 100.99, 7.0]),
    }
)


def write_parts(folder, ends):
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").write_bytes(b"x")
    start = 0
    for number, end in enumerate([*ends, PEOPLE.num_rows]):
        pq.write_table(PEOPLE.slice(start, end - start), folder / f"part-{number:05}.parquet")
        start = end
    return folder


@pytest.mark.slow
@settings(max_examples=8)
@given(st.lists(st.integers(0, 7), max_size=4).map(sorted))
def test_parts_are_one_file(tmp_path_factory, ends):
    base = tmp_path_factory.mktemp("parts")
    pq.write_table(PEOPLE, base / "whole.parquet")
    whole = code_source(open_source(base / "whole.parquet"), ["age", "town"], numbers=["weight"])
    folder = open_source(write_parts(base / "in parts", ends))
    assert (folder.n_records, folder.kind, folder.name) == (7, "parquet", "in parts")
    parts = code_source(folder, ["age", "town"], numbers=["weight"])
    assert parts.codebook == whole.codebook
    assert parts.matrix(["age", "town"]).tolist() == whole.matrix(["age", "town"]).tolist()
    found = [count_keys(each, ["age", "town"]).class_sizes().tolist() for each in (parts, whole)]
    assert found[0] == found[1]


def test_what_is_no_such_folder(tmp_path):
    for name, fill in (
        ("empty", lambda folder: None),
        ("texts", lambda folder: (folder / "a.csv").write_text("x\n1\n")),
        ("nested", lambda folder: (folder / "year=2031").mkdir()),
    ):
        (tmp_path / name).mkdir()
        fill(tmp_path / name)
        with pytest.raises(InputError, match="It is a folder") as caught:
            open_source(tmp_path / name)
        assert caught.value.reason is Reason.NOT_READABLE


def test_files_with_other_columns(tmp_path):
    folder = write_parts(tmp_path / "people", [3])
    pq.write_table(PEOPLE.rename_columns(["age", "city", "weight"]), folder / "part-7.parquet")
    pq.write_table(PEOPLE.set_column(0, "age", PEOPLE["age"].cast("int64")), folder / "z.parquet")
    with pytest.raises(InputError) as caught:
        open_source(folder)
    assert caught.value.reason is Reason.WRONG_SCHEMA
    assert [problem.where for problem in caught.value.problems] == [
        "file 'part-7.parquet'",
        "file 'z.parquet'",
    ]


def test_a_damaged_part(tmp_path):
    folder = write_parts(tmp_path / "people", [3])
    (folder / "part-00001.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="damaged"):
        open_source(folder)


def test_the_fingerprint_is_that_of_the_parts(tmp_path):
    one, other = write_parts(tmp_path / "a", [3]), write_parts(tmp_path / "b", [3])
    assert open_source(one).fingerprint == open_source(other).fingerprint
    assert open_source(one).fingerprint != open_source(write_parts(tmp_path / "c", [4])).fingerprint
