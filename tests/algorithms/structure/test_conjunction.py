from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.structure.conjunction import conjunction, count_links
from gamekeeper.errors import InputError


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-2, 3), min_size=width, max_size=width), min_size=1, max_size=30
        )
    )
)
def test_records_are_together_exactly_where_all_partitions_agree(labels):
    found = conjunction(labels)
    for i, row in enumerate(labels):
        assert found.rows[found.classes[i]].tolist() == row
        for j, other in enumerate(labels):
            assert (found.classes[i] == found.classes[j]) == (row == other)
    members = found.members()
    assert [len(part) for part in members] == found.sizes.tolist()
    assert [int(part[0]) for part in members] == sorted(int(part[0]) for part in members)
    assert all((found.classes[part] == k).all() for k, part in enumerate(members))


def test_links_are_counted_by_class():
    a, b = conjunction([[0], [1], [0]]), conjunction([[4], [5], [5], [6]])
    assert count_links(a, b, [1, 3, 2]).tolist() == [[0, 2, 0], [0, 0, 1]]
    assert count_links(a, b, [-1, -1, 0]).tolist() == [[1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("bad", [[], [1, 2], [[0.5]], np.zeros((3, 0), int)])
def test_what_is_no_table_of_labels_is_refused(bad):
    with pytest.raises(InputError, match="one column of labels per clustering"):
        conjunction(bad)
