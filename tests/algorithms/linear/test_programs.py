from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.linear.components import components
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.linear.kernels import repair
from gamekeeper.algorithms.linear.programs import Program, branch, dual_bound
from gamekeeper.algorithms.linear.propagation import propagate
from gamekeeper.algorithms.releases.constraints import CountConstraints
from tests.given.cases import cases
from tests.twins.possible_tables import pairs_of_three, releases

NUMBERS = st.floats(-3, 3) | st.integers(-2, 2).map(float) | st.sampled_from([0.5, -1 / 3, 1e-9])


def parts_of(constraints, sums=None):
    limits = propagate(constraints.facts)
    asked = np.arange(constraints.size) if sums is None else sums
    return components(constraints.facts, limits.lower, limits.upper, asked, every=True)


def tables_of(part):
    system = part.system
    ranges = [
        range(a, b + 1) for a, b in zip(system.lower.tolist(), system.upper.tolist(), strict=True)
    ]
    grid = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(part.numbers))
    return np.array([own for own in grid if system.admits(own)]).reshape(-1, len(part.numbers))


def size_of(part):
    return np.prod(part.system.upper - part.system.lower + 1.0)


@st.composite
def some_parts(draw):
    """Draw a component with rows, which may have no table of whole numbers."""
    try:
        parts = [part for part in parts_of(draw(releases())) if part.n_rows]
    except NoNumbersError:
        parts = []
    assume(parts)
    part = draw(st.sampled_from(parts))
    assume(size_of(part) < 1_000)
    return part


@pytest.mark.slow
@cases(50)
@given(some_parts(), st.data())
def test_any_duals_give_a_bound(part, data):
    duals = np.array(data.draw(st.lists(NUMBERS, min_size=part.n_rows, max_size=part.n_rows)))
    costs = np.array(
        data.draw(
            st.lists(st.integers(-1, 1), min_size=len(part.numbers), max_size=len(part.numbers))
        )
    )
    tables = tables_of(part)
    if len(tables):
        assert dual_bound(part.system, part.limits(), costs, duals) <= (tables @ costs).min()


@pytest.mark.parametrize("size", [1, 10**6, 10**15])
def test_bounds_from_duals_are_exact_for_large_counts(size):
    known = CountConstraints.of((2, 2), [((0,), [3 * size, size]), ((1,), [2 * size, 2 * size])])
    (part,) = parts_of(known)
    program = Program(part)
    for place, (low, high) in enumerate(((1, 2), (1, 2), (0, 1), (0, 1))):
        members = np.array([place])
        assert program.relaxed(members, -1).bound == -high * size
        assert program.relaxed(members, 1).bound == low * size
    costs = np.array([-1, 0, 0, 0])
    thirds = np.full(part.n_rows, 1 / 3)
    # Duals that are far off: still a bound, and the same in whole numbers as in fractions.
    assert dual_bound(part.system, part.limits(), costs, thirds) <= -2 * size


@pytest.mark.slow
@cases(40)
@given(some_parts(), st.data())
def test_programs_agree_with_enumeration(part, data):
    place = data.draw(st.integers(0, len(part.sums) - 1))
    members = part.members_of(place)
    sign = data.draw(st.sampled_from([1, -1]))
    tables = tables_of(part)
    program = Program(part)
    whole = program.whole(place, sign, 0, int(part.system.upper.sum()))
    found = branch(part, program, part.limits().copied(), 1000)
    relaxed = program.relaxed(members, sign)
    if len(tables):
        best = int((sign * tables[:, members].sum(axis=1)).min())
        assert relaxed.bound <= best
        assert whole.bound == best
        assert part.system.admits(whole.point)
        assert part.system.admits(found.point)
        assert not found.is_empty
    else:
        assert whole.is_empty
        assert found.is_empty
        assert found.point is None


@pytest.mark.slow
@cases(40)
@given(releases(), st.data())
def test_branching_towards_a_sum_agrees_with_enumeration(release, data):
    try:
        parts = parts_of(release, sums=np.arange(release.size) // 2)
    except NoNumbersError:
        parts = []
    parts = [part for part in parts if part.n_rows and size_of(part) < 1_000]
    assume(parts)
    part = data.draw(st.sampled_from(parts))
    place = data.draw(st.integers(0, len(part.sums) - 1))
    row, members = part.n_rows + place, part.members_of(place)
    value = data.draw(st.integers(0, int(part.system.upper[members].sum())))
    limits = part.limits().copied()
    limits.row_lower[row] = limits.row_upper[row] = value
    possible = any(table[members].sum() == value for table in tables_of(part))
    found = branch(part, Program(part), limits, 1000)
    assert found.is_empty == (not possible)
    assert (found.point is not None) == possible
    if found.point is not None:
        assert part.system.admits(found.point)
        assert found.point[members].sum() == value


def test_branching_stops_at_its_limit_without_a_claim():
    (part,) = parts_of(pairs_of_three(5, 5, 5))
    program = Program(part)
    stopped = branch(part, program, part.limits().copied(), 1)
    assert stopped.point is None
    assert not stopped.is_empty
    assert branch(part, program, part.limits().copied(), 50).is_empty


def test_a_verdict_of_an_integer_program_on_large_counts_is_not_believed():
    (part,) = parts_of(pairs_of_three(2**21 + 1, 2**21 + 1, 2**21 + 1))
    verdict = Program(part).whole(0, 1, 0, 2**22)
    assert verdict.point is None
    assert not verdict.is_empty


@pytest.mark.slow
@cases(40)
@given(some_parts(), st.integers(0, 2**31 - 1))
def test_repaired_tables_hold(part, seed):
    system = part.system
    table = (system.lower + system.upper) // 2
    found = repair(
        system.starts, system.members, system.factors, system.low, system.high, *system.by_number,
        system.lower, system.upper, table, 2_000, 0.3, np.random.default_rng(seed),
        *np.empty((3, system.n_rows), np.int64),
    )  # fmt: skip
    assert np.all((table >= system.lower) & (table <= system.upper))
    assert (found >= 0) == system.admits(table)
    if not len(tables_of(part)):
        assert found == -1
