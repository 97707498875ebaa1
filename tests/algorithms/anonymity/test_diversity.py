"""l-diversity against its definition, class by class."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity.diversity import count_values, diversity

RECORDS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), max_size=14)


def slow_recursive(counts, c):
    ordered = sorted(counts, reverse=True)
    return max(
        (n for n in range(1, len(ordered) + 1) if ordered[0] < c * sum(ordered[n - 1 :])), default=0
    )


@given(RECORDS, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(7, 2)]))
def test_every_class_by_its_definition(records, c):
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


@given(RECORDS, st.data())
def test_a_line_may_stand_for_several_records(records, data):
    each = data.draw(st.lists(st.integers(1, 3), min_size=len(records), max_size=len(records)))
    counts = np.array(each, dtype=np.int64)
    classes, values = (np.array([r[i] for r in records], dtype=np.int64) for i in (0, 1))
    lines = count_values(classes, values, 4, counts)
    whole = count_values(np.repeat(classes, counts), np.repeat(values, counts), 4)
    for name in ("classes", "values", "counts"):
        assert getattr(lines, name).tolist() == getattr(whole, name).tolist()
