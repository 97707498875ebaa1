"""The bounds that a shuttle has tightened, and what is proven of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.wording import count_of

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
    n_steps, n_programs, n_tables
        The steps of search, the linear programs solved and the feasible tables found.
    """

    lower: Integers
    upper: Integers
    tight_lower: Flags
    tight_upper: Flags
    n_open: int
    n_steps: int
    n_programs: int
    n_tables: int

    @property
    def is_complete(self) -> bool:
        """Whether all bounds asked for are exact."""
        return self.n_open == 0

    @property
    def sentence(self) -> str:
        """Whether the bounds are exact, and what to do where they are not."""
        if self.is_complete:
            return "All bounds asked for are exact: a feasible table attains each of them."
        bounds = count_of(self.n_open, "bound")
        return (
            f"{bounds} of those asked for may not be exact: the limit of steps was reached."
            " All are valid. Raise 'max_steps', or use integer programs."
        )

    def __repr__(self) -> str:
        return f"TightBounds({self.lower.size:,} cells, {self.n_open} open, {self.n_steps:,} steps)"
