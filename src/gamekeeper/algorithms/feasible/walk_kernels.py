"""Compiled walks among tables that leave a distribution as it is.

A slide goes along a lattice move by a step drawn from its distribution given all else; its cost is
the number of steps. A redraw proposes new counts for some cells or all by a sequential draw, and
accepts them by the rule of Metropolis and Hastings; it costs two draws. Which cells are redrawn and
which move is taken never depends on the table, so the rule needs no other correction.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numba
import numpy as np

from gamekeeper.algorithms.feasible.enumeration_kernels import LEVEL, TRAIL, narrow, undo
from gamekeeper.algorithms.feasible.sampling_kernels import draw_table, log_weight_of


class Moves(NamedTuple):
    """Vectors that keep all exact sums: their cells with steps, and the rows they change."""

    starts: Any
    cells: Any
    steps: Any
    row_starts: Any
    rows: Any
    row_steps: Any


@numba.njit(cache=True, nogil=True)
def _redraw(problem, limits, shape, scratch, rng, table, is_free, fresh):
    """Propose new counts for the free cells, and accept or reject; return whether they changed."""
    limits.numbers[LEVEL] = 1
    for cell in range(len(table)):
        if not is_free[cell] and limits.lower[cell] < limits.upper[cell]:
            narrow(problem, limits, cell, table[cell], table[cell])
    mark = limits.numbers[TRAIL]
    limits.numbers[LEVEL] = 2
    proposed = draw_table(problem, limits, shape, scratch, rng, fresh, False)
    undo(problem, limits, mark)
    accepted = False
    if proposed > -np.inf:
        limits.numbers[LEVEL] = 3
        back = draw_table(problem, limits, shape, scratch, rng, table, True)
        gain = log_weight_of(problem, shape, fresh) - log_weight_of(problem, shape, table)
        gain += back - proposed
        accepted = gain >= 0.0 or rng.random() < exp(gain)
    undo(problem, limits, 0)
    if accepted:
        table[:] = fresh
    return accepted


@numba.njit(cache=True, nogil=True)
def _step(moves, move, table, sums, times):
    for k in range(moves.starts[move], moves.starts[move + 1]):
        table[moves.cells[k]] += times * moves.steps[k]
    for k in range(moves.row_starts[move], moves.row_starts[move + 1]):
        sums[moves.rows[k]] += times * moves.row_steps[k]


@numba.njit(cache=True, nogil=True)
def _slide(problem, widths, shape, moves, move, rng, table, sums, masses):
    """Go along one move by a step drawn from its distribution given all else."""
    fewest, most = np.int64(-(2**53)), np.int64(2**53)
    for k in range(moves.starts[move], moves.starts[move + 1]):
        cell, step = moves.cells[k], moves.steps[k]
        down, up = -table[cell], widths[cell] - table[cell]
        if step < 0:
            down, up, step = -up, -down, -step
        fewest = max(fewest, -((-down) // step))
        most = min(most, up // step)
    for k in range(moves.row_starts[move], moves.row_starts[move + 1]):
        row, step = moves.rows[k], moves.row_steps[k]
        down, up = problem.row_lower[row] - sums[row], problem.row_upper[row] - sums[row]
        if step < 0:
            down, up, step = -up, -down, -step
        fewest = max(fewest, -((-down) // step))
        most = min(most, up // step)
    n = most - fewest + 1
    if n <= 1:
        return
    if len(shape.cell_logs) == 0 and len(shape.row_logs) == 0:
        _step(moves, move, table, sums, fewest + min(np.int64(rng.random() * n), n - 1))
        return
    top = -np.inf
    for t in range(n):
        times, score = fewest + t, 0.0
        for k in range(moves.starts[move], moves.starts[move + 1]):
            cell = moves.cells[k]
            if shape.cell_offsets[cell] >= 0:
                value = table[cell] + times * moves.steps[k]
                score += shape.cell_logs[shape.cell_offsets[cell] + value]
        for k in range(moves.row_starts[move], moves.row_starts[move + 1]):
            row = moves.rows[k]
            if shape.row_offsets[row] >= 0:
                at = sums[row] + times * moves.row_steps[k] - problem.row_lower[row]
                score += shape.row_logs[shape.row_offsets[row] + at]
        masses[t] = score
        top = max(top, score)
    total = 0.0
    for t in range(n):
        masses[t] = exp(masses[t] - top)
        total += masses[t]
    aim, times = rng.random() * total, -fewest
    for t in range(n):
        aim -= masses[t]
        if aim < 0.0:
            times = t
            break
    _step(moves, move, table, sums, fewest + times)


@numba.njit(cache=True, nogil=True)
def _row_sums(problem, table, sums):
    for row in range(len(sums)):
        sums[row] = 0
        for k in range(problem.starts[row], problem.starts[row + 1]):
            sums[row] += table[problem.members[k]]


@numba.njit(cache=True, nogil=True)
def walk(
    problem, limits, shape, widths, moves, scratch, rng, table, tables, n_slides, n_blocks, tally
):
    """Walk on from a table and write the table after each round.

    A round is a number of slides along moves, redraws of a few cells with the others fixed, and one
    proposal of a whole new table. `tally` counts whole tables and blocks, tried and accepted.
    """
    n_cells, n_moves = len(table), len(moves.starts) - 1
    sums = np.zeros(len(problem.row_lower), np.int64)
    is_free = np.zeros(n_cells, np.bool_)
    fresh = np.empty(n_cells, np.int64)
    for number in range(len(tables)):
        _row_sums(problem, table, sums)
        if n_moves > 0:
            for _ in range(n_slides):
                move = min(np.int64(rng.random() * n_moves), n_moves - 1)
                _slide(problem, widths, shape, moves, move, rng, table, sums, scratch.masses)
        for _ in range(n_blocks):
            is_free[:] = False
            for _ in range(4):
                if n_moves > 0:
                    move = min(np.int64(rng.random() * n_moves), n_moves - 1)
                    for k in range(moves.starts[move], moves.starts[move + 1]):
                        is_free[moves.cells[k]] = True
                else:
                    for _ in range(4):
                        is_free[min(np.int64(rng.random() * n_cells), n_cells - 1)] = True
            tally[2] += 1
            if _redraw(problem, limits, shape, scratch, rng, table, is_free, fresh):
                tally[3] += 1
        is_free[:] = True
        tally[0] += 1
        if _redraw(problem, limits, shape, scratch, rng, table, is_free, fresh):
            tally[1] += 1
        tables[number] = table
