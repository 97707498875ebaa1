"""Compiled repair of a suppression: further stars where people have too few rows, fewer where not."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compatibility.key_kernels import agree
from gamekeeper.algorithms.compiling import inner, kernel

_TRIED = 16


@inner
def _gain(person_keys, deficits, members, first, last, rows, row, added):
    """Return how many of some people, who are short, a row would be new to."""
    gain = np.int64(0)
    for i in range(first, last):
        person = members[i]
        if deficits[person] > 0 and not agree(person_keys, person, rows, row, added):
            gain += 1
    return gain


@inner
def _best(person_keys, deficits, members, first, last, rows, left, helpers, begin, end, added):
    """Return the row that is new to most people who are short, and to how many."""
    best, most = np.int64(-1), np.int64(0)
    tried = np.int64(0)
    for j in range(begin, end):
        row = helpers[j]
        if left[row] > 0:
            gain = _gain(person_keys, deficits, members, first, last, rows, row, added)
            if gain > most:
                best, most = row, gain
            tried += 1
            if tried == _TRIED:
                break
    return best, most


@kernel
def help_people(
    person_keys, deficits, rows, left, members, member_starts, helpers, helper_starts, added,
    estimates, chosen_row, chosen_option,
):  # fmt: skip
    """Choose rows to open further, those that help most people first; return how many were chosen.

    An option is a set of people who agree with a set of rows but for some fields, which would be
    opened: `members` and `helpers` between their starts, and `added` the fields. A row is opened once.
    """
    n_options = len(estimates)
    most = np.int64(0)
    for option in range(n_options):
        estimates[option] = member_starts[option + 1] - member_starts[option]
        most = max(most, estimates[option])
    n_chosen = np.int64(0)
    for level in range(most, 0, -1):
        for option in range(n_options):
            while estimates[option] == level:
                row, gain = _best(
                    person_keys, deficits, members, member_starts[option], member_starts[option + 1],
                    rows, left, helpers, helper_starts[option], helper_starts[option + 1],
                    added[option],
                )  # fmt: skip
                if gain < level:
                    estimates[option] = gain
                    break
                left[row] -= 1
                chosen_row[n_chosen] = row
                chosen_option[n_chosen] = option
                n_chosen += 1
                for i in range(member_starts[option], member_starts[option + 1]):
                    person = members[i]
                    if deficits[person] > 0 and not agree(
                        person_keys, person, rows, row, added[option]
                    ):
                        deficits[person] -= 1
    return n_chosen


@kernel
def close_again(
    people, counts, candidates, keys, sets, fields, order, k, max_work, closed, without
):
    """Take back stars of some rows where everybody keeps k; return how many were taken back.

    `sets` has the suppressed columns of each row and is changed, as is `candidates`, the number of
    rows of each person. `order` has the columns in the order in which they are tried.
    """
    n_back = np.int64(0)
    work = np.int64(0)
    n_people = len(people)
    for unit in range(len(keys) - 1, -1, -1):
        for column in order:
            bit = np.uint64(1) << np.uint64(column)
            if sets[unit] & bit == np.uint64(0):
                continue
            work += n_people
            if work > max_work:
                return n_back
            for word in range(len(closed)):
                closed[word] = np.uint64(0)
                without[word] = np.uint64(0)
            for other in range(fields.shape[0]):
                if (sets[unit] >> np.uint64(other)) & np.uint64(1) == np.uint64(0):
                    for word in range(len(closed)):
                        closed[word] |= fields[other, word]
                        without[word] |= fields[other, word]
            for word in range(len(closed)):
                without[word] |= fields[column, word]
            fitting = np.int64(0)
            is_fine = True
            for person in range(n_people):
                if agree(people, person, keys, unit, without):
                    fitting += counts[person]
                elif candidates[person] <= k and agree(people, person, keys, unit, closed):
                    is_fine = False
                    break
            if not is_fine or fitting < k:
                continue
            for person in range(n_people):
                if agree(people, person, keys, unit, closed) and not agree(
                    people, person, keys, unit, without
                ):
                    candidates[person] -= 1
            sets[unit] &= ~bit
            n_back += 1
    return n_back
