"""A first look at a file, and the files that can be looked at."""

from __future__ import annotations

import gzip
import zipfile

import pyarrow as pa
import pytest

import gamekeeper as gk
from gamekeeper.data.reading import packed
from gamekeeper.errors import InputError, LimitError
from gamekeeper.report.tables import write_table
from gamekeeper.workbench.looking import look_at
from gamekeeper.workbench.requests.looking import LookRequest
from gamekeeper.workbench.requests.reading import Reading
from tests.given.microdata import OF_SCENARIO, SCENARIO, write, write_world

LINES = [
    f"{n},{20 + n % 7},{'f' if n % 2 else 'm'},{n % 5 + 1 if n % 3 else -9}" for n in range(20)
]
TEXT = "\n".join(["pid,Age,gender,CANARY7341", *LINES]) + "\n"


def records(path, **how):
    source = gk.open_source(path, **how)
    table = gk.code_source(source, source.names)
    words = [table.codebook[name].words for name in source.names]
    return [[words[j][code] for j, code in enumerate(row)] for row in table.matrix().tolist()]


def test_roles_types_and_missing_codes(tmp_path):
    found = look_at(LookRequest(file=write(tmp_path, "p.csv", TEXT)))
    by = {one.column: one for one in found.columns}
    assert (by["pid"].role, by["pid"].type, by["pid"].levels) == ("identifier", "whole number", 20)
    assert found.keys == ("Age", "gender")
    assert by["CANARY7341"].missing_codes == "-9"
    assert found.values == ()


def test_many_columns_are_not_asked_for_one_by_one(tmp_path, monkeypatch):
    asked = []
    whole = gk.CodedTable.matrix

    def matrix(self, variables=None):
        asked.append(len(variables))
        return whole(self, variables)

    monkeypatch.setattr(gk.CodedTable, "matrix", matrix)
    n = 1_500
    rows = [",".join(f"c{k}" for k in range(n)), *([",".join("12"[k % 2] for k in range(n))] * 3)]
    rows[2] = "," + rows[2].partition(",")[2]
    found = look_at(LookRequest(file=write(tmp_path, "wide.csv", "\n".join(rows) + "\n")))
    assert sum(asked) == n
    assert len(asked) <= 3
    assert [(one.levels, one.missing) for one in found.columns[:2]] == [(1, 1), (1, 0)]
    assert {(one.levels, one.missing) for one in found.columns[2:]} == {(1, 0)}


def test_keys_of_a_scenario(tmp_path):
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    asked = LookRequest(file=file, scenario=SCENARIO, environment=write_world(tmp_path))
    assert look_at(asked).keys == ("AGE", "sex", "marital_status")


def test_every_kind_of_file_has_the_same_records(tmp_path):
    plain = write(tmp_path, "p.csv", TEXT)
    expected = records(plain)
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("people.csv", TEXT)
    rows = [line.split(",") for line in TEXT.splitlines()]
    columns = {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}
    write_table(pa.table(columns), tmp_path / "p.xlsx")
    for name in ("p.csv.gz", "p.zip", "p.xlsx"):
        assert records(tmp_path / name) == expected, name
    bare = write(tmp_path, "bare.csv", "\n".join(LINES) + "\n")
    assert records(bare, header=False) == expected
    asked = LookRequest(file=bare, reading=Reading(header=False))
    assert look_at(asked).columns[0].column == "column 1"


def test_formulas_stay_text_in_a_workbook(tmp_path):
    write_table(pa.table({"x": ["=1+1", "007", "http://a.b"]}), tmp_path / "x.xlsx")
    assert [row[0] for row in records(tmp_path / "x.xlsx")] == ["=1+1", "007", "http://a.b"]
    with zipfile.ZipFile(tmp_path / "x.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "MOST_BYTES", 5_000)
    big = "x\n" * 10_000
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(big.encode()))
    with zipfile.ZipFile(tmp_path / "p.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p.csv", big)
    for name in ("p.csv.gz", "p.zip"):
        with pytest.raises(LimitError, match="unpacks to more than"):
            gk.open_source(tmp_path / name)


@pytest.mark.parametrize("name", ["p.csv.gz", "p.zip", "p.xlsx"])
def test_damaged_files_are_one_error(tmp_path, name):
    (tmp_path / name).write_bytes(b"CANARY 7341")
    with pytest.raises(InputError) as refused:
        gk.open_source(tmp_path / name)
    assert "CANARY 7341" not in str(refused.value)


def test_names_match_whatever_their_case(tmp_path):
    file = write(tmp_path, "p.csv", "Age,SEX,sex\n1,a,b\n")
    assert gk.code_source(gk.open_source(file), ["age", "sex"]).codebook.names == ("Age", "sex")
    with pytest.raises(InputError, match="could be any of"):
        gk.code_source(gk.open_source(file), ["Sex"])
