"""Whole tables put together from the draws of the parts of a release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gamekeeper.algorithms.feasible.sampling import proper_split, sample_part, start_of_part, worth
from gamekeeper.algorithms.linear.facts import NoNumbersError

METHODS = ("exact", "importance", "chain")
"""The methods, the best first."""


@dataclass(frozen=True, eq=False)
class TableSample:
    """Random feasible tables, with the logs of their weights and what they are worth."""

    tables: np.ndarray
    log_weights: np.ndarray
    method: str
    n_dead: int
    effective_size: float
    r_hat: float
    acceptance: float | None

    @property
    def weights(self):
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.sum()

    def mean(self):
        return np.tensordot(self.weights, self.tables, axes=1)


def sample_tables(known, *, draws=1000, seed=0, method="auto", weights=None, **others):
    """Draw feasible tables at random; draws that end without a table are left out."""
    split = proper_split(known, weights)
    flat, logs = np.tile(split.lower, (draws, 1)), np.zeros(draws)
    found = []
    for number, part in enumerate(split.parts):
        sample = sample_part(
            part,
            draws=draws,
            seed=np.random.SeedSequence([seed, number]),
            method=method,
            start=lambda part=part: start_of_part(known, split, part),
            **others,
        )
        # Walks may have gone on for a round more than was asked for; their ends are evenly left out.
        chosen = np.linspace(0, len(sample.tables) - 1, draws).round().astype(np.int64)
        flat[:, part.cells] += sample.tables[chosen]
        logs += sample.log_weights[chosen]
        found.append(sample)
    alive = np.isfinite(logs)
    if not alive.any():
        raise NoNumbersError
    walks = [sample for sample in found if sample.n_chains]
    return TableSample(
        flat[alive].reshape(-1, *known.shape),
        logs[alive],
        max([sample.method for sample in found] or ["exact"], key=METHODS.index),
        int((~alive).sum()),
        min([worth(logs), *(float(sample.effective_sizes.min()) for sample in walks)]),
        max((float(sample.r_hat.max()) for sample in walks), default=1.0),
        min((sample.acceptance for sample in walks), default=None),
    )
