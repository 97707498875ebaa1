"""What is left to tell records apart: discernibility, and the mean size of classes.

Discernibility is the sum of the squared sizes of classes of records that look alike (Bayardo and
Agrawal 2005): as many as there are records where all differ, their square where none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def discernibility(class_sizes: Sequence[int]) -> int:
    """Return the sum of the squared sizes of classes.

    Examples
    --------
    >>> discernibility([1, 3])
    10
    """
    return sum(int(size) ** 2 for size in class_sizes)


def mean_class_size(class_sizes: Sequence[int]) -> Fraction:
    """Return how many records a class has on average.

    Examples
    --------
    >>> mean_class_size([1, 3])
    Fraction(2, 1)
    """
    sizes = [int(size) for size in class_sizes]
    return Fraction(sum(sizes), len(sizes)) if sizes else Fraction(0)
