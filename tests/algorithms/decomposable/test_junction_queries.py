from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.adjacency_masks import members
from gamekeeper.algorithms.decomposable.chordal_graphs import (
    decomposable_graphs,
    maximal_cliques,
    separators,
)
from gamekeeper.algorithms.decomposable.junction_queries import infer_values
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.errors import InputError, LimitError
from tests.algorithms.decomposable.test_junction_tree import samples
from tests.given.cases import cases

GRAPHS = list(decomposable_graphs(4))


def joint(rows, counts, levels, graph, precision):
    """Return the probability of every cell by brute force."""
    cells = list(product(*(range(level) for level in levels)))
    total = counts.sum() + precision

    def margin(mask, cell):
        same = np.all([rows[:, v] == cell[v] for v in members(mask)] or [True], axis=0)
        n_cells = math.prod(levels[v] for v in members(mask))
        return (counts[np.broadcast_to(same, len(rows))].sum() + precision / n_cells) / total

    found = {}
    for cell in cells:
        above = math.prod(margin(clique, cell) for clique in maximal_cliques(graph))
        below = math.prod(margin(separator, cell) for separator in separators(graph))
        found[cell] = above / below if above else 0.0
    return found


@cases(30)
@given(samples(), st.lists(st.sampled_from(GRAPHS), min_size=1, max_size=3), st.data())
def test_answers_agree_with_enumeration(sample, graphs, data):
    rows, counts, levels = sample
    precision = data.draw(st.sampled_from([0.0, 1.5]))
    roles = data.draw(st.lists(st.sampled_from("tkn"), min_size=4, max_size=4))
    targets = [v for v in range(4) if roles[v] == "t"]
    codes = [st.sets(st.integers(0, level - 1), min_size=1) for level in levels]
    known = {v: data.draw(codes[v]) for v in range(4) if roles[v] == "k"}
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(graphs), max_size=len(graphs)))
    table = ClassTable(rows, counts, levels)
    found = infer_values(table, graphs, targets, known, weights=weights, precision=precision)
    wanted: dict[tuple[int, ...], float] = {}
    for graph, weight in zip(graphs, weights, strict=True):
        for cell, chance in joint(rows, counts, levels, graph, precision).items():
            if all(cell[v] in codes for v, codes in known.items()):
                key = tuple(cell[v] for v in targets)
                wanted[key] = wanted.get(key, 0) + chance * weight / sum(weights)
    total = sum(wanted.values())
    assert found.known_probability == pytest.approx(total)
    positive = {key: value / total for key, value in wanted.items() if value > 1e-15}
    assert [tuple(row) for row in found.codes.tolist()] == sorted(positive)
    assert found.probabilities.tolist() == pytest.approx(
        [positive[key] for key in sorted(positive)]
    )


def test_impossible_knowledge_has_no_answer_but_a_prior_gives_one():
    table = ClassTable([[0, 0], [1, 1]], [3, 3], [2, 3])
    saturated = [[0b10, 0b01]]
    nothing = infer_values(table, saturated, [0], {1: 2})
    assert nothing.known_probability == 0
    assert len(nothing.probabilities) == 0
    prior = infer_values(table, saturated, [0], {1: 2}, precision=1.0)
    assert prior.probabilities.tolist() == [0.5, 0.5]


def test_a_model_that_fits_what_is_known_counts_for_more():
    # Under independence (0, 1) is likely, under the saturated model it is impossible.
    table = ClassTable([[0, 0], [1, 1]], [1, 1])
    found = infer_values(table, [[0, 0], [0b10, 0b01]], [], {0: 0, 1: 1})
    assert found.known_probability == pytest.approx((1 / 4 + 0) / 2)


def test_many_variables_need_no_table_of_all():
    rng = np.random.default_rng(3)
    rows = np.unique(rng.integers(0, 4, (500, 40)), axis=0)
    chain = [(1 << v + 1 if v < 39 else 0) | (1 << v - 1 if v else 0) for v in range(40)]
    table = ClassTable(rows, np.ones(len(rows), dtype=int), [4] * 40)
    found = infer_values(table, [chain], [39], {0: 1, 20: [0, 3]}, precision=1.0)
    assert found.probabilities.sum() == pytest.approx(1)
    with pytest.raises(LimitError, match="cells"):
        infer_values(table, [chain], list(range(40)), {}, precision=1.0, most_cells=10_000)


def test_all_faults_are_told_at_once():
    table = ClassTable([[0, 0], [1, 1]], [1, 1])
    with pytest.raises(InputError) as caught:
        infer_values(table, [[0, 0]], [0, 7], {0: 0, 1: 5}, weights=[1, 2])
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError):
        infer_values(table, [], [0], {})
