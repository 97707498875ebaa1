from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import subprocess
import sys
import textwrap
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Page, Provenance, Result, make_listing, package_version, table_html

text = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)


class Reader(HTMLParser):
    """Collects the tags and the text of each cell."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self.cells = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("th", "td", "caption"):
            self.cells.append("")

    def handle_data(self, data):
        self.cells[-1] += data


@given(st.lists(st.lists(text, min_size=2, max_size=2), max_size=4), text)
def test_cells_come_back_as_they_were_and_make_no_tags(rows, caption):
    reader = Reader()
    reader.feed(table_html(["a<b>", "c&d"], rows, caption=caption))
    reader.close()
    titles = [caption] if caption else []
    assert reader.cells == [*titles, "a<b>", "c&d", *(cell for row in rows for cell in row)]
    assert set(reader.tags) <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert reader.tags.count("tr") == len(rows) + 1


def test_markup_in_every_place_is_escaped():
    evil = "<script>alert('x')</script>"
    shown = table_html([evil], [[evil]], caption=evil)
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 3


def test_numbers_are_written_as_people_read_them():
    assert "<td>—</td><td>1,500</td>" in table_html(["a", "b"], [[None, 1500]])
    assert "<caption>" not in table_html(["a"], [])


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


@dataclasses.dataclass(frozen=True, repr=False)
class Count(Result):
    """A small result of its own."""

    names: tuple[str, ...]
    provenance: Provenance

    def summary(self):
        return {"names": len(self.names)}

    def to_arrow(self):
        return pa.table({"name": pa.array(self.names, pa.string()), "n": range(len(self.names))})


@pytest.fixture
def count():
    return Count(("<b>one</b>", "two"), Provenance("counting"))


def test_a_result_is_shown_by_its_headline_numbers_only(count):
    assert repr(count) == "Count(names=2)"


def test_a_result_becomes_a_frame(count):
    frame = count.to_frame()
    assert list(frame.columns) == ["name", "n"]
    assert frame["name"].tolist() == ["<b>one</b>", "two"]


def test_a_result_is_an_arrow_stream(count):
    assert pa.table(count) == count.to_arrow()
    assert pa.RecordBatchReader.from_stream(count).read_all() == count.to_arrow()


def test_a_result_shows_itself_in_a_notebook(count):
    shown = count._repr_html_()
    assert "<caption>Count</caption>" in shown
    assert "&lt;b&gt;one&lt;/b&gt;" in shown
    assert "<b>" not in shown


def test_a_result_must_say_what_it_is():
    class Nothing(Result):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Nothing()


def test_without_pandas_a_frame_is_refused_kindly():
    code = """
        import sys

        class NoPandas:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "pandas":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, NoPandas())
        from gamekeeper.errors import InputError, Reason
        from gamekeeper.mapping.environment.overview import list_categories
        from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
        try:
            list_categories("X", PartitionGraph({"all": ["a", "b"]})).to_frame()
        except InputError as error:
            assert error.reason is Reason.MISSING_PACKAGE
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "gamekeeper[frames]" in done.stdout


def test_provenance_is_plain_and_frozen():
    provenance = Provenance("counting", parameters={"base": "10"}, seed=7)
    plain = provenance.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert set(plain) == {field.name for field in dataclasses.fields(Provenance)}
    assert plain["version"] == package_version() == importlib.metadata.version("gamekeeper")
    assert plain["parameters"] is not provenance.parameters
    with pytest.raises(dataclasses.FrozenInstanceError):
        provenance.seed = 8
