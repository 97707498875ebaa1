"""Exchanges of two links, or of a link for a free record, where linked distances then agree better.

The change of the objective by one exchange takes one look at two rows of distances.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np

_LEAST_GAIN = 1e-12
_MOST_SWEEPS = 50


@numba.njit(cache=True, nogil=True)
def _change(a, b, linear, share, columns, i, to_i, k, to_k):
    """Return the change of the objective if i is linked with to_i and, unless k is -1, k with to_k."""
    at_i = columns[i]
    at_k = columns[k] if k >= 0 else -1
    total = 0.0
    for r in range(len(columns)):
        if r in (i, k):
            continue
        j = columns[r]
        total += (a[i, r] - b[to_i, j]) ** 2 - (a[i, r] - b[at_i, j]) ** 2
        if k >= 0:
            total += (a[k, r] - b[to_k, j]) ** 2 - (a[k, r] - b[at_k, j]) ** 2
    # Distances are symmetric, so each difference counts twice; that of i and k stays as it was.
    total *= 2.0 * share
    total += linear[i, to_i] - linear[i, at_i]
    if k >= 0:
        total += linear[k, to_k] - linear[k, at_k]
    return total


@numba.njit(cache=True, nogil=True)
def exchange_links(a, b, linear, share, columns):
    """Exchange links in place while the objective falls."""
    n = len(columns)
    is_used = np.zeros(len(b), np.bool_)
    for i in range(n):
        is_used[columns[i]] = True
    for _ in range(_MOST_SWEEPS):
        is_better = False
        for i in range(n):
            for k in range(i + 1, n):
                if (
                    _change(a, b, linear, share, columns, i, columns[k], k, columns[i])
                    < -_LEAST_GAIN
                ):
                    columns[i], columns[k] = columns[k], columns[i]
                    is_better = True
            for j in range(len(b)):
                if (
                    not is_used[j]
                    and _change(a, b, linear, share, columns, i, j, -1, -1) < -_LEAST_GAIN
                ):
                    is_used[columns[i]] = False
                    is_used[j] = True
                    columns[i] = j
                    is_better = True
        if not is_better:
            return
