"""Measures of classes against their definitions, record by record and class by class."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity import (
    AttackerRisk,
    approximate_reciprocal,
    attacker_risk,
    count_values,
    diversity,
    equal_distance,
    estimated_risk,
    expected_reciprocal,
    household_risk,
    individual_risk,
    n_sets,
    ordered_distance,
    unsafe_combinations,
)
from gamekeeper.errors import InputError
from tests.given.class_structures import ADULT


@given(st.dictionaries(st.integers(1, 9), st.integers(0, 5), max_size=5), st.fractions(0, 1))
def test_risks_are_those_of_records_one_by_one(records, threshold):
    risks = [Fraction(1, size) for size, n in records.items() for _ in range(n)]
    found = attacker_risk(records, threshold)
    if not risks:
        assert found == AttackerRisk(None, None, None)
        return
    assert found.highest == max(risks)
    assert found.average == sum(risks) / len(risks)
    assert found.at_risk == Fraction(sum(risk > threshold for risk in risks), len(risks))


def test_a_threshold_that_is_met_is_not_exceeded():
    assert attacker_risk({3: 3, 5: 5}, Fraction(1, 3)).at_risk == 0


def test_estimated_sizes_are_at_least_those_of_the_file():
    highest, average, at_risk = estimated_risk(
        np.array([2, 2, 0]), np.array([0.5, 8.0, 0.0]), Fraction(1, 4)
    )
    assert (highest, average, at_risk) == (0.5, (0.5 + 0.125) / 2, 0.5)
    assert all(map(math.isnan, estimated_risk(np.array([0]), np.array([0.0]), Fraction(1))))


def test_the_average_that_arx_prints_for_adult():
    by_size = {size: size * number for size, number in ADULT.items()}
    found = attacker_risk(by_size, Fraction(1, 2))
    assert float(found.average) == 0.6465751607983555
    assert found.highest == 1
    assert float(found.at_risk) == 0.5142895033485844


def test_a_record_that_fits_three_people_is_matched_rightly_once_in_three():
    # The example of the National Academies, A Roadmap for Disclosure Avoidance in SIPP, 2024.
    assert attacker_risk({3: 1}, Fraction(1, 2)).average == Fraction(1, 3)


def test_a_size_may_stand_for_several_records():
    sizes, people, counts = np.array([1, 4, 0]), np.array([20.0, 8.0, 0.0]), np.array([3, 4, 0])
    found = estimated_risk(sizes, people, Fraction(1, 10), counts)
    whole = estimated_risk(np.repeat(sizes, counts), np.repeat(people, counts), Fraction(1, 10))
    assert found == pytest.approx(whole)


RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=16)


def shares(values, every):
    return [Fraction(values.count(value), len(values)) for value in every]


@given(RECORDS)
def test_distances_of_every_class_by_its_definition(records):
    classes, values = (np.array(part) for part in zip(*records, strict=True))
    found = count_values(classes, values, 5)
    equal, ordered = equal_distance(found), ordered_distance(found)
    every = sorted({v for _, v in records if v})
    for number in range(found.n_classes):
        own = [v for k, v in records if k == number and v]
        if not own:
            assert np.isnan(equal[number])
            assert np.isnan(ordered[number])
            continue
        q = shares([v for _, v in records if v], every)
        apart = [a - b for a, b in zip(shares(own, every), q, strict=True)]
        assert equal[number] == pytest.approx(float(sum(map(abs, apart)) / 2), abs=1e-15)
        steps = max(len(every) - 1, 1)
        moved = float(sum(map(abs, accumulate(apart))) / steps)
        assert ordered[number] == pytest.approx(moved, abs=1e-12)


def test_a_class_like_the_file_is_exactly_zero_away():
    classes, values = np.array([0] * 3 + [1] * 3), np.array([1, 2, 3] * 2)
    assert equal_distance(count_values(classes, values, 3)).tolist() == [0, 0]


def test_the_salaries_of_the_paper():
    # Li, Li and Venkatasubramanian: {3k, 4k, 5k} is 0.375 from 3k to 11k, {6k, 8k, 11k} is 0.167.
    classes = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1])
    found = ordered_distance(count_values(classes, np.arange(1, 10), 9))
    assert found[:2] == pytest.approx([3 / 8, 1 / 6])


CLASSED = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), max_size=14)


def slow_recursive(counts, c):
    ordered = sorted(counts, reverse=True)
    return max(
        (n for n in range(1, len(ordered) + 1) if ordered[0] < c * sum(ordered[n - 1 :])), default=0
    )


@given(
    CLASSED,
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(7, 2)]),
)
def test_diversity_of_every_class_by_its_definition(records, c):
    classes, values = (np.array([r[i] for r in records], dtype=np.int64) for i in (0, 1))
    found = count_values(classes, values, 4)
    of_class = diversity(found, c)
    for number in range(found.n_classes):
        counts = Counter(v for k, v in records if k == number and v)
        total = sum(counts.values())
        entropy = -sum(n / total * math.log(n / total) for n in counts.values())
        assert of_class.distinct[number] == len(counts)
        assert of_class.entropy[number] == pytest.approx(math.exp(entropy) if counts else 0)
        assert of_class.recursive[number] == slow_recursive(counts.values(), c)


def test_the_inpatients_of_the_paper():
    # Figure 3 of Machanavajjhala et al.: three blocks of four patients with three conditions each.
    heart, viral, cancer = 1, 2, 3
    blocks = [
        [heart, viral, cancer, cancer],
        [cancer, heart, viral, viral],
        [heart, heart, viral, cancer],
    ]
    classes = np.repeat(np.arange(3), 4)
    found = diversity(count_values(classes, np.array(blocks).ravel(), 3), Fraction(2))
    assert found.distinct.tolist() == [3, 3, 3]
    assert found.entropy.round(1).tolist() == [2.8, 2.8, 2.8]


def test_no_record_and_no_value():
    nobody = diversity(count_values(np.array([-1]), np.array([1]), 2), Fraction(2))
    assert len(nobody.distinct) == 0
    silent = diversity(count_values(np.array([0, 0]), np.array([0, 0]), 2), Fraction(2))
    assert (silent.distinct[0], silent.entropy[0], silent.recursive[0]) == (0, 0, 0)


@given(CLASSED, st.data())
def test_a_line_may_stand_for_several_records(records, data):
    each = data.draw(st.lists(st.integers(1, 3), min_size=len(records), max_size=len(records)))
    counts = np.array(each, dtype=np.int64)
    classes, values = (np.array([r[i] for r in records], dtype=np.int64) for i in (0, 1))
    lines = count_values(classes, values, 4, counts)
    whole = count_values(np.repeat(classes, counts), np.repeat(values, counts), 4)
    for name in ("classes", "values", "counts"):
        assert getattr(lines, name).tolist() == getattr(whole, name).tolist()


AT_HOME = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.just(math.nan)), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


@given(AT_HOME)
def test_somebody_is_found_unless_nobody_is(records):
    risk, homes = (np.array(part) for part in zip(*records, strict=True))
    found = household_risk(risk, homes)
    for place, (own, home) in enumerate(records):
        members = [r for r, h in records if h == home and not math.isnan(r)] if home else [own]
        safe = math.prod(1 - r for r in members)
        if math.isnan(own):
            assert math.isnan(found[place])
        else:
            assert found[place] == pytest.approx(1 - safe, abs=1e-12)


def by_the_definition(size, p):
    """Add up Pr(F=h) / h in exact fractions until the rest cannot matter."""
    p = Fraction(p)
    chance, total, seen = p**size, Fraction(0), Fraction(0)
    h = size
    while (1 - seen) / h > Fraction(1, 10**15) * (total or 1):
        total += chance / h
        seen += chance
        chance *= Fraction(h, h - size + 1) * (1 - p)
        h += 1
    return float(total + (1 - seen) / (2 * h))


def closed_form(size, p):
    """The published forms for one, two and three records, in exact odds."""
    odds = Fraction(p) / (1 - Fraction(p))
    x, log = float(odds), -math.log(p)
    return {
        1: x * log,
        2: x - x**2 * log,
        3: x / 2 - x**2 + x**3 * log,
    }[size]


def test_the_values_that_the_reference_prints_for_its_example():
    sizes = np.array([2, 2, 2, 1, 1, 1, 1, 2])
    weights = np.array([110, 84.5, 84.5, 17, 541, 8, 5, 110])
    found = individual_risk(sizes, weights)
    printed = [
        *(0.01714426, 0.02204233, 0.02204233, 0.17707583),
        *(0.01165448, 0.29706308, 0.40235948, 0.01714426),
    ]
    assert found.risk.round(8).tolist() == printed
    assert found.expected_size.tolist() == weights.tolist()
    unique = [0, 0, 0, 1 / 17, 1 / 541, 1 / 8, 1 / 5, 0]
    assert found.pr_population_unique == pytest.approx(unique)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 19, 20, 35])
@pytest.mark.parametrize("p", ["9/10", "1/2", "1/3", "33/100", "1/5", "1/10"])
def test_the_risk_is_the_mean_of_one_over_the_population_count(size, p):
    found = expected_reciprocal(np.array([size]), np.array([float(Fraction(p))]))
    assert found[0] == pytest.approx(by_the_definition(size, p), rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("p", [0.5, 0.34, 0.33, 0.1, 1e-3, 1e-9])
def test_the_closed_forms(size, p):
    found = expected_reciprocal(np.array([size]), np.array([p]))
    assert found[0] == pytest.approx(closed_form(size, p), rel=1e-11)


@given(st.integers(1, 60), st.floats(1e-12, 1))
def test_neighbouring_sizes_obey_the_recurrence(size, p):
    # r_(f+1) q = p (1/f - r_f), whichever way each of the two was computed.
    first, second = expected_reciprocal(np.array([size, size + 1]), np.array([p, p]))
    assert second * (1 - p) == pytest.approx(p * (1 / size - first), rel=1e-9, abs=1e-16)
    assert p / size <= first * (1 + 1e-12)
    assert first <= 1 / size


def test_both_ends_are_stable():
    sizes = np.array([1, 2, 3, 10, 1000])
    ones = np.ones(5)
    assert expected_reciprocal(sizes, ones) == pytest.approx(1 / sizes, rel=1e-15)
    near = expected_reciprocal(sizes, ones - 1e-12)
    # To first order 1/f - (1-p)/(f+1).
    assert near == pytest.approx(1 / sizes - 1e-12 / (sizes + 1), rel=1e-15)
    tiny = expected_reciprocal(sizes, np.full(5, 1e-300))
    assert tiny[0] == pytest.approx(1e-300 * 300 * math.log(10))
    assert tiny[1:] == pytest.approx(1e-300 / (sizes[1:] - 1), rel=1e-12)
    large = expected_reciprocal(np.array([10**7]), np.array([0.2]))
    assert large[0] == pytest.approx(0.2 / 10**7, rel=1e-6)


def test_excluded_records_have_no_risk_and_light_classes_count_their_own_records():
    found = individual_risk(np.array([0, 1, 3]), np.array([0.0, 0.5, 2.0]))
    assert np.isnan(found.risk[0])
    assert np.isnan(found.expected_size[0])
    assert np.isnan(found.pr_population_unique[0])
    assert found.risk[1:] == pytest.approx([1, 1 / 3])
    assert found.expected_size[1:].tolist() == [1, 3]
    assert found.pr_population_unique[1:].tolist() == [1, 0]
    assert repr(found) == "IndividualRisk(3 lines)"


@pytest.mark.parametrize(
    ("sizes", "weights", "words"),
    [
        ([1, 1], [0.0, 3.0], "1 sums of weights are not positive"),
        ([1, 1], [math.nan, math.inf], "2 sums of weights are not positive"),
        ([1, 1, 1], [3.0, 1.0], "There are 2 sums of weights"),
        ([-1, 1], [3.0, 3.0], "1 class sizes are negative"),
    ],
)
def test_wrong_weights_are_counted(sizes, weights, words):
    with pytest.raises(InputError, match=words):
        individual_risk(np.array(sizes), np.array(weights))


@pytest.mark.parametrize(("size", "p"), [(0, 0.5), (1, 0.0), (1, 1.5), (1, math.nan)])
def test_wrong_probabilities_are_refused(size, p):
    with pytest.raises(InputError):
        expected_reciprocal(np.array([size]), np.array([p]))


@given(st.integers(1, 60), st.floats(0.001, 1))
def test_the_approximate_form_is_close_and_never_below(size, p):
    exact = expected_reciprocal(np.array([size]), np.array([p]))[0]
    found = approximate_reciprocal(np.array([size]), np.array([p]))[0]
    if size < 3:
        assert found == exact
    else:
        assert exact * (1 - 1e-12) <= found <= exact * 1.5


FILES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=9)
)


@given(FILES, st.lists(st.integers(2, 4), min_size=1, max_size=4), st.booleans())
def test_every_cell_of_every_table(records, thresholds, counts_missing):
    width = len(records[0])
    by_size = [0] * min(len(thresholds), width)
    by_variable = [[0] * len(by_size) for _ in range(width)]
    per_record = [0] * len(records)
    told: list[tuple[int, int | None]] = []
    for size in range(1, len(by_size) + 1):
        for chosen in combinations(range(width), size):
            keys = [tuple(record[i] for i in chosen) for record in records]
            kept = [counts_missing or all(key) for key in keys]
            counts = Counter(key for key, keep in zip(keys, kept, strict=True) if keep)
            unsafe = {key for key, n in counts.items() if n < thresholds[size - 1]}
            by_size[size - 1] += len(unsafe)
            for place in chosen:
                by_variable[place][size - 1] += len(unsafe)
            for number, key in enumerate(keys):
                per_record[number] += kept[number] and key in unsafe
    found = unsafe_combinations(
        np.array(records),
        thresholds,
        counts_missing=counts_missing,
        progress=lambda done, total: told.append((done, total)),
    )
    assert found.by_size.tolist() == by_size
    assert found.by_variable.tolist() == by_variable
    assert found.per_record.tolist() == per_record
    total = n_sets(width, len(thresholds))
    assert told == [(done, total) for done in range(1, total + 1)]


@given(FILES, st.data(), st.booleans())
def test_a_row_may_stand_for_several_records(records, data, counts_missing):
    each = data.draw(st.lists(st.integers(1, 3), min_size=len(records), max_size=len(records)))
    codes, counts = np.array(records), np.array(each)
    rows = unsafe_combinations(codes, [2, 3], counts=counts, counts_missing=counts_missing)
    repeated = np.repeat(codes, counts, axis=0)
    whole = unsafe_combinations(repeated, [2, 3], counts_missing=counts_missing)
    assert rows.by_size.tolist() == whole.by_size.tolist()
    assert rows.by_variable.tolist() == whole.by_variable.tolist()
    assert np.repeat(rows.per_record, counts).tolist() == whole.per_record.tolist()
