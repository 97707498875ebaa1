from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.feasible import FeasibleTables, explore_tables, infer_attributions
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from gamekeeper.results import Provenance
from tests.given.count_tables import random_release, truths
from tests.twins.possible_tables import all_tables, is_unbounded

FIGURE_18 = [
    {"margin": ["VAR1", "VAR2"], "scheme": "conventional:3",
     "counts": [[0, 3, 0], [3, 0, 0], [3, 3, 0]]},
    {"margin": ["VAR1"], "scheme": "conventional:3", "counts": [3, 3, 6]},
    {"margin": ["VAR2"], "scheme": "conventional:3", "counts": [9, 6, 0]},
    {"margin": [], "scheme": "conventional:3", "counts": 12},
]  # fmt: skip
AXES_18 = {"VAR1": ["A", "B", "C"], "VAR2": ["D", "E", "F"]}


def weighed(release, tables):
    """Return the exact weight of each table: how probable the release is if it is the truth."""
    weights = []
    rows = release.constraints.rows
    for table in tables:
        weight = Fraction(1)
        for row in range(len(rows)):
            true = int(table[rows.cells[rows.starts[row] : rows.starts[row + 1]]].sum())
            low, chances = release.row_likelihood(row)
            weight *= 1 if chances is None else chances[true - low]
        weights.append(weight)
    return weights


@given(truths(), st.randoms(use_true_random=False))
def test_all_tables_are_counted_listed_and_weighed(truth, random):
    small = CountTable(truth.axes, np.minimum(truth.dense(), 3))
    assume(small.size <= 8 and small.total <= 9)
    release = random_release(small, random, ["exact", "random:2", "conventional:3", "suppressed:3"])
    assume(not is_unbounded(release.constraints).any())
    tables = all_tables(release.constraints)
    assume(len(tables) <= 20_000)
    found = explore_tables(release, listed=20_000)
    assert found.number == len(tables)
    listed = {tuple(table) for table in found.tables.reshape(len(tables), -1).tolist()}
    assert listed == {tuple(table) for table in tables.tolist()}
    assert tuple(small.dense().reshape(-1).tolist()) in listed
    weights = weighed(release, tables)
    whole = sum(weights)
    assert found.cells.exact
    for cell in range(small.size):
        empty = sum(w for w, table in zip(weights, tables, strict=True) if table[cell] == 0)
        assert found.cells.p_zero.reshape(-1)[cell] == pytest.approx(float(empty / whole))
        mean = sum(w * int(table[cell]) for w, table in zip(weights, tables, strict=True)) / whole
        assert found.to_arrow()["mean"][cell].as_py() == pytest.approx(float(mean))


@given(truths(), st.randoms(use_true_random=False))
def test_the_truth_is_among_the_tables_of_any_scheme(truth, random):
    release = random_release(truth, random)
    found = explore_tables(release, most=5_000, listed=5_000, draws=50)
    if found.tables is not None:
        assert truth.dense().tolist() in found.tables.tolist()
    assert (found.number is None) == (found.is_endless or found.estimate is not None)


def test_seven_tables():
    """Figure 22 of the thesis."""
    found = explore_tables(Release.typed(AXES_18, FIGURE_18), listed=7)
    assert found.number == 7
    assert found.tables.tolist() == [
        [[0, 2, 0], [4, 0, 0], [4, 3, 0]], [[0, 3, 0], [4, 0, 0], [4, 2, 0]],
        [[1, 2, 0], [3, 0, 0], [4, 3, 0]], [[1, 2, 0], [3, 1, 0], [4, 2, 0]],
        [[1, 2, 0], [4, 0, 0], [3, 3, 0]], [[1, 3, 0], [3, 0, 0], [4, 2, 0]],
        [[1, 3, 0], [4, 0, 0], [3, 2, 0]],
    ]  # fmt: skip
    assert found.n_probable == 3
    assert found.sentences() == [
        "7 tables agree with the release.",
        (
            "Given the schemes and a uniform prior, 3 of 9 cells have one count that is at least 95%"
            " probable, and 3 are empty with a probability of at least 95%."
        ),
    ]
    assert found.top(4)["p_zero"].to_pylist() == [1.0, 1.0, 1.0, pytest.approx(6 / 7)]


def test_tables_are_listed_only_if_there_are_few():
    found = explore_tables(Release.typed(AXES_18, FIGURE_18), listed=6)
    assert found.tables is None
    assert found.notes == ("The tables are not listed: there are more than 6.",)


def test_one_table_is_given_away_whole():
    counts = {"margin": ["x"], "scheme": "random:5", "counts": [5, 5, 5, 5]}
    total = {"margin": [], "scheme": "random:5", "counts": 0}
    found = explore_tables(Release.typed({"x": list("abcd")}, [counts, total], disjoint=True))
    assert found.sentences()[0] == "1 table agrees with the release: it is given away whole."
    assert found.n_probable == 4


def test_random_rounding_weighs_tables():
    counts = {"margin": ["sex"], "scheme": "random:3", "counts": [0, 3]}
    found = explore_tables(Release.typed({"sex": ["f", "m"]}, [counts]))
    # 0, 1 and 2 are rounded to 0 with probabilities 1, 2/3 and 1/3.
    assert found.cells.mass(0)[1] == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    assert found.cells.mass(1)[1] == pytest.approx([1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9])


def test_cells_without_a_limit():
    release = Release.typed({"sex": ["f", "m"]}, [{"margin": ["sex"], "counts": [3, None]}])
    found = explore_tables(release, listed=5)
    assert found.is_endless
    assert found.number is None
    assert found.cells is None
    assert found.n_probable == 0
    assert found.to_arrow().column_names == ["sex"]
    assert "Infinitely many tables" in found.sentences()[0]
    assert any("'poisson'" in note for note in found.notes)
    assert "tables" not in found.summary()
    weighed_by_poisson = explore_tables(release, prior="poisson")
    assert weighed_by_poisson.cells is not None


def large():
    axes = {"a": range(6), "b": range(6)}
    truth = CountTable.typed(axes, np.random.default_rng(5).poisson(100, (6, 6)))
    return make_release(truth, [("a",), ("b",)])


@pytest.mark.slow
def test_many_tables_are_estimated_the_same_for_any_number_of_workers():
    one = explore_tables(large(), most=1_000, draws=60, seed=3, workers=1)
    two = explore_tables(large(), most=1_000, draws=60, seed=3, workers=2)
    assert one.number is None
    assert one.estimate > 1e50
    assert 0 < one.error < one.estimate
    assert one.estimate == two.estimate
    assert one.to_arrow() == two.to_arrow()
    assert one.summary() == two.summary()
    assert one.provenance.seed == 3
    assert "estimated from random ones" in one.sentences()[0]
    assert "independent ones at least" in one.sentences()[2]


def test_huge_numbers_of_tables_are_told():
    """Neither a float nor a line of 400 digits."""
    made = Provenance("feasible tables", "exact")
    found = FeasibleTables((), 7 * 10**400, None, None, False, "uniform", None, None, (), made)
    assert found.sentences() == [
        "More than a million billion (a number of 401 digits) tables agree with the release."
    ]
    assert found.summary()["tables"] == "7.000e+400"


def test_an_axis_may_be_called_like_a_column():
    release = Release.typed({"mean": ["x", "y"]}, [{"margin": ["mean"], "counts": [1, 2]}])
    table = explore_tables(release).to_arrow()
    assert table["mean"].to_pylist() == ["x", "y"]
    assert table["mean_count"].to_pylist() == [1, 2]


def test_a_prior_that_is_not_there():
    with pytest.raises(InputError) as caught:
        explore_tables(large(), prior="flat")
    assert caught.value.reason is Reason.BAD_OPTION
    assert "'multinomial'" in str(caught.value)


def test_a_contradiction_is_named():
    tables = [{"margin": ["x"], "counts": [1, 1]}, {"margin": [], "counts": 3}]
    with pytest.raises(InputError) as caught:
        explore_tables(Release.typed({"x": ["a", "b"]}, tables))
    assert caught.value.reason is Reason.CONFLICTING_COUNTS
    assert len(caught.value.problems) == 3


@pytest.mark.slow
def test_the_search_can_be_stopped():
    def stop(done, total):
        raise Cancelled("Tables were to be explored.")

    with pytest.raises(Cancelled):
        explore_tables(large(), most=1_000, draws=100, progress=stop)


def test_counts_that_cannot_be_listed_are_refused():
    big = 10**12
    release = Release.typed(
        {"sex": ["f", "m"], "work": ["yes", "no"]},
        [{"margin": ["sex"], "counts": [big, big]}, {"margin": ["work"], "counts": [big, big]}],
    )
    with pytest.raises(LimitError) as caught:
        explore_tables(release)
    assert caught.value.reason is Reason.TOO_LARGE


def crossed(shape, mean):
    """Return the one-way margins of a random table, which bind all its cells."""
    counts = np.random.default_rng(1).poisson(mean, shape)
    axes = {f"a{k}": [f"c{j}" for j in range(n)] for k, n in enumerate(shape)}
    return Release.typed(
        axes,
        [
            {
                "margin": [name],
                "scheme": "exact",
                "counts": np.moveaxis(counts, k, 0).reshape(n, -1).sum(axis=1).tolist(),
            }
            for k, (name, n) in enumerate(zip(axes, shape, strict=True))
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "mean"), [((2,) * 14, 0.1), ((200, 200), 1.5)])
def test_draws_that_would_not_end_are_refused_before_the_first(shape, mean):
    with pytest.raises(LimitError) as caught:
        explore_tables(crossed(shape, mean))
    assert "s of processor time, and the limit is 900 s" in caught.value.found
    assert "--max-seconds" in caught.value.do


@pytest.mark.slow
def test_a_limit_of_time_can_be_lowered_and_lifted():
    release = crossed((5, 6), 3)
    with pytest.raises(LimitError, match="processor time"):
        explore_tables(release, draws=50, max_seconds=1e-6)
    found = explore_tables(release, draws=50, max_seconds=0)
    assert found.number is not None or found.estimate
    again = explore_tables(release, draws=50)
    assert (found.cells.mean == again.cells.mean).all()


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
        {"sex": ["f", "m"]}, [{"margin": ["sex"], "counts": [1, 1]}, {"margin": [], "counts": 3}]
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
