from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Page, make_listing

cells = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-3, 3) | st.text(max_size=3)
LINES = [("b", 2), ("a", 10), ("c", None), ("D", "x"), ("e", 2)]


def names(**page: object) -> str:
    made = make_listing("things", ["name", "Size"], LINES, Page(**page))
    return "".join(str(row[0]) for row in made.rows)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ({}, "bacDe"),
        ({"sort": "name"}, "abcDe"),
        ({"sort": "size"}, "beaDc"),
        ({"sort": "size", "descending": True}, "Dabec"),
        ({"sort": "name", "size": 2, "number": 2}, "cD"),
    ],
)
def test_sorting_and_paging(page, expected):
    assert names(**page) == expected


@pytest.mark.parametrize(
    ("lines", "page", "there"),
    [(LINES, 4, "are 3 pages"), (LINES[:2], 2, "is 1 page"), ([], 99, "is 1 page")],
)
def test_a_page_beyond_the_last_says_how_many_there_are(lines, page, there):
    with pytest.raises(InputError) as caught:
        make_listing("things", ["name", "Size"], lines, Page(size=2, number=page))
    assert caught.value.reason is Reason.BAD_OPTION
    assert caught.value.found == f"There {there}."
    assert make_listing("things", ["name"], [], Page(size=2)).rows == ()


@given(st.lists(st.tuples(cells, cells)), st.booleans(), st.integers(1, 4))
def test_pages_together_are_the_sorted_list(lines, descending, size):
    whole = make_listing("things", ["a", "b"], lines, Page("b", descending))
    assert sorted(map(repr, whole.rows)) == sorted(map(repr, lines))
    pages = [
        make_listing("things", ["a", "b"], lines, Page("b", descending, number, size))
        for number in range(1, max(-(-len(lines) // size), 1) + 1)
    ]
    assert [row for page in pages for row in page.rows] == list(whole.rows)
    assert pages[0].n_pages == -(-len(lines) // size)
    assert isinstance(whole.to_arrow(), pa.Table)


@pytest.mark.parametrize("page", [Page(number=0), Page(size=0), Page(sort="nam")])
def test_what_cannot_be_asked(page):
    with pytest.raises(InputError) as caught:
        make_listing("things", ["name"], [("a",)], page)
    assert caught.value.reason in (Reason.BAD_OPTION, Reason.UNKNOWN_NAME)


def test_columns_keep_their_types():
    table = make_listing(
        "things",
        ["whole", "part", "yes", "mixed", "none", "huge"],
        [(1, 1, True, 1, None, 2**70), (2, 0.5, None, "x", None, 1)],
        Page(),
    ).to_arrow()
    assert table.schema.types == [
        pa.int64(), pa.float64(), pa.bool_(), pa.string(), pa.string(), pa.float64(),
    ]  # fmt: skip


@given(st.lists(st.tuples(cells, cells, cells), max_size=6))
def test_lines_are_those_of_the_arrow_table(lines):
    made = make_listing("things", ["a", "b", "c"], lines, Page())
    columns = [column.to_pylist() for column in made.to_arrow().columns]
    assert made.lines() == list(zip(*columns, strict=True))
