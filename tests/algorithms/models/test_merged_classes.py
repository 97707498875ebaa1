from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models import merged_classes
from gamekeeper.algorithms.models.merged_classes import learn_fractions, learn_level, merge_classes
from gamekeeper.algorithms.models.population_model import (
    calibrated_estimate,
    estimate_from_rates,
    pooled_log_expected,
)
from gamekeeper.algorithms.models.rate_calibration import LevelPrior, usual_log_rates
from gamekeeper.errors import InputError
from tests.given.cases import cases
from tests.given.samples import CHAIN, people, sampled


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


def usual_rate(log_expected):
    return math.exp(usual_log_rates(np.array([log_expected]))[0])


def merged_by_all_pairs(table, x):
    """Compare every record with every other; cells of the model without any edge."""
    records = np.repeat(table.rows, table.counts, axis=0)
    of = np.repeat(np.arange(len(table)), table.counts)
    n = len(records)
    n_near, odds = 0, []
    for variable in range(table.n_variables):
        rest = np.delete(records, variable, axis=1)
        seen = set()
        for one in range(n):
            alike = [other for other in range(n) if (rest[other] == rest[one]).all()]
            if alike[0] in seen or len(alike) > 2:
                continue
            seen.add(alike[0])
            if len(alike) == 2 and (records[alike[0]] == records[alike[1]]).all():
                continue
            n_near += len(alike) == 2
            # Leaving a variable out of a model without edges leaves its factor out. Of the class's
            # records, each counts one over their number in the margins.
            own = len(alike) - 1
            merged = math.log(n)
            for v in range(table.n_variables):
                if v != variable:
                    column = records[:, v]
                    merged += math.log((np.sum(column == column[one]) - own) / n)
            with_it = np.mean([usual_rate(x[of[other]]) for other in alike])
            odds.append((usual_rate(merged) - with_it) / 2)
    odds = np.array(odds)

    def surplus(level):
        at = math.exp(level) * odds
        return (at / (1 + at)).sum() - (n_near + 0.5)

    return n_near, brentq(surplus, -30, 30)


@cases(20)
@given(st.integers(0, 10_000), st.integers(5, 25))
def test_near_twins_are_those_of_comparing_all_records(seed, n):
    rng = np.random.default_rng(seed)
    records = rng.integers(0, [4, 5, 6], (n, 3))
    rows, counts = np.unique(records, axis=0, return_counts=True)
    table = ClassTable(rows, counts, [4, 5, 6])
    x = pooled_log_expected(table, [[0, 0, 0]])
    found = learn_level(table, [[0, 0, 0]], x)
    # Records that differ in one variable alone, where no third agrees with them on the others.
    n_near = 0
    for variable in range(3):
        rest = np.delete(records, variable, axis=1)
        for one in range(n):
            alike = np.flatnonzero((rest == rest[one]).all(axis=1))
            if len(alike) == 2 and (records[alike[0]] != records[alike[1]]).any():
                n_near += one == alike[0]
    assert found.n_near == n_near


def test_the_level_is_the_one_that_expects_as_many_near_twins_as_there_are():
    rng = np.random.default_rng(3)
    records = rng.integers(0, [9, 8, 7], (40, 3))
    rows, counts = np.unique(records, axis=0, return_counts=True)
    table = ClassTable(rows, counts, [9, 8, 7])
    x = pooled_log_expected(table, [[0, 0, 0]])
    found = learn_level(table, [[0, 0, 0]], x)
    n_near, level = merged_by_all_pairs(table, x)
    weight = n_near / (n_near + 15)
    assert found.n_near == n_near > 5
    assert found.mean == pytest.approx(
        (1 - weight) * 0.2 + weight * (0.06 + 0.95 * level), abs=0.02
    )
    assert found.deviation == pytest.approx(math.sqrt(0.18**2 + (1 - weight) * (0.3**2 - 0.18**2)))


def test_order_and_labels_do_not_matter():
    rows, counts, _ = sampled(people(5_000, 5)[0], 0.05, 0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    relabelled = np.stack(
        [rng.permutation(int(column.max()) + 1)[column] for column in rows.T], axis=1
    )
    plain, again = (
        learn_level(table, [CHAIN], pooled_log_expected(table, [CHAIN]))
        for table in (ClassTable(rows, counts), ClassTable(relabelled[order], counts[order]))
    )
    assert again.n_near == plain.n_near
    assert again.mean == pytest.approx(plain.mean, abs=1e-9)
    whole, other = (
        calibrated_estimate(table, [CHAIN], fraction=0.05)
        for table in (ClassTable(rows, counts), ClassTable(relabelled[order], counts[order]))
    )
    assert other.p_unique == pytest.approx(whole.p_unique[order], rel=1e-7)
    assert other.file.tau1.value == pytest.approx(whole.file.tau1.value, rel=1e-9)


def test_it_is_spared_where_it_says_nothing(monkeypatch):
    one = ClassTable([[0], [1]], [1, 1])
    assert learn_level(one, [[0]], np.zeros(2)) == LevelPrior()
    rows, counts, _ = sampled(people(5_000, 5)[0], 0.05, 0)
    table = ClassTable(rows, counts)
    x = pooled_log_expected(table, [CHAIN])
    assert learn_level(table, [CHAIN], x).n_near > 0
    monkeypatch.setattr(merged_classes, "_MOST_CELLS", 10)
    assert learn_level(table, [CHAIN], x) == LevelPrior()


@pytest.mark.slow
@cases(20)
@given(st.integers(0, 10_000), st.integers(5, 25))
def test_members_of_a_household_are_neither_pairs_nor_near_twins_of_each_other(seed, n):
    rng = np.random.default_rng(seed)
    records = rng.integers(0, [3, 4, 4], (n, 3))
    homes = rng.integers(0, n // 2, n)
    rows, classes = np.unique(records, axis=0, return_inverse=True)
    classes = classes.ravel()
    table = ClassTable.of_households(rows, classes, homes, [3, 4, 4])
    for at in range(len(rows)):
        own = classes == at
        assert table.records[at] == own.sum()
        assert table.counts[at] == len(set(homes[own]))
    assert table.n_records == len(set(homes))
    for mask in range(8):
        chosen = [v for v in range(3) if mask >> v & 1]
        for at, margin in enumerate(table.margin(mask)):
            alike = (records[:, chosen] == rows[at, chosen]).all(axis=1)
            assert margin == len(set(homes[alike]))
    for variable in range(3):
        merged = merge_classes(table, [[0, 0, 0]], variable)
        rest = np.delete(records, variable, axis=1)
        for member, households, people_of_it in zip(
            merged.members, merged.counts, merged.records, strict=True
        ):
            alike = (rest == np.delete(rows[member], variable)).all(axis=1)
            assert people_of_it == alike.sum()
            assert households == len(set(homes[alike]))
    # Everybody in a household of his own is a sample of people.
    apart = ClassTable.of_households(rows, classes, np.arange(n), [3, 4, 4])
    plain = ClassTable(rows, np.bincount(classes), [3, 4, 4])
    x = pooled_log_expected(plain, [[0, 0, 0]])
    assert learn_level(apart, [[0, 0, 0]], x) == learn_level(plain, [[0, 0, 0]], x)
    one, other = (calibrated_estimate(t, [[0, 0, 0]], fraction=0.2) for t in (apart, plain))
    assert one.file == other.file
    assert (one.p_match == other.p_match).all()
    assert (one.upper == other.upper).all()


def test_couples_who_differ_in_sex_alone_tell_nothing_of_others():
    # A hundred couples, each alike but for one variable, and nobody like anybody else.
    rows = np.array([[pair, sex] for pair in range(100) for sex in (0, 1)])
    classes, homes = np.arange(200), np.arange(200) // 2
    table = ClassTable.of_households(rows, classes, homes)
    x = np.full(200, -3.0)
    assert learn_level(ClassTable(rows, np.ones(200, dtype=int)), [[0, 0]], x).n_near == 100
    assert learn_level(table, [[0, 0]], x).n_near == 0
    # Two who are alike in every way, of one household, are no sign of a third.
    twins = np.array([0, 0, *range(1, 40)])
    single = ClassTable.of_households(rows[:40], twins, np.array([0, 0, *range(1, 40)]))
    found = estimate_from_rates(
        np.full(40, -3.0), single.counts, fraction=0.1, records=single.records
    )
    assert found.calibration.n_pairs == 0
    assert found.file.n_uniques == 39
    assert found.p_unique[0] == 0
    assert found.p_match[0] <= 0.5
    assert found.lower[0] == 2
    assert found.expected_size[0] > found.expected_size[1] > 1
    strangers = estimate_from_rates(np.full(40, -3.0), single.records, fraction=0.1)
    assert strangers.expected_size[0] > found.expected_size[0]
