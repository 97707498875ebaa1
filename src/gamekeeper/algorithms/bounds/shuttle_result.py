"""The bounds that a shuttle has tightened, and what is proven of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class TightBounds:
    """Bounds of the cells of a table, with what is proven of them.

    Attributes
    ----------
    lower, upper
        Valid bounds of every cell, asked for or not.
    tight_lower, tight_upper
        Where a feasible table attains the bound, so that it is exact.
    n_open
        How many of the bounds asked for are not proven to be exact.
    n_steps, n_tables
        The steps of search, and the feasible tables found.
    """

    lower: Integers
    upper: Integers
    tight_lower: Flags
    tight_upper: Flags
    n_open: int
    n_steps: int
    n_tables: int

    @property
    def is_complete(self) -> bool:
        """Whether all bounds asked for are exact."""
        return self.n_open == 0

    def __repr__(self) -> str:
        return f"TightBounds({self.lower.size:,} cells, {self.n_open} open, {self.n_steps:,} steps)"
