"""Whether published figures are rounded: what they stand for is no matter of an audit, and it says so.

An audit asks what hidden cells are. Where figures were rounded to protect people, it is the published
ones that somebody would work out, and a table in which nothing is hidden is not yet one that gives
nothing away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gamekeeper.attack.unexamined import ROUNDING
from gamekeeper.data.cells.statuses import Status
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.data.tables.subtotals import ROUNDED_SUBTOTALS
from gamekeeper.wording import count_of

_RARE = 1_000


@dataclass(frozen=True, slots=True)
class Rounding:
    """How published figures are rounded, as far as it is said or shows.

    Attributes
    ----------
    tolerance
        By how much a figure was said to be off; 0 where that was not said.
    base, n_figures
        What all published counts are multiples of, if that is no chance, else 1; and how many they are.
    whole
        Whether figures are counts.
    """

    tolerance: Fraction
    base: int
    n_figures: int
    whole: bool

    def __bool__(self) -> bool:
        return self.tolerance > 0 or self.base > 1

    def __str__(self) -> str:
        return "not examined" if self else "none seen"

    @property
    def words(self) -> str:
        """What is known of it, and that it was not examined."""
        left = f"{ROUNDING.name} was not examined"
        if self.tolerance:
            return f"its figures are rounded, as you say, and {left}"
        are = f"all {count_of(self.n_figures, 'published count')} are multiples of {self.base:,}"
        return f"{are} and look rounded, and {left}"

    @property
    def way_around(self) -> str:
        """Where rounding is examined."""
        if not self.whole:
            return (
                "'gamekeeper tables bounds' examines rounded counts; rounded values nothing does."
            )
        exact = "" if self.tolerance else " If the counts are exact, say so: --tolerance 0."
        base = self.base if self.base > 1 else 5
        scheme = f"conventional:{base}{'' if base % 2 else ':up'}"
        return (
            f"'gamekeeper tables bounds' examines counts that are rounded, such as by {scheme} (--scheme of"
            f" tables bounds). {ROUNDED_SUBTOTALS}{exact}"
        )

    @property
    def left_out(self) -> str:
        """What no rule on these figures was held against; "" where that is nothing.

        Values are rounded to be read. What protects them is that others are hidden, which is examined.
        """
        return f"{ROUNDING.name} was not examined" if self and self.whole else ""


def rounding_of(tables: TableSet, tolerance: Fraction | None) -> Rounding:
    """Return whether published figures are rounded: by what was said, or by what all are multiples of.

    That counts are multiples of b by chance has a probability of 1 in b for each that is no sum of
    others that are published. It is taken for rounding where that makes less than 1 in 1,000.

    Examples
    --------
    >>> from gamekeeper.data.cells.cell_rows import CellRows
    >>> rows = [["a", 10], ["b", 5], ["c", 15], ["d", 5], ["e", 20]]
    >>> rounding_of(TableSet.of([CellRows.typed(["x"], rows)]), None).base
    5
    """
    is_shown = np.array([one is Status.SHOWN for one in tables.statuses], bool)
    shown = {
        cell: own for cell in np.flatnonzero(is_shown).tolist() if (own := tables.figures[cell])
    }
    base = 1
    if tolerance is None and tables.whole and all(f.denominator == 1 for f in shown.values()):
        base = math.gcd(*(figure.numerator for figure in shown.values()))
        system = tables.system
        n_open = np.add.reduceat(~is_shown[system.parts], system.starts[:-1], dtype=np.int64)
        sums = set(system.parts[system.starts[:-1][n_open == 0]].tolist())
        if base < 2 or sum(cell not in sums for cell in shown) * math.log(base) < math.log(_RARE):
            base = 1
    return Rounding(tolerance or Fraction(0), base, len(shown), tables.whole)
