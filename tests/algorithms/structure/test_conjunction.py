from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.structure.conjunction import conjunction
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
    members = [np.flatnonzero(found.classes == k) for k in range(len(found.sizes))]
    assert [len(part) for part in members] == found.sizes.tolist()
    assert [int(part[0]) for part in members] == sorted(int(part[0]) for part in members)


@pytest.mark.parametrize("bad", [[], [1, 2], [[0.5]], np.zeros((3, 0), int)])
def test_what_is_no_table_of_labels_is_refused(bad):
    with pytest.raises(InputError, match="one column of labels per clustering"):
        conjunction(bad)
