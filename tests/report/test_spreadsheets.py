"""CSV that people open in a spreadsheet runs nothing."""

from __future__ import annotations

import csv

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.report.tables import write_table
from gamekeeper.wording import STARTS, read_cell, shown_cell

TEXTS = ["=1+1", "+x", "-2+3", "@sum", "\tx", "\rx", "-9", "+5.5", "'=1", "plain", None, ""]
SHOWN = ["'=1+1", "'+x", "'-2+3", "'@sum", "'\tx", "'\rx", "-9", "+5.5", "''=1", "plain", "", ""]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_texts_and_headers_are_shown_and_numbers_stay(tmp_path, kind):
    table = pa.table({"=a": pa.array(TEXTS).cast(kind), "n": list(range(-6, 6))})
    path = write_table(table, tmp_path / "a.csv")
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=a", "n"]
    assert [row[0] for row in rows] == SHOWN
    assert [row[1] for row in rows] == list(map(str, range(-6, 6)))
    with write_table(table, tmp_path / "b.csv", raw=True).open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["=a", "n"]
    assert [row[0] for row in rows] == [text or "" for text in TEXTS]


@given(st.text(st.sampled_from("'=+-@\t19.a＝%e"), max_size=6))
def test_a_cell_is_read_as_it_was_and_starts_nothing(text):
    shown = shown_cell(text)
    assert read_cell(shown) == text
    if shown[:1] in STARTS and shown:
        float(shown.replace(",", "").rstrip("%").replace(".", ""))  # a plain number


@given(st.lists(st.text(st.sampled_from("'=+-@\t19.a＝%eE,\n"), max_size=6), max_size=5))
def test_a_column_is_shown_as_its_cells_are(texts):
    from gamekeeper.report.tables import _shown

    shown = _shown(pa.table({"a": pa.array(texts, pa.string())}))
    assert shown["a"].to_pylist() == [shown_cell(text) for text in texts]
