"""Compiled counts of rows that agree on some columns, and the walks through sets of columns over them.

A table has a place for each different key of one side, cleared outside the columns that are
compared; the other side goes past it once. Keys are compared word by word, so that nothing is left
to chance. Cost of a set of columns: the rows of both sides. Room: 12 bytes and a half per row.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


@inner
def hash_of(keys, row, mask):
    """Return a number that equal keys share, from the words of a row within a mask."""
    found = np.uint64(0)
    for word in range(keys.shape[1]):
        found = (found ^ (keys[row, word] & mask[word])) * _MULTIPLIER
        found ^= found >> _SHIFT
        found *= _SECOND
    return found ^ (found >> _SHIFT)


@inner
def agree(keys, row, others, other, mask):
    """Tell whether two rows are equal within a mask."""
    for word in range(keys.shape[1]):  # noqa: SIM110 - numba has no all()
        if (keys[row, word] ^ others[other, word]) & mask[word] != np.uint64(0):
            return False
    return True


@inner
def enter_rows(keys, first, last, mask, slots, place_of, row_at):
    """Give each different key among some rows a place 0, 1, ...; return how many there are.

    `slots` has a power of two of entries, at least twice the rows, all of them -1. A first row of 0
    is given as np.int64(0): for the literal it would be compiled anew.
    """
    top = np.uint64(len(slots) - 1)
    n_places = np.int64(0)
    for row in range(first, last):
        at = hash_of(keys, row, mask) & top
        while True:
            place = slots[at]
            if place < 0:
                slots[at] = n_places
                row_at[n_places] = row
                place_of[row - first] = n_places
                n_places += 1
                break
            if agree(keys, row, keys, np.int64(row_at[place]), mask):
                place_of[row - first] = place
                break
            at = (at + np.uint64(1)) & top
    return n_places


@inner
def place_in(others, other, mask, keys, slots, row_at):
    """Return the place of the key of another row, or -1."""
    top = np.uint64(len(slots) - 1)
    at = hash_of(others, other, mask) & top
    while True:
        place = slots[at]
        if place < 0:
            return np.int64(-1)
        if agree(keys, np.int64(row_at[place]), others, other, mask):
            return np.int64(place)
        at = (at + np.uint64(1)) & top


@kernel
def count_both_ways(
    keys, counts, first, last, others, other_counts, other_first, other_last, mask,
    slots, place_of, row_at, sums, found, other_found,
):  # fmt: skip
    """Add to each row the sum of the other side's rows that agree with it, and the other way round.

    `sums` has two lines with room for every row of the first side; `slots` as in `enter_rows`.
    """
    n_places = enter_rows(keys, first, last, mask, slots, place_of, row_at)
    for place in range(n_places):
        sums[0, place] = 0
        sums[1, place] = 0
    for row in range(first, last):
        sums[0, place_of[row - first]] += counts[row]
    for other in range(other_first, other_last):
        place = place_in(others, other, mask, keys, slots, row_at)
        if place >= 0:
            sums[1, place] += other_counts[other]
            other_found[other] += sums[0, place]
    for row in range(first, last):
        found[row] += sums[1, place_of[row - first]]


@kernel
def places_both_ways(
    keys, first, last, others, other_first, other_last, mask, slots, place_of, row_at, other_place
):
    """Number the different keys of one side, and tell each row of the other its number or -1."""
    n_places = enter_rows(keys, first, last, mask, slots, place_of, row_at)
    for other in range(other_first, other_last):
        other_place[other - other_first] = place_in(others, other, mask, keys, slots, row_at)
    return n_places


@kernel
def hit_in_order(starts, members, weights, rows, n_rows, sets, first_set, allowed, chosen):
    """Note for each row the first set after which what is not met weighs no more than allowed.

    Returns how many rows are left; `rows` is shortened to them.
    """
    for number in range(len(sets)):
        left = np.int64(0)
        for i in range(n_rows):
            row = rows[i]
            unmet = np.int64(0)
            for at in range(starts[row], starts[row + 1]):
                if members[at] & sets[number] == np.uint64(0):
                    unmet += weights[at]
                    if unmet > allowed:
                        break
            if unmet <= allowed:
                chosen[row] = first_set + number
            else:
                rows[left] = row
                left += 1
        n_rows = left
        if n_rows == 0:
            break
    return n_rows


@inner
def _take_classes(open_keys, open_records, n_open, place_of, joined, class_size, class_of):
    """Let records have the class that their place joined; move the others together, return how many."""
    left = np.int64(0)
    for i in range(n_open):
        own = joined[place_of[i]]
        if own >= 0:
            class_of[open_records[i]] = own
            class_size[own] += 1
        else:
            for word in range(open_keys.shape[1]):
                open_keys[left, word] = open_keys[i, word]
            open_records[left] = open_records[i]
            left += 1
    return left


@kernel
def close_classes(
    keys, open_keys, open_records, n_open, kept, k, class_first, class_here,
    n_classes, class_size, class_of, slots, room, sums,
):  # fmt: skip
    """Give records that have no class one, where k of them agree on the kept fields or a class is there.

    `class_here` lists the classes that are suppressed in the same columns, and `class_first` has a
    record of each class. Returns how many are left and how many classes there are.
    """
    place_of, row_at, joined = room[0], room[1], room[2]
    n_places = enter_rows(open_keys, np.int64(0), n_open, kept, slots, place_of, row_at)
    for place in range(n_places):
        sums[place] = 0
        joined[place] = -1
    for i in range(n_open):
        sums[place_of[i]] += 1
    for c in class_here:
        place = place_in(keys, class_first[c], kept, open_keys, slots, row_at)
        if place >= 0:
            joined[place] = c
    for place in range(n_places):
        if joined[place] < 0 and sums[place] >= k:
            joined[place] = n_classes
            class_first[n_classes] = open_records[row_at[place]]
            class_size[n_classes] = 0
            n_classes += 1
    left = _take_classes(open_keys, open_records, n_open, place_of, joined, class_size, class_of)
    return left, n_classes


@kernel
def recruit(
    keys, open_keys, open_records, n_open, kept, k, least, class_first, n_classes, class_size,
    class_of, slots, room, sums, head, following,
):  # fmt: skip
    """Make classes of at least `least` records without one and others whose class can spare them.

    Returns how many are left without a class and how many classes there are.
    """
    place_of, row_at, joined = room[0], room[1], room[2]
    n_places = enter_rows(open_keys, np.int64(0), n_open, kept, slots, place_of, row_at)
    for place in range(n_places):
        sums[place] = 0
        head[place] = -1
        joined[place] = -1
    for i in range(n_open):
        sums[place_of[i]] += 1
    for record in range(len(keys)):
        own = class_of[record]
        if own < 0 or class_size[own] <= k:
            continue
        place = place_in(keys, record, kept, open_keys, slots, row_at)
        if place >= 0 and sums[place] >= least:
            following[record] = head[place]
            head[place] = record
    for place in range(n_places):
        need = k - sums[place]
        if sums[place] < least or need <= 0:
            continue
        found = np.int64(0)
        record = head[place]
        while record >= 0 and found < need:
            own = class_of[record]
            if class_size[own] > k:
                class_size[own] -= 1
                found += 1
                # Marked, so that it can be taken back.
                class_of[record] = -2 - own
            record = following[record]
        is_full = found == need
        record = head[place]
        while record >= 0:
            if class_of[record] <= -2:
                if is_full:
                    class_of[record] = n_classes
                else:
                    own = -2 - class_of[record]
                    class_of[record] = own
                    class_size[own] += 1
            record = following[record]
        if is_full:
            joined[place] = n_classes
            class_first[n_classes] = open_records[row_at[place]]
            class_size[n_classes] = need
            n_classes += 1
    left = _take_classes(open_keys, open_records, n_open, place_of, joined, class_size, class_of)
    return left, n_classes


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
    opened: `members` and `helpers` between their starts, and `added` the fields. A row is opened
    once.
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


@inner
def _n_slots(n_rows):
    size = np.int64(16)
    while size < 2 * n_rows:
        size *= 2
    return size


@kernel
def sum_candidates(
    keys, counts, starts, known, asked, n_asked, kept, mask, slots, room, sums, found
):
    """Add up for each asked row what the people count who agree with it on the kept fields.

    `known` has the fields that are known of each group of people; `mask` is room for one line.
    """
    place_of, row_at = room[0], room[1]
    table = slots[: _n_slots(n_asked)]
    for i in range(n_asked):
        found[i] = 0
    for group in range(len(starts) - 1):
        for word in range(len(mask)):
            mask[word] = kept[word] & known[group, word]
        for at in range(len(table)):
            table[at] = -1
        n_places = enter_rows(asked, np.int64(0), n_asked, mask, table, place_of, row_at)
        for place in range(n_places):
            sums[place] = 0
        for row in range(starts[group], starts[group + 1]):
            place = place_in(keys, row, mask, asked, table, row_at)
            if place >= 0:
                sums[place] += counts[row]
        for i in range(n_asked):
            found[i] += sums[place_of[i]]


@kernel
def walk_sets(
    keys, counts, starts, known, asked, numbers, n_asked, kept, first_set, k, mask, slots, room,
    sums, found, chosen,
):  # fmt: skip
    """Try sets in their order; note for each asked row the first that gives it k. Return how many are left.

    `asked` has the words of the rows that are looked at and `numbers` their numbers in `chosen`;
    both are shortened as rows are done with.
    """
    for number in range(len(kept)):
        if n_asked == 0:
            break
        sum_candidates(
            keys, counts, starts, known, asked, n_asked, kept[number], mask, slots, room, sums, found
        )  # fmt: skip
        left = np.int64(0)
        for i in range(n_asked):
            if found[i] >= k:
                chosen[numbers[i]] = first_set + number
            else:
                for word in range(asked.shape[1]):
                    asked[left, word] = asked[i, word]
                numbers[left] = numbers[i]
                left += 1
        n_asked = left
    return n_asked
