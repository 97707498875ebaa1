"""The page on what is not examined is made from what the program goes by."""

from __future__ import annotations

from tests.examples.unexamined_page import PAGE, page


def test_the_page_is_as_it_would_be_made_now():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write it anew: python -m tests.examples.unexamined_page"
    )
