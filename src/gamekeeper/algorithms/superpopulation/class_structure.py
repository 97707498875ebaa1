"""The structure of a sample, how many classes there are of each size, as arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def sizes_and_numbers(
    structure: Mapping[int, int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sizes that occur, in ascending order, and how many classes have each.

    Examples
    --------
    >>> sizes, numbers = sizes_and_numbers({2: 7, 1: 5, 3: 0})
    >>> sizes.tolist(), numbers.tolist()
    ([1.0, 2.0], [5.0, 7.0])
    """
    sizes = sorted(size for size, number in structure.items() if number)
    numbers = [structure[size] for size in sizes]
    return np.array(sizes, dtype=np.float64), np.array(numbers, dtype=np.float64)
