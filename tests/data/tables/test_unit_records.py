from __future__ import annotations

import numpy as np
import pytest

import gamekeeper as gk
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.unit_records import unit_records


@pytest.mark.parametrize("seed", range(5))
def test_records_are_counted_back_to_the_table(seed):
    rng = np.random.default_rng(seed)
    axes = {"a": ["a1", "a2"], "b": ["b1", "b2", "b3"]}
    # Every category has somebody, so that none is lost.
    table = CountTable.typed(axes, (rng.integers(0, 6, (2, 3)) + np.eye(2, 3, dtype=int)).tolist())
    records = unit_records(table)
    assert records.num_rows == table.total
    names = list(axes)
    again = gk.tabulate(gk.code_source(gk.open_source(records), names), names)
    for a in axes["a"]:
        for b in axes["b"]:
            expected = table.dense()[axes["a"].index(a), axes["b"].index(b)]
            found = [list(axis.categories) for axis in again.axes]
            place = (found[0].index(a), found[1].index(b)) if b in found[1] else None
            assert (again.dense()[place] if place else 0) == expected
