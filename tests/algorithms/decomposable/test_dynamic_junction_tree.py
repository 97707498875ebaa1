from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable import graphs as plain
from gamekeeper.algorithms.decomposable.dynamic_junction_tree import DynamicJunctionTree
from gamekeeper.algorithms.decomposable.graphs import adjacency_of, edges_of, fill_in, moral_graph
from gamekeeper.errors import InputError, Reason
from tests.twins import chordal_graphs as twin
from tests.twins import legal_edges

NAMES = "ABDELSTX"
ORDERING = [NAMES.index(letter) for letter in "SXDBELTA"]
ARROWS = "AT SL SB TE LE EX ED BD"

# Figures 38, 40 and 41 of the thesis: label, members of the clique, label of the parent.
FIGURE_38 = "A:A- B:BELE D:DBEB E:ELTL L:LTT S:SBLB T:TAA X:XEE"
ROTATED = "A:A- B:BELL D:DBEB E:ETT L:LETE S:SBLB T:TAA X:XEE"
FIGURE_40 = "A:A- B:BELL D:DBEB E:EATT L:LETE S:SBLB T:TAA X:XEE"
FIGURE_41 = "A:A- B:BELL D:DBEB E:ETT L:LEE S:SBLB T:TAA X:XEE"


def number(letter):
    return NAMES.index(letter)


def drawn(figure):
    """Return a tree that is written as label:members-and-parent."""
    cliques, parents = [], []
    for label, (*held, parent) in (part.split(":") for part in figure.split()):
        assert NAMES[len(cliques)] == label
        cliques.append(sum(1 << number(letter) for letter in held))
        parents.append(None if parent == "-" else number(parent))
    return DynamicJunctionTree(cliques, parents)


def same(tree, other):
    return (tree.cliques, tree.parents) == (other.cliques, other.parents)


def asia():
    moral = moral_graph(8, [(number(a), number(b)) for a, b in ARROWS.split()])
    return DynamicJunctionTree.of_ordering(moral, ORDERING)


def toggle(tree, v, w):
    return (tree.delete_edge if tree.has_edge(v, w) else tree.add_edge)(v, w)


def is_sound(tree):
    """Check the properties by their words, in sets and without regard to directions."""
    n = tree.n_variables
    cliques, parents = twin.sets(tree.cliques), tree.parents
    joined = {(v, p) for v, p in enumerate(parents) if p is not None}
    graph = frozenset(edges_of(tree.graph()))
    for v in range(n):
        holding = {u for u in range(n) if v in cliques[u]}
        inner = [(a, b) for a, b in joined if a in holding and b in holding]
        # A forest of nodes and edges is connected if it has one edge fewer than nodes.
        assert len(inner) == len(holding) - 1
        assert parents[v] is None or v not in cliques[parents[v]]
        assert all((min(v, w), max(v, w)) in graph for w in cliques[v] - {v})
    assert all((min(v, p), max(v, p)) in graph for v, p in joined)
    steps = dict(joined)
    for v in range(n):
        for _ in range(n):
            v = steps.get(v, v)
        assert parents[v] is None
    assert tree.check() == []
    assert fill_in(tree.graph(), tree.ordering()) == []
    assert same(DynamicJunctionTree.of_ordering(tree.graph(), tree.ordering()), tree)


def powers(tree):
    return Counter(dict(zip(twin.sets(tree.margins()), tree.margins().values(), strict=True)))


def terms_are_the_difference_of_full_products(n, terms, before, after):
    change = Counter(twin.factors(n, after))
    change.subtract(twin.factors(n, before))
    found = Counter(twin.sets(terms.gained))
    found.subtract(twin.sets(terms.lost))
    assert {m: p for m, p in change.items() if p} == {m: p for m, p in found.items() if p}


def moves_agree(tree, v, w, *, keep=False):
    """Check everything about one pair; make the move if it is legal and return whether it is."""
    n, before = tree.n_variables, tree.graph()
    cliques, parents = tree.cliques, tree.parents
    graph = frozenset(edges_of(before))
    after = twin.toggled(graph, (min(v, w), max(v, w)))
    legal = twin.is_chordal(n, after)
    added = legal and len(after) > len(graph)
    deleted = legal and len(after) < len(graph)
    assert (tree.can_add(v, w), tree.can_delete(v, w)) == (added, deleted)
    foreseen = (tree.addition(v, w), tree.deletion(v, w))
    assert (tree.cliques, tree.parents) == (cliques, parents)
    if not added:
        assert foreseen[0] is None
        with pytest.raises(InputError) as refused:
            tree.add_edge(v, w)
        assert refused.value.reason is Reason.UNSAFE_EDIT
    if not deleted:
        assert foreseen[1] is None
        with pytest.raises(InputError) as refused:
            tree.delete_edge(v, w)
        assert refused.value.reason is Reason.UNSAFE_EDIT
    assert (tree.cliques, tree.parents) == (cliques, parents)
    if legal:
        moved = tree.copy() if keep else tree
        terms = toggle(moved, v, w)
        assert terms == foreseen[0 if added else 1]
        assert edges_of(moved.graph()) == sorted(after)
        is_sound(moved)
        terms_are_the_difference_of_full_products(n, terms, graph, after)
    if keep:
        assert (tree.cliques, tree.parents) == (cliques, parents)
    return legal


def test_the_asia_network_from_figure_33_to_figure_41():
    tree = asia()
    assert same(tree, drawn(FIGURE_38))
    is_sound(tree)
    must_stay = [e for e in edges_of(tree.graph()) if not tree.can_delete(*e)]
    assert [NAMES[v] + NAMES[w] for v, w in must_stay] == ["BE", "BL", "EL"]

    rotated = tree.copy()
    assert rotated.can_rotate_neutrally(number("E"))
    rotation = rotated.rotate(number("E"))
    assert rotation.is_neutral
    assert (rotation.beside_label, rotation.beside_parent) == (0, 0)
    assert rotation.beside_both == 1 << number("T")
    assert same(rotated, drawn(ROTATED))

    added = tree.copy()
    terms = added.add_edge(number("A"), number("E"))
    assert same(added, drawn(FIGURE_40))
    assert twin.sets(terms.gained) == [set(map(number, "AET")), set(map(number, "T"))]
    assert twin.sets(terms.lost) == [set(map(number, "AT")), set(map(number, "ET"))]

    deleted = tree.copy()
    deleted.delete_edge(number("L"), number("T"))
    assert same(deleted, drawn(FIGURE_41))
    assert same(tree, drawn(FIGURE_38))


def test_only_ex_has_a_choice_of_neighbours_among_the_junction_trees_of_asia():
    # The separator E of figure 37 between BDE and ELT is in no junction tree: D and T stay apart.
    tree = asia()
    x = number("X")
    assert [NAMES[v] for v in range(x) if tree.can_add(v, x)] == list("BDLT")
    assert not tree.can_add(number("D"), number("T"))


# 822 graphs of five variables; the 61 of four have every kind of move.
@pytest.mark.parametrize("n", [*range(1, 5), pytest.param(5, marks=pytest.mark.slow)])
def test_all_moves_of_all_graphs_of_up_to_five_variables(n):
    n_graphs = 0
    for adjacency in plain.decomposable_graphs(n):
        tree = DynamicJunctionTree.of_graph(adjacency)
        assert tree.graph() == adjacency
        is_sound(tree)
        for v, w in twin.all_pairs(n):
            moves_agree(tree, v, w, keep=True)
        n_graphs += 1
    assert n_graphs == [1, 2, 8, 61, 822][n - 1]


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 5))
def test_all_moves_of_all_trees_of_up_to_four_variables(n):
    for adjacency in plain.decomposable_graphs(n):
        seen = set()
        for ordering in permutations(range(n)):
            tree = DynamicJunctionTree.of_ordering(adjacency, ordering)
            if tree.graph() == adjacency and tree.parents not in seen:
                seen.add(tree.parents)
                for v, w in permutations(range(n), 2):
                    moves_agree(tree, v, w, keep=True)


@pytest.mark.parametrize("n", range(1, 5))
def test_neutral_rotations_connect_all_trees_of_a_graph(n):
    for adjacency in plain.decomposable_graphs(n):
        wanted = set()
        for ordering in permutations(range(n)):
            if not fill_in(adjacency, ordering):
                tree = DynamicJunctionTree.of_ordering(adjacency, ordering)
                wanted.add((tree.cliques, tree.parents))
        start = DynamicJunctionTree.of_graph(adjacency)
        reached = fresh = {(start.cliques, start.parents)}
        while fresh:
            following = set()
            for cliques, parents in fresh:
                for v in range(n):
                    tree = DynamicJunctionTree(cliques, parents)
                    if tree.can_rotate_neutrally(v):
                        tree.rotate_neutrally(v)
                        assert tree.graph() == adjacency
                        following.add((tree.cliques, tree.parents))
            fresh = following - reached
            reached = reached | fresh
        assert reached == wanted


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.integers(6, 12), st.integers(0, 10**6))
def test_random_walks(n, seed):
    rng = random.Random(seed)
    tree = DynamicJunctionTree.of_graph([0] * n)
    for _ in range(60):
        v, w = rng.sample(range(n), 2)
        # Few deletions, so that the graph grows.
        if not tree.has_edge(v, w) or rng.random() < 0.4:
            moves_agree(tree, v, w)
        if rng.random() < 0.2:
            before = tree.graph()
            tree.make_root(rng.randrange(n))
            assert tree.graph() == before
            is_sound(tree)
    adjacency = tree.graph()
    for v, w in twin.all_pairs(n):
        assert tree.can_add(v, w) == legal_edges.can_add(adjacency, v, w)
        assert tree.can_delete(v, w) == legal_edges.can_delete(adjacency, v, w)
        reached = DynamicJunctionTree.of_graph(adjacency).same_component(v, w)
        assert tree.same_component(v, w) == reached == (tree.root_of(v) == tree.root_of(w))
    wanted = Counter(twin.factors(n, frozenset(edges_of(adjacency))))
    del wanted[frozenset()]
    assert powers(tree) == wanted


@pytest.mark.slow
def test_a_long_walk_of_64_variables():
    rng = random.Random(5)
    tree = DynamicJunctionTree.of_graph(np.zeros(64, dtype=np.uint64))
    n_moves = 0
    for _ in range(4000):
        v, w = rng.sample(range(64), 2)
        terms = tree.addition(v, w) or tree.deletion(v, w)
        adjacency = tree.graph()
        assert (terms is not None) == (
            legal_edges.can_add(adjacency, v, w) or legal_edges.can_delete(adjacency, v, w)
        )
        if terms is not None:
            toggle(tree, v, w)
            edge = (min(v, w), max(v, w))
            assert set(edges_of(tree.graph())) == set(edges_of(adjacency)) ^ {edge}
            n_moves += 1
    is_sound(tree)
    assert plain.is_decomposable(tree.graph())
    assert n_moves > 500


@st.composite
def graphs_and_orderings(draw):
    n = draw(st.integers(2, 8))
    graph = draw(st.sets(st.sampled_from(twin.all_pairs(n))))
    return n, adjacency_of(n, graph), draw(st.permutations(range(n)))


def next_to_each_other(tree, ordering, v, w):
    """Return an ordering of the same tree in which w follows v."""
    above, label = {v}, w
    while label is not None:
        above.add(label)
        label = tree.parents[label]
    first = [u for u in ordering if u not in above]
    return [*first, v, w, *(u for u in ordering if u in above - {v, w})]


@given(graphs_and_orderings())
def test_a_rotation_swaps_two_neighbours_of_the_ordering(given_graph):
    _, adjacency, ordering = given_graph
    tree = DynamicJunctionTree.of_ordering(adjacency, ordering)
    is_sound(tree)
    for v, w in enumerate(tree.parents):
        if w is None:
            continue
        order = next_to_each_other(tree, ordering, v, w)
        assert same(DynamicJunctionTree.of_ordering(adjacency, order), tree)
        at = order.index(v)
        order[at : at + 2] = [w, v]
        turned = tree.copy()
        rotation = turned.rotate(v)
        wanted = DynamicJunctionTree.of_ordering(adjacency, order)
        assert same(turned, wanted)
        before, after = set(edges_of(tree.graph())), set(edges_of(wanted.graph()))
        assert set(rotation.edges_added) == after - before
        assert set(rotation.edges_removed) == before - after
        assert rotation.is_neutral == (before == after)
        # The first condition of neutrality alone says whether edges are added.
        assert (not rotation.edges_added) == tree.can_rotate_neutrally(v)
        turned.rotate(w)
        assert same(turned, tree)


@given(graphs_and_orderings(), st.lists(st.integers(0, 7), max_size=12))
def test_rotations_keep_to_the_trees_of_the_graph_they_began_with(given_graph, labels):
    n, adjacency, ordering = given_graph
    tree = DynamicJunctionTree.of_ordering(adjacency, ordering)
    for label in labels:
        if label < n and tree.parents[label] is not None:
            tree.rotate(label)
    assert same(DynamicJunctionTree.of_ordering(adjacency, tree.ordering()), tree)


@given(graphs_and_orderings(), st.data())
def test_any_clique_can_be_the_root_and_any_edge_a_tree_edge(given_graph, data):
    n, adjacency, ordering = given_graph
    tree = DynamicJunctionTree.of_ordering(adjacency, ordering)
    filled = tree.graph()
    v = data.draw(st.integers(0, n - 1))
    tree.make_root(v)
    assert tree.parents[v] is None
    assert tree.graph() == filled
    is_sound(tree)
    for w in twin.neighbours(frozenset(edges_of(filled)), v):
        # Raised above a root w that it is joined to, v has w as a child.
        other = tree.copy()
        other.make_root(w)
        other.make_root(v)
        assert other.parents[w] == v
        assert other.graph() == filled


@given(graphs_and_orderings(), st.data())
def test_moves_make_fill_ins_edges(given_graph, data):
    _, adjacency, ordering = given_graph
    tree = DynamicJunctionTree.of_ordering(adjacency, ordering)
    filled = tree.graph()
    legal = legal_edges.legal_additions(filled) + legal_edges.legal_deletions(filled)
    v, w = data.draw(st.sampled_from(legal))
    moved = tree.copy()
    toggle(moved, v, w)
    assert set(edges_of(moved.graph())) == set(edges_of(filled)) ^ {(v, w)}
    is_sound(moved)
    assert tree.graph() == filled
    for label, parent in enumerate(moved.parents):
        if parent is not None:
            assert not moved.copy().rotate(label).edges_removed


def test_a_component_is_attached_below_the_clique_labelled_by_the_other_end():
    # The clique labelled 1 holds 0 as well; hanging 2 below it would break the tree property.
    tree = DynamicJunctionTree.of_ordering(adjacency_of(3, [(0, 1)]), [1, 0, 2])
    tree.add_edge(2, 0)
    assert tree.parents[2] == 0
    is_sound(tree)


def test_a_clique_that_leaves_its_parent_goes_to_the_nearest_ancestor_among_its_members():
    tree = DynamicJunctionTree.of_ordering(
        adjacency_of(4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]), [0, 1, 2, 3]
    )
    assert tree.parents == (1, 2, 3, None)
    tree.delete_edge(0, 1)
    assert tree.parents == (2, 2, 3, None)
    tree.delete_edge(0, 2)
    tree.delete_edge(0, 3)
    assert tree.parents == (None, 2, 3, None)
    is_sound(tree)


def test_deleting_be_from_asia_would_leave_a_cycle_of_four():
    tree = asia()
    graph = twin.toggled(frozenset(edges_of(tree.graph())), (number("B"), number("E")))
    cycle = plain.chordless_cycle(adjacency_of(8, graph))
    assert {NAMES[v] for v in cycle} == set("BDEL")
    with pytest.raises(InputError, match="Without it a cycle has no chord"):
        tree.delete_edge(number("B"), number("E"))


def test_integers_of_numpy_do_not_overflow():
    rng = np.random.default_rng(1)
    path = np.array([[v, v + 1] for v in range(63)])
    tree = DynamicJunctionTree.of_ordering(adjacency_of(64, path), rng.permutation(64))
    is_sound(tree)
    v, w = np.array([63, 62])
    tree = DynamicJunctionTree.of_graph(adjacency_of(64, path))
    assert tree.deletion(v, w).lost == (3 << 62, 0)
    tree.delete_edge(v, w)
    tree.make_root(v)
    assert tree.add_edge(np.int64(0), v).gained == (1 << 63 | 1, 0)
    assert tree.root_of(v) == tree.root_of(w)
    is_sound(tree)


def test_small_trees():
    none = DynamicJunctionTree.of_graph([])
    assert (none.cliques, none.parents, none.graph(), none.ordering()) == ((), (), (), ())
    one = DynamicJunctionTree.of_graph([0])
    assert (one.root_of(0), one.margins()) == (0, {1: 1})
    assert repr(asia()) == "DynamicJunctionTree(8 variables, 11 edges, 1 component)"


@pytest.mark.parametrize(
    ("cliques", "parents", "found"),
    [
        ([0b01], [], "1 cliques and 0 parents"),
        ([0b10, 0b10], [None, None], "does not hold it"),
        ([0b11, 0b10], [None, None], "is a root"),
        ([0b01, 0b10], [None, 0], "label of its parent"),
        ([0b001, 0b010, 0b111], [None, None, 0], "others than its parent's"),
        ([0b11, 0b11], [1, 0], "no root"),
        ([0b11, 0b10], [2, None], "there is not"),
        ([0b101, 0b10], [1, None], "there is not"),
    ],
)
def test_what_is_no_dynamic_junction_tree_is_refused(cliques, parents, found):
    with pytest.raises(InputError, match=found) as refused:
        DynamicJunctionTree(cliques, parents)
    assert refused.value.reason is Reason.MALFORMED


def test_what_cannot_be_asked_is_refused():
    tree = DynamicJunctionTree.of_graph(adjacency_of(4, [(0, 1), (1, 2)]))
    root = tree.root_of(0)
    for ask in (tree.rotate, tree.rotate_neutrally):
        with pytest.raises(InputError, match="root"):
            ask(root)
    for ask in (tree.rotate, tree.make_root, tree.root_of, tree.can_rotate_neutrally):
        with pytest.raises(InputError, match="no variable 4"):
            ask(4)
    for ask in (tree.add_edge, tree.can_delete, tree.has_edge, tree.same_component):
        with pytest.raises(InputError, match="one variable"):
            ask(1, 1)
    with pytest.raises(InputError, match="It is there already"):
        tree.add_edge(0, 1)
    with pytest.raises(InputError, match="There is no such edge"):
        tree.delete_edge(0, 2)
    chain = DynamicJunctionTree.of_ordering(adjacency_of(3, [(0, 1), (1, 2)]), [0, 1, 2])
    with pytest.raises(InputError, match="1 member too few"):
        chain.rotate_neutrally(0)
    with pytest.raises(InputError, match="has no chord"):
        DynamicJunctionTree.of_graph([0b1010, 0b0101, 0b1010, 0b0101])
