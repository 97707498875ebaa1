"""Proofs of searches that are too large to try everything, checked by a program of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    SmallClasses,
    bits_lost,
    distinct_records,
)
from gamekeeper.algorithms.recoding_search.search import search_recoding

BANDS = [(v,) for v in range(10)] + [
    *((low, low + 1) for low in range(0, 10, 2)),
    *((low, low + 1) for low in range(1, 9, 4)),
    *(tuple(range(low, low + 5)) for low in (0, 5)),
    tuple(range(10)),
]


def drawn(seed):
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.25, (400, 3)) - 1, 9)
    choices = [
        Choice(10, tuple(BANDS), bits_lost(BANDS, np.bincount(codes[:, place], minlength=10)))
        for place in range(3)
    ]
    return codes, choices


def least_that_is_left(choices, cuts):
    """Return the least loss of a recoding with a category outside each cut, by scipy's solver."""
    n = len(BANDS)
    costs = np.concatenate([choice.losses for choice in choices])
    rows, low, high = [], [], []
    for place in range(len(choices)):
        for value in range(10):
            row = np.zeros(len(costs))
            row[[place * n + number for number, band in enumerate(BANDS) if value in band]] = 1
            rows.append(row)
            low.append(1)
            high.append(1)
    for labels in cuts:
        row = np.zeros(len(costs))
        for place, own in enumerate(labels):
            for number, band in enumerate(BANDS):
                row[place * n + number] = len({int(own[value]) for value in band}) > 1
        rows.append(row)
        low.append(1)
        high.append(np.inf)
    found = milp(
        costs,
        constraints=LinearConstraint(np.array(rows), np.array(low), np.array(high)),
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
    )
    return found.fun


# The second says the same of other records; a second of search.
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_cuts_alone_prove_the_least_loss(seed):
    codes, choices = drawn(seed)
    found = search_recoding(choices, distinct_records(codes), [SmallClasses(4)], seconds=60)
    assert found.n_recodings is not None
    assert found.n_recodings > 100_000
    assert found.is_optimal
    for cut in found.cuts:
        merged = np.column_stack([own[codes[:, place]] for place, own in enumerate(cut.labels)])
        assert np.unique(merged, axis=0, return_counts=True)[1].min() < 4
    cuts = [cut.labels for cut in found.cuts]
    assert least_that_is_left(choices, cuts) == pytest.approx(found.loss, rel=1e-6)
    labels = [choice.labels(own) for choice, own in zip(choices, found.chosen, strict=True)]
    merged = np.column_stack([own[codes[:, place]] for place, own in enumerate(labels)])
    assert np.unique(merged, axis=0, return_counts=True)[1].min() >= 4
