"""Scores from sizes of cells that somebody else counted are those from the records, bit by bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.models.fitting.annealing import anneal
from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.supplied_scores import SuppliedScores


def supplier(table):
    """The slow, obvious twin of whoever counts: cells, then how many have how many records."""

    def count(masks):
        made = []
        for mask in masks:
            columns = [v for v in range(table.shape[1]) if mask >> v & 1]
            _, cells = np.unique(table[:, columns], axis=0, return_counts=True)
            made.append(np.unique(cells, return_counts=True))
        return made

    return count


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3), st.integers(1, 700)),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([(1.0,), (0.3, 1.0, 50.0)]),
)
def test_scores_are_the_same_to_the_last_bit(rows, precisions):
    table = np.repeat([row[:3] for row in rows], [row[3] for row in rows], axis=0)
    levels = [3, 2, 5]
    from_records = MarginScores.at_precisions(table, levels, precisions)
    supplied = SuppliedScores.at_each_precision(supplier(table), len(rows), levels, precisions)
    masks = list(range(8))
    for one, other in zip(from_records, supplied, strict=True):
        assert one.scores(masks).tolist() == other.scores(masks).tolist()
        assert one.edge_factors(np.zeros(3, np.uint64)).tobytes() == (
            other.edge_factors(np.zeros(3, np.uint64)).tobytes()
        )


def test_a_climb_ends_at_the_same_model_and_asks_for_a_margin_once():
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 400)
    table = np.stack([first, first ^ (rng.random(400) < 0.1), rng.integers(0, 2, 400)], axis=1)
    asked = []

    def count(masks):
        asked.extend(masks)
        return supplier(table)(masks)

    supplied = SuppliedScores(count, 9, [4, 4, 2])
    found = anneal(supplied, restarts=0)
    assert found.best.tolist() == anneal(MarginScores(table, [4, 4, 2]), restarts=0).best.tolist()
    assert len(asked) == len(set(asked))
