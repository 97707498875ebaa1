from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linear.facts import NO_LIMIT, LinearFacts, NoNumbersError
from gamekeeper.algorithms.linear.kernels import propagate
from gamekeeper.algorithms.linear.propagation import _swept
from gamekeeper.algorithms.linear.propagation import propagate as propagate_facts
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from tests.given.cases import cases
from tests.twins.possible_tables import (
    all_tables,
    bounds_by_enumeration,
    is_unbounded,
    pairs_of_three,
    releases,
)


def propagated(constraints, first=None):
    """Tighten from the loosest limits; return the row that cannot hold, or -1, and the limits."""
    rows = constraints.rows
    lower = np.zeros(constraints.size, np.int64)
    upper = np.full(constraints.size, UNBOUNDED, np.int64)
    waiting = np.zeros(len(rows), np.int64)
    order = np.arange(len(rows)) if first is None else np.asarray(first)
    waiting[: len(order)] = order
    starts, of_cells, factors = constraints.facts.by_number
    failed = propagate(
        rows.starts, rows.cells, factors, rows.lower, rows.upper, starts, of_cells,
        lower, upper, UNBOUNDED, True, waiting, len(order),
    )  # fmt: skip
    return failed, lower, upper


def tightened_by_every_row(constraints):
    """Tighten every cell by every row, over and over, until nothing changes."""
    rows = constraints.rows
    lower = [0] * constraints.size
    upper = [UNBOUNDED] * constraints.size
    changed = True
    while changed:
        changed = False
        for row in range(len(rows)):
            cells = rows.cells[rows.starts[row] : rows.starts[row + 1]].tolist()
            for cell in cells:
                others = [other for other in cells if other != cell]
                most, least = upper[cell], lower[cell]
                if rows.upper[row] < UNBOUNDED:
                    most = min(most, int(rows.upper[row]) - sum(lower[k] for k in others))
                if all(upper[k] < UNBOUNDED for k in others):
                    least = max(least, int(rows.lower[row]) - sum(upper[k] for k in others))
                if least > most:
                    return None
                if (least, most) != (lower[cell], upper[cell]):
                    lower[cell], upper[cell], changed = least, most, True
    return lower, upper


@given(releases())
def test_limits_are_those_of_plain_loops_in_any_order(constraints):
    expected = tightened_by_every_row(constraints)
    backwards = np.arange(len(constraints.rows))[::-1]
    for first in (None, backwards):
        failed, lower, upper = propagated(constraints, first)
        if expected is None:
            assert 0 <= failed < len(constraints.rows)
            assert len(all_tables(constraints)) == 0
        else:
            assert failed == -1
            assert (lower.tolist(), upper.tolist()) == expected


@given(releases(can_conflict=False))
def test_limits_contain_every_table(constraints):
    failed, lower, upper = propagated(constraints)
    assert failed == -1
    least, most = bounds_by_enumeration(constraints)
    assert np.all(lower <= least)
    assert np.all(upper >= most)
    assert np.all((upper >= UNBOUNDED) == is_unbounded(constraints))


@given(releases())
def test_rows_of_cells_turn_rows_around(constraints):
    rows = constraints.rows
    starts, of, factors = constraints.facts.by_number
    assert np.all(factors == 1)
    for cell in range(constraints.size):
        expected = [
            row
            for row in range(len(rows))
            if cell in rows.cells[rows.starts[row] : rows.starts[row + 1]]
        ]
        assert of[starts[cell] : starts[cell + 1]].tolist() == expected


def test_what_one_row_at_a_time_does_not_see():
    # x0 + x1, x1 + x2 and x0 + x2 are 1: there is no table, and no row says so alone.
    failed, lower, upper = propagated(pairs_of_three(1, 1, 1))
    assert failed == -1
    assert lower.tolist() == [0, 0, 0]
    assert upper.tolist() == [1, 1, 1]
    assert len(all_tables(pairs_of_three(1, 1, 1))) == 0


@st.composite
def some_facts(draw):
    """Draw facts with factors of both signs, some without limits, whole or not."""
    n = draw(st.integers(1, 4))
    ends = st.none() | st.integers(-6, 6)
    limits = [sorted_ends(draw(ends), draw(ends)) for _ in range(n)]
    row = st.dictionaries(st.integers(0, n - 1), st.sampled_from([-3, -2, -1, 1, 2, 5]), min_size=1)
    rows = draw(st.lists(st.tuples(row, ends, ends), min_size=1, max_size=4))
    listed = [(own, *sorted_ends(low, high)) for own, low, high in rows]
    return LinearFacts.of(limits, listed, whole=draw(st.booleans()))


def sorted_ends(low, high):
    return (high, low) if low is not None and high is not None and low > high else (low, high)


@cases(200)
@given(some_facts())
def test_limits_of_any_factors_hold_for_all_numbers(facts):
    """Against all numbers of a grid, of whole ones or of halves and thirds."""
    times = 1 if facts.whole else 6
    step = 1 if facts.whole else 2
    grid = np.arange(-6 * times, 6 * times + 1, step)
    n = len(facts.lower)
    if len(grid) ** n > 30_000:
        grid = grid[:: 1 + len(grid) // 12]
    points = np.array(list(itertools.product(grid.tolist(), repeat=n)), np.int64)
    table = np.zeros((facts.n_rows, n), np.int64)
    np.add.at(table, (facts.entry_rows, facts.members), facts.factors)

    def within(values, low, high):
        above = (low <= -NO_LIMIT) | (np.clip(low, -1_000, 1_000) * times <= values)
        below = (high >= NO_LIMIT) | (values <= np.clip(high, -1_000, 1_000) * times)
        return (above & below).all(axis=1)

    fits = within(points, facts.lower, facts.upper) & within(
        points @ table.T, facts.low, facts.high
    )
    # What the twin takes to fit, the facts admit, and nothing else: on some of them.
    for number in range(0, len(points), 1 + len(points) // 20):
        assert facts.admits(points[number], times) == fits[number]
    try:
        found = propagate_facts(facts)
    except NoNumbersError:
        assert not fits.any()
        return
    assert within(points[fits], found.lower, found.upper).all()


@cases(200)
@given(some_facts())
def test_limits_are_those_of_steps_with_proofs(facts):
    """The kernel and the sweeps that say why reach the same, where both come to an end."""
    try:
        steps = _swept(facts)
    except NoNumbersError:
        with pytest.raises(NoNumbersError):
            propagate_facts(facts)
        return
    if len(steps.taken) >= 200:
        return
    found = propagate_facts(facts)
    assert found.lower.tolist() == steps.lower.tolist()
    assert found.upper.tolist() == steps.upper.tolist()
    for number in range(len(facts.lower)):
        for is_upper, limit in ((False, found.lower[number]), (True, found.upper[number])):
            if abs(limit) < NO_LIMIT and not facts.whole:
                proof = found.proof(number, is_upper=is_upper)
                assert proof is not None
                # Limits are rounded away from numbers that need not be whole.
                assert proof.bound <= limit if is_upper else proof.bound >= limit
