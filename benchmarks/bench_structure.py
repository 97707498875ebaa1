"""Re-identification without common variables: cost with six clusterings, and what is found.

Two files describe the same records in other units and another order, with some noise; one of them
through curves. Outputs are records that were linked rightly, or records within the class pointed
at. The kernels are compiled before anything is timed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.structure.clusterings import (
    TECHNIQUES,
    CommonClusterings,
    agglomerate,
    cluster_alike,
    conjunction,
    dissimilarity_code,
    normalise,
)
from gamekeeper.algorithms.structure.group_matching import group_success, match_groups
from gamekeeper.algorithms.structure.individual_matching import match_individuals, match_structure
from gamekeeper.algorithms.structure.kernels import square_table

__all__ = ["rows", "two_files"]

Floats = NDArray[np.float64]


def two_files(
    n_records: int, noise: float, seed: int = 1
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return records of eight groups, the same through curves and noise, and the true links."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(8, 12))
    values = centres[rng.choice(8, n_records, p=np.arange(1, 9) / 36)]
    values = values + rng.normal(size=values.shape)
    order = rng.permutation(n_records)
    curved = np.sinh(0.4 * values[order] + noise * rng.normal(size=values.shape))
    return normalise(values), normalise(curved), np.argsort(order)


def _structure(a: Floats, b: Floats) -> NDArray[np.int64]:
    kind = dissimilarity_code("manhattan")
    return match_structure(square_table(a, kind), square_table(b, kind)).columns


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    a, b, truth = two_files(60, 0.02)
    _individuals(a, b, truth, cluster_alike(a, b))
    _structure(a, b)

    a, b, truth = two_files(5000, 0.02)
    for technique in TECHNIQUES:
        yield measured(
            f"one dendrogram of 5,000 records, {technique}",
            lambda technique=technique: agglomerate(
                a, criterion=technique.criterion, dissimilarity=technique.dissimilarity
            ),
            output=lambda found: found.n_records,
            memory=False,
        )[0]
    row, labels = measured(
        "six clusterings of 5,000 x 5,000 records, numbers chosen from 4 to 10",
        lambda: cluster_alike(a, b, fewest=4),
        output=lambda found: len(found.labels_a),
        memory=False,
    )
    yield row
    yield measured(
        "their classes matched",
        lambda: _classes(labels, truth),
        output=lambda n_correct: n_correct,
        aim="with the clusterings 60 s",
        memory=False,
    )[0]
    yield measured(
        "their records matched one-to-one by labels, and linked within classes",
        lambda: _individuals(a, b, truth, labels),
        output=lambda n_correct: n_correct,
        memory=False,
    )[0]
    for n_records in (500, 2000, 5000):
        a, b, truth = two_files(n_records, 0.02)
        yield measured(
            f"{n_records:,} records linked by distances within the files alone",
            lambda a=a, b=b: _structure(a, b),
            output=lambda columns, truth=truth: int((columns == truth).sum()),
            memory=False,
        )[0]


def _classes(labels: CommonClusterings, truth: NDArray[np.int64]) -> int:
    a, b = conjunction(labels.labels_a), conjunction(labels.labels_b)
    matching = match_groups(a.rows, b.rows, sizes=(a.sizes, b.sizes))
    return group_success(matching.groups[a.classes], b, truth).n_correct


def _individuals(a: Floats, b: Floats, truth: NDArray[np.int64], labels: CommonClusterings) -> int:
    both = labels.labels_a, labels.labels_b
    matching = match_groups(*both, one_to_one=True, restarts=10, exact=False)
    classes = conjunction(labels.labels_b).classes
    blocks = classes[matching.groups], classes
    links = match_individuals(a, b, *both, matching.mappings, blocks=blocks)
    return int((links == truth).sum())
