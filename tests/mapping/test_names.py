from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import Reason
from gamekeeper.mapping.names import clashes
from gamekeeper.wording import folded

names = st.text(st.characters(codec="utf-8"), max_size=12)


@given(st.lists(names, unique=True))
def test_clashes_are_exactly_the_names_that_fold_to_an_earlier_one(listed):
    found = clashes("form", listed, {})
    assert len(found) == len(listed) - len({folded(name) for name in listed})
    assert all(problem.reason is Reason.DUPLICATE for problem in found)
