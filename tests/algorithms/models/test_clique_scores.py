from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.graphs import decomposable_graphs, is_decomposable
from gamekeeper.algorithms.models.annealing import anneal
from gamekeeper.algorithms.models.clique_scores import MarginScores, SuppliedScores, declared_levels
from gamekeeper.errors import InputError
from tests.twins.legal_edges import can_add, can_delete

# Titanic (R datasets): class, sex, age, survived, count.
TITANIC = np.array(
    [
        [0, 0, 0, 1, 5], [0, 0, 1, 0, 118], [0, 0, 1, 1, 57], [0, 1, 0, 1, 1], [0, 1, 1, 0, 4],
        [0, 1, 1, 1, 140], [1, 0, 0, 1, 11], [1, 0, 1, 0, 154], [1, 0, 1, 1, 14], [1, 1, 0, 1, 13],
        [1, 1, 1, 0, 13], [1, 1, 1, 1, 80], [2, 0, 0, 0, 35], [2, 0, 0, 1, 13], [2, 0, 1, 0, 387],
        [2, 0, 1, 1, 75], [2, 1, 0, 0, 17], [2, 1, 0, 1, 14], [2, 1, 1, 0, 89], [2, 1, 1, 1, 76],
        [3, 0, 1, 0, 670], [3, 0, 1, 1, 192], [3, 1, 1, 0, 3], [3, 1, 1, 1, 20],
    ]
)  # fmt: skip


def members(mask):
    return [v for v in range(mask.bit_length()) if mask >> v & 1]


def exact_score(table, levels, precision, mask):
    """The probability of the records one after the other, each given those before."""
    cells = math.prod(levels[v] for v in members(mask))
    seen = Counter()
    probability = Fraction(1)
    for number, row in enumerate(table):
        cell = tuple(row[v] for v in members(mask))
        alpha = Fraction(precision) / cells
        probability *= (alpha + seen[cell]) / (Fraction(precision) + number)
        seen[cell] += 1
    return math.log(probability.numerator) - math.log(probability.denominator)


def log_score(table, levels, precision, mask):
    """The same for many records, by logarithms of gamma functions."""
    columns = members(mask)
    log_alpha = math.log(precision) - sum(math.log(levels[v]) for v in columns)
    counts = Counter(tuple(row) for row in np.asarray(table)[:, columns].tolist())
    total = math.lgamma(precision) - math.lgamma(precision + len(table))
    alpha = math.exp(log_alpha)
    for count in counts.values():
        total += log_alpha + math.lgamma(alpha + count) - math.lgamma(alpha + 1)
    return total


@st.composite
def tables(draw, most_variables=5, most_records=20):
    levels = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most_variables))
    row = st.tuples(*(st.integers(0, level - 1) for level in levels))
    rows = draw(st.lists(row, max_size=most_records))
    extra = draw(st.lists(st.integers(0, 3), min_size=len(levels), max_size=len(levels)))
    return rows, [level + more for level, more in zip(levels, extra, strict=True)]


def scores_of(rows, levels, **options):
    return MarginScores(np.array(rows, np.uint8).reshape(len(rows), len(levels)), levels, **options)


def graph_of(m, chosen):
    """Add edges in the order given, those that leave the graph decomposable."""
    rows = [0] * m
    for v, w in chosen:
        if v != w and not rows[v] >> w & 1 and can_add(rows, v, w):
            rows[v] |= 1 << w
            rows[w] |= 1 << v
    return rows


@given(tables(), st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(7), Fraction(1, 1000)]))
@settings(deadline=None)
def test_a_score_is_the_probability_of_the_records_in_turn(table, precision):
    rows, levels = table
    scores = scores_of(rows, levels, precision=float(precision))
    masks = range(1 << len(levels))
    found = scores.scores(masks)
    for mask in masks:
        expected = exact_score(rows, levels, precision, mask)
        assert found[mask] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_probabilities_of_all_ordered_samples_sum_to_one():
    # Erratum M11: declared categories, ordered records.
    levels = (2, 3)
    cells = list(product(range(2), range(3)))
    for graph in ([0, 0], [2, 1]):
        total = 0.0
        for sample in product(cells, repeat=3):
            scores = scores_of(sample, levels, precision=2.5)
            total += math.exp(scores.log_marginal_likelihood(graph))
        assert total == pytest.approx(1.0, abs=1e-12)


def test_titanic():
    scores = MarginScores(TITANIC[:, :4], [4, 2, 2, 2], counts=TITANIC[:, 4])
    assert scores.n_records == 2201
    found = scores.log_marginal_likelihood
    assert found([0, 0, 0, 0]) == pytest.approx(-5798.0109429104195, abs=1e-8)
    assert found([14, 13, 11, 7]) == pytest.approx(-5255.681199678808, abs=1e-8)
    best = [0b1110, 0b1001, 0b1001, 0b0111]
    assert found(best) == pytest.approx(-5246.266013664769, abs=1e-8)
    assert scores.log_bayes_factor(best, 1, 2) == pytest.approx(-9.415186014039136, abs=1e-8)
    assert scores.log_bayes_factor(best, 3, 1) == pytest.approx(-196.10706747047107, abs=1e-8)


def test_counts_are_repeated_rows_and_their_order_is_nothing():
    repeated = np.repeat(TITANIC[:, :4], TITANIC[:, 4], axis=0).astype(np.uint8)
    shuffled = np.random.default_rng(3).permutation(repeated)
    levels = [4, 2, 2, 2]
    by_counts = MarginScores(TITANIC[:, :4], levels, counts=TITANIC[:, 4]).scores(range(16))
    assert MarginScores(repeated, levels).scores(range(16)).tolist() == by_counts.tolist()
    assert MarginScores(shuffled, levels).scores(range(16)).tolist() == by_counts.tolist()


def test_names_of_codes_are_nothing():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 4, (300, 5))
    renamed = np.array([7, 0, 900_000, 12])[table]
    levels = [4, 5, 6, 7, 8]
    assert (
        MarginScores(renamed, levels).scores(range(32)).tolist()
        == MarginScores(table, levels).scores(range(32)).tolist()
    )


@given(
    tables(most_variables=6), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)
)
@settings(deadline=None)
def test_moves_change_the_score_by_four_terms_and_are_legal_as_graphs_say(table, pairs):
    rows, levels = table
    m = len(levels)
    scores = scores_of(rows, levels)
    graph = graph_of(m, [(v, w) for v, w in pairs if v < m and w < m])
    before = scores.log_marginal_likelihood(graph)
    for v in range(m):
        for w in range(v):
            toggled = list(graph)
            toggled[v] ^= 1 << w
            toggled[w] ^= 1 << v
            is_there = graph[v] >> w & 1
            legal = can_delete(graph, v, w) if is_there else can_add(graph, v, w)
            assert legal == is_decomposable(toggled)
            if legal:
                change = scores.log_marginal_likelihood(toggled) - before
                found = scores.log_bayes_factor(graph, v, w)
                assert found == pytest.approx(change, rel=1e-9, abs=1e-9)
            else:
                with pytest.raises(InputError, match="not decomposable when"):
                    scores.log_bayes_factor(graph, v, w)
                with pytest.raises(InputError, match="without a chord"):
                    scores.log_marginal_likelihood(toggled)


def test_keys_beyond_64_bits_are_exact():
    # 40 variables of 50 observed categories are 226 bits; rows come in near-identical pairs.
    rng = np.random.default_rng(11)
    table = np.repeat(rng.integers(0, 50, (400, 40)), 3, axis=0)
    table[::3, -1] = rng.integers(0, 50, 400)
    table[1::3, 0] = rng.integers(0, 50, 400)
    levels = [1_000_000] * 40
    scores = MarginScores(table, levels)
    for mask in ((1 << 40) - 1, (1 << 40) - 2, (1 << 39) - 1, (1 << 13) - 1, 0b111 << 30):
        assert scores.score(mask) == pytest.approx(log_score(table, levels, 1.0, mask), rel=1e-12)


def test_cells_beyond_the_largest_float():
    scores = MarginScores(np.zeros((1, 64), np.uint8), [10**9] * 64)
    assert scores.score((1 << 64) - 1) == pytest.approx(-64 * math.log(10**9), rel=1e-12)
    twice = MarginScores(np.zeros((2, 64), np.uint8), [10**9] * 64)
    expected = -64 * math.log(10**9) - math.log(2)
    assert twice.score((1 << 64) - 1) == pytest.approx(expected, rel=1e-12)


def test_a_small_table_of_kept_scores_changes_nothing():
    rng = np.random.default_rng(2)
    table = rng.integers(0, 3, (200, 10))
    masks = np.concatenate([rng.permutation(1 << 10), rng.permutation(1 << 10)]).tolist()
    small = MarginScores(table, most_kept=16)
    large = MarginScores(table)
    assert small.margins.kept.shape[1] == 16
    assert small.scores(masks).tolist() == large.scores(masks).tolist()


def test_threads_share_kept_scores():
    rng = np.random.default_rng(4)
    table = rng.integers(0, 3, (50, 12))
    shared = MarginScores(table, most_kept=64)
    orders = [rng.permutation(1 << 12).tolist() for _ in range(8)]
    with ThreadPoolExecutor(4) as executor:
        found = list(executor.map(shared.scores, orders))
    alone = MarginScores(table).scores(range(1 << 12))
    for order, values in zip(orders, found, strict=True):
        assert values.tolist() == alone[order].tolist()


def test_a_variable_with_one_category_says_nothing():
    table = np.array([[0, 0, 1], [1, 0, 0], [1, 0, 1]])
    scores = MarginScores(table, [2, 1, 2])
    for mask in range(8):
        assert scores.score(mask | 2) == scores.score(mask & ~2)
    assert scores.log_bayes_factor([0, 0, 0], 0, 1) == 0.0


def test_no_records_and_one_record():
    none = MarginScores(np.zeros((0, 3), np.uint8), [2, 3, 4])
    assert none.n_records == 0
    assert none.scores(range(8)).tolist() == [0.0] * 8
    one = MarginScores(np.array([[1, 2, 3]]), [2, 3, 4], precision=0.25)
    assert one.score(0b111) == pytest.approx(-math.log(24))
    assert one.log_marginal_likelihood([2, 5, 2]) == pytest.approx(-math.log(24))


def test_large_counts_and_precisions():
    table = np.array([[0], [1]])
    counts = np.array([1_000_000, 3])
    scores = MarginScores(table, [5], counts=counts, precision=1000.0)
    expected = (
        math.lgamma(1000) - math.lgamma(1000 + 1_000_003)
        + math.lgamma(200 + 1_000_000) + math.lgamma(203) - 2 * math.lgamma(200)
    )  # fmt: skip
    assert scores.score(1) == pytest.approx(expected, rel=1e-12)


def test_declared_levels_count_missing_where_it_occurs():
    codes = np.array([[1, 0, 2], [1, 1, 2]])
    assert declared_levels(codes, [4, 4, 3]) == (3, 4, 2)
    assert declared_levels(np.array([[0]]), [1]) == (1,)


def test_errors_name_all_problems_and_no_values():
    with pytest.raises(InputError) as error:
        MarginScores(np.array([[777, 5], [778, 6]]), [1, 2, 9])
    assert len(error.value.problems) == 2
    assert "777" not in str(error.value)
    with pytest.raises(InputError) as error:
        MarginScores(np.array([0.5, -1.0]), precision=-1.0, counts=np.array([1.0]))
    assert {problem.where for problem in error.value.problems} == {"codes", "precision", "counts"}
    with pytest.raises(InputError):
        MarginScores(np.zeros((2, 65), np.uint8))
    scores = MarginScores(np.array([[0, 0], [1, 1]]))
    for graph in ([0], [1, 0], [2, 0], [4, 0], [-1, 0]):
        with pytest.raises(InputError, match="not a graph"):
            scores.log_marginal_likelihood(graph)
    for v, w in ((0, 0), (0, 2), (-1, 0)):
        with pytest.raises(InputError, match="not two of the variables"):
            scores.log_bayes_factor([0, 0], v, w)
    with pytest.raises(InputError, match="not among"):
        scores.score(4)
    assert repr(scores) == "MarginScores(2 records, 2 variables, precision=1)"


@pytest.mark.parametrize("n_records", [300, 21_000])
def test_precisions_that_share_their_counts_have_their_own_scores(n_records):
    rng = np.random.default_rng(5)
    # Rows are different, so that the larger file has more than are counted for each precision.
    table = np.column_stack(
        [np.arange(n_records) % 150, np.arange(n_records) // 150, rng.integers(0, 4, n_records)]
    )
    precisions = [1.0, 10.0, 200.0]
    masks = list(range(8))
    together = MarginScores.at_precisions(table, None, precisions)
    for scores, precision in zip(together, precisions, strict=True):
        alone = MarginScores(table, precision=precision)
        assert scores.precision == precision
        assert scores.scores(masks).tolist() == alone.scores(masks).tolist()
    counted = [int((table.margins.kept[0] != 0).any(axis=1).sum()) for table in together]
    assert counted == [7, 7, 7]


def test_a_large_file_is_counted_once_for_all_precisions():
    table = np.column_stack([np.arange(21_000) % 150, np.arange(21_000) // 150])
    first, second = MarginScores.at_precisions(table, None, [1.0, 10.0])
    first.score(0b11)
    kept = second.margins.kept[second.margins.chosen]
    assert (kept != 0).any()
    small, other = MarginScores.at_precisions(table[:100], None, [1.0, 10.0])
    small.score(0b11)
    assert not other.margins.kept[other.margins.chosen].any()


def test_one_wrong_precision_of_several_is_refused():
    with pytest.raises(InputError, match="precision"):
        MarginScores.at_precisions(np.zeros((2, 2), int), None, [1.0, -1.0])


@pytest.mark.parametrize("double", [False, True])
def test_changes_are_all_legal_ones_with_the_difference_of_scores(double):
    rng = np.random.default_rng(2)
    scores = MarginScores(rng.integers(0, 3, (60, 4)), [3] * 4)
    for graph in decomposable_graphs(4):
        rows = np.array(graph, np.uint64)
        edges, factors = scores.changes(rows, double=double)
        assert rows.tolist() == list(graph)
        found = {tuple(edge): factor for edge, factor in zip(edges.tolist(), factors, strict=True)}
        assert len(found) == len(edges)
        wanted = {}
        for v, w in permutations(range(4), 2):
            once = toggled(graph, v, w)
            if not is_decomposable(once):
                continue
            if v < w:
                wanted[v, w, -1] = once
            for u in range(4) if double else ():
                twice = toggled(once, v, u)
                if u not in (v, w) and is_decomposable(twice):
                    wanted[v, w, u] = twice
        assert set(found) == set(wanted)
        before = scores.log_marginal_likelihood(graph)
        for change, after in wanted.items():
            gain = scores.log_marginal_likelihood(after) - before
            assert found[change] == pytest.approx(gain, abs=1e-9)


def toggled(graph, v, w):
    rows = list(graph)
    rows[v] ^= 1 << w
    rows[w] ^= 1 << v
    return tuple(rows)


def test_many_models_at_once_have_the_scores_of_each():
    scores = MarginScores(np.random.default_rng(3).integers(0, 2, (40, 4)), [2] * 4)
    graphs = np.array(list(decomposable_graphs(4)), np.uint64)
    each = [scores.log_marginal_likelihood(graph) for graph in graphs]
    assert scores.of_graphs(graphs).tolist() == each
    # A cycle of four without a chord has no score, nor have those that come after it.
    cycle = np.array([[0b1010, 0b0101, 0b1010, 0b0101]], np.uint64)
    found = scores.of_graphs(np.concatenate([graphs[:2], cycle, graphs[:1]]))
    assert np.isnan(found).tolist() == [False, False, True, True]


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
