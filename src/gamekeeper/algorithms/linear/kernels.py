"""Tightening limits row by row until nothing changes, and repairing numbers by random walks.

In a row, each number is at most what the others leave when they are as small as they can be, and at
least what they leave when as large as they can be. Rows are visited while one of their numbers has
changed. The limits reached contain all numbers that satisfy the rows; they need not be tight. One
visit costs the length of the row, memory is linear.

A walk over the rows that do not hold takes one of them at random and moves one of its numbers towards
its limits, by all that is missing or by part of it. A step that makes the others worse is taken
with a probability that falls with what it costs per unit moved (the Metropolis rule at a fixed
temperature). The right temperature decides: on a 20 x 20 x 10 table from its 2-way margins some
100,000 steps lead from nothing to a table at 0.3, and a million do not at 0.5. Where solutions are
few or none, the walk gives up and proves nothing. What it returns is exact: sums are whole numbers
throughout. A step costs the number of rows of a number.

The kernels are compiled, and let go of the interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

_VISITS_OF_A_ROW, _FEWEST_VISITS = 200, 10_000


@inner
def _quotient(room, factor, is_up):
    """Divide, rounded up or down."""
    if factor == 1:
        return room
    if factor == -1:
        return -room
    if is_up:
        return -((-room) // factor)
    return room // factor


@kernel
def propagate(
    starts, members, factors, row_lower, row_upper, number_starts, number_rows,
    lower, upper, endless, is_whole, waiting, n_waiting,
):  # fmt: skip
    """Tighten lower and upper in place; return a row that cannot hold, -1, or -2 if visits ran out.

    Limits from `endless` on, and from its negative down, stand for none. `waiting` has a place per row
    and holds the rows to visit first, `n_waiting` of them. Limits of rows are not changed, so that a
    caller can undo by restoring those of numbers. Limits may come closer to what they tend to forever,
    so visits are counted; what is reached by then is valid.
    """
    n_rows = len(starts) - 1
    is_waiting = np.zeros(n_rows, np.bool_)
    queue = np.empty(n_rows + 1, np.int64)
    for k in range(n_waiting):
        queue[k] = waiting[k]
        is_waiting[waiting[k]] = True
    head, tail, count = 0, n_waiting, n_waiting
    visits = _FEWEST_VISITS + _VISITS_OF_A_ROW * n_rows
    while count > 0 and visits > 0:
        visits -= 1
        row = queue[head]
        head = (head + 1) % (n_rows + 1)
        count -= 1
        is_waiting[row] = False
        # The least and the most that the row can be, but for so many that are endless.
        low, high, low_endless, high_endless = np.int64(0), np.int64(0), 0, 0
        for k in range(starts[row], starts[row + 1]):
            factor = np.int64(factors[k])
            least, most = lower[members[k]], upper[members[k]]
            if factor < 0:
                least, most = most, least
            if least <= -endless or least >= endless:
                low_endless += 1
            else:
                low += factor * least
            if most <= -endless or most >= endless:
                high_endless += 1
            else:
                high += factor * most
        has_low, has_high = row_lower[row] > -endless, row_upper[row] < endless
        if has_high and low_endless == 0 and low > row_upper[row]:
            return row
        if has_low and high_endless == 0 and high < row_lower[row]:
            return row
        for k in range(starts[row], starts[row + 1]):
            number = members[k]
            factor = np.int64(factors[k])
            if low_endless == 0 and high_endless == 0:
                # Most numbers have no more room than their rows leave them.
                span = abs(factor) * (upper[number] - lower[number])
                if (not has_high or span <= row_upper[row] - low) and (
                    not has_low or span <= high - row_lower[row]
                ):
                    continue
            changed = False
            for side in range(2):
                # From the row's upper limit, then from its lower one: what the others leave.
                if side == 0:
                    if not has_high:
                        continue
                    own = lower[number] if factor > 0 else upper[number]
                    is_endless = own <= -endless or own >= endless
                    if low_endless - (1 if is_endless else 0) > 0:
                        continue
                    room = row_upper[row] - (low if is_endless else low - factor * own)
                    is_upper = factor > 0
                else:
                    if not has_low:
                        continue
                    own = upper[number] if factor > 0 else lower[number]
                    is_endless = own <= -endless or own >= endless
                    if high_endless - (1 if is_endless else 0) > 0:
                        continue
                    room = row_lower[row] - (high if is_endless else high - factor * own)
                    is_upper = factor < 0
                # Whole numbers are rounded towards what is possible, others away from it.
                value = _quotient(room, factor, is_upper != is_whole)
                if value >= endless or value <= -endless:
                    continue
                if is_upper:
                    before = upper[number]
                    if value >= before:
                        continue
                    upper[number] = value
                else:
                    before = lower[number]
                    if value <= before:
                        continue
                    lower[number] = value
                changed = True
                was_endless = before <= -endless or before >= endless
                if is_upper == (factor > 0):
                    high += factor * value if was_endless else factor * (value - before)
                    high_endless -= 1 if was_endless else 0
                else:
                    low += factor * value if was_endless else factor * (value - before)
                    low_endless -= 1 if was_endless else 0
            if lower[number] > upper[number]:
                return row
            if changed:
                for j in range(number_starts[number], number_starts[number + 1]):
                    other = number_rows[j]
                    if not is_waiting[other]:
                        is_waiting[other] = True
                        queue[tail] = other
                        tail = (tail + 1) % (n_rows + 1)
                        count += 1
    return -1 if count == 0 else -2


@inner
def _outside(total, low, high):
    if total < low:
        return low - total
    if total > high:
        return total - high
    return 0


@kernel
def repair(
    starts, members, factors, row_lower, row_upper, number_starts, number_rows, number_factors,
    lower, upper, numbers, steps, temperature, random, totals, broken, place,
):  # fmt: skip
    """Change numbers in place until every row holds; return the steps taken, or -1 if too few.

    Factors are 1 or -1. The numbers must be within their limits, and stay there. `random` is a
    Generator. The last three have a place for each row, and hold nothing before or after.
    """
    count = 0
    for row in range(len(totals)):
        totals[row] = 0
        place[row] = -1
        for k in range(starts[row], starts[row + 1]):
            totals[row] += factors[k] * numbers[members[k]]
        if _outside(totals[row], row_lower[row], row_upper[row]) > 0:
            place[row] = count
            broken[count] = row
            count += 1
    for step in range(steps):
        if count == 0:
            return step
        row = broken[int(random.random() * count)]
        at = starts[row] + int(random.random() * (starts[row + 1] - starts[row]))
        number = members[at]
        if totals[row] < row_lower[row]:
            missing, sign = row_lower[row] - totals[row], np.int64(factors[at])
        else:
            missing, sign = totals[row] - row_upper[row], -np.int64(factors[at])
        if sign > 0:
            size = min(missing, upper[number] - numbers[number])
        else:
            size = min(missing, numbers[number] - lower[number])
        if size <= 0:
            continue
        if size > 1 and random.random() < 0.5:
            size = 1 + int(random.random() * size)
        change = sign * size
        worse = np.int64(0)
        for k in range(number_starts[number], number_starts[number + 1]):
            r = number_rows[k]
            moved = totals[r] + number_factors[k] * change
            worse += _outside(moved, row_lower[r], row_upper[r]) - _outside(
                totals[r], row_lower[r], row_upper[r]
            )
        if worse > 0 and random.random() > np.exp(-worse / (temperature * size)):
            continue
        numbers[number] += change
        for k in range(number_starts[number], number_starts[number + 1]):
            r = number_rows[k]
            totals[r] += number_factors[k] * change
            is_broken = _outside(totals[r], row_lower[r], row_upper[r]) > 0
            if is_broken and place[r] < 0:
                place[r] = count
                broken[count] = r
                count += 1
            elif not is_broken and place[r] >= 0:
                count -= 1
                last = broken[count]
                broken[place[r]] = last
                place[last] = place[r]
                place[r] = -1
    return steps if count == 0 else -1
