from __future__ import annotations

from math import comb, log10

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from gamekeeper.algorithms.feasible import sampling
from gamekeeper.algorithms.feasible.counting import count_tables, list_part, list_tables
from gamekeeper.algorithms.feasible.independent_parts import TableWeights, split_tables
from gamekeeper.algorithms.feasible.sampling import (
    PartSample,
    estimate_tables,
    kernel_basis,
    lattice_moves,
    start_of_part,
)
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.cases import cases
from tests.twins.tables_by_hand import releases
from tests.twins.whole_samples import METHODS, sample_tables


def two_way_margins(table):
    table = np.array(table)
    return CountConstraints.of(
        table.shape, [((0, 1), table.sum(2)), ((0, 2), table.sum(1)), ((1, 2), table.sum(0))]
    )


def square(n, line_sum):
    return CountConstraints.of((n, n), [((0,), [line_sum] * n), ((1,), [line_sum] * n)])


# Tables of all two-way margins that the lattice moves alone do not connect (5 tables, 4 islands).
ISLANDS = two_way_margins(
    [
        [[2, 0, 0], [0, 2, 2], [0, 1, 0]],
        [[0, 2, 2], [0, 0, 0], [0, 1, 0]],
        [[0, 1, 0], [0, 2, 0], [2, 0, 1]],
    ]
)
RELEASES = {
    "square": square(3, 3),
    "islands": ISLANDS,
    "more islands": two_way_margins(
        [
            [[2, 0, 0], [0, 1, 0], [0, 0, 2]],
            [[0, 0, 1], [0, 0, 0], [2, 2, 0]],
            [[0, 1, 0], [1, 0, 1], [0, 1, 2]],
        ]
    ),
    "rounded": CountConstraints.of(
        (2, 3),
        [((0, 1), [[0, 2, 0], [2, 0, 0]], [[1, 4, 1], [4, 1, 1]]), ((0,), [4, 3], [5, 4])],
    ),
    "suppressed": CountConstraints.of(
        (3, 3),
        [
            ((0, 1), np.zeros((3, 3), int), [[0, 9, 9], [9, 0, 9], [9, 9, 0]]),
            ((0,), [3, 2, 3]),
            ((1,), [2, 4, 2]),
        ],
    ),
}


def shares(known, sample):
    """The weight that the sample gives to each feasible table."""
    tables = {table.tobytes(): place for place, table in enumerate(list_tables(known))}
    places = [tables[np.ascontiguousarray(table).tobytes()] for table in sample.tables]
    return np.bincount(places, sample.weights, minlength=len(tables))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("release", RELEASES)
def test_every_table_is_equally_likely(release, method):
    known = RELEASES[release]
    sample = sample_tables(known, draws=3000, seed=3, method=method, workers=1)
    found = shares(known, sample)
    assert sample.method == method
    assert (found > 0).all(), "every table is reached"
    # Dependent or weighted draws are worth fewer independent ones.
    statistic = sample.effective_size * (len(found) * (found - 1 / len(found)) ** 2).sum()
    assert statistic < chi2.isf(1e-4, len(found) - 1)


def test_moves_alone_would_not_reach_every_table():
    part = max(split_tables(ISLANDS).parts, key=lambda part: part.n_cells)
    tables = list_part(part, 100)
    numbers = {table.tobytes(): place for place, table in enumerate(tables)}
    moves = lattice_moves(part)
    reached, waiting = {0}, [0]
    while waiting:
        table = tables[waiting.pop()]
        steps = [
            table + sign * times * move for move in moves for sign in (1, -1) for times in (1, 2)
        ]
        for step in steps:
            place = numbers.get(step.tobytes())
            if place is not None and place not in reached:
                reached.add(place)
                waiting.append(place)
    assert len(reached) < len(tables)


@pytest.mark.parametrize("release", RELEASES)
def test_the_number_of_tables_is_estimated(release):
    known = RELEASES[release]
    number, error = estimate_tables(known, draws=3000, seed=5, workers=1)
    assert abs(number - count_tables(known)) < 4 * error + 1e-6


def test_a_number_that_is_large():
    known = square(6, 4)
    number, error = estimate_tables(known, draws=2000, seed=1, workers=1)
    assert abs(number - count_tables(known)) < 4 * error
    assert error < 0.15 * number


def test_a_number_beyond_all_counting_is_of_the_right_size():
    # Good's approximation (1976): row and column sums independent among all tables of the total.
    n, line_sum = 12, 6
    lines = 2 * n * log10(comb(line_sum + n - 1, n - 1))
    whole = log10(comb(n * line_sum + n * n - 1, n * n - 1))
    number, _ = estimate_tables(square(n, line_sum), draws=400, seed=1, workers=1)
    assert log10(number) == pytest.approx(lines - whole, abs=0.5)


@settings(max_examples=25, deadline=None)
@given(releases(), st.sampled_from(METHODS), st.integers(0, 2**31))
def test_drawn_tables_are_feasible(known, method, seed):
    sample = sample_tables(known, draws=20, seed=seed, method=method, workers=1)
    assert len(sample.tables) + sample.n_dead == 20
    assert all(known.admits(table) for table in sample.tables)


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_whatever_the_workers(method):
    known = square(4, 3)
    one = sample_tables(known, draws=500, seed=7, method=method, workers=1)
    two = sample_tables(known, draws=500, seed=7, method=method, workers=3)
    other = sample_tables(known, draws=500, seed=8, method=method, workers=1)
    assert np.array_equal(one.tables, two.tables)
    assert np.array_equal(one.log_weights, two.log_weights)
    assert not np.array_equal(one.tables, other.tables)


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_kept(method):
    # Poisson means and a likelihood of the second row sum, against a sum over all tables.
    known = CountConstraints.of(
        (2, 3), [((1,), [3, 2, 2]), ((0,), [2, 2], [5, 5]), ((0, 1), [[0] * 3] * 2, [[3] * 3] * 2)]
    )
    means = np.array([[1.0, 2.0, 0.5], [0.3, 1.0, 4.0]])
    entry = (2, [0.1, 0.2, 0.3, 0.4])
    weights = TableWeights(means, [None, [None, entry], None])
    tables = list_tables(known)
    factorials = np.array([1, 1, 2, 6])
    mass = np.prod(means**tables / factorials[tables], axis=(1, 2))
    mass *= np.array(entry[1])[tables[:, 1].sum(axis=1) - 2]
    mass /= mass.sum()
    sample = sample_tables(known, draws=3000, seed=2, method=method, weights=weights, workers=1)
    found = shares(known, sample)
    statistic = sample.effective_size * ((found - mass) ** 2 / mass).sum()
    assert statistic < chi2.isf(1e-4, len(mass) - 1)


@pytest.mark.slow
def test_chains_say_how_well_they_agree():
    sample = sample_tables(square(4, 5), draws=2000, seed=1, method="chain", workers=1)
    assert 0.9 < sample.r_hat < 1.05
    assert 100 < sample.effective_size <= 2000
    assert 0 < sample.acceptance <= 1
    assert np.allclose(sample.mean(), 1.25, atol=0.2)


@pytest.mark.slow
def test_large_parts_are_not_drawn_exactly():
    known = square(12, 6)
    sample = sample_tables(known, draws=50, seed=1, workers=1)
    assert sample.method in ("importance", "chain")
    assert all(known.admits(table) for table in sample.tables)
    with pytest.raises(LimitError) as caught:
        sample_tables(known, draws=200, method="exact")
    assert "'importance'" in str(caught.value)


def test_there_must_be_an_end():
    known = CountConstraints.of((2, 2), [((0,), [3, 1], [UNBOUNDED, 1])])
    with pytest.raises(InputError) as caught:
        sample_tables(known, draws=10)
    assert caught.value.reason == Reason.BAD_OPTION
    assert "2 cells" in str(caught.value)


def test_there_must_be_a_table():
    with pytest.raises(NoNumbersError):
        sample_tables(CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 3])]))


@pytest.mark.parametrize("method", ["importance", "chain"])
def test_draws_that_are_all_dead_ends(method):
    # Each two of three cells sum to 1, and only halves would do; no single row shows it.
    margins = []
    for alone in range(3):
        groups = np.ones(3, np.int64)
        groups[alone] = 0
        margins.append(CountMargin((groups,), np.array([0, 1]), np.array([UNBOUNDED, 1])))
    with pytest.raises(NoNumbersError):
        sample_tables(CountConstraints((3,), tuple(margins)), draws=50, method=method, workers=1)


def test_draws_of_one_part_that_are_dead_ends_say_nothing_of_another(monkeypatch):
    def one_alive(part, *, draws, seed, **_):
        logs = np.full(draws, -np.inf)
        logs[seed.entropy[1]] = 0.0
        return PartSample(np.zeros((draws, 1), np.int64), logs, "importance", 1.0, 0.1)

    monkeypatch.setattr(sampling, "sample_part", one_alive)
    known = CountConstraints.of((4,), [((0,), [0] * 4, [2] * 4)])
    assert len(split_tables(known).parts) > 1
    number, error = estimate_tables(known, draws=9)
    assert number > error > 0


def test_a_start_by_integer_programming():
    split = split_tables(ISLANDS)
    for part in split.parts:
        found = start_of_part(ISLANDS, split, part)
        assert found.tolist() in list_part(part, 100).tolist()


def test_work_can_be_stopped():
    def stop(*_):
        raise Cancelled("Tables were asked for.")

    for method in ("importance", "chain"):
        with pytest.raises(Cancelled):
            sample_tables(square(3, 2), draws=500, method=method, progress=stop)


@cases(25)
@given(st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=1, max_size=4))
def test_a_kernel_basis_is_one(rows):
    rows = np.array(rows)
    basis = kernel_basis(rows)
    assert len(basis) == 5 - np.linalg.matrix_rank(rows)
    assert not (rows @ basis.T).any()
    box = np.indices((5,) * 5).reshape(5, -1).T - 2
    for vector in box[~(box @ rows.T).any(axis=1)]:
        times = np.linalg.lstsq(basis.T.astype(float), vector.astype(float), rcond=None)[0]
        assert np.array_equal(np.round(times) @ basis, vector)
