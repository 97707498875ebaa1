"""Compiled scores of margins and moves between decomposable graphs.

Variables are bits of a word of 64, a set of variables is a word, and a graph is one word of
neighbours per variable. An edge (v, w) may be added exactly if the common neighbours S of v and w
separate them, and deleted exactly if S is complete; either way the log Bayes factor is
s(S+v+w) + s(S) - s(S+v) - s(S+w), with a minus sign for deletion, where s is the score of a margin
(Dawid and Lauritzen 1993, Giudici and Green 1999).

Scores are kept in a table of fixed size that threads share without locks: an entry holds the
scrambled set xor the bits of its score, and the score, so that an entry torn by two writers is
taken for another set's, never for a wrong score. What a score is never depends on the table.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles, and gives intrinsics another signature.

from __future__ import annotations

from math import lgamma, log
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from gamekeeper.algorithms.bit_intrinsics import lowest_bit

__all__ = [
    "MOVES",
    "Margins",
    "anneal_walk",
    "bayes_factors",
    "climb",
    "graph_score",
    "margin_scores",
    "number_rows",
    "walk",
]

MOVES = ("toggle", "swap", "star", "triangle", "leaf")
"""One edge; one edge for another; two or three edges at a vertex; the three edges among three
vertices; all edges of a vertex whose neighbours form a clique."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_TOP = np.uint64(1 << 62)
_PROBES = 8
# Below, counting is cheap next to the logarithms of another precision.
_ROWS_TO_SHARE = 20_000
_SMALL = 256
_LEAF = 4
_MOST_LEAF_SETS = 512
_REFRESH = 256
# Steps of temperature: at most a fifth down, and none so small that the end is never reached.
_FASTEST = 0.8
_SLOWEST = 0.995


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


@numba.njit(inline="always")
def _scrambled(word):
    """Return a word that determines the given one and looks random (splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@numba.njit
def _draw(state):
    """Return the next random word (xoshiro256++ of Blackman and Vigna)."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    state[0], state[1], state[2] = s0, s1, s2
    state[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result


@numba.njit(inline="always")
def _below(state, n):
    """Return a random number of 0 .. n-1."""
    return np.int64(((_draw(state) >> _HALF) * np.uint64(n)) >> _HALF)


@numba.njit(inline="always")
def _uniform(state):
    """Return a random number strictly between 0 and 1."""
    return (np.float64(_draw(state) >> np.uint64(12)) + 0.5) / 4503599627370496.0


@numba.njit
def _slots(n_rows):
    """Return the number of places to hash so many rows into."""
    n = 16
    while n < 2 * n_rows:
        n *= 2
    return n


@numba.njit
def _renumber(keys, slot_keys, slot_values):
    """Replace keys by numbers 0, 1, ... in order of appearance; return how many there are."""
    last = np.uint64(len(slot_keys) - 1)
    _clear(slot_values, len(slot_values))
    n = 0
    for i in range(len(keys)):
        place = _scrambled(keys[i]) & last
        while slot_values[place] != 0 and slot_keys[place] != keys[i]:
            place = (place + _ONE) & last
        if slot_values[place] == 0:
            n += 1
            slot_keys[place] = keys[i]
            slot_values[place] = n
        keys[i] = np.uint64(slot_values[place] - 1)
    return n


@numba.njit
def _pack(mask, columns, radix, keys, slot_keys, slot_values):
    """Give every row a key that is the same for the same values; return a bound on the keys.

    Keys that would pass 62 bits are replaced by the numbers of the classes so far.
    """
    for i in range(len(keys)):
        keys[i] = _ZERO
    cells = _ONE
    while mask != _ZERO:
        v = lowest_bit(mask)
        mask &= mask - _ONE
        if radix[v] > _TOP // cells:
            cells = np.uint64(_renumber(keys, slot_keys, slot_values))
        cells *= radix[v]
        column = columns[v]
        for i in range(len(keys)):
            keys[i] = keys[i] * radix[v] + np.uint64(column[i])
    return cells


@numba.njit(nogil=True, cache=True)
def number_rows(columns, radix):
    """Return the class of equal rows that each row is in, numbered by first appearance."""
    n_rows = columns.shape[1]
    keys = np.empty(n_rows, np.uint64)
    slot_keys = np.empty(_slots(n_rows), np.uint64)
    slot_values = np.empty(len(slot_keys), np.int64)
    every = _ZERO
    for v in range(len(columns)):
        every |= _ONE << np.uint64(v)
    _pack(every, columns, radix, keys, slot_keys, slot_values)
    _renumber(keys, slot_keys, slot_values)
    return keys


@numba.njit
def _rising(alpha, log_alpha, count):
    """Return log of alpha (alpha+1) ... (alpha+count-1); alpha may be too small for a float."""
    if count <= 8:
        total = log_alpha
        for i in range(1, count):
            total += log(alpha + i)
        return total
    return log_alpha + lgamma(alpha + count) - lgamma(alpha + 1.0)


@numba.njit
def _sort(values, n):
    """Sort the first n values (Shell's way; numpy's takes seconds to compile)."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap = 1 if gap == 2 else gap * 4 // 9


@numba.njit
def _clear(values, n):
    for i in range(n):
        values[i] = 0


@numba.njit
def _computed(mask, margins, scores):
    """Fill in the scores of a margin from its counts of counts: the chosen one, or all."""
    counts = margins.counts
    n_rows = len(counts)
    keys = np.empty(n_rows, np.uint64)
    slot_keys = np.empty(_slots(n_rows), np.uint64)
    slot_values = np.empty(len(slot_keys), np.int64)
    few = np.empty(_SMALL, np.int64)
    many = np.empty(n_rows, np.int64)
    log_cells = 0.0
    rest = mask
    while rest != _ZERO:
        log_cells += margins.log_levels[lowest_bit(rest)]
        rest &= rest - _ONE
    cells = _pack(mask, margins.columns, margins.radix, keys, slot_keys, slot_values)
    if cells <= np.uint64(len(slot_values)):
        n_slots = np.int64(cells)
        _clear(slot_values, n_slots)
        for i in range(len(keys)):
            slot_values[keys[i]] += counts[i]
    else:
        n_slots = len(slot_values)
        last = np.uint64(n_slots - 1)
        _clear(slot_values, n_slots)
        for i in range(len(keys)):
            place = _scrambled(keys[i]) & last
            while slot_values[place] != 0 and slot_keys[place] != keys[i]:
                place = (place + _ONE) & last
            slot_keys[place] = keys[i]
            slot_values[place] += counts[i]
    _clear(few, _SMALL)
    n_many = 0
    n = 0
    for place in range(n_slots):
        count = slot_values[place]
        n += count
        if count < _SMALL:
            few[count] += 1
        else:
            many[n_many] = count
            n_many += 1
    # In order of size, so that the sum does not depend on the order of records.
    _sort(many, n_many)
    for place in range(len(scores)):
        if place == margins.chosen or n_rows >= _ROWS_TO_SHARE:
            precision = margins.precisions[place]
            log_alpha = log(precision) - log_cells
            alpha = np.exp(log_alpha)
            total = -_rising(precision, log(precision), n) if n else 0.0
            for count in range(1, _SMALL):
                if few[count]:
                    total += few[count] * _rising(alpha, log_alpha, count)
            for i in range(n_many):
                total += _rising(alpha, log_alpha, many[i])
            scores[place] = total


@numba.njit
def _keep(kept, tag, score):
    """Keep a score in a free place, or else in its first one; a racing thread writes the same."""
    last = np.uint64(len(kept) - 1)
    first = tag & last
    place = first
    value = _bits_of(score)
    for _ in range(_PROBES):
        held = kept[place, 1]
        if (kept[place, 0] == _ZERO and held == _ZERO) or kept[place, 0] ^ held == tag:
            break
        place = (place + _ONE) & last
    else:
        place = first
    kept[place, 0] = tag ^ value
    kept[place, 1] = value


@numba.njit
def _score(mask, margins):
    """Return the score of a margin, kept or computed."""
    if mask == _ZERO:
        return 0.0
    kept = margins.kept[margins.chosen]
    last = np.uint64(len(kept) - 1)
    tag = _scrambled(mask)
    place = tag & last
    for _ in range(_PROBES):
        value = kept[place, 1]
        if kept[place, 0] ^ value == tag:
            return _float_of(value)
        if kept[place, 0] == _ZERO and value == _ZERO:
            break
        place = (place + _ONE) & last
    scores = np.empty(len(margins.precisions))
    _computed(mask, margins, scores)
    for which in range(len(scores)):
        if which == margins.chosen or len(margins.counts) >= _ROWS_TO_SHARE:
            _keep(margins.kept[which], tag, scores[which])
    return scores[margins.chosen]


@numba.njit(nogil=True, cache=True)
def margin_scores(masks, margins):
    """Return the score of each margin."""
    scores = np.empty(len(masks))
    for i in range(len(masks)):
        scores[i] = _score(masks[i], margins)
    return scores


@numba.njit
def _is_complete(graph, members):
    rest = members
    while rest != _ZERO:
        u = lowest_bit(rest)
        bit = _ONE << u
        rest ^= bit
        if members & ~graph[u] != bit:
            return False
    return True


@numba.njit
def _is_legal(graph, v, w):
    """Tell whether the graph stays decomposable when an edge is added or deleted."""
    common = graph[v] & graph[w]
    target = _ONE << np.uint64(w)
    if graph[v] & target != _ZERO:
        return _is_complete(graph, common)
    allowed = ~common & ~(_ONE << np.uint64(v))
    frontier = graph[v] & allowed
    while frontier != _ZERO:
        u = lowest_bit(frontier)
        allowed &= ~frontier
        frontier = (frontier & (frontier - _ONE)) | (graph[u] & allowed)
        if frontier & target != _ZERO:
            return False
    return True


@numba.njit(inline="always")
def _toggle(graph, v, w):
    graph[v] ^= _ONE << np.uint64(w)
    graph[w] ^= _ONE << np.uint64(v)


@numba.njit
def _gain(common, v, w, margins):
    """Return the log Bayes factor for the edge, given the common neighbours of its ends."""
    one, other = _ONE << np.uint64(v), _ONE << np.uint64(w)
    return (
        _score(common | one | other, margins)
        + _score(common, margins)
        - _score(common | one, margins)
        - _score(common | other, margins)
    )


@numba.njit
def _change(graph, v, w, margins):
    """Return the log Bayes factor of adding or deleting an edge."""
    gain = _gain(graph[v] & graph[w], v, w, margins)
    return -gain if graph[v] >> np.uint64(w) & _ONE != _ZERO else gain


@numba.njit
def _of_graph(graph, margins):
    """Return the log marginal likelihood; nan if the graph is not decomposable.

    Vertices are taken by maximum cardinality search (Tarjan and Yannakakis 1984).
    """
    m = len(graph)
    taken = _ZERO
    total = 0.0
    weights = np.zeros(m, np.int64)
    for _ in range(m):
        best = -1
        for v in range(m):
            if taken >> np.uint64(v) & _ONE == _ZERO and (best < 0 or weights[v] > weights[best]):
                best = v
        before = graph[best] & taken
        if not _is_complete(graph, before):
            return np.nan
        bit = _ONE << np.uint64(best)
        total += _score(before | bit, margins) - _score(before, margins)
        taken |= bit
        rest = graph[best] & ~taken
        while rest != _ZERO:
            weights[lowest_bit(rest)] += 1
            rest &= rest - _ONE
    return total


@numba.njit(nogil=True, cache=True)
def graph_score(graph, margins):
    """Return the log marginal likelihood; nan if the graph is not decomposable."""
    return _of_graph(graph, margins)


@numba.njit(nogil=True, cache=True)
def bayes_factors(graph, margins):
    """Return the log Bayes factor of toggling each edge v < w; nan where it is not legal."""
    m = len(graph)
    found = np.empty((m, m))
    for v in range(m):
        for w in range(m):
            found[v, w] = np.nan
            if v < w and _is_legal(graph, v, w):
                found[v, w] = _change(graph, v, w, margins)
    return found


@numba.njit(inline="always")
def _accepted(log_ratio, state):
    return log_ratio >= 0.0 or log(_uniform(state)) < log_ratio


@numba.njit
def _try_path(graph, pairs, n_pairs, beta, state, margins):
    """Toggle edges one after the other, all or none; return the change of score, or nan.

    The pairs in the opposite order lead back through the same graphs, and are as probable.
    """
    if n_pairs == 0:
        return np.nan
    common = np.empty(3, np.uint64)
    signs = np.empty(3)
    for i in range(n_pairs):
        v, w = pairs[i, 0], pairs[i, 1]
        if not _is_legal(graph, v, w):
            for j in range(i):
                _toggle(graph, pairs[j, 0], pairs[j, 1])
            return np.nan
        common[i] = graph[v] & graph[w]
        signs[i] = -1.0 if graph[v] >> np.uint64(w) & _ONE != _ZERO else 1.0
        _toggle(graph, v, w)
    change = 0.0
    for i in range(n_pairs):
        change += signs[i] * _gain(common[i], pairs[i, 0], pairs[i, 1], margins)
    if _accepted(beta * change, state):
        return change
    for i in range(n_pairs):
        _toggle(graph, pairs[i, 0], pairs[i, 1])
    return np.nan


@numba.njit
def _choose_pair(graph, wanted, pairs, i, state):
    """Choose an edge (wanted is 1) or a pair without an edge (0), uniformly; there must be one."""
    m = len(graph)
    while True:
        v = _below(state, m)
        w = _below(state, m - 1)
        w += w >= v
        if graph[v] >> np.uint64(w) & _ONE == wanted:
            pairs[i, 0] = v
            pairs[i, 1] = w
            return


@numba.njit
def _choose_swap(graph, pairs, state):
    """Choose an edge to delete and one to add, in either order; return how many pairs.

    The number of edges stays, so the way back is as probable.
    """
    m = len(graph)
    n_ends = 0
    for v in range(m):
        rest = graph[v]
        while rest != _ZERO:
            rest &= rest - _ONE
            n_ends += 1
    if n_ends == 0 or n_ends == m * (m - 1):
        return 0
    first = _below(state, 2)
    for i in range(2):
        _choose_pair(graph, np.uint64(i), pairs, first if i else 1 - first, state)
    return 2


@numba.njit
def _choose_star(graph, pairs, state):
    """Choose two or three edges of one vertex to toggle; return how many pairs."""
    m = len(graph)
    n_pairs = 2 + _below(state, 2)
    if m <= n_pairs:
        return 0
    v = _below(state, m)
    chosen = _ONE << np.uint64(v)
    for i in range(n_pairs):
        w = _below(state, m)
        while chosen >> np.uint64(w) & _ONE != _ZERO:
            w = _below(state, m)
        chosen |= _ONE << np.uint64(w)
        pairs[i, 0] = v
        pairs[i, 1] = w
    return n_pairs


@numba.njit
def _choose_triangle(graph, pairs, state):
    """Choose three vertices and an order of their pairs to toggle; return how many pairs."""
    m = len(graph)
    if m < 3:
        return 0
    a = _below(state, m)
    b = _below(state, m)
    while b == a:
        b = _below(state, m)
    c = _below(state, m)
    while c in (a, b):
        c = _below(state, m)
    pairs[0, 0], pairs[0, 1] = a, b
    pairs[1, 0], pairs[1, 1] = b, c
    pairs[2, 0], pairs[2, 1] = c, a
    return 3


@numba.njit
def _try_leaf(graph, beta, state, margins, sets, later, weights):
    """Give a vertex whose neighbours form a clique any clique as neighbours.

    Drawn from the conditional distribution given the rest of the graph, which the move leaves as
    it is. Where the rest has too many cliques the move is refused, from either side.
    """
    m = len(graph)
    v = _below(state, m)
    bit = _ONE << np.uint64(v)
    old = graph[v]
    if not _is_complete(graph, old):
        return np.nan
    sets[0] = _ZERO
    later[0] = ((_ONE << np.uint64(m)) - _ONE if m < 64 else ~_ZERO) & ~bit
    n_sets = 1
    done = 0
    while done < n_sets:
        rest = later[done]
        while rest != _ZERO:
            u = lowest_bit(rest)
            rest &= rest - _ONE
            if n_sets == len(sets):
                return np.nan
            sets[n_sets] = sets[done] | (_ONE << u)
            later[n_sets] = rest & graph[u]
            n_sets += 1
        done += 1
    highest = -np.inf
    before = 0.0
    for i in range(n_sets):
        weights[i] = _score(sets[i] | bit, margins) - _score(sets[i], margins)
        if sets[i] == old:
            before = weights[i]
        highest = max(highest, weights[i])
    total = 0.0
    for i in range(n_sets):
        total += np.exp(beta * (weights[i] - highest))
    left = _uniform(state) * total
    choice = 0
    for i in range(n_sets):
        left -= np.exp(beta * (weights[i] - highest))
        choice = i
        if left < 0.0:
            break
    new = sets[choice]
    if new == old:
        return np.nan
    differing = old ^ new
    while differing != _ZERO:
        u = lowest_bit(differing)
        differing &= differing - _ONE
        _toggle(graph, v, np.int64(u))
    return weights[choice] - before


@numba.njit
def _workspace():
    return (
        np.empty((3, 2), np.int64),
        np.empty(_MOST_LEAF_SETS, np.uint64),
        np.empty(_MOST_LEAF_SETS, np.uint64),
        np.empty(_MOST_LEAF_SETS),
    )


@numba.njit
def _step(graph, beta, shares, state, margins, space, tally):
    """Make one move, chosen by the cumulative shares; return the change of score."""
    pairs, sets, later, weights = space
    u = _uniform(state)
    kind = 0
    while kind < _LEAF and u >= shares[kind]:
        kind += 1
    if kind == _LEAF:
        change = _try_leaf(graph, beta, state, margins, sets, later, weights)
    else:
        if kind == 0:
            m = len(graph)
            v = _below(state, m)
            w = _below(state, m - 1)
            pairs[0, 0] = v
            pairs[0, 1] = w + (w >= v)
            n_pairs = 1
        elif kind == 1:
            n_pairs = _choose_swap(graph, pairs, state)
        elif kind == 2:
            n_pairs = _choose_star(graph, pairs, state)
        else:
            n_pairs = _choose_triangle(graph, pairs, state)
        change = _try_path(graph, pairs, n_pairs, beta, state, margins)
    tally[kind, 0] += 1
    if np.isnan(change):
        return 0.0
    tally[kind, 1] += 1
    return change


@numba.njit(nogil=True, cache=True)
def walk(
    graphs, betas, labels, exchange, n_sweeps, n_proposals, shares, state, margins, samples,
    scores, tally, swaps, clock,
):  # fmt: skip
    """Walk graphs at inverse temperatures, with exchanges of neighbours on the ladder if asked.

    After each sweep the last graph goes to `samples`, while there is room, and the scores of all
    to `scores`. `tally` has the moves of the last graph, tried and made; `swaps` the exchanges
    between rungs i and i + 1, tried and made, and `labels` tells which walker is on which rung.
    `clock[0]` counts sweeps, `clock[1]` proposals; a nonzero `clock[2]` ends the walk.
    """
    space = _workspace()
    n_rungs, m = graphs.shape
    current = np.zeros(n_rungs)
    elsewhere = np.zeros((len(MOVES), 2), np.int64)
    for sweep in range(n_sweeps):
        for k in range(n_rungs):
            if clock[2] != 0:
                return
            if sweep % _REFRESH == 0:
                current[k] = _of_graph(graphs[k], margins)
            counted = tally if k == n_rungs - 1 else elsewhere
            if m > 1:
                for _ in range(n_proposals):
                    current[k] += _step(graphs[k], betas[k], shares, state, margins, space, counted)
            clock[1] += n_proposals
        if exchange:
            for k in range(clock[0] % 2, n_rungs - 1, 2):
                swaps[k, 0] += 1
                if _accepted((betas[k + 1] - betas[k]) * (current[k] - current[k + 1]), state):
                    swaps[k, 1] += 1
                    for v in range(m):
                        graphs[k, v], graphs[k + 1, v] = graphs[k + 1, v], graphs[k, v]
                    current[k], current[k + 1] = current[k + 1], current[k]
                    labels[k], labels[k + 1] = labels[k + 1], labels[k]
        if sweep < len(samples):
            for v in range(m):
                samples[sweep, v] = graphs[n_rungs - 1, v]
        if sweep < len(scores):
            for k in range(n_rungs):
                scores[sweep, k] = current[k]
        clock[0] += 1


@numba.njit(nogil=True, cache=True)
def climb(graph, margins, double):
    """Make the best legal change of one edge, or of two at a vertex if asked, until none helps."""
    m = len(graph)
    while True:
        best = 1e-9
        choice = (-1, -1, -1)
        for v in range(m):
            for w in range(m):
                if w == v or not _is_legal(graph, v, w):
                    continue
                first = _change(graph, v, w, margins)
                if first > best and v < w:
                    best = first
                    choice = (v, w, -1)
                if not double:
                    continue
                _toggle(graph, v, w)
                for u in range(m):
                    if u != v and u != w and _is_legal(graph, v, u):
                        both = first + _change(graph, v, u, margins)
                        if both > best:
                            best = both
                            choice = (v, w, u)
                _toggle(graph, v, w)
        if choice[0] < 0:
            return
        _toggle(graph, choice[0], choice[1])
        if choice[2] >= 0:
            _toggle(graph, choice[0], choice[2])


@numba.njit(nogil=True, cache=True)
def anneal_walk(
    graph, temperatures, start, end, pace, n_proposals, shares, state, margins, best, trace, tally,
    clock,
):  # fmt: skip
    """Cool a walk; leave the best graph in `best` and return its score.

    With `temperatures` these are taken one by one. Without, the temperature starts at `start` and
    falls by a step of `pace` standard deviations of the score (Huang, Romeo and
    Sangiovanni-Vincentelli 1986), until `end`.
    """
    space = _workspace()
    m = len(graph)
    current = _of_graph(graph, margins)
    highest = current
    for v in range(m):
        best[v] = graph[v]
    temperature = start
    level = 0
    while True:
        if len(temperatures) > 0:
            if level == len(temperatures):
                break
            temperature = temperatures[level]
        elif temperature < end:
            break
        mean = 0.0
        square = 0.0
        origin = current
        for i in range(n_proposals):
            if clock[2] != 0:
                return highest
            if m > 1:
                current += _step(graph, 1.0 / temperature, shares, state, margins, space, tally)
            if current > highest + 1e-9:
                highest = current
                for v in range(m):
                    best[v] = graph[v]
            step = (current - origin - mean) / (i + 1)
            mean += step
            square += step * step * i * (i + 1)
        clock[1] += n_proposals
        clock[0] += 1
        if level < len(trace):
            trace[level] = current
        spread = np.sqrt(square / n_proposals)
        ratio = _FASTEST
        if spread > 0.0:
            ratio = min(max(np.exp(-pace * temperature / spread), _FASTEST), _SLOWEST)
        temperature *= ratio
        level += 1
        current = _of_graph(graph, margins)
    return highest
