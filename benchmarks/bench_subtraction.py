"""SAP: by the size of the population, by the shape of the release, and many tables at once.

Kernels are compiled before anything is timed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.releases.schemes import Conventional
from gamekeeper.algorithms.subtraction.probability import (
    RecoveryRule,
    cell_groups,
    recovery_rule,
    subtraction_risk,
)
from gamekeeper.algorithms.subtraction.recovered_zeros import recovered_zeros
from gamekeeper.algorithms.subtraction.release import release_risk
from gamekeeper.algorithms.subtraction.zeros import subtraction_experiment

__all__ = ["rows"]


def rule_of(counts: NDArray[np.int64], share: float, seed: int = 1) -> RecoveryRule:
    """Return a table in which a share of the cells is relevant."""
    relevant = np.random.default_rng(seed).random(counts.shape) < share
    return recovery_rule(counts, counts + ~relevant)


def release_of(
    shape: tuple[int, ...], mean: float, base: int, margins: list[tuple[int, ...]], seed: int = 4
) -> tuple[CountConstraints, NDArray[np.int64]]:
    """Return margins of a random table, rounded to a base."""
    counts = np.random.default_rng(seed).poisson(mean, shape)
    scheme, rng = Conventional(base), np.random.default_rng(0)
    known: list[tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.int64]]] = []
    for axes in margins:
        sums = counts.sum(axis=tuple(a for a in range(len(shape)) if a not in axes))
        known.append((axes, *scheme.limits(scheme.publish(sums, rng))))
    return CountConstraints.of(shape, known), counts


def rows() -> Iterator[Row]:
    """Measure; the output is the number of probabilities."""
    rng = np.random.default_rng(1)
    _compile()
    for name, counts in (
        ("even counts", rng.poisson(100, 1_000)),
        ("uneven counts", rng.geometric(1 / 100, 1_000)),
    ):
        for share in (1.0, 0.2):
            yield measured(
                f"all n, 1,000 cells, {counts.sum():,} people, {name}, {share:.0%} relevant",
                lambda counts=counts, share=share: subtraction_risk(rule_of(counts, share)),
                output=lambda risk: len(risk.n),
                aim="2 s",
                memory=False,
            )[0]
    large = rng.geometric(1 / 1_000, 1_000)
    yield measured(
        f"all n, 1,000 cells, {large.sum():,} people",
        lambda: subtraction_risk(rule_of(large, 0.2)),
        output=lambda risk: len(risk.n),
        memory=False,
    )[0]
    yield measured(
        f"100 n, 1,000 cells, {large.sum():,} people",
        lambda: subtraction_risk(rule_of(large, 0.2), n=range(0, 100_000, 1_000)),
        output=lambda risk: len(risk.n),
        memory=False,
    )[0]
    exact = rng.poisson(20, 95)
    yield measured(
        f"all n exactly, {exact.sum():,} people",
        lambda: subtraction_risk(rule_of(exact, 0.5)),
        output=lambda risk: len(risk.n),
        memory=False,
    )[0]
    square = rng.poisson(20, (10, 9))
    groups = cell_groups((10, 9), (0,))
    yield measured(
        f"10 categories exactly, {square.sum():,} people",
        lambda: [subtraction_risk(rule_of(square, 0.5), within=groups == k) for k in range(10)],
        output=lambda risks: sum(len(risk.n) for risk in risks),
        memory=False,
    )[0]
    yield measured(
        f"numbers of zeros, 40 n, {exact.sum():,} people",
        lambda: recovered_zeros(rule_of(exact, 0.5), n=range(0, 2_000, 50)),
        output=lambda zeros: zeros.probabilities.size,
        memory=False,
    )[0]
    yield measured(
        "Table 1: 1,200 tables of 2 x 6 with total, n = 0 to 24",
        lambda: subtraction_experiment(Conventional(5)),
        output=lambda found: found.risks.size,
        aim="1 s",
        memory=False,
    )[0]
    yield from _releases()


def _releases() -> Iterator[Row]:
    two_way: list[tuple[int, ...]] = [(0, 1), (0,), (1,), ()]
    three_way: list[tuple[int, ...]] = [(0, 1), (0, 2), (1, 2)]
    for name, method, release in (
        ("2 x 6 with all margins, base 5", "exact", release_of((2, 6), 1.8, 5, two_way, seed=1)),
        ("3 x 4 from exact margins", "exact", release_of((3, 4), 1.5, 1, [(0,), (1,)], seed=1)),
        ("4 x 5 with all margins, base 3", "sampling", release_of((4, 5), 3, 3, two_way)),
        ("10 x 10 with all margins, base 3", "sampling", release_of((10, 10), 5, 3, two_way)),
        ("4 x 4 x 4 from 2-way margins", "sampling", release_of((4, 4, 4), 3, 1, three_way)),
    ):
        constraints, counts = release
        yield measured(
            f"{name}, {method}",
            lambda c=constraints, t=counts, m=method: release_risk(c, t, method=m, draws=2_000),
            output=lambda risk: len(risk.n),
            memory=False,
        )[0]


def _compile() -> None:
    subtraction_risk(rule_of(np.array([3, 4, 5]), 0.5), exact_up_to=0)
    subtraction_experiment(Conventional(5), n_tables=2)
    constraints, counts = release_of((2, 2), 1, 3, [(0, 1), (0,), (1,)])
    release_risk(constraints, counts, method="sampling", draws=2)
