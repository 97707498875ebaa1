"""Compiled search for the column sets on which a record is not alone, as tables of bits.

A row of a table belongs to one record and has a bit for every set of variables: it is set when
another record agrees on the set. The index of a set has the `LOW` least telling variables in its
lowest bits, so that these are a position in a word of 64 bits, and the other (high) variables
choose the word. The last high variable has the lowest bit of the word's number: what can still
follow a choice of the first high variables is then a contiguous stretch of words.

`fill_tables` walks the classes of records that agree on some variables. It decides on one column
after the other, and takes it in before it leaves it out. So whatever a record shares with a column
is known when the column is left out, and is shared without it too: a stretch of words is taken
over, and sets that are known are not looked for again. A class ends early where it is small (all
pairs are compared), where only low variables remain, or where all its members agree on the next
column. `reduction_kernels` reads the tables.

Where only low variables remain, there is a set of bits for every category of a low variable: the
members of the class that have it. A record is not alone on some variables if their sets, for its
own categories, have another member in common. All 64 sets of low variables are looked up at once
(`met_subsets`), for 64 members of the class at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compiling import inner, kernel, met_subsets
from gamekeeper.algorithms.uniques.reduction_kernels import SUBSETS, mark_pairs_of_class
from gamekeeper.algorithms.uniques.search import LOW, Rows

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner
def count_open(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    high: np.uint64,
    low: np.uint64,
) -> int:
    """Return of how many members with a table a set is not yet known to be shared."""
    last = first + tables.shape[0]
    n_open = 0
    for row in rows:
        slot = slots[row]
        if first <= slot < last and not (tables[slot - first, high] >> low) & _ONE:
            n_open += 1
    return n_open


@inner
def _gather_members(
    rows: NDArray[np.int32],
    places: NDArray[np.int32],
    begin: int,
    n_places: int,
    members: NDArray[np.uint64],
) -> int:
    """Note which members have each category; return how many words that takes for each.

    Two more places hold no members and all of them.
    """
    n_words = (len(rows) + 63) >> 6
    n_low = places.shape[1]
    if n_places <= 8 * len(rows):
        for i in range(n_places * n_words):
            members[i] = _ZERO
    else:
        for row in rows:
            for level in range(begin, n_low):
                for w in range(n_words):
                    members[places[row, level] * n_words + w] = _ZERO
    for w in range(n_words):
        members[n_places * n_words + w] = _ZERO
        members[(n_places + 1) * n_words + w] = _ALL
    for i in range(len(rows)):
        bit = _ONE << np.uint64(i & 63)
        for level in range(begin, n_low):
            members[places[rows[i], level] * n_words + (i >> 6)] |= bit
    return n_words


@inner
def _find_spots(
    places: NDArray[np.int32],
    row: int,
    begin: int,
    low: np.uint64,
    n_places: int,
    n_words: int,
    spots: NDArray[np.int64],
) -> None:
    """Find where the members are that agree with a row, for each low variable.

    Of the variables before `begin` all members agree on those that are chosen, and none counts
    for those that are left out, or that do not exist.
    """
    for level in range(len(spots)):
        if begin <= level < places.shape[1]:
            spots[level] = n_words * np.int64(places[row, level])
        else:
            spots[level] = n_words * (n_places + np.int64((low >> np.uint64(level)) & _ONE))


@inner
def mark_low_sets(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    places: NDArray[np.int32],
    n_places: int,
    high: np.uint64,
    begin: int,
    low: np.uint64,
    top: np.uint64,
    members: NDArray[np.uint64],
    spots: NDArray[np.int64],
) -> None:
    """Set the bits of the sets of low variables on which each member agrees with another.

    The class agrees on the given sets of high variables and of the low ones before `begin`; the
    others of these are left out. `top` is the largest set of low variables that is looked for.
    """
    last = first + tables.shape[0]
    n_words = _gather_members(rows, places, begin, n_places, members)
    for i in range(len(rows)):
        row = rows[i]
        slot = slots[row]
        if not first <= slot < last:
            continue
        word = tables[slot - first, high]
        if (word >> top) & _ONE:
            continue
        _find_spots(places, row, begin, low, n_places, n_words, spots)
        s0, s1, s2, s3, s4, s5 = spots[0], spots[1], spots[2], spots[3], spots[4], spots[5]
        for w in range(n_words):
            others = _ALL
            if w == i >> 6:
                others ^= _ONE << np.uint64(i & 63)
            word |= met_subsets(
                others, members[s0 + w], members[s1 + w], members[s2 + w], members[s3 + w],
                members[s4 + w], members[s5 + w],
            )  # fmt: skip
            if (word >> top) & _ONE:
                break
        tables[slot - first, high] = word


# What is kept of a class on the way down: its rows, the column that splits it, the group being
# looked at and their number, and the set of variables that it agrees on.
_FROM, _TO, _COLUMN, _GROUP, _GROUPS, _HIGH, _LOW = range(7)

# The words of members of categories should stay in the fastest caches.
_MEMBER_WORDS = 1 << 16
# Classes up to this size may be compared pair by pair.
_LONGEST = 128


class Walk(NamedTuple):
    """What `fill_tables` reads of a file.

    `places` numbers the categories of all low variables, per row; the other arrays are of `Rows`.
    """

    slots: NDArray[np.int32]
    codes: NDArray[np.uint32]
    packed: NDArray[np.uint64]
    wide: NDArray[np.int64]
    places: NDArray[np.int32]
    n_places: int
    n_words: int
    n_high: int
    small: int
    most: int

    @classmethod
    def through(cls, rows: Rows, *, small: int, most: int) -> Walk:
        """Return a walk in which classes of two kinds are not split any more.

        Those of up to `small` pairs, and those with up to `most` members whose low variables are
        open.
        """
        n_codes = rows.n_codes[rows.n_high :]
        starts = np.concatenate([[0], np.cumsum(n_codes)])
        n_places = int(starts[-1])
        places = np.empty((rows.n_rows, len(n_codes)), dtype=np.int32)
        for level in range(len(n_codes)):
            places[:, level] = rows.codes[rows.n_high + level]
            places[:, level] += starts[level]
        n_words = max(1, min(_MEMBER_WORDS // (n_places + 2), -(-rows.n_rows // 64)))
        return cls(
            rows.slots, rows.codes, rows.packed, rows.wide, places, n_places, n_words,
            rows.n_high, small, most,
        )  # fmt: skip


class Space(NamedTuple):
    """Room in which `fill_tables` works; allocating it here keeps the kernel quick to compile."""

    order: NDArray[np.int32]
    starts: NDArray[np.int32]
    seen: NDArray[np.int32]
    touched: NDArray[np.uint32]
    own: NDArray[np.uint32]
    words: NDArray[np.uint64]
    agreed: NDArray[np.uint64]
    members: NDArray[np.uint64]
    spots: NDArray[np.int64]
    levels: NDArray[np.int64]

    @classmethod
    def to(cls, walk: Walk, n_codes: int) -> Space:
        """Return room for a walk; what is not used is not touched."""
        n_columns, n_rows = walk.codes.shape
        most_groups = min(n_codes, n_rows) + 1
        return cls(
            order=np.empty((n_columns + 1, n_rows), dtype=np.int32),
            starts=np.empty((n_columns + 1, most_groups), dtype=np.int32),
            seen=np.zeros(n_codes, dtype=np.int32),
            touched=np.empty(most_groups, dtype=np.uint32),
            own=np.empty(n_rows, dtype=np.uint32),
            words=np.empty((walk.packed.shape[1], _LONGEST), dtype=np.uint64),
            agreed=np.empty(_LONGEST, dtype=np.uint64),
            members=np.empty((walk.n_places + 2) * walk.n_words, dtype=np.uint64),
            spots=np.empty(LOW, dtype=np.int64),
            levels=np.zeros((_LOW + 1, n_columns + 1), dtype=np.int64),
        )


@inner
def _split(
    rows: NDArray[np.int32],
    column_codes: NDArray[np.uint32],
    seen: NDArray[np.int32],
    touched: NDArray[np.uint32],
    own: NDArray[np.uint32],
    starts: NDArray[np.int32],
    ordered: NDArray[np.int32],
) -> int:
    """Sort the rows of a class by a column; return the number of groups of two rows or more."""
    n_rows = len(rows)
    n_touched = 0
    for i in range(n_rows):
        code = column_codes[rows[i]]
        own[i] = code
        if seen[code] == 0:
            touched[n_touched] = code
            n_touched += 1
        seen[code] += 1
    n_groups = 0
    position = 0
    for t in range(n_touched):
        code = touched[t]
        size = seen[code]
        if size > 1:
            starts[n_groups] = position
            n_groups += 1
            seen[code] = position + 1
            position += size
        else:
            seen[code] = -1
    starts[n_groups] = position
    for i in range(n_rows):
        place = seen[own[i]]
        if place > 0:
            ordered[place - 1] = rows[i]
            seen[own[i]] = place + 1
    for t in range(n_touched):
        seen[touched[t]] = 0
    return n_groups


@inner
def _keep_groups_of(
    first: int,
    last: int,
    slots: NDArray[np.int32],
    n_groups: int,
    starts: NDArray[np.int32],
    ordered: NDArray[np.int32],
) -> int:
    """Drop the groups in which no row has a table; return the number of the others."""
    kept = 0
    position = 0
    begin = 0
    for group in range(n_groups):
        end = starts[group + 1]
        useful = False
        for i in range(begin, end):
            if first <= slots[ordered[i]] < last:
                useful = True
                break
        if useful:
            if position < begin:
                for i in range(begin, end):
                    ordered[position + i - begin] = ordered[i]
            position += end - begin
            kept += 1
            starts[kept] = position
        begin = end
    return kept


@inner
def _is_small(
    first: int, last: int, rows: NDArray[np.int32], slots: NDArray[np.int32], most_pairs: int
) -> bool:
    """Tell whether a class has few pairs in which the first row has a table."""
    if len(rows) > _LONGEST:
        return False
    n_pairs = 0
    for row in rows:
        if first <= slots[row] < last:
            n_pairs += len(rows)
    return n_pairs <= most_pairs


@inner
def _settled(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    column: int,
    high: np.uint64,
    low: np.uint64,
    walk: Walk,
    space: Space,
) -> bool:
    """Set all bits of a class that can be set without splitting it; tell whether these are all.

    The columns before the given one are decided.
    """
    n_columns, n_high = walk.codes.shape[0], walk.n_high
    last = first + tables.shape[0]
    if column <= n_high and _is_small(first, last, rows, walk.slots, walk.small):
        rest = (_ONE << np.uint64(n_high - column)) - _ONE
        mark_pairs_of_class(
            tables, first, rows, walk.slots, walk.packed, walk.codes, walk.wide, n_high, high,
            rest, space.words, space.agreed,
        )  # fmt: skip
        return True
    if column < n_high:
        return False
    begin = column - n_high
    undecided = (_ONE << np.uint64(n_columns - n_high)) - (_ONE << np.uint64(begin))
    top = low | undecided
    n_open = count_open(tables, first, rows, walk.slots, high, top)
    if n_open == 0:
        return True
    if n_open <= walk.most and len(rows) <= 64 * walk.n_words:
        mark_low_sets(
            tables, first, rows, walk.slots, walk.places, walk.n_places, high, begin, low, top,
            space.members, space.spots,
        )  # fmt: skip
        return True
    if column < n_columns:
        return False
    for row in rows:
        if first <= walk.slots[row] < last:
            tables[walk.slots[row] - first, high] |= SUBSETS[low]
    return True


@inner
def _take_over(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    high: np.uint64,
    bit: np.uint64,
) -> None:
    """Let what rows share with a column be shared without it, for all that may follow."""
    last = first + tables.shape[0]
    length = np.int64(bit)
    for row in rows:
        if first <= slots[row] < last:
            table = tables[slots[row] - first]
            without = table[high : high + bit]
            with_it = table[high + bit : high + bit + bit]
            for i in range(length):
                without[i] |= with_it[i]


@kernel
def fill_tables(tables: NDArray[np.uint64], first: int, walk: Walk, space: Space) -> None:
    """Set the bits of all sets that are shared, for the rows with slots from `first` on."""
    n_rows = walk.codes.shape[1]
    n_high = walk.n_high
    last = first + tables.shape[0]
    order, starts, levels = space.order, space.starts, space.levels
    for i in range(n_rows):
        order[0, i] = i
    levels[_TO, 0] = n_rows
    levels[_COLUMN, 0] = 0
    depth = 0 if n_rows > 1 else -1
    is_new = True
    while depth >= 0:
        column = levels[_COLUMN, depth]
        high, low = np.uint64(levels[_HIGH, depth]), np.uint64(levels[_LOW, depth])
        rows = order[depth, levels[_FROM, depth] : levels[_TO, depth]]
        if is_new:
            is_new = False
            if _settled(tables, first, rows, column, high, low, walk, space):
                depth -= 1
                continue
            n_groups = _split(
                rows, walk.codes[column], space.seen, space.touched, space.own,
                starts[depth + 1], order[depth + 1],
            )  # fmt: skip
            levels[_GROUP, depth] = 0
            levels[_GROUPS, depth] = _keep_groups_of(
                first, last, walk.slots, n_groups, starts[depth + 1], order[depth + 1]
            )
        bit = _ONE << np.uint64(n_high - 1 - column if column < n_high else column - n_high)
        group = levels[_GROUP, depth]
        if group < levels[_GROUPS, depth]:
            levels[_GROUP, depth] += 1
            levels[_FROM, depth + 1] = starts[depth + 1, group]
            levels[_TO, depth + 1] = starts[depth + 1, group + 1]
            levels[_COLUMN, depth + 1] = column + 1
            levels[_HIGH, depth + 1] = high | bit if column < n_high else high
            levels[_LOW, depth + 1] = low if column < n_high else low | bit
            depth += 1
            is_new = True
            continue
        n_kept = starts[depth + 1, group]
        if column < n_high:
            _take_over(tables, first, order[depth + 1, :n_kept], walk.slots, high, bit)
        if group == 1 and n_kept == len(rows):
            # All members agree on the column: without it they share what they share with it.
            depth -= 1
        else:
            levels[_COLUMN, depth] = column + 1
            is_new = True
