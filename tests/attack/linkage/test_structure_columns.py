from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gamekeeper.algorithms.structure.clusterings import normalise
from gamekeeper.algorithms.structure.steadiness import steadiness
from gamekeeper.attack.linkage.structure import link_structure
from gamekeeper.attack.linkage.structure_columns import MOST_CATEGORIES, structure_columns
from tests.given.linked_files import AGE, STATUS, file_of


def distances(columns, graphs=None):
    found = structure_columns(file_of(columns), list(columns), ".", graphs or {}, "first")
    assert not found.problems
    scaled = normalise(found.values) * found.weights
    return cdist(scaled, scaled, "cityblock"), found


def test_categories_are_one_apart_and_missing_ones_in_between():
    found, told = distances({"s": ["f", "m", "f", None], "x": [1, 1, 1, 1]})
    assert found[0].tolist() == pytest.approx([0, 1, 0, 1 / 3])
    assert "compared as categories: 's'" in told.notes[0]
    assert told.notes[1] == "Cells of the first file that are missing, 1 in all, count as means."


def test_categories_of_a_partition_graph_are_apart_by_their_sinks():
    statuses = ["single", "not married", "married", "formerly married"]
    found, _ = distances({"Status": statuses}, {"Status": STATUS})
    # "not married" is three sinks, of which "single" is one; "married" has none of them.
    assert found[0, 1] == pytest.approx(1 - 1 / 3)
    assert found[0, 2] == pytest.approx(1)
    assert found[1, 3] == pytest.approx(1 - 2 / 3)
    bands, _ = distances({"Age": ["0-15", "0-24", "65+"]}, {"Age": AGE})
    assert bands[0, 2] == pytest.approx(1)
    assert 0 < bands[0, 1] < 1


def test_numbers_stay_numbers_and_missing_ones_are_the_mean():
    found, _ = distances({"x": [0, 10, None, 5]})
    assert found[0].tolist() == pytest.approx([0, 1, 0.5, 0.5])


def test_names_and_unknown_categories_are_refused_without_their_values():
    names = [f"name{k}" for k in range(MOST_CATEGORIES + 1)]
    for columns, graphs in (
        ({"n": names}, {}),
        ({"Status": ["SECRET", "single"]}, {"Status": STATUS}),
        ({"x": ["1e400", "1"]}, {}),
    ):
        found = structure_columns(file_of(columns), list(columns), ".", graphs, "first")
        assert len(found.problems) == 1
        assert "SECRET" not in str(found.problems)
        assert "name1" not in str(found.problems)


def test_links_by_structure_are_believed_where_halves_agree_and_not_for_noise():
    rng = np.random.default_rng(1)
    # Every column tells the same: how far along a line a record is.
    places = np.sort(rng.random(20)) ** 3
    order = rng.permutation(20)
    a, b = (np.outer(places, rng.uniform(1, 2, 12)) for _ in range(2))
    shared = link_structure(a, b[order], truth=np.argsort(order))
    noise = link_structure(rng.normal(size=(25, 8)), rng.normal(size=(25, 8)), truth=np.arange(25))
    assert noise.believable == "no"
    assert noise.sentences()[0].startswith("Nothing shows that the links can be believed")
    assert (shared.believable, shared.n_correct) == ("yes", 20)
    assert shared.sentences()[0].startswith("The links can be believed: from halves")
    assert shared.by_links.n_correct == 20
    assert shared.to_arrow()["came_back"].to_pylist() == [1.0] * 20
    assert link_structure(a, b, halves=0).believable is None


def test_files_of_few_columns_have_no_halves():
    narrow = np.zeros((3, 3))
    assert steadiness(narrow, narrow, np.arange(3), lambda x, y: np.arange(3), n_runs=4) is None
