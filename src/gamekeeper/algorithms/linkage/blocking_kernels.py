"""Candidate pairs from an index of the second file, and the parts they fall into.

Groups are records with equal keys. Pairs are counted first and made afterwards, row by row, with
ascending columns. Linear in the pairs that are looked at. The kernels are compiled, and let go of
the interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, inline="always")
def _fits(row, column, tests):
    codes_a, codes_b, tables, offsets, widths = tests
    for v in range(codes_a.shape[1]):  # noqa: SIM110 - compiles to a plain loop
        if not tables[offsets[v] + codes_a[row, v] * widths[v] + codes_b[column, v]]:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def count_pairs(group_of_row, list_starts, lists, group_starts, members, tests):
    """Return for each row how many records fit it.

    The group of a row lists groups of the second file; their members are tested by a table for
    each further variable.
    """
    n_tests = tests[0].shape[1]
    counts = np.zeros(len(group_of_row), np.int64)
    for row in range(len(group_of_row)):
        group = group_of_row[row]
        if group < 0:
            continue
        for k in range(list_starts[group], list_starts[group + 1]):
            low, high = group_starts[lists[k]], group_starts[lists[k] + 1]
            if n_tests == 0:
                counts[row] += high - low
            else:
                for m in range(low, high):
                    if _fits(row, members[m], tests):
                        counts[row] += 1
    return counts


@numba.njit(cache=True, nogil=True)
def fill_pairs(starts, columns, group_of_row, list_starts, lists, group_starts, members, tests):  # fmt: skip
    """Fill the columns of each row, as counted by `count_pairs`, in ascending order."""
    n_tests = tests[0].shape[1]
    for row in range(len(group_of_row)):
        group = group_of_row[row]
        if group < 0:
            continue
        place = starts[row]
        for k in range(list_starts[group], list_starts[group + 1]):
            for m in range(group_starts[lists[k]], group_starts[lists[k] + 1]):
                if n_tests == 0 or _fits(row, members[m], tests):
                    columns[place] = members[m]
                    place += 1
        if list_starts[group + 1] - list_starts[group] > 1:
            columns[starts[row] : place].sort()


@numba.njit(cache=True, nogil=True)
def label_components(starts, columns, n_columns):
    """Return for rows, then columns, the number of their connected component, from 0 on."""
    n_rows = len(starts) - 1
    parent = np.arange(n_rows + n_columns)
    for row in range(n_rows):
        for k in range(starts[row], starts[row + 1]):
            a, b = row, n_rows + columns[k]
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a < b:
                parent[b] = a
            else:
                parent[a] = b
    # A parent is never larger than its child, so roots are numbered before they are asked for.
    labels = np.empty(n_rows + n_columns, np.int64)
    n_labels = 0
    for node in range(n_rows + n_columns):
        if parent[node] == node:
            labels[node] = n_labels
            n_labels += 1
        else:
            labels[node] = labels[parent[node]]
    return labels, n_labels
