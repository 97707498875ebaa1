"""Text files come out as they went in, whatever their cells, marks and encodings."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gamekeeper.data.reading.source import open_source
from gamekeeper.data.writing.csv_writer import style_of
from gamekeeper.data.writing.release import write_release
from gamekeeper.data.writing.released_column import ReleasedColumn

CELLS = st.text(alphabet='ab,;|\t"\n é-1.', max_size=6)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6)


def cells_of(path, delimiter, encoding):
    text = path.read_bytes().decode(encoding)
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ROWS,
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.integers(0, 2),
)
def test_every_cell_but_the_changed_one_is_as_it_was(
    tmp_path, rows, delimiter, encoding, line_end, quoting, changed
):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow(["first", "second", "third"])
    # A line of empty cells may be read as no line.
    rows = [(f"x{a}", b, c) for a, b, c in rows]
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    source = open_source(path, delimiter=delimiter)
    n = len(rows)
    where = np.arange(n) == min(changed, n - 1)
    column = ReleasedColumn(
        "second", where, ~where & False, np.ones(n, np.int64), ("", 'new; "one"')
    )
    write_release(source, out, [column], n_released=n, replace=True)
    wanted = [list(row) for row in rows]
    wanted[min(changed, n - 1)][1] = 'new; "one"'
    read = cells_of(out, delimiter, encoding)
    assert read[0] == ["first", "second", "third"]
    assert read[1:] == wanted
    raw, made = path.read_bytes(), out.read_bytes()
    assert made[:3] == raw[:3]
    style = style_of(open_source(out, delimiter=delimiter).reader)
    assert style == style_of(source.reader)


@pytest.mark.parametrize("content", ["1;2\n3;4\n", "1;2\r\n3;4\r\n"])
def test_a_file_without_names_stays_without(tmp_path, content):
    path = tmp_path / "in.csv"
    path.write_bytes(content.encode())
    source = open_source(path, header=False)
    write_release(source, tmp_path / "out.csv", [], n_released=2)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
