from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage import fellegi_sunter
from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_numbers,
    compare_sinks,
    compare_texts,
)
from gamekeeper.algorithms.linkage.fellegi_sunter import fit_fellegi_sunter, fit_patterns
from gamekeeper.algorithms.linkage.level_patterns import (
    LevelPatterns,
    count_patterns,
    default_limits,
)
from gamekeeper.errors import InputError, LimitError


def plain_em(pairs, n_levels, m, u, share, learns_u, rounds):
    """EM over single pairs, in words: each pair is a tuple of levels, None for missing."""
    likelihoods = []
    for _ in range(rounds + 1):
        weights, likelihood = [], 0.0
        for levels in pairs:
            match, other = share, 1 - share
            for k, level in enumerate(levels):
                if level is not None:
                    match *= m[k][level]
                    other *= u[k][level]
            weights.append(match / (match + other))
            likelihood += math.log(match + other)
        likelihoods.append(likelihood)
        if len(likelihoods) > rounds:
            return m, u, share, likelihoods
        share = sum(weights) / len(weights)
        m, old_u = [list(one) for one in m], u
        u = [list(one) for one in u]
        for k, n in enumerate(n_levels):
            known = [(p[k], w) for p, w in zip(pairs, weights, strict=True) if p[k] is not None]
            for level in range(n):
                m[k][level] = sum(w for x, w in known if x == level) / sum(w for _, w in known)
                u[k][level] = sum(1 - w for x, w in known if x == level) / sum(
                    1 - w for _, w in known
                )
        u = u if learns_u else old_u
    raise AssertionError


def mixture(seed, n_levels=(2, 3, 2), n_pairs=300):
    rng = np.random.default_rng(seed)
    matches = rng.random(n_pairs) < 0.3
    pairs = []
    for is_match in matches:
        levels = []
        for n in n_levels:
            shares = (
                [0.85, *([0.15 / (n - 1)] * (n - 1))]
                if is_match
                else [0.2, *([0.8 / (n - 1)] * (n - 1))]
            )
            level = int(rng.choice(n, p=shares))
            levels.append(None if rng.random() < 0.05 else level)
        pairs.append(tuple(levels))
    kinds = sorted({tuple(-1 if x is None else x for x in p) for p in pairs})
    tally = dict.fromkeys(kinds, 0)
    for p in pairs:
        tally[tuple(-1 if x is None else x for x in p)] += 1
    patterns = LevelPatterns(
        np.array(kinds, np.int8), np.array([float(tally[k]) for k in kinds]), n_levels
    )
    return pairs, patterns


@pytest.mark.parametrize("learns_u", [True, False])
def test_em_against_plain_em(learns_u):
    n_levels = (2, 3, 2)
    pairs, patterns = mixture(1)
    u = [np.array([0.2, *([0.8 / (n - 1)] * (n - 1))]) for n in n_levels]
    if learns_u:
        shares = []
        for k, n in enumerate(n_levels):
            known = [p[k] for p in pairs if p[k] is not None]
            shares.append([known.count(level) / len(known) for level in range(n)])
    else:
        shares = [one.tolist() for one in u]
    m = [[0.9, *([0.1 / (n - 1)] * (n - 1))] for n in n_levels]
    expected = plain_em(pairs, n_levels, m, shares, 0.1, learns_u, 25)
    model = fit_patterns(
        patterns,
        names=["A", "B", "C"],
        limits=[(0,), (0, 1), (0,)],
        u=None if learns_u else u,
        starts=1,
        max_iterations=25,
        tolerance=0.0,
    )
    assert model.iterations == 25
    assert not model.converged
    assert "25 rounds" in model.notes[0]
    for mine, twin in zip((*model.m, *model.u), (*expected[0], *expected[1]), strict=True):
        assert np.allclose(mine, twin, rtol=1e-9)
    assert model.match_share == pytest.approx(expected[2])
    assert model.log_likelihood == pytest.approx(expected[3][-1])


@given(st.integers(0, 1000), st.booleans())
def test_the_log_likelihood_never_falls(seed, learns_u):
    _, patterns = mixture(seed, n_pairs=40)
    rng = np.random.default_rng(seed)
    m, u = ([rng.dirichlet(np.ones(n)) for n in patterns.n_levels] for _ in range(2))
    before = -math.inf
    share = 0.3
    for _ in range(15):
        fit = fellegi_sunter._run_em(patterns, m, u, share, learns_u, 1, -math.inf)
        now = fellegi_sunter._run_em(patterns, m, u, share, learns_u, 0, 0.0).log_likelihood
        assert now >= before - 1e-9 * abs(now)
        before, m, u, share = now, fit.m, fit.u, fit.share


def linked_files(seed=3, n_records=300, n_variables=6, n_values=8, error=0.15):
    rng = np.random.default_rng(seed)
    a = rng.integers(1, n_values + 1, (n_variables, n_records))
    b = np.where(rng.random(a.shape) < error, rng.integers(1, n_values + 1, a.shape), a)
    b[0, :5] = 0
    return [
        compare_categories(x, y, name=f"V{k}") for k, (x, y) in enumerate(zip(a, b, strict=True))
    ]


@pytest.mark.parametrize("u", ["random", "joint"])
def test_probabilities_are_found_without_truth(u):
    comparisons = linked_files()
    model = fit_fellegi_sunter(comparisons, u=u)
    assert model.converged
    assert model.match_share == pytest.approx(1 / 300, rel=0.25)
    for comparison, m, other in zip(comparisons, model.m, model.u, strict=True):
        known = comparison.b > 0
        assert m[0] == pytest.approx((comparison.a == comparison.b)[known].mean(), abs=0.05)
        assert other[0] == pytest.approx(1 / 8, abs=0.02)
    assert model.largest_weight == pytest.approx(sum(w[0] for w in model.weights))
    assert model.probability(np.array([model.weight_of(0.9)])).item() == pytest.approx(0.9)
    again = fit_fellegi_sunter(linked_files(), u=u)
    assert again.log_likelihood == model.log_likelihood


def test_classes_are_named_by_agreement():
    # From a start that takes matches for the rest, EM ends with the two classes exchanged.
    _, patterns = mixture(5, n_levels=(2, 2, 2, 2), n_pairs=2000)
    model = fit_patterns(
        patterns, names=list("ABCD"), limits=[(0,)] * 4, expected_share=0.5, starts=6, seed=2
    )
    assert all(m[0] > u[0] for m, u in zip(model.m, model.u, strict=True))
    assert model.match_share == pytest.approx(0.3, abs=0.1)
    assert 1 <= model.starts_at_best <= model.n_starts == 6


def test_patterns_of_all_pairs_and_of_candidates():
    number = compare_numbers([1.0, 2.0, math.nan], [1.0, 4.0], name="N")
    text = compare_texts([1, 0, 2], [1, 1], ["anna", "bert"], ["anne"], name="T")
    limits = [(0.0, 1.0), (0.25,)]
    number_levels = [[0, 2], [1, 2], [-1, -1]]
    text_levels = [[0, 0], [-1, -1], [1, 1]]

    def tally(pairs):
        counts = {}
        for i, j in pairs:
            key = (number_levels[i][j], text_levels[i][j])
            counts[key] = counts.get(key, 0.0) + 1
        return counts

    def as_dict(patterns):
        kinds = [tuple(kind) for kind in patterns.levels.tolist()]
        return dict(zip(kinds, patterns.counts.tolist(), strict=True))

    everything = count_patterns([number, text], limits)
    assert as_dict(everything) == tally(product(range(3), range(2)))
    assert everything.n_levels == (3, 2)
    some = CandidatePairs.from_pairs([0, 2, 2], [1, 0, 1], (3, 2))
    assert as_dict(count_patterns([number, text], limits, some)) == tally([(0, 1), (2, 0), (2, 1)])


def test_patterns_are_counted_block_by_block(monkeypatch):
    from gamekeeper.algorithms.linkage import level_patterns

    comparisons = linked_files(n_records=40, n_variables=3)
    limits = [(0.0,)] * 3
    rows, columns = np.divmod(np.arange(1600), 40)
    pairs = CandidatePairs.from_pairs(rows, columns, (40, 40))
    whole = count_patterns(comparisons, limits)
    monkeypatch.setattr(level_patterns, "_CELLS_AT_ONCE", 130)
    told = []
    parts = count_patterns(comparisons, limits, progress=lambda *done: told.append(done))
    assert told[-1] == (14, 14)
    for other in (parts, count_patterns(comparisons, limits, pairs)):
        assert (other.levels == whole.levels).all()
        assert (other.counts == whole.counts).all()


def test_default_limits_by_kind():
    assert default_limits(compare_categories([1], [2])) == (0.0,)
    assert default_limits(compare_sinks([1], [1], [[1]], [[1]])) == (0.0, 0.5)
    assert default_limits(compare_texts([1], [1], ["a"], ["b"])) == (0.0, 0.12, 0.3)
    assert default_limits(compare_numbers([0.0], [20.0])) == (0.0, 1.0, 5.0)
    assert default_limits(compare_numbers([1.0], [1.0])) == (0.0,)


def test_a_variable_that_is_always_missing_has_weight_0():
    comparisons = [*linked_files(n_records=60), compare_categories([0] * 60, [0] * 60, name="None")]
    for u in ("random", "joint"):
        weights = fit_fellegi_sunter(comparisons, u=u, n_random=5_000).weights
        assert np.allclose(weights[-1], 0.0)
        assert np.isfinite(np.concatenate(weights)).all()


@pytest.mark.parametrize(
    "limits", [[(0.0,)], [(0.0,), ()], [(0.0,), (1.0, 0.5)], [(0.0,), (-1.0,)]]
)
def test_limits_that_do_not_fit_are_refused(limits):
    comparisons = linked_files(n_records=10, n_variables=2)
    with pytest.raises(InputError):
        fit_fellegi_sunter(comparisons, limits)


def test_no_pair_no_variable_and_too_many_patterns_are_refused():
    comparisons = linked_files(n_records=10, n_variables=2)
    with pytest.raises(InputError, match="no pair"):
        fit_fellegi_sunter(comparisons, None, CandidatePairs.from_pairs([], [], (10, 10)))
    with pytest.raises(InputError):
        fit_fellegi_sunter([])
    with pytest.raises(LimitError):
        count_patterns(comparisons[:1] * 40, [(0.0,)] * 40)
