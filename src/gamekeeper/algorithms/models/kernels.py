"""Compiled scores of margins, and compiled passes over the rows of a latent class model.

Of a margin, equal rows over a set of variables are counted, and their gammas taken. Variables are
bits of a word of 64, and a set of variables is a word. Scores are kept in a table of fixed size
that threads share without locks: an entry holds the scrambled set xor the bits of its score, and
the score, so that an entry torn by two writers is taken for another set's, never for a wrong score.
What a score is never depends on the table.

Latent classes have tables with a line for each category of each variable and a column for each
class, so that a row of the sample is a product of lines. Products are kept near 1, and their
logarithm beside them.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles, and gives intrinsics another signature.

from __future__ import annotations

from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from gamekeeper.algorithms.compiling import inner, kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TOP = np.uint64(1 << 62)
_PROBES = 8
# Below, counting is cheap next to the logarithms of another precision.
_ROWS_TO_SHARE = 20_000
_SMALL = 256


class Margins(NamedTuple):
    """What scores are made of: distinct rows by column, their counts, categories, kept scores.

    Scores are of the chosen precision. Counting is what costs time in a large file, so a score is
    then computed and kept for all precisions at once.
    """

    columns: Any
    counts: Any
    radix: Any
    log_levels: Any
    precisions: Any
    chosen: int
    kept: Any


class CountingRoom(NamedTuple):
    """Where the rows of a margin are counted; each thread needs room of its own.

    `keys` of rows, `slot_keys` and `slot_values` (a hash table of keys and their counts), `sizes`
    (how often each count below 256 occurs, and then the larger counts themselves), `scores` for
    each precision.
    """

    keys: Any
    slot_keys: Any
    slot_values: Any
    sizes: Any
    scores: Any


def counting_room(margins: Margins) -> CountingRoom:
    """Return room for the margins of as many rows."""
    n_rows = len(margins.counts)
    n_slots = 16
    while n_slots < 2 * n_rows:
        n_slots *= 2
    return CountingRoom(
        np.empty(n_rows, np.uint64),
        np.empty(n_slots, np.uint64),
        np.empty(n_slots, np.int64),
        np.empty(_SMALL + n_rows, np.int64),
        np.empty(len(margins.precisions)),
    )


@intrinsic
def _bits_of(typing, value):
    def code(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.uint64))

    return types.uint64(types.float64), code


@intrinsic
def _float_of(typing, value):
    def code(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.uint64), code


@inner
def _scrambled(word):
    """Return a word that determines the given one and looks random (splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inner
def _count_keys(keys, counts, slot_keys, slot_values, numbered):
    """Add up counts of equal keys in slots, or number keys as they come; return how many."""
    last = np.uint64(len(slot_keys) - 1)
    for place in range(len(slot_values)):
        slot_values[place] = 0
    n = 0
    for i in range(len(keys)):
        place = _scrambled(keys[i]) & last
        while slot_values[place] != 0 and slot_keys[place] != keys[i]:
            place = (place + _ONE) & last
        if slot_values[place] == 0:
            n += 1
            slot_keys[place] = keys[i]
            slot_values[place] = n if numbered else 0
        if numbered:
            keys[i] = np.uint64(slot_values[place] - 1)
        else:
            slot_values[place] += counts[i]
    return n


@inner
def _count_rows(mask, margins, room):
    """Count the equal rows of a margin in the slots of the room; return how many slots to read.

    Every row gets a key. Keys that would pass 62 bits are replaced by the numbers of the classes
    so far.
    """
    keys, slot_values = room.keys, room.slot_values
    for i in range(len(keys)):
        keys[i] = _ZERO
    cells = _ONE
    while mask != _ZERO:
        v = lowest_bit(mask)
        mask &= mask - _ONE
        radix = margins.radix[v]
        if radix > _TOP // cells:
            cells = np.uint64(
                _count_keys(keys, margins.counts, room.slot_keys, slot_values, cells > _ZERO)
            )
        cells *= radix
        column = margins.columns[v]
        for i in range(len(keys)):
            keys[i] = keys[i] * radix + np.uint64(column[i])
    if cells > np.uint64(len(slot_values)):
        _count_keys(keys, margins.counts, room.slot_keys, slot_values, cells == _ZERO)
        return len(slot_values)
    for place in range(np.int64(cells)):
        slot_values[place] = 0
    for i in range(len(keys)):
        slot_values[keys[i]] += margins.counts[i]
    return np.int64(cells)


@inner
def _rising(alpha, log_alpha, count):
    """Return log of alpha (alpha+1) ... (alpha+count-1); alpha may be too small for a float."""
    if count <= 8:
        total = log_alpha
        for i in range(1, count):
            total += log(alpha + i)
        return total
    return log_alpha + lgamma(alpha + count) - lgamma(alpha + 1.0)


@inner
def _sort(values, first, n):
    """Sort n values from the first one on (Shell's way; numpy's takes seconds to compile)."""
    gap = n // 2
    while gap > 0:
        for i in range(first + gap, first + n):
            value = values[i]
            j = i
            while j >= first + gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap = 1 if gap == 2 else gap * 4 // 9


@inner
def _compute(mask, margins, room):
    """Fill in the scores of a margin from its counts of counts: the chosen one, or all."""
    sizes = room.sizes
    n_slots = _count_rows(mask, margins, room)
    for place in range(_SMALL):
        sizes[place] = 0
    n_many = np.int64(0)
    n = np.int64(0)
    for place in range(n_slots):
        count = room.slot_values[place]
        n += count
        if count < _SMALL:
            sizes[count] += 1
        else:
            sizes[_SMALL + n_many] = count
            n_many += 1
    # In order of size, so that the sum does not depend on the order of records.
    _sort(sizes, np.int64(_SMALL), n_many)
    _score_sizes(mask, margins, room, n_many, n, len(margins.counts) >= _ROWS_TO_SHARE)


@inner
def _score_sizes(mask, margins, room, n_many, n, every):
    """Fill in the scores of a margin from the sizes in the room: the chosen one, or every one."""
    sizes = room.sizes
    log_cells = 0.0
    while mask != _ZERO:
        log_cells += margins.log_levels[lowest_bit(mask)]
        mask &= mask - _ONE
    for which in range(len(margins.precisions)):
        if which == margins.chosen or every:
            precision = margins.precisions[which]
            log_alpha = log(precision) - log_cells
            alpha = np.exp(log_alpha)
            total = -_rising(precision, log(precision), n) if n else 0.0
            for count in range(1, min(_SMALL, n + 1)):
                if sizes[count]:
                    total += sizes[count] * _rising(alpha, log_alpha, count)
            for i in range(n_many):
                total += _rising(alpha, log_alpha, sizes[_SMALL + i])
            room.scores[which] = total


@kernel
def _fill_by_sizes(mask, margins, room, n_many, n):
    """Put the scores of a margin in place for all precisions, given its sizes in the room."""
    _score_sizes(mask, margins, room, n_many, n, n >= 0)


def scores_of_sizes(mask, sizes, cells, margins):
    """Return a margin's scores for all precisions, by how many cells have each (rising) size."""
    is_small = sizes < _SMALL
    many = np.repeat(sizes[~is_small], cells[~is_small])
    held = np.zeros(_SMALL + len(many), np.int64)
    held[sizes[is_small]] = cells[is_small]
    held[_SMALL:] = many
    none = np.empty(0, np.uint64)
    scores = np.empty(len(margins.precisions))
    room = CountingRoom(none, none, np.empty(0, np.int64), held, scores)
    _fill_by_sizes(np.uint64(mask), margins, room, len(many), int((sizes * cells).sum()))
    return scores


@inner
def _place_of(kept, tag):
    """Return where a score is kept, or is to be: a free place, or else its first one."""
    last = np.uint64(len(kept) - 1)
    place = tag & last
    for _ in range(min(_PROBES, len(kept))):
        held = kept[place, 1]
        if kept[place, 0] ^ held == tag or (kept[place, 0] == _ZERO and held == _ZERO):
            return place
        place = (place + _ONE) & last
    return tag & last


@kernel
def fill_scores(masks, n_masks, margins, room, scores):
    """Put the scores of the first margins in place, kept ones or computed; the empty set has 0."""
    kept = margins.kept[margins.chosen]
    for i in range(n_masks):
        if masks[i] == _ZERO:
            scores[i] = 0.0
            continue
        tag = _scrambled(masks[i])
        place = _place_of(kept, tag)
        value = kept[place, 1]
        if kept[place, 0] ^ value == tag:
            scores[i] = _float_of(value)
            continue
        _compute(masks[i], margins, room)
        for which in range(len(margins.precisions)):
            if which == margins.chosen or len(margins.counts) >= _ROWS_TO_SHARE:
                # A racing thread writes the same.
                held = _bits_of(room.scores[which])
                place = _place_of(margins.kept[which], tag)
                margins.kept[which, place, 0] = tag ^ held
                margins.kept[which, place, 1] = held
        scores[i] = room.scores[margins.chosen]


EXPECT, LEAN, SPLIT = 0, 1, 2
_BETWEEN_RESCALING = 8


@inner
def _chances(places: Any, row: int, shares: Any, tables: Any, chance: Any) -> float:
    """Write the chance of each class given a row, and return the log of the row's probability."""
    n_classes, n_variables = len(shares), places.shape[1]
    logs = 0.0
    for c in range(n_classes):
        chance[c] = shares[c]
    for v in range(n_variables):
        at = places[row, v]
        for c in range(n_classes):
            chance[c] *= tables[at, c]
        if v % _BETWEEN_RESCALING == _BETWEEN_RESCALING - 1 or v == n_variables - 1:
            total = 0.0
            for c in range(n_classes):
                total += chance[c]
            if total == 0:
                # Nobody has such a category.
                return -np.inf
            logs += np.log(total)
            for c in range(n_classes):
                chance[c] /= total
    return logs


@kernel
def pass_over(
    places: Any,
    weights: Any,
    shares: Any,
    tables: Any,
    kind: int,
    axes: Any,
    centres: Any,
    scales: Any,
    records: Any,
    cells: Any,
    squares: Any,
) -> float:
    """Add to each class what the rows have of it, and return the log likelihood.

    What a row has of a class is the class's chance given the row, times 1 (EXPECT), times how far
    the row is from the centre along the axis of the class (LEAN), or times the logistic function of
    twice that (SPLIT).
    """
    n_classes, n_variables = len(shares), places.shape[1]
    chance = np.empty(n_classes)
    height = 0.0
    for i in range(len(places)):
        height += weights[i] * _chances(places, i, shares, tables, chance)
        for c in range(n_classes):
            part = weights[i] * chance[c]
            if kind != EXPECT:
                along = -centres[c]
                for v in range(n_variables):
                    along += axes[places[i, v], c]
                along *= scales[c]
                squares[c] += part * along * along
                part *= along if kind == LEAN else 1 / (1 + np.exp(-2 * along))
            chance[c] = part
            records[c] += part
        for v in range(n_variables):
            at = places[i, v]
            for c in range(n_classes):
                cells[at, c] += chance[c]
    return height


@kernel
def log_rows(
    places: Any,
    taken: Any,
    n_records: float,
    share_prior: float,
    records: Any,
    cells: Any,
    prior: Any,
    weight: float,
    logs: Any,
) -> None:
    """Write the log probability of rows, `taken` records less of each row than there are."""
    n_classes, n_variables = len(records), places.shape[1]
    every = n_records + n_classes * share_prior
    shares = (records + share_prior) / every
    tables = np.empty_like(cells)
    for at in range(len(cells)):
        for c in range(n_classes):
            tables[at, c] = (cells[at, c] + prior[at]) / (records[c] + weight)
    chance = np.empty(n_classes)
    less = np.empty(n_classes)
    for i in range(len(places)):
        logs[i] = _chances(places, i, shares, tables, chance)
        if taken[i] <= 0 or np.isinf(logs[i]):
            continue
        # The records to take out are of each class by its chance.
        top = -np.inf
        for c in range(n_classes):
            own = min(taken[i] * chance[c], records[c])
            less[c] = np.log((records[c] - own + share_prior) / (every - taken[i]))
            for v in range(n_variables):
                at = places[i, v]
                left = max(cells[at, c] - own, 0.0)
                less[c] += np.log((left + prior[at]) / (records[c] - own + weight))
            top = max(top, less[c])
        total = 0.0
        for c in range(n_classes):
            total += np.exp(less[c] - top)
        logs[i] = top + np.log(total)
