"""Masked versions of one file compared."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.attack.linkage.columns.variables import LinkVariable
from gamekeeper.attack.linkage.evaluation import compare_maskings
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.errors import InputError
from tests.given.linked_files import file_of

N = 40
VARIABLES = [LinkVariable("x", kind="number"), LinkVariable("y", kind="number")]
TRUTH = np.arange(N)


def versions():
    """Return a file and versions of it with more and more noise."""
    rng = np.random.default_rng(5)
    values = {name: rng.normal(0, 10, N) for name in "xy"}

    def noisy(deviation):
        return file_of({name: part + rng.normal(0, deviation, N) for name, part in values.items()})

    return file_of(values), {"mild": noisy(0.01), "fair": noisy(3), "strong": noisy(1_000)}


def compared(**options):
    original, masked = versions()
    truths = dict.fromkeys(masked, TRUTH)
    return compare_maskings(original, masked, VARIABLES, truths=truths, **options)


def test_more_noise_is_less_risk():
    found = compared()
    rates = found.summary()
    assert list(rates) == ["mild", "fair", "strong"]
    assert rates["mild"] == 1 > rates["fair"] > rates["strong"]
    said = found.sentences()
    assert said[0].startswith("mild: 40 of 40 records re-identified, 100.0% (91.2% to 100.0%), by")
    assert [sentence.split(":")[0] for sentence in said] == ["mild", "fair", "strong"]


def test_every_row_is_what_link_files_finds():
    original, masked = versions()
    found = compared(objectives=["equal", "mahalanobis"], methods=["optimal", "greedy", "nearest"])
    rows = found.to_arrow().to_pylist()
    assert len(rows) == 3 * 2 * 3
    assert found.methods[:3] == ("optimal, equal", "greedy, equal", "nearest, equal")
    for row in rows:
        method, objective = row["linked_by"].split(", ")
        alone = link_files(
            masked[row["version"]], original, VARIABLES,
            objective=objective, method=method, truth=TRUTH,
        )  # fmt: skip
        assert row["records"] == row["links"] == N
        assert row["correct"] == alone.n_correct
        assert row["rate"] == alone.n_correct / N
        assert (row["lower"], row["upper"]) == share_interval(alone.n_correct, N)
        assert row["by_chance"] == pytest.approx(1 / N)
        assert row["median_margin"] == pytest.approx(np.median(alone.margins))
        if method == "nearest":
            assert row["gap_to_bound"] is None
        else:
            assert -1e-9 <= row["gap_to_bound"] <= 1
            assert method == "greedy" or row["gap_to_bound"] < 1e-9
    for version, name in enumerate(found.names):
        most = max(row["correct"] for row in rows if row["version"] == name)
        assert found.best(version).n_correct == most


def test_a_version_may_leave_records_out():
    original, masked = versions()
    part = file_of({"x": ["1.5"], "y": ["2"]})
    found = compare_maskings(
        original,
        {"part": part, **masked},
        VARIABLES,
        truths={"part": [3], **dict.fromkeys(masked, TRUTH)},
    )
    assert found.to_arrow().to_pylist()[0]["by_chance"] == 1 / N
    assert found.to_arrow().to_pylist()[0]["records"] == 1


def test_weights_are_for_the_weighted_objective():
    found = compared(objectives=["weighted", "equal"], weights=[1, 0], methods=["optimal"])
    one_variable = compared(objectives=["equal"], methods=["optimal"])
    assert found.links[0][1].linked.total == one_variable.links[0][0].linked.total
    assert found.links[0][0].linked.total < found.links[0][1].linked.total
    with pytest.raises(InputError, match="Only the objective 'weighted'"):
        compared(weights=[1, 0])


def test_what_a_reader_should_know_is_said_once():
    original, masked = file_of({"x": [1, 2, 3], "c": "aaa"}), file_of({"x": [1, 3, 2], "c": "aaa"})
    versions = {"one": masked, "two": masked}
    found = compare_maskings(
        original,
        versions,
        [LinkVariable("x"), LinkVariable("c")],
        truths=dict.fromkeys(versions, np.arange(3)),
    )
    assert found.sentences()[2:] == ["'c' tells no records apart and has weight 0."]


def test_decimal_marks_may_differ():
    original = file_of({"x": ["1.5", "2.5", "7.25"]})
    masked = file_of({"x": ["7,25", "1,5", "2,5"]})
    found = compare_maskings(
        original,
        {"commas": masked},
        [LinkVariable("x", kind="number")],
        truths={"commas": np.array([2, 0, 1])},
        decimals={"commas": ","},
    )
    assert found.summary() == {"commas": 1}


def test_what_is_missing_is_told():
    original, masked = versions()
    with pytest.raises(InputError, match="None was given"):
        compare_maskings(original, {}, VARIABLES, truths={})
    with pytest.raises(InputError, match="Not all of them have a truth"):
        compare_maskings(original, masked, VARIABLES, truths={"mild": TRUTH})
    with pytest.raises(InputError, match="No way of linking"):
        compared(methods=[])
    with pytest.raises(InputError, match="objectives: 'best' is not known"):
        compared(objectives=["best"])


def test_the_same_is_found_again_and_progress_is_told():
    told = []
    one = compared(seed=2, progress=lambda done, whole: told.append((done, whole)))
    other = compared(seed=2)
    assert one.to_arrow() == other.to_arrow()
    assert told == [(1, 3), (2, 3), (3, 3)]
