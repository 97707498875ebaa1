"""Tables that are rounded and have subtotals, are linked, or hide cells: held against enumeration."""

import numpy as np
import pytest

from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.errors import InputError
from tests.given.mixed_tables import mixed_tables


def held_against_enumeration(made):
    """Check both questions about one case; every cell has the extremes of all that was possible."""
    lows, highs = made.possible.min(axis=0), made.possible.max(axis=0)
    assert np.all((made.truth >= lows) & (made.truth <= highs))
    extremes = {
        key: (int(low), int(high)) for key, low, high in zip(made.cells, lows, highs, strict=True)
    }
    axes = made.tables.axes
    kept = [("x", "y").index(name) for name in axes]
    extremes = {tuple(key[at] for at in kept): ends for key, ends in extremes.items()}

    bounds = bound_cells(made.tables, rules=["exact", "within:10"])
    rows = {tuple(row[name] for name in axes): row for row in bounds.to_arrow().to_pylist()}
    assert rows.keys() >= extremes.keys()
    for key, (low, high) in extremes.items():
        assert (rows[key]["lower"], rows[key]["upper"]) == (low, high), key
        assert rows[key]["tight"]

    audit = audit_tables(made.tables, rules=["exact", "within:10"])
    assert not audit.n_odd
    concealed = dict(labelled(audit))
    for key, one in concealed.items():
        low, high = extremes[key]
        assert (one.interval.low, one.interval.high) == (low, high)
        assert one.is_known == (low == high)
        is_near = 100 * (high - low) <= 10 * (high + low)
        assert one.is_near == is_near
        assert (one.verdict == "open") == (low < high and not is_near)
    exact, within = (one.is_met for one in audit.standings)
    known = [low == high for low, high in (extremes[key] for key in concealed)]
    near = [100 * (h - low) <= 10 * (h + low) for low, h in (extremes[key] for key in concealed)]
    assert exact == (bool(known) and not any(known))
    assert within == (bool(near) and not any(near))
    assert [one.is_met for one in bounds.standings] == [exact, within]
    return len(concealed)


def labelled(audit):
    return [(audit.tables.labels_of(one.cell), one) for one in audit.cells]


def cases(first, n):
    found = 0
    seed = first
    while found < n:
        made = mixed_tables(np.random.default_rng(seed))
        seed += 1
        if made is not None:
            found += 1
            yield made


def test_bounds_and_audits_of_mixed_tables_are_those_of_enumeration():
    assert sum(held_against_enumeration(made) for made in cases(0, 120)) > 500


def test_nothing_is_open_that_a_sum_which_nobody_told_gives_away():
    n_known = n_open = 0
    for seed in range(400):
        try:
            made = mixed_tables(np.random.default_rng(seed), is_told=False)
        except InputError:
            # Asked which labels are sums of others, or that tables contradict each other if none is.
            continue
        if made is None:
            continue
        lows, highs = made.possible.min(axis=0), made.possible.max(axis=0)
        ends = dict(zip(made.cells, zip(lows.tolist(), highs.tolist(), strict=True), strict=True))
        kept = [("x", "y").index(name) for name in made.tables.axes]
        extremes = {tuple(key[at] for at in kept): own for key, own in ends.items()}
        try:
            audit = audit_tables(made.tables, rules=["exact"])
            bounds = bound_cells(made.tables, rules=["exact"])
        except InputError:
            continue
        known = [low == high for low, high in (extremes[k] for k, _ in labelled(audit))]
        n_known += sum(known)
        for key, one in labelled(audit):
            low, high = extremes[key]
            n_open += one.verdict == "open"
            assert one.verdict != "open" or low < high
            assert not one.is_tight or (one.interval.low, one.interval.high) == (low, high)
        assert not (audit.is_met or bounds.is_met) or not any(known)
        for row in bounds.to_arrow().to_pylist():
            own = extremes.get(tuple(row[name] for name in made.tables.axes))
            assert not row["tight"] or own in (None, (row["lower"], row["upper"]))
    assert n_known > 50
    assert n_open > 50


@pytest.mark.slow
def test_two_thousand_mixed_tables_have_the_bounds_of_enumeration():
    assert sum(held_against_enumeration(made) for made in cases(10_000, 2_000)) > 8_000
