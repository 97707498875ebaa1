from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.intrusion.dis import dis
from gamekeeper.algorithms.intrusion.dis_special import special_dis
from gamekeeper.errors import InputError
from tests.algorithms.intrusion.round_chances import match_chances
from tests.given.cases import cases


def every_round(classes, fraction, removed):
    """Go through every set of removed records and every pattern of copying back."""
    chances = Counter()
    sets = list(combinations(range(len(classes)), removed))
    for gone in sets:
        kept = [c for record, c in enumerate(classes) if record not in gone]
        for pattern in product((True, False), repeat=removed):
            chance = Fraction(1, len(sets))
            for is_copied in pattern:
                chance *= fraction if is_copied else 1 - fraction
            back = [classes[r] for r, is_copied in zip(gone, pattern, strict=True) if is_copied]
            file = Counter(kept) + Counter(back)
            unique = [c for c in zip(gone, pattern, strict=True) if file[classes[c[0]]] == 1]
            # The one record that matches is the removed one itself if that was copied back.
            chances[len(unique), sum(is_copied for _, is_copied in unique)] += chance
    return {outcome: chance for outcome, chance in chances.items() if chance}


def structure_of(classes):
    return dict(Counter(Counter(classes).values()))


@cases(20)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
    st.integers(1, 4),
)
def test_every_round_in_closed_form(classes, fraction, removed):
    removed = min(removed, len(classes))
    expected = every_round(classes, fraction, removed)
    structure = structure_of(classes)
    assert match_chances(structure, fraction, removed).chances == expected
    means = special_dis(structure, fraction, removed)
    assert means.unique == sum(chance * u for (u, _), chance in expected.items())
    assert means.correct == sum(chance * c for (_, c), chance in expected.items())


@given(
    st.dictionaries(st.integers(1, 5), st.integers(0, 50), min_size=1),
    st.fractions(Fraction(1, 50), 1, max_denominator=50),
)
def test_one_record_at_a_time_is_the_general_method(structure, fraction):
    if not any(structure.values()):
        return
    general = dis(structure.get(1, 0), 2 * structure.get(2, 0), fraction)
    assert special_dis(structure, fraction).ratio == general
    assert match_chances(structure, fraction).mean_ratio == general


@pytest.mark.parametrize(("removed", "expected"), [(1, "1/3"), (2, "17/44")])
def test_known_values(removed, expected):
    # Classes of 1, 1, 1, 2 and 2 records at 2/5.
    assert special_dis({1: 3, 2: 2}, "2/5", removed).ratio == Fraction(expected)


def test_the_mean_of_ratios_is_another_number():
    found = match_chances({1: 3, 2: 2}, "2/5", 2)
    assert found.any_unique == Fraction(128, 175)
    assert found.mean_ratio == Fraction(3, 8)
    assert sum(found.chances.values()) == 1


def test_large_files_and_nothing_to_match():
    found = special_dis({1: 500_000, 2: 100_000, 7: 40_000}, "1%", 10_000)
    general = dis(500_000, 200_000, "1%")
    assert abs(float(found.ratio - general)) < 0.02 * float(general)
    assert special_dis({3: 4}, "1/2").ratio is None
    assert match_chances({3: 4}, "1/2").mean_ratio is None
    # All removed and none lost: every record finds itself.
    assert special_dis({1: 4}, 1, 4).ratio == 1


@pytest.mark.parametrize(
    ("structure", "removed"), [({1: 3}, 0), ({1: 3}, 4), ({}, 1), ({1: -3, 2: 5}, 1), ({-1: 3}, 1)]
)
def test_impossible_removals_are_refused(structure, removed):
    with pytest.raises(InputError):
        special_dis(structure, "1/2", removed)


def test_the_chances_of_all_outcomes_sum_to_one():
    assert sum(match_chances({1: 20, 2: 20, 3: 5}, "1/4", 6).chances.values()) == 1
