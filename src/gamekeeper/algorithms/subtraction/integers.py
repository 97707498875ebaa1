"""Numbers of samples of each size that leave every given cell partly unknown, exactly.

The number of samples of n people in which no cell of S is fully known is the coefficient of z^n in
the product of (1 + z)^c - z^c over the counts c of S, times (1 + z)^rest. Inclusion and exclusion
takes 2^|S| terms. Here the polynomial is one large integer, its value at a power of two beyond all
coefficients (Kronecker substitution), and a factor 1 + z is a shift and an addition: N of them in
all, each linear in the N^2 bits. A population of 2,000 takes half a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def samples_without_full_cells(sizes: Iterable[int], population: int) -> list[int]:
    """Return for n = 0 to the population how many samples of n people hold no cell of `sizes` fully.

    Cells of size 0 are always fully known. Everybody who is in none of the cells may be sampled.

    Examples
    --------
    >>> samples_without_full_cells([2, 1], 4)
    [1, 3, 2, 0, 0]
    """
    width = _width(population)
    value, rest = 1, population
    for size in sorted(sizes):
        grown = value
        for _ in range(size):
            grown += grown << width
        value = grown - (value << (width * size))
        rest -= size
    for _ in range(rest):
        value += value << width
    return unpacked(value, width, population + 1)


def product_of_polynomials(factors: Sequence[Sequence[int]], population: int) -> list[int]:
    """Return the product of numbers of samples from separate parts of a population.

    Examples
    --------
    >>> product_of_polynomials([[1, 2], [1, 1]], 2)
    [1, 3, 2]
    """
    width = _width(population)
    values = [packed(factor, width) for factor in factors] or [1]
    while len(values) > 1:
        values.sort(key=int.bit_length, reverse=True)
        values.append(values.pop() * values.pop())
    return unpacked(values[0], width, population + 1)


def binomials(population: int) -> list[int]:
    """Return the number of samples of each size.

    Examples
    --------
    >>> binomials(4)
    [1, 4, 6, 4, 1]
    """
    row = [1]
    for n in range(population):
        row.append(row[-1] * (population - n) // (n + 1))
    return row


def packed(coefficients: Sequence[int], width: int) -> int:
    """Return a polynomial with coefficients from 0 up as one integer, `width` bits for each."""
    n_bytes = width // 8
    return int.from_bytes(b"".join(c.to_bytes(n_bytes, "little") for c in coefficients), "little")


def unpacked(value: int, width: int, length: int) -> list[int]:
    """Return the coefficients of a polynomial that is kept as one integer."""
    n_bytes = width // 8
    content = value.to_bytes(n_bytes * length, "little")
    return [
        int.from_bytes(content[at : at + n_bytes], "little")
        for at in range(0, n_bytes * length, n_bytes)
    ]


def _width(population: int) -> int:
    """Return bits that hold any number of samples, in whole bytes."""
    return 8 * (math.comb(population, population // 2).bit_length() // 8 + 1)
