"""Which keys an intruder with models would take: the surest, or as many as a cost allows.

`top` takes the keys with the highest probability of a match. The other two take keys in order of
their expected population size until as many people have them as have the key of a sample unique,
so that a search costs as much as the search for any sample unique: `mcmcmc1` by the true numbers of
people, which only an experiment knows, `mcmcmc2` by the expected ones. Smith's thesis, chapter 7.

Values that differ in their last digits only, as sums in another order do, are taken for equal; of
equal ones the cell with the lower number comes first, whatever the way in which they were computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]

# What sums in another order may differ by, relatively.
_EQUAL = 1e-9


def choose_cells(
    chance: Floats,
    expected: Floats,
    sample: NDArray[np.integer[Any]],
    population: NDArray[np.integer[Any]],
    *,
    top: int = 10,
) -> dict[str, Cells]:
    """Return the cells that each of the three ways takes.

    Of cells without a record in the sample, the probability of a match and the expected population
    size do not matter.

    Examples
    --------
    >>> chance, size = np.array([0.9, 0.2, 0.5]), np.array([1.1, 5.0, 2.0])
    >>> found = choose_cells(chance, size, np.array([1, 2, 1]), np.array([1, 6, 3]), top=1)
    >>> {name: np.flatnonzero(cells).tolist() for name, cells in found.items()}
    {'top': [0], 'mcmcmc1': [0, 2], 'mcmcmc2': [0, 2]}
    """
    sampled = np.flatnonzero(sample > 0)
    best = np.zeros(len(sample), dtype=bool)
    best[sampled[_ranked(-chance[sampled])[:top]]] = True
    order = sampled[_ranked(expected[sampled])]
    alone = sample == 1
    return {
        "top": best,
        "mcmcmc1": _until(order, population, float(population[alone].sum())),
        "mcmcmc2": _until(order, expected, float(expected[alone].sum())),
    }


def _ranked(values: Floats) -> NDArray[np.int64]:
    """Return places by rising value, equal ones by their place.

    Examples
    --------
    >>> _ranked(np.array([0.1 + 0.2, 0.3, 0.1])).tolist()
    [2, 0, 1]
    """
    order = np.argsort(values, kind="stable")
    rising = values[order]
    # Where values are infinite their differences are not numbers, and none is a step.
    with np.errstate(invalid="ignore"):
        steps = np.diff(rising) > _EQUAL * np.abs(rising[1:])
    levels = np.concatenate([np.zeros(min(len(order), 1), np.int64), np.cumsum(steps)])
    return order[np.lexsort((order, levels))]


def _until(order: NDArray[np.integer[Any]], people: NDArray[Any], most: float) -> Cells:
    """Return the first cells of an order that have no more people than a given number."""
    chosen = np.zeros(len(people), dtype=bool)
    reached = np.cumsum(people[order], dtype=np.float64)
    n_taken = int(np.searchsorted(reached, most * (1 + _EQUAL), side="right"))
    chosen[order[:n_taken]] = True
    return chosen
