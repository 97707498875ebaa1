from __future__ import annotations

import pytest

from gamekeeper.attack.tables.audit.auditing import audit_tables
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.cells.release_cells import cells_of_release
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError

AXES = {"age": ["0-14", "15-64", "65+"], "work": ["yes", "no"]}


@pytest.mark.parametrize("hidden", [None, (1, 4)])
def test_an_audit_and_bounds_of_a_release_are_the_same(hidden):
    inner = {"margin": ["age", "work"], "counts": [[0, 9], [None, None], [None, None]]}
    groups = {"age": {"adult": ["15-64", "65+"], "child": ["0-14"]}}
    release = Release.typed(
        AXES,
        [
            inner | ({} if hidden is None else {"hidden": list(hidden)}),
            {"margin": ["age"], "counts": [9, 7, 5]},
            {"margin": ["age", "work"], "groups": groups, "counts": [[5, 7], [0, 9]]},
        ],
    )
    tables, hierarchies = cells_of_release(release)
    found = audit_tables(TableSet.of(tables, hierarchies))
    bounds = bound_cells(release)
    assert len(found.cells) == 4
    for one in found.cells:
        age, work = found.tables.labels_of(one.cell)
        place = AXES["age"].index(age), AXES["work"].index(work)
        assert (one.interval.low, one.interval.high) == (bounds.lower[place], bounds.upper[place])
        assert one.is_tight


def test_rounded_tables_are_sent_to_where_they_can_be_bounded():
    release = Release.typed(
        AXES, [{"margin": ["age"], "scheme": "conventional:3", "counts": [9, 6, 3]}]
    )
    with pytest.raises(InputError, match="--rule of tables bounds"):
        cells_of_release(release)
