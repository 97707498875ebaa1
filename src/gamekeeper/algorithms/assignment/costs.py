"""A matrix of costs as the kernels of assignment read it: checked, in rows, of few types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import be, count_of

__all__ = [
    "as_costs",
    "by_smaller_side",
    "cost_of",
    "not_costs",
    "refuse_faults",
    "sum_of_potentials",
    "two_least",
]

_ASKED = "An assignment of rows to columns by their costs was asked for."
# Beyond, integers lose their last digits in floating point.
_MOST_INTEGER = 2**53
_AS = {
    **dict.fromkeys(("int8", "int16", "uint16"), np.float32),
    **dict.fromkeys(("int32", "uint32", "uint64", "int64"), np.int64),
    **dict.fromkeys(("bool", "uint8"), np.uint8),
    **dict.fromkeys(("float16", "float32"), np.float32),
    **dict.fromkeys(("float64", "longdouble"), np.float64),
}


def as_costs(costs: ArrayLike) -> NDArray[Any]:
    """Return costs as an array of two dimensions and of a type that kernels are compiled for.

    An array of float64, float32, int64 or uint8 is not copied. Integers of 16 bits are exact as
    float32, and each further type takes seconds to compile.
    """
    given = np.asarray(costs)
    if given.ndim != 2:
        raise not_costs(
            f"The costs have {count_of(given.ndim, 'dimension')}.",
            "Give one row of costs for each record to be linked.",
        )
    kind = "longdouble" if given.dtype == np.longdouble else given.dtype.name
    taken = np.float64 if given.dtype == np.float64 else _AS.get(kind)
    if taken is None:
        raise not_costs(f"The costs are of type '{kind}'.", "Give numbers.")
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        n_large = sum(
            int(np.count_nonzero((row > _MOST_INTEGER) | (row < -_MOST_INTEGER))) for row in given
        )
        if n_large:
            raise not_costs(
                f"{count_of(n_large, 'integer cost')} are beyond 2 to the power of 53.",
                "Scale the costs down.",
            )
    return given.astype(taken, copy=False)


def by_smaller_side(costs: NDArray[Any]) -> NDArray[Any]:
    """Return the costs, or their transpose, with at most as many rows as columns, row by row."""
    n_rows, n_columns = costs.shape
    return np.ascontiguousarray(costs if n_rows <= n_columns else costs.T)


def refuse_faults(n_nan: int, n_low: int) -> None:
    """Refuse costs of which some are no numbers, or infinitely low."""
    parts = [(n_nan, "not a number (NaN)"), (n_low, "minus infinity")]
    found = " and ".join(f"{n:,} of the costs {be(n)} {what}" for n, what in parts if n)
    if found:
        raise not_costs(f"{found}.", "Replace them; a forbidden pair has the cost infinity.")


def not_costs(found: str, do: str) -> InputError:
    """Return the error for costs, or links of them, that cannot be used."""
    return InputError(Reason.MALFORMED, _ASKED, found, do)


def cost_of(costs: NDArray[Any], columns: NDArray[np.int64]) -> float:
    """Return the sum of the costs of links; -1 stands for none."""
    rows = np.flatnonzero(columns >= 0)
    linked = costs[rows, columns[rows]]
    # A sum beyond the range of numbers is infinite.
    with np.errstate(over="ignore"):
        return float(linked.sum(dtype=np.int64 if linked.dtype.kind in "iu" else np.float64))


def sum_of_potentials(u: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Return the sum of the potentials of rows and columns, a lower bound of assignments."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(u.sum() + v.sum())


def two_least(costs: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and second least cost of each row, infinite where there is none.

    Examples
    --------
    >>> [least.tolist() for least in two_least(np.array([[3, 1, 2], [5, 5, 6]]))]
    [[1.0, 5.0], [2.0, 5.0]]
    """
    n_rows, n_columns = costs.shape
    least = np.full((n_rows, 2), np.inf)
    for row in range(n_rows if n_columns else 0):
        most = min(2, n_columns)
        least[row, :most] = np.partition(costs[row], most - 1)[:most]
    return least[:, 0], least[:, 1]
