"""Attackers who are in the tables, against programs from which their own contributions are taken away."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.attack.tables.insiders import Coalition, Insiders, LargestKnown, Standing
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.tables.cell_file import CellRows, Status
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.magnitudes import contributors_of_tables, read_contributors
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import InputError, Reason
from tests.given.microdata import write

TREE = Hierarchy.of_tree({"A": "ab", "B": "cd"}, "a tree")
HOLDS = {**{one: one for one in "abcd"}, "A": "ab", "B": "cd", "Total": "abcd"}
BASE = list(product("abcd", "xyz"))
KEYS = list(product(HOLDS, ("x", "y", "z", "Total")))


def inside(first, second):
    return np.array([a in HOLDS[first] and second in (b, "Total") for a, b in BASE], float)


def added(records):
    return np.array([sum(v for a, b, _, v in records if (a, b) == cell) for cell in BASE], float)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("seed", range(7))
def test_a_coalition_learns_what_a_program_without_its_own_leaves(tmp_path, seed, size):
    rng = np.random.default_rng([seed, size])
    records = [
        ("abcd"[rng.integers(4)], "xyz"[rng.integers(3)], f"g{rng.integers(6)}", int(rng.integers(1, 30)))
        for _ in range(int(rng.integers(5, 13)))
    ]  # fmt: skip
    hide = rng.random(len(KEYS)) < 0.45
    truth = added(records)
    table = CellRows(
        "t", ("P", "Q"), ([k[0] for k in KEYS], [k[1] for k in KEYS]),
        [Fraction(int(inside(*k) @ truth)) for k in KEYS],
        [Status.HIDDEN if one else Status.SHOWN for one in hide], [""] * len(KEYS),
    )  # fmt: skip
    tables = TableSet.of([table], {"P": TREE}, whole=False)
    text = "P,Q,Group,v\n" + "".join(f"{a},{b},{g},{v}\n" for a, b, g, v in records)
    given = read_contributors(
        open_source(write(tmp_path, "r.csv", text)), tables, "v", holding="Group"
    )
    found = audit_tables(tables, coalition=size, insiders=True, contributors=given)
    cells = tables.system.tables[0].tolist()
    names = list(dict.fromkeys(record[2] for record in records))
    known = {one.cell for one in found.cells if one.is_known}
    for who in {gain.who for gain in found.insiders.gains}:
        members = {names[one] for one in who.members}
        own = added([record for record in records if record[2] in members])
        others = added([(*record[:3], 1) for record in records if record[2] not in members])
        alone = [
            inside(*k)
            for k, h in zip(KEYS, hide, strict=True)
            if h and inside(*k) @ others == 0 and inside(*k) @ own > 0
        ]
        shown = [inside(*k) for k, h in zip(KEYS, hide, strict=True) if not h]
        rows = np.array(shown + alone)
        left = np.array([row @ (truth - own) for row in shown] + [0.0] * len(alone))
        expected = set()
        for cell, key, is_hidden in zip(cells, KEYS, hide, strict=True):
            target = inside(*key)
            if not is_hidden or cell in known or (target @ others == 0 and target @ own > 0):
                continue
            ends = [linprog(sign * target, A_eq=rows, b_eq=left) for sign in (1, -1)]
            if all(end.status == 0 for end in ends) and abs(ends[0].fun + ends[1].fun) < 1e-7:
                expected.add(cell)
        got = {c for gain in found.insiders.gains if gain.who == who for c in gain.cells}
        assert got == expected


def published(**more):
    rows = [["Total", 150], ["a", 100], ["b", 50]]
    table = CellRows.typed(["Area"], rows)
    counts = [Fraction(9), Fraction(3), Fraction(6)]
    tops = ([Fraction(90), Fraction(90), Fraction(20)], [Fraction(20), Fraction(8), Fraction(10)])
    return TableSet.of(
        [replace(table, counts=counts, tops=tops, **more)], whole=False, disjoint=["Area"]
    )


def test_the_second_largest_tells_the_largest_of_a_published_cell():
    found = audit_tables(published(), insiders=True, within=10)
    (near,) = found.insiders.near(Fraction(10))
    # 100 less the own 8: at most 92, and it is 90.
    assert (near.at_most, near.largest, near.is_published) == (92, 90, True)
    assert "the largest has at most 92: it has 90." in found.sentences()[-1]
    assert found.summary()["largest_known"] == 1


def test_hidden_cells_leave_the_second_largest_as_much_as_the_rule_asks():
    statuses = [Status.SHOWN, Status.UNSAFE, Status.SECONDARY]
    found = audit_tables(published(statuses=statuses), insiders=True, rules=["p:10"])
    assert not found.insiders.near(Fraction(10))
    (of_a,) = [one for one in found.insiders.largest if found.tables.words(one.cell) == "Area=a"]
    # Between them 150 less the own 8.
    assert of_a.at_most == 142
    assert found.standings[0].standing is Standing.MET


def test_rules_are_held_against_insiders_too():
    rows = [["Total", 20], ["a", 5, "unsafe"], ["b", 6, "secondary"], ["c", 9]]
    counts = [Fraction(9), Fraction(2), Fraction(4), Fraction(4)]
    tops = ([Fraction(4)] * 4, [Fraction(1)] * 4)
    table = replace(CellRows.typed(["Area"], rows), counts=counts, tops=tops)
    tables = TableSet.of([table], whole=False, disjoint=["Area"])
    alone = audit_tables(tables, rules=["exact"], insiders=True)
    assert alone.is_met
    both = audit_tables(tables, rules=["exact"], insiders=True, coalition=2)
    # Two are all there are in a, so that they know b.
    assert both.standings[0].standing is Standing.BROKEN
    assert "2 contributors who tell each other their own figures can recompute 1." in both.verdict()
    stopped = audit_tables(tables, rules=["exact"], insiders=True, max_seconds=0)
    assert stopped.standings[0].standing is Standing.NOT_PROVEN
    assert stopped.insiders.is_stopped


def test_those_of_one_cell_are_also_in_what_holds_it():
    rows = [["Total", 20], ["A", 11], ["a", 5, "unsafe"], ["b", 6], ["C", 9]]
    counts = [Fraction(9), Fraction(5), Fraction(1), Fraction(4), Fraction(4)]
    table = replace(CellRows.typed(["Area"], rows), counts=counts)
    tree = Hierarchy.of_tree({"A": "ab", "C": ()}, "a tree")
    given = contributors_of_tables(TableSet.of([table], {"Area": tree}, whole=False))
    (adds,) = given.of_contributor.values()
    assert len(adds) == 3
    assert set(adds.values()) == {5}


def test_records_that_do_not_fit_the_tables_are_one_error(tmp_path):
    path = write(tmp_path, "r.csv", "Area,v\na,1\nnowhere,x\n")
    with pytest.raises(InputError) as error:
        read_contributors(open_source(path), published(), "v")
    assert len(error.value.problems) == 2
    assert "nowhere" not in str(error.value)


def test_one_column_is_not_taken_twice(tmp_path):
    source = open_source(write(tmp_path, "r.csv", "Area,v\na,1\n"))
    for value, holding in (("Area", ""), ("v", "v")):
        with pytest.raises(InputError) as error:
            read_contributors(source, published(), value, holding=holding)
        assert error.value.reason is Reason.DUPLICATE


def test_of_a_largest_contribution_of_0_there_is_nothing_to_tell():
    second = Coalition(0, frozenset([1]), 2, is_all=False)
    known = [LargestKnown(second, Fraction(size), Fraction(size), False) for size in (0, 5)]
    found = Insiders(1, (), tuple(known), 1, 1, 0, is_named=True)
    assert found.near(Fraction(10)) == (known[1],)
