"""Components of open numbers, against all tables of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.bounds.integer_bounds import integer_bounds
from gamekeeper.algorithms.linear.components import components
from gamekeeper.algorithms.linear.facts import NO_LIMIT, LinearFacts, NoNumbersError
from gamekeeper.algorithms.linear.propagation import propagate
from gamekeeper.algorithms.releases.constraints import CountConstraints
from tests.given.cases import cases
from tests.twins.possible_tables import all_tables, is_unbounded, releases


def parts_of(constraints, sums):
    limits = propagate(constraints.facts)
    parts = components(constraints.facts, limits.lower, limits.upper, np.asarray(sums), every=True)
    return parts, limits


@pytest.mark.slow
@cases(25)
@given(releases(can_conflict=False))
def test_the_tables_of_the_components_are_those_of_the_whole(constraints):
    parts, limits = parts_of(constraints, np.arange(constraints.size))
    assert np.array_equal(limits.upper >= NO_LIMIT, is_unbounded(constraints))
    # What is endless is cut: up to there, all combinations are left.
    upper = np.where(limits.upper >= NO_LIMIT, limits.lower, limits.upper)
    tied = np.zeros(constraints.size, np.bool_)
    for part in parts:
        assert not tied[part.numbers].any()
        tied[part.numbers] = True
        upper[part.numbers] = part.system.upper
        assert np.array_equal(part.is_free, limits.upper[part.numbers] >= NO_LIMIT)
    whole = [table for table in all_tables(constraints) if np.all(table <= upper)]
    assert len(whole)
    number = int(np.prod((upper - limits.lower + 1)[~tied]))
    for part in parts:
        system = part.system
        ranges = [range(a, b + 1) for a, b in zip(system.lower, system.upper, strict=True)]
        grid = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(part.numbers))
        own = {tuple(table) for table in grid if part.facts.admits(table)}
        assert own == {tuple(table[part.numbers]) for table in whole}
        number *= len(own)
    # As many combinations as tables: the components say nothing about each other.
    assert number == len(whole)


def test_blocks_of_a_table_are_components():
    known = CountConstraints.of(
        (4, 4),
        [
            ((0,), [3, 2, 4, 1]),
            ((1,), [1, 4, 2, 3]),
            (
                (0, 1),
                np.zeros((4, 4), int),
                9 * np.kron(np.eye(2, dtype=int), np.ones((2, 2), int)),
            ),
        ],
    )
    parts, _ = parts_of(known, np.full(16, -1))
    assert [part.numbers.tolist() for part in parts] == [[0, 1, 4, 5], [10, 11, 14, 15]]
    assert all(len(part.sums) == 0 for part in parts)


def test_limits_that_cross_leave_no_table():
    known = CountConstraints.of((2,), [((), 3)])
    with pytest.raises(NoNumbersError):
        integer_bounds(known, lower=[2, 0], upper=[1, 5])
    with pytest.raises(NoNumbersError):
        integer_bounds(known, lower=[2, 2], upper=[5, 5])


def test_what_is_endless_is_cut_where_it_makes_up_for_the_others():
    # x - y >= 3 and x + z >= 5: x is free, y and z are not above 4 and 1.
    rows = [({0: 1, 1: -1}, 3, None), ({0: 1, 2: 2}, 5, None)]
    facts = LinearFacts.of([(0, None), (0, 4), (0, 1)], rows, whole=True)
    (part,) = components(facts, facts.lower, facts.upper, np.arange(3))
    assert part.is_free.tolist() == [True, False, False]
    assert part.system.upper.tolist() == [7, 4, 1]
    # Where a row holds it down, nothing is cut.
    held = LinearFacts.of([(0, None), (0, None)], [({0: 1, 1: -1}, -2, 2)], whole=True)
    (part,) = components(held, held.lower, held.upper, np.arange(2))
    assert not part.is_free.any()
    assert not part.is_finite


def test_rows_that_say_nothing_tie_nothing():
    facts = LinearFacts.of([(0, 2)] * 3, [({0: 1, 1: 1}, 0, 9), ({1: 1, 2: 1}, 2, 3)], whole=True)
    parts = components(facts, facts.lower, facts.upper, np.arange(3))
    assert [part.numbers.tolist() for part in parts] == [[1, 2], [0]]
    every = components(facts, facts.lower, facts.upper, np.full(3, -1), every=True)
    assert [part.numbers.tolist() for part in every] == [[1, 2]]
