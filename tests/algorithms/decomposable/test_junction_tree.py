from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.graphs import (
    decomposable_graphs,
    maximal_cliques,
    members,
    separators,
)
from gamekeeper.algorithms.decomposable.junction_tree import (
    ClassTable,
    infer_values,
    junction_tree,
    log_cell_probabilities,
    mean_log_probabilities,
)
from gamekeeper.errors import InputError, LimitError
from tests.given.cases import cases
from tests.given.samples import samples

GRAPHS = list(decomposable_graphs(4))


def exact_probability(rows, counts, graph, cell, own):
    """Multiply cliques and divide by separators in exact fractions, from the definition."""
    weights = [
        1 if own == "one" and row == list(cell) else count
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
    ]

    def margin(mask):
        same = sum(
            weight
            for row, weight in zip(rows.tolist(), weights, strict=True)
            if all(row[v] == cell[v] for v in members(mask))
        )
        return Fraction(same, sum(weights))

    value = Fraction(1)
    for share in map(margin, maximal_cliques(graph)):
        value *= share
    for share in map(margin, separators(graph)):
        value /= share
    return value


@pytest.mark.parametrize("n_variables", [1, 2, 3, 4, 5])
def test_every_tree_has_running_intersection(n_variables):
    for graph in decomposable_graphs(n_variables):
        tree = junction_tree(graph)
        seen = 0
        for clique, separator, parent in zip(
            tree.cliques, tree.separators, tree.parents, strict=True
        ):
            assert clique & seen == separator
            assert not separator or separator & ~tree.cliques[parent] == 0
            seen |= clique
        assert sorted(tree.cliques) == sorted(maximal_cliques(graph))
        # The first clique has no separator; the rest are those of the graph.
        assert sorted(tree.separators[1:]) == sorted(separators(graph))
        assert all(parent < at for at, parent in enumerate(tree.parents))


def test_a_cycle_without_a_chord_is_refused():
    with pytest.raises(InputError, match="no chord"):
        junction_tree([0b1010, 0b0101, 0b1010, 0b0101])


@cases(25)
@given(samples(), st.sampled_from(GRAPHS), st.sampled_from(["all", "one"]))
def test_cell_probabilities_follow_the_definition(sample, graph, own):
    rows, counts, levels = sample
    table = ClassTable(rows, counts, levels)
    if own == "all":
        found = np.exp(log_cell_probabilities(table, [graph])[0])
    else:
        found = np.exp(mean_log_probabilities(table, [graph], [1.0]))
    for place, cell in enumerate(rows.tolist()):
        exact = exact_probability(rows, counts, graph, cell, own)
        assert found[place] == pytest.approx(float(exact), rel=1e-12)


@cases(20)
@given(samples(), st.sampled_from(GRAPHS), st.sampled_from([0.0, 2.0]))
def test_cell_probabilities_of_all_cells_sum_to_one(sample, graph, precision):
    rows, counts, levels = sample
    table = ClassTable(rows, counts, levels)
    total = 0.0
    tree = junction_tree(graph)
    cells = np.array(list(product(*(range(level) for level in levels))))
    chance = np.ones(len(cells))
    for clique, separator in zip(tree.cliques, tree.separators, strict=True):
        above = table.margin_of(clique, cells)
        below = table.margin_of(separator, cells)
        above += precision / math.prod(levels[v] for v in members(clique))
        below += precision / math.prod(levels[v] for v in members(separator))
        chance *= np.divide(above, below, out=np.zeros(len(cells)), where=below > 0)
    total = chance.sum()
    assert total == pytest.approx(1)
    if not precision:
        sampled = log_cell_probabilities(table, [tree])[0]
        places = [cells.tolist().index(row) for row in rows.tolist()]
        assert np.exp(sampled) == pytest.approx(chance[places])


@given(samples(), st.sampled_from(GRAPHS), st.randoms(use_true_random=False))
def test_neither_the_order_of_classes_nor_the_labels_of_codes_matter(sample, graph, random):
    rows, counts, levels = sample
    order = list(range(len(rows)))
    random.shuffle(order)
    relabelled = rows.copy()
    for v, level in enumerate(levels):
        labels = list(range(level))
        random.shuffle(labels)
        relabelled[:, v] = np.array(labels)[rows[:, v]]
    plain = mean_log_probabilities(ClassTable(rows, counts, levels), [graph], [1.0])
    other = ClassTable(relabelled[order], counts[order], levels)
    assert mean_log_probabilities(other, [graph], [1.0]) == pytest.approx(plain[order])


@cases(20)
@given(samples(), st.lists(st.sampled_from(GRAPHS), min_size=1, max_size=4), st.data())
def test_the_mean_over_models_is_that_of_each(sample, graphs, data):
    table = ClassTable(*sample)
    shares = [data.draw(st.floats(0, 1)) for _ in graphs]
    each = [mean_log_probabilities(table, [graph], [1.0]) for graph in graphs]
    found = mean_log_probabilities(table, graphs, shares)
    assert found == pytest.approx(np.array(shares) @ np.array(each), rel=1e-12, abs=1e-12)


def test_the_saturated_model_gives_relative_frequencies():
    table = ClassTable([[0, 0], [0, 1], [1, 1]], [2, 1, 1])
    found = np.exp(log_cell_probabilities(table, [[0b10, 0b01]])[0])
    assert found.tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 4])


def test_cells_beyond_64_bits():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 200, (300, 64))
    complete = [(1 << 64) - 1 ^ 1 << v for v in range(64)]
    table = ClassTable(rows, np.ones(300, dtype=int), [200] * 64)
    found = log_cell_probabilities(table, [complete])[0]
    assert found == pytest.approx(math.log(1 / 300))
    chain = [(1 << v + 1 & (1 << 64) - 1) | (1 << v - 1 if v else 0) for v in range(64)]
    assert np.isfinite(mean_log_probabilities(table, [chain], [1.0])).all()


def test_a_variable_with_one_level_and_declared_levels_that_do_not_occur():
    rows = np.array([[0, 0], [0, 1]])
    few = ClassTable(rows, np.array([3, 1]), [1, 2])
    many = ClassTable(rows, np.array([3, 1]), [1, 20])
    plain = [np.exp(log_cell_probabilities(t, [[0, 0]])[0]) for t in (few, many)]
    assert plain[0].tolist() == plain[1].tolist() == pytest.approx([0.75, 0.25])
    smooth = [infer_values(t, [[0, 0]], [1], {}, precision=1.0).probabilities for t in (few, many)]
    assert smooth[1][1] == pytest.approx((1 + 1 / 20) / 5)
    assert smooth[0][1] == pytest.approx((1 + 1 / 2) / 5)


def test_one_record():
    table = ClassTable([[4, 0, 2]], [1])
    for graph in decomposable_graphs(3):
        assert log_cell_probabilities(table, [graph]).tolist() == [[0.0]]


def test_all_faults_are_told_at_once():
    with pytest.raises(InputError) as caught:
        ClassTable([[0, 5], [1, 1]], [1, 0], [1, 6])
    assert len(caught.value.problems) == 2
    for rows, counts in (([[0]], []), ([[-1]], [1]), ([[0.5]], [1]), (np.zeros((0, 2), int), [])):
        with pytest.raises(InputError):
            ClassTable(rows, counts)
    table = ClassTable([[0, 0]], [1])
    with pytest.raises(InputError, match="variables"):
        log_cell_probabilities(table, [[0, 0, 0]])


def test_values_of_the_data_are_not_shown():
    table = ClassTable([[987654, 1]], [1])
    assert "987654" not in repr(table)
    with pytest.raises(InputError) as caught:
        ClassTable([[3, 1], [-987654, 2]], [1, 1])
    assert "987654" not in str(caught.value)


def test_many_models_at_once_are_as_one_at_a_time():
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, 3, (50, 4)), axis=0)
    table = ClassTable(rows, np.ones(len(rows), dtype=int))
    together = log_cell_probabilities(table, GRAPHS)
    for graph, found in zip(GRAPHS, together, strict=True):
        assert found.tolist() == log_cell_probabilities(table, [graph])[0].tolist()


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint64, np.int8, np.int64])
def test_any_kind_of_integer_codes(kind):
    rows = np.array([[0, 200 % 128], [1, 5], [1, 0]])
    plain = log_cell_probabilities(ClassTable(rows, [1, 2, 1]), [[2, 1]])
    found = log_cell_probabilities(ClassTable(rows.astype(kind), [1, 2, 1]), [[2, 1]])
    assert found.tolist() == plain.tolist()


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


def test_all_faults_of_a_question_are_told_at_once():
    table = ClassTable([[0, 0], [1, 1]], [1, 1])
    with pytest.raises(InputError) as caught:
        infer_values(table, [[0, 0]], [0, 7], {0: 0, 1: 5}, weights=[1, 2])
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError):
        infer_values(table, [], [0], {})
