"""What a search over decomposable models found, and whether it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.chain_diagnostics import models_carrying
from gamekeeper.wording import count_of


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult:
    """Models of a search, best first.

    Attributes
    ----------
    method
        "mc3", "annealing", "occam" or "exact".
    models
        A row per model: per variable the set of its neighbours, as bits.
    log_scores
        The log marginal likelihood of each model.
    weights
        The weight of each model in an average; they sum to 1. Shares of the draws for "mc3",
        posterior probabilities among the models kept otherwise.
    visits
        The number of draws of each model; 0 where nothing was drawn.
    chain_edges
        Per chain (or run) the probability of every edge, symmetric.
    trace
        Per chain the log marginal likelihood along the walk, burn-in included.
    r_hat
        Per edge the potential scale reduction, symmetric; empty where it does not apply.
    effective_size
        The smallest effective sample size of an edge that is neither always there nor never.
    acceptance
        Per kind of move how many were tried and how many were made.
    exchanges
        Per pair of neighbouring temperatures the share of exchanges made, hottest first.
    burn_in
        The number of draws of each chain that were left out.
    proposals, seconds
        How many moves were tried, at all temperatures, and how long the search took.
    converged
        Whether the search reached what it was to reach: chains that agree, runs that end at the
        same best model, a window that was searched to its edges.
    complete
        False if the search was cancelled and this is what there was.
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
