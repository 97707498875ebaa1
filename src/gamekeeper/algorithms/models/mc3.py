"""Sampling decomposable models from their posterior (MC3).

Metropolis-Hastings over decomposable graphs under a uniform prior (Madigan and York, Bayesian
graphical models for discrete data, 1995). An illegal proposal counts as a rejection. Single edges
alone hardly move between good models of a large file, so there are moves of several edges, and
every chain is a ladder of walks at inverse temperatures from near 0 up to 1 that exchange their
models (Geyer 1991; Swendsen and Wang 1986). All of it keeps detailed balance: the proposals of
moves are symmetric, or draws from the exact conditional, and the ladder is fixed by a pilot run
before the chains start. Chains start from different models and share nothing but kept scores.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.walks import (
    MOVES,
    SearchResult,
    check_options,
    cool,
    cumulative_shares,
    edge_shares,
    random_states,
    run_walks,
    walk,
)
from gamekeeper.algorithms.statistics import effective_size, r_hat
from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress

MOST_R_HAT = 1.05
_PILOTS = 8
_PILOT_SWEEPS = 40
# Neighbouring temperatures are this many standard deviations of the score apart; some 40% of
# exchanges are then made.
_STEP = 1.5
_WIDEST = 1.0
_HOTTEST = 5.0
_FEWEST_DRAWS = 8
_SLICES = 8


def sample_models(
    scores: MarginScores,
    *,
    chains: int = 4,
    sweeps: int = 1_000,
    most_sweeps: int = 32_000,
    proposals: int | None = None,
    burn_in: float = 0.5,
    thin: int = 1,
    moves: Mapping[str, float] | None = None,
    tempering: bool = True,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    keep_partial: bool = False,
) -> SearchResult:
    """Sample decomposable models from their posterior until chains agree.

    - `chains`: the number of chains, at least 2; they start from the empty model, a random tree, a
      random model and an annealed one, in turn.
    - `sweeps`, `most_sweeps`: the number of sweeps of each chain at first, and at most: it is
      doubled until the worst R-hat of an edge is below 1.05.
    - `proposals`: the number per sweep at each temperature; one per pair of variables by default,
      at least 20.
    - `burn_in`, `thin`: the share of sweeps to leave out at the start, and the sweeps per draw.
    - `moves`: shares of the kinds of moves, see `MOVES`. Some must be single edges.
    - `tempering`: whether chains are ladders of temperatures; without, each is a plain walk.
    - `seed`, `workers`: the same seed gives the same result whatever the number of threads.
    - `progress`, `keep_partial`: if `progress` raises `Cancelled` the search stops; with
      `keep_partial` what there is by then is returned, if there are draws.

    Examples
    --------
    >>> table = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5)
    >>> found = sample_models(MarginScores(table, [2, 2, 2]), seed=1)
    >>> found.best.tolist(), found.converged
    ([2, 1, 0], True)
    """
    check_options(
        {
            "chains": (chains >= 2, "at least 2"),
            "sweeps": (4 <= sweeps <= most_sweeps, "at least 4, and at most most_sweeps"),
            "proposals": (proposals is None or proposals >= 1, "at least 1"),
            "burn_in": (0 <= burn_in < 1, "from 0 to below 1"),
            "thin": (thin >= 1, "at least 1"),
            "seed": (seed >= 0, "from 0 up"),
            "workers": (workers is None or workers >= 1, "at least 1"),
        }
    )
    m = scores.n_variables
    shares = cumulative_shares(moves, m)
    per_sweep = max(20, m * (m - 1) // 2) if proposals is None else proposals
    started = time.perf_counter()
    total = chains * most_sweeps
    preparing = None if progress is None else partial(_nothing_done, progress, total)
    betas = _ladder(scores, shares, per_sweep, seed, preparing) if tempering else np.ones(1)
    walks = _starts(
        scores, betas, shares, per_sweep, random_states(seed, chains, 1), workers, preparing
    )

    def advance(number: int, target: int) -> None:
        chain = walks[number]
        before = int(chain.clock[0])
        samples = np.zeros((target - before, m), np.uint64)
        trace = np.zeros((target - before, len(betas)))
        walk(
            scores,
            chain.graphs,
            betas,
            shares,
            chain.state,
            sweeps=target - before,
            proposals=per_sweep,
            exchange=True,
            samples=samples,
            trace=trace,
            tally=chain.tally,
            swaps=chain.swaps,
            clock=chain.clock,
        )
        made = int(chain.clock[0]) - before
        chain.samples.append(samples[:made])
        chain.trace.append(trace[:made, -1].copy())

    n_sweeps = sweeps
    made = 0
    while True:
        # In slices, so that all chains have draws when the work is cancelled.
        for target in np.linspace(made, n_sweeps, _SLICES + 1).astype(int)[1:].tolist():
            cancelled = run_walks(
                partial(advance, target=target),
                [chain.clock for chain in walks],
                workers=workers,
                progress=progress,
                total=total,
            )
            if cancelled is not None:
                drawn = [chain for chain in walks if chain.n_draws >= _FEWEST_DRAWS * thin]
                if not keep_partial or not drawn:
                    raise cancelled
                found = _result(scores, drawn, burn_in, thin, time.perf_counter() - started)
                return replace(found, converged=False, complete=False)
        found = _result(scores, walks, burn_in, thin, time.perf_counter() - started)
        if found.converged or n_sweeps == most_sweeps:
            break
        made, n_sweeps = n_sweeps, min(2 * n_sweeps, most_sweeps)
    if progress is not None:
        try:
            progress(total, total)
        except Cancelled:
            if not keep_partial:
                raise
    return found


@dataclass(slots=True)
class _Chain:
    """The walks of one chain, hottest first, and what they left."""

    graphs: NDArray[np.uint64]
    state: NDArray[np.uint64]
    tally: NDArray[np.int64]
    swaps: NDArray[np.int64]
    clock: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, np.int64))
    samples: list[NDArray[np.uint64]] = field(default_factory=list[NDArray[np.uint64]])
    trace: list[NDArray[np.float64]] = field(default_factory=list[NDArray[np.float64]])

    @property
    def n_draws(self) -> int:
        return sum(len(part) for part in self.trace)


def _nothing_done(progress: Progress, total: int, *_: object) -> None:
    """Tell that no draws were made yet, so that preparations can be cancelled too."""
    progress(0, total)


def _ladder(
    scores: MarginScores,
    shares: NDArray[np.float64],
    per_sweep: int,
    seed: int,
    progress: Progress | None,
) -> NDArray[np.float64]:
    """Return inverse temperatures, hottest first and 1 last, by cooling several walks together."""
    m = scores.n_variables
    graphs = np.zeros((_PILOTS, m), np.uint64)
    factors = scores.edge_factors(graphs[0])
    strong = np.abs(factors[~np.isnan(factors)])
    beta = 1.0 / max(float(strong.max(initial=0.0)) / _HOTTEST, 1.0)
    betas = [beta]
    (state,) = random_states(seed, 1)
    rng = np.random.default_rng(state)
    clock = np.zeros(3, np.int64)
    while beta < 1.0 - 1e-12:
        trace = np.zeros((_PILOT_SWEEPS, _PILOTS))
        cancelled = run_walks(
            partial(_cool, scores, graphs, beta, trace, shares, per_sweep, state, clock),
            [clock],
            workers=1,
            progress=progress,
            total=0,
        )
        if cancelled is not None:
            raise cancelled
        spread = float(trace[_PILOT_SWEEPS // 2 :].std())
        # However flat the score seems, no step may pass over a region where it is not.
        step = min(_STEP / spread if spread > 0 else 1.0, _WIDEST * beta, 1.0 - beta)
        # Walks that fell behind are replaced, or their distance would count as spread.
        weights = np.exp(step * (trace[-1] - trace[-1].max()))
        places = (np.arange(_PILOTS) + rng.random()) / _PILOTS
        graphs = graphs[np.searchsorted(np.cumsum(weights / weights.sum())[:-1], places)]
        beta += step
        betas.append(beta)
    return np.array([*betas[:-1], 1.0])


def _cool(
    scores: MarginScores,
    graphs: NDArray[np.uint64],
    beta: float,
    trace: NDArray[np.float64],
    shares: NDArray[np.float64],
    per_sweep: int,
    state: NDArray[np.uint64],
    clock: NDArray[np.int64],
    *_: int,
) -> None:
    """Walk each graph by itself at one inverse temperature, as long as there is room to trace."""
    betas = np.full(len(graphs), beta)
    n_sweeps = len(trace)
    walk(
        scores, graphs, betas, shares, state,
        sweeps=n_sweeps, proposals=per_sweep, trace=trace, clock=clock,
    )  # fmt: skip


def _starts(
    scores: MarginScores,
    betas: NDArray[np.float64],
    shares: NDArray[np.float64],
    per_sweep: int,
    states: list[NDArray[np.uint64]],
    workers: int | None,
    progress: Progress | None,
) -> list[_Chain]:
    """Return chains at four kinds of starts in turn: empty, tree, random, annealed."""
    m = scores.n_variables
    graphs = np.zeros((len(states), m), np.uint64)
    clocks = [np.zeros(3, np.int64) for _ in states]

    def prepare(number: int) -> None:
        graph, state = graphs[number], states[number]
        kind = number % 4
        if kind == 1:
            _grow_tree(graph, np.random.default_rng(state))
        elif kind == 2:
            hot = float(betas[0]) / 2
            trace = np.zeros((10, 1))
            _cool(scores, graph[None], hot, trace, shares, per_sweep, state, clocks[number])
        elif kind == 3:
            cool(
                scores,
                shares,
                state,
                start=1.0 / float(betas[0]),
                end=0.1,
                pace=1.0,
                proposals=4 * per_sweep,
                best=graph,
                clock=clocks[number],
            )

    cancelled = run_walks(prepare, clocks, workers=workers, progress=progress, total=0)
    if cancelled is not None:
        raise cancelled
    n_rungs = len(betas)
    return [
        _Chain(
            np.repeat(graph[None], n_rungs, axis=0),
            state,
            np.zeros((len(MOVES), 2), np.int64),
            np.zeros((n_rungs - 1, 2), np.int64),
        )
        for graph, state in zip(graphs, states, strict=True)
    ]


def _grow_tree(graph: NDArray[np.uint64], rng: np.random.Generator) -> None:
    """Make an empty graph a random tree."""
    order = rng.permutation(len(graph)).tolist()
    for place in range(1, len(order)):
        v, w = order[place], order[int(rng.integers(place))]
        graph[v] |= np.uint64(1 << w)
        graph[w] |= np.uint64(1 << v)


def _result(
    scores: MarginScores, chains: list[_Chain], burn_in: float, thin: int, seconds: float
) -> SearchResult:
    n_draws = min(chain.n_draws for chain in chains)
    left_out = int(burn_in * n_draws)
    drawn = np.array(
        [np.concatenate(chain.samples)[left_out:n_draws][thin - 1 :: thin] for chain in chains]
    )
    trace = np.array([np.concatenate(chain.trace)[:n_draws] for chain in chains])
    n_chains, n_kept, m = drawn.shape
    models, visits = np.unique(drawn.reshape(-1, m), axis=0, return_counts=True)
    log_scores = scores.of_graphs(models)
    order = np.argsort(-log_scores, kind="stable")
    reduction = np.full((m, m), np.nan)
    worth = float(n_chains * n_kept)
    for v in range(m):
        for w in range(v):
            series = (drawn[:, :, v] >> np.uint64(w) & np.uint64(1)).astype(np.float64)
            reduction[v, w] = reduction[w, v] = r_hat(series)
            if series.min() != series.max():
                worth = min(worth, effective_size(series))
    tally = np.sum([chain.tally for chain in chains], axis=0)
    swaps = np.sum([chain.swaps for chain in chains], axis=0)
    return SearchResult(
        method="mc3",
        models=models[order],
        log_scores=log_scores[order],
        weights=visits[order] / visits.sum(),
        visits=visits[order],
        chain_edges=np.array([edge_shares(row, np.full(n_kept, 1 / n_kept)) for row in drawn]),
        trace=trace,
        r_hat=reduction,
        effective_size=worth,
        acceptance={
            name: (int(tried), int(made)) for name, (tried, made) in zip(MOVES, tally, strict=True)
        },
        exchanges=swaps[:, 1] / np.maximum(swaps[:, 0], 1),
        burn_in=left_out,
        proposals=sum(int(chain.clock[1]) for chain in chains),
        seconds=seconds,
        converged=bool(np.nanmax(reduction, initial=1.0) < MOST_R_HAT),
    )
