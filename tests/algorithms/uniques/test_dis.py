from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.uniques.dis import (
    choose_cells,
    dis,
    diverged_dis,
    released_counts,
    simulate_dis,
    special_dis,
    stratified_dis,
)
from gamekeeper.errors import Cancelled, InputError
from tests.given.cases import cases
from tests.twins.round_chances import match_chances

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


CLASSES = np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7])
STRUCTURE = {1: 4, 2: 3, 3: 1}


def is_near(found, expected, errors=4.5):
    return abs(found.estimate - float(expected)) < errors * found.standard_error


@pytest.mark.parametrize("removed", [1, 2, 3, 6, 12, 13])
def test_the_ratio_of_totals_tends_to_the_closed_form(removed):
    found = simulate_dis(CLASSES, "3/10", removed=removed, rounds=15_000, seed=5, tolerance=0)
    expected = special_dis(STRUCTURE, "3/10", removed)
    assert found.rounds == 15_000
    assert is_near(found, expected.ratio)
    assert found.n_unique / found.rounds == pytest.approx(float(expected.unique), rel=0.05)
    if removed <= 12:
        mean = match_chances(STRUCTURE, "3/10", removed).mean_ratio
        assert found.mean_of_ratios == pytest.approx(float(mean), abs=0.02)


def test_several_records_at_once_are_not_the_general_method():
    found = simulate_dis(CLASSES, "3/10", removed=6, rounds=15_000, seed=5, tolerance=0)
    assert not is_near(found, special_dis(STRUCTURE, "3/10", 1).ratio)


def test_the_standard_error_is_that_of_repeated_simulations():
    for removed in (1, 4):
        runs = [
            simulate_dis(CLASSES, 0.3, removed=removed, rounds=800, seed=seed, tolerance=0)
            for seed in range(150)
        ]
        spread = np.std([run.estimate for run in runs], ddof=1)
        claimed = np.mean([run.standard_error for run in runs])
        assert claimed == pytest.approx(spread, rel=0.25)


def test_the_originals_attack_the_perturbed_release():
    generator = np.random.default_rng(3)
    original = generator.integers(0, 40, size=60)
    released = np.where(generator.random(60) < 0.3, generator.integers(0, 40, size=60), original)
    original[:3] = -1
    found = simulate_dis(released, "1/4", original=original, rounds=60_000, seed=2, tolerance=0)
    assert is_near(found, diverged_dis(released, original, "1/4"))
    undisturbed = simulate_dis(released, "1/4", rounds=60_000, seed=2, tolerance=0)
    assert found.estimate < undisturbed.estimate - 5 * undisturbed.standard_error


def slow_round(released, original, drawn, copied):
    """Match by hand what one round removes."""
    gone = set(drawn) - {r for r, is_copied in zip(drawn, copied, strict=True) if is_copied}
    file = [r for r in range(len(released)) if r not in gone]
    unique = correct = 0
    for record in drawn:
        matches = [r for r in file if released[r] == original[record]]
        unique += len(matches) == 1
        correct += matches == [record]
    return unique, correct


@pytest.mark.parametrize("removed", [1, 3, 5])
def test_every_round_matches_as_by_hand(removed):
    # With the same stream of random numbers, the same records are removed and copied back.
    generator = np.random.default_rng(11)
    original = generator.integers(-1, 12, size=30)
    released = generator.integers(0, 12, size=30)
    fractions = generator.uniform(0.1, 0.9, size=30)
    found = simulate_dis(
        released, fractions, original=original, removed=removed, rounds=200, seed=8, tolerance=0
    )
    stream = np.random.default_rng(np.random.SeedSequence(8))
    drawn = stream.integers(30, size=(200, removed))
    while again := [i for i, row in enumerate(drawn) if len(set(row)) < removed]:
        drawn[again] = stream.integers(30, size=(len(again), removed))
    copied = stream.random(drawn.shape) < fractions[drawn]
    rounds = [
        slow_round(released, original, [int(r) for r in row], back)
        for row, back in zip(drawn, copied, strict=True)
    ]
    assert found.n_unique == sum(unique for unique, _ in rounds)
    assert found.n_correct == sum(correct for _, correct in rounds)
    ratios = [correct / unique for unique, correct in rounds if unique]
    assert found.mean_of_ratios == pytest.approx(np.mean(ratios))
    residuals = [c - found.estimate * u for u, c in rounds]
    error = np.sqrt(200 * np.var(residuals, ddof=1)) / found.n_unique
    assert found.standard_error == pytest.approx(error)


def test_strata_have_fractions_of_their_own():
    fractions = np.where(CLASSES % 2, 0.5, 0.1)
    sizes = np.array([Counter(CLASSES.tolist())[c] for c in CLASSES.tolist()])
    found = simulate_dis(CLASSES, fractions, rounds=60_000, seed=4, tolerance=0)
    strata = [
        (int(np.sum(sizes[of] == 1)), int(np.sum(sizes[of] == 2)), share)
        for share in (0.5, 0.1)
        for of in [fractions == share]
    ]
    assert is_near(found, stratified_dis(strata))


def test_it_stops_when_it_is_exact_enough():
    found = simulate_dis(CLASSES, 0.3, seed=1, tolerance=0.01)
    assert found.converged
    assert found.standard_error <= 0.01
    assert found.rounds < 200_000
    before = found.steps[-2]
    assert before.standard_error > 0.01
    assert (found.steps[-1].rounds, found.steps[-1].estimate) == (found.rounds, found.estimate)
    # Fewer rounds are the beginning of more.
    short = simulate_dis(CLASSES, 0.3, seed=1, tolerance=0, rounds=before.rounds)
    assert short.steps == found.steps[:-1]
    assert not short.converged
    assert simulate_dis(CLASSES, 0.3, seed=1, tolerance=0.01) == found
    other = simulate_dis(CLASSES, 0.3, seed=2, tolerance=0.01)
    assert replace(other, seed=1) != found


def test_a_ratio_without_spread_waits_for_enough_matches():
    # Without pairs every unique match is correct, from the first on, with standard error 0.
    found = simulate_dis(np.arange(50), "1/1000", seed=1, tolerance=0.01, rounds=1_000_000)
    assert (found.estimate, found.standard_error, found.converged) == (1.0, 0.0, True)
    assert found.n_unique >= 100
    assert len(found.steps) > 5


def test_nothing_to_match():
    found = simulate_dis(np.zeros(9, dtype=int), 0.3, rounds=100)
    assert (found.estimate, found.standard_error, found.mean_of_ratios) == (None, None, None)
    assert not found.converged
    one = simulate_dis(np.array([0]), 1, rounds=1)
    assert (one.estimate, one.standard_error) == (1.0, None)


def test_it_tells_how_far_it_is_and_can_be_stopped():
    told = []
    simulate_dis(CLASSES, 0.3, rounds=10_000, tolerance=0, progress=lambda *done: told.append(done))
    assert told == [(4096, 10_000), (8192, 10_000), (10_000, 10_000)]

    def stop(done, whole):
        raise Cancelled("A simulation was asked for.")

    with pytest.raises(Cancelled):
        simulate_dis(CLASSES, 0.3, progress=stop)


def test_all_wrong_arguments_are_told_at_once():
    with pytest.raises(InputError) as caught:
        simulate_dis(CLASSES, 0, removed=14, rounds=0, tolerance=2)
    where = [problem.where for problem in caught.value.problems]
    assert where == ["removed", "rounds", "tolerance", "fraction"]
    with pytest.raises(InputError, match="1 are wrong"):
        simulate_dis(np.array([0, 1]), np.array([0.5, 1.5]))
    with pytest.raises(InputError, match="There are 3 for 2 records"):
        simulate_dis(np.array([0, 1]), np.array([0.5, 0.5, 0.5]))
    with pytest.raises(InputError):
        simulate_dis(CLASSES, 0.3, original=CLASSES[:5])
    with pytest.raises(InputError, match="removed"):
        simulate_dis(np.zeros(0, dtype=int), 0.3)


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
def test_known_values_where_some_records_are_removed(removed, expected):
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


cells = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(1, 40), st.integers(0, 100)),
    min_size=1,
    max_size=12,
)


def taken_until(order, people, most):
    taken, total = set(), 0.0
    for place in order:
        total += people[place]
        if total > most * (1 + 1e-9):
            break
        taken.add(place)
    return taken


@given(cells, st.integers(1, 5))
def test_they_are_those_of_the_twin(given_cells, top):
    sample = [f for f, _, _, _ in given_cells]
    people = [f + more for f, more, _, _ in given_cells]
    expected = [f + size / 10 for f, _, size, _ in given_cells]
    chance = [number / 100 for _, _, _, number in given_cells]
    found = choose_cells(
        np.array(chance), np.array(expected), np.array(sample), np.array(people), top=top
    )
    sampled = [place for place, f in enumerate(sample) if f]
    best = sorted(sampled, key=lambda place: (-chance[place], place))[:top]
    order = sorted(sampled, key=lambda place: (expected[place], place))
    alone = [place for place, f in enumerate(sample) if f == 1]
    assert set(np.flatnonzero(found["top"])) == set(best)
    assert set(np.flatnonzero(found["mcmcmc1"])) == taken_until(
        order, people, sum(people[place] for place in alone)
    )
    assert set(np.flatnonzero(found["mcmcmc2"])) == taken_until(
        order, expected, sum(expected[place] for place in alone)
    )


@given(cells, st.integers(1, 5), st.lists(st.integers(-3, 3), min_size=12, max_size=12))
def test_the_last_digits_make_no_difference(given_cells, top, ulps):
    sample = np.array([f for f, _, _, _ in given_cells])
    people = sample + np.array([more for _, more, _, _ in given_cells])
    expected = np.array([f + size / 10 for f, _, size, _ in given_cells])
    chance = np.array([number / 100 for _, _, _, number in given_cells])
    noise = 1 + np.array(ulps[: len(sample)]) * np.finfo(float).eps
    found = choose_cells(chance, expected, sample, people, top=top)
    again = choose_cells(chance * noise, expected * noise, sample, people, top=top)
    assert all(np.array_equal(found[way], again[way]) for way in found)
