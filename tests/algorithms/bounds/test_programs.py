from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds.programs import CountProgram, branch, dual_bound
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    NoTableError,
    components,
    tightened,
)
from gamekeeper.algorithms.releases.propagation_kernels import repair
from tests.given.cases import cases
from tests.twins.possible_tables import pairs_of_three, releases

NUMBERS = st.floats(-3, 3) | st.integers(-2, 2).map(float) | st.sampled_from([0.5, -1 / 3, 1e-9])


def parts_of(constraints, sums=None):
    nothing = np.zeros(constraints.size, np.int64)
    limits = tightened(constraints.rows, nothing, np.full(constraints.size, UNBOUNDED))
    asked = np.arange(constraints.size) if sums is None else sums
    return components(constraints.rows, limits, asked)


def tables_of(part):
    ranges = [range(top + 1) for top in part.upper.tolist()]
    grid = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(part.cells))
    member = np.array(
        [np.isin(np.arange(len(part.cells)), part.members_of(row)) for row in range(part.n_rows)]
    )
    totals = grid @ member.T.astype(np.int64)
    n = part.n_rows
    return grid[np.all((totals >= part.row_lower[:n]) & (totals <= part.row_upper[:n]), axis=1)]


@st.composite
def some_parts(draw):
    """Draw a component with rows, which may have no table of whole numbers."""
    try:
        parts = [part for part in parts_of(draw(releases())) if part.n_rows]
    except NoTableError:
        parts = []
    assume(parts)
    part = draw(st.sampled_from(parts))
    assume(np.prod(part.upper + 1.0) < 1_000)
    return part


@pytest.mark.slow
@cases(50)
@given(some_parts(), st.data())
def test_any_duals_give_a_bound(part, data):
    duals = np.array(data.draw(st.lists(NUMBERS, min_size=part.n_rows, max_size=part.n_rows)))
    costs = np.array(
        data.draw(st.lists(st.integers(-1, 1), min_size=len(part.cells), max_size=len(part.cells)))
    )
    tables = tables_of(part)
    if len(tables):
        assert dual_bound(part, costs, duals) <= (tables @ costs).min()


@pytest.mark.parametrize("size", [1, 10**6, 10**15])
def test_bounds_from_duals_are_exact_for_large_counts(size):
    known = CountConstraints.of((2, 2), [((0,), [3 * size, size]), ((1,), [2 * size, 2 * size])])
    (part,) = parts_of(known)
    program = CountProgram(part)
    for place in range(4):
        members = np.array([place])
        assert program.relaxed(members, -1).bound == -size
        assert program.relaxed(members, 1).bound == 0
    costs = np.array([-1, 0, 0, 0])
    thirds = np.full(part.n_rows, 1 / 3)
    # Duals that are far off: still a bound, and the same in whole numbers as in fractions.
    assert dual_bound(part, costs, thirds) <= -size


@pytest.mark.slow
@cases(40)
@given(some_parts(), st.data())
def test_programs_agree_with_enumeration(part, data):
    members = np.array(
        data.draw(st.lists(st.integers(0, len(part.cells) - 1), min_size=1, unique=True))
    )
    sign = data.draw(st.sampled_from([1, -1]))
    tables = tables_of(part)
    program = CountProgram(part)
    whole = program.whole(members, sign, 0, int(part.upper.sum()))
    found = branch(part, program, part.limits().copied(), 1000)
    relaxed = program.relaxed(members, sign)
    if len(tables):
        best = int((sign * tables[:, members].sum(axis=1)).min())
        assert relaxed.bound <= best
        assert whole.bound == best
        assert part.admits(whole.table)
        assert part.admits(found.table)
        assert not found.is_empty
    else:
        assert whole.is_empty
        assert found.is_empty
        assert found.table is None


@pytest.mark.slow
@cases(40)
@given(releases(), st.data())
def test_branching_towards_a_sum_agrees_with_enumeration(release, data):
    try:
        parts = parts_of(release, sums=np.arange(release.size) // 2)
    except NoTableError:
        parts = []
    parts = [part for part in parts if part.n_rows and np.prod(part.upper + 1.0) < 1_000]
    assume(parts)
    part = data.draw(st.sampled_from(parts))
    row = part.n_rows + data.draw(st.integers(0, len(part.sums) - 1))
    value = data.draw(st.integers(0, int(part.upper[part.members_of(row)].sum())))
    limits = part.limits().copied()
    limits.row_lower[row] = limits.row_upper[row] = value
    possible = any(table[part.members_of(row)].sum() == value for table in tables_of(part))
    found = branch(part, CountProgram(part), limits, 1000)
    assert found.is_empty == (not possible)
    assert (found.table is not None) == possible
    if found.table is not None:
        assert part.admits(found.table)
        assert found.table[part.members_of(row)].sum() == value


def test_branching_stops_at_its_limit_without_a_claim():
    (part,) = parts_of(pairs_of_three(5, 5, 5))
    program = CountProgram(part)
    stopped = branch(part, program, part.limits().copied(), 1)
    assert stopped.table is None
    assert not stopped.is_empty
    assert branch(part, program, part.limits().copied(), 50).is_empty


def test_a_verdict_of_an_integer_program_on_large_counts_is_not_believed():
    (part,) = parts_of(pairs_of_three(2**21 + 1, 2**21 + 1, 2**21 + 1))
    verdict = CountProgram(part).whole(np.array([0]), 1, 0, 2**22)
    assert verdict.table is None
    assert not verdict.is_empty


@pytest.mark.slow
@cases(40)
@given(some_parts(), st.integers(0, 2**31 - 1))
def test_repaired_tables_hold(part, seed):
    table = part.upper // 2
    found = repair(
        part.starts, part.members, part.row_lower, part.row_upper, part.cell_starts,
        part.cell_rows, np.zeros_like(part.upper), part.upper, table, 2_000, 0.3, np.random.default_rng(seed),
        *np.empty((3, len(part.row_lower)), np.int64),
    )  # fmt: skip
    assert np.all((table >= 0) & (table <= part.upper))
    assert (found >= 0) == part.admits(table)
    if not len(tables_of(part)):
        assert found == -1
