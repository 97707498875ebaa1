"""Walks over decomposable models: compiled steps in threads that can be watched and stopped.

What a search is asked is checked here, and what it found says whether it can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import in_threads
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.statistics import models_carrying
from gamekeeper.budget import workers_of
from gamekeeper.errors import Cancelled, InputError, Problem, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, did_you_mean, quoted

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOVES = ("toggle", "swap", "star", "triangle", "leaf")
"""One edge; one edge for another; two or three edges at a vertex; the three edges among three
vertices; all edges of a vertex whose neighbours form a clique."""

_SHARES = (0.5, 0.15, 0.12, 0.08, 0.15)
# A leaf move looks at every clique, so on many variables it costs hundreds of scores.
_MANY_VARIABLES = 24
_SHARES_OF_MANY = (0.69, 0.15, 0.1, 0.05, 0.01)


def check_options(options: Mapping[str, tuple[bool, str]]) -> None:
    """Raise one error for all options that are not as they must be."""
    problems = [
        Problem(Reason.BAD_OPTION, name, "not a value that can be used.", f"Give a number {must}.")
        for name, (holds, must) in options.items()
        if not holds
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "A search over models was asked for.",
            f"{count_of(len(problems), 'option')} cannot be used.",
            problems=problems,
        )


def cumulative_shares(moves: Mapping[str, float] | None, n_variables: int) -> NDArray[np.float64]:
    """Return the shares of moves, cumulated; those for so many variables if none are given."""
    if moves is None:
        chosen = _SHARES if n_variables <= _MANY_VARIABLES else _SHARES_OF_MANY
        return np.cumsum(chosen)
    unknown = sorted(set(moves) - set(MOVES))
    shares = np.array([moves.get(name, 0.0) for name in MOVES], np.float64)
    if unknown or not np.isfinite(shares).all() or (shares < 0).any() or shares[0] <= 0:
        raise InputError(
            Reason.UNKNOWN_NAME if unknown else Reason.BAD_OPTION,
            "Moves of a search over models were chosen.",
            f"There are no moves {quoted(unknown)}. {did_you_mean(unknown[0], MOVES)}"
            if unknown
            else "A share is negative, or single edges have none.",
            f"Give shares for {quoted(MOVES)}, the first above 0.",
        )
    return np.cumsum(shares / shares.sum())


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult:
    """Models of a search ("mc3", "annealing", "occam" or "exact"), best first.

    - `models`: a row per model: per variable the set of its neighbours, as bits.
    - `log_scores`: the log marginal likelihood of each model.
    - `weights`: of each model in an average; they sum to 1. Shares of the draws for "mc3",
      posterior probabilities among the models kept otherwise.
    - `visits`: the number of draws of each model; 0 where nothing was drawn.
    - `chain_edges`: per chain (or run) the probability of every edge, symmetric.
    - `trace`: per chain the log marginal likelihood along the walk, burn-in included.
    - `r_hat`: per edge the potential scale reduction, symmetric; empty where it does not apply.
    - `effective_size`: the smallest of an edge that is neither always there nor never.
    - `acceptance`: per kind of move how many were tried and how many were made.
    - `exchanges`: per pair of neighbouring temperatures the share of exchanges made, hottest first.
    - `burn_in`: the number of draws of each chain that were left out.
    - `proposals`, `seconds`: moves tried, at all temperatures, and how long the search took.
    - `converged`: whether the search reached what it was to reach: chains that agree, runs that end
      at the same best model, a window that was searched to its edges.
    - `complete`: False if the search was cancelled and this is what there was.
    """

    method: str
    models: NDArray[np.uint64]
    log_scores: NDArray[np.float64]
    weights: NDArray[np.float64]
    visits: NDArray[np.int64]
    chain_edges: NDArray[np.float64]
    trace: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    r_hat: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    effective_size: float = float("nan")
    acceptance: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    exchanges: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    burn_in: int = 0
    proposals: int = 0
    seconds: float = 0.0
    converged: bool = True
    complete: bool = True

    @property
    def n_models(self) -> int:
        """The number of models."""
        return len(self.models)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return self.models.shape[1]

    @property
    def best(self) -> NDArray[np.uint64]:
        """The model with the highest log marginal likelihood."""
        return self.models[0]

    @property
    def best_score(self) -> float:
        """The log marginal likelihood of the best model."""
        return float(self.log_scores[0])

    @property
    def worst_r_hat(self) -> float:
        """The largest potential scale reduction of an edge; nan where it does not apply."""
        known = self.r_hat[~np.isnan(self.r_hat)]
        return float(known.max()) if len(known) else float("nan")

    def edge_probabilities(self) -> NDArray[np.float64]:
        """Return the weight of the models that have each edge, symmetric."""
        return edge_shares(self.models, self.weights)

    def n_carrying(self, mass: float = 0.95) -> int:
        """Return the smallest number of models that carry a share of the weight."""
        return models_carrying(self.weights, mass)

    def sentences(self) -> list[str]:
        """Return in words what was found and whether it can be trusted."""
        sizes = f"{count_of(self.n_models, 'model')} of {count_of(self.n_variables, 'variable')}"
        said = [
            f"{sizes}; 95% of the weight is on {self.n_carrying():,} of them.",
            f"The best has a log marginal likelihood of {self.best_score:.2f}.",
        ]
        if self.method == "mc3" and self.n_variables > 1:
            agree = "agree" if self.converged else "do not agree yet"
            said.append(
                f"The chains {agree}: the worst R-hat of an edge is {self.worst_r_hat:.3f}, the"
                f" smallest effective sample size {self.effective_size:.0f}."
                + ("" if self.converged else " Run longer before relying on an average.")
            )
            if 2 * self.n_carrying() > self.visits.sum():
                said.append(
                    "Nearly every draw is another model: the records do not tell one from another,"
                    " so that only averages mean something."
                )
        elif self.method == "annealing":
            said.append(self._runs_in_words())
        elif self.method == "occam":
            said.append(
                "The window was searched to its edges."
                if self.converged
                else "The window was not searched to its edges: these are the best found."
            )
        if not self.complete:
            said.append("The search was cancelled; this is what it had found by then.")
        return said

    def _runs_in_words(self) -> str:
        n_runs, n_best = int(self.visits.sum()), int(self.visits[0])
        if n_runs == 1:
            return "There was a single run, which only climbs: there may be better models."
        if n_best < 2:
            return "No two runs ended at the best model: more runs may find a better one."
        return f"{n_best:,} of {n_runs:,} runs ended at the best model."

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (
            f"SearchResult({self.method}: {count_of(self.n_models, 'model')},"
            f" {count_of(self.n_variables, 'variable')}, best {self.best_score:.2f}, {state})"
        )


def posterior_weights(log_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the posterior probabilities of models, as if there were no others; the best is first.

    Examples
    --------
    >>> posterior_weights(np.log([0.3, 0.1])).round(6).tolist()
    [0.75, 0.25]
    """
    relative = np.exp(log_scores - log_scores[0])
    return relative / relative.sum()


def edge_shares(models: NDArray[np.uint64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return per edge the weight of the models that have it, symmetric.

    Examples
    --------
    >>> models = np.array([[2, 1], [0, 0]], np.uint64)
    >>> edge_shares(models, np.array([0.75, 0.25])).tolist()
    [[0.0, 0.75], [0.75, 0.0]]
    """
    bits = np.arange(models.shape[1], dtype=np.uint64)
    # Variable by variable: all edges of all models at once may be gigabytes.
    return np.array([weights @ (column[:, None] >> bits & np.uint64(1)) for column in models.T])


def random_states(seed: int, n: int, stage: int = 0) -> list[NDArray[np.uint64]]:
    """Return the states of n independent random generators, the same for the same seed."""
    children = np.random.SeedSequence([seed, stage]).spawn(n)
    return [child.generate_state(4, np.uint64).astype(np.uint64) for child in children]


def run_walks(
    work: Callable[[int], None],
    clocks: Sequence[NDArray[np.int64]],
    *,
    workers: int | None,
    progress: Progress | None,
    total: int,
) -> Cancelled | None:
    """Do the work of each walk, and tell progress how many steps their clocks show together.

    If progress raises `Cancelled` the walks are told to stop by their clocks, and it is returned
    once they have.
    """
    cancelled: Cancelled | None = None

    def stop() -> None:
        for clock in clocks:
            clock[2] = 1

    def look() -> None:
        nonlocal cancelled
        if progress is None or cancelled is not None:
            return
        try:
            progress(min(sum(int(clock[0]) for clock in clocks), total), total)
        except Cancelled as error:
            cancelled = error
            stop()

    n_workers = workers_of(workers, len(clocks))
    list(in_threads(work, range(len(clocks)), n_workers, look=look, stop=stop))
    look()
    return cancelled


# Scores are added up along a walk; so often they are computed anew, against rounding.
_REFRESH = 256
# Steps of temperature: at most a fifth down, and none so small that the end is never reached.
_FASTEST = 0.8
_SLOWEST = 0.995


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

    There is a graph for each inverse temperature, changed in place; `shares` of `MOVES` are
    cumulated, `state` is that of a random generator. A sweep makes so many proposals for each
    graph. The last graph and the scores of all go to `samples` and `trace` after each sweep, while
    there is room. `tally` and `swaps` count moves of the last graph by kind, and exchanges by pair
    of neighbours, tried and made. `clock` has sweeps and proposals so far, and whether to stop.

    Examples
    --------
    >>> scores = MarginScores(np.array([[0, 0], [0, 0], [1, 1], [1, 1]] * 9))
    >>> graphs, state = np.zeros((1, 2), np.uint64), np.array([1, 2, 3, 4], np.uint64)
    >>> walk(scores, graphs, np.ones(1), np.ones(5), state, sweeps=1, proposals=5)
    >>> graphs.tolist()
    [[2, 1]]
    """
    from gamekeeper.algorithms.models.kernels import counting_room
    from gamekeeper.algorithms.models.walk_kernels import move_room, walk_graphs

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

    The temperature falls from `start` by a step of `pace` standard deviations of the score (Huang,
    Romeo and Sangiovanni-Vincentelli 1986), until `end`, or goes through `temperatures`, with so
    many proposals at each. The score goes to `trace` after each temperature, while there is room.
    Others are as for `walk`; the clock counts temperatures.

    Examples
    --------
    >>> scores = MarginScores(np.array([[0, 0], [0, 0], [1, 1], [1, 1]] * 9))
    >>> best, state = np.zeros(2, np.uint64), np.array([1, 2, 3, 4], np.uint64)
    >>> cool(scores, np.ones(5), state, start=5.0, end=0.1, pace=0.1, proposals=9, best=best)
    >>> best.tolist()
    [2, 1]
    """
    from gamekeeper.algorithms.models.kernels import counting_room
    from gamekeeper.algorithms.models.walk_kernels import move_room, walk_graphs

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
