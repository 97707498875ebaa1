from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.results import table_html

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
