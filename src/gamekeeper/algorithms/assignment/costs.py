"""A matrix of costs as the kernels of assignment read it: checked, in rows, of two types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import be, count_of

_ASKED = "An assignment of rows to columns by their costs was asked for."
# Beyond, integers lose their last digits in floating point.
_MOST_INTEGER = 2**53
# Few enough to stay in the cache of the processor.
_CELLS_AT_ONCE = 1 << 16
# Kernels are compiled for these two; a further type would take seconds. Integers of up to 16 bits
# are exact in 32 bits of floating point.
_SINGLE = frozenset(("bool", "int8", "uint8", "int16", "uint16", "float16", "float32"))
_DOUBLE = frozenset(("int32", "uint32", "int64", "uint64", "float64", "longdouble"))


def as_costs(costs: ArrayLike) -> NDArray[Any]:
    """Return costs as an array of two dimensions, of float32 or float64, which are not copied.

    Integers become numbers of floating point, exactly: beyond 2 to the power of 53 they are refused.
    """
    given = np.asarray(costs)
    if given.ndim != 2:
        raise not_costs(
            f"The costs have {count_of(given.ndim, 'dimension')}.",
            "Give one row of costs for each record to be linked.",
        )
    kind = "longdouble" if given.dtype == np.longdouble else given.dtype.name
    if given.dtype != np.float64 and kind not in _SINGLE | _DOUBLE:
        raise not_costs(f"The costs are of type '{kind}'.", "Give numbers.")
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        n_large = sum(
            int(np.count_nonzero((row > _MOST_INTEGER) | (row < -_MOST_INTEGER))) for row in given
        )
        if n_large:
            raise not_costs(
                f"{count_of(n_large, 'integer cost')} {be(n_large)} beyond 2 to the power of 53.",
                "Scale the costs down.",
            )
    return given.astype(np.float32 if kind in _SINGLE else np.float64, copy=False)


def by_smaller_side(costs: NDArray[Any]) -> NDArray[Any]:
    """Return the costs, or their transpose, with at most as many rows as columns, as kernels read it."""
    n_rows, n_columns = costs.shape
    return row_by_row(costs if n_rows <= n_columns else costs.T)


def row_by_row(costs: NDArray[Any]) -> NDArray[Any]:
    """Return costs whose rows lie one after the other; they cannot be changed.

    Costs that can be changed are another type for kernels, which would be compiled for both.
    """
    costs = np.ascontiguousarray(costs).view()
    costs.flags.writeable = False
    return costs


def row_minima(costs: NDArray[Any], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each row the least cost less the potential of the column."""
    n_rows, n_columns = costs.shape
    minima = np.empty(n_rows)
    at_once = max(1, _CELLS_AT_ONCE // max(1, n_columns))
    keys = np.empty((min(at_once, n_rows), n_columns))
    for first in range(0, n_rows, at_once):
        some = costs[first : first + at_once]
        keys = keys[: len(some)]
        # Sums beyond the range of numbers are infinite, and refused later.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(some, v, out=keys)
        keys.min(axis=1, out=minima[first : first + at_once])
    return minima


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
        return float(linked.sum(dtype=np.float64))


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
    from gamekeeper.algorithms.assignment.margin_kernels import find_two_least

    least = np.full((len(costs), 2), np.inf)
    find_two_least(costs, least)
    return least[:, 0], least[:, 1]
