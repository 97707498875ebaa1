from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from gamekeeper.algorithms.intrusion.dis import diverged_dis, stratified_dis
from gamekeeper.algorithms.intrusion.dis_simulation import simulate_dis
from gamekeeper.algorithms.intrusion.dis_special import special_dis
from gamekeeper.errors import Cancelled, InputError
from tests.algorithms.intrusion.round_chances import match_chances

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
