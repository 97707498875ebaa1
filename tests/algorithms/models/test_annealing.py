from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.graphs import decomposable_graphs, is_decomposable
from gamekeeper.algorithms.models import mc3
from gamekeeper.algorithms.models.annealing import (
    acceptance_probability,
    anneal,
    cooling_schedule,
    exact_posterior,
    occams_window,
    sample_models,
)
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.walks import posterior_weights, walk
from gamekeeper.algorithms.statistics import effective_size
from gamekeeper.errors import Cancelled, InputError, LimitError
from tests.given.cases import cases

MOVES = ("toggle", "swap", "star", "triangle", "leaf")

# Czech autoworkers: smoke, phys, systol, protein, family; the counts of the 32 cells in order.
WORKERS = (
    156, 26, 93, 21, 115, 15, 97, 17, 141, 10, 57, 11, 116, 19, 58, 9,
    107, 16, 98, 17, 45, 11, 82, 11, 168, 21, 93, 19, 76, 19, 79, 18,
)  # fmt: skip
CELLS = np.array([[c >> 4 & 1, c >> 3 & 1, c >> 2 & 1, c >> 1 & 1, c & 1] for c in range(32)])


def workers(m, precision=2.0):
    """The scores of the first m variables; fewer records make more models probable."""
    counts = np.array(WORKERS) // (6 - m)
    return MarginScores(CELLS[:, :m], [2] * m, counts=counts, precision=precision)


def chain_table(n, m, levels, seed, keep=0.6):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, levels, (n, m))
    for v in range(1, m):
        same = rng.random(n) < keep
        table[same, v] = table[same, int(rng.integers(v))]
    return table


@pytest.mark.parametrize(("m", "n_models"), [(1, 1), (2, 2), (3, 8), (4, 61), (5, 822)])
def test_the_exact_posterior_has_every_decomposable_model(m, n_models):
    exact = exact_posterior(workers(m))
    assert exact.n_models == n_models
    assert {tuple(row) for row in exact.models.tolist()} == set(decomposable_graphs(m))
    assert exact.weights.sum() == pytest.approx(1.0)
    assert all(a >= b for a, b in pairwise(exact.log_scores))


def test_the_exact_posterior_of_five_variables():
    exact = exact_posterior(workers(5))
    assert exact.log_scores[0] == pytest.approx(-5808.225403928235, abs=1e-8)
    assert exact.weights[:2] == pytest.approx([0.3562573769440391, 0.2408516208464984], rel=1e-8)
    assert exact.edge_probabilities()[0, 2] == pytest.approx(0.6318847756693031, rel=1e-8)
    assert exact.edge_probabilities()[3, 4] == pytest.approx(0.11879093943897925, rel=1e-8)
    with pytest.raises(LimitError, match="18,154"):
        exact_posterior(MarginScores(np.zeros((1, 6), np.uint8)))


def chi_square(exact, weights, graphs):
    """Return how far draws are from what is expected, in standard deviations of chi-square."""
    place = {tuple(row): i for i, row in enumerate(exact.models.tolist())}
    observed = np.bincount([place[tuple(g)] for g in graphs.tolist()], minlength=len(place))
    expected = weights * len(graphs)
    often = expected >= 5
    observed = np.append(observed[often], observed[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    some = expected > 0
    freedom = some.sum() - 1
    distance = ((observed - expected)[some] ** 2 / expected[some]).sum()
    return (distance - freedom) / np.sqrt(2 * freedom)


def moved(scores, graphs, kind, beta, n_moves):
    """Move each graph by itself, by one kind of move (or all kinds)."""
    n = len(graphs)
    shares = np.cumsum([1.0 if kind in (name, "all") else 0.0 for name in MOVES])
    shares /= shares[-1]
    state = np.array([1, 2, 3, 4], np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    walk(scores, graphs, np.full(n, beta), shares, state, sweeps=1, proposals=n_moves)
    return graphs


@pytest.mark.parametrize("beta", [1.0, pytest.param(0.3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [*MOVES, "all"])
@pytest.mark.parametrize("m", [4, 5])
def test_every_move_leaves_the_posterior_as_it_is(m, kind, beta):
    scores = workers(m)
    exact = exact_posterior(scores)
    weights = np.exp(beta * (exact.log_scores - exact.log_scores[0]))
    weights /= weights.sum()
    rng = np.random.default_rng(7)
    start = exact.models[rng.choice(len(weights), 30_000, p=weights)]
    end = moved(scores, start.copy(), kind, beta, 4)
    assert (end != start).any(axis=1).mean() > 0.003
    assert chi_square(exact, weights, end) < 4.0


def test_the_test_of_moves_sees_a_small_error():
    scores = workers(5)
    exact = exact_posterior(scores)
    weights = np.exp(exact.log_scores - exact.log_scores[0])
    weights /= weights.sum()
    rng = np.random.default_rng(7)
    start = exact.models[rng.choice(len(weights), 30_000, p=weights)]
    wrong = np.exp(0.95 * (exact.log_scores - exact.log_scores[0]))
    assert chi_square(exact, wrong / wrong.sum(), start) > 6.0


SEARCHES = [
    pytest.param(
        m, moves, tempering, marks=[pytest.mark.slow] if moves and (m == 4 or tempering) else []
    )
    for m in (4, 5)
    for moves in (None, *({"toggle": 0.5, kind: 0.5} for kind in MOVES[1:]))
    for tempering in (True, False)
]


@pytest.mark.parametrize(("m", "moves", "tempering"), SEARCHES)
def test_sampled_models_agree_with_the_exact_posterior(m, moves, tempering):
    scores = workers(m)
    exact = exact_posterior(scores)
    found = sample_models(
        scores, moves=moves, tempering=tempering, sweeps=4_000, most_sweeps=4_000, seed=3
    )
    assert found.converged
    assert found.complete
    assert found.worst_r_hat < 1.05
    expected = dict(zip(map(tuple, exact.models.tolist()), exact.weights, strict=True))
    n = found.visits.sum()
    worth = found.effective_size
    assert worth > 0.05 * n
    for model, weight, score in zip(
        found.models.tolist(), found.weights, found.log_scores, strict=True
    ):
        p = expected[tuple(model)]
        assert abs(weight - p) < 5 * np.sqrt(p * (1 - p) / worth) + 5 / worth
        assert score == pytest.approx(scores.log_marginal_likelihood(model), abs=1e-8)
    p = exact.edge_probabilities()
    error = np.sqrt(p * (1 - p) / worth)
    assert (np.abs(found.edge_probabilities() - p) <= 5 * error + 5 / worth).all()
    assert (np.abs(found.chain_edges - p) <= 10 * error + 20 / worth).all()
    # What was not visited has hardly any weight.
    visited = {tuple(row) for row in found.models.tolist()}
    assert sum(p for model, p in expected.items() if model not in visited) < 0.02


def same(one, other):
    return (
        np.array_equal(one.models, other.models)
        and np.array_equal(one.log_scores, other.log_scores)
        and np.array_equal(one.visits, other.visits)
        and np.array_equal(one.trace, other.trace, equal_nan=True)
        and dict(one.acceptance) == dict(other.acceptance)
    )


@pytest.mark.parametrize("search", [sample_models, anneal, occams_window])
def test_one_seed_gives_one_result_whatever_the_number_of_workers(search):
    table = chain_table(200, 7, 3, seed=8)
    options = {"sweeps": 60, "most_sweeps": 120} if search is sample_models else {}
    alone = search(MarginScores(table), seed=5, workers=1, **options)
    for n_workers in (2, 5):
        assert same(alone, search(MarginScores(table), seed=5, workers=n_workers, **options))
    scores = MarginScores(table, most_kept=16)
    assert same(alone, search(scores, seed=5, **options))
    assert same(alone, search(scores, seed=5, **options))


def test_different_seeds_give_different_walks():
    scores = MarginScores(chain_table(200, 6, 3, seed=8))
    first, second = (sample_models(scores, seed=s, sweeps=50, most_sweeps=50) for s in (1, 2))
    assert not np.array_equal(first.trace, second.trace)
    assert len({row.tobytes() for row in first.trace}) == len(first.trace)


def three_way(n=1500, seed=1):
    """The third variable is the sum of two others, and every two of the three are independent."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, (n, 6))
    table[:, 2] = (table[:, 0] + table[:, 1]) % 6
    return table


def test_chains_cross_what_single_edges_do_not():
    scores = MarginScores(three_way(), [6] * 6)
    plain = sample_models(
        scores, moves={"toggle": 1.0}, tempering=False, sweeps=200, most_sweeps=200, seed=2
    )
    best = [0b110, 0b101, 0b011, 0, 0, 0]
    # Each step on the way is a hundred times too improbable, so chains agree on what is wrong.
    assert (plain.chain_edges[:, 0, 1] < 0.01).all()
    assert plain.best_score < scores.log_marginal_likelihood(best) - 1_000
    found = sample_models(scores, seed=2)
    assert found.converged
    assert found.best.tolist() == best
    assert (found.chain_edges[:, 0, 1] > 0.99).all()


def test_starts_are_dispersed():
    scores = MarginScores(chain_table(400, 8, 3, seed=9))
    found = sample_models(scores, sweeps=4, most_sweeps=4, seed=1, proposals=1, tempering=False)
    assert not found.converged
    first = found.trace[:, 0]
    assert len(set(first.round(6).tolist())) == 4
    assert first[3] == max(first)
    assert is_decomposable(found.best.tolist())


def test_diagnostics_of_a_search():
    scores = MarginScores(chain_table(300, 6, 3, seed=4))
    found = sample_models(scores, seed=1, sweeps=500, burn_in=0.4, thin=3)
    assert found.burn_in == 0.4 * found.trace.shape[1]
    kept = found.trace.shape[1] - found.burn_in
    assert found.visits.sum() == found.trace.shape[0] * (kept // 3)
    assert 0 < found.n_carrying(0.5) <= found.n_carrying() <= found.n_models
    assert posterior_weights(found.log_scores).sum() == pytest.approx(1.0)
    assert all(made <= tried for tried, made in found.acceptance.values())
    assert list(found.acceptance) == list(MOVES)
    assert ((found.exchanges >= 0.1) & (found.exchanges <= 1)).all()
    np.testing.assert_allclose(
        found.chain_edges.mean(axis=0), found.edge_probabilities(), atol=1e-12
    )
    assert repr(found).startswith("SearchResult(mc3: ")
    assert len(found.sentences()) == 3
    # The trace is that of the models: its last draws are among those kept.
    assert np.abs(found.log_scores[:, None] - found.trace[:, -1]).min(axis=0).max() < 1e-6


def test_annealing_finds_the_best_of_all():
    scores = workers(5)
    exact = exact_posterior(scores)
    for schedule, proposals in (("adaptive", None), ("thesis", 10)):
        found = anneal(scores, schedule=schedule, proposals=proposals, seed=2)
        assert found.best.tolist() == exact.best.tolist()
        assert found.best_score == pytest.approx(exact.best_score, abs=1e-9)
        assert found.converged
        assert found.visits.sum() == 4 + 1
    assert found.trace.shape == (4, 3666)
    assert found.acceptance["toggle"] == (4 * 36_660, found.acceptance["toggle"][1])
    assert found.acceptance["leaf"] == (0, 0)


def test_annealing_is_no_worse_than_a_long_walk():
    table = chain_table(1_000, 12, 3, seed=6)
    scores = MarginScores(table)
    best = anneal(scores, seed=1)
    walked = sample_models(scores, seed=1, sweeps=300, most_sweeps=300)
    assert best.best_score >= walked.trace.max() - 1e-6
    assert is_decomposable(best.best.tolist())


def test_schedule_and_acceptance():
    # Erratum M17, and M7 for the sign.
    temperatures = cooling_schedule()
    assert len(temperatures) == 3666
    assert temperatures[-1] > 0.01
    assert [acceptance_probability(b, 2.0) for b in (-3.0, 0.0, 1.5)] == pytest.approx(
        [0.22313016014842982, 1.0, 1.0]
    )
    with pytest.raises(InputError):
        cooling_schedule(1.0, 2.0)


def window_of_all(scores, c, strict):
    """Occam's window by its definition, among all models; equal scores drive out nobody."""
    exact = exact_posterior(scores)
    near = exact.log_scores >= exact.log_scores[0] - np.log(c)
    listed = list(zip(exact.models[near].tolist(), exact.log_scores[near].tolist(), strict=True))
    return [
        model
        for model, score in listed
        if not strict
        or not any(
            value > score + 1e-7 and all(a & ~b == 0 for a, b in zip(other, model, strict=True))
            for other, value in listed
        )
    ]


@pytest.mark.parametrize(("m", "strict"), [(4, True), (4, False), (5, True), (5, False)])
@pytest.mark.parametrize("searched", [False, True])
def test_occams_window_is_that_of_all_models(m, strict, searched):
    scores = workers(m)
    inside = window_of_all(scores, 20.0, strict)
    starts = anneal(scores).models if searched else None
    found = occams_window(scores, starts=starts, strict=strict)
    assert found.converged
    assert sorted(found.models.tolist()) == sorted(inside)
    for model, score in zip(found.models.tolist(), found.log_scores, strict=True):
        assert score == pytest.approx(scores.log_marginal_likelihood(model), abs=1e-8)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.weights == pytest.approx(posterior_weights(found.log_scores))


@given(
    st.integers(0, 10_000),
    st.integers(2, 4),
    st.sampled_from([3, 20, 500]),
    st.sampled_from([0.5, 1.0, 10.0]),
)
@cases(20)
def test_occams_window_of_small_samples(seed, m, c, precision):
    """Small samples have wide windows, and a variable with one category makes scores equal."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 20, 60]))
    table = np.stack([rng.integers(0, 1 + rng.integers(3), n) for _ in range(m)], axis=1)
    follows = rng.random(n) < 0.5
    table[follows, 1] = table[follows, 0]
    scores = MarginScores(table, precision=precision)
    scored = exact_posterior(scores).log_scores
    assume(np.abs(scored - scored[0] + np.log(c)).min() > 1e-6)
    for strict in (True, False):
        found = occams_window(scores, c=c, strict=strict, workers=1)
        assert sorted(found.models.tolist()) == sorted(window_of_all(scores, c, strict))


def test_the_window_without_the_rule_of_simpler_models_is_searched_upwards_too():
    """A start at the simplest model reaches richer ones that are less probable."""
    rng = np.random.default_rng(0)
    scores = MarginScores(rng.integers(0, 2, (12, 4)), precision=10.0)
    wanted = window_of_all(scores, 1000.0, strict=False)
    assert len(wanted) > len(window_of_all(scores, 1000.0, strict=True))
    found = occams_window(scores, starts=[[0] * 4], c=1000.0, strict=False)
    assert sorted(found.models.tolist()) == sorted(wanted)


def test_occams_window_from_given_models_and_with_a_limit():
    scores = workers(5)
    full = [31 & ~(1 << v) for v in range(5)]
    for start in ([0] * 5, full):
        found = occams_window(scores, starts=[start])
        assert found.best.tolist() == exact_posterior(scores).best.tolist()
    cut = occams_window(scores, most_models=1)
    assert not cut.converged
    assert any("not searched to its edges" in sentence for sentence in cut.sentences())
    wide = occams_window(scores, c=1000, strict=False)
    assert wide.n_models > occams_window(scores, strict=False).n_models


class Stopping:
    """Progress that stops the work after some calls, once so much is done."""

    def __init__(self, calls, least=0):
        self.left = calls
        self.least = least
        self.said = []

    def __call__(self, done, total):
        self.said.append((done, total))
        self.left -= done >= self.least
        if self.left < 0:
            raise Cancelled("A search was asked for.")


@pytest.mark.parametrize(
    ("search", "options", "least"),
    [
        (sample_models, {"sweeps": 10**6, "most_sweeps": 10**6}, 100),
        (anneal, {"proposals": 10**8}, 0),
    ],
)
def test_a_search_stops_when_told(search, options, least):
    scores = MarginScores(chain_table(300, 8, 3, seed=4))
    started = time.perf_counter()
    with pytest.raises(Cancelled):
        search(scores, progress=Stopping(1), **options)
    part = search(scores, progress=Stopping(2, least), keep_partial=True, **options)
    assert time.perf_counter() - started < 20
    assert not part.complete
    assert not part.converged
    assert np.isfinite(part.log_scores).all()
    assert all(is_decomposable(row) for row in part.models.tolist())
    assert any("cancelled" in sentence for sentence in part.sentences())


def test_a_window_stops_when_told():
    scores = workers(5)
    with pytest.raises(Cancelled):
        occams_window(scores, progress=Stopping(1))
    part = occams_window(scores, progress=Stopping(2), keep_partial=True)
    assert not part.complete
    assert part.n_models >= 1


def test_progress_reaches_its_end():
    said = Stopping(10**9)
    sample_models(workers(4), sweeps=20, most_sweeps=80, progress=said)
    assert said.said[-1] == (320, 320)
    dones = [done for done, _ in said.said]
    assert dones == sorted(dones)


@pytest.mark.parametrize("options", [{}, {"restarts": 0}, {"schedule": "thesis", "proposals": 1}])
def test_progress_of_annealing_reaches_its_end(options):
    said = Stopping(10**9)
    anneal(workers(4), progress=said, **options)
    done, total = said.said[-1]
    assert done == total > 0
    dones = [done for done, _ in said.said]
    assert dones == sorted(dones)
    assert {total for _, total in said.said} == {total}


def test_annealing_that_is_cancelled_at_its_end_keeps_what_it_found():
    def stop(done, total):
        if done == total:
            raise Cancelled("Models were to be searched.")

    with pytest.raises(Cancelled):
        anneal(workers(4), progress=stop)
    part = anneal(workers(4), progress=stop, keep_partial=True)
    assert not part.complete
    assert part.best.tolist() == anneal(workers(4)).best.tolist()


@pytest.mark.parametrize("search", [sample_models, anneal, occams_window])
@pytest.mark.parametrize(
    ("table", "levels"),
    [
        (np.zeros((0, 3), np.uint8), [2, 3, 4]),
        (np.array([[1, 2, 0]]), [2, 3, 4]),
        (np.array([[0, 0], [0, 1], [0, 1]]), [1, 2]),
        (np.array([[0], [1]]), [2]),
        (np.array([[0, 1], [1, 0]]), [40, 10**12]),
    ],
)
def test_little_to_go_by(search, table, levels):
    found = search(MarginScores(table, levels), seed=1)
    assert np.isfinite(found.log_scores).all()
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.models.shape[1] == len(levels)
    assert found.converged
    assert found.sentences()


def test_without_records_every_model_is_as_probable():
    found = sample_models(MarginScores(np.zeros((0, 4), np.uint8), [2] * 4), seed=1, sweeps=4_000)
    assert found.n_models == 61
    p = exact_posterior(MarginScores(np.zeros((0, 4), np.uint8))).edge_probabilities()
    np.testing.assert_allclose(found.edge_probabilities(), p, atol=0.03)


def test_sixty_four_variables():
    table = chain_table(300, 64, 2, seed=3, keep=0.9)
    scores = MarginScores(table, [2] * 64)
    found = anneal(scores, restarts=1, proposals=2_000, seed=1)
    assert found.best_score > scores.log_marginal_likelihood([0] * 64) + 1_000
    assert is_decomposable(found.best.tolist())
    part = sample_models(scores, chains=2, sweeps=4, most_sweeps=4, proposals=50)
    assert part.r_hat.shape == (64, 64)


def test_options_are_checked_together():
    scores = workers(4)
    with pytest.raises(InputError) as error:
        sample_models(scores, chains=1, sweeps=1, burn_in=1.0, thin=0, workers=0)
    assert len(error.value.problems) == 5
    with pytest.raises(InputError, match="Near to it: 'star'"):
        sample_models(scores, moves={"toggle": 1.0, "stars": 1.0})
    with pytest.raises(InputError, match="single edges"):
        anneal(scores, moves={"swap": 1.0})
    with pytest.raises(InputError):
        anneal(scores, schedule="slow", restarts=1)
    with pytest.raises(InputError):
        anneal(scores, restarts=-1)
    with pytest.raises(InputError):
        occams_window(scores, c=1.0)


def test_effective_size_of_correlated_draws():
    rng = np.random.default_rng(0)
    series = np.zeros((4, 20_000))
    for i in range(1, series.shape[1]):
        series[:, i] = 0.8 * series[:, i - 1] + rng.normal(size=4)
    # The autocorrelation time of such a series is (1 + 0.8) / (1 - 0.8) = 9.
    assert effective_size(series) == pytest.approx(80_000 / 9, rel=0.1)
    assert mc3.r_hat(series) < 1.01
    series[0] += 2
    assert mc3.r_hat(series) > 1.05
    assert effective_size(series) < 100
