"""Variables in their order of importance, as one cost in whole numbers.

The total over all links is to be least in the first variable, among these least in the second, and
so on. Distances are rounded to steps, and one step of a variable is made to outweigh all that the
later ones can add up to over a whole file of links. Numbers beyond 2^53 would be rounded, so they
are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.comparison import (
    Comparison,
    notes_of,
    observed,
    require_comparisons,
)
from gamekeeper.errors import InputError, LimitError, Reason

Floats = NDArray[np.float64]

_ASKED = "A lexicographic cost was asked for."
_EXACT = 2**53
_DEFAULT_STEPS = 100
_MOST_WHOLE_STEPS = 1_000


@dataclass(frozen=True, eq=False)
class LexicographicCost:
    """Whole numbers whose least total is least in the first variable, then in the second, ....

    A distance is rounded to a number of steps, and a step in one variable outweighs all that the
    later ones can add up to over a whole file of links.
    """

    comparisons: tuple[Comparison, ...]
    steps: tuple[int, ...]
    rates: tuple[float, ...]
    strides: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records of the two files."""
        return self.comparisons[0].shape

    def add_block(self, out: Floats, rows: slice) -> None:
        """Add the costs of some rows and all columns to `out`."""
        for comparison, rate, stride in zip(
            self.comparisons, self.rates, self.strides, strict=True
        ):
            out += np.rint(comparison.matrix(rows) * rate) * stride

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the cost of each listed pair."""
        out = np.zeros(len(rows))
        for comparison, rate, stride in zip(
            self.comparisons, self.rates, self.strides, strict=True
        ):
            out += np.rint(comparison.pairs(rows, columns) * rate) * stride
        return out


def lexicographic_cost(
    comparisons: Sequence[Comparison], *, steps: Sequence[int | None] | None = None
) -> LexicographicCost:
    """Combine variables in their order of importance, so that no later one can overturn an earlier.

    Parameters
    ----------
    comparisons
        The variables, the most important first.
    steps
        For each variable into how many steps its largest distance is divided. By default, or where
        None: 1 for categories, the range for whole numbers and ranks of a range up to 1,000 (both
        exact), and 100 otherwise. The product over variables of (records x steps + 1) must stay
        within 2^53, up to which whole numbers are exact; otherwise a LimitError says so.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_categories, compare_numbers
    >>> from gamekeeper.algorithms.linkage.objective import cost_matrix
    >>> sex, age = compare_categories([1, 2], [1, 1]), compare_numbers([30, 40], [31, 40])
    >>> cost_matrix(lexicographic_cost([sex, age])).tolist()
    [[1.0, 10.0], [30.0, 21.0]]
    """
    require_comparisons(comparisons)
    given = [None] * len(comparisons) if steps is None else list(steps)
    if len(given) != len(comparisons) or any(step is not None and step < 1 for step in given):
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            f"{len(given)} numbers of steps were given for {len(comparisons)} variables, or one is "
            "below 1.",
            "Give a whole number of at least 1 per variable, or None.",
        )
    n_links = min(comparisons[0].shape)
    chosen = [_steps(c) if s is None else s for c, s in zip(comparisons, given, strict=True)]
    rates: list[float] = []
    bases: list[int] = []
    for comparison, step in zip(comparisons, chosen, strict=True):
        largest = comparison.largest_distance()
        # Where all possible distances are 0, any rate will do except 0: 0 times infinity is NaN.
        rate = step / largest if largest > 0 else 1.0
        missing = comparison.missing_distance * rate
        most = max(step, round(missing) if math.isfinite(missing) else 0)
        rates.append(rate)
        bases.append(n_links * most + 1)
    if math.prod(bases) > _EXACT:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"{len(chosen)} variables with {', '.join(map(str, chosen))} steps and {n_links:,} "
            f"links need whole numbers up to 2^{math.log2(math.prod(bases)):.0f}; up to 2^53 they "
            "are exact.",
            "Give fewer steps (--steps) or variables (--on), or use a weighted sum (--objective weighted).",
        )
    strides = tuple(math.prod(bases[k + 1 :]) for k in range(len(bases)))
    return LexicographicCost(
        tuple(comparisons), tuple(chosen), tuple(rates), strides, notes_of(comparisons)
    )


def _steps(comparison: Comparison) -> int:
    if comparison.measure == "different":
        return 1
    if comparison.measure == "absolute":
        a, b = observed(comparison.a), observed(comparison.b)
        whole = bool((a == np.rint(a)).all() and (b == np.rint(b)).all())
        range_ = comparison.largest_distance() / comparison.factor if comparison.factor else 0.0
        if whole and 0 < range_ <= _MOST_WHOLE_STEPS:
            return round(range_)
    return _DEFAULT_STEPS
