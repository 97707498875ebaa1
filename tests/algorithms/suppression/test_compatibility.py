from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms import classes
from gamekeeper.algorithms.classes import CellSets, KeyFields, distinct_rows
from gamekeeper.algorithms.suppression import compatibility
from gamekeeper.algorithms.suppression.compatibility import count_candidates, find_matchings
from gamekeeper.errors import LimitError
from tests.twins.who_is_who import (
    balanced,
    counts,
    fits,
    fits_of_sets,
    holds,
    matchings,
    matchings_of_sets,
    stars_of,
)


@st.composite
def masked_files(draw: st.DrawFn, most: int = 8) -> tuple[np.ndarray, np.ndarray]:
    n, width = draw(st.integers(1, most)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 2), min_size=width, max_size=width)
    rows = draw(st.lists(cells, min_size=n, max_size=n))
    sets = draw(st.lists(st.integers(0, 2**width - 1), min_size=n, max_size=n))
    return np.array(rows), np.array(sets, dtype=np.uint64)


@given(masked_files())
def test_counts_are_those_of_trying_everybody_with_every_row(file):
    rows, sets = file
    found = count_candidates(rows, rows, sets, wildcard=True)
    expected = counts(rows.tolist(), stars_of(sets))
    assert found.own.tolist() == expected["own"]
    assert found.released_to_people.tolist() == expected["released_to_people"]
    assert found.people_to_released.tolist() == expected["people_to_released"]
    assert found.wildcard is not None
    assert found.wildcard.tolist() == expected["wildcard"]
    assert found.right is not None
    assert found.right.tolist() == pytest.approx(balanced(rows.tolist(), stars_of(sets)))


@given(masked_files())
def test_own_implies_both_implies_either_implies_wildcard(file):
    rows, sets = file
    for k in (1, 2, 3):
        held = holds(rows.tolist(), stars_of(sets), k)
        assert held["own"] <= held["both"] <= held["released_to_people"] <= held["wildcard"]
        assert held["both"] <= held["people_to_released"] <= held["wildcard"]


@given(masked_files(), st.randoms())
def test_the_order_of_records_changes_nothing(file, random):
    rows, sets = file
    order = list(range(len(rows)))
    random.shuffle(order)
    one, other = (
        count_candidates(rows, rows, sets),
        count_candidates(rows[order], rows[order], sets[order]),
    )
    assert one.people_to_released[order].tolist() == other.people_to_released.tolist()
    assert one.right is not None
    assert other.right is not None
    assert one.right[order].tolist() == other.right.tolist()


@given(masked_files(), st.data())
def test_what_is_not_known_of_people_fits_anything(file, data):
    rows, sets = file
    width = rows.shape[1]
    drawn = st.lists(st.integers(0, 2**width - 1), min_size=len(rows), max_size=len(rows))
    unknown = data.draw(drawn)
    found = count_candidates(rows, rows, sets, unknown=np.array(unknown, dtype=np.uint64))
    own, stars = stars_of(unknown), stars_of(sets)
    n = range(len(rows))
    fit = [[fits(rows[i], rows[j], stars[j] | own[i]) for j in n] for i in n]
    assert found.people_to_released.tolist() == [sum(line) for line in fit]
    assert found.released_to_people.tolist() == [sum(line[j] for line in fit) for j in n]


def test_a_released_file_of_other_people_has_no_right_rows():
    people, rows = np.array([[1, 1], [2, 2]]), np.array([[1, 1], [1, 1], [3, 1]])
    found = count_candidates(people, rows, np.zeros(3, dtype=np.uint64))
    assert found.people_to_released.tolist() == [2, 0]
    assert found.released_to_people.tolist() == [1, 1, 0]
    assert found.right is None
    told = count_candidates(people, rows, np.zeros(3, dtype=np.uint64), truth=np.array([1, 2]))
    assert told.right is not None
    # The second person's row was changed: it does not fit any more.
    assert told.right.tolist() == pytest.approx([0.5, 0.0])


def test_many_columns_take_several_words_and_are_compared_exactly():
    random = np.random.default_rng(3)
    rows = random.integers(0, 3, (60, 12)).astype(np.uint32)
    rows[:, 5] *= 1_000_000_000
    rows[:, 7] += 4_000_000_000
    rows = np.concatenate([rows, rows[:20]])
    assert KeyFields.for_codes(rows).n_words > 1
    sets = random.integers(0, 2**12, len(rows)).astype(np.uint64)
    found = count_candidates(rows, rows, sets, wildcard=True)
    expected = counts(rows.tolist(), stars_of(sets))
    assert found.people_to_released.tolist() == expected["people_to_released"]
    assert found.own.tolist() == expected["own"]


@given(masked_files(most=6))
def test_matchings_are_those_of_trying_every_assignment(file):
    rows, sets = file
    found = find_matchings(rows, sets)
    number, shares, candidates = matchings(rows.tolist(), stars_of(sets))
    assert (found.number, list(found.right)) == (number, shares)
    assert found.candidates.tolist() == candidates
    assert found.expected == sum(shares)


def test_a_part_that_is_too_large_to_count_is_said_to_be():
    # A ring: nobody is alike, and all are in one part.
    n = 20
    rows = np.array([[i, (i + 1) % n] for i in range(n)])
    rows = np.array([[i // 2, (i + 1) // 2 % (n // 2)] for i in range(n)])
    sets = np.array([2 if i % 2 else 1 for i in range(n)], dtype=np.uint64)
    found = find_matchings(rows, sets)
    assert len(set(found.parts.tolist())) == 1
    assert found.candidates.tolist() == [2] * n
    assert (found.expected, found.number, found.n_known) == (None, None, 0)


def test_rows_are_kept_once_with_how_often_they_occur():
    rows = np.array([[1, 2], [1, 3], [1, 2]])
    fields = KeyFields.for_codes(rows)
    found = distinct_rows(fields, fields.pack(rows))
    assert sorted(found.counts.tolist()) == [1, 2]
    assert found.counts[found.row_of].tolist() == [2, 1, 2]


@st.composite
def overlapping_files(draw: st.DrawFn, most: int = 8):
    """People, rows in categories of their own that can stand for several values, and open cells."""
    n, width, n_values = draw(st.integers(1, most)), draw(st.integers(1, 3)), 5
    held = {}
    people, rows = np.zeros((n, width), np.int64), np.zeros((n, width), np.int64)
    for column in range(width):
        values = draw(st.lists(st.integers(0, n_values - 1), min_size=n, max_size=n))
        people[:, column] = values
        sets = draw(st.lists(st.frozensets(st.integers(0, n_values - 1)), min_size=1, max_size=6))
        if draw(st.booleans()):
            chosen = st.integers(0, len(sets) - 1)
            rows[:, column] = draw(st.lists(chosen, min_size=n, max_size=n))
            held[column] = CellSets.of([np.array(sorted(own), np.int64) for own in sets], n_values)
        else:
            rows[:, column] = draw(st.permutations(values))
    stars = draw(st.lists(st.integers(0, 2**width - 1), min_size=n, max_size=n))
    return people, rows, np.array(stars, dtype=np.uint64), held, n_values


def cells_of(rows, stars, held, n_values):
    """The sets as they are told by `CellSets.table`, one per cell."""

    def cell(row, column):
        if int(stars[row]) >> column & 1:
            return frozenset(range(n_values))
        code = int(rows[row, column])
        if column not in held:
            return frozenset([code])
        return frozenset(np.flatnonzero(held[column].table()[code]).tolist())

    return [[cell(i, c) for c in range(rows.shape[1])] for i in range(len(rows))]


@given(overlapping_files(), st.data())
def test_cells_that_stand_for_several_values_are_counted_over_sets(file, data):
    people, rows, stars, held, n_values = file
    n, width = rows.shape
    drawn = st.lists(st.integers(0, 2**width - 1), min_size=n, max_size=n)
    unknown = np.array(data.draw(drawn), dtype=np.uint64) if data.draw(st.booleans()) else None
    found = count_candidates(people, rows, stars, held=held, unknown=unknown)
    cells = cells_of(rows, stars, held, n_values)
    fit = fits_of_sets(people.tolist(), cells)
    if unknown is not None:
        of_people = cells_of(people, unknown, {}, n_values)
        # Not known of a person is any value, so that she fits whatever is there.
        fit = [
            [all(len(v) > 1 or v <= own for v, own in zip(p, row, strict=True)) for row in cells]
            for p in of_people
        ]
    assert found.people_to_released.tolist() == [sum(line) for line in fit]
    assert found.released_to_people.tolist() == [sum(line[j] for line in fit) for j in range(n)]
    assert found.right is not None
    assert ((found.right > 0) == [fit[i][i] for i in range(n)]).all()


@given(overlapping_files(most=6))
def test_matchings_of_sets_are_those_of_trying_every_assignment(file):
    people, rows, stars, held, n_values = file
    cells = cells_of(rows, stars, held, n_values)
    n = len(rows)
    # Everybody fits her own row: what does not is suppressed.
    for i in range(n):
        for c in range(rows.shape[1]):
            if int(people[i, c]) not in cells[i][c]:
                stars[i] |= np.uint64(1 << c)
    cells = cells_of(rows, stars, held, n_values)
    found = find_matchings(people, stars, rows, held)
    number, shares, candidates = matchings_of_sets(people.tolist(), cells)
    assert (found.number, list(found.right)) == (number, shares)
    assert found.candidates.tolist() == candidates


@given(st.lists(st.frozensets(st.integers(0, 6)), max_size=8))
def test_sets_are_dealt_to_levels_without_loss(sets):
    found = CellSets.of([np.array(sorted(own), np.int64) for own in sets], 7)
    told = [frozenset(np.flatnonzero(line).tolist()) for line in found.table()]
    assert told == sets
    assert found.overlap == (len(frozenset().union(*sets)) < sum(map(len, sets)))


def test_bands_of_one_width_take_as_many_levels_as_overlap():
    bands = [np.arange(low, low + 5) for low in range(96)]
    assert len(CellSets.of(bands, 100).category_at) == 5


def test_what_would_take_hours_or_too_much_memory_is_refused(monkeypatch):
    bands = [np.arange(low, low + 5) for low in range(46)]
    rows = np.arange(46)[:, None]
    held = {0: CellSets.of(bands, 50)}
    stars = np.zeros(46, dtype=np.uint64)
    monkeypatch.setattr(classes, "_MOST_COMPARED", 100)
    with pytest.raises(LimitError, match="stand for several values"):
        count_candidates(rows, rows, stars, held=held)
    monkeypatch.setattr(classes, "_MOST_COMPARED", 10**9)
    monkeypatch.setattr(compatibility, "MOST_LINKS", 100)
    with pytest.raises(LimitError, match="assignments"):
        find_matchings(rows, stars, rows, held)
    monkeypatch.setattr(classes, "MOST_HELD", 100)
    with pytest.raises(LimitError, match="overlap"):
        CellSets.of(bands, 50)
