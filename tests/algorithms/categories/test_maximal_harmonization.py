from __future__ import annotations

import json
import math
from collections import Counter
from itertools import accumulate, combinations, product
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import harmonization as two_sided_search
from gamekeeper.algorithms.categories import maximal_harmonization as module
from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph
from gamekeeper.algorithms.categories.maximal_harmonization import (
    MaximalHarmonizations,
    Row,
    largest_keys,
    possible_combinations,
)
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Arbitrary,
    Partition,
    harmonize,
    is_finer,
)
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases
from tests.given.categorizations import categorizations, disjoint_pairs, partitions, ring_and_pairs
from tests.twins import partitions as twins

GOLDEN = Path(__file__).parents[2] / "reference" / "golden"


def by_combinations(target, forms, needed):
    """Return the maximal harmonizations over all choices of forms, as defined."""
    outcomes = {
        twins.joined(map(twins.blocks_of, (target, *chosen)))
        for chosen in combinations(forms, needed)
    }
    largest = max(map(twins.size_of, outcomes), default=0)
    return largest, {blocks for blocks in outcomes if twins.size_of(blocks) == largest}


@st.composite
def tasks(draw):
    n_sinks = draw(st.integers(1, 7))
    offered = draw(st.lists(categorizations(n_sinks), min_size=1, max_size=5))
    forms = draw(st.lists(st.sampled_from(offered), max_size=6))
    return draw(categorizations(n_sinks)), forms


@st.composite
def loosely_linked_tasks(draw):
    """Forms that each merge few of many sinks, so that there are several independent parts."""
    n_sinks = draw(st.integers(4, 14))
    merges = st.lists(st.integers(0, n_sinks - 2), min_size=1, max_size=2)

    def merged(pairs):
        labels = list(range(n_sinks))
        for number in pairs:
            labels[number + 1] = labels[number]
        return Partition.from_labels(labels)

    forms = draw(st.lists(merges.map(merged), min_size=1, max_size=6))
    target = draw(st.one_of(st.just(ARBITRARY), partitions(n_sinks), merges.map(merged)))
    return target, forms


@pytest.fixture(params=["whole", "parts", "search"])
def way(request, monkeypatch):
    """Solve with the whole graph, or through the independent parts: by graphs or by search."""
    if request.param != "whole":
        monkeypatch.setattr(module, "_WHOLE_BELOW", 0)
    if request.param == "search":
        monkeypatch.setattr(module, "_SEARCHED_ABOVE", 0)
    return request.param


def check(task):
    target, forms = task
    answers = MaximalHarmonizations(target, Counter(forms))
    assert answers.unknown() == ()
    for needed in range(1, len(forms) + 1):
        largest, expected = by_combinations(target, forms, needed)
        assert answers.is_known(needed)
        assert answers.is_complete(needed)
        assert answers.size(needed) == largest
        found = answers.maximal(needed)
        assert {twins.blocks_of(p) for p in found} == expected
        assert len(found) == len(expected)
    assert answers.sizes() == tuple(answers.size(n) for n in range(1, len(forms) + 1))
    assert answers.size(len(forms) + 1) == 0
    assert answers.maximal(len(forms) + 1) == ()


class TestEveryWay:
    @given(task=tasks())
    @settings(suppress_health_check=["function_scoped_fixture"])
    def test_answers_are_those_of_all_combinations_of_forms(self, way, task):
        check(task)

    @given(task=loosely_linked_tasks())
    @settings(suppress_health_check=["function_scoped_fixture"])
    def test_loosely_linked_forms_too(self, way, task):
        check(task)

    def test_figure_11_for_every_threshold(self, way):
        facts = json.loads((GOLDEN / "keys_age_figure11.json").read_text())
        (case,) = facts["cases"]
        cuts = {code: set(points) for code, points in case["input"]["cut_points"].items()}
        every = sorted(set().union(*cuts.values()))
        means: dict[str, Partition | Arbitrary] = {
            code: Partition.from_labels([sum(cut <= low for cut in own) for low in [0, *every]])
            for code, own in cuts.items()
        }
        means["C0.001"] = ARBITRARY
        assert len(every) + 1 == case["expected"]["n_sinks_of_common_refinement"]
        for joined, code in case["expected"]["harmonizations"].items():
            means[code] = harmonize(means[part] for part in joined.split("+"))
        counts = {means[c]: n for c, n in case["input"]["form_counts"].items()}
        n_seen = 0
        for target, rows in case["expected"]["analysis_with_target"].items():
            answers = MaximalHarmonizations(means[target], counts)
            for row in rows:
                for needed in range(row["N_from"], row["N_to"] + 1):
                    assert answers.maximal(needed) == (means[row["output"]],)
                    n_seen += 1
        assert n_seen == 5 * sum(case["input"]["form_counts"].values()) == 520


@given(task=tasks())
def test_sizes_do_not_grow_with_the_threshold(task):
    target, forms = task
    sizes = MaximalHarmonizations(target, Counter(forms)).sizes()
    assert list(sizes) == sorted(sizes, reverse=True)
    assert len(sizes) == len(forms)


@given(tasks(), st.randoms(use_true_random=False))
def test_answers_do_not_depend_on_the_order_of_forms_or_the_names_of_sinks(task, random):
    target, forms = task
    n_sinks = next((c.n_sinks for c in (target, *forms) if isinstance(c, Partition)), 1)
    places = list(range(n_sinks))
    random.shuffle(places)

    def moved(c):
        return c if isinstance(c, Arbitrary) else Partition.from_labels(c.labels[places])

    shuffled = [moved(form) for form in forms]
    random.shuffle(shuffled)
    before = MaximalHarmonizations(target, Counter(forms))
    after = MaximalHarmonizations(moved(target), Counter(shuffled))
    assert after.sizes() == before.sizes()
    for needed in range(1, len(forms) + 1):
        assert set(after.maximal(needed)) == set(map(moved, before.maximal(needed)))


@given(tasks())
def test_every_maximal_harmonization_is_a_candidate_of_the_graph(task):
    target, forms = task
    counts = Counter(forms)
    graph = HarmonizationGraph.of([*counts, target])
    in_order = [counts[graph.nodes[node]] for node in graph.observed]
    answers = MaximalHarmonizations(target, counts)
    for needed in range(1, len(forms) + 1):
        candidates = [graph.nodes[n] for n in graph.candidates(in_order, needed, target=target)]
        largest = max(twins.size_of(twins.blocks_of(c)) for c in candidates)
        best = {c for c in candidates if twins.size_of(twins.blocks_of(c)) == largest}
        assert set(answers.maximal(needed)) == best


@given(tasks(), st.integers(1, 3))
def test_the_first_few_are_some_of_all(task, most):
    target, forms = task
    answers = MaximalHarmonizations(target, Counter(forms))
    for needed in range(1, len(forms) + 1):
        every, few = answers.maximal(needed), answers.maximal(needed, most=most)
        assert set(few) <= set(every)
        assert len(few) == min(most, len(every))


def test_forty_independent_merges_are_exact_without_the_graph():
    # With k merges allowed, the best is to take the k categorizations with the most forms.
    forms = {pair: 3 * number % 17 + 1 for number, pair in enumerate(disjoint_pairs(40))}
    heaviest = sorted(forms.values(), reverse=True)
    target = Partition.finest(80)
    answers = MaximalHarmonizations(target, forms)
    for needed in range(1, sum(heaviest) + 1):
        merges = next(k for k in range(41) if sum(heaviest[:k]) >= needed)
        assert answers.size(needed) == 80 - merges
    for needed in (1, 100, sum(heaviest)):
        for found in answers.maximal(needed, most=3):
            matched = sum(count for c, count in forms.items() if is_finer(c, found))
            assert matched >= needed
            assert found.n_blocks == answers.size(needed)


@pytest.mark.slow
def test_more_parts_than_python_nests_calls():
    forms = dict.fromkeys(disjoint_pairs(1_200), 1)
    answers = MaximalHarmonizations(ARBITRARY, forms)
    assert answers.size(700) == 2_400 - 700
    (found,) = answers.maximal(700, most=1)
    assert sum(is_finer(c, found) for c in forms) == 700


def test_merges_on_a_common_cycle_are_one_part(monkeypatch):
    # Four merges around a square: any three make the fourth.
    monkeypatch.setattr(module, "_WHOLE_BELOW", 0)
    around = [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2], [0, 1, 2, 0]]
    answers = MaximalHarmonizations(ARBITRARY, {Partition.from_labels(c): 1 for c in around})
    assert answers.sizes() == (3, 2, 1, 1)
    assert len(answers.maximal(1)) == 4
    assert len(answers.maximal(2)) == 6


@st.composite
def tightly_linked_tasks(draw):
    """Forms that share merges, with and without cycles: few parts and many harmonizations."""
    n_sinks = draw(st.sampled_from([8, 7, 6]))
    cuts = st.lists(st.sampled_from([1, 1, 1, 0]), min_size=n_sinks - 1, max_size=n_sinks - 1)
    some = cuts.map(lambda steps: Partition.from_labels([0, *accumulate(steps)]))
    if draw(st.booleans()):
        some = st.one_of(some, partitions(n_sinks))
    forms = draw(st.lists(some, min_size=6, max_size=8, unique=draw(st.booleans())))
    return draw(st.sampled_from([ARBITRARY, Partition.finest(n_sinks), forms[0]])), forms


LIMITS = {
    "_WORK_PER_NODE": (0, 2_000),
    "_INTERSECTIONS_PER_NODE": (0, 100),
    "_ORDERS_PER_CATEGORIZATION": (0, 4),
}


@pytest.mark.slow
@given(st.one_of(tightly_linked_tasks(), loosely_linked_tasks()), st.integers(1, 9), st.data())
@cases(50)
def test_a_search_that_ends_early_claims_only_what_is_so(task, max_nodes, data):
    target, forms = task
    with pytest.MonkeyPatch.context() as patch:
        for name, values in LIMITS.items():
            patch.setattr(two_sided_search, name, data.draw(st.sampled_from(values), label=name))
        answers = MaximalHarmonizations(target, Counter(forms), max_nodes=max_nodes)
    for needed in range(1, len(forms) + 1):
        if not answers.is_known(needed):
            event("refused")
            assert 1 < needed < len(forms)
            with pytest.raises(LimitError, match=rf"for {needed} forms .*max_nodes"):
                answers.size(needed)
            continue
        largest, expected = by_combinations(target, forms, needed)
        assert answers.size(needed) == largest
        found = answers.maximal(needed)
        assert len(set(found)) == len(found) > 0
        listed = {twins.blocks_of(p) for p in found}
        assert listed == expected if answers.is_complete(needed) else listed <= expected
        event("complete" if answers.is_complete(needed) else "incomplete")
        event(f"really {'complete' if listed == expected else 'incomplete'}")
    unknown = answers.unknown()
    assert unknown == tuple(n for n in range(1, len(forms) + 1) if not answers.is_known(n))
    if unknown:
        with pytest.raises(LimitError, match=f"{unknown[0]}.* forms was asked for"):
            answers.sizes()
    else:
        assert answers.sizes() == tuple(answers.size(n) for n in range(1, len(forms) + 1))


@pytest.mark.parametrize("n", [20, 40])
def test_a_ring_of_merges_is_exact_at_every_threshold(n):
    # The graph would have 2^n - n - 1 nodes or more, in one part.
    answers = MaximalHarmonizations(ARBITRARY, dict.fromkeys(ring_and_pairs(n), 1), max_nodes=5_000)
    # Every form takes two categories, and the last one closes the ring.
    assert answers.sizes() == (*(3 * n - 2 * forms for forms in range(1, n)), n + 1)
    assert len(answers.maximal(1)) == n
    assert answers.is_complete(1)
    assert len(answers.maximal(n - 1)) == n
    assert answers.is_complete(n - 1)
    # In the middle there are more than can be listed, and some are.
    assert not answers.is_complete(n // 2)
    some = answers.maximal(n // 2, most=5)
    assert len(set(some)) == 5
    assert {p.n_blocks for p in some} == {2 * n}


def test_two_parts_that_are_both_too_large_add_up():
    n = 14
    ring = [p.labels.tolist() for p in ring_and_pairs(n)]
    alone = list(range(3 * n))
    first = [Partition.from_labels([*labels, *(3 * n + s for s in alone)]) for labels in ring]
    second = [Partition.from_labels([*alone, *(3 * n + s for s in labels)]) for labels in ring]
    both = MaximalHarmonizations(ARBITRARY, dict.fromkeys([*first, *second], 1), max_nodes=300)
    # It pays to close one ring: fourteen forms then take 27 categories, not 28.
    sizes = [2 * forms - (forms >= n) - (forms >= 2 * n) for forms in range(1, 2 * n + 1)]
    assert both.sizes() == tuple(6 * n - taken for taken in sizes)
    assert not both.is_complete(n - 1)
    assert len(both.maximal(n)) == 2
    assert both.is_complete(n)


def test_a_limit_lifted_makes_everything_known():
    circle = []
    n = 14
    for number in range(n):
        labels = list(range(n))
        labels[number] = labels[(number + 1) % n]
        circle.append(Partition.from_labels(labels))
    exact = MaximalHarmonizations(ARBITRARY, dict.fromkeys(circle, 1), max_nodes=20_000)
    assert exact.sizes() == (*range(n - 1, 0, -1), 1)
    assert all(exact.is_complete(needed) for needed in range(1, n + 1))


def test_arbitrary_precision_is_unbounded():
    coarse = Partition.from_labels([0, 0, 1])
    answers = MaximalHarmonizations(ARBITRARY, {ARBITRARY: 2, coarse: 1})
    assert answers.sizes() == (math.inf, math.inf, 2)
    assert answers.maximal(2) == (ARBITRARY,)
    assert answers.maximal(3) == (coarse,)
    bounded = MaximalHarmonizations(coarse, {ARBITRARY: 2})
    assert bounded.sizes() == (2, 2)
    assert bounded.maximal(1) == (coarse,)


def test_without_forms_there_is_nothing():
    for target in (ARBITRARY, Partition.finest(3)):
        answers = MaximalHarmonizations(target, {})
        assert answers.sizes() == ()
        assert answers.size(1) == 0
        assert answers.maximal(1) == ()
    none = MaximalHarmonizations(Partition.finest(2), {Partition.from_labels([0, 0]): 0})
    assert none.sizes() == ()


@pytest.mark.parametrize("target", [Partition.finest(3), ARBITRARY])
def test_different_sinks_are_refused(target):
    forms = {Partition.from_labels([0, 0, 1]): 1, Partition.from_labels([0, 0, 1, 1]): 1}
    with pytest.raises(InputError) as caught:
        MaximalHarmonizations(target, forms)
    assert caught.value.reason is Reason.DIFFERENT_SINKS


SINKS = 3
merged_sinks = st.lists(st.integers(0, 2), min_size=SINKS, max_size=SINKS).map(
    Partition.from_labels
)
rows = st.tuples(st.none() | merged_sinks, st.none() | merged_sinks)


def key_size(row: Row) -> tuple[int, int]:
    number = 1
    for cell in row:
        number *= cell.n_blocks if isinstance(cell, Partition) else 1
    return 0, number


def slow_sizes(target: Row, forms: list[Row]) -> list[int]:
    """For every number of forms, the largest key over all sets of so many forms."""
    best: list[int] = []
    for number in range(1, len(forms) + 1):
        sizes = [0]
        for some in combinations(forms, number):
            together = 1
            shared = 0
            for place, own in enumerate(target):
                cells = [row[place] for row in some]
                if own is not None and all(cell is not None for cell in cells):
                    node = harmonize([own, *(cell for cell in cells if cell is not None)])
                    assert isinstance(node, Partition)
                    together *= node.n_blocks
                    shared += 1
            sizes.append(together if shared else 0)
        best.append(max(sizes))
    return best


@given(st.tuples(merged_sinks, merged_sinks), st.lists(rows, min_size=1, max_size=5))
def test_largest_keys_are_what_the_definition_says(target: Row, forms: list[Row]) -> None:
    named = {f"form {number}": row for number, row in enumerate(forms)}
    keys, known = largest_keys(target, named, size=key_size, most=10_000)
    assert known == sum(any(cell is not None for cell in row) for row in forms)
    expected = slow_sizes(target, forms)
    for number, wanted in enumerate(expected, start=1):
        holding = [key for key in keys if len(key.forms) >= number]
        assert (holding[0].size[1] if holding else 0) == wanted
    assert [len(key.forms) for key in keys] == sorted({len(key.forms) for key in keys})


@given(st.lists(rows, min_size=1, max_size=5))
def test_a_limit_leaves_the_rest_unknown_and_the_first_right(forms: list[Row]) -> None:
    target = (Partition.finest(SINKS), Partition.finest(SINKS))
    named = {f"form {number}": row for number, row in enumerate(forms)}
    whole, _ = largest_keys(target, named, size=key_size, most=10_000)
    cut, known = largest_keys(target, named, size=key_size, most=1)
    assert cut == whole[: len(cut)]
    assert known >= max((len(key.forms) for key in cut), default=0)


sides = st.frozensets(st.integers(0, 2), max_size=3)


@given(st.lists(st.tuples(st.none() | sides, st.none() | sides), max_size=4))
def test_possible_combinations_are_counted_one_by_one(
    boxes: list[tuple[frozenset[int] | None, frozenset[int] | None]],
) -> None:
    def is_in(cell: tuple[int, ...], box: tuple[frozenset[int] | None, ...]) -> bool:
        return all(side is None or n in side for n, side in zip(cell, box, strict=True))

    cells = product(range(3), range(3))
    left = sum(not any(is_in(cell, box) for box in boxes) for cell in cells)
    assert possible_combinations([3, 3], boxes) == left
