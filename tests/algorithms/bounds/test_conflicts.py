from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.bounds.conflicts import find_conflict
from gamekeeper.algorithms.bounds.integer_bounds import has_table
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.errors import LimitError
from tests.given.cases import cases
from tests.twins.possible_tables import any_table, pairs_of_three, releases


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
        "gamekeeper.algorithms.bounds.conflicts.time.monotonic", lambda: next(times)
    )
    monkeypatch.setattr(
        "gamekeeper.algorithms.bounds.conflicts.has_table",
        lambda rows, n_cells, max_seconds: has_table(rows, n_cells),
    )
    short = find_conflict(known, max_seconds=10)
    assert not short.is_irreducible
    assert len(short.rows) >= len(whole.rows)
    monkeypatch.undo()
    assert find_conflict(only(known, list(short.rows))).rows
