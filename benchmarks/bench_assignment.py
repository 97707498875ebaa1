"""Exact dense assignment by kind of costs, beside other solvers where they are installed.

Five kinds: uniform random costs; the number of differing variables of nine between records and
their perturbed copies, with many ties; the same with a weight for each variable; Euclidean
distances of random points in the plane; and products of row and column number, the worst case of
shortest augmenting paths (Machol and Wien 1977). SciPy is always measured, lapx and lapjv where
they can be imported, all on the same matrix in the same run; lapjv works in single precision.
`python -m benchmarks.bench_assignment 5000 uniform,points` measures another size and some kinds,
`python -m benchmarks.bench_assignment 10000 points alone` without the others, with the greatest
memory so far.
"""

from __future__ import annotations

import importlib.util
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.assignment.dense import greedy_global, solve_assignment
from gamekeeper.algorithms.assignment.sparse import assignment_margins

__all__ = ["KINDS", "costs_of", "rows"]

KINDS = ("uniform", "differing", "weighted", "points", "products")
LEVELS = (2, 9, 7, 5, 15, 6, 6, 3, 10)
PERTURBED = 0.3


def costs_of(kind: str, n: int, seed: int = 1) -> NDArray[np.float64]:
    """Make a matrix of one kind."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.random((n, n))
    if kind == "products":
        return np.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1))
    if kind == "points":
        a, b = rng.random((2, n, 2))
        costs = np.subtract.outer(a[:, 0], b[:, 0])
        np.hypot(costs, np.subtract.outer(a[:, 1], b[:, 1]), out=costs)
        return costs
    weights = np.ones(len(LEVELS))
    if kind == "weighted":
        weights = np.log2(9.0 * np.array(LEVELS)) + rng.random(len(LEVELS))
    costs = np.zeros((n, n))
    copy = rng.permutation(n)
    for level, weight in zip(LEVELS, weights, strict=True):
        values = (level * rng.random(n) ** 1.5).astype(np.int64)
        perturbed = np.where(rng.random(n) < PERTURBED, rng.integers(0, level, n), values)
        for row, value in zip(costs, values, strict=True):
            row += weight * (perturbed[copy] != value)
    return costs


def rows() -> Iterator[Row]:
    """Measure each kind at 2,000 records."""
    yield from rows_at(2_000, KINDS)


def rows_at(n: int, kinds: Sequence[str], *, alone: bool = False) -> Iterator[Row]:
    """Measure some kinds at one size; output is the number of links."""
    tiny = costs_of("uniform", 20)
    assignment_margins(tiny, solve_assignment(tiny))  # compiles
    greedy_global(tiny)
    for kind in kinds:
        costs = costs_of(kind, n)
        name = f"{kind}, {n:,} x {n:,}"
        before = _peak_mb()
        row, found = measured(
            f"ours: {name}",
            lambda costs=costs: solve_assignment(costs),
            output=lambda found: found.n_linked,
            aim="60 s" if n == 10_000 else "the fastest",
            memory=False,
        )
        yield Row(row.name, row.output, row.wall, row.cpu, _peak_mb() - before, row.aim)
        if alone:
            continue
        for solver, solve in _others().items():
            row, cost = measured(
                f"{solver}: {name}",
                lambda costs=costs, solve=solve: solve(costs),
                output=lambda cost, n=n: n,
                memory=False,
            )
            excess = (cost - found.cost) / found.cost
            named = f"{row.name} (cost {excess:+.1e})"
            yield Row(named, row.output, row.wall, row.cpu, row.peak_mb, row.aim)
        row, _ = measured(
            f"margins of all links: {name}",
            lambda costs=costs, found=found: assignment_margins(costs, found),
            output=lambda margins: len(margins.increases),
            memory=False,
        )
        yield row
        row, links = measured(
            f"greedy, cheapest pair first: {name}",
            lambda costs=costs: greedy_global(costs),
            output=lambda links: links.n_linked,
            memory=False,
        )
        excess = (links.cost - found.cost) / found.cost
        yield Row(f"{row.name} (cost {excess:+.1%})", row.output, row.wall, row.cpu, 0.0)


def _others() -> dict[str, Callable[[NDArray[np.float64]], float]]:
    from scipy.optimize import linear_sum_assignment

    others: dict[str, Callable[[NDArray[np.float64]], float]] = {
        "scipy": lambda costs: float(costs[linear_sum_assignment(costs)].sum())
    }
    if importlib.util.find_spec("lap"):
        lap: Any = importlib.import_module("lap")
        others["lapx"] = lambda costs: float(lap.lapjv(costs)[0])
    if importlib.util.find_spec("lapjv"):
        lapjv: Any = importlib.import_module("lapjv")

        def single(costs: NDArray[np.float64]) -> float:
            columns = lapjv.lapjv(costs.astype(np.float32))[0]
            return float(costs[np.arange(len(costs)), columns].sum())

        others["lapjv"] = single
    return others


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _asked(words: list[str]) -> Iterator[Row]:
    match words:
        case [n, kinds, *rest]:
            return rows_at(int(n), kinds.split(","), alone="alone" in rest)
        case [n]:
            return rows_at(int(n), KINDS)
        case _:
            return rows()


if __name__ == "__main__":
    for row in _asked(sys.argv[1:]):
        print(
            f"{row.name}: {row.output:,} out, {row.wall:.2f} s wall, {row.cpu:.3f} s CPU"
            + (f", {row.peak_mb:,.0f} MB more" if row.peak_mb else "")
            + (f", aim {row.aim}" if row.aim else ""),
            flush=True,
        )
