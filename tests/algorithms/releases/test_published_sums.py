"""Counts that add up: found wherever they are, and not where they agree by chance."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.published_sums import (
    ENOUGH_BITS,
    MOST_SUBSETS,
    find_sums,
    possible_sums,
    sum_bits,
)
from gamekeeper.algorithms.releases.schemes import parse_scheme
from tests.given.cases import cases


def exact(rows):
    counts = np.array(rows, np.int64)
    return counts, counts


def published(counts, scheme, seed=0):
    made = parse_scheme(scheme)
    shown = made.publish(counts, np.random.default_rng(seed))
    lower, upper = made.limits(shown.reshape(-1))
    return lower.reshape(counts.shape), upper.reshape(counts.shape)


def hidden(table, cells):
    lower, upper = (part.copy() for part in table)
    for cell in cells:
        lower[cell], upper[cell] = 0, UNBOUNDED
    return lower, upper


def sums_by_trial(table):
    """Every label that is, in all lines, the sum of some two or more others that are not empty."""
    counts, _ = table
    labels = [label for label in range(counts.shape[1]) if counts[:, label].any()]
    return {
        (whole, parts)
        for size in range(2, len(labels))
        for parts in combinations(labels, size)
        for whole in set(labels) - set(parts)
        if np.array_equal(counts[:, list(parts)].sum(axis=1), counts[:, whole])
    }


def test_a_sum_of_neighbours_is_found_whatever_comes_before():
    table = exact([[7, 30, 12, 18, 9], [3, 41, 20, 21, 7], [9, 25, 5, 20, 3]])
    assert find_sums([table]) == [(1, (2, 3))]


def test_the_sum_of_all_others_needs_fewer_lines():
    assert find_sums([exact([[22, 9, 13], [31, 15, 16]])]) == [(0, (1, 2))]
    assert find_sums([exact([[4, 2, 2]])]) == []


@pytest.mark.parametrize("n_labels", [5, MOST_SUBSETS, MOST_SUBSETS + 3, 40, 200])
def test_sums_are_found_among_many_labels(n_labels):
    rng = np.random.default_rng(n_labels)
    counts = rng.poisson(rng.lognormal(3, 1, n_labels), (6, n_labels))
    counts[:, 2] = counts[:, 3:5].sum(axis=1)
    assert (2, (3, 4)) in find_sums([exact(counts)])


@pytest.mark.parametrize("n_labels", [20, 60])
def test_sums_of_labels_that_are_no_neighbours_follow_from_enough_lines(n_labels):
    rng = np.random.default_rng(n_labels)
    counts = rng.poisson(20, (n_labels + 30, n_labels))
    parts = tuple(sorted(rng.permutation(n_labels - 1)[:5].tolist()))
    counts[:, -1] = counts[:, list(parts)].sum(axis=1)
    assert find_sums([exact(counts)]) == [(n_labels - 1, parts)]
    assert find_sums([exact(counts[:8])]) == []


def test_two_levels_are_found_by_what_they_are_made_of():
    rng = np.random.default_rng(5)
    leaves = rng.poisson(15, (40, 14))
    middle = np.stack([leaves[:, ::3].sum(axis=1), leaves[:, 1::3].sum(axis=1)], axis=1)
    counts = np.concatenate([leaves, middle, leaves.sum(axis=1)[:, None]], axis=1)
    found = dict(find_sums([exact(counts)]))
    assert found[14] == tuple(range(0, 14, 3))
    assert found[15] == tuple(range(1, 14, 3))
    assert found[16] == tuple(range(14))


def test_hidden_cells_take_lines_away_and_nothing_else():
    table = exact([[30, 12, 18, 9], [41, 20, 21, 7], [25, 5, 20, 3]])
    assert find_sums([hidden(table, [(0, 1)])]) == [(0, (1, 2))]
    assert find_sums([hidden(table, [(0, 1), (1, 2), (2, 0)])]) == []


def test_rounded_counts_add_up_within_what_rounding_allows():
    rng = np.random.default_rng(3)
    counts = rng.poisson(60, (12, 5))
    counts[:, 0] = counts[:, 1:3].sum(axis=1)
    assert (0, (1, 2)) in find_sums([published(counts, "conventional:3")])
    assert find_sums([published(counts, "random:20")]) == []
    assert (0, (1, 2)) in find_sums([published(50 * counts, "random:20")])
    counts[4, 0] += 20
    assert find_sums([published(counts, "conventional:3")]) == []


def test_a_table_and_its_margins_count_once():
    counts = np.array([[6, 2, 4, 1], [5, 3, 2, 8]])
    both = np.concatenate([counts, counts.sum(axis=0)[None]])
    alone = sum_bits([exact(counts)], 0, (1, 2))
    assert alone < ENOUGH_BITS + np.log2(12)
    assert sum_bits([exact(counts), exact(counts.sum(axis=0)[None])], 0, (1, 2)) == alone
    assert sum_bits([exact(both)], 0, (1, 2)) > alone
    assert find_sums([exact(counts), exact(counts.sum(axis=0)[None])]) == []


def test_rounded_counts_that_are_read_as_exact_prove_little():
    assert find_sums([exact([[10, 3, 7], [12, 9, 3]])]) == [(0, (1, 2))]
    assert find_sums([exact([[9, 3, 6], [12, 9, 3]])]) == []
    threes, others = exact([[12, 3, 9], [9, 3, 6]]), exact([[12, 2, 10], [9, 4, 5]])
    assert sum_bits([threes], 0, (1, 2)) < sum_bits([others], 0, (1, 2))


def test_a_few_counts_share_a_divisor_by_chance():
    assert find_sums([exact([[5715, 1203, 4512]])]) == [(0, (1, 2))]


def test_one_table_that_contradicts_is_enough():
    table = exact([[30, 12, 18, 9], [41, 20, 21, 7]])
    other = exact([[9, 5, 5, 5]])
    assert find_sums([table, other]) == []
    assert sum_bits([table, other], 0, (1, 2)) is None


def test_families_are_judged_together():
    counts = np.array([[5, 2, 3, 4, 3, 1], [4, 1, 3, 3, 2, 1]])
    family = [(0, (1, 2)), (3, (4, 5))]
    assert find_sums([exact(counts)]) == []
    assert find_sums([exact(counts)], [family]) == family
    counts[0, 0] += 1
    assert find_sums([exact(counts)], [family]) == []
    counts = np.array([[50, 20, 30, 4, 3, 1], [41, 10, 31, 3, 2, 2]])
    assert find_sums([exact(counts)], [family]) == [(0, (1, 2))]


def test_a_label_that_equals_another_is_no_sum():
    assert find_sums([exact([[20, 20, 0], [31, 31, 0], [45, 45, 0]])]) == []


def test_nothing_to_say():
    assert find_sums([]) == []
    assert find_sums([exact(np.zeros((3, 4), np.int64))]) == []
    assert find_sums([exact([[3, 4]])]) == []
    assert find_sums([exact(np.zeros((0, 4), np.int64))]) == []


@given(st.integers(3, 6), st.integers(1, 4), st.integers(1, 40), st.randoms(use_true_random=False))
def test_what_is_found_adds_up_and_what_surely_adds_up_is_found(n_labels, n_lines, mean, random):
    rng = np.random.default_rng(random.getrandbits(32))
    counts = rng.poisson(mean, (n_lines, n_labels))
    if random.random() < 0.5:
        counts[:, 0] = counts[:, 1 : 1 + max(2, n_labels // 2)].sum(axis=1)
    table = exact(counts)
    real = sums_by_trial(table)
    found = find_sums([table])
    assert set(found) <= real
    sure = {
        whole
        for whole, parts in real
        if sum_bits([table], whole, parts) >= ENOUGH_BITS + np.log2(n_labels * 2**n_labels)
    }
    assert sure <= {whole for whole, _ in found}


@pytest.mark.parametrize("scheme", ["exact", "conventional:3", "suppressed:5"])
@pytest.mark.parametrize("mean", [0.5, 3, 20, 300])
def test_independent_counts_seldom_add_up(scheme, mean):
    rng = np.random.default_rng(8)
    n_alarms = 0
    for number in range(200):
        counts = rng.poisson(mean, (int(rng.integers(1, 6)), int(rng.integers(3, 16))))
        n_alarms += bool(find_sums([published(counts, scheme, number)]))
    assert n_alarms <= 2


def could_be_sums(lower, upper, totals):
    """Return the labels that some set of others could add up to in every line, by trying all."""
    n_labels = lower.shape[1]
    found = set()
    for whole in range(n_labels):
        for size in range(1, n_labels):
            for parts in combinations([k for k in range(n_labels) if k != whole], size):
                own = list(parts)
                least, most = lower[:, own].sum(axis=1), upper[:, own].sum(axis=1)
                rest = [k for k in range(n_labels) if k not in (*own, whole)]
                high = np.minimum(upper[:, whole], most) + np.maximum(upper[:, rest], 0).sum(axis=1)
                if (
                    (least <= upper[:, whole]).all()
                    and (most >= lower[:, whole]).all()
                    and (high >= totals).all()
                    and all((upper[:, part] != 0).any() for part in own)
                ):
                    found.add(whole)
    return found


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 3]))
@cases(150)
def test_what_could_be_a_sum_is_what_some_set_of_others_could_add_up_to(seed, below):
    rng = np.random.default_rng(seed)
    n_lines, n_labels = int(rng.integers(1, 5)), int(rng.integers(3, 7))
    counts = rng.integers(-below, 7, (n_lines, n_labels)).astype(float)
    hidden = rng.random(counts.shape) < rng.choice([0.1, 0.3, 0.6])
    lower = np.where(hidden, rng.choice([0.0, -math.inf]) if below else 0.0, counts)
    upper = np.where(hidden, rng.choice([math.inf, 4.0], counts.shape), counts)
    totals = np.where(rng.random(n_lines) < 0.5, counts.sum(axis=1), -math.inf)
    found, is_all = possible_sums(lower, upper, totals)
    assert is_all
    # Below 0 more may be found than there are, which are asked about for nothing; never fewer.
    assert set(found) >= could_be_sums(lower, upper, totals)
    assert below or set(found) == could_be_sums(lower, upper, totals)
    for whole, parts in found.items():
        own = list(parts)
        assert whole not in parts
        assert (lower[:, own].sum(axis=1) <= upper[:, whole]).all()
        assert (upper[:, own].sum(axis=1) >= lower[:, whole]).all()


def test_a_search_for_possible_sums_that_gives_up_says_so():
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 10**9, (3, 40)).astype(float)
    found, is_all = possible_sums(counts, counts, np.full(3, -math.inf), most_work=200_000)
    assert not is_all
    assert not found
    shown = counts.sum(axis=1)
    assert possible_sums(counts, counts, shown) == ({}, True)
    assert possible_sums(counts + 2.0**50, counts + 2.0**50, shown) == ({}, False)
