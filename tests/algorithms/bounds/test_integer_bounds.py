from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds.integer_bounds import (
    feasible_table,
    find_conflict,
    has_table,
    integer_bounds,
    sum_bounds,
    tightened_margins,
)
from gamekeeper.algorithms.linear import component_search
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    kept_axes,
)
from gamekeeper.errors import InputError, LimitError
from tests.given.cases import cases
from tests.given.published import exact_margins, published_table
from tests.twins.possible_tables import (
    all_tables,
    any_table,
    bounds_by_enumeration,
    group_margins,
    pairs_of_three,
    releases,
)


def ways(table, size):
    """Return all margins of a table over some number of axes."""
    return exact_margins(table, itertools.combinations(range(table.ndim), size))


def check(constraints, found, sums=None):
    lower, upper = bounds_by_enumeration(constraints, sums)
    assert found.lower.reshape(-1).tolist() == lower.tolist()
    assert found.upper.reshape(-1).tolist() == upper.tolist()
    assert found.tight.all()
    assert constraints.admits(found.table)


@cases(50)
@given(releases())
def test_bounds_are_those_of_all_tables(constraints):
    if len(all_tables(constraints)):
        check(constraints, integer_bounds(constraints))
    else:
        with pytest.raises(NoNumbersError):
            integer_bounds(constraints)


@cases(40)
@given(st.data())
def test_bounds_of_sums_are_those_of_all_tables(data):
    constraints = data.draw(releases(can_conflict=False))
    margin = data.draw(group_margins(constraints.shape))
    found = sum_bounds(constraints, margin)
    assert found.lower.shape == margin.shape
    check(constraints, found, margin.cells)


@pytest.mark.parametrize("nodes", [0, 1, 100])
@cases(25)
@given(data=st.data())
def test_programs_alone_find_the_same_bounds(nodes, data):
    """Without walks, and with branching cut short, linear and integer programs do it all."""
    constraints = data.draw(releases())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(component_search, "_MAX_NODES", nodes)
        patch.setattr(component_search, "_PATIENCE", 0)
        patch.setattr(component_search, "_STEPS_PER_NUMBER", 0)
        patch.setattr(component_search, "_FEWEST_STEPS", 0)
        if len(all_tables(constraints)):
            check(constraints, integer_bounds(constraints))
        else:
            with pytest.raises(NoNumbersError):
                integer_bounds(constraints)


@cases(25)
@given(st.data())
def test_known_limits_are_constraints(data):
    constraints = data.draw(releases(can_conflict=False))
    least = data.draw(st.lists(st.integers(0, 2), min_size=constraints.size, max_size=constraints.size))  # fmt: skip
    low = np.array(least).reshape(constraints.shape)
    high = np.where(low > 1, UNBOUNDED, low + 2)
    axes = range(len(constraints.shape))
    both = CountConstraints(
        constraints.shape, (*constraints.margins, kept_axes(constraints.shape, axes, low, high))
    )
    if len(all_tables(both)):
        check(both, integer_bounds(constraints, lower=low, upper=high))
    else:
        with pytest.raises(NoNumbersError):
            integer_bounds(constraints, lower=low, upper=high)


@cases(25)
@given(st.data())
def test_cells_can_be_chosen(data):
    constraints = data.draw(releases(can_conflict=False))
    cells = data.draw(st.lists(st.integers(0, constraints.size - 1), unique=True))
    found = integer_bounds(constraints, cells=cells)
    lower, upper = bounds_by_enumeration(constraints)
    assert found.lower.reshape(-1)[cells].tolist() == lower[cells].tolist()
    assert found.upper.reshape(-1)[cells].tolist() == upper[cells].tolist()
    assert found.tight.reshape(-1)[cells].all()
    assert np.all(found.lower.reshape(-1) <= lower)
    assert np.all(found.upper.reshape(-1) >= upper)
    is_tight = (found.lower.reshape(-1) == lower) & (found.upper.reshape(-1) == upper)
    assert np.all(is_tight[found.tight.reshape(-1)])


@cases(25)
@given(releases(), st.sampled_from([{"max_programs": 0}, {"max_programs": 1}]))
def test_what_is_not_settled_is_outer_and_said_not_to_be_tight(constraints, limits):
    tables = all_tables(constraints)
    try:
        found = integer_bounds(constraints, **limits)
    except NoNumbersError:
        assert not len(tables)
        return
    if not len(tables):
        assert found.table is None
        assert not found.tight_lower.any()
        assert not found.tight_upper.any()
        return
    lower, upper = bounds_by_enumeration(constraints)
    low, high = found.lower.reshape(-1), found.upper.reshape(-1)
    assert np.all(low <= lower)
    assert np.all(high >= upper)
    assert np.array_equal(low[found.tight_lower.reshape(-1)], lower[found.tight_lower.reshape(-1)])
    assert np.array_equal(high[found.tight_upper.reshape(-1)], upper[found.tight_upper.reshape(-1)])


def test_integer_bounds_can_be_narrower_than_those_of_real_numbers():
    groups = [np.array(labels) for labels in ([0, 0, 1], [1, 0, 0], [0, 1, 0])]
    pairs = CountConstraints(
        (3,), tuple(CountMargin((g,), np.zeros(2, int), np.array([1, UNBOUNDED])) for g in groups)
    )
    total = sum_bounds(pairs, kept_axes((3,), (), 0))
    assert (total.lower.item(), total.upper.item(), total.tight.item()) == (0, 1, True)
    with pytest.raises(NoNumbersError):
        integer_bounds(pairs_of_three(1, 1, 1))
    assert integer_bounds(pairs_of_three(1, 1, 2)).lower.tolist() == [1, 0, 1]


@pytest.mark.parametrize("size", [10**3, 10**6, 10**9, 10**12])
def test_large_counts_are_exact(size):
    rng = np.random.default_rng(size)
    table = rng.integers(0, size, (4, 5)) * (rng.random((4, 5)) < 0.8)
    known = ways(table, 1)
    found = integer_bounds(known)
    rows, columns, total = table.sum(1)[:, None], table.sum(0)[None, :], table.sum()
    assert np.array_equal(found.lower, np.maximum(0, rows + columns - total))
    assert np.array_equal(found.upper, np.minimum(rows, columns))
    assert found.tight.all()
    assert integer_bounds(pairs_of_three(size, size + 1, size + 1)).lower.tolist() == [
        size // 2,
        size // 2,
        size // 2 + 1,
    ]
    # In real numbers there is a solution, in halves.
    with pytest.raises(NoNumbersError):
        integer_bounds(pairs_of_three(size, size + 1, size + 2))


def test_one_more_in_large_counts_is_a_conflict():
    table = np.full((3, 4), 10**9)
    rows, columns = table.sum(1), table.sum(0)
    columns[0] += 1
    with pytest.raises(NoNumbersError):
        integer_bounds(CountConstraints.of((3, 4), [((0,), rows), ((1,), columns)]))


def test_bounds_of_three_axes_agree_with_integer_programs():
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    rng = np.random.default_rng(5)
    for base in (0, 3):
        table = rng.poisson(2.0, (4, 4, 3))
        known = ways(table, 2)
        if base:
            known = CountConstraints(
                known.shape,
                tuple(
                    CountMargin(m.groups, np.maximum(m.lower - 1, 0), m.upper + 1)
                    for m in known.margins
                ),
            )
        rows = known.rows
        matrix = csr_array((np.ones(len(rows.cells)), rows.cells, rows.starts))
        found = integer_bounds(known)
        assert found.tight.all()
        for cell in rng.choice(known.size, 12, replace=False):
            cost = np.zeros(known.size)
            cost[cell] = 1.0
            for sign, bounds in ((1, found.lower), (-1, found.upper)):
                solved = milp(
                    sign * cost,
                    constraints=LinearConstraint(matrix, rows.lower, rows.upper),
                    integrality=np.ones(known.size),
                    bounds=Bounds(0, np.inf),
                )
                assert round(sign * solved.fun) == bounds.reshape(-1)[cell]


def test_a_fixed_table_needs_no_programs():
    table = np.array([[3, 0], [0, 2]])
    found = integer_bounds(ways(table, 2))
    assert np.array_equal(found.lower, table)
    assert np.array_equal(found.upper, table)
    assert np.array_equal(found.table, table)
    assert found.tight.all()
    assert (found.relaxations, found.programs) == (0, 0)


def test_nothing_published_bounds_nothing():
    found = integer_bounds(CountConstraints((2, 3), ()))
    assert np.all(found.lower == 0)
    assert np.all(found.upper == UNBOUNDED)
    assert found.tight.all()


def test_progress_is_told_up_to_the_end():
    told = []
    table = np.random.default_rng(2).poisson(2.0, (4, 4, 3))
    integer_bounds(ways(table, 2), progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert len({total for _, total in told}) == 1
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@cases(40)
@given(releases())
def test_a_table_is_found_if_there_is_one(constraints):
    table = feasible_table(constraints)
    if len(all_tables(constraints)):
        assert table.shape == constraints.shape
        assert constraints.admits(table)
    else:
        assert table is None


def test_cells_outside_and_limits_of_another_shape_are_refused():
    known = CountConstraints.of((2, 2), [((0,), [3, 1])])
    for options in ({"cells": [0, 4]}, {"cells": [-1]}, {"lower": [0, 0]}, {"upper": [[1, 1, 1]]}):
        with pytest.raises(InputError):
            integer_bounds(known, **options)


@pytest.mark.parametrize(
    ("name", "margins"),
    [
        ("czech_autoworkers_bounds_BF_ABCE_ADE", ["BF", "ABCE", "ADE"]),
        ("czech_autoworkers_bounds_all_2way", 2),
        ("czech_autoworkers_bounds_all_5way", 5),
        ("hair_eye_colour_bounds_all_2way", 2),
        ("ucb_admissions_bounds_all_2way", 2),
    ],
)
def test_published_bounds_are_found(name, margins):
    letters, (counts, lower, upper) = published_table(name)
    if isinstance(margins, int):
        known = ways(counts, margins)
    else:
        known = exact_margins(
            counts, [[letters.index(letter) for letter in margin] for margin in margins]
        )
    found = integer_bounds(known)
    assert found.tight.all()
    assert np.array_equal(found.lower, lower)
    assert np.array_equal(found.upper, upper)


def only(constraints, rows):
    """Return the constraints with all other rows hidden."""
    margins, first = [], 0
    for margin in constraints.margins:
        kept = np.isin(np.arange(first, first + margin.lower.size), rows).reshape(margin.shape)
        first += margin.lower.size
        lower, upper = np.where(kept, margin.lower, 0), np.where(kept, margin.upper, UNBOUNDED)
        margins.append(CountMargin(margin.groups, lower, upper))
    return CountConstraints(constraints.shape, tuple(margins))


def is_irreducible(constraints, rows):
    return not any_table(only(constraints, rows)) and all(
        any_table(only(constraints, [r for r in rows if r != left])) for left in rows
    )


@cases(40)
@given(releases())
def test_conflicts_are_irreducible(constraints):
    rows = find_conflict(constraints).rows
    if any_table(constraints):
        assert rows == ()
    else:
        assert rows == tuple(sorted(set(rows)))
        assert is_irreducible(constraints, rows)


def test_a_conflict_of_whole_numbers_alone_is_found():
    known = pairs_of_three(1, 1, 1)
    rows = find_conflict(known).rows
    assert rows == (0, 2, 4)
    assert is_irreducible(known, rows)
    assert find_conflict(pairs_of_three(10**9, 10**9, 10**9 + 1)).rows == (0, 2, 4)


def test_a_whole_number_conflict_is_found_among_other_counts():
    rng = np.random.default_rng(4)
    table = rng.integers(0, 4, (3, 6))
    rows = [
        CountMargin((np.arange(3), np.zeros(6, np.int64)), table.sum(1)[:, None], table.sum(1)[:, None])
    ]  # fmt: skip
    for margin in pairs_of_three(1, 1, 1).margins:
        columns = np.array([*margin.groups[0], 2, 2, 2])
        limits = np.array([[*margin.lower, 0]]), np.array([[*margin.upper, UNBOUNDED]])
        rows.append(CountMargin((np.zeros(3, np.int64), columns), *limits))
    assert find_conflict(CountConstraints((3, 6), tuple(rows))).rows == (3, 6, 9)


def test_one_wrong_total_among_many_counts_is_found():
    rng = np.random.default_rng(9)
    table = rng.poisson(3.0, (6, 7, 5))
    wrong = table.sum(1)
    wrong[2, 3] += 1
    known = CountConstraints.of(
        table.shape, [((0, 1), table.sum(2)), ((0, 2), wrong), ((1, 2), table.sum(0))]
    )
    rows = find_conflict(known).rows
    # The wrong total against all others of its row or of its column, by either other margin.
    assert 42 + 2 * 5 + 3 in rows
    assert len(rows) in (7 + 5, 7 + 6)
    for left in rows:
        others = [row for row in rows if row != left]
        assert find_conflict(only(known, others)).rows == ()


def test_totals_of_a_zero_conflict_in_pairs():
    known = CountConstraints.of((2, 2), [((0,), [0, 5]), ((0, 1), [[1, 0], [2, 3]])])
    assert find_conflict(known).rows == (0, 2)


def test_no_time_is_a_limit():
    with pytest.raises(LimitError):
        find_conflict(pairs_of_three(1, 1, 1), max_seconds=0)


def test_a_set_that_time_was_too_short_for_conflicts_and_says_so(monkeypatch):
    # A clock that jumps after some questions: what is left then is kept.
    rng = np.random.default_rng(9)
    table = rng.poisson(1.0, (4, 4, 4))
    margins = [((0, 1), table.sum(2)), ((0, 2), table.sum(1)), ((1, 2), table.sum(0))]
    known = CountConstraints.of(
        table.shape, [(axes, counts, counts + 1) for axes, counts in margins] + [((), 999, 1999)]
    )
    whole = find_conflict(known)
    assert whole.is_irreducible
    times = iter([0.0, 1.0, 2.0, *[1000.0] * 10_000])
    monkeypatch.setattr(
        "gamekeeper.algorithms.bounds.integer_bounds.time.monotonic", lambda: next(times)
    )
    monkeypatch.setattr(
        "gamekeeper.algorithms.bounds.integer_bounds.has_table",
        lambda facts, max_seconds: has_table(facts),
    )
    short = find_conflict(known, max_seconds=10)
    assert not short.is_irreducible
    assert len(short.rows) >= len(whole.rows)
    monkeypatch.undo()
    assert find_conflict(only(known, list(short.rows))).rows


@given(releases(can_conflict=False))
def test_tables_stay_and_limits_of_sums_are_attained(constraints):
    made = tightened_margins(constraints)
    tables = all_tables(constraints)
    for before, after in zip(constraints.margins, made.margins, strict=True):
        assert after.groups == before.groups
        least, most = bounds_by_enumeration(constraints, before.cells)
        assert after.lower.reshape(-1).tolist() == least.tolist()
        # Tables are listed up to what sums without a limit need, so that these are not attained.
        limited = after.upper.reshape(-1) < UNBOUNDED
        assert after.upper.reshape(-1)[limited].tolist() == most[limited].tolist()
        assert np.all(after.upper <= before.upper)
    assert all(made.admits(table) for table in tables)


def test_large_releases_are_left_as_they_are():
    known = CountConstraints.of((2,), [((0,), [2, 2], [4, 4]), ((), 0, 4)])
    assert tightened_margins(known, max_rows=2) is known
    assert tightened_margins(known, max_rows=3).margins[0].upper.tolist() == [2, 2]


def test_a_contradiction_is_found():
    known = CountConstraints.of((2,), [((0,), [3, 3], [4, 4]), ((), 0, 4)])
    with pytest.raises(NoNumbersError):
        tightened_margins(known)
