"""Bounds of published tables, where there are any: the environment variable GAMEKEEPER_DATA."""

from __future__ import annotations

import csv
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gamekeeper.algorithms.bounds.shuttle import Shuttle
from gamekeeper.algorithms.releases.constraints import CountConstraints


def read(name):
    """Return the counts and, where the file has them, the bounds."""
    path = Path(os.environ.get("GAMEKEEPER_DATA", ""), "tables", name)
    if "GAMEKEEPER_DATA" not in os.environ or not path.is_file():
        pytest.skip(f"GAMEKEEPER_DATA does not name a folder with tables/{name}")
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    n_axes = header.index("n")
    categories = [sorted({line[axis] for line in lines}) for axis in range(n_axes)]
    numbers = np.zeros((len(header) - n_axes, *map(len, categories)), np.int64)
    for line in lines:
        cell = tuple(of_axis.index(line[axis]) for axis, of_axis in enumerate(categories))
        numbers[(slice(None), *cell)] = [int(float(text)) for text in line[n_axes:]]
    return header[:n_axes], numbers


def margins_of(truth, margins):
    return CountConstraints.of(
        truth.shape,
        [
            (axes, truth.sum(axis=tuple(axis for axis in range(truth.ndim) if axis not in axes)))
            for axes in margins
        ],
    )


@pytest.mark.parametrize(
    ("name", "n_axes"),
    [
        ("czech_autoworkers_bounds_all_2way.csv", 2),
        ("czech_autoworkers_bounds_all_5way.csv", 5),
        ("hair_eye_colour_bounds_all_2way.csv", 2),
        ("ucb_admissions_bounds_all_2way.csv", 2),
    ],
)
def test_tight_bounds_are_the_published_ones(name, n_axes):
    _, (truth, lower, upper) = read(name)
    known = margins_of(truth, combinations(range(truth.ndim), n_axes))
    tight = Shuttle(known).tighten()
    assert tight.is_complete
    assert np.array_equal(tight.lower, lower)
    assert np.array_equal(tight.upper, upper)


@pytest.mark.parametrize(
    ("name", "margins"),
    [
        ("czech_autoworkers_bounds_BF_ABCE_ADE.csv", ("BF", "ABCE", "ADE")),
        ("hair_eye_colour_bounds_HE_HS.csv", ("HE", "HS")),
    ],
)
def test_the_fixed_point_is_tight_for_decomposable_margins(name, margins):
    names, (truth, lower, upper) = read(name)
    letters = [name[0] for name in names]
    known = margins_of(truth, [[letters.index(letter) for letter in axes] for axes in margins])
    shuttle = Shuttle(known).run()
    assert np.array_equal(shuttle.lower, lower)
    assert np.array_equal(shuttle.upper, upper)
    assert shuttle.tighten().is_complete


def test_four_way_margins_determine_the_rochdale_table():
    _, (truth,) = read("rochdale_2x8.csv")
    shuttle = Shuttle(margins_of(truth, combinations(range(8), 4))).run()
    assert shuttle.n_nodes == 6561
    assert np.array_equal(shuttle.lower, truth)
    assert np.array_equal(shuttle.upper, truth)


def test_two_way_margins_of_the_rochdale_table_are_made_exact():
    _, (truth,) = read("rochdale_2x8.csv")
    tight = Shuttle(margins_of(truth, combinations(range(8), 2))).tighten()
    assert tight.is_complete
    assert np.all(tight.lower <= truth)
    assert np.all(truth <= tight.upper)
