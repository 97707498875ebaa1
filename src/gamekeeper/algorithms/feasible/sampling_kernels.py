"""Compiled draws of tables, cell by cell with known probability, and walks among tables.

A draw takes the open cell with the fewest counts left, gives it a count within its present limits
and tightens the limits of the others. The counts have probabilities in the shape of the cell's own
weight times a normal approximation to the weight of all ways in which the rest of its rows can make
up the known sums; a small share is even over all counts, so that no count within the limits is ever
impossible. The approximation uses moments under an exponential tilt of each row that makes its
expected sum right, kept up as counts are given. The order and the probabilities depend on the
counts given so far alone, so that the probability of any table can be computed by giving the cells
its counts. A draw takes the number of cells squared, or the sum over cells of the length of their
rows and of their ranges, whichever is more.

Walks leave a distribution as it is. A slide goes along a lattice move by a step drawn from its
distribution given all else; its cost is the number of steps. A redraw proposes new counts for some
cells or all by a sequential draw, and accepts them by the rule of Metropolis and Hastings; it costs
two draws. Which cells are redrawn and which move is taken never depends on the table, so the rule
needs no other correction.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from math import erf, exp, lgamma, log, sqrt
from typing import Any, NamedTuple

import numba
import numpy as np

from gamekeeper.algorithms.feasible.enumeration_kernels import LEVEL, TRAIL, narrow, narrowest, undo

_SQRT_2 = sqrt(2.0)
_ALWAYS_ALL = 256
_SUMMED_UP_TO = 16
_SWEEPS = 40


class Shape(NamedTuple):
    """Log weights of counts and sums (offset -1: none), and tilts of cells and rows to begin with.

    Mean and variance of a sum of cells are most accurate where they are tilted to be near to it. The
    weight that the tilt adds is a power of the sum, and taken back by shifting the normal mean.
    """

    cell_offsets: Any
    cell_logs: Any
    row_offsets: Any
    row_logs: Any
    tilt: Any
    row_tilt: Any
    even: Any


class Scratch(NamedTuple):
    """What a draw changes on its way: tilts and moments, and room for the shares of counts."""

    tilt: Any
    row_tilt: Any
    mean: Any
    variance: Any
    masses: Any


@numba.njit(cache=True, nogil=True)
def _set_moments(limits, shape, scratch, cell):
    """Set mean and variance of a cell within its limits, under its weight and tilt."""
    low, high, tilt = limits.lower[cell], limits.upper[cell], scratch.tilt[cell]
    offset = shape.cell_offsets[cell]
    if low == high:
        scratch.mean[cell], scratch.variance[cell] = low, 0.0
        return
    n = high - low + 1.0
    if offset < 0:
        # A cut geometric law; even counts where the tilt does not matter.
        if abs(tilt) * n < 1e-3:
            mean, variance = (n - 1.0) / 2.0, (n * n - 1.0) / 12.0
        else:
            sign = 1.0 if tilt < 0.0 else -1.0
            one, all_of_it = exp(-abs(tilt)), exp(-abs(tilt) * n)
            mean = one / (1.0 - one) - n * all_of_it / (1.0 - all_of_it)
            variance = one / (1.0 - one) ** 2 - n * n * all_of_it / (1.0 - all_of_it) ** 2
            if sign < 0.0:
                mean = n - 1.0 - mean
        scratch.mean[cell], scratch.variance[cell] = low + mean, max(variance, 1e-6)
        return
    top = -np.inf
    for value in range(low, high + 1):
        top = max(top, tilt * value + shape.cell_logs[offset + value])
    total, first, second = 0.0, 0.0, 0.0
    for value in range(low, high + 1):
        mass = exp(tilt * value + shape.cell_logs[offset + value] - top)
        total += mass
        first += mass * (value - low)
        second += mass * (value - low) * (value - low)
    mean = first / total
    scratch.mean[cell], scratch.variance[cell] = low + mean, max(second / total - mean * mean, 1e-6)


@numba.njit(cache=True, nogil=True)
def _expected(problem, scratch, row):
    mean, variance = 0.0, 0.0
    for k in range(problem.starts[row], problem.starts[row + 1]):
        mean += scratch.mean[problem.members[k]]
        variance += scratch.variance[problem.members[k]]
    return mean, variance


@numba.njit(cache=True, nogil=True)
def _tilt_row(problem, limits, shape, scratch, row, by):
    for k in range(problem.starts[row], problem.starts[row + 1]):
        cell = problem.members[k]
        if limits.lower[cell] < limits.upper[cell]:
            scratch.tilt[cell] += by
            _set_moments(limits, shape, scratch, cell)
    scratch.row_tilt[row] += by


@numba.njit(cache=True, nogil=True)
def _aim(problem, limits, shape, scratch, row, steps):
    """Tilt a row until its expected sum is within its limits; return how far it was away."""
    away = 0.0
    for step in range(steps):
        mean, variance = _expected(problem, scratch, row)
        aim = min(max(mean, float(problem.row_lower[row])), float(problem.row_upper[row]))
        distance = abs(aim - mean) / (1.0 + aim)
        if step == 0:
            away = distance
        if distance < 1e-3 or variance <= 0.0:
            break
        by = min(max((aim - mean) / variance, -2.0), 2.0)
        for _ in range(6):
            _tilt_row(problem, limits, shape, scratch, row, by)
            if abs(aim - _expected(problem, scratch, row)[0]) <= abs(aim - mean):
                break
            _tilt_row(problem, limits, shape, scratch, row, -by)
            by /= 4.0
    return away


@numba.njit(cache=True, nogil=True)
def fit_tilt(problem, limits, shape, scratch):
    """Tilt the cells, row by row, until all rows have expected sums within their limits."""
    for cell in range(len(limits.lower)):
        _set_moments(limits, shape, scratch, cell)
    for _ in range(_SWEEPS):
        worst = 0.0
        for row in range(len(problem.row_lower)):
            worst = max(worst, _aim(problem, limits, shape, scratch, row, 3))
        if worst < 1e-2:
            break
    shape.tilt[:] = scratch.tilt
    shape.row_tilt[:] = scratch.row_tilt


@numba.njit(cache=True, nogil=True)
def _log_mass(total, mean, variance, most):
    """Return the log mass at a total, up to a constant, of the law with these moments.

    It is the negative binomial, Poisson or binomial law: right for sums of geometric, Poisson and
    yes-or-no counts alike.
    """
    if variance > mean * 1.000001:
        size = mean * mean / (variance - mean)
        return lgamma(total + size) - lgamma(total + 1.0) + total * log(1.0 - mean / variance)
    if variance < mean * 0.999999:
        size = max(mean * mean / (mean - variance), most)
        odds = mean / max(size - mean, 1e-9)
        return total * log(odds) - lgamma(total + 1.0) - lgamma(max(size - total, 0.0) + 1.0)
    return total * log(mean) - lgamma(total + 1.0)


@numba.njit(cache=True, nogil=True)
def _log_rest(low, high, mean, variance, most, tilt):
    """Return the log weight of all totals low .. high of the rest of a row, up to a constant."""
    if low == high:
        return _log_mass(low, mean, variance, most) - tilt * low
    low, high = max(low, np.int64(0)), min(high, most)
    if high < low:
        return -np.inf
    if high - low < _SUMMED_UP_TO:
        top = -np.inf
        for total in range(low, high + 1):
            top = max(top, _log_mass(total, mean, variance, most) - tilt * total)
        mass = 0.0
        for total in range(low, high + 1):
            mass += exp(_log_mass(total, mean, variance, most) - tilt * total - top)
        return log(mass) + top
    # The tilt of a normal law is a shift of its mean.
    centre, spread = mean - tilt * variance, sqrt(variance)
    upper = erf((high + 0.5 - centre) / (spread * _SQRT_2))
    mass = upper - erf((low - 0.5 - centre) / (spread * _SQRT_2))
    if mass > 1e-12:
        return log(mass / 2.0)
    away = max(low - centre, centre - high, 0.0) / spread
    return -0.5 * away * away - 2.0


@numba.njit(cache=True, nogil=True)
def _log_other(limits, shape, scratch, other, fewest, most, row):
    """Return the log weight of the counts of the only other open cell of a row."""
    low = limits.lower[other]
    first = max(low + fewest, low)
    last = min(low + most, limits.upper[other])
    if last < first:
        return -np.inf
    tilt = scratch.tilt[other] - scratch.row_tilt[row]
    last = min(last, first + _SUMMED_UP_TO)
    offset = shape.cell_offsets[other]
    top = -np.inf
    for value in range(first, last + 1):
        score = tilt * value
        if offset >= 0:
            score += shape.cell_logs[offset + value]
        top = max(top, score)
    if top == -np.inf:
        return top
    mass = 0.0
    for value in range(first, last + 1):
        score = tilt * value
        if offset >= 0:
            score += shape.cell_logs[offset + value]
        mass += exp(score - top)
    return log(mass) + top


@numba.njit(cache=True, nogil=True)
def _probabilities(problem, limits, shape, scratch, cell):
    """Set the shares of the counts of a cell that are likely; return the first and their number."""
    low, high = limits.lower[cell], limits.upper[cell]
    first_row, last_row = problem.cell_starts[cell], problem.cell_starts[cell + 1]
    n_rows = last_row - first_row
    rest_mean, rest_variance = np.empty(n_rows), np.empty(n_rows)
    rest_least, rest_most = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    only = np.full(n_rows, -1, np.int64)
    for j in range(n_rows):
        row = problem.cell_rows[first_row + j]
        for k in range(problem.starts[row], problem.starts[row + 1]):
            _set_moments(limits, shape, scratch, problem.members[k])
        _aim(problem, limits, shape, scratch, row, 2)
    precision = 1.0 / scratch.variance[cell]
    centre = precision * scratch.mean[cell]
    for j in range(n_rows):
        row = problem.cell_rows[first_row + j]
        mean, variance, n_open = 0.0, 0.0, 0
        for k in range(problem.starts[row], problem.starts[row + 1]):
            other = problem.members[k]
            if other != cell and limits.lower[other] < limits.upper[other]:
                mean += scratch.mean[other] - limits.lower[other]
                variance += scratch.variance[other]
                n_open += 1
                only[j] = other
        if n_open > 1:
            only[j] = -1
        rest_least[j] = limits.low[row] - low
        rest_most[j] = limits.high[row] - high - rest_least[j]
        rest_mean[j], rest_variance[j] = max(mean, 1e-6), variance
        if variance > 0.0:
            room = float(problem.row_upper[row] - problem.row_lower[row])
            share = 1.0 / (variance + room * room / 12.0)
            aim = 0.5 * (problem.row_upper[row] + problem.row_lower[row]) - mean - rest_least[j]
            precision += share
            centre += share * min(max(aim, float(low)), float(high))
    first, last = low, high
    if high - low >= _ALWAYS_ALL:
        reach = 10.0 / sqrt(precision) + 8.0
        first = max(low, np.int64(centre / precision - reach))
        last = min(high, np.int64(centre / precision + reach))
    n = last - first + 1
    offset = shape.cell_offsets[cell]
    masses = scratch.masses
    top = -np.inf
    for k in range(n):
        value = first + k
        score = 0.0
        if offset >= 0:
            score = shape.cell_logs[offset + value]
        for j in range(n_rows):
            row = problem.cell_rows[first_row + j]
            gone = value + rest_least[j]
            fewest, most = problem.row_lower[row] - gone, problem.row_upper[row] - gone
            if only[j] >= 0:
                score += _log_other(limits, shape, scratch, only[j], fewest, most, row)
            elif rest_variance[j] > 0.0:
                score += _log_rest(
                    fewest, most, rest_mean[j], rest_variance[j], rest_most[j],
                    scratch.row_tilt[row],
                )  # fmt: skip
            elif shape.row_offsets[row] >= 0:
                score += shape.row_logs[shape.row_offsets[row] - fewest]
        masses[k] = score
        top = max(top, score)
    total = 0.0
    for k in range(n):
        masses[k] = exp(masses[k] - top) if top > -np.inf else 1.0
        total += masses[k]
    for k in range(n):
        masses[k] /= total
    return first, n


@numba.njit(cache=True, nogil=True)
def draw_table(problem, limits, shape, scratch, rng, table, is_given):
    """Draw a table from the present limits on, or take the given one; return its log probability.

    Minus infinity stands for a dead end. The caller undoes what was narrowed.
    """
    log_probability = 0.0
    scratch.tilt[:] = shape.tilt
    scratch.row_tilt[:] = shape.row_tilt
    while True:
        cell = narrowest(limits)
        if cell < 0:
            break
        low, high = limits.lower[cell], limits.upper[cell]
        first, n = _probabilities(problem, limits, shape, scratch, cell)
        if is_given:
            value = table[cell]
        elif rng.random() < shape.even:
            value = low + min(np.int64(rng.random() * (high - low + 1)), high - low)
        else:
            aim = rng.random()
            value = first + n - 1
            for k in range(n):
                aim -= scratch.masses[k]
                if aim < 0.0:
                    value = first + k
                    break
        share = shape.even / (high - low + 1)
        if first <= value < first + n:
            share += (1.0 - shape.even) * scratch.masses[value - first]
        log_probability += log(share)
        if not narrow(problem, limits, cell, value, value):
            return -np.inf
    if not is_given:
        table[:] = limits.lower
    return log_probability


@numba.njit(cache=True, nogil=True)
def log_weight_of(problem, shape, table):
    """Return the log weight of a table."""
    total = 0.0
    for cell in range(len(table)):
        if shape.cell_offsets[cell] >= 0:
            total += shape.cell_logs[shape.cell_offsets[cell] + table[cell]]
    for row in range(len(problem.row_lower)):
        if shape.row_offsets[row] >= 0:
            found = -problem.row_lower[row]
            for k in range(problem.starts[row], problem.starts[row + 1]):
                found += table[problem.members[k]]
            total += shape.row_logs[shape.row_offsets[row] + found]
    return total


@numba.njit(cache=True, nogil=True)
def draw_tables(problem, limits, shape, scratch, rng, tables, log_weights):
    """Draw independent tables with their log importance weights; dead ends have minus infinity."""
    for number in range(len(tables)):
        limits.numbers[LEVEL] = 1
        found = draw_table(problem, limits, shape, scratch, rng, tables[number], False)
        undo(problem, limits, 0)
        if found == -np.inf:
            log_weights[number] = -np.inf
        else:
            log_weights[number] = log_weight_of(problem, shape, tables[number]) - found


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
