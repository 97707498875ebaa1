from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.data.tables.axes import Axis, cell_words
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, check_truth, make_release
from gamekeeper.data.tables.release_joining import align_truth, join_releases
from gamekeeper.errors import InputError, Reason
from tests.given.count_tables import random_release, truths


def shuffled(truth, random):
    """Return the same table with its axes and their categories in another order."""
    order = random.sample(range(len(truth.axes)), len(truth.axes))
    counts = truth.dense().transpose(order)
    axes = []
    for place, axis in enumerate(order):
        names = truth.axes[axis].categories
        new = random.sample(range(len(names)), len(names))
        counts = np.take(counts, new, place)
        axes.append(Axis(truth.axes[axis].name, tuple(names[k] for k in new)))
    return CountTable(tuple(axes), counts)


@given(truths(), st.randoms(use_true_random=False))
def test_releases_of_one_table_are_one_release(truth, random):
    parts = [random_release(shuffled(truth, random), random) for _ in range(random.randint(1, 3))]
    joined = join_releases(parts, "all")
    assert set(joined.names) == set(truth.names)
    assert joined.title == "all"
    assert len(joined.published) == sum(len(part.published) for part in parts)
    assert len({table.name for table in joined.published}) == len(joined.published)
    # Whatever the order, the truth fits, and each count is of the same people.
    aligned = align_truth(joined, truth)
    check_truth(joined, aligned)
    assert joined.constraints.admits(aligned.dense())
    words = [
        f"{_cell(part, row)} {part.row_words(row).rpartition(': ')[2]}"
        for part in parts
        for row in range(len(part.constraints.rows))
    ]
    again = [
        f"{_cell(joined, row)} {joined.row_words(row).rpartition(': ')[2]}"
        for row in range(len(joined.constraints.rows))
    ]
    assert sorted(words) == sorted(again)


def _cell(release, row):
    """Return the base cells of a row as sorted words, whatever the order of axes."""
    rows = release.constraints.rows
    cells = rows.cells[rows.starts[row] : rows.starts[row + 1]].tolist()
    return sorted(tuple(sorted(cell_words(release.axes, cell).split(", "))) for cell in cells)


@given(truths(), st.randoms(use_true_random=False))
def test_a_truth_in_another_order_is_the_same(truth, random):
    release = make_release(truth, [truth.names])
    aligned = align_truth(release, shuffled(truth, random))
    assert aligned.axes == truth.axes
    assert np.array_equal(aligned.dense(), truth.dense())


def test_categories_without_people_may_be_left_out_of_the_truth():
    release = Release.typed({"sex": ["f", "m", "x"]}, [{"margin": ["sex"], "counts": [3, 1, 0]}])
    aligned = align_truth(release, CountTable.typed({"sex": ["m", "f"]}, [1, 3]))
    assert aligned.dense().tolist() == [3, 1, 0]


def test_tables_of_the_same_name_are_numbered():
    one = Release.typed(
        {"sex": ["f", "m"]},
        [{"margin": ["sex"], "counts": [3, 1]}, {"margin": [], "counts": 4}],
    )
    two = Release.typed({"sex": ["m", "f"]}, [{"margin": ["sex"], "counts": [0, 3]}])
    joined = join_releases([one, two])
    assert [table.name for table in joined.published] == ["sex (1)", "total", "sex (2)"]
    assert joined.published[2].counts.tolist() == [3, 0]


def test_axes_that_do_not_match_are_all_named():
    one = Release.typed(
        {"sex": ["f", "m"], "age": ["old", "young"]}, [{"margin": ["sex"], "counts": [3, 1]}]
    )
    two = Release.typed(
        {"sex": ["f", "male"], "age": ["old"]}, [{"margin": ["sex"], "counts": [3, 1]}]
    )
    with pytest.raises(InputError) as caught:
        join_releases([one, two])
    told = [str(problem) for problem in caught.value.problems]
    assert caught.value.reason is Reason.WRONG_SCHEMA
    assert told[0].startswith("axis 'sex': 2 categories are not in all tables: 'm', 'male'.")
    assert told[1].startswith("axis 'age': 1 category is not in all tables: 'young'.")


def test_a_truth_that_does_not_match_says_why():
    release = Release.typed(
        {"sex": ["f", "m"], "age": ["old", "young"]}, [{"margin": ["sex"], "counts": [3, 1]}]
    )
    truth = CountTable.typed({"sex": ["f", "man"], "work": ["yes"]}, [[3], [1]])
    with pytest.raises(InputError) as caught:
        align_truth(release, truth)
    assert [str(problem) for problem in caught.value.problems] == [
        "axis 'age': the truth does not have it.",
        "axis 'work': the release does not have it.",
        "axis 'sex': the release lacks 1 category of the truth.",
    ]
