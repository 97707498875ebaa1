"""Compiled repair of a suppression: further stars where people have too few rows, fewer where not."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compatibility.key_kernels import enter_rows, place_in
from gamekeeper.algorithms.compiling import inner, kernel

_TRIED = 16


@kernel
def find_helpers(short, rows, first, last, kept, slots, place_of, row_at, helper_place):
    """Number the different keys of people who are short; tell each row of a group its number or -1."""
    n_places = enter_rows(short, np.int64(0), len(short), kept, slots, place_of, row_at)
    for row in range(first, last):
        helper_place[row - first] = place_in(rows, row, kept, short, slots, row_at)
    return n_places


@inner
def _gain(person_keys, deficits, members, first, last, rows, row, added):
    """Return how many of some people, who are short, a row would be new to."""
    gain = np.int64(0)
    for i in range(first, last):
        person = members[i]
        if deficits[person] > 0:
            for word in range(rows.shape[1]):
                if (person_keys[person, word] ^ rows[row, word]) & added[word] != np.uint64(0):
                    gain += 1
                    break
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
                    if deficits[person] > 0:
                        for word in range(rows.shape[1]):
                            if (person_keys[person, word] ^ rows[row, word]) & added[
                                option, word
                            ] != np.uint64(0):
                                deficits[person] -= 1
                                break
    return n_chosen


@inner
def _fits(people, person, keys, unit, closed):
    for word in range(people.shape[1]):
        if (people[person, word] ^ keys[unit, word]) & closed[word] != np.uint64(0):
            return False
    return True


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
                if _fits(people, person, keys, unit, without):
                    fitting += counts[person]
                elif candidates[person] <= k and _fits(people, person, keys, unit, closed):
                    is_fine = False
                    break
            if not is_fine or fitting < k:
                continue
            for person in range(n_people):
                if _fits(people, person, keys, unit, closed) and not _fits(
                    people, person, keys, unit, without
                ):
                    candidates[person] -= 1
            sets[unit] &= ~bit
            n_back += 1
    return n_back
