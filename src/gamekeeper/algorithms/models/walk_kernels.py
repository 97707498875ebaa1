"""Compiled walks over decomposable graphs: which edges may change, what that takes, and moves.

A graph is one word of neighbours per variable. An edge (v, w) may be added exactly if the common
neighbours S of v and w separate them, and deleted exactly if S is complete; either way the log
Bayes factor is s(S+v+w) + s(S) - s(S+v) - s(S+w), with a minus sign for deletion, where s is the
score of a margin (Dawid and Lauritzen 1993, Giudici and Green 1999).

A proposal changes the graph and lists the margins that this takes, and is then made or taken back;
only the walk itself asks for scores, many at once. So a score is compiled into one kernel, not into
every kind of move.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles, and gives intrinsics another signature.

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel, lowest_bit
from gamekeeper.algorithms.models.kernels import fill_scores

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_AT_FIRST, _AT_SECOND = np.int64(0), np.int64(4)


@inner
def is_complete(graph, members):
    """Tell whether every two of some variables are joined."""
    rest = members
    while rest != _ZERO:
        u = lowest_bit(rest)
        bit = _ONE << u
        rest ^= bit
        if members & ~graph[u] != bit:
            return False
    return True


@inner
def is_legal(graph, v, w):
    """Tell whether the graph stays decomposable when an edge is added or deleted."""
    common = graph[v] & graph[w]
    target = _ONE << np.uint64(w)
    if graph[v] & target != _ZERO:
        return is_complete(graph, common)
    allowed = ~common & ~(_ONE << np.uint64(v))
    frontier = graph[v] & allowed
    while frontier != _ZERO:
        u = lowest_bit(frontier)
        allowed &= ~frontier
        frontier = (frontier & (frontier - _ONE)) | (graph[u] & allowed)
        if frontier & target != _ZERO:
            return False
    return True


@inner
def toggle(graph, v, w):
    """Add an edge, or delete it."""
    graph[v] ^= _ONE << np.uint64(w)
    graph[w] ^= _ONE << np.uint64(v)


@inner
def fill_margins(graph, v, w, masks, at):
    """Put the four margins of a change of an edge in place; return its sign."""
    common = graph[v] & graph[w]
    one, other = _ONE << np.uint64(v), _ONE << np.uint64(w)
    masks[at] = common | one | other
    masks[at + 1] = common
    masks[at + 2] = common | one
    masks[at + 3] = common | other
    return -1.0 if graph[v] & other != _ZERO else 1.0


@kernel
def list_changes(graph, double, edges, signs, masks):
    """List the legal changes of an edge v < w and, if asked, of two edges (v, w) and (v, u).

    A row of `edges` is v, w, u, with u = -1 for one edge; the masks of its margins come four for
    each edge. Returns how many there are.
    """
    m = len(graph)
    n = 0
    for v in range(m):
        for w in range(0 if double else v + 1, m):
            if w == v or not is_legal(graph, v, w):
                continue
            at = n
            sign = fill_margins(graph, v, w, masks[at], _AT_FIRST)
            if v < w:
                edges[n, 0], edges[n, 1], edges[n, 2] = v, w, -1
                signs[n, 0], signs[n, 1] = sign, 0.0
                n += 1
            if not double:
                continue
            toggle(graph, v, w)
            for u in range(m):
                if u != v and u != w and is_legal(graph, v, u):
                    edges[n, 0], edges[n, 1], edges[n, 2] = v, w, u
                    for k in range(4):
                        masks[n, k] = masks[at, k]
                    signs[n, 0], signs[n, 1] = sign, fill_margins(graph, v, u, masks[n], _AT_SECOND)
                    n += 1
            toggle(graph, v, w)
    return n


@kernel
def list_margins(graphs, weights, masks):
    """List the margins of graphs: those of cliques in even places, of separators in odd ones.

    Vertices are taken by maximum cardinality search (Tarjan and Yannakakis 1984). Returns the
    number of graphs before the first that is not decomposable.
    """
    n_graphs, m = graphs.shape
    for k in range(n_graphs):
        graph = graphs[k]
        taken = _ZERO
        for v in range(m):
            weights[v] = 0
        for step in range(m):
            best = -1
            for v in range(m):
                is_free = taken >> np.uint64(v) & _ONE == _ZERO
                if is_free and (best < 0 or weights[v] > weights[best]):
                    best = v
            before = graph[best] & taken
            if not is_complete(graph, before):
                return k
            taken |= _ONE << np.uint64(best)
            masks[k, 2 * step] = before | (_ONE << np.uint64(best))
            masks[k, 2 * step + 1] = before
            rest = graph[best] & ~taken
            while rest != _ZERO:
                weights[lowest_bit(rest)] += 1
                rest &= rest - _ONE
    return n_graphs


_HALF = np.uint64(32)
_TWO = np.int64(2)
_SWAP, _STAR, _TRIANGLE, _LEAF = 1, 2, 3, 4
_MOST_LEAF_SETS = 512


class MoveRoom(NamedTuple):
    """Where a proposal is written: the pairs it toggles, their signs, and margins with scores.

    A leaf move has its variable as the first pair, and two margins for each clique.
    """

    pairs: Any
    signs: Any
    masks: Any
    scores: Any
    later: Any


def move_room() -> MoveRoom:
    """Return room for one proposal after the other; each thread needs its own."""
    return MoveRoom(
        np.zeros((3, 2), np.int64),
        np.zeros(3),
        np.zeros(2 * _MOST_LEAF_SETS, np.uint64),
        np.zeros(2 * _MOST_LEAF_SETS),
        np.zeros(_MOST_LEAF_SETS, np.uint64),
    )


@inner
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


@inner
def _below(state, n):
    return np.int64(((_draw(state) >> _HALF) * np.uint64(n)) >> _HALF)


@inner
def _uniform(state):
    return (np.float64(_draw(state) >> np.uint64(12)) + 0.5) / 4503599627370496.0


@inner
def _choose_pairs(graph, kind, pairs, state):
    """Choose pairs of variables to toggle one after the other; return how many.

    One edge; one edge for another, in either order; two or three edges of one vertex; the edges
    among three vertices. The pairs in the opposite order lead back through the same graphs, and are
    as probable.
    """
    m = len(graph)
    coin = n = np.int64(0)
    if kind == _SWAP:
        n_ends = 0
        for k in range(m):
            rest = graph[k]
            while rest != _ZERO:
                rest &= rest - _ONE
                n_ends += 1
        if n_ends == 0 or n_ends == m * (m - 1):
            return n
    if kind in (_SWAP, _STAR):
        coin = _below(state, _TWO)
    if kind in (_STAR, _TRIANGLE):
        if m < 3 + coin:
            return n
        chosen = _ZERO
        while n < 3 + coin:
            v = _below(state, m)
            if chosen >> np.uint64(v) & _ONE == _ZERO:
                chosen |= _ONE << np.uint64(v)
                if kind == _TRIANGLE:
                    pairs[n, 0] = pairs[(n + 2) % 3, 1] = v
                elif n == 0:
                    pairs[0, 0] = pairs[1, 0] = pairs[2, 0] = v
                else:
                    pairs[n - 1, 1] = v
                n += 1
        return n if kind == _TRIANGLE else n - 1
    n_pairs = 2 if kind == _SWAP else 1
    while n < n_pairs:
        v = _below(state, m)
        w = _below(state, m - 1)
        w += w >= v
        # An edge to add is chosen first and one to delete second; the coin says which is toggled first.
        if kind != _SWAP or graph[v] >> np.uint64(w) & _ONE == np.uint64(n):
            at = n if coin else n_pairs - 1 - n
            pairs[at, 0], pairs[at, 1] = v, w
            n += 1
    return n


@inner
def _propose_path(graph, kind, room, state):
    """Toggle edges one after the other; return how many margins that takes, none if illegal."""
    pairs = room.pairs
    n_pairs = _choose_pairs(graph, kind, pairs, state)
    for i in range(n_pairs):
        v, w = pairs[i, 0], pairs[i, 1]
        if not is_legal(graph, v, w):
            for j in range(i):
                toggle(graph, pairs[j, 0], pairs[j, 1])
            return 0
        room.signs[i] = fill_margins(graph, v, w, room.masks, 4 * i)
        toggle(graph, v, w)
    return 4 * n_pairs


@inner
def _decide_path(graph, n_margins, beta, room, state):
    """Leave the edges of a path as they are or take them back; return the change, or nan."""
    scores = room.scores
    change = 0.0
    for i in range(n_margins // 4):
        at = 4 * i
        gain = scores[at] + scores[at + 1] - scores[at + 2] - scores[at + 3]
        change += room.signs[i] * gain
    if beta * change >= 0.0 or log(_uniform(state)) < beta * change:
        return change
    for i in range(n_margins // 4):
        toggle(graph, room.pairs[i, 0], room.pairs[i, 1])
    return np.nan


@inner
def _propose_leaf(graph, room, state):
    """List every clique that a vertex whose neighbours form a clique could have as neighbours.

    The cliques are in the odd places of the margins, with the vertex in the even ones. Where there
    are too many the move is refused, from either side.
    """
    m = len(graph)
    v = _below(state, m)
    bit = _ONE << np.uint64(v)
    if not is_complete(graph, graph[v]):
        return 0
    masks, later = room.masks, room.later
    room.pairs[0, 0] = v
    masks[0], masks[1] = bit, _ZERO
    later[0] = ((_ONE << np.uint64(m)) - _ONE if m < 64 else ~_ZERO) & ~bit
    n_sets = 1
    done = 0
    while done < n_sets:
        rest = later[done]
        while rest != _ZERO:
            u = lowest_bit(rest)
            rest &= rest - _ONE
            if n_sets == len(later):
                return 0
            members = masks[2 * done + 1] | (_ONE << u)
            masks[2 * n_sets], masks[2 * n_sets + 1] = members | bit, members
            later[n_sets] = rest & graph[u]
            n_sets += 1
        done += 1
    return 2 * n_sets


@inner
def _decide_leaf(graph, n_margins, beta, room, state):
    """Give the vertex one of the cliques, drawn from the conditional distribution given the rest.

    That is a distribution which the move leaves as it is. Returns the change, nan if there is none.
    """
    masks, scores = room.masks, room.scores
    v = room.pairs[0, 0]
    old = graph[v]
    highest = -np.inf
    before = 0.0
    for i in range(0, n_margins, 2):
        scores[i] -= scores[i + 1]
        if masks[i + 1] == old:
            before = scores[i]
        highest = max(highest, scores[i])
    total = 0.0
    for i in range(0, n_margins, 2):
        scores[i + 1] = np.exp(beta * (scores[i] - highest))
        total += scores[i + 1]
    left = _uniform(state) * total
    choice = 0
    for i in range(0, n_margins, 2):
        left -= scores[i + 1]
        choice = i
        if left < 0.0:
            break
    differing = old ^ masks[choice + 1]
    if differing == _ZERO:
        return np.nan
    while differing != _ZERO:
        u = lowest_bit(differing)
        differing &= differing - _ONE
        toggle(graph, v, np.int64(u))
    return scores[choice] - before


@kernel
def walk_graphs(
    graphs, current, betas, exchange, n_sweeps, n_proposals, shares, state, margins,
    counting, room, samples, trace, tally, swaps, best, moments, clock,
):  # fmt: skip
    """Walk graphs with their scores at inverse temperatures, with exchanges on the ladder if asked.

    After each sweep the last graph goes to `samples`, while there is room, and the scores of all
    to `trace`. `tally` has the moves of the last graph, tried and made; `swaps` the exchanges
    between rungs i and i + 1, tried and made. If `best` has a row, it gets the best graph of the
    last rung, and `moments` its score and those of the sweep: what they were at first, their mean
    above that, and their squared deviations.
    `clock[0]` counts sweeps, `clock[1]` proposals; a nonzero `clock[2]` ends the walk.
    """
    n_rungs, m = graphs.shape
    for sweep in range(n_sweeps):
        for k in range(n_rungs):
            graph, beta = graphs[k], betas[k]
            is_counted = k == n_rungs - 1
            is_watched = is_counted and len(best) > 0
            if is_watched:
                moments[1], moments[2], moments[3] = current[k], 0.0, 0.0
            for proposal in range(n_proposals):
                if clock[2] != 0:
                    return
                change = np.nan
                if m > 1:
                    u = _uniform(state)
                    kind = 0
                    while kind < _LEAF and u >= shares[kind]:
                        kind += 1
                    if kind == _LEAF:
                        n_margins = _propose_leaf(graph, room, state)
                    else:
                        n_margins = _propose_path(graph, kind, room, state)
                    if n_margins > 0:
                        fill_scores(room.masks, n_margins, margins, counting, room.scores)
                        if kind == _LEAF:
                            change = _decide_leaf(graph, n_margins, beta, room, state)
                        else:
                            change = _decide_path(graph, n_margins, beta, room, state)
                    if is_counted:
                        tally[kind, 0] += 1
                if not np.isnan(change):
                    current[k] += change
                    if is_counted:
                        tally[kind, 1] += 1
                if is_watched:
                    if current[k] > moments[0] + 1e-9:
                        moments[0] = current[k]
                        for v in range(m):
                            best[0, v] = graph[v]
                    step = (current[k] - moments[1] - moments[2]) / (proposal + 1)
                    moments[2] += step
                    moments[3] += step * step * proposal * (proposal + 1)
            clock[1] += n_proposals
        k = clock[0] & 1
        while exchange and k < n_rungs - 1:
            ratio = (betas[k + 1] - betas[k]) * (current[k] - current[k + 1])
            swaps[k, 0] += 1
            if ratio >= 0.0 or log(_uniform(state)) < ratio:
                swaps[k, 1] += 1
                for v in range(m):
                    held = graphs[k, v]
                    graphs[k, v] = graphs[k + 1, v]
                    graphs[k + 1, v] = held
                change = current[k]
                current[k] = current[k + 1]
                current[k + 1] = change
            k += 2
        if sweep < len(samples):
            for v in range(m):
                samples[sweep, v] = graphs[n_rungs - 1, v]
        if sweep < len(trace):
            for k in range(n_rungs):
                trace[sweep, k] = current[k]
        clock[0] += 1
