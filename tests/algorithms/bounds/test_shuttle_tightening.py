"""Exact bounds from the shuttle, against enumeration and integer programs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds import shuttle_tightening
from gamekeeper.algorithms.bounds.shuttle import Shuttle
from gamekeeper.algorithms.bounds.shuttle_tightening import LinearRelaxation, Tightening
from gamekeeper.algorithms.linear.components import SearchLimits
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.linear.programs import dual_bound
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.errors import Cancelled
from tests.given.cases import cases
from tests.given.shuttle_releases import not_tight, releases


def all_tables(known):
    """Return every table, one cell after the other; None if a cell has no upper limit."""
    upper = known.cell_limits()[1].reshape(-1)
    if upper.max() >= UNBOUNDED or np.prod(upper + 1.0) > 30_000:
        return None
    tables = np.array([*product(*(range(high + 1) for high in upper))], np.int64)
    rows = known.rows
    for row in range(len(rows)):
        sums = tables[:, rows.cells[rows.starts[row] : rows.starts[row + 1]]].sum(axis=1)
        tables = tables[(sums >= rows.lower[row]) & (sums <= rows.upper[row])]
    return tables.reshape(-1, *known.shape)


def by_integer_programs(known, weights):
    """Return the smallest and the largest of a sum of cells by two programs from scratch."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows = known.rows
    matrix = np.zeros((len(rows), known.size))
    for row in range(len(rows)):
        matrix[row, rows.cells[rows.starts[row] : rows.starts[row + 1]]] = 1
    high = np.where(rows.upper >= UNBOUNDED, np.inf, rows.upper)
    found = []
    for sign in (1, -1):
        solved = milp(
            sign * weights,
            integrality=np.ones(known.size),
            bounds=Bounds(0, np.inf),
            constraints=LinearConstraint(matrix, rows.lower, high),
        )
        if solved.status == 2:
            return None
        is_open = solved.status == 3 or solved.x is None
        found.append(UNBOUNDED if is_open else round(weights @ solved.x))
    return tuple(found)


@given(releases(shapes=((4,), (2, 2), (2, 3), (2, 2, 2)), most=2))
@cases(30)
def test_tight_bounds_are_those_of_all_tables(release):
    known, _ = release
    tables = all_tables(known)
    if tables is None:
        return
    tight = Shuttle(known).tighten()
    assert tight.is_complete
    assert np.all(tight.tight_lower & tight.tight_upper)
    assert np.array_equal(tight.lower, tables.min(axis=0))
    assert np.array_equal(tight.upper, tables.max(axis=0))


@given(releases(shapes=((3, 3), (2, 2, 3), (2, 2, 2, 2)), most=9))
@settings(max_examples=25, deadline=None)
def test_tight_bounds_are_those_of_integer_programs(release):
    known, truth = release
    shuttle = Shuttle(known).run()
    before = shuttle.lower, shuttle.upper
    tight = shuttle.tighten()
    assert tight.is_complete
    assert np.all(before[0] <= tight.lower)
    assert np.all(tight.lower <= truth)
    assert np.all(truth <= tight.upper)
    assert np.all(tight.upper <= before[1])
    assert np.array_equal(shuttle.lower, tight.lower)
    assert np.array_equal(shuttle.upper, tight.upper)
    for cell in range(0, known.size, 3):
        weights = (np.arange(known.size) == cell).astype(float)
        bounds = int(tight.lower.flat[cell]), int(tight.upper.flat[cell])
        assert bounds == by_integer_programs(known, weights)


@given(releases(shapes=((3, 3), (2, 2, 3), (2, 2, 2, 2)), most=9))
@settings(max_examples=15, deadline=None)
def test_linear_programs_alone_lead_to_the_same_bounds(release):
    known, _ = release
    expected = Shuttle(known).tighten()
    with pytest.MonkeyPatch.context() as patch:
        # No step of search by propagation: every trial goes to the linear programs.
        patch.setattr(shuttle_tightening, "_LEAST_STEPS", 1)
        patch.setattr(shuttle_tightening, "_MOST_STEPS", 1)
        found = Shuttle(known).tighten()
    assert found.is_complete
    assert np.array_equal(found.lower, expected.lower)
    assert np.array_equal(found.upper, expected.upper)


@given(releases(shapes=((2, 3), (2, 2, 3)), most=5), st.data())
@settings(max_examples=20, deadline=None)
def test_cells_of_recoded_tables_can_be_asked_for(release, data):
    known, _ = release
    groups = [
        np.unique(
            data.draw(st.lists(st.integers(0, 2), min_size=length, max_size=length)),
            return_inverse=True,
        )[1]
        for length in known.shape
    ]
    shape = [of_axis.max() + 1 for of_axis in groups]
    cell = data.draw(st.integers(0, int(np.prod(shape)) - 1))
    tight = Shuttle(known).tighten([cell], groups=groups)
    at = np.unravel_index(cell, shape)
    weights = np.array([
        all(of_axis[i] == number for of_axis, i, number in zip(groups, base, at, strict=True))
        for base in np.ndindex(known.shape)
    ]).astype(float)  # fmt: skip
    bounds = int(tight.lower.flat[cell]), int(tight.upper.flat[cell])
    assert bounds == by_integer_programs(known, weights)
    assert tight.tight_lower.flat[cell]
    assert tight.tight_upper.flat[cell]


@pytest.mark.slow
@given(
    releases(shapes=((3, 3), (2, 2, 3), (2, 2, 2, 2)), most=3),
    st.integers(0, 10**6),
    st.integers(1, 3),
)
@settings(max_examples=30, deadline=None)
def test_without_a_table_there_are_no_bounds(release, place, off):
    truth = release[1]
    margins = all_pairs(truth, spread=1)
    _, lower, upper = margins[place % len(margins)]
    lower.flat[place % lower.size] += off + 1
    upper.flat[place % upper.size] += off
    moved = CountConstraints.of(truth.shape, [*margins, ((), truth.sum())])
    if by_integer_programs(moved, np.arange(truth.size) == 0) is None:
        with pytest.raises(NoNumbersError):
            Shuttle(moved).tighten()
    else:
        assert Shuttle(moved).tighten().is_complete


def all_pairs(truth, spread=0):
    margins = []
    for axes in combinations(range(truth.ndim), 2):
        sums = truth.sum(axis=tuple(axis for axis in range(truth.ndim) if axis not in axes))
        margins.append((axes, np.maximum(sums - spread, 0), sums + spread))
    return margins


def five_binary_axes():
    """Return a release that takes many trials."""
    truth = np.random.default_rng(3).poisson(4.0, (2,) * 5)
    return CountConstraints.of(truth.shape, all_pairs(truth))


def test_the_release_that_the_fixed_point_misses():
    tight = Shuttle(not_tight()).tighten()
    assert tight.lower.reshape(-1).tolist() == [1] + [0] * 15
    assert tight.upper.reshape(-1).tolist() == [3, 1, 2, 2, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2]
    assert tight.is_complete


def test_a_fixed_point_without_a_table():
    # Any two of three cells make 1, so that each would be a half.
    pairs = [
        CountMargin((np.array(groups),), np.array([1, 0]), np.array([1, UNBOUNDED]))
        for groups in ([0, 0, 1], [0, 1, 0], [1, 0, 0])
    ]
    shuttle = Shuttle(CountConstraints((3,), tuple(pairs))).run()
    assert (shuttle.lower.tolist(), shuttle.upper.tolist()) == ([0] * 3, [1] * 3)
    with pytest.raises(NoNumbersError):
        shuttle.tighten()


def test_cells_without_upper_limit_stay_open_and_are_exact():
    known = CountConstraints.of(
        (2, 2), [((0,), [3, 5], [3, UNBOUNDED]), ((1,), [4, 0], [UNBOUNDED] * 2)]
    )
    tight = Shuttle(known).tighten()
    assert tight.is_complete
    assert tight.upper.tolist() == [[3, 3], [UNBOUNDED, UNBOUNDED]]
    assert tight.lower.tolist() == [[0, 0], [1, 0]]


def test_only_cells_that_are_asked_for_cost_steps():
    one, whole = Shuttle(five_binary_axes()).tighten([5]), Shuttle(five_binary_axes()).tighten()
    assert one.is_complete
    assert one.upper.flat[5] == whole.upper.flat[5]
    assert one.n_steps < whole.n_steps
    assert np.all(one.lower <= whole.lower)
    assert np.all(one.upper >= whole.upper)
    assert np.all(one.upper[one.tight_upper] == whole.upper[one.tight_upper])


def test_bounds_that_hold_together_share_a_table(monkeypatch):
    truth = np.random.default_rng(2).poisson(0.5, (2,) * 6)
    known = CountConstraints.of(truth.shape, all_pairs(truth))
    together = Shuttle(known).tighten()
    monkeypatch.setattr(Tightening, "_join", lambda self, others: False)
    alone = Shuttle(known).tighten()
    assert together.is_complete
    assert np.array_equal(together.lower, alone.lower)
    assert np.array_equal(together.upper, alone.upper)
    assert together.n_tables < 0.8 * alone.n_tables


def test_a_limit_of_steps_says_what_is_proven():
    exact = Shuttle(five_binary_axes()).tighten()
    found = Shuttle(five_binary_axes()).tighten(max_steps=3)
    assert not found.is_complete
    assert found.n_open == np.count_nonzero(~found.tight_lower) + np.count_nonzero(
        ~found.tight_upper
    )
    assert np.all(found.lower <= exact.lower)
    assert np.all(found.upper >= exact.upper)
    assert np.array_equal(found.upper[found.tight_upper], exact.upper[found.tight_upper])
    assert np.array_equal(found.lower[found.tight_lower], exact.lower[found.tight_lower])


@pytest.mark.parametrize("calls", [1, 9, 25, 50])
def test_stopped_work_keeps_what_is_proven_and_retracts_the_rest(calls):
    exact = Shuttle(five_binary_axes()).tighten()
    shuttle = Shuttle(five_binary_axes()).run()
    fixed = shuttle.upper
    told = []

    def stop(done, total):
        told.append((done, total))
        if len(told) == calls:
            raise Cancelled("Exact bounds were asked for.")

    with pytest.raises(Cancelled):
        shuttle.tighten(progress=stop)
    assert told[-1][1] == 64
    assert np.all(shuttle.upper <= fixed)
    assert np.all(shuttle.upper >= exact.upper)
    assert np.all(shuttle.lower <= exact.lower)
    assert np.array_equal(shuttle.tighten().upper, exact.upper)


def test_progress_ends_with_all_bounds():
    told = []
    Shuttle(not_tight()).tighten(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (32, 32)
    assert [done for done, total in told if total] == sorted(done for done, total in told if total)


@given(releases(shapes=((3, 3), (2, 2, 3)), most=9), st.data())
@settings(max_examples=25, deadline=None)
def test_whatever_multipliers_prove_holds(release, data):
    known, truth = release
    relaxation = LinearRelaxation(known)
    rows = known.rows
    weights = np.array(
        data.draw(st.lists(st.integers(-2, 2), min_size=known.size, max_size=known.size)), np.int64
    )
    some = data.draw(st.lists(st.floats(-3, 3), min_size=len(rows), max_size=len(rows)))
    cells = (np.zeros(known.size, np.int64), np.full(known.size, 60, np.int64))
    limits = SearchLimits(*cells, known.facts.low, known.facts.high)
    proven = dual_bound(known.facts, limits, -weights, np.array(some))
    value = int(weights @ truth.reshape(-1))
    assert proven is None or -proven >= value
    solved = relaxation.largest(weights, cells, (rows.lower, rows.upper))
    assert not solved.is_impossible
    assert solved.most is not None
    assert solved.most >= value
    # The proof loses nothing that matters: it is the optimum, rounded down.
    assert solved.most == np.floor(weights @ solved.values + 1e-6)
