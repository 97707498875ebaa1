from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.feasible import counting
from gamekeeper.algorithms.feasible.counting import count_tables, list_tables
from gamekeeper.algorithms.feasible.independent_parts import split_tables
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    NoTableError,
)
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.algorithms.feasible.twins import releases, tables_by_hand
from tests.given.cases import cases


def square(n, line_sum):
    return CountConstraints.of((n, n), [((0,), [line_sum] * n), ((1,), [line_sum] * n)])


def rounded(table, base, *, margins=True):
    """Every count of a two-way table rounded to the nearest multiple of an odd base."""
    half = base // 2

    def limits(counts):
        near = (np.asarray(counts) + half) // base * base
        return np.maximum(near - half, 0), near + half

    table = np.array(table)
    known = [((0, 1), *limits(table))]
    if margins:
        known += [((0,), *limits(table.sum(1))), ((1,), *limits(table.sum(0)))]
        known += [((), *limits(table.sum()))]
    return CountConstraints.of(table.shape, known)


@cases(30)
@given(releases())
def test_tables_are_those_found_by_trying_all(known):
    by_hand = tables_by_hand(known)
    assert count_tables(known) == len(by_hand)
    assert list_tables(known).tolist() == by_hand


@cases(20)
@given(releases())
def test_the_search_alone_finds_the_same(known):
    by_hand = tables_by_hand(known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "count_part", _too_many)
        assert count_tables(known) == len(by_hand)
        assert list_tables(known).tolist() == by_hand


def _too_many(*_):
    raise counting.TooManySteps


@pytest.mark.parametrize("line_sum", range(8))
def test_squares_of_three(line_sum):
    r = line_sum
    assert count_tables(square(3, r)) == comb(r + 2, 4) + comb(r + 3, 4) + comb(r + 4, 4)


def test_squares_of_four():
    # OEIS A001496.
    numbers = [1, 24, 282, 2008, 10147, 40176, 132724, 381424, 981541, 2309384, 5045326]
    assert [count_tables(square(4, line_sum)) for line_sum in range(11)] == numbers


@pytest.mark.parametrize(("n", "line_sum"), [(4, 4), (5, 2), (5, 3)])
def test_states_and_search_count_the_same_squares(n, line_sum, monkeypatch):
    by_states = count_tables(square(n, line_sum))
    monkeypatch.setattr(counting, "count_part", _too_many)
    assert count_tables(square(n, line_sum)) == by_states


def test_huge_numbers_are_exact():
    people, cells = 100_000, 30
    known = CountConstraints.of((cells,), [((), people)])
    assert count_tables(known) == comb(people + cells - 1, cells - 1)
    free = CountConstraints.of((200,), [((0,), np.zeros(200, int), np.full(200, 9))])
    assert count_tables(free) == 10**200


def test_parts_multiply():
    # Two independent pairs of rows of the same square.
    limits = np.zeros((6, 6), int)
    limits[:3, :3] = limits[3:, 3:] = 2
    known = CountConstraints.of(
        (6, 6), [((0, 1), np.zeros((6, 6), int), limits), ((0,), [2] * 6), ((1,), [2] * 6)]
    )
    assert len(split_tables(known).parts) == 2
    assert count_tables(known) == 21**2
    assert len(list_tables(known)) == 21**2


def test_the_rounded_table_of_the_thesis():
    # Smith's thesis, Figures 18 to 22, and margins alone.
    table = [[1, 3, 0], [4, 0, 0], [3, 2, 0]]
    assert count_tables(rounded(table, 3, margins=False)) == 2592
    everything = rounded(table, 3)
    assert count_tables(everything) == len(list_tables(everything)) == 7
    margins = CountConstraints(everything.shape, everything.margins[1:])
    assert count_tables(margins) == 96


def test_a_suppressed_pair_of_pairs_has_two_tables():
    # Smith's thesis, Figure 6.
    low = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]])
    high = low.copy()
    high[0, [1, 3]] = high[1, [1, 3]] = UNBOUNDED
    margins = [((0, 1), low, high), ((0,), [4, 1, 7, 9]), ((1,), [5, 5, 7, 4])]
    found = list_tables(CountConstraints.of((4, 4), margins))
    assert found[:, :2, [1, 3]].tolist() == [[[3, 1], [1, 0]], [[4, 0], [0, 1]]]


def test_a_cell_without_limit_means_infinitely_many():
    known = CountConstraints.of((2, 2), [((0,), [3, 1], [UNBOUNDED, 1])])
    assert count_tables(known) is None
    with pytest.raises(InputError) as caught:
        list_tables(known)
    assert caught.value.reason == Reason.BAD_OPTION


def test_infinitely_many_only_if_there_is_one():
    # The second row cannot be: 2x2 with sums that differ in parity of the whole.
    margins = [
        ((0,), [0, 3, 2], [UNBOUNDED, 3, 2]),
        ((0, 1), np.zeros((3, 2), int), [[9, 9], [1, 1], [1, 1]]),
    ]
    with pytest.raises(NoTableError):
        count_tables(CountConstraints.of((3, 2), margins))


def pairs_of_three(low, high):
    """Three cells of which each two have a sum within limits, published as recoded tables."""
    margins = []
    for alone in range(3):
        groups = np.ones(3, np.int64)
        groups[alone] = 0
        limits = np.array([0, low]), np.array([UNBOUNDED, high])
        margins.append(CountMargin((groups,), *limits))
    return CountConstraints((3,), tuple(margins))


def test_contradictions_that_no_single_row_shows():
    # Each two of three cells sum to 1: only halves would do.
    known = pairs_of_three(1, 1)
    assert tables_by_hand(known) == []
    with pytest.raises(NoTableError):
        count_tables(known)
    with pytest.raises(NoTableError):
        list_tables(known)


def test_recoded_sums_that_overlap():
    known = pairs_of_three(3, 4)
    assert list_tables(known).tolist() == tables_by_hand(known)
    assert count_tables(known) == len(tables_by_hand(known)) > 3


@pytest.mark.slow
def test_a_search_that_would_not_end_is_refused():
    table = np.arange(4 * 4 * 4).reshape(4, 4, 4) % 7 + 5
    known = CountConstraints.of(
        table.shape,
        [((0, 1), table.sum(2)), ((0, 2), table.sum(1)), ((1, 2), table.sum(0))],
    )
    with pytest.raises(LimitError) as caught:
        count_tables(known, most=1000)
    assert caught.value.reason == Reason.TOO_LARGE
    assert "(--most)" in str(caught.value)
    assert "digits)" in str(caught.value)


def test_a_list_that_is_too_long_is_refused():
    with pytest.raises(LimitError, match="10,147"):
        list_tables(square(4, 4), most=10_146)
    assert list_tables(square(4, 4), most=10_147).shape == (10_147, 4, 4)


def test_work_can_be_stopped(monkeypatch):
    def stop(*_):
        raise Cancelled("Counting was asked for.")

    monkeypatch.setattr(counting, "count_part", _too_many)
    with pytest.raises(Cancelled):
        count_tables(square(4, 4), progress=stop)


def test_a_table_without_open_cells():
    known = CountConstraints.of((2, 2), [((0, 1), [[1, 2], [3, 4]])])
    assert count_tables(known) == 1
    assert list_tables(known).tolist() == [[[1, 2], [3, 4]]]
