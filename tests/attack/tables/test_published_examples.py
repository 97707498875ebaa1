"""Examples that other tools publish, with their patterns of hidden cells and their numbers."""

from __future__ import annotations

import pytest

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.data.tables.cell_file import CellRows
from gamekeeper.data.tables.table_set import TableSet

# The counts of sdcTable's first example: 100 people by region and gender.
COUNTS = {"A": (18, 2), "B": (14, 19), "C": (12, 10), "D": (11, 14), "Total": (55, 45)}
PRIMARY = {("A", "female")}
OPTIMAL = {("A", "male"), ("A", "female"), ("C", "male"), ("C", "female")}
GAUSS = {("A", "male"), ("A", "female"), ("D", "male"), ("D", "female")}


def table(hidden):
    rows = []
    for region, (male, female) in COUNTS.items():
        for gender, count in (("male", male), ("female", female), ("Total", male + female)):
            status = "shown"
            if (region, gender) in hidden:
                status = "unsafe" if (region, gender) in PRIMARY else "secondary"
            rows.append([region, gender, count, status])
    return TableSet.of([CellRows.typed(["region", "gender"], rows)])


@pytest.mark.parametrize(
    ("hidden", "bounds"),
    [
        # By HITAS, OPT, HYPERCUBE and the simple heuristic; and by Gauss.
        (OPTIMAL, {"A": (0, 12), "C": (0, 12)}),
        (GAUSS, {"A": (0, 16), "D": (0, 16)}),
    ],
)
def test_patterns_of_sdctable_keep_the_unsafe_cell_open(hidden, bounds):
    found = audit_tables(table(hidden), rules=["exact"])
    assert found.is_met
    assert (found.n_hidden, found.n_recomputed) == (4, 0)
    (unsafe,) = [one for one in found.cells if str(one.status) == "unsafe"]
    assert (unsafe.interval.low, unsafe.interval.high) == bounds["A"]
    assert all(one.is_tight for one in found.cells)


def test_the_unsafe_cell_alone_is_given_away():
    found = audit_tables(table(PRIMARY), rules=["exact"])
    assert (
        found.sentences()[-1]
        == "region=A, gender=female is 2: 20 (region=A) less 18 (region=A, gender=male)."
    )


@pytest.mark.parametrize("left_out", sorted(OPTIMAL - PRIMARY))
def test_no_secondary_of_the_optimum_can_be_spared(left_out):
    found = audit_tables(table(OPTIMAL - {left_out}), rules=["exact"])
    assert not found.is_met
