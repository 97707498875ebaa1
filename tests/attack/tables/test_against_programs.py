"""Audits against programs over the cells of the base: rounded figures, shares, tables that share nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.data.tables.cell_file import CellRows, Share, Status
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.table_set import TableSet

# Two ways of adding up that are not nested in each other.
WAYS = {"A": ["ab"], "B": ["cd"], "S": ["ac"], "T": ["bd"], "Total": ["abcd"]}
TREE = Hierarchy.of_ways(WAYS, "both ways", "abcd")
HOLDS = {**{one: {one} for one in "abcd"}, **{name: set(way) for name, (way,) in WAYS.items()}}
SIDES = {"x": {"x"}, "y": {"y"}, "z": {"z"}, "Total": set("xyz")}
BASE = list(product("abcd", "xyz"))


def inside(first, second):
    return np.array([a in HOLDS[first] and b in SIDES[second] for a, b in BASE], float)


def bounds(target, rows, low, high):
    """The independent program: base cells from 0 up, every published figure within its limits."""
    both = np.vstack([rows, -rows]) if len(rows) else None
    limits = np.concatenate([high, -low]) if len(rows) else None
    ends = []
    for sign in (1, -1):
        found = linprog(sign * target, A_ub=both, b_ub=limits, method="highs")
        ends.append(None if found.status == 3 else sign * found.fun)
    return ends


@pytest.mark.parametrize("seed", range(14))
def test_a_rounded_figure_is_one_number_in_every_sum(seed):
    rng = np.random.default_rng([19, seed])
    truth = rng.integers(0, 60, len(BASE))
    off = Fraction(int(rng.choice([1, 5, 10])), 2)
    keys = list(product(HOLDS, SIDES))
    hide = rng.random(len(keys)) < 0.4
    figures = [Fraction(round(int(inside(*k) @ truth) / (2 * off))) * 2 * off for k in keys]
    table = CellRows(
        "t", ("P", "Q"), ([k[0] for k in keys], [k[1] for k in keys]), figures,
        [Status.HIDDEN if one else Status.SHOWN for one in hide], [""] * len(keys),
    )  # fmt: skip
    tables = TableSet.of([table], {"P": TREE}, whole=False, disjoint=["Q"])
    found = audit_tables(tables, tolerance=off)
    cells = dict(zip(tables.system.tables[0].tolist(), keys, strict=True))
    shown = [at for at in range(len(keys)) if not hide[at]]
    rows = np.array([inside(*keys[at]) for at in shown])
    middle = np.array([float(figures[at]) for at in shown])
    for one in found.cells:
        least, most = bounds(
            inside(*cells[one.cell]), rows, middle - float(off), middle + float(off)
        )
        assert float(one.interval.low) <= least + 1e-6
        assert float(one.interval.high) >= most - 1e-6
        assert float(one.interval.low) == pytest.approx(least, abs=1e-6)
        assert float(one.interval.high) == pytest.approx(most, abs=1e-6)
        for equation in found.proofs.get(one.cell, ()):
            if equation.is_equation:
                known = found.known
                assert equation.value == sum(
                    times * Fraction(int(known.values[cell]), known.scale)
                    for cell, times in equation.terms
                )


@pytest.mark.parametrize("seed", range(14))
def test_percentages_and_ratios_leave_what_a_program_leaves(seed):
    rng = np.random.default_rng([20, seed])
    truth = rng.integers(0, 9, len(BASE)) * (rng.random(len(BASE)) < 0.8)
    keys = list(product(HOLDS, SIDES))
    hide = rng.random(len(keys)) < 0.6
    rows, low, high = [], [], []
    values = []
    to = "Total" if seed % 2 else "x"
    for key, is_hidden in zip(keys, hide, strict=True):
        own, whole = inside(*key), inside(key[0], to)
        if not is_hidden:
            rows.append(own)
            low.append(own @ truth)
            high.append(own @ truth)
        if whole @ truth == 0 or rng.random() < 0.5:
            values.append(None)
            continue
        percent = Fraction(round(1000 * Fraction(int(own @ truth), int(whole @ truth))), 10)
        values.append(percent)
        for sign in (1, -1):
            rows.append(sign * (100 * own - float(percent + sign * Fraction(1, 20)) * whole))
            low.append(-np.inf)
            high.append(0.0)
    share = Share("pct", values, [1] * len(keys), ("Q" if seed % 2 else "Q:x",), 100)
    table = CellRows(
        "t", ("P", "Q"), ([k[0] for k in keys], [k[1] for k in keys]),
        [Fraction(int(inside(*k) @ truth)) for k in keys],
        [Status.HIDDEN if one else Status.SHOWN for one in hide], [""] * len(keys), shares=(share,),
    )  # fmt: skip
    tables = TableSet.of([table], {"P": TREE}, whole=False, disjoint=["Q"])
    found = audit_tables(tables)
    cells = dict(zip(tables.system.tables[0].tolist(), keys, strict=True))
    kept = np.isfinite(low)
    for one in found.cells:
        target = inside(*cells[one.cell])
        ends = []
        for sign in (1, -1):
            made = linprog(
                sign * target, A_ub=np.array(rows)[~kept] if (~kept).any() else None,
                b_ub=np.array(high)[~kept] if (~kept).any() else None,
                A_eq=np.array(rows)[kept] if kept.any() else None,
                b_eq=np.array(high)[kept] if kept.any() else None, method="highs",
            )  # fmt: skip
            ends.append(None if made.status == 3 else sign * made.fun)
        assert float(one.interval.low) == pytest.approx(ends[0], abs=1e-4)
        if ends[1] is None:
            assert one.interval.is_endless
        else:
            assert float(one.interval.high) == pytest.approx(ends[1], abs=1e-4)
            assert one.is_tight


def test_tables_without_a_common_axis_share_their_total():
    sexes = CellRows.typed(["Sex"], [["m", 4], ["f", 6]], "sex")
    areas = CellRows.typed(["Area"], [["a", 3], ["b", None], ["c", 2]], "area")
    found = audit_tables(TableSet.of([sexes, areas]), rules=["exact"])
    assert found.n_recomputed == 1
    assert found.sentences()[-1] == (
        "Area=b is 5: 6 (Sex=f) and 4 (Sex=m) less 3 (Area=a) and 2 (Area=c)."
    )
    assert not found.is_met


def test_a_mean_limits_a_sum_to_its_last_digit():
    rows = [["Total", None], ["a", None], ["b", 30]]
    mean = Share("avg", [None, Fraction("12.5"), None], [1, 1, 1], (), 1)
    table = CellRows.typed(["Area"], rows)
    table = CellRows(
        table.name, table.axes, table.labels, table.figures, table.statuses, table.marks,
        counts=[None, Fraction(4), None], means=(mean,),
    )  # fmt: skip
    found = audit_tables(TableSet.of([table], whole=False))
    ends = {found.tables.words(o.cell): (o.interval.low, o.interval.high) for o in found.cells}
    assert ends["Area=a"] == (Fraction("49.8"), Fraction("50.2"))
    assert ends["total"] == (Fraction("79.8"), Fraction("80.2"))
    assert "the published avg 12.5 over 4 (Area=a) was rounded" in found.why(found.cells[0])
