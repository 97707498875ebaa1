from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.graph_property import (
    SinkSets,
    Violation,
    ViolationKind,
    bits,
    find_violations,
    topological_order,
)
from tests.given.categorizations import digraphs, partition_graph_children
from tests.twins import partitions as twins


def has_cycle(children):
    """Tell whether some walk is longer than there are nodes."""
    walks = [[node] for node in children]
    for _ in children:
        walks = [[walk[0], child] for walk in walks for child in children[walk[-1]]]
        walks = [list(walk) for walk in {tuple(walk) for walk in walks}]
    return bool(walks)


def count_paths(children, start, end):
    return (start == end) + sum(count_paths(children, child, end) for child in children[start])


def has_property(children):
    if has_cycle(children):
        return False
    sinks = [node for node in children if not children[node]]
    return all(count_paths(children, node, sink) <= 1 for node in children for sink in sinks)


@pytest.mark.parametrize("loops", [False, True], ids=["4 nodes", "3 nodes with loops"])
def test_the_check_agrees_with_counting_paths_on_all_small_graphs(loops):
    nodes = "abc" if loops else "abcd"
    edges = [(a, b) for a, b in product(nodes, nodes) if loops or a != b]
    n_valid = 0
    for chosen in product((False, True), repeat=len(edges)):
        children = {node: [] for node in nodes}
        for (parent, child), is_there in zip(edges, chosen, strict=True):
            if is_there:
                children[parent].append(child)
        valid = has_property(children)
        assert (not find_violations(children)) == valid, children
        n_valid += valid
    assert 0 < n_valid < 2 ** len(edges)


@given(digraphs())
def test_the_check_agrees_with_counting_paths(children):
    assert (not find_violations(children)) == has_property(children)


@given(digraphs())
def test_cycles_are_named_until_none_is_left(children):
    cycles = [v.categories for v in find_violations(children) if v.kind is ViolationKind.CYCLE]
    assert bool(cycles) == has_cycle(children)
    for cycle in cycles:
        for node, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            assert following in children[node]
    named = [node for cycle in cycles for node in cycle]
    assert len(named) == len(set(named))
    rest = {n: [c for c in below if c not in named] for n, below in children.items()}
    assert not has_cycle({n: below for n, below in rest.items() if n not in named})


@given(digraphs().filter(lambda children: not has_cycle(children)))
def test_every_two_children_that_share_sinks_are_named(children):
    expected = {
        (parent, pair): shared
        for parent, below in children.items()
        for pair in combinations(sorted(below), 2)
        if (shared := twins.reach_of(children, pair[0]) & twins.reach_of(children, pair[1]))
    }
    found = {(v.parent, v.categories): frozenset(v.shared) for v in find_violations(children)}
    assert found == expected


@given(partition_graph_children())
def test_partition_graphs_have_no_violation(children):
    assert find_violations(children) == ()


@given(digraphs())
def test_parents_come_before_children(children):
    order = topological_order(children)
    if order is None:
        assert has_cycle(children)
    else:
        places = {node: place for place, node in enumerate(order)}
        assert sorted(order) == sorted(children)
        assert all(places[a] < places[b] for a, below in children.items() for b in below)


@given(digraphs().filter(lambda children: not has_cycle(children)))
def test_sink_sets_are_the_sinks_found_by_recursion(children):
    sinks = [node for node in children if not children[node]]
    order = topological_order(children)
    assert order is not None
    sets = SinkSets(children, order, sinks)
    for node in children:
        reached = twins.reach_of(children, node)
        assert {sinks[number] for number in bits(sets[node])} == reached
        assert sets.size(node) == len(reached)


@given(st.integers(0, 2**200))
def test_bits_are_those_of_the_binary_number(mask):
    assert bits(mask) == [n for n, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


@st.composite
def graphs_with_extensions(draw):
    children = draw(partition_graph_children())
    extensions = {
        name: draw(st.frozensets(st.sampled_from("pqrst"), max_size=3)) for name in children
    }
    return children, extensions, draw(st.frozensets(st.sampled_from("pqrst"), max_size=5))


@given(graphs_with_extensions())
def test_extensions_are_checked_by_their_definitions(case):
    children, sets, space = case
    sinks = [node for node in children if not children[node]]
    expected = set()
    if any(not members for members in sets.values()):
        expected.add(ViolationKind.EMPTY_NODE)
    for parent, below in children.items():
        if any(sets[a] & sets[b] for a, b in combinations(below, 2)):
            expected.add(ViolationKind.CHILDREN_OVERLAP)
        if below and frozenset().union(*(sets[child] for child in below)) != sets[parent]:
            expected.add(ViolationKind.CHILDREN_DO_NOT_MAKE_PARENT)
    if any(sets[a] & sets[b] for a, b in combinations(sinks, 2)):
        expected.add(ViolationKind.SINKS_OVERLAP)
    if space - frozenset().union(*(sets[sink] for sink in sinks)):
        expected.add(ViolationKind.SINKS_NOT_EXHAUSTIVE)
    found = find_violations(children, extensions=sets, sample_space=space)
    assert {violation.kind for violation in found} == expected
    assert len(set(found)) == len(found)


def test_what_is_wrong_in_two_ways_is_named_once():
    children = {"top": ["a", "b"], "a": ["x", "y"], "b": ["y"], "x": [], "y": []}
    sets = {"top": "12", "a": "12", "b": "2", "x": "1", "y": "2"}
    (found,) = find_violations(children, extensions=sets)
    assert found == Violation(ViolationKind.CHILDREN_OVERLAP, "top", ("a", "b"), ("2",))


def test_without_a_sample_space_all_known_elements_must_be_covered():
    children = {"Britain": ["England", "Scotland"], "England": [], "Scotland": []}
    sets = {"Britain": "esw", "England": "e", "Scotland": "s"}
    found = find_violations(children, extensions=sets)
    assert [v.kind for v in found] == [
        ViolationKind.CHILDREN_DO_NOT_MAKE_PARENT,
        ViolationKind.SINKS_NOT_EXHAUSTIVE,
    ]
    assert found[0].lacking == found[1].lacking == ("w",)


@pytest.mark.parametrize(
    ("violation", "words"),
    [
        (
            Violation(ViolationKind.CYCLE, categories=("a", "b")),
            "the cycle a → b → a: a category cannot be part of itself",
        ),
        (
            Violation(ViolationKind.CYCLE, categories=tuple(map(str, range(1000)))),
            "10 → 11 → (988 more) → 0",
        ),
        (
            Violation(ViolationKind.CHILDREN_OVERLAP, "UK", ("GB", "Wales"), ("Wales",)),
            "the children 'GB', 'Wales' of 'UK' share 'Wales'",
        ),
        (
            Violation(ViolationKind.CHILDREN_DO_NOT_MAKE_PARENT, "UK", lacking=("NI",)),
            "the children of 'UK' do not make it up: they differ from it in 'NI'",
        ),
        (Violation(ViolationKind.EMPTY_NODE, categories=("x",)), "the category 'x' is empty"),
        (
            Violation(ViolationKind.SINKS_OVERLAP, categories=("x", "y"), shared=("1",)),
            "the finest categories 'x', 'y' share '1'",
        ),
        (
            Violation(ViolationKind.SINKS_NOT_EXHAUSTIVE, lacking=("1", "2")),
            "the finest categories leave out '1', '2' (2 elements)",
        ),
    ],
)
def test_every_violation_speaks(violation, words):
    assert words in str(violation)


def test_long_cycles_and_deep_chains_need_no_deep_recursion():
    nodes = [f"n{number:05}" for number in range(20_000)]
    chain = {a: [b] for a, b in zip(nodes, [*nodes[1:], "end"], strict=True)} | {"end": []}
    assert find_violations(chain) == ()
    # A chain into a cycle and a chain out of it are not part of it.
    (found,) = find_violations({**chain, nodes[10_000]: [nodes[9_998], nodes[10_001]]})
    assert found.categories == tuple(nodes[9_998:10_001])
    (found,) = find_violations({**chain, "end": [nodes[0]]})
    assert set(found.categories) == {*nodes, "end"}


def test_one_overlap_among_very_many_children_is_found():
    # A slip of the pen in a geography: comparing every two children would take minutes.
    places = [f"p{number}" for number in range(30_000)]
    children = {place: [] for place in places}
    children |= {"region": places[:2], "country": [*places, "region"]}
    found = find_violations(children)
    assert {v.categories for v in found} == {("p0", "region"), ("p1", "region")}
    assert all(v.parent == "country" and v.shared == v.categories[:1] for v in found)


def test_with_extensions_known_only_they_count():
    children = {"p": ["a", "b"], "a": ["s", "t"], "b": ["s", "u"], "s": [], "t": [], "u": []}
    extensions = {"p": "12", "a": "1", "t": "1", "b": "2", "u": "2", "s": ""}
    (found,) = find_violations(children, extensions=extensions)
    assert (found.kind, found.categories) == (ViolationKind.EMPTY_NODE, ("s",))


def test_every_two_sinks_that_share_an_element_are_named():
    found = find_violations({"a": [], "b": [], "c": []}, extensions={"a": "x", "b": "x", "c": "x"})
    assert [each.categories for each in found] == [("a", "b"), ("a", "c"), ("b", "c")]
