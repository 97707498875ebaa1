from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.attack.tables.attributions import infer_attributions
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.count_tables import random_release, truths
from tests.twins.possible_tables import all_tables, is_unbounded

WORK = {"age": ["16-17", "18-24", "25+"], "work": ["employed", "unemployed", "neither"]}


def holds(kind, tables, shape, conditions, target, category):
    """Tell whether a statement holds in every table, and somebody may meet its conditions."""
    cells = list(itertools.product(*(range(length) for length in shape)))
    meet = [all(cell[axis] == k for axis, k in conditions) for cell in cells]
    has = np.array([m and cell[target] == category for m, cell in zip(meet, cells, strict=True)])
    wrong = has if kind == "negative" else np.array(meet) & ~has
    people = tables[:, np.array(meet)].sum(axis=1)
    return people.max() > 0 and not tables[:, wrong].any()


def true_statements(tables, shape):
    found = set()
    for n_conditions in range(len(shape)):
        for axes in itertools.combinations(range(len(shape)), n_conditions):
            for categories in itertools.product(*(range(shape[axis]) for axis in axes)):
                conditions = frozenset(zip(axes, categories, strict=True))
                for target in set(range(len(shape))) - set(axes):
                    # There is nothing to say about an axis with one category.
                    if shape[target] == 1:
                        continue
                    for category, kind in itertools.product(
                        range(shape[target]), ("positive", "negative")
                    ):
                        if holds(kind, tables, shape, conditions, target, category):
                            found.add((kind, conditions, target, category))
    return found


def follows(statement, found):
    """Tell whether another statement with no more conditions says as much."""
    kind, conditions, target, category = statement
    return any(
        other != statement
        and other[2] == target
        and other[1] <= conditions
        and (
            (other[0] == kind and other[3] == category)
            or (other[0] == "positive" and kind == "negative" and other[3] != category)
        )
        for other in found
    )


@given(truths(), st.randoms(use_true_random=False))
def test_what_is_said_is_what_holds_in_every_feasible_table(truth, random):
    small = CountTable(truth.axes, np.minimum(truth.dense(), 2))
    assume(small.size <= 12 and small.total <= 10)
    schemes = ["exact", "exact", "conventional:3", "random:2", "suppressed:2"]
    release = random_release(small, random, schemes)
    # With the total no cell is without a limit.
    total = make_release(small, [()], "exact").published[0]
    tables = (*release.published, total.__class__("all", (), total.scheme, total.counts))
    release = Release(release.axes, tables)
    assert not is_unbounded(release.constraints).any()
    feasible = all_tables(release.constraints)
    statements = true_statements(feasible, release.shape)
    expected = {one for one in statements if not follows(one, statements)}
    found = infer_attributions(release)
    made = {
        (one.kind, frozenset(zip(one.axes, one.categories, strict=True)), one.target, one.category)
        for one in found.statements
    }
    assert made == expected
    numbers = np.arange(release.size).reshape(release.shape)
    for one in found.statements:
        place = [slice(None)] * len(release.shape)
        for axis, category in zip(one.axes, one.categories, strict=True):
            place[axis] = category
        people = feasible[:, numbers[tuple(place)].reshape(-1)].sum(axis=1)
        assert (one.people_low, one.people_high) == (people.min(), people.max())
    ranks = [(one.people_low, one.people_high) for one in found.statements]
    assert ranks == sorted(ranks, reverse=True)


def test_statements_in_words():
    counts = [[0, 4, 0], [3, 2, 0], [9, 0, 5]]
    release = make_release(CountTable.typed(WORK, counts), [("age", "work")])
    found = infer_attributions(release)
    assert found.sentences() == [
        (
            "6 statements about people are certain: 2 that everyone of a kind has something, 4 that"
            " nobody has."
        ),
        "Nobody with age 25+ has work unemployed (14 people).",
        "Nobody with work employed has age 16-17 (12 people).",
        "Nobody with work unemployed has age 25+ (6 people).",
        "Everyone with work neither has age 25+ (5 people).",
        "Nobody with age 18-24 has work neither (5 people).",
        "Everyone with age 16-17 has work unemployed (4 people).",
    ]
    assert found.summary() == {"positive": 2, "negative": 4, "certainly_empty": 4, "cells": 9}
    assert [one.kind for one in found.of_kind("positive")] == ["positive"] * 2
    rows = found.to_arrow().to_pylist()
    assert rows[3] == {
        "statement": "Everyone with work neither has age 25+ (5 people).", "kind": "positive",
        "conditions": 1, "about": "age", "people_from": 5, "people_to": 5,
    }  # fmt: skip
    about = infer_attributions(release, about=["work"])
    assert set(about.to_arrow()["about"].to_pylist()) == {"work"}
    assert len(about.statements) == 3


def test_numbers_of_people_that_are_not_known():
    release = Release.typed(
        {"sex": ["f", "m"], "work": ["yes", "no"]},
        [
            {"margin": ["sex", "work"], "counts": [[None, 0], [1, None]]},
            {"margin": ["sex"], "scheme": "random:3", "counts": [3, None]},
        ],
    )
    found = infer_attributions(release)
    assert found.sentences()[1:] == [
        "Everyone with sex f has work yes (1 to 5 people).",
        "Everyone with work no has sex m, if there is anybody (any number of people).",
    ]
    assert found.to_arrow()["people_to"].to_pylist() == [5, None]


def test_nothing_to_say():
    release = Release.typed({"sex": ["f", "m"]}, [{"margin": ["sex"], "counts": [3, 1]}])
    found = infer_attributions(release)
    assert found.statements == ()
    assert found.sentences() == ["Nothing can be said of anybody for certain."]
    assert found.to_arrow().num_rows == 0
    assert found.to_arrow().schema.names[0] == "statement"


def test_bounds_that_are_known_are_not_sought_again():
    truth = CountTable.typed(WORK, [[0, 4, 0], [3, 2, 0], [9, 0, 5]])
    release = make_release(truth, [("age",), ("work",)], "conventional:3")
    bounds = bound_cells(release)
    assert infer_attributions(release, bounds=bounds).bounds is bounds


def test_large_tables_use_what_is_published_for_numbers_of_people():
    """Above 2,000 cells sums of bounds and published sums stand for exact bounds."""
    counts = np.ones((3, 20, 40), np.int64)
    counts[0, 1:] = 0
    axes = {"a": range(3), "b": range(20), "c": range(40)}
    release = make_release(CountTable.typed(axes, counts), [("a", "b"), ("b", "c"), ("a", "c")])
    found = infer_attributions(release, max_conditions=1)
    said = [found.words(one) for one in found.statements]
    assert said[0] == "Nobody with b 1 has a 0 (80 people)."
    assert said[-1] == "Everyone with a 0 has b 0 (40 people)."
    assert len(said) == 20
    assert all(one.people_high < UNBOUNDED for one in found.statements)


def test_what_cannot_be_asked_for():
    release = make_release(CountTable.typed(WORK, np.ones((3, 3), int)), [("age",)])
    with pytest.raises(InputError) as caught:
        infer_attributions(release, about=["wrok"])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "'work'" in str(caught.value)
    with pytest.raises(LimitError) as caught:
        infer_attributions(release, max_combinations=15)
    assert "16 combinations" in str(caught.value)
    conflict = Release.typed(
        {"sex": ["f", "m"]},
        [{"margin": ["sex"], "counts": [1, 1]}, {"margin": [], "counts": 3}],
    )
    with pytest.raises(InputError) as caught:
        infer_attributions(conflict)
    assert caught.value.reason is Reason.CONFLICTING_COUNTS
    assert len(caught.value.problems) == 3


def test_statements_need_the_bounds_that_programs_have_time_to_find():
    axes = {name: ["0", "1"] for name in "ABCD"}
    counts = np.random.default_rng(4).poisson(1, (2,) * 4)
    margins = list(itertools.combinations("ABCD", 2))
    release = make_release(CountTable.typed(axes, counts), margins)
    found, hasty = infer_attributions(release), infer_attributions(release, most_programs=1)
    assert found.bounds.tight.all()
    assert not hasty.bounds.tight.all()
    assert (hasty.bounds.upper >= found.bounds.upper).all()
