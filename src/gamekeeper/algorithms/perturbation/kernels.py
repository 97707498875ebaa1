"""Compiled groups for microaggregation, and partners within a window of ranks.

Three passes over what is left make two groups of MDAV; two passes make a group of V-MDAV, two more
for each that joins. For MDAV columns are kept apart, so that distances are added up four or eight
records at a time. A record in a group gets coordinates that are no numbers: no comparison with them
is true, so they are neither nearest nor farthest, and nothing has to be asked. Once an eighth has
gone, the rest is moved together in its order. The mean of what is left comes from sums from which
groups are taken, with what rounding loses added up besides (Neumaier's sum), so that it is as right
at the end as at the start.

For one variable sorted numbers are cut in the cheapest way into groups of k to 2k - 1. For rank
swapping, partners that are free are counted in a tree.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

_BLOCK = 1024


@inner
def _measure(x, width, factor, centre, distances):
    """Set the squared distance of every record, times a factor, from a centre."""
    n_columns = len(x)
    start = 0
    while start < width:
        stop = min(start + _BLOCK, width)
        for i in range(start, stop):
            distances[i] = 0.0
        j = 0
        while j + 1 < n_columns:
            # Two columns at a time: half as often is a sum read and written.
            one, other = x[j], x[j + 1]
            at_one, at_other = centre[j], centre[j + 1]
            for i in range(start, stop):
                step, step_other = factor * one[i] - at_one, factor * other[i] - at_other
                distances[i] = distances[i] + step * step + step_other * step_other
            j += 2
        if j < n_columns:
            one, at_one = x[j], centre[j]
            for i in range(start, stop):
                step = factor * one[i] - at_one
                distances[i] += step * step
        start = stop


@inner
def _farthest(distances, width):
    """Return the first of those that are farthest."""
    best, at = -1.0, 0
    for i in range(width):
        if distances[i] > best:
            best, at = distances[i], i
    return at


@inner
def _take(x, width, first, k, distances, labels, ids, group, sums, lost, nearest):
    """Put a record and its k - 1 nearest in a group; of equally near ones, those before."""
    distances[first] = np.nan
    n_found = 0
    for i in range(width):
        here = distances[i]
        if n_found < k - 1:
            if not here >= 0.0:
                continue
            n_found += 1
        elif k == 1 or not here < distances[nearest[n_found - 1]]:
            continue
        place = n_found - 1
        while place > 0 and here < distances[nearest[place - 1]]:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = i
    nearest[n_found] = first
    for place in range(n_found + 1):
        i = nearest[place]
        labels[ids[i]] = group
        distances[i] = np.nan
        for j in range(len(x)):
            _add(sums, lost, j, -x[j, i])
            x[j, i] = np.nan


@inner
def _add(sums, lost, j, number):
    before = sums[j]
    after = before + number
    if abs(before) >= abs(number):
        lost[j] += (before - after) + number
    else:
        lost[j] += (number - after) + before
    sums[j] = after


@inner
def _centre(x, at, centre):
    for j in range(len(x)):
        centre[j] = x[j, at]


@inner
def _compacted(x, ids, width):
    """Move the records that are left together, in their order, and return how many there are."""
    kept = 0
    for i in range(width):
        if x[0, i] == x[0, i]:
            ids[kept] = ids[i]
            if kept != i:
                for j in range(len(x)):
                    x[j, kept] = x[j, i]
            kept += 1
    return kept


@inner
def _start(x, sums, lost):
    for j in range(len(x)):
        for i in range(x.shape[1]):
            _add(sums, lost, j, x[j, i])


@kernel
def mdav(x, k, ids, labels, sums, lost, state, most):
    """Give records the numbers of their groups, and tell how many records have none yet.

    `x`, a row per variable, and `ids`, the numbers 0, 1, 2, ... of the records, are used up. `sums`
    and `lost` begin with zeros. `state` has how wide `x` is, how many records are left and how many
    groups there are; some `most` groups are made, so that whoever waits can be told, and a next
    call goes on.
    """
    n_columns = len(x)
    width, left, group = state[0], state[1], state[2]
    if group == 0:
        _start(x, sums, lost)
    centre = np.zeros(n_columns)
    distances = np.empty(width)
    nearest = np.empty(k + 1, np.int64)
    stop = group + most
    while left >= 2 * k and group < stop:
        for j in range(n_columns):
            centre[j] = sums[j] + lost[j]
        # So many times as far, from the sum and not from the mean: whole numbers stay whole, and
        # records that are equally far are seen to be so.
        _measure(x, width, float(left), centre, distances)
        first = _farthest(distances, width)
        if left >= 3 * k:
            _centre(x, first, centre)
            _measure(x, width, 1.0, centre, distances)
            _take(x, width, first, k, distances, labels, ids, group, sums, lost, nearest)
            first = _farthest(distances, width)
            left -= k
            group += 1
        _centre(x, first, centre)
        _measure(x, width, 1.0, centre, distances)
        _take(x, width, first, k, distances, labels, ids, group, sums, lost, nearest)
        left -= k
        group += 1
        if 8 * (width - left) > width:
            width = _compacted(x, ids, width)
    if left < 2 * k:
        width = _compacted(x, ids, width)
        for i in range(width):
            labels[ids[i]] = group
        left = 0
        group += 1
    state[0], state[1], state[2] = width, left, group
    return left


@inner
def _apart(x, one, other):
    found = 0.0
    for j in range(x.shape[1]):
        step = x[one, j] - x[other, j]
        found += step * step
    return found


@inner
def _join(x, labels, member, group, near):
    """Put a record in a group; what is left remembers how near the group is."""
    labels[member] = group
    for i in range(len(x)):
        if labels[i] < 0:
            here = _apart(x, i, member)
            if here < near[i]:
                near[i] = here


@inner
def _first(labels, values, least):
    """Return the first record without a group of least (or greatest) value; -1 where none is left."""
    at = -1
    for i in range(len(labels)):
        if labels[i] < 0 and (
            at < 0 or (values[i] < values[at] if least else values[i] > values[at])
        ):
            at = i
    return at


@kernel
def variable_groups(x, centre, k, readily, labels):
    """Give records the numbers of their groups, and return how many groups there are.

    `x` has a row per record, `labels` begins with -1 for each; `readily` is the squared gain.
    """
    n = len(x)
    far = np.empty(n)
    for i in range(n):
        far[i] = 0.0
        for j in range(x.shape[1]):
            step = x[i, j] - centre[j]
            far[i] += step * step
    left, group = n, 0
    near, from_first = np.empty(n), np.empty(n)
    while left >= k:
        first = _first(labels, far, False)
        for i in range(n):
            near[i] = np.inf
            from_first[i] = _apart(x, i, first) if labels[i] < 0 else 0.0
        _join(x, labels, first, group, near)
        for _ in range(k - 1):
            _join(x, labels, _first(labels, from_first, True), group, near)
        left -= k
        size = k
        while left > 0 and size < 2 * k - 1:
            nearest = _first(labels, near, True)
            outside = np.inf
            for i in range(n):
                if labels[i] < 0 and i != nearest:
                    outside = min(outside, _apart(x, i, nearest))
            if not near[nearest] < readily * outside:
                break
            _join(x, labels, nearest, group, near)
            left -= 1
            size += 1
        group += 1
    return group


@kernel
def last_sizes(values, k):
    """Return for every number of first values the size of the last group of their cheapest cut.

    0 where there are fewer than k of them. Squared errors of a group are added up value by value
    around its running mean, so that large numbers close together lose no digits.
    """
    n = len(values)
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    sizes = np.zeros(n + 1, np.int64)
    for end in range(k, n + 1):
        mean, error = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            value = values[end - size]
            step = value - mean
            mean += step / size
            error += step * (value - mean)
            if size >= k and least[end - size] + error < least[end]:
                least[end] = least[end - size] + error
                sizes[end] = size
    return sizes


@inner
def _remove(tree, place):
    """Count one less at a place (from 0) of a tree of sums (Fenwick's)."""
    at = place + 1
    while at < len(tree):
        tree[at] -= 1
        at += at & -at


@inner
def _counted(tree, place):
    """Return how many are free up to a place."""
    total, at = np.int64(0), place + 1
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@inner
def _at_number(tree, top, number):
    """Return the place of the free one with a number, counted from 0."""
    at, step = np.int64(0), top
    while step > 0:
        if at + step < len(tree) and tree[at + step] <= number:
            at += step
            number -= tree[at]
        step >>= 1
    return at


@kernel
def partners(draws, limit):
    """Return for every rank the rank that it changes places with; its own where none is free.

    From the lowest rank on, one that is free takes one of the free ranks up to `limit` above it,
    each with the same chance, by its draw.
    """
    n = len(draws)
    partner = np.arange(n)
    taken = np.zeros(n, np.bool_)
    tree = np.empty(n + 1, np.int64)
    for at in range(n + 1):
        tree[at] = at & -at
    top = np.int64(1)
    while 2 * top <= n:
        top *= 2
    for rank in range(n):
        if taken[rank]:
            continue
        _remove(tree, rank)
        # Every rank below has been decided, so all that are free lie above.
        n_free = _counted(tree, min(rank + limit, n - 1))
        if n_free == 0:
            continue
        other = _at_number(tree, top, min(np.int64(draws[rank] * n_free), n_free - 1))
        partner[rank], partner[other] = other, rank
        taken[other] = True
        _remove(tree, other)
    return partner
