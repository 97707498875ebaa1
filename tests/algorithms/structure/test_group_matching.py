from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.structure.group_matching import match_groups
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases
from tests.twins.linking import best_rows

# Torra, tables 3 and 4, without the two rows that are printed twice.
TABLE_3 = """441133 124435 222262 421361 222242 421341 212232 421331 212252 411351 212242 312212
411311 312222 411331 312242 411321 411341 332262 431341 332242 431361 332272 433144"""
TABLE_4 = """141353 424455 223122 121221 121211 223112 121251 223172 121231 213132 213112 313132
313122 111231 313142 313162 111261 313112 111211 111241 111221 333122 132324"""
TABLE_5 = ["4231", "1234", "1324", "3124", "6451327", "12345"]
FREE_FIFTH = "2251322"
M_1 = [1, 2, 3, 4, 6, 5, 10, 7, 10, 14, 11, 16, 17, 15, 21, 18, 20, 19, 22, 19, 22, 21, 22, 23]


def table(text):
    return np.array([[int(digit) for digit in row] for row in text.split()])


def mappings(rows):
    return [{k + 1: int(digit) for k, digit in enumerate(row)} for row in rows]


def all_mappings(labels_a, labels_b, is_injective):
    """Yield every mapping of labels, to None where an injective one has no more partners."""
    if not is_injective:
        for values in product(labels_b, repeat=len(labels_a)):
            yield dict(zip(labels_a, values, strict=True))
        return
    padded = [*labels_b, *[None] * max(0, len(labels_a) - len(labels_b))]
    for values in set(permutations(padded, len(labels_a))):
        yield dict(zip(labels_a, values, strict=True))


def best_similarity_by_trial(rows_a, rows_b, injective, one_to_one):
    """Return the greatest similarity over all mappings and all matchings."""
    per_technique = [
        list(all_mappings(sorted(set(column_a)), sorted(set(column_b)), flag))
        for column_a, column_b, flag in zip(
            zip(*rows_a, strict=True), zip(*rows_b, strict=True), injective, strict=True
        )
    ]
    best = 0
    for chosen in product(*per_technique):
        scores = [
            [sum(f[x] == y for f, x, y in zip(chosen, row, other, strict=True)) for other in rows_b]
            for row in rows_a
        ]
        if not one_to_one:
            best = max(best, sum(max(row) for row in scores))
            continue
        wide = scores if len(scores) <= len(scores[0]) else list(zip(*scores, strict=True))
        best = max(
            best,
            *(
                sum(row[j] for row, j in zip(wide, choice, strict=True))
                for choice in permutations(range(len(wide[0])), len(wide))
            ),
        )
    return best


def similarity_of(rows_a, rows_b, found):
    """Return the similarity of a matching by its definition, checking that it is allowed."""
    total = 0
    for row, group in zip(rows_a, found.groups.tolist(), strict=True):
        if group >= 0:
            total += sum(
                f.get(int(x)) == int(y)
                for f, x, y in zip(found.mappings, row, rows_b[group], strict=True)
            )
    return total


@st.composite
def tiny_problems(draw):
    n_techniques = draw(st.integers(1, 3))
    label = st.integers(1, 3)
    row = st.lists(label, min_size=n_techniques, max_size=n_techniques)
    rows_a = draw(st.lists(row, min_size=1, max_size=5))
    rows_b = draw(st.lists(row, min_size=1, max_size=4))
    injective = draw(st.lists(st.booleans(), min_size=n_techniques, max_size=n_techniques))
    return rows_a, rows_b, injective, draw(st.booleans())


def matched(problem, **options):
    rows_a, rows_b, injective, one_to_one = problem
    return match_groups(
        rows_a,
        rows_b,
        injective=injective,
        one_to_one=one_to_one,
        allow_degenerate=True,
        **options,
    )


@cases(30)
@given(tiny_problems())
def test_the_optimum_is_that_of_all_mappings_and_matchings(problem):
    rows_a, rows_b, injective, one_to_one = problem
    found = matched(problem, restarts=1, exact=True)
    assert found.is_optimal
    assert found.similarity == best_similarity_by_trial(*problem)
    assert similarity_of(rows_a, rows_b, found) == found.similarity
    assert found.by_technique.sum() == found.similarity
    for mapping, flag in zip(found.mappings, injective, strict=True):
        assert not flag or len(set(mapping.values())) == len(mapping)
    if one_to_one:
        linked = found.groups[found.groups >= 0].tolist()
        assert len(set(linked)) == len(linked) == min(len(rows_a), len(rows_b))


@cases(20)
@given(tiny_problems(), st.integers(0, 5))
def test_the_search_alone_stays_below_its_bound(problem, seed):
    rows_a, rows_b, _, _ = problem
    found = matched(problem, restarts=2, seed=seed, exact=False)
    assert found.similarity <= best_similarity_by_trial(*problem) <= found.upper_bound
    assert similarity_of(rows_a, rows_b, found) == found.similarity


def test_the_tables_of_the_paper():
    a, b = table(TABLE_3), table(TABLE_4)
    printed = mappings(TABLE_5)
    similarity, rows = best_rows(a, b, printed)
    assert similarity == 137
    assert all(group - 1 in best for group, best in zip(M_1, rows, strict=True))
    found = match_groups(a, b, restarts=4)
    assert (found.similarity, found.upper_bound) == (137, 137)
    for mapping in found.mappings:
        assert sorted(mapping) == sorted(mapping.values())


def test_the_tables_of_the_paper_with_a_free_mapping():
    a, b = table(TABLE_3), table(TABLE_4)
    printed = mappings([*TABLE_5[:4], FREE_FIFTH, TABLE_5[5]])
    assert best_rows(a, b, printed)[0] == 138
    found = match_groups(a, b, injective=[True, True, True, True, False, True], restarts=4)
    assert (found.similarity, found.upper_bound) == (139, 139)


@pytest.mark.parametrize("seed", range(5))
def test_the_search_alone_is_as_good_as_the_paper_from_any_seed(seed):
    found = match_groups(table(TABLE_3), table(TABLE_4), seed=seed, restarts=12, exact=False)
    assert found.similarity == 137
    assert found.upper_bound == 144
    assert not found.is_optimal


def test_a_limited_search_states_a_bound_that_holds():
    from gamekeeper.algorithms.structure.kernels import branch

    a, b = table(TABLE_3) - 1, table(TABLE_4) - 1
    numbers = a.max(axis=0) + 1, b.max(axis=0) + 1
    free = np.zeros(6, np.bool_)
    bounds = []
    for most_nodes in (1, 20, 200):
        best, _, upper, n_nodes = branch(a, b, *numbers, free, False, 0, most_nodes)
        assert n_nodes == most_nodes
        assert best <= 137 <= upper <= 144
        bounds.append(upper)
    assert bounds == sorted(bounds, reverse=True)


def noisy_copy(seed, n_rows, n_labels, share_wrong):
    rng = np.random.default_rng(seed)
    a = np.unique(rng.integers(0, n_labels, size=(n_rows, 6)), axis=0)
    names = [rng.permutation(n_labels) for _ in range(6)]
    b = np.stack([names[t][a[:, t]] for t in range(6)], axis=1)
    b = np.where(rng.random(b.shape) < share_wrong, rng.integers(0, n_labels, b.shape), b)
    order = rng.permutation(len(b))
    return a, b[order], np.argsort(order), names


@pytest.mark.slow
def test_renamed_and_shuffled_labels_are_found_again():
    a, b, truth, names = noisy_copy(3, 300, 8, 0.15)
    found = match_groups(a, b, one_to_one=True, restarts=6, exact=False)
    for mapping, permuted in zip(found.mappings, names, strict=True):
        assert mapping == dict(enumerate(permuted.tolist()))
    assert (found.groups == truth).mean() > 0.9
    again = match_groups(a, b, one_to_one=True, restarts=6, exact=False)
    assert np.array_equal(found.groups, again.groups)


def test_sizes_decide_between_mappings_that_are_equally_good():
    rows = [[0, 0], [1, 1], [2, 2]]
    found = match_groups(rows, rows, sizes=([5, 70, 20], [22, 6, 69]))
    assert found.groups.tolist() == [1, 2, 0]
    assert found.similarity == 6


def test_the_degenerate_case_is_refused_unless_it_is_wanted():
    a, b = table(TABLE_3), table(TABLE_4)
    with pytest.raises(InputError, match="says nothing") as error:
        match_groups(a, b, injective=False)
    assert error.value.reason == Reason.BAD_OPTION
    assert match_groups(a, b, injective=False, allow_degenerate=True, restarts=2).similarity == 144
    assert match_groups(a, b, injective=False, one_to_one=True, restarts=2).upper_bound < 144


def test_a_proof_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("gamekeeper.algorithms.structure.group_matching._MOST_BYTES_ASKED", 1000)
    with pytest.raises(LimitError, match="exact=True"):
        match_groups(table(TABLE_3), table(TABLE_4), exact=True, restarts=1)


def test_all_faults_are_reported_at_once():
    with pytest.raises(InputError) as error:
        match_groups([[0, 1]], [[0]], injective=[True], sizes=([-1], [1]), restarts=0, exact="no")
    assert [problem.where for problem in error.value.problems] == [
        "rows_a and rows_b",
        "injective",
        "sizes of A",
        "restarts",
        "exact",
    ]
    with pytest.raises(InputError) as error:
        match_groups([[0.5]], [])
    assert [problem.where for problem in error.value.problems] == ["rows_a", "rows_b"]
