"""Long searches: estimated by their pace, refused or told, and stopped in the middle of a program."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.cells.fact_bounds import FactSearch
from gamekeeper.algorithms.cells.fact_components import components
from gamekeeper.algorithms.cells.fact_programs import FactProgram
from gamekeeper.algorithms.cells.linear_facts import LinearFacts
from gamekeeper.algorithms.cells.search_clock import SearchClock
from gamekeeper.errors import Cancelled


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
    wanted = np.arange(125)
    found = FactSearch(facts, wanted)
    (part,) = components(facts, found.limits.lower, found.limits.upper, wanted)
    asked = []

    def watch() -> bool:
        asked.append(1)
        raise Cancelled("stop")

    program = FactProgram(part, watch)
    try:
        program.whole(0, 1, int(found.limits.lower[0]), int(found.limits.upper[0]), None)
    except Cancelled:
        assert asked
    else:
        # It was done before it asked.
        assert not asked
