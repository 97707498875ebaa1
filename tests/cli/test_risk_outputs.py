"""What risk commands write: every minimal sample unique, the user's names of records, reports."""

from __future__ import annotations

import json

import pyarrow.csv as csv
import pytest

from tests.given.microdata import PEOPLE, write
from tests.twins.minimal_uniques import minimal_uniques

NAMES = ("Age", "Sex", "Status")
KEYS = ("-k", ",".join(NAMES))
QUICK = ("--method", "annealing", "--chains", "1", "--workers", "1")


@pytest.fixture
def people(tmp_path):
    head, *lines = PEOPLE.splitlines()
    rows = [f"{head},pid", *(f"{line},P-{n:03}" for n, line in enumerate(lines, 1))]
    return write(tmp_path, "people.csv", "\n".join(rows) + "\n")


def test_msus_are_all_there_with_names_of_records(run, people, tmp_path):
    path = tmp_path / "msus.csv"
    told = run("risk", "suda", people, *KEYS, "--workers", "1", "--id", "pid", "--msus", path)
    assert told.exit_code == 0, told.err
    table = csv.read_csv(path)
    cells = [line.split(",")[:3] for line in people.read_text().splitlines()[1:]]
    # A missing cell is a value.
    known = sorted({cell for row in cells for cell in row})
    codes = [[1 + known.index(cell) for cell in row] for row in cells]
    expected = {
        (record + 1, tuple(NAMES[place] for place in places))
        for record, own in minimal_uniques(codes).items()
        for places in own
    }
    assert table.num_rows == len(expected)
    rows = table.to_pylist()
    assert {row["pid"] for row in rows} == {f"P-{record:03}" for record, _ in expected}
    assert all(row["pid"] == f"P-{row['record']:03}" for row in rows)
    assert {(row["record"], tuple(row["variables"].split(" + "))) for row in rows} == expected


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("suda", ("--workers", "1")),
        ("special", ("--rounds", "2")),
        ("infer", (*QUICK, "-f", "20%")),
        ("measures", ()),
    ],
)
def test_names_of_records_stand_beside_their_numbers(run, people, tmp_path, name, options):
    path = tmp_path / "records.csv"
    asked = ("risk", name, people, *KEYS, *options, "--id", "pid")
    told = run(*asked, "--records", path)
    assert told.exit_code == 0, told.err
    table = csv.read_csv(path)
    assert table.column_names[:2] == ["record", "pid"]
    assert table["pid"].to_pylist() == [f"P-{n:03}" for n in table["record"].to_pylist()]
    assert table.num_rows == (2 if name == "special" else 12)
    rows = json.loads(run(*asked, "--format", "json").out)["rows"]
    named = [row for row in rows if "record" in row]
    assert all(row["pid"] == f"P-{row['record']:03}" for row in named)


@pytest.mark.parametrize(
    ("name", "options", "parts"),
    [
        ("keys", (), ("k-anonymity", "fewer than 3")),
        ("special", ("--rounds", "2", "--id", "pid"), ("The sample uniques", "P-001", "P-012")),
        ("match", ("-f", "10%"), ("What a match would cost",)),
        ("infer", (*QUICK, "-f", "20%", "--id", "pid", "--categories", "Age"),
         ("The riskiest records", "P-001", "Which variables are to blame", "What each category adds")),
    ],
)  # fmt: skip
def test_reports_have_what_the_command_found(run, people, tmp_path, name, options, parts):
    path = tmp_path / "page.html"
    asked = ("risk", name, people, *KEYS, *options)
    told = run(*asked, "--report", path)
    assert told.exit_code == 0, told.err
    page = path.read_text(encoding="utf-8")
    for part in ("Age, Sex, Status", "12 counted, 0 left out", *parts):
        assert part in page, part
