"""Walks over decomposable models: compiled steps, with what they need set up around them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.options import MOVES

# Scores are added up along a walk; so often they are computed anew, against rounding.
_REFRESH = 256
# Steps of temperature: at most a fifth down, and none so small that the end is never reached.
_FASTEST = 0.8
_SLOWEST = 0.995

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def walk(
    scores: MarginScores,
    graphs: Words,
    betas: Floats,
    shares: Floats,
    state: Words,
    *,
    sweeps: int,
    proposals: int,
    exchange: bool = False,
    samples: Words | None = None,
    trace: Floats | None = None,
    tally: Integers | None = None,
    swaps: Integers | None = None,
    clock: Integers | None = None,
) -> None:
    """Walk graphs at inverse temperatures, and exchange neighbours on the ladder if asked.

    Parameters
    ----------
    scores
        The scores of the records.
    graphs, betas
        A graph for each inverse temperature; graphs are changed in place.
    shares, state
        The cumulative shares of `MOVES`, and the state of a random generator.
    sweeps, proposals
        The number of sweeps over the graphs, and of proposals for each graph in a sweep.
    exchange
        Whether graphs at neighbouring temperatures are exchanged.
    samples, trace
        Where the last graph and the scores of all go after each sweep, while there is room.
    tally, swaps
        Where moves of the last graph are counted by kind, and exchanges by pair of neighbours, tried
        and made.
    clock
        Sweeps and proposals so far, and whether to stop.

    Examples
    --------
    >>> scores = MarginScores(np.array([[0, 0], [0, 0], [1, 1], [1, 1]] * 9))
    >>> graphs, state = np.zeros((1, 2), np.uint64), np.array([1, 2, 3, 4], np.uint64)
    >>> walk(scores, graphs, np.ones(1), np.ones(5), state, sweeps=1, proposals=5)
    >>> graphs.tolist()
    [[2, 1]]
    """
    from gamekeeper.algorithms.models.fitting.score_kernels import counting_room
    from gamekeeper.algorithms.models.fitting.walk_kernels import move_room, walk_graphs

    n, m = graphs.shape
    samples = np.zeros((0, m), np.uint64) if samples is None else samples
    trace = np.zeros((0, n)) if trace is None else trace
    tally = np.zeros((len(MOVES), 2), np.int64) if tally is None else tally
    swaps = np.zeros((n - 1, 2), np.int64) if swaps is None else swaps
    clock = np.zeros(3, np.int64) if clock is None else clock
    counting, room = counting_room(scores.margins), move_room()
    for start in range(0, sweeps, _REFRESH):
        here = slice(start, start + _REFRESH)
        walk_graphs(
            graphs, scores.of_graphs(graphs, counting), betas, exchange, min(_REFRESH, sweeps - start),
            proposals, shares, state, scores.margins, counting, room, samples[here], trace[here],
            tally, swaps, np.zeros((0, m), np.uint64), np.zeros(4), clock,
        )  # fmt: skip
        if clock[2]:
            break


def cool(
    scores: MarginScores,
    shares: Floats,
    state: Words,
    *,
    start: float,
    end: float,
    pace: float,
    proposals: int,
    best: Words,
    temperatures: Floats | None = None,
    trace: Floats | None = None,
    tally: Integers | None = None,
    clock: Integers | None = None,
) -> None:
    """Cool a walk from the empty graph, and leave the best graph in `best`.

    Parameters
    ----------
    scores, shares, state
        As for `walk`.
    start, end, pace
        The temperature falls from `start` by a step of `pace` standard deviations of the score
        (Huang, Romeo and Sangiovanni-Vincentelli 1986), until `end`.
    proposals
        The number of proposals at each temperature.
    best
        The neighbours of each variable in the best graph.
    temperatures
        These instead, one by one.
    trace
        Where the score goes after each temperature, while there is room.
    tally, clock
        As for `walk`; the clock counts temperatures.

    Examples
    --------
    >>> scores = MarginScores(np.array([[0, 0], [0, 0], [1, 1], [1, 1]] * 9))
    >>> best, state = np.zeros(2, np.uint64), np.array([1, 2, 3, 4], np.uint64)
    >>> cool(scores, np.ones(5), state, start=5.0, end=0.1, pace=0.1, proposals=9, best=best)
    >>> best.tolist()
    [2, 1]
    """
    from gamekeeper.algorithms.models.fitting.score_kernels import counting_room
    from gamekeeper.algorithms.models.fitting.walk_kernels import move_room, walk_graphs

    m = len(best)
    graphs = np.zeros((1, m), np.uint64)
    best[:] = 0
    trace = np.zeros(0) if trace is None else trace
    tally = np.zeros((len(MOVES), 2), np.int64) if tally is None else tally
    clock = np.zeros(3, np.int64) if clock is None else clock
    counting, room = counting_room(scores.margins), move_room()
    no_samples, no_trace = np.zeros((0, m), np.uint64), np.zeros((0, 1))
    no_swaps = np.zeros((0, 2), np.int64)
    current = scores.of_graphs(graphs, counting)
    moments = np.array([current[0], 0.0, 0.0, 0.0])
    temperature, level = start, 0
    while level < len(temperatures) if temperatures is not None else temperature >= end:
        if temperatures is not None:
            temperature = float(temperatures[level])
        walk_graphs(
            graphs, current, np.array([1.0 / temperature]), False, 1, proposals, shares, state,
            scores.margins, counting, room, no_samples, no_trace, tally, no_swaps, best[None],
            moments, clock,
        )  # fmt: skip
        if clock[2]:
            return
        if level < len(trace):
            trace[level] = current[0]
        spread = math.sqrt(moments[3] / proposals)
        ratio = _FASTEST
        if spread > 0.0:
            ratio = min(max(math.exp(-pace * temperature / spread), _FASTEST), _SLOWEST)
        temperature *= ratio
        level += 1
        current = scores.of_graphs(graphs, counting)
