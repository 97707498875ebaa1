"""All samples of a small table that recover a zero, for any release, without asking about each.

The samples s <= c of a table form a lattice. Those that recover a zero in a cell j are closed
upwards among the samples that hold all of j: knowing more people never hurts. So one question
settles many samples: a table with more people in j settles every sample within it, a sample for
which there is none, lowered as far as that stays so, settles every sample that contains it. The
number of questions is of the order of the extreme samples on either side, not of all samples.
Samples are weighed by the product of binomials c over s, in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.subtraction.oracle import RecoveryOracle

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class LatticeCounts:
    """Numbers of samples by size.

    Attributes
    ----------
    by_zeros
        For each number of recovered zeros the number of samples of each size.
    by_cell
        For each cell the number of samples of each size that recover a zero in it.
    """

    by_zeros: tuple[tuple[int, ...], ...]
    by_cell: tuple[tuple[int, ...], ...]


def lattice_size(truth: Integers) -> float:
    """Return the number of samples of a table, as numbers of known people per cell.

    At most 1e300, as an estimate of what a search would take.

    Examples
    --------
    >>> lattice_size(np.array([2, 0, 3]))
    12.0
    """
    digits = float(np.log10(truth + 1.0).sum())
    return float(np.prod(truth + 1.0)) if digits < 300 else 1e300


def lattice_counts(oracle: RecoveryOracle) -> LatticeCounts:
    """Return how many samples of each size recover how many zeros, and in which cells."""
    truth = oracle.everybody
    kept = np.flatnonzero(truth)
    shape = tuple(int(truth[cell]) + 1 for cell in kept)
    zeros = np.zeros(shape, np.int16)
    nothing = (0,) * (int(truth.sum()) + 1)
    by_cell: list[tuple[int, ...]] = [nothing] * len(truth)
    for cell in oracle.candidates:
        recovered = _recovering(oracle, int(cell), kept, shape)
        zeros += recovered
        by_cell[int(cell)] = _by_size(recovered, shape)
    most = int(zeros.max())
    by_zeros = tuple(_by_size(zeros == number, shape) for number in range(most + 1))
    return LatticeCounts(by_zeros, tuple(by_cell))


def _recovering(
    oracle: RecoveryOracle, cell: int, kept: Integers, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return which samples recover a zero in a cell."""
    truth = oracle.everybody
    recovered = np.zeros(shape, np.bool_)
    settled = np.ones(shape, np.bool_)
    # Only samples that hold all of the cell can recover a zero in it.
    full = tuple(slice(int(truth[c]), None) if c == cell else slice(None) for c in kept)
    settled[full] = False
    flat = settled.reshape(-1)
    sample = np.zeros(len(truth), np.int64)
    while True:
        # The largest sample that is not settled, in the order of the array.
        last = flat.size - 1 - int(np.argmin(flat[::-1]))
        if flat[last]:
            return recovered
        sample[kept] = np.unravel_index(last, shape)
        if not _ask(oracle, cell, sample, kept, settled):
            continue
        for c in kept:
            if c == cell:
                continue
            while sample[c] > 0:
                sample[c] -= 1
                if not _ask(oracle, cell, sample, kept, settled):
                    sample[c] += 1
                    break
        above = tuple(slice(int(sample[c]), None) for c in kept)
        recovered[above] = True
        settled[above] = True


def _ask(
    oracle: RecoveryOracle, cell: int, sample: Integers, kept: Integers, settled: NDArray[np.bool_]
) -> bool:
    """Return whether a sample recovers a zero; otherwise all samples within the table are settled."""
    table = oracle.larger_table(sample, cell)
    if table is None:
        return True
    settled[tuple(slice(0, int(table[c]) + 1) for c in kept)] = True
    return False


def _by_size(samples: NDArray[np.bool_], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the weight of chosen samples by the number of people, in whole numbers."""
    population = sum(length - 1 for length in shape)
    fits = math.comb(population, population // 2) < 2**62
    weights = samples.astype(np.int64 if fits else object)[..., None]
    # One axis after the other becomes a part of the last, which counts people.
    for length in reversed(shape):
        size = length - 1
        known = weights.shape[-1]
        summed = np.zeros((*weights.shape[:-2], known + size), weights.dtype)
        for number in range(length):
            summed[..., number : number + known] += (
                math.comb(size, number) * weights[..., number, :]
            )
        weights = summed
    return tuple(int(weight) for weight in weights.reshape(-1))
