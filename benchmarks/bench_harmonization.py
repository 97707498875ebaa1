"""Harmonization graphs: how cost grows with the output, for easy and worst shapes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph
from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition

__all__ = ["rows"]


def disjoint_pairs(n: int) -> list[Partition]:
    """Each categorization merges a pair of its own: every subset has its own harmonization."""
    return [
        Partition.from_labels([2 * i if sink == 2 * i + 1 else sink for sink in range(2 * n)])
        for i in range(n)
    ]


def ring_and_pairs(n: int) -> list[Partition]:
    """Each categorization merges neighbours on a ring and a pair of its own: one part, no split."""
    found: list[Partition] = []
    for number in range(n):
        labels = list(range(3 * n))
        labels[(number + 1) % n] = number
        labels[n + 2 * number + 1] = n + 2 * number
        found.append(Partition.from_labels(labels))
    return found


def chain(n: int) -> list[Partition]:
    """Each categorization merges the next two: nested, the graph is a path."""
    return [Partition.from_labels([max(sink - i, 0) for sink in range(n)]) for i in range(n)]


def random_bands(n: int, cuts: int, seed: int) -> list[Partition]:
    """Bands of single years with random cut points, as ages on forms that ignore each other."""
    rng = random.Random(seed)
    found: list[Partition] = []
    for _ in range(n):
        chosen = set(rng.sample(range(1, 100), cuts))
        label, labels = 0, list[int]()
        for year in range(100):
            label += year in chosen
            labels.append(label)
        found.append(Partition.from_labels(labels))
    return found


def geography(n_sinks: int, sizes: list[int], seed: int) -> PartitionGraph:
    """Areas at several levels; every second level is shifted, so that it cuts across the others."""
    rng = random.Random(seed)
    children: dict[str, list[str]] = {}
    for level, size in enumerate(sizes):
        shift = rng.randrange(n_sinks) if level % 2 else 0
        for sink in range(n_sinks):
            area = ((sink + shift) % n_sinks) * size // n_sinks
            children.setdefault(f"L{level:02d}-{area:05d}", []).append(f"A{sink:05d}")
    return PartitionGraph(children)


def _graph_row(name: str, categorizations: list[Partition], aim: str = "") -> Row:
    def work() -> HarmonizationGraph:
        graph = HarmonizationGraph.of(categorizations)
        len(graph.edges)
        return graph

    return measured(name, work, output=lambda graph: len(graph.nodes), aim=aim)[0]


def _search_row(name: str, categorizations: list[Partition], weights: tuple[int, ...]) -> Row:
    """Measure a search beyond the limit of a graph; the output is the thresholds answered."""
    counts: dict[Partition | Arbitrary, int] = {
        own: weights[number % len(weights)] for number, own in enumerate(categorizations)
    }
    return measured(
        f"thresholds of {sum(counts.values())} without the graph, {name}",
        lambda: MaximalHarmonizations(ARBITRARY, counts),
        output=lambda answers: answers.n_forms - len(answers.unknown()),
        memory=False,
    )[0]


def rows() -> Iterator[Row]:
    """Measure by size (worst case) and by shape."""
    for n, aim in ((10, ""), (12, "1 s"), (14, ""), (15, "20 s"), (16, "")):
        yield _graph_row(f"closure, {n} disjoint pairs (worst)", disjoint_pairs(n), aim)
    yield _graph_row("closure, chain of 300", chain(300))
    for n in (10, 20, 40):
        yield _graph_row(f"closure, {n} sets of 20 random age bands", random_bands(n, 20, 1))
    n = 40
    weights: dict[Partition | Arbitrary, int] = {
        pair: weight + 1 for weight, pair in enumerate(disjoint_pairs(n))
    }
    yield measured(
        "all maximal sizes without the graph, 40 disjoint pairs (2^40 nodes)",
        lambda: MaximalHarmonizations(Partition.finest(2 * n), weights).sizes(),
        output=len,
    )[0]
    for n in (20, 24, 40):
        yield _search_row(f"ring of {n} and pairs", ring_and_pairs(n), (1,))
        yield _search_row(f"ring of {n} and pairs, uneven", ring_and_pairs(n), (1, 3, 5, 2, 4))
    for n, cuts in ((30, 50), (40, 50), (60, 50), (40, 70), (200, 50)):
        yield _search_row(f"{n} sets of {cuts} random cuts", random_bands(n, cuts, 1), (1,))
    sizes = [20_000, 18_000, 8_000, 7_000, 3_000, 2_500, 1_000, 900, 300, 100, 30, 9]
    row, graph = measured(
        "geography: partition graph of 50,000 sinks, 12 levels",
        lambda: geography(50_000, sizes, 1),
        output=lambda graph: len(graph.edges),
    )
    yield row
    levels = [sorted({c for c in graph.categories if c.startswith(f"L{n:02d}")}) for n in range(12)]
    row, partitions = measured(
        "geography: 12 categorizations to partitions",
        lambda: [graph.partition(level) for level in levels],
        output=len,
    )
    yield row
    yield _graph_row("geography: harmonization graph", partitions)
