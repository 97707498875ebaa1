from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.tables.axes import Axis, cell_words
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, check_truth, make_release
from gamekeeper.data.tables.release_file import (
    align_truth,
    join_releases,
    read_release,
    read_release_and_truth,
    write_release,
)
from gamekeeper.errors import InputError, Reason, StoreError
from tests.given.count_tables import random_release, truths

AXES = {"age": ["16-17", "18-24"], "wörk": ["yes", "no"]}
PLAIN = {
    "format": "gamekeeper-release",
    "version": 1,
    "title": "A town",
    "axes": [
        {"name": "age", "categories": ["16-17", "18-24"]},
        {"name": "work", "categories": ["yes", "no"]},
    ],
    "published": [
        {"name": "all", "margin": ["age", "work"], "scheme": "conventional:3",
         "counts": [[0, 3], [None, 6]], "hidden": [1, 4]},
        {"margin": ["age"], "scheme": "interval", "counts": [[2, 9], [4, None]]},
        {"margin": ["age"], "scheme": "interval:0,5", "name": "wide", "counts": [[0, 4], [5, None]]},
        {"margin": ["age"], "name": "joined", "counts": [12],
         "groups": {"age": {"any": ["16-17", "18-24"]}}},
        {"margin": [], "counts": 12},
    ],
    "truth": [[1, 2], [3, 6]],
}  # fmt: skip


def written(folder, **changed):
    path = Path(folder, "release.json")
    tree = {field: value for field, value in {**PLAIN, **changed}.items() if value != "gone"}
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def refusal(path):
    with pytest.raises(InputError) as refused:
        read_release(path)
    return refused.value


def same(first, second):
    assert first.fingerprint == second.fingerprint
    assert first.axes == second.axes
    assert first.title == second.title
    for one, other in zip(first.published, second.published, strict=True):
        assert (one.name, one.axes, one.scheme, one.hidden) == (
            other.name, other.axes, other.scheme, other.hidden,
        )  # fmt: skip
        for mine, yours in zip(one.limits, other.limits, strict=True):
            assert np.array_equal(mine, yours)
    for margin, twin in zip(first.constraints.margins, second.constraints.margins, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(margin.groups, twin.groups, strict=True))


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(truths(), st.randoms(use_true_random=False))
def test_what_was_written_is_read(truth, random):
    release = random_release(truth, random)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.json")
        write_release(release, path)
        found, nothing = read_release_and_truth(path)
        same(found, release)
        assert nothing is None
        write_release(release, path, truth)
        found, again = read_release_and_truth(path)
        same(found, release)
        assert again.fingerprint == truth.fingerprint


def test_a_file_by_hand(tmp_path):
    release, truth = read_release_and_truth(written(tmp_path))
    assert truth.dense().tolist() == [[1, 2], [3, 6]]
    assert release.title == "A town"
    assert release.row_words(5) == "table 'age', age=18-24: published 4 or more"
    assert release.published[2].counts.tolist() == [0, 5]
    assert release.constraints.margins[3].shape == (1, 1)
    write_release(release, tmp_path / "again.json", truth)
    same(read_release(tmp_path / "again.json"), release)
    text = (tmp_path / "again.json").read_text(encoding="utf-8")
    assert "[4, null]" in text
    assert text.count("\n") == 15


def test_labels_of_any_script_and_a_byte_order_mark(tmp_path):
    release = Release.typed(AXES, [{"margin": ["wörk"], "counts": [1, 2]}], "Städte")
    path = tmp_path / "release.json"
    write_release(release, path)
    same(read_release(path), release)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    same(read_release(path), release)


def test_true_counts_are_written_only_when_given(tmp_path):
    truth = CountTable.typed({"a": ["x", "y"]}, [918273, 1])
    release = make_release(truth, [("a",)], "suppressed")
    write_release(release, tmp_path / "release.json")
    assert "918273" not in (tmp_path / "release.json").read_text()


def test_a_sparse_truth_keeps_its_cells(tmp_path):
    axes = [Axis(f"v{k}", tuple(map(str, range(40)))) for k in range(5)]
    truth = CountTable.of_cells(axes, [3, 40**5 - 1], [5, 1])
    release = make_release(truth, [("v0",), ()])
    write_release(release, tmp_path / "release.json", truth)
    found = read_release_and_truth(tmp_path / "release.json")[1]
    assert found.is_sparse
    assert found.fingerprint == truth.fingerprint


def test_a_truth_of_other_people_is_neither_read_nor_written(tmp_path):
    error = refusal(written(tmp_path, truth=[[918273, 2], [3, 6]]))
    assert error.reason is Reason.CONFLICTING_COUNTS
    assert "918273" not in str(error)
    release = read_release(written(tmp_path))
    with pytest.raises(InputError):
        write_release(
            release, tmp_path / "no.json", CountTable(release.axes, np.zeros((2, 2), int))
        )
    assert not (tmp_path / "no.json").exists()


def test_all_problems_of_a_file_are_told_at_once(tmp_path):
    tables = [
        {"margin": ["age"], "scheme": "conventional:4", "counts": [1, 2]},
        {"margin": ["work"], "scheme": "conventional:3", "counts": [1, 3]},
        {"margin": ["wrk"], "counts": [1, 3]},
    ]
    error = refusal(
        written(tmp_path, published=tables, truth=[[1, -2], [3, "x"]], titel="", title=3)
    )
    text = str(error)
    for words in (
        "'titel'",
        "Near to it: 'title'",
        "title: is no text",
        "is even",
        "'wrk'",
        "truth: 1 count is below 0 (age=16-17, work=no)",
        "truth: 1 count is a text",
        "table 'work', work=yes: the published count 1",
    ):
        assert words in text, words


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"format": "other"}, Reason.WRONG_SCHEMA),
        ({"format": "gone"}, Reason.WRONG_SCHEMA),
        ({"version": 2}, Reason.NEWER_VERSION),
        ({"version": "1"}, Reason.WRONG_SCHEMA),
        ({"version": True}, Reason.WRONG_SCHEMA),
        ({"axes": "gone"}, Reason.WRONG_SCHEMA),
        ({"axes": [{"name": "age"}]}, Reason.WRONG_SCHEMA),
        ({"axes": [{"name": "age", "categories": [1, 2]}]}, Reason.WRONG_SCHEMA),
        ({"axes": [{"name": "age", "categories": ["a", "a"]}]}, Reason.DUPLICATE),
        ({"published": "gone"}, Reason.WRONG_SCHEMA),
        ({"published": [3]}, Reason.WRONG_SCHEMA),
        ({"published": []}, Reason.NOTHING_GIVEN),
        ({"truth": 3}, Reason.MALFORMED),
        ({"truth": {"cells": [1, 0], "counts": [1, 2]}}, Reason.MALFORMED),
        ({"truth": {"cells": [0, 1], "counts": [1]}}, Reason.MALFORMED),
        ({"truth": {"cells": [0, 1], "counts": [1, -1]}}, Reason.BAD_COUNT),
        ({"truth": {"cells": [0, 1]}}, Reason.BAD_COUNT),
    ],
)
def test_files_that_are_no_releases(tmp_path, changed, reason):
    assert refusal(written(tmp_path, **changed)).reason is reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Reason.MALFORMED),
        (b"[" * 100_000, Reason.MALFORMED),
        (b'{"format": "gamekeeper-release"', Reason.MALFORMED),
        (b"[1]", Reason.WRONG_SCHEMA),
        (b"\xff\xfe\x00", Reason.WRONG_ENCODING),
        (b'{"a": 1, "a": 2}', Reason.DUPLICATE),
        (b'{"version": 1' + b"0" * 5000 + b"}", Reason.MALFORMED),
    ],
)
def test_broken_files(tmp_path, content, reason):
    path = tmp_path / "release.json"
    path.write_bytes(content)
    assert refusal(path).reason is reason


def test_counts_that_are_no_numbers_in_json(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text().replace('"counts": 12', '"counts": NaN'))
    error = refusal(path)
    assert error.reason is Reason.BAD_COUNT
    assert "table 'total': 1 count is no whole number (total)" in str(error)


def test_missing_files_and_folders(tmp_path):
    assert refusal(tmp_path / "none.json").reason is Reason.NOT_FOUND
    assert refusal(tmp_path).reason is Reason.NOT_READABLE
    release = read_release(written(tmp_path))
    with pytest.raises(StoreError) as refused:
        write_release(release, tmp_path / "none" / "release.json")
    assert refused.value.reason is Reason.NOT_WRITABLE
    with pytest.raises(StoreError):
        write_release(release, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["release.json"]


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
