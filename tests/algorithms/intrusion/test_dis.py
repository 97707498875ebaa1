from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.intrusion.dis import (
    dis,
    diverged_dis,
    released_counts,
    stratified_dis,
)
from gamekeeper.errors import InputError

FRACTIONS = st.fractions(Fraction(1, 20), 1, max_denominator=20)


def one_by_one(released, original, fractions):
    """Remove each record, copy it back or not, and look who matches its original key."""
    correct, unique = Fraction(0), Fraction(0)
    for record, key in enumerate(original):
        rest = [(other, k) for other, k in enumerate(released) if other != record]
        for is_copied in (True, False):
            chance = fractions[record] if is_copied else 1 - fractions[record]
            file = [*rest, (record, released[record])] if is_copied else rest
            matches = [other for other, k in file if k == key]
            if len(matches) == 1:
                unique += chance
                correct += chance * (matches == [record])
    return correct / unique if unique else None


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), FRACTIONS)
def test_the_general_method_removes_records_one_by_one(classes, fraction):
    sizes = Counter(classes)
    n_uniques = sum(sizes[c] == 1 for c in classes)
    n_paired = sum(sizes[c] == 2 for c in classes)
    expected = one_by_one(classes, classes, [fraction] * len(classes))
    assert dis(n_uniques, n_paired, fraction) == expected
    ids = np.array(classes)
    assert diverged_dis(ids, ids, fraction) == expected


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.1, 0.25, 1.0])), min_size=1, max_size=9
    )
)
def test_each_record_has_the_fraction_of_its_stratum(records):
    classes, fractions = zip(*records, strict=True)
    exact = [Fraction(str(f)) for f in fractions]
    sizes = np.array([classes.count(c) for c in classes])
    expected = one_by_one(classes, classes, exact)
    strata = [
        (
            sum(int(s == 1) for s, f in zip(sizes, fractions, strict=True) if f == stratum),
            sum(int(s == 2) for s, f in zip(sizes, fractions, strict=True) if f == stratum),
            stratum,
        )
        for stratum in set(fractions)
    ]
    assert stratified_dis(strata) == expected


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 5)), min_size=1, max_size=8), FRACTIONS
)
def test_a_perturbed_release_is_attacked_with_the_originals(pairs, fraction):
    released, original = (list(side) for side in zip(*pairs, strict=True))
    expected = one_by_one(released, original, [fraction] * len(pairs))
    assert diverged_dis(np.array(released), np.array(original), fraction) == expected
    counts, own = released_counts(np.array(released), np.array(original))
    assert counts.tolist() == [released.count(key) for key in original]
    assert own.tolist() == [a == b for a, b in pairs]


@pytest.mark.parametrize(
    ("n_uniques", "n_paired", "fraction", "expected"),
    [
        # Thesis tables 2 and 3, with 59 and 455 pairs; then the edges; then the IHSN guide.
        (1019, 2 * 59, "1/100", Fraction(1019, 12701)),
        (3583, 2 * 455, "5/100", Fraction(3583, 20873)),
        (0, 0, "1/10", None),
        (0, 14, "1/10", 0),
        (5, 0, "1/10", 1),
        (0, 14, 1, None),
        (3, 14, 1, 1),
        (4, 6, 0.01, Fraction(4, 598)),
        (15512, 2 * 2098, "0.01", Fraction(3878, 107729)),
    ],
)
def test_known_values(n_uniques, n_paired, fraction, expected):
    assert dis(n_uniques, n_paired, fraction) == expected


def test_the_ratio_is_consistent_and_not_unbiased():
    # Erratum D1: F = (1, 2, 2, 3) at 1/4. Expectations of numerator and denominator agree with
    # those of the truth, the mean of the ratio over samples does not.
    population, fraction = (1, 2, 2, 3), Fraction(1, 4)
    sums = {"n1": Fraction(0), "f1": Fraction(0), "top": Fraction(0), "bottom": Fraction(0)}
    truth, estimate, any_unique = Fraction(0), Fraction(0), Fraction(0)
    for sample in product(*(range(size + 1) for size in population)):
        chance = Fraction(1)
        for size, n in zip(population, sample, strict=True):
            chance *= math.comb(size, n) * fraction**n * (1 - fraction) ** (size - n)
        n1, n2 = sample.count(1), sample.count(2)
        people = sum(size for size, n in zip(population, sample, strict=True) if n == 1)
        sums["n1"] += chance * n1
        sums["f1"] += chance * people
        sums["top"] += chance * n1 * fraction
        sums["bottom"] += chance * (n1 * fraction + 2 * n2 * (1 - fraction))
        if n1:
            any_unique += chance
            truth += chance * Fraction(n1, people)
            estimate += chance * dis(n1, 2 * n2, fraction)
    assert sums["n1"] / sums["f1"] == sums["top"] / sums["bottom"] == Fraction(91, 193)
    assert round(float(truth / any_unique), 3) == 0.504
    assert round(float(estimate / any_unique), 3) == 0.824


def test_negative_counts_are_refused():
    with pytest.raises(InputError) as caught:
        stratified_dis([(1, 2, 0.1), (-1, 2, 0.1), (1, -2, 0.1)])
    assert [problem.where for problem in caught.value.problems] == ["stratum 2", "stratum 3"]


@pytest.mark.parametrize(
    ("released", "original"), [([0, 1], [0]), ([-1, 0], [0, 0]), ([0, 0], [-2, 0])]
)
def test_classes_must_be_numbered_in_both_files(released, original):
    with pytest.raises(InputError, match="attacked with the originals"):
        diverged_dis(np.array(released), np.array(original), 0.5)
