"""Moves between tables that keep all known sums: short vectors of the integer kernel of the rows.

The rows with one possible sum are brought to echelon form by unimodular operations on the columns
(Hermite's normal form); the columns that are then zero are a basis of all integer vectors that
leave those sums alone. Sums and differences of two of them that are short join them: in a two-way
table they are the swaps of four cells. Moves of a basis alone need not connect all tables without
going below zero, which is why the sampler does not rely on them. The cost is cubic in the cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.feasible.independent_parts import TablePart

Integers = NDArray[np.int64]

_MOST_CELLS = 1500
_MOST_MOVES = 4000
_SHORT = 8


def kernel_basis(rows: Integers) -> Integers:
    """Return a basis, one vector per line, of the integer vectors that every row maps to 0.

    Examples
    --------
    >>> kernel_basis(np.array([[1, 1, 0], [0, 1, 1]]))
    array([[ 1, -1,  1]])
    """
    n = rows.shape[1]
    reduced, columns = rows.astype(np.int64).copy(), np.eye(n, dtype=np.int64)
    free = np.ones(n, bool)
    for row in range(len(rows)):
        while True:
            nonzero = np.flatnonzero(free & (reduced[row] != 0))
            if len(nonzero) < 2:
                break
            size = np.abs(reduced[row, nonzero])
            # A short pivot keeps the basis short.
            length = np.abs(columns[:, nonzero]).sum(axis=0)
            pivot = nonzero[np.lexsort((length, size))[0]]
            others = nonzero[nonzero != pivot]
            times = reduced[row, others] // reduced[row, pivot]
            reduced[:, others] -= np.outer(reduced[:, pivot], times)
            columns[:, others] -= np.outer(columns[:, pivot], times)
        free[nonzero] = False
    basis = columns[:, free].T
    # The sign of a move is of no matter; the first entry is positive for definiteness.
    first = np.argmax(basis != 0, axis=1)
    signs = np.sign(basis[np.arange(len(basis)), first])
    return basis * signs[:, None]


def lattice_moves(part: TablePart) -> Integers:
    """Return moves of a part, one per line; none if there are too many cells for it."""
    if part.n_cells > _MOST_CELLS:
        return np.zeros((0, part.n_cells), np.int64)
    basis = kernel_basis(part.matrix()[part.row_lower == part.row_upper])
    moves = [basis]
    n_moves = len(basis)
    for place, move in enumerate(basis):
        for other in (basis[place + 1 :] - move, basis[place + 1 :] + move):
            short = other[np.abs(other).sum(axis=1) <= _SHORT]
            moves.append(short)
            n_moves += len(short)
        if n_moves > _MOST_MOVES:
            break
    return np.concatenate(moves)
