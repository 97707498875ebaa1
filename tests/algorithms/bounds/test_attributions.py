"""Statements about people, against every table that agrees with a release."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds.attributions import (
    Attribution,
    find_attributions,
    find_group_attributions,
    people_within,
)
from gamekeeper.algorithms.bounds.frechet import closed_bounds
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints
from gamekeeper.attack.tables.feasible import infer_attributions
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, LimitError, Reason


@st.composite
def bounds_of_cells(draw, most_cells=24):
    n_axes = draw(st.integers(1, 4))
    shape = draw(
        st.lists(st.integers(1, 4), min_size=n_axes, max_size=n_axes).filter(
            lambda lengths: math.prod(lengths) <= most_cells
        )
    )
    size = math.prod(shape)
    uppers = st.lists(st.sampled_from([0, 0, 0, 1, 2, UNBOUNDED]), min_size=size, max_size=size)
    upper = np.array(draw(uppers)).reshape(shape)
    lower = np.where(upper < UNBOUNDED, np.maximum(upper - draw(st.integers(0, 2)), 0), 1)
    return lower, upper


def cells_with(shape, conditions):
    return [
        cell
        for cell in product(*(range(length) for length in shape))
        if all(cell[axis] == category for axis, category in conditions)
    ]


def every_statement(zeros, lower, upper):
    """Return each true statement about conditions that somebody may meet, with its people."""
    shape, found = zeros.shape, {}
    for n_conditions in range(len(shape)):
        for axes in combinations(range(len(shape)), n_conditions):
            for categories in product(*(range(shape[axis]) for axis in axes)):
                conditions = frozenset(zip(axes, categories, strict=True))
                cells = cells_with(shape, conditions)
                if all(zeros[cell] for cell in cells):
                    continue
                low = sum(int(lower[cell]) for cell in cells)
                high = sum(int(upper[cell]) for cell in cells)
                for target in set(range(len(shape))) - set(axes):
                    for category in range(shape[target]):
                        inside = [cell for cell in cells if cell[target] == category]
                        outside = [cell for cell in cells if cell[target] != category]
                        key = (conditions, target, category)
                        if shape[target] > 1 and all(zeros[cell] for cell in outside):
                            found["positive", *key] = low, min(high, UNBOUNDED)
                        if all(zeros[cell] for cell in inside):
                            found["negative", *key] = low, min(high, UNBOUNDED)
    return found


def follows(statement, found):
    """Tell whether another statement with no more conditions implies this one."""
    kind, conditions, target, category = statement
    for other in found:
        if other == statement or other[2] != target or not other[1] <= conditions:
            continue
        if other[0] == kind and other[3] == category:
            return True
        if (other[0], kind) == ("positive", "negative") and other[3] != category:
            return True
    return False


@given(bounds_of_cells())
def test_attributions_are_the_most_general_of_all_statements(bounds):
    lower, upper = bounds
    statements = every_statement(upper == 0, lower, upper)
    expected = {
        (*statement, *people)
        for statement, people in statements.items()
        if not follows(statement, statements)
    }
    found = find_attributions(upper == 0, people_within(lower, upper))
    assert {
        (
            one.kind,
            frozenset(zip(one.axes, one.categories, strict=True)),
            one.target,
            one.category,
            one.people_low,
            one.people_high,
        )
        for one in found
    } == expected
    assert len(found) == len(expected)
    numbers = [(one.people_low, one.people_high) for one in found]
    assert numbers == sorted(numbers, reverse=True)
    assert all(one.certain == (one.people_low > 0) for one in found)
    with_one = find_attributions(upper == 0, people_within(lower, upper), max_conditions=1)
    assert with_one == tuple(one for one in found if len(one.axes) <= 1)


@given(bounds_of_cells())
def test_people_within_adds_the_bounds_of_cells(bounds):
    lower, upper = bounds
    people = people_within(lower, upper)
    for axes in [(), (0,), tuple(range(lower.ndim))]:
        for categories in product(*(range(lower.shape[axis]) for axis in axes)):
            cells = cells_with(lower.shape, list(zip(axes, categories, strict=True)))
            low = sum(int(lower[cell]) for cell in cells)
            high = sum(int(upper[cell]) for cell in cells)
            assert people(axes, categories) == (low, min(high, UNBOUNDED))


def test_young_people_without_work():
    # Ages 16-17, 18-24 and 25 or over, by work: employed, unemployed, neither.
    table = np.array([[0, 4, 0], [3, 2, 0], [9, 0, 5]])
    found = find_attributions(table == 0, people_within(table, table))
    assert found == (
        Attribution("negative", (0,), (2,), 1, 1, 14, 14),
        Attribution("negative", (1,), (0,), 0, 0, 12, 12),
        Attribution("negative", (1,), (1,), 0, 2, 6, 6),
        Attribution("positive", (1,), (2,), 0, 2, 5, 5),
        Attribution("negative", (0,), (1,), 1, 2, 5, 5),
        Attribution("positive", (0,), (0,), 1, 1, 4, 4),
    )


def test_people_are_asked_for_once_and_nobody_is_left_out():
    asked = []

    def people(axes, categories):
        asked.append((axes, categories))
        return (0, 0) if categories == (0,) else (0, 3)

    zeros = np.array([[True, True, False], [False, False, True]])
    found = find_attributions(zeros, people)
    assert len(set(asked)) == len(asked)
    assert found
    assert all(one.categories != (0,) and not one.certain for one in found)


def test_a_category_that_nobody_has_is_stated_once():
    zeros = np.zeros((2, 3, 2), np.bool_)
    zeros[:, 1] = True
    found = find_attributions(zeros, lambda axes, categories: (1, 9))
    assert found == (Attribution("negative", (), (), 1, 1, 1, 9),)


def test_an_empty_table_says_nothing_of_anybody():
    assert find_attributions(np.ones((2, 2), np.bool_), lambda axes, categories: (0, 0)) == ()
    assert find_attributions(np.ones((2, 0), np.bool_), lambda axes, categories: (0, 0)) == ()


def test_attributions_of_margins_published_apart():
    # All five are old and all five have work.
    known = CountConstraints.of((2, 2), [((0,), [0, 5]), ((1,), [5, 0])])
    lower, upper = closed_bounds(known)
    found = find_attributions(upper == 0, people_within(lower, upper))
    assert [(one.kind, one.target, one.category) for one in found] == [
        ("positive", 0, 1),
        ("positive", 1, 0),
    ]


def test_the_number_of_combinations_is_limited():
    with pytest.raises(LimitError) as caught:
        find_attributions(
            np.zeros((9, 9), np.bool_), lambda axes, categories: (0, 0), max_combinations=99
        )
    assert caught.value.reason is Reason.TOO_LARGE
    assert "100 combinations" in str(caught.value)
    assert "max_combinations" in str(caught.value)


def test_the_number_of_statements_is_limited():
    zeros = ~np.eye(5, dtype=np.bool_)
    with pytest.raises(LimitError) as caught:
        find_attributions(zeros, lambda axes, categories: (1, 1), max_statements=9)
    assert "max_statements" in str(caught.value)
    assert len(find_attributions(zeros, lambda axes, categories: (1, 1), max_statements=10)) == 10


def test_counts_are_no_certain_zeros():
    with pytest.raises(InputError) as caught:
        find_attributions(np.array([0, 3]), lambda axes, categories: (0, 0))
    assert caught.value.reason is Reason.MALFORMED


SHARE = Fraction(7, 10)


def released(rng):
    """A table with its margins, some inner cells hidden."""
    truth = rng.integers(0, 5, (2, 3))
    counts = [[None if rng.random() < 0.4 else int(c) for c in row] for row in truth]
    tables = [
        {"margin": ["a", "b"], "counts": counts},
        {"margin": ["a"], "counts": truth.sum(1).tolist()},
        {"margin": ["b"], "counts": truth.sum(0).tolist()},
    ]
    return Release.typed({"a": ["a0", "a1"], "b": ["b0", "b1", "b2"]}, tables), truth


def possible(release, truth):
    most = int(truth.sum(1).max())
    for cells in product(range(most + 1), repeat=truth.size):
        table = np.array(cells).reshape(truth.shape)
        if release.constraints.admits(table):
            yield table


# Four tell what ten tell, as a rule; all tables of each are listed.
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 10))]
)
def test_what_is_said_of_a_share_holds_in_every_table(seed):
    release, truth = released(np.random.default_rng(seed))
    found = infer_attributions(release, share=float(SHARE * 100), coalition=2)
    tables = list(possible(release, truth)) if truth.sum(1).max() <= 6 else [truth]
    for one in found.groups:
        for table in tables:
            moved = np.moveaxis(table, one.target, -1)
            own = moved[one.categories] if one.axes else moved.sum(axis=0)
            has, others = int(own[one.category]), int(own.sum() - own[one.category])
            assert one.least <= has
            assert others <= one.others
            if one.kind == "share":
                assert Fraction(has, has + others) >= one.share >= SHARE
            else:
                assert others <= 2


def test_an_exact_table_tells_every_share_there_is():
    counts = np.array([[19, 1], [5, 5]])

    def bounds(axes):
        others = tuple(axis for axis in range(2) if axis not in axes)
        return counts.sum(axis=others), counts.sum(axis=others)

    found = find_group_attributions(bounds, 2, share=Fraction(4, 5), coalition=1)
    told = {(one.kind, one.axes, one.categories, one.target, one.category) for one in found}
    assert told == {
        ("share", (0,), (0,), 1, 0), ("coalition", (0,), (0,), 1, 0), ("share", (), (), 1, 0),
        ("share", (1,), (1,), 0, 1), ("coalition", (1,), (1,), 0, 1),
    }  # fmt: skip


def test_sensitive_categories_come_first_and_structural_zeros_are_no_news():
    release = Release.typed(
        {"age": ["0-14", "15+"], "work": ["yes", "no"], "ill": ["yes", "no"]},
        [{"margin": ["age", "work", "ill"], "counts": [[[0, 0], [9, 4]], [[0, 7], [3, 5]]]}],
    )
    plain = infer_attributions(release)
    assert plain.words(plain.statements[0]) == "Everyone with age 0-14 has work no (13 people)."
    known = infer_attributions(release, structural=[{"age": "0-14", "work": "yes"}])
    assert known.n_no_news > 0
    assert plain.words(plain.statements[0]) not in map(known.words, known.statements)
    assert len(known.statements) + known.n_no_news == len(plain.statements)
    first = infer_attributions(release, sensitive={"ill": ["no"]})
    assert (first.statements[0].target, first.statements[0].category) == (2, 1)
