"""Fellegi-Sunter weights: what agreement in each variable says for a link.

The distance of a pair in each variable falls into a level (`agreement_levels`); m and u are the
probabilities of the levels among matches and non-matches. The weight of a level is log(m / u), a
natural logarithm, and that of a pair the sum over variables. A missing value says nothing: its
variable is left out for that pair, with weight 0. `partners.one_partner` learns m and u.

The sum takes the levels of different variables to be independent. Variables that err or agree
together (a name and its spelling, an address and its postcode) make weights too large, and
probabilities too near to 0 and 1. Fellegi and Sunter (1969).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A level that is never seen among matches, or non-matches, gets a weight of about 14 at most.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class FellegiSunterModel:
    """Probabilities of the levels of each variable among matches (m) and non-matches (u).

    Attributes
    ----------
    names, limits
        The variables and the limits between their levels.
    expected
        The expected number of records of the first file with a partner, no more than the smaller
        file has. (Two records may claim one partner: candidates compete for the records of the
        first file alone.)
    n_learned
        Of how many records of the first file weights were learned.
    """

    names: tuple[str, ...]
    limits: tuple[tuple[float, ...], ...]
    m: tuple[Floats, ...]
    u: tuple[Floats, ...]
    expected: float
    n_learned: int
    notes: tuple[str, ...] = ()

    @property
    def weights(self) -> tuple[Floats, ...]:
        """The weight log(m / u) of each level of each variable."""
        return tuple(
            np.log(np.maximum(m, _FLOOR)) - np.log(np.maximum(u, _FLOOR))
            for m, u in zip(self.m, self.u, strict=True)
        )

    @property
    def largest_weight(self) -> float:
        """The weight of a pair with the best level in every variable."""
        return float(sum(weights.max() for weights in self.weights))
