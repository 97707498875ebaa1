"""Searching decomposable models: by simulated annealing, in Occam's window, and all of them.

**Annealing** is a walk as in MC3, whose proposals are accepted with probability exp(-max(0, -log
BF) / T) while the temperature T falls: a worse model is taken readily at first and hardly ever at
the end (Bertsimas and Tsitsiklis, Simulated annealing, 1993). Two schedules: the fixed one of the
thesis, from 10^14 down to 0.01 by a factor of 0.99 (3,666 temperatures), and an adaptive one that
starts where the largest Bayes factors begin to matter and cools by steps measured in standard
deviations of the score (Huang, Romeo and Sangiovanni-Vincentelli 1986). The end of a run is
improved by the best legal change until there is none.

**Occam's window** holds the models that are not much worse than the best (Madigan and Raftery,
Model selection and accounting for model uncertainty in graphical models using Occam's window,
1994). A model is out if the best is more than c times as probable, and, in the strict window, if a
simpler model inside it is more probable. The window is found from good models by a search down,
deleting edges, and then up, adding them. A smaller model that is more probable drives out the
larger one; a larger one must be c times as probable to drive out the smaller; between these both
stay, and the search goes on from both. Such a search cannot pass from one good model to another
whose common part is bad, so here it is repeated from the models inside the window that differ from
one found by an edge for another, until there is nothing new. Where simpler models are not to drive
out others, the search goes on from all that are in the window. Scores that differ by no more than
rounding are equal, and neither model drives out the other.

All models are gone through for few variables, and for tests of the other searches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.decomposable.graphs import decomposable_graphs
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.mc3 import sample_models
from gamekeeper.algorithms.models.walks import (
    MOVES,
    SearchResult,
    check_options,
    cool,
    cumulative_shares,
    edge_shares,
    posterior_weights,
    random_states,
    run_walks,
)
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted

__all__ = ["SearchResult", "anneal", "exact_posterior", "occams_window", "sample_models"]


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

    - `schedule`: "adaptive", or "thesis" for the fixed one, which moves single edges only unless
      told.
    - `proposals`: the number per temperature; by default 100 with the schedule of the thesis (which
      does not say), else 16 per pair of variables, at most 160 per variable and at least 100.
    - `restarts`: the number of runs, each from the empty model; there is one more that only climbs.
      The result has the end of every run; it counts as converged if two or more ended at the best
      model.
    - `moves`: shares of the kinds of moves, as for `sample_models`.
    - `seed`, `workers`: the same seed gives the same result whatever the number of threads.
    - `progress`, `keep_partial`: if `progress` raises `Cancelled` the search stops; with
      `keep_partial` the best models by then are returned.

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
    scores: MarginScores, ends: NDArray[np.uint64], traces: NDArray[np.float64], seconds: float
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


_Model = tuple[int, ...]

# 822 models; of six variables there are 18,154.
_MOST_TO_LIST = 5
# Relative and absolute rounding errors of log scores, with room to spare.
_ROUNDING = 1e-13
_LEAST_ROUNDING = 1e-9


def occams_window(
    scores: MarginScores,
    *,
    starts: NDArray[np.uint64] | Sequence[Sequence[int]] | None = None,
    c: float = 20.0,
    strict: bool = True,
    most_models: int = 10_000,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    keep_partial: bool = False,
) -> SearchResult:
    """Find the decomposable models in Occam's window.

    - `starts`: models to start from, as sets of neighbours; by default the ends of eight annealing
      runs (by `seed` and `workers`), and up to five variables every model there is, so that none is
      missed.
    - `c`: how many times less probable than the best a model may be; above 1.
    - `strict`: whether a model is also left out if a model with some of its edges is more probable.
    - `most_models`: how many to look at in either direction; not converged if there were more.
    - `progress`, `keep_partial`: as for `anneal`; the window is that among the models found by
      then.

    Examples
    --------
    >>> table = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5)
    >>> window = occams_window(MarginScores(table, [2, 2, 2]))
    >>> window.models.tolist(), window.weights.tolist()
    ([[2, 1, 0]], [1.0])
    """
    check_options(
        {
            "c": (1 < c < math.inf, "above 1"),
            "most_models": (most_models >= 1, "at least 1"),
            "seed": (seed >= 0, "from 0 up"),
        }
    )
    started = time.perf_counter()
    if starts is None and scores.n_variables <= _MOST_TO_LIST:
        begun = np.array(list(decomposable_graphs(scores.n_variables)), np.uint64)
    elif starts is None:
        begun = anneal(
            scores,
            restarts=8,
            seed=seed,
            workers=workers,
            progress=None if progress is None else lambda *_: progress(0, None),
            keep_partial=keep_partial,
        ).models
    else:
        begun = np.array([scores.checked_graph(start) for start in starts])
    window = _Window(scores, math.log(c), most_models, progress, strict=strict)
    cancelled: Cancelled | None = None
    try:
        candidates = {tuple(row) for row in begun.tolist()}
        accepted: set[_Model] = set()
        while candidates - accepted:
            down = window.search(sorted(candidates), up=False)
            up = window.search(sorted(down | candidates), up=True)
            accepted |= candidates | down | up
            candidates = window.exchanged(accepted)
    except Cancelled as error:
        if not keep_partial:
            raise
        cancelled = error
        accepted = set(window.known)
    kept = window.inside(accepted)
    models = np.array(kept, np.uint64)
    log_scores = np.array([window.known[model] for model in kept])
    weights = posterior_weights(log_scores)
    return SearchResult(
        method="occam",
        models=models,
        log_scores=log_scores,
        weights=weights,
        visits=np.zeros(len(kept), np.int64),
        chain_edges=edge_shares(models, weights)[None],
        proposals=window.n_compared,
        seconds=time.perf_counter() - started,
        converged=not window.was_cut and cancelled is None,
        complete=cancelled is None,
    )


class _Window:
    """The models met so far with their scores, and the two searches among them."""

    def __init__(
        self,
        scores: MarginScores,
        width: float,
        most: int,
        progress: Progress | None,
        *,
        strict: bool,
    ) -> None:
        self.known: dict[_Model, float] = {}
        self.n_compared = 0
        self.was_cut = False
        self._scores = scores
        self._width = width
        self._strict = strict
        self._most = most
        self._progress = progress
        self._exchanged: set[_Model] = set()
        self._best = -math.inf
        self._done = 0

    def search(self, starts: Sequence[_Model], *, up: bool) -> set[_Model]:
        """Return the acceptable models that are reached by adding (up) or deleting edges."""
        for start in starts:
            self._learn(start, self._scores.log_marginal_likelihood(start))
        # The best first, so that a search that is cut has looked at the best.
        waiting = sorted(set(starts), key=lambda model: self.known[model])
        seen = set(waiting)
        accepted: set[_Model] = set()
        n_expanded = 0
        while waiting:
            model = waiting.pop()
            if self.known[model] < self._best - self._width:
                continue
            if n_expanded == self._most:
                self.was_cut = True
                break
            n_expanded += 1
            self._tell()
            accepted.add(model)
            for other, factor in self._neighbours(model, up=up):
                self._learn(other, self.known[model] + factor)
                # The evidence for the smaller of the two models.
                for_smaller = -factor if up else factor
                beaten = for_smaller < -self._width if up else for_smaller > self._rounding
                if beaten and self._strict:
                    accepted.discard(model)
                if (self._strict and up and for_smaller > self._rounding) or other in seen:
                    continue
                if beaten or self.known[other] >= self._best - self._width:
                    seen.add(other)
                    waiting.append(other)
        return accepted

    def exchanged(self, accepted: set[_Model]) -> set[_Model]:
        """Return the models of the window that have one edge for another of an accepted one."""
        lowest = self._best - self._width
        found: set[_Model] = set()
        for model in sorted(accepted - self._exchanged):
            if self.known[model] < lowest:
                continue
            if len(self._exchanged) >= self._most:
                self.was_cut = True
                break
            self._exchanged.add(model)
            self._tell()
            for smaller, loss in self._neighbours(model, up=False):
                for other, gain in self._neighbours(smaller, up=True):
                    if self.known[model] + loss + gain >= lowest and other not in accepted:
                        self._learn(other, self.known[model] + loss + gain)
                        found.add(other)
        return found

    def inside(self, accepted: set[_Model]) -> list[_Model]:
        """Return the models of the window, the most probable first."""
        best = max(self.known[model] for model in accepted)
        near = [model for model in accepted if self.known[model] >= best - self._width]
        near.sort(key=lambda model: (-self.known[model], model))
        if not self._strict:
            return near
        rows = np.array(near, np.uint64)
        values = np.array([self.known[model] for model in near])
        return [
            model
            for model, row, value in zip(near, rows, values, strict=True)
            if not (rows[values > value + self._rounding] & ~row == 0).all(axis=1).any()
        ]

    @property
    def _rounding(self) -> float:
        """By how much equal log scores may seem to differ."""
        return _LEAST_ROUNDING + _ROUNDING * abs(self._best)

    def _learn(self, model: _Model, score: float) -> None:
        self.known.setdefault(model, score)
        self._best = max(self._best, score)

    def _tell(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, None)

    def _neighbours(self, model: _Model, *, up: bool) -> list[tuple[_Model, float]]:
        """Return the models one legal edge larger (up) or smaller, with log Bayes factors."""
        # An edge more is a bit more in two of the sets.
        found = [
            pair for pair in neighbours(self._scores, model) if (sum(pair[0]) > sum(model)) == up
        ]
        self.n_compared += len(found)
        return found


def neighbours(scores: MarginScores, model: _Model) -> list[tuple[_Model, float]]:
    """Return the models that differ by one legal edge, with log Bayes factors.

    Examples
    --------
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> [(other, round(factor, 4)) for other, factor in neighbours(MarginScores(table), (0, 0))]
    [((2, 1), 2.0025)]
    """
    factors = scores.edge_factors(np.array(model, np.uint64))
    found: list[tuple[_Model, float]] = []
    for v, w in np.argwhere(~np.isnan(factors)).tolist():
        rows = list(model)
        rows[v] ^= 1 << w
        rows[w] ^= 1 << v
        found.append((tuple(rows), float(factors[v, w])))
    return found


_MOST_VARIABLES = 5
_MODELS = (1, 1, 2, 8, 61, 822, 18154, 617675)


def exact_posterior(scores: MarginScores, *, most_variables: int = _MOST_VARIABLES) -> SearchResult:
    """Return every decomposable model with its posterior probability, under a uniform prior.

    It is done for up to `most_variables`: 5 have 822 models, 6 have 18,154.

    Examples
    --------
    >>> table = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5)
    >>> exact = exact_posterior(MarginScores(table, [2, 2, 2]))
    >>> exact.n_models, exact.best.tolist(), round(float(exact.weights[0]), 4)
    (8, [2, 1, 0], 0.7685)
    """
    m = scores.n_variables
    if m > most_variables:
        known = f"{_MODELS[m]:,}" if m < len(_MODELS) else "millions of"
        raise LimitError(
            Reason.TOO_LARGE,
            f"All decomposable models of {count_of(m, 'variable')} were asked for.",
            f"There are {known} models; the limit is {count_of(most_variables, 'variable')}.",
            "Sample models instead, or raise most_variables.",
        )
    started = time.perf_counter()
    # Legal single edges connect all decomposable models (Frydenberg and Lauritzen 1989).
    empty = (0,) * m
    found = {empty}
    waiting = [empty]
    n_compared = 0
    while waiting:
        model = waiting.pop()
        for other, _ in neighbours(scores, model):
            n_compared += 1
            if other not in found:
                found.add(other)
                waiting.append(other)
    models = np.array(sorted(found), np.uint64).reshape(len(found), m)
    log_scores = scores.of_graphs(models)
    order = np.argsort(-log_scores, kind="stable")
    models, log_scores = models[order], log_scores[order]
    weights = posterior_weights(log_scores)
    return SearchResult(
        method="exact",
        models=models,
        log_scores=log_scores,
        weights=weights,
        visits=np.zeros(len(models), np.int64),
        chain_edges=edge_shares(models, weights)[None],
        proposals=n_compared,
        seconds=time.perf_counter() - started,
    )
