"""Slow, obvious twins of what is known about decomposable graphs, over sets instead of masks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain, combinations

Edge = tuple[int, int]
Graph = frozenset[Edge]
Cliques = list[frozenset[int]]


def all_pairs(n: int) -> list[Edge]:
    return list(combinations(range(n), 2))


def all_graphs(n: int) -> Iterator[Graph]:
    pairs = all_pairs(n)
    for chosen in chain.from_iterable(combinations(pairs, k) for k in range(len(pairs) + 1)):
        yield frozenset(chosen)


def neighbours(graph: Graph, v: int) -> frozenset[int]:
    return frozenset(a + b - v for a, b in graph if v in (a, b))


def is_cycle(graph: Graph, nodes: Collection[int]) -> bool:
    """Tell whether the subgraph of some nodes is one cycle and nothing else."""
    inside = frozenset((a, b) for a, b in graph if a in nodes and b in nodes)
    if any(len(neighbours(inside, v)) != 2 for v in nodes):
        return False
    seen, fresh = set[int](), [min(nodes)]
    while fresh:
        v = fresh.pop()
        if v not in seen:
            seen.add(v)
            fresh.extend(neighbours(inside, v))
    return seen == set(nodes)


def has_chordless_cycle(n: int, graph: Graph) -> bool:
    """Try every set of at least four nodes."""
    sets = chain.from_iterable(combinations(range(n), k) for k in range(4, n + 1))
    return any(is_cycle(graph, nodes) for nodes in sets)


@lru_cache(8192)
def is_chordal(n: int, graph: Graph) -> bool:
    """Remove nodes whose neighbours are all joined for as long as there is one."""
    left, edges = set(range(n)), graph
    while left:
        for v in left:
            if all(pair in edges for pair in combinations(sorted(neighbours(edges, v)), 2)):
                edges = frozenset(edge for edge in edges if v not in edge)
                left.remove(v)
                break
        else:
            return False
    return True


def toggled(graph: Graph, edge: Edge) -> Graph:
    return graph ^ {edge}


def moves(n: int, graph: Graph) -> tuple[list[Edge], list[Edge]]:
    """Return the legal additions and deletions by trying every single one."""
    legal = [edge for edge in all_pairs(n) if is_chordal(n, toggled(graph, edge))]
    return [e for e in legal if e not in graph], [e for e in legal if e in graph]


def cliques(n: int, graph: Graph) -> Cliques:
    """Return the maximal cliques by extending cliques node by node."""
    found: list[frozenset[int]] = []

    def extend(clique: frozenset[int], candidates: frozenset[int], done: frozenset[int]) -> None:
        if not candidates and not done:
            found.append(clique)
        for v in sorted(candidates):
            beside = neighbours(graph, v)
            extend(clique | {v}, candidates & beside, done & beside)
            candidates, done = candidates - {v}, done | {v}

    extend(frozenset(), frozenset(range(n)), frozenset())
    return [clique for clique in found if clique]


def separators(maximal: Cliques) -> Cliques:
    """Return the intersections along a spanning tree of the cliques of the greatest weight."""
    apart = [{clique} for clique in maximal]
    found: Cliques = []
    for a, b in sorted(combinations(maximal, 2), key=lambda pair: -len(pair[0] & pair[1])):
        one = next(group for group in apart if a in group)
        other = next(group for group in apart if b in group)
        if one is not other:
            one |= other
            apart = [group for group in apart if group is not other]
            found.append(a & b)
    return found


@lru_cache(2048)
def factors(n: int, graph: Graph) -> Counter[frozenset[int]]:
    """Return cliques over separators, the empty ones too, as exponents."""
    maximal = cliques(n, graph)
    counts = Counter(maximal)
    counts.subtract(separators(maximal))
    return Counter({margin: power for margin, power in counts.items() if power})


def random_chordal(n: int, seed: int, n_steps: int) -> Graph:
    """Walk from the graph without edges by single edges, additions preferred."""
    rng = random.Random(seed)
    graph: Graph = frozenset()
    for _ in range(n_steps):
        edge = rng.choice(all_pairs(n))
        if (edge not in graph or rng.random() < 0.3) and is_chordal(n, toggled(graph, edge)):
            graph = toggled(graph, edge)
    return graph


def sets(masks: Iterable[int]) -> Cliques:
    return [frozenset(v for v in range(mask.bit_length()) if mask >> v & 1) for mask in masks]
