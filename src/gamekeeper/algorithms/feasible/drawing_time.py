"""How long it takes to draw random tables of a part, known before the first is drawn.

A draw fixes one cell after the other. Each looks at all cells of the rows that it is in, so that a
table takes time with the sum of the squares of the lengths of its rows: where margins have few
cells and the table has many, a single draw can take minutes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from gamekeeper.algorithms.feasible.independent_parts import TablePart
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import count_of

# Measured on two-way tables of 30² to 100² cells, on three-way tables of 10³ and 15³, and on 8 to 11
# binary axes with margins of one and of two: 0.7 to 2.1 times this.
_SECONDS = 1e-7


@dataclass(frozen=True, slots=True)
class DrawingTime:
    """How much processor time may be spent on the tables of a release, from now on.

    Attributes
    ----------
    seconds
        The limit; None for none.
    draws
        How many tables will be drawn in all, pilots with them.
    """

    seconds: float | None
    draws: int
    started: float = field(default_factory=time.process_time)

    def require(self, part: TablePart) -> None:
        """Refuse draws of a part that would take too long."""
        if self.seconds is None:
            return
        squares = float((np.diff(part.starts).astype(np.float64) ** 2).sum())
        needed = self.draws * _SECONDS * squares
        if time.process_time() - self.started + needed <= self.seconds:
            return
        raise LimitError(
            Reason.TOO_LARGE,
            f"Random tables of {count_of(part.n_cells, 'open cell')} that depend on each other were"
            " to be drawn.",
            f"{count_of(self.draws, 'draw')} would take about {needed:,.0f} s of processor time,"
            f" and the limit is {self.seconds:,.0f} s.",
            "Bound the cells instead (gamekeeper tables bounds), attack tables of fewer axes or"
            " categories, ask for fewer draws (--draws), or allow more time (--max-seconds).",
        )

    def require_left(self) -> None:
        """End a search when the time is over."""
        if self.seconds is not None and time.process_time() - self.started > self.seconds:
            raise LimitError(
                Reason.TOO_LARGE,
                "All feasible tables were to be visited one by one.",
                f"The search has not ended within {self.seconds:,.0f} s of processor time.",
                "Allow more time (--max-seconds), or attack tables of fewer axes or categories.",
            )


UNLIMITED = DrawingTime(None, 0)
