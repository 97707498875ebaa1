"""Groups of V-MDAV, compiled: two passes over what is left make a group, two more for each that joins."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel


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
