"""Values that no category is known for are listed, filled in and read back, and never shown."""

from __future__ import annotations

import csv
from dataclasses import replace

import pandas as pd
import pyreadstat
import pytest

from gamekeeper.errors import Reason, StoreError
from gamekeeper.workbench.microdata.opening import open_microdata
from tests.given.microdata import OF_SCENARIO, write
from tests.workbench.microdata.conftest import SECRET, refused, words


@pytest.fixture
def unmapped(tmp_path, clerk):
    """A file with three values that the environment does not know, or knows only as coarser."""
    rows = f"16+,female,single,North,1\n8,female,{SECRET},North,1\n9,male,{SECRET},North,1\n"
    rows += f"9,male,{SECRET} 2,North,1\n"
    return replace(clerk, file=write(tmp_path, "unmapped.csv", OF_SCENARIO + rows))


def test_unmapped_values_are_counted_and_not_shown(unmapped):
    error = refused(unmapped)
    assert error.reason is Reason.UNMAPPED_VALUES
    assert [str(problem) for problem in error.problems] == [
        (
            "key variable 'Age': 1 value of the column 'AGE' in 1 record fit no category of C3.001,"
            " 1 of them too coarse for it."
        ),
        (
            "key variable 'Marital status': 2 values of the column 'marital_status' in 3 records"
            " fit no category of C3.001."
        ),
    ]
    assert "--unmapped" in error.do


def test_unmapped_values_are_listed_filled_in_and_read_back(unmapped, tmp_path):
    listed = tmp_path / "values.csv"
    error = refused(replace(unmapped, unmapped=listed))
    assert str(listed) in error.do
    with listed.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["variable"], row["value"], row["records"], row["category"]) for row in rows] == [
        ("Age", "16+", "1", ""),
        ("Marital status", SECRET, "2", ""),
        ("Marital status", f"{SECRET} 2", "1", ""),
    ]
    # Not filled in, they are as unmapped as before; and the list is never overwritten.
    before = listed.read_bytes()
    assert refused(replace(unmapped, values=listed)).reason is Reason.UNMAPPED_VALUES
    error = refused(replace(unmapped, unmapped=listed), StoreError)
    assert error.reason is Reason.NOT_WRITABLE
    assert listed.read_bytes() == before
    for row, category in zip(rows, ["16-64", "married", "divorced"], strict=True):
        row["category"] = category
    with listed.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    data = open_microdata(replace(unmapped, values=listed))
    assert words(data, "Age")[7:] == ["16-64", "0-15", "0-15", "0-15"]
    assert words(data, "Marital status")[8:] == ["married", "married", "formerly married"]


def test_labels_are_listed_beside_values(clerk, tmp_path):
    file, listed = tmp_path / "labels.sav", tmp_path / "values.csv"
    labels = {"ms": {1.0: "single", 2.0: "in a partnership"}}
    pyreadstat.write_sav(
        pd.DataFrame({"Age": [20.0, 30.0], "Sex": ["female", "male"], "ms": [1.0, 2.0]}),
        str(file),
        variable_value_labels=labels,
    )
    request = replace(clerk, file=file, columns={"Marital status": "ms"})
    refused(replace(request, unmapped=listed))
    with listed.open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["value"], row["label"]) == ("2", "in a partnership")
    values = write(tmp_path, "filled.csv", "variable,value,category\nMarital status,2,married\n")
    data = open_microdata(replace(request, values=values))
    assert words(data, "Marital status") == ["single", "married"]


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("variable,value\nAge,1\n", Reason.WRONG_SCHEMA, "no column 'category'"),
        ("", Reason.WRONG_SCHEMA, "'variable', 'value', 'category'"),
        ("variable,value,category\nAge,16+,16_64\n", Reason.UNKNOWN_NAME, "Near to it: '16-64'"),
        (
            f"variable,value,category\nMarital status,{SECRET},{SECRET}\n",
            Reason.UNKNOWN_NAME,
            "key variable 'Marital status': 1 value has a value of the file in place of a category",
        ),
        (
            f"variable,value,category\nMarital status,{SECRET},single\nMarital status,{SECRET},any\n",
            Reason.DUPLICATE,
            "variable 'Marital status': 1 value.",
        ),
    ],
)
def test_a_list_of_values_that_cannot_be_used(unmapped, tmp_path, text, reason, said):
    error = refused(replace(unmapped, values=write(tmp_path, "values.csv", text)))
    assert error.reason is reason
    assert said in str(error)


def test_a_list_of_values_that_cannot_be_read(unmapped, tmp_path):
    latin = tmp_path / "latin.csv"
    latin.write_bytes(f"variable,value,category\nAge,{SECRET}\xe4,16-64\n".encode("latin-1"))
    for path in (latin, tmp_path / "none.csv", tmp_path):
        assert refused(replace(unmapped, values=path)).reason is Reason.NOT_READABLE


def test_where_the_list_cannot_be_written(unmapped, tmp_path):
    error = refused(replace(unmapped, unmapped=tmp_path / "no folder" / "values.csv"), StoreError)
    assert error.reason is Reason.NOT_WRITABLE
