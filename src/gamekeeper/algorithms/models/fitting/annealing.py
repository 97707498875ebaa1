"""Searching the best decomposable model by simulated annealing.

A walk as in MC3, whose proposals are accepted with probability exp(-max(0, -log BF) / T) while
the temperature T falls: a worse model is taken readily at first and hardly ever at the end
(Bertsimas and Tsitsiklis, Simulated annealing, 1993). Two schedules: the fixed one of the thesis,
from 10^14 down to 0.01 by a factor of 0.99 (3,666 temperatures), and an adaptive one that starts
where the largest Bayes factors begin to matter and cools by steps measured in standard deviations
of the score (Huang, Romeo and Sangiovanni-Vincentelli 1986). The end of a run is improved by the
best legal change until there is none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.crew import random_states, run_walks
from gamekeeper.algorithms.models.fitting.options import MOVES, check_options, cumulative_shares
from gamekeeper.algorithms.models.fitting.result import SearchResult, edge_shares, posterior_weights
from gamekeeper.algorithms.models.fitting.walks import cool
from gamekeeper.errors import Cancelled, InputError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import quoted

_SCHEDULES = ("adaptive", "thesis")
_HOTTEST = 5.0
_COLDEST = 0.1
_PACE = 0.1
# Measured on 16 variables: leaf moves find no better models in the same time.
_SHARES = {"toggle": 0.7, "swap": 0.1, "star": 0.15, "triangle": 0.05}
_MOST_TRACED = 4_000
# Two edges at a time cost a cube of the number of variables in scores.
_MOST_DOUBLE = 20
_NO_GAIN = 1e-9


def acceptance_probability(log_bayes_factor: float, temperature: float = 1.0) -> float:
    """Return the probability to accept a model, given its log Bayes factor against the current.

    At temperature 1 it is that of Metropolis.

    Examples
    --------
    >>> acceptance_probability(1.5), round(acceptance_probability(-3.0, 2.0), 6)
    (1.0, 0.22313)
    """
    return math.exp(min(0.0, log_bayes_factor) / temperature)


def cooling_schedule(
    start: float = 1e14, end: float = 0.01, factor: float = 0.99
) -> NDArray[np.float64]:
    """Return the temperatures start, start * factor, ... that are above the end.

    Examples
    --------
    >>> len(cooling_schedule())
    3666
    """
    check_options(
        {
            "start": (0 < end < start < math.inf, "above the end, which is above 0"),
            "factor": (0 < factor < 1, "between 0 and 1"),
        }
    )
    temperatures: list[float] = []
    temperature = start
    while temperature > end:
        temperatures.append(temperature)
        temperature *= factor
    return np.array(temperatures)


def anneal(
    scores: MarginScores,
    *,
    schedule: str = "adaptive",
    proposals: int | None = None,
    restarts: int = 4,
    moves: Mapping[str, float] | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    keep_partial: bool = False,
) -> SearchResult:
    """Search the decomposable model with the highest marginal likelihood.

    Parameters
    ----------
    scores
        The scores of the records.
    schedule
        "adaptive", or "thesis" for the fixed one, which moves single edges only unless told.
    proposals
        The number of proposals per temperature; by default 100 with the schedule of the thesis
        (which does not say), else 16 per pair of variables,
        at most 160 per variable and at least 100.
    restarts
        The number of runs, each from the empty model; there is one more that only climbs. The
        result has the end of every run; it counts as converged if two runs or more ended at the
        best model.
    moves
        Shares of the kinds of moves, as for `sample_models`.
    seed, workers
        The same seed gives the same result whatever the number of threads.
    progress, keep_partial
        If `progress` raises `Cancelled` the search stops; with `keep_partial` the best models by
        then are returned.

    Examples
    --------
    >>> table = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5)
    >>> anneal(MarginScores(table, [2, 2, 2])).best.tolist()
    [2, 1, 0]
    """
    if schedule not in _SCHEDULES:
        raise InputError(
            Reason.BAD_OPTION,
            "A cooling schedule was asked for.",
            "There is no schedule of that name.",
            f"Choose one of {quoted(_SCHEDULES)}.",
        )
    check_options(
        {
            "restarts": (restarts >= 0, "from 0 up"),
            "proposals": (proposals is None or proposals >= 1, "at least 1"),
            "seed": (seed >= 0, "from 0 up"),
            "workers": (workers is None or workers >= 1, "at least 1"),
        }
    )
    m = scores.n_variables
    started = time.perf_counter()
    if schedule == "thesis":
        temperatures = cooling_schedule()
        shares = cumulative_shares(moves or {"toggle": 1.0}, m)
        per_level = proposals or 100
        start = float(temperatures[0])
    else:
        temperatures = None
        shares = cumulative_shares(moves or _SHARES, m)
        per_level = proposals or max(100, min(8 * m * (m - 1), 160 * m))
        factors = scores.edge_factors(np.zeros(m, np.uint64))
        strongest = float(np.abs(factors[~np.isnan(factors)]).max(initial=0.0))
        start = max(strongest / _HOTTEST, 1.0)
    states = random_states(seed, restarts, 2)
    models = np.zeros((restarts + 1, m), np.uint64)
    traces = np.full((restarts, _MOST_TRACED), np.nan)
    tallies = np.zeros((restarts, len(MOVES), 2), np.int64)
    clocks = [np.zeros(3, np.int64) for _ in range(restarts + 1)]

    def run(number: int) -> None:
        # The last is a plain climb: on many variables a short annealing may end below it.
        if number < restarts:
            cool(
                scores,
                shares,
                states[number],
                start=start,
                end=_COLDEST,
                pace=_PACE,
                proposals=per_level,
                best=models[number],
                temperatures=temperatures,
                trace=traces[number],
                tally=tallies[number],
                clock=clocks[number],
            )
        _climb(scores, models[number], clocks[number])

    total = max(restarts * (_MOST_TRACED if temperatures is None else len(temperatures)), 1)
    cancelled = run_walks(run, clocks, workers=workers, progress=progress, total=total)
    if progress is not None and cancelled is None:
        # The adaptive schedule ends before the most temperatures that it may have.
        try:
            progress(total, total)
        except Cancelled as error:
            cancelled = error
    if cancelled is not None and not keep_partial:
        raise cancelled
    found = _result(scores, models, traces, time.perf_counter() - started)
    return replace(
        found,
        acceptance={
            name: (int(tried), int(made))
            for name, (tried, made) in zip(MOVES, tallies.sum(axis=0), strict=True)
        },
        proposals=sum(int(clock[1]) for clock in clocks),
        complete=cancelled is None,
        converged=found.converged and cancelled is None,
    )


def _climb(scores: MarginScores, graph: NDArray[np.uint64], clock: NDArray[np.int64]) -> None:
    """Make the best legal change of one edge, or of two at a vertex, until none helps.

    It stops when the clock says so; above 20 variables only single edges are tried.
    """
    while not clock[2]:
        edges, factors = scores.changes(graph, double=len(graph) <= _MOST_DOUBLE)
        place = int(factors.argmax()) if len(factors) else -1
        if place < 0 or factors[place] <= _NO_GAIN:
            return
        v, w, u = edges[place].tolist()
        for other in (w, u) if u >= 0 else (w,):
            graph[v] ^= np.uint64(1 << other)
            graph[other] ^= np.uint64(1 << v)


def _result(
    scores: MarginScores,
    ends: NDArray[np.uint64],
    traces: NDArray[np.float64],
    seconds: float,
) -> SearchResult:
    models, visits = np.unique(ends, axis=0, return_counts=True)
    log_scores = np.array([scores.log_marginal_likelihood(model) for model in models])
    order = np.argsort(-log_scores, kind="stable")
    return SearchResult(
        method="annealing",
        models=models[order],
        log_scores=log_scores[order],
        weights=posterior_weights(log_scores[order]),
        visits=visits[order],
        chain_edges=np.array([edge_shares(end[None], np.ones(1)) for end in ends]),
        trace=traces[:, ~np.isnan(traces).all(axis=0)],
        seconds=seconds,
        converged=bool(visits[order[0]] >= 2),
    )
