"""Sampling fractions of cells, against records looked up one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.models.inference.cell_fractions import learn_fractions
from gamekeeper.errors import InputError


def looked_up(codes, fractions, variables, cell):
    """Return the harmonic mean over records like the cell on as many variables as some have."""
    for n in range(len(variables), -1, -1):
        like = [
            fraction
            for row, fraction in zip(codes.tolist(), fractions, strict=True)
            if all(row[v] == cell[v] for v in variables[:n])
        ]
        if like:
            return len(like) / sum(1 / fraction for fraction in like)
    raise AssertionError("No record at all.")


records = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from([0.01, 0.2, 1.0])),
    min_size=1,
    max_size=40,
)


@settings(deadline=None, max_examples=100)
@given(records)
def test_a_cell_has_the_harmonic_mean_of_the_records_like_it(rows):
    codes = np.array([row[:2] for row in rows])
    fractions = [row[2] for row in rows]
    found = learn_fractions(codes, fractions)
    cells = np.array([(a, b) for a in range(4) for b in range(5)])
    wanted = [looked_up(codes, fractions, found.variables, cell) for cell in cells.tolist()]
    assert found.of(cells) == pytest.approx(wanted)
    assert found.people_per_record(cells) == pytest.approx(1 / np.array(wanted))
    assert (found.lowest, found.highest) == (min(fractions), max(fractions))


def test_the_variables_that_tell_the_fraction_are_found_and_no_others():
    codes = np.random.default_rng(1).integers(0, 4, (600, 5))
    by_one = np.where(codes[:, 3] == 2, 0.2, 0.01)
    found = learn_fractions(codes, by_one)
    assert found.variables == (3,)
    # Exactly, so that a stratum in the key is as good as its fraction given by hand.
    assert set(found.of(codes).tolist()) == {1 / (1 / 0.2), 1 / (1 / 0.01)}
    by_two = np.where((codes[:, 3] == 2) | (codes[:, 0] == 1), 0.2, 0.01)
    assert set(learn_fractions(codes, by_two).variables) == {0, 3}
    by_none = np.where(np.random.default_rng(2).random(600) < 0.5, 0.2, 0.01)
    alone = learn_fractions(codes, by_none)
    assert alone.variables == ()
    # Then it is the fraction of the file: records over people.
    assert alone.of(codes) == pytest.approx(600 / (1 / by_none).sum())


def test_equal_fractions_need_no_variable():
    codes = np.random.default_rng(1).integers(0, 4, (50, 3))
    found = learn_fractions(codes, np.full(50, 0.05))
    assert found.variables == ()
    assert found.of(codes) == pytest.approx(0.05, rel=1e-15)
    assert "0.05 to 0.05, told by 0 variables" in repr(found)


def test_wrong_fractions_are_refused():
    codes = np.zeros((3, 2), dtype=int)
    for wrong in ([0.1, 0.1], [0.1, 0, 0.1], [0.1, 1.5, 0.1], [0.1, np.nan, 0.1]):
        with pytest.raises(InputError):
            learn_fractions(codes, wrong)
    with pytest.raises(InputError):
        learn_fractions(codes[:0], [])


@given(records, st.data())
def test_a_row_may_stand_for_several_records(rows, data):
    each = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    codes, fractions = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    found = learn_fractions(codes, fractions, np.array(each))
    whole = learn_fractions(np.repeat(codes, each, axis=0), np.repeat(fractions, each))
    assert found.variables == whole.variables
    # To the last digit: who stands for whom must not be seen in a result.
    assert found.of(codes).tolist() == whole.of(codes).tolist()
