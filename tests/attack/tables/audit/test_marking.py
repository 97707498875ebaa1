"""Marking by zeros and k-disclosure, shadow variables, and values below 0."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gamekeeper.attack.tables.audit.marking import mark_cells
from gamekeeper.data.cells.magnitudes import tabulate_magnitudes
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason
from tests.given.microdata import write

PEOPLE = "Area,Diagnosis\n" + "East,flu\n" * 2 + "East,liver\n" + "West,flu\n" * 3
FIRMS = """Act,Turnover,Invest
a,100,10
a,5,9
a,3,8
b,-50,5
b,40,5
b,12,5
c,0,1
c,0,1
"""


def unsafe(marked):
    return {
        labels: set(own)
        for *labels_, own in zip(*marked.table.labels, marked.unsafe, strict=True)
        if own
        for labels in [tuple(labels_)]
    }


def test_zeros_and_a_few_tell_of_everybody_else(tmp_path):
    source = open_source(write(tmp_path, "p.csv", PEOPLE))
    table = tabulate_magnitudes(source, ["Area", "Diagnosis"])
    found = mark_cells(table, rules=["zero", "disclosure:1"], about=["Diagnosis"])
    assert unsafe(found) == {("West", "liver"): {"zero"}, ("East", "liver"): {"disclosure:1"},
                             ("Total", "liver"): {"disclosure:1"}}  # fmt: skip
    assert len(found.table) == 9
    two = mark_cells(table, rules=["disclosure:2"], about=["Diagnosis"])
    assert ("East", "flu") in unsafe(two)
    known = [{"Area": "West", "Diagnosis": "liver"}]
    assert not unsafe(mark_cells(table, rules=["zero"], about=["Diagnosis"], structural=known))


@pytest.mark.parametrize(
    "options",
    [
        {"rules": ["zero"]},
        {"rules": ["disclosure:1"]},
        {"rules": ["zero"], "about": ["Nothing"]},
        {"rules": ["zero"], "about": ["Area"], "structural": [{"Nothing": "x"}]},
        {"rules": ["disclosure"], "about": ["Area"]},
        {"rules": ["zero:1"], "about": ["Area"]},
    ],
)
def test_counts_are_not_called_free_of_zeros_unless_it_is_known_of_what(tmp_path, options):
    source = open_source(write(tmp_path, "p.csv", PEOPLE))
    with pytest.raises(InputError):
        mark_cells(tabulate_magnitudes(source, ["Area", "Diagnosis"]), **options)


def test_a_shadow_is_what_rules_look_at_and_not_what_is_published(tmp_path):
    source = open_source(write(tmp_path, "f.csv", FIRMS))
    plain = tabulate_magnitudes(source, ["Act"], "Invest")
    shadowed = tabulate_magnitudes(source, ["Act"], "Invest", shadow="Turnover")
    assert shadowed.figures == plain.figures
    assert not unsafe(mark_cells(plain, rules=["dominance:1:85"]))
    found = mark_cells(shadowed, rules=["dominance:1:85", "zero"])
    # 100 of 108 are one's turnover; investments of c are not 0, whatever its turnover.
    assert unsafe(found) == {("a",): {"dominance:1:85"}}
    level = next(level for level in found.levels if level is not None)
    assert level == (Fraction(100 * 100, 85) - 108) * Fraction(27, 108)


def test_of_values_below_0_sizes_count(tmp_path):
    source = open_source(write(tmp_path, "f.csv", FIRMS))
    table = tabulate_magnitudes(source, ["Act"], "Turnover")
    place = table.labels[0].index("b")
    assert table.figures[place] == 2
    assert (table.cells[place].largest, table.cells[place].total) == (50, 102)
    found = mark_cells(table, rules=["p:10", "dominance:1:49", "zero", "records:3"])
    assert unsafe(found) == {
        ("a",): {"p:10", "dominance:1:49"},
        ("b",): {"dominance:1:49"},
        ("c",): {"zero", "records:3"},
    }


def test_by_no_rule_no_cell_is_called_safe(tmp_path):
    source = open_source(write(tmp_path, "r.csv", "R,v\na,1\nb,2\n"))
    with pytest.raises(InputError) as caught:
        mark_cells(tabulate_magnitudes(source, ["R"], "v"), rules=[])
    assert caught.value.reason is Reason.NOTHING_GIVEN
    with pytest.raises(InputError) as caught:
        tabulate_magnitudes(source, [])
    assert caught.value.reason is Reason.NOTHING_GIVEN
