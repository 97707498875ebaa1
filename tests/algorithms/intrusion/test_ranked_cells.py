"""The cells that an intruder with models takes, against a slow twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.intrusion.ranked_cells import choose_cells

cells = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(1, 40), st.integers(0, 100)),
    min_size=1,
    max_size=12,
)


def taken_until(order, people, most):
    taken, total = set(), 0.0
    for place in order:
        total += people[place]
        if total > most * (1 + 1e-9):
            break
        taken.add(place)
    return taken


@given(cells, st.integers(1, 5))
def test_they_are_those_of_the_twin(given_cells, top):
    sample = [f for f, _, _, _ in given_cells]
    people = [f + more for f, more, _, _ in given_cells]
    expected = [f + size / 10 for f, _, size, _ in given_cells]
    chance = [number / 100 for _, _, _, number in given_cells]
    found = choose_cells(
        np.array(chance), np.array(expected), np.array(sample), np.array(people), top=top
    )
    sampled = [place for place, f in enumerate(sample) if f]
    best = sorted(sampled, key=lambda place: (-chance[place], place))[:top]
    order = sorted(sampled, key=lambda place: (expected[place], place))
    alone = [place for place, f in enumerate(sample) if f == 1]
    assert set(np.flatnonzero(found["top"])) == set(best)
    assert set(np.flatnonzero(found["mcmcmc1"])) == taken_until(
        order, people, sum(people[place] for place in alone)
    )
    assert set(np.flatnonzero(found["mcmcmc2"])) == taken_until(
        order, expected, sum(expected[place] for place in alone)
    )


@given(cells, st.integers(1, 5), st.lists(st.integers(-3, 3), min_size=12, max_size=12))
def test_the_last_digits_make_no_difference(given_cells, top, ulps):
    sample = np.array([f for f, _, _, _ in given_cells])
    people = sample + np.array([more for _, more, _, _ in given_cells])
    expected = np.array([f + size / 10 for f, _, size, _ in given_cells])
    chance = np.array([number / 100 for _, _, _, number in given_cells])
    noise = 1 + np.array(ulps[: len(sample)]) * np.finfo(float).eps
    found = choose_cells(chance, expected, sample, people, top=top)
    again = choose_cells(chance * noise, expected * noise, sample, people, top=top)
    assert all(np.array_equal(found[way], again[way]) for way in found)
