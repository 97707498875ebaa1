"""Occam's window: the models that are not much worse than the best.

Madigan and Raftery, Model selection and accounting for model uncertainty in graphical models
using Occam's window (1994). A model is out if the best is more than c times as probable, and, in
the strict window, if a simpler model inside it is more probable. The window is found from good
models by a search down, deleting edges, and then up, adding them. A smaller model that is more
probable drives out the larger one; a larger one must be c times as probable to drive out the
smaller; between these both stay, and the search goes on from both. Such a search cannot pass from
one good model to another whose common part is bad, so here it is repeated from the models inside
the window that differ from one found by an edge for another, until there is nothing new. Where
simpler models are not to drive out others, the search goes on from all that are in the window.
Scores that differ by no more than rounding are equal, and neither model drives out the other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.decomposable.chordal_graphs import decomposable_graphs
from gamekeeper.algorithms.models.fitting.annealing import anneal
from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.options import check_options
from gamekeeper.algorithms.models.fitting.result import SearchResult, edge_shares, posterior_weights
from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress

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

    Parameters
    ----------
    scores
        The scores of the records.
    starts
        Models to start from, as sets of neighbours; by default the ends of eight annealing runs,
        and up to five variables every model there is, so that none is missed.
    c
        How many times less probable than the best a model may be; above 1.
    strict
        Whether a model is also left out if a model with some of its edges is more probable.
    most_models
        How many models to look at in either direction; the result has not converged if there
        were more.
    seed, workers
        For the annealing that finds models to start from.
    progress, keep_partial
        If `progress` raises `Cancelled` the search stops; with `keep_partial` the window among
        the models found by then is returned.

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
        candidates = set(_tuples(begun))
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


def _tuples(models: NDArray[np.uint64]) -> list[_Model]:
    return [tuple(row) for row in models.tolist()]
