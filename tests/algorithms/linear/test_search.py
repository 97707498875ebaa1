"""Bounds of hidden cells against every base table, and searches that are long or stopped."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from gamekeeper.algorithms.linear.component_search import SearchClock
from gamekeeper.algorithms.linear.facts import LinearFacts, NoNumbersError
from gamekeeper.algorithms.linear.programs import Program
from gamekeeper.algorithms.linear.search import FactSearch
from gamekeeper.errors import Cancelled
from tests.given.cell_tables import RandomTables, random_tables

_MOST_TABLES = 40_000


def _enumerated(given: RandomTables, cap: int) -> list[tuple[int, int]] | None:
    """Return the least and the largest value of each hidden cell over all base tables."""
    size = math.prod(given.shape)
    if (cap + 1) ** size > _MOST_TABLES:
        return None
    tables = np.array(list(product(range(cap + 1), repeat=size)), np.int64)
    known = given.values >= 0
    sums = tables @ given.sums.T.astype(np.int64)
    fits = np.all(sums[:, known] == given.values[known], axis=1)
    cells = given.open_cells[given.hidden]
    return [(int(sums[fits, cell].min()), int(sums[fits, cell].max())) for cell in cells]


def _programmed(given: RandomTables, cell: int, *, is_upper: bool) -> float | None:
    known = given.values >= 0
    sign = -1 if is_upper else 1
    found = linprog(
        sign * given.sums[cell].astype(float),
        A_eq=given.sums[known].astype(float) if known.any() else None,
        b_eq=given.values[known].astype(float) if known.any() else None,
        method="highs",
    )
    return None if found.status == 3 else sign * float(found.fun)


@pytest.mark.parametrize("seed", range(60))
def test_whole_numbers_as_by_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = random_tables(rng, n_axes=2, most=1, hide=0.5, whole=True)
    total = int(given.truth.sum())
    search = FactSearch(given.facts, given.hidden)
    search.run()
    found = search.found()
    expected = _enumerated(given, min(total, 3))
    for at in range(len(given.hidden)):
        truth = int(given.sums[given.open_cells[given.hidden[at]]] @ given.truth.reshape(-1))
        assert found.least[at] is not None
        assert found.least[at] <= truth
        assert found.most[at] is None or truth <= found.most[at]
        if expected is not None and found.most[at] is not None and total <= 3:
            assert (int(found.least[at]), int(found.most[at])) == expected[at]
            assert found.is_tight(at)


@pytest.mark.slow
@pytest.mark.parametrize("n_axes", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(15))
def test_real_numbers_as_by_a_program_over_the_base(n_axes: int, seed: int) -> None:
    rng = np.random.default_rng([seed, n_axes])
    given = random_tables(rng, n_axes=n_axes, most=5, hide=0.4, whole=False)
    assert given.system.is_joined
    search = FactSearch(given.facts, given.hidden)
    search.run()
    found = search.found()
    # Of tables with hundreds of hidden cells, every so many are programmed, two programs each.
    every = 1 + len(given.hidden) // 30
    for at, number in enumerate(given.hidden.tolist()):
        assert found.is_tight(at)
        if at % every == 0:
            cell = int(given.open_cells[number])
            low, high = (_programmed(given, cell, is_upper=side) for side in (False, True))
            assert float(found.least[at]) == pytest.approx(low, abs=1e-6)
            if high is None:
                assert found.most[at] is None
                assert found.endless[at]
            else:
                assert float(found.most[at]) == pytest.approx(high, abs=1e-6)
        for is_upper in (False, True):
            bound = (found.most if is_upper else found.least)[at]
            if bound is not None:
                proof = search.proof(number, is_upper=is_upper)
                assert proof is not None
                assert proof.bound == bound


def test_whole_numbers_leave_less_than_real_ones() -> None:
    # x + y + z = 2 with x = y and y = z leaves 2/3 each, and x + y = 1 with x = y one half.
    rows = [({0: 1, 1: 1}, 1, 1), ({0: 1, 1: -1}, -1, 1)]
    real = FactSearch(LinearFacts.of([(0, None)] * 2, rows, whole=False), [0])
    real.run()
    assert real.found().is_tight(0)
    with pytest.raises(NoNumbersError):
        FactSearch(
            LinearFacts.of(
                [(0, None)] * 2, [({0: 1, 1: 1}, 1, 1), ({0: 1, 1: -1}, 0, 0)], whole=True
            ),
            [0],
        ).run()


def test_what_contradicts_itself_is_refused() -> None:
    rows = [({0: 1, 1: 1}, 5, 5), ({1: 1, 2: 1}, 3, 3), ({0: 1, 2: -1}, 0, 1)]
    with pytest.raises(NoNumbersError):
        FactSearch(LinearFacts.of([(0, None)] * 3, rows, whole=False), [0]).run()


def cube(size: int = 4, *, whole: bool = True) -> LinearFacts:
    """All sums over one axis of a cube are published, so that each cell is open."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 9, (size,) * 3)
    rows = []
    cells = np.arange(size**3).reshape(truth.shape)
    for axis in range(3):
        lines = np.moveaxis(cells, axis, 0).reshape(size, -1).T
        for line in lines.tolist():
            total = int(truth.reshape(-1)[line].sum())
            rows.append((dict.fromkeys(line, 1), total, total))
    return LinearFacts.of([(0, None)] * size**3, rows, whole=whole)


def test_the_estimate_is_told_once_and_may_refuse():
    told: list[float] = []
    search = FactSearch(cube(), range(64))
    search.run(expect=told.append, probe=0.0)
    assert len(told) == 1
    assert told[0] >= 0

    def refuse(seconds: float) -> None:
        raise Cancelled(f"{seconds:.0f}")

    with pytest.raises(Cancelled):
        FactSearch(cube(), range(64)).run(expect=refuse, probe=0.0)


def test_steps_tell_the_pace_apart_from_what_comes_before():
    clock = SearchClock(100)
    assert clock.expected() is None
    clock.begin()
    clock.step()
    before = clock.expected()
    assert before is not None
    clock.total = 10_000_000
    assert clock.expected() > before


def test_whole_numbers_are_bounded_by_real_ones_first_when_time_is_short():
    facts = cube()
    stopped = FactSearch(facts, range(64))

    def stop(done, total):
        if done > 20:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        stopped.run(stop)
    done = FactSearch(facts, range(64))
    done.run()
    for early, late in zip(stopped.found().most, done.found().most, strict=True):
        assert early >= late
    assert all(done.found().is_tight(at) for at in range(64))


def test_an_integer_program_is_stopped_from_within():
    facts = cube(5)
    found = FactSearch(facts, np.arange(125))
    (part,) = found.components
    asked = []

    def watch() -> bool:
        asked.append(1)
        raise Cancelled("stop")

    program = Program(part, watch)
    try:
        program.whole(0, 1, int(found.limits.lower[0]), int(found.limits.upper[0]))
    except Cancelled:
        assert asked
    else:
        # It was done before it asked.
        assert not asked
