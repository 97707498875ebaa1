from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import partitions as module
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Partition,
    SinkSets,
    SizeCurve,
    Violation,
    ViolationKind,
    bits,
    effective_categories,
    find_violations,
    harmonize,
    is_finer,
    is_null,
    join,
    meet,
    parse_prevalence,
    threshold,
    topological_order,
)
from gamekeeper.errors import InputError, Reason
from tests.given.categorizations import (
    categorizations,
    digraphs,
    lists_of_categorizations,
    lists_of_partitions,
    partition_graph_children,
)
from tests.twins import partitions as twins

pairs = lists_of_categorizations(least=2, most=2)
triples = lists_of_categorizations(least=3, most=3)


@given(lists_of_categorizations())
def test_harmonization_is_repeated_merging_of_blocks(given_ones):
    expected = twins.joined(map(twins.blocks_of, given_ones))
    assert twins.blocks_of(harmonize(given_ones)) == expected


@given(pairs)
def test_refinement_is_containment_of_blocks(pair):
    a, b = pair
    assert is_finer(a, b) == twins.refines(twins.blocks_of(a), twins.blocks_of(b))


@given(lists_of_partitions(least=2, most=2))
def test_meet_is_all_overlaps_of_blocks(pair):
    a, b = map(twins.blocks_of, pair)
    overlaps = frozenset(x & y for x in a for y in b if x & y)
    assert twins.blocks_of(meet(*pair)) == overlaps


@given(lists_of_partitions(least=2, most=2, most_sinks=5))
def test_join_is_the_least_upper_bound_and_meet_the_greatest_lower(pair):
    a, b = map(twins.blocks_of, pair)
    every = twins.all_partitions(pair[0].n_sinks)
    above = [p for p in every if twins.refines(a, p) and twins.refines(b, p)]
    below = [p for p in every if twins.refines(p, a) and twins.refines(p, b)]
    upper, lower = twins.blocks_of(join(*pair)), twins.blocks_of(meet(*pair))
    assert upper in above
    assert all(twins.refines(upper, p) for p in above)
    assert lower in below
    assert all(twins.refines(p, lower) for p in below)


@given(triples)
def test_lattice_laws(triple):
    a, b, c = triple
    assert join(a, a) == a == meet(a, a)
    assert join(a, b) == join(b, a)
    assert meet(a, b) == meet(b, a)
    assert join(join(a, b), c) == join(a, join(b, c))
    assert meet(meet(a, b), c) == meet(a, meet(b, c))
    assert join(a, meet(a, b)) == a == meet(a, join(a, b))
    assert is_finer(a, b) == (join(a, b) == b) == (meet(a, b) == a)


@given(triples)
def test_refinement_is_a_partial_order(triple):
    a, b, c = triple
    assert is_finer(a, a)
    assert not (is_finer(a, b) and is_finer(b, a)) or a == b
    assert not (is_finer(a, b) and is_finer(b, c)) or is_finer(a, c)


@given(categorizations(5))
def test_arbitrary_precision_is_finer_than_all(c):
    assert is_finer(ARBITRARY, c)
    assert join(ARBITRARY, c) == join(c, ARBITRARY) == c
    assert meet(ARBITRARY, c) == meet(c, ARBITRARY) == ARBITRARY
    assert is_finer(c, ARBITRARY) == (c is ARBITRARY)


@given(lists_of_partitions(least=2, most=4), st.randoms(use_true_random=False))
def test_relabelling_the_sinks_relabels_the_result(given_ones, random):
    places = list(range(given_ones[0].n_sinks))
    random.shuffle(places)

    def moved(partition):
        return Partition.from_labels(partition.labels[places])

    assert moved(harmonize(given_ones)) == harmonize(map(moved, given_ones))
    assert moved(meet(*given_ones[:2])) == meet(*map(moved, given_ones[:2]))


@given(lists_of_categorizations(least=2), st.randoms(use_true_random=False))
def test_harmonization_does_not_depend_on_order_or_repetition(given_ones, random):
    shuffled = [*given_ones, random.choice(given_ones)]
    random.shuffle(shuffled)
    assert harmonize(shuffled) == harmonize(given_ones)


@given(pairs)
def test_effective_categories_are_counted_over_overlapping_pairs(pair):
    a, b = pair
    found = effective_categories(a, b)
    assert found == effective_categories(b, a)
    if a is ARBITRARY or b is ARBITRARY:
        other = b if a is ARBITRARY else a
        assert found == (ARBITRARY if other is ARBITRARY else other.n_blocks)
    else:
        x, y = twins.blocks_of(a), twins.blocks_of(b)
        overlapping = sum(bool(block & other) for block in x for other in y)
        assert found == Fraction(len(x) * len(y), overlapping)


@given(lists_of_partitions(least=2, most=2))
def test_effective_categories_are_the_harmonization_size_under_refinement(pair):
    a, coarser = pair[0], join(*pair)
    assert effective_categories(a, coarser) == coarser.n_blocks == join(a, coarser).n_blocks


def test_effective_categories_show_what_harmonization_hides():
    years = np.arange(100)
    by_five, shifted = Partition.from_labels(years // 5), Partition.from_labels((years + 2) // 5)
    assert join(by_five, shifted).n_blocks == 1
    assert effective_categories(by_five, shifted) == Fraction(20 * 21, 40)


@given(lists_of_partitions(most=1))
def test_all_ways_to_build_a_partition_agree(given_ones):
    (partition,) = given_ones
    n = partition.n_sinks
    assert Partition.from_blocks(partition.blocks(), n) == partition
    assert Partition.from_blocks(reversed([b[::-1] for b in partition.blocks()]), n) == partition
    assert Partition.from_labels(partition.dense() * -7) == partition
    assert hash(Partition.from_labels(partition.labels)) == hash(partition)
    assert partition.n_blocks == len(partition.blocks()) == partition.dense().max() + 1
    assert [min(block) for block in partition.blocks()] == sorted(set(partition.labels.tolist()))
    assert partition.labels.tolist() == [
        next(min(block) for block in partition.blocks() if sink in block) for sink in range(n)
    ]


def test_a_partition_is_a_value():
    partition = Partition.from_labels([0, 0, 1])
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1
    assert partition != "something else"
    assert partition != Partition.from_labels([0, 0, 1, 1])
    assert repr(partition) == "Partition(2 blocks of 3 sinks)"
    assert repr(ARBITRARY) == "ARBITRARY"
    assert Partition.finest(3).n_blocks == 3
    assert Partition.finest(0).blocks() == []


@pytest.mark.parametrize("loop_below", [0, 1_000_000], ids=["rounds", "loop"])
@given(lists_of_partitions(least=2, most=2, most_sinks=12))
@example([Partition.from_labels([0, 1, 1, 2, 2, 3]), Partition.from_labels([0, 0, 1, 1, 2, 2])])
def test_both_ways_to_unite_give_the_join(loop_below, pair):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LOOP_BELOW", loop_below)
        result = join(*pair)
    assert twins.blocks_of(result) == twins.joined(map(twins.blocks_of, pair))
    assert result.n_blocks == len(twins.blocks_of(result))


@pytest.mark.parametrize("n_links", [127, 128, 129])
def test_the_change_from_one_way_to_the_other_is_seamless(n_links):
    # n links: the pairs (0 1) (2 3) .. against (1 2) (3 4) .. make one long chain.
    sinks = np.arange(2 * n_links + 1)
    even, odd = Partition.from_labels(sinks // 2), Partition.from_labels((sinks + 1) // 2)
    assert join(even, odd).n_blocks == 1
    assert join(odd, even) == join(even, odd)


@pytest.mark.parametrize("n_blocks", [200, 20_000, 45_000])
def test_fifty_thousand_sinks_join_as_in_a_loop(n_blocks):
    rng = np.random.default_rng(1)
    a, b = (Partition.from_labels(rng.integers(0, n_blocks, 50_000)) for _ in range(2))
    result = join(a, b)
    parent = list(range(50_000))

    def root_of(sink):
        while parent[sink] != sink:
            parent[sink] = parent[parent[sink]]
            sink = parent[sink]
        return sink

    for labels in (a.labels.tolist(), b.labels.tolist()):
        for sink, label in enumerate(labels):
            low, high = sorted((root_of(sink), root_of(label)))
            parent[high] = low
    roots = [root_of(sink) for sink in range(50_000)]
    assert result.labels.tolist() == roots
    assert result.n_blocks == len(set(roots))


def test_residence_in_figures_7_to_9():
    # England, Northern Ireland, Scotland, Wales, non UK
    britain = Partition.from_blocks([[0, 2, 3], [1], [4]], 5)
    uk = Partition.from_blocks([[0, 1, 2, 3], [4]], 5)
    assert is_finer(britain, uk)
    assert join(britain, uk) == uk
    assert meet(britain, uk) == britain


def test_incomparable_residences_of_the_definition():
    # England, non UK, Northern Ireland, Scotland, Wales
    one = Partition.from_blocks([[0], [1, 2], [3], [4]], 5)
    other = Partition.from_blocks([[0, 4], [1], [2], [3]], 5)
    assert not is_finer(one, other)
    assert not is_finer(other, one)
    assert join(one, other) == Partition.from_blocks([[0, 4], [1, 2], [3]], 5)


def test_nothing_to_harmonize_is_refused():
    with pytest.raises(InputError) as caught:
        harmonize([])
    assert caught.value.reason is Reason.NOTHING_GIVEN


@pytest.mark.parametrize("operation", [join, meet, is_finer, effective_categories])
def test_different_sinks_are_refused(operation):
    with pytest.raises(InputError) as caught:
        operation(Partition.finest(3), Partition.finest(4))
    assert caught.value.reason is Reason.DIFFERENT_SINKS
    assert "3 sinks, the other 4" in str(caught.value)


@pytest.mark.parametrize(
    "blocks",
    [[[0, 1]], [[0, 1], [1, 2]], [[0, 1, 2], [2]], [[0], [1], [7]], [[0, 1], [-1]], [[0, 0, 1]]],
    ids=["missing", "twice", "too many", "unknown", "negative", "repeated"],
)
def test_blocks_that_are_no_partition_are_refused(blocks):
    with pytest.raises(InputError) as caught:
        Partition.from_blocks(blocks, 3)
    assert caught.value.reason is Reason.NOT_A_CATEGORIZATION


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


SHARES = sorted({Fraction(k, n) for n in range(1, 13) for k in range(n + 1)})


@st.composite
def curves(draw):
    n_forms = draw(st.integers(1, 9))
    sizes = draw(st.lists(st.integers(1, 5) | st.just(math.inf), max_size=n_forms))
    return SizeCurve(n_forms, tuple(sorted(sizes, reverse=True)))


@pytest.mark.parametrize("n_forms", range(13))
def test_the_threshold_is_the_largest_number_of_forms_within_the_share(n_forms):
    for share in SHARES:
        within = [k for k in range(n_forms + 1) if Fraction(k) <= n_forms * share]
        assert threshold(n_forms, share) == max(1, within[-1])
        for n_having in range(n_forms + 1):
            enough = n_having >= 1 and Fraction(n_having, 1) >= n_forms * share
            assert is_null(n_forms, n_having, share) == (not enough)


@pytest.mark.parametrize(("n_forms", "share"), [(100, 0.29), (100, 0.57), (100, 0.07), (10, 0.7)])
def test_floats_mean_their_decimals(n_forms, share):
    exact = parse_prevalence(share)
    assert exact == Fraction(str(share))
    assert threshold(n_forms, exact) == round(n_forms * share)
    assert not is_null(n_forms, round(n_forms * share), exact)
    assert is_null(n_forms, round(n_forms * share) - 1, exact)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0", Fraction(0)),
        ("1", Fraction(1)),
        (" 0.25 ", Fraction(1, 4)),
        ("1/3", Fraction(1, 3)),
        ("25%", Fraction(1, 4)),
        ("12.5 %", Fraction(1, 8)),
        ("1e-3", Fraction(1, 1000)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_prevalences_are_read_exactly(written, meant):
    assert parse_prevalence(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        *(
            "abc",
            "",
            "1.5",
            "-0.1",
            "1/0",
            "101%",
            "nan",
            "inf",
            "0.2.1",
            "1e-9999999",
            "1e9999999",
        ),
        *(math.nan, math.inf, -math.inf, 1.01, -0.5, 2, Fraction(3, 2), None, True),
    ],
)
def test_other_prevalences_are_refused(written):
    with pytest.raises(InputError) as caught:
        parse_prevalence(written)
    assert caught.value.reason is Reason.BAD_PREVALENCE
    assert "0.25, 1/4 or 25%" in str(caught.value)


@given(st.fractions(0, 1, max_denominator=10_000))
def test_any_fraction_is_read_back(share):
    assert parse_prevalence(str(share)) == parse_prevalence(share) == share


@given(curves())
def test_the_curve_is_the_size_at_the_threshold(curve):
    n_having = len(curve.sizes)
    for share in SHARES:
        asked = curve.n_forms * share
        if n_having == 0 or n_having < asked:
            assert curve.at(share) == 0
        else:
            assert curve.at(share) == curve.sizes[max(1, math.floor(asked)) - 1]


@given(curves())
def test_the_area_is_the_integral_of_the_curve(curve):
    # The curve is constant between k/|E| and (k+1)/|E|, so the middle stands for the piece.
    middles = [Fraction(2 * k + 1, 2 * curve.n_forms) for k in range(curve.n_forms)]
    heights = [curve.at(middle) for middle in middles]
    expected = math.inf if math.inf in heights else Fraction(sum(heights), curve.n_forms)
    assert curve.area == expected
    if expected != math.inf:
        assert curve.area == sum((stop - start) * size for start, stop, size in curve.steps)


@given(curves())
def test_the_steps_tile_the_curve(curve):
    ends = [Fraction(0), *(stop for _, stop, _ in curve.steps)]
    assert [start for start, _, _ in curve.steps] == ends[:-1]
    assert ends[-1] == Fraction(len(curve.sizes), curve.n_forms)
    sizes = [size for _, _, size in curve.steps]
    assert all(a != b for a, b in pairwise(sizes))
    for start, stop, size in curve.steps:
        for share in (start, (start + stop) / 2, stop - Fraction(1, 10_000)):
            assert curve.at(share) == size


@given(curves())
def test_the_unbounded_stretch_ends_where_the_size_becomes_a_number(curve):
    end = curve.unbounded_up_to
    unbounded = [share for share in SHARES if curve.at(share) == math.inf]
    assert all(share <= end for share in unbounded)
    if end:
        assert curve.at(end / 2) == math.inf
        assert curve.at(end + Fraction(1, 10_000)) != math.inf
    else:
        assert not unbounded


def test_a_variable_that_nobody_has_is_a_flat_curve():
    curve = SizeCurve(5, ())
    assert (curve.area, curve.steps, curve.at(Fraction(0))) == (0, (), 0)
    assert curve.unbounded_up_to == 0


def test_the_last_point_has_a_size_of_its_own():
    curve = SizeCurve(4, (6, 3))
    assert (curve.at("1/2"), curve.end) == (3, 3)
    assert curve.last_point == ((Fraction(1, 2), Fraction(1, 2), 3),)
    assert SizeCurve(4, (6, 6)).last_point == ()
    assert SizeCurve(4, ()).last_point == ()
