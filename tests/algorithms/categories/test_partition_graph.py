from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import (
    PartitionGraph,
    Unsafe,
    UnsafeKind,
    find_unsafe,
)
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.categorizations import partition_graph_children
from tests.twins import partitions as twins
from tests.twins.partitions import reach_of

FIGURE_4 = {
    "Britain": ["England", "Scotland", "Wales"],
    "UK": ["Britain", "Northern Ireland"],
    "non Britain": ["Northern Ireland", "non UK"],
}
FIGURE_5 = {**FIGURE_4, "UK": ["England", "Northern Ireland", "Scotland", "Wales"]}


def meanings(graph):
    return {category: frozenset(graph.sinks_of(category)) for category in graph.categories}


def subsets(items, least=0):
    items = list(items)
    return chain.from_iterable(combinations(items, n) for n in range(least, len(items) + 1))


def valid_selections(graph):
    """Return all selections that reach every sink once, by trying all of them."""
    means = meanings(graph)
    return {
        selection
        for selection in subsets(graph.categories, least=1)
        if sorted(sink for name in selection for sink in means[name]) == sorted(graph.sinks)
    }


def sinks_as_they_were(before, after):
    """Return what the sinks of a changed graph stand for in the old one."""
    return {sink: frozenset(before.sinks_of(sink)) for sink in after.sinks}


def assert_means_the_same(before, after, names):
    """Check that sinks still partition everything and that categories mean what they meant."""
    old = sinks_as_they_were(before, after)
    assert sorted(chain.from_iterable(old.values())) == sorted(before.sinks)
    for name in names:
        now = frozenset().union(*(old[sink] for sink in after.sinks_of(name)))
        assert now == frozenset(before.sinks_of(name)), name


@given(partition_graph_children())
def test_categories_mean_the_sinks_found_by_recursion(children):
    graph = PartitionGraph(children)
    assert graph.categories == tuple(sorted(children))
    assert set(graph.sinks) == {name for name, below in children.items() if not below}
    assert meanings(graph) == {name: twins.reach_of(children, name) for name in children}
    assert set(graph.edges) == {(a, b) for a, below in children.items() for b in below}
    for name in children:
        assert graph.children(name) == tuple(sorted(children[name]))
        assert name in graph


@given(partition_graph_children())
def test_subcategories_are_subsets_of_sinks(children):
    graph = PartitionGraph(children)
    means = meanings(graph)
    for a in graph.categories:
        for b in graph.categories:
            assert graph.is_subcategory(a, b) == (means[a] <= means[b])
    equal = {frozenset(group) for group in graph.equal_categories()}
    groups = [{b for b in means if means[b] == means[a]} for a in means]
    assert equal == {frozenset(group) for group in groups if len(group) > 1}


@given(partition_graph_children())
def test_categorizations_are_all_subsets_that_reach_every_sink_once(children):
    graph = PartitionGraph(children)
    found = graph.categorizations()
    assert len(set(found)) == len(found)
    assert set(found) == valid_selections(graph)
    assert list(found) == sorted(found, key=lambda selection: (len(selection), selection))


@given(partition_graph_children(), st.data())
def test_a_selection_is_partitioned_by_who_reaches_what(children, data):
    graph = PartitionGraph(children)
    selected = data.draw(st.lists(st.sampled_from(graph.categories), min_size=1, unique=True))
    holders = graph.reached([*selected, selected[0]])
    means = meanings(graph)
    assert [sorted(names) for names in holders] == [
        sorted(name for name in selected if sink in means[name]) for sink in graph.sinks
    ]
    if all(len(names) == 1 for names in holders):
        blocks = [[graph.sinks[n] for n in block] for block in graph.partition(selected).blocks()]
        assert {frozenset(block) for block in blocks} == {means[name] for name in selected}
    else:
        with pytest.raises(InputError) as caught:
            graph.partition(selected)
        assert caught.value.reason is Reason.NOT_A_CATEGORIZATION


@given(partition_graph_children())
def test_flatten_and_deepen_keep_every_meaning(children):
    graph = PartitionGraph(children)
    flat, deep = graph.flatten(), graph.deepen()
    assert meanings(flat) == meanings(deep) == meanings(graph)
    assert flat.sinks == deep.sinks == graph.sinks
    assert all(child in flat.sinks for _, child in flat.edges)
    assert len(deep.edges) <= len(flat.edges)
    assert flat.flatten() == flat
    assert deep.deepen() == deep == flat.deepen()


def test_deepen_finds_the_large_parts():
    flat = PartitionGraph(FIGURE_5).flatten()
    assert flat.deepen() == PartitionGraph(FIGURE_4)


@given(partition_graph_children(), st.data())
def test_categories_that_are_no_sinks_can_always_be_removed(children, data):
    graph = PartitionGraph(children)
    inner = [name for name in graph.categories if name not in graph.sinks]
    gone = data.draw(st.sets(st.sampled_from(inner))) if inner else set()
    left = graph.remove(gone)
    assert set(left.categories) == set(graph.categories) - gone
    assert left.sinks == graph.sinks
    assert meanings(left) == {k: v for k, v in meanings(graph).items() if k not in gone}


@given(partition_graph_children(), st.data())
def test_removal_keeps_every_meaning_or_is_refused(children, data):
    graph = PartitionGraph(children)
    gone = data.draw(st.sets(st.sampled_from(graph.categories)))
    try:
        left = graph.remove(gone)
    except InputError as error:
        reason = error.reason
    else:
        reason = None
        assert set(left.categories) == set(graph.categories) - gone
        assert_means_the_same(graph, left, left.categories)
    assert reason in (None, Reason.NOT_REMOVABLE)
    assert reason is None or gone & set(graph.sinks)


def test_sinks_are_removed_together_with_their_siblings_only():
    graph = PartitionGraph(FIGURE_4)
    merged = graph.remove(["England", "Scotland", "Wales"])
    assert merged.sinks == ("Britain", "Northern Ireland", "non UK")
    with pytest.raises(InputError) as caught:
        graph.remove(["England"])
    assert caught.value.reason is Reason.NOT_REMOVABLE
    assert any("'Britain': would lose 'England'" in str(p) for p in caught.value.problems)
    twins_of_sinks = PartitionGraph({"GB": ["E", "W"], "Britain": ["E", "W"], "NI": []})
    with pytest.raises(InputError, match="would overlap another sink"):
        twins_of_sinks.remove(["E", "W"])
    assert twins_of_sinks.remove(["E", "W", "GB"]).sinks == ("Britain", "NI")


def test_everything_that_a_removal_would_tear_is_named():
    graph = PartitionGraph(FIGURE_4)
    with pytest.raises(InputError) as caught:
        graph.remove(["Northern Ireland", "non UK", "non Britain"])
    said = str(caught.value)
    assert "'UK': would lose 'Northern Ireland'" in said
    assert "'sample space': would lose 'non UK'" in said


@given(partition_graph_children(), st.data())
def test_pruning_keeps_the_wanted_categories_and_all_sinks(children, data):
    graph = PartitionGraph(children)
    keep = data.draw(st.sets(st.sampled_from(graph.categories)))
    small = graph.prune(keep)
    assert set(small.categories) == keep | set(graph.sinks)
    assert meanings(small) == {name: meanings(graph)[name] for name in small.categories}


@given(partition_graph_children(), st.data())
def test_pruning_with_coarser_sinks_keeps_the_wanted_categorizations(children, data):
    graph = PartitionGraph(children)
    keep = data.draw(st.sets(st.sampled_from(graph.categories)))
    small = graph.prune(keep, coarsen=True)
    assert keep <= set(small.categories)
    assert set(small.categories) <= keep | set(small.sinks)
    assert_means_the_same(graph, small, small.categories)
    wanted = {s for s in valid_selections(graph) if set(s) <= keep}
    assert {s for s in valid_selections(small) if set(s) <= keep} == wanted
    means = meanings(graph)
    held_by = {sink: frozenset(k for k in keep if sink in means[k]) for sink in graph.sinks}
    atoms = {frozenset(s for s in held_by if held_by[s] == held) for held in held_by.values()}
    for atom in atoms:
        inside = [sink for sink in small.sinks if means[sink] <= atom]
        assert frozenset().union(*(means[sink] for sink in inside)) == atom
        if atom in means.values():
            assert len(inside) == 1
            named = {name for name in keep if means[name] == atom}
            assert not named or inside[0] in named


@given(partition_graph_children(), st.data())
def test_a_cover_is_exact(children, data):
    graph = PartitionGraph(children)
    wanted = data.draw(st.sets(st.sampled_from(range(len(graph.sinks)))))
    chosen = graph.cover(sum(1 << number for number in wanted))
    reached = [sink for name in chosen for sink in graph.sinks_of(name)]
    assert sorted(reached) == sorted(graph.sinks[number] for number in wanted)
    whole = [name for name in graph.categories if graph.sinks_of(name) == graph.sinks]
    if len(wanted) == len(graph.sinks) and whole:
        assert len(chosen) == 1


@given(partition_graph_children(), st.data())
def test_contiguity_is_a_run_in_the_order_of_the_sinks(children, data):
    sinks = sorted(name for name, below in children.items() if not below)
    order = data.draw(st.permutations(sinks))
    graph = PartitionGraph(children, order=order)
    assert graph.sinks == tuple(order)
    some = data.draw(st.sets(st.sampled_from(sinks)))
    runs = [set(order[i:j]) for i in range(len(order) + 1) for j in range(i, len(order) + 1)]
    assert graph.is_contiguous(some) == (some in runs)


@given(
    st.dictionaries(
        st.sampled_from(["A", "B", "C", "D"]),
        st.sets(st.sampled_from("uvwxyz"), min_size=1),
        min_size=1,
    )
)
def test_sets_have_as_sinks_what_they_do_not_tell_apart(sets):
    graph = PartitionGraph.from_sets(sets)
    signature = {x: frozenset(n for n in sets if x in sets[n]) for s in sets.values() for x in s}
    atoms = {frozenset(x for x in signature if signature[x] == s) for s in signature.values()}

    def elements(sink):
        return frozenset(sets[sink]) if sink in sets else frozenset(sink.split(" or "))

    assert {elements(sink) for sink in graph.sinks} == atoms
    assert len(graph.sinks) == len(atoms)
    for name, members in sets.items():
        assert frozenset().union(*map(elements, graph.sinks_of(name))) == members


def test_figures_4_and_5_admit_the_same_categorizations():
    four, five = PartitionGraph(FIGURE_4), PartitionGraph(FIGURE_5)
    assert four != five
    assert meanings(four) == meanings(five)
    assert four.categorizations() == five.categorizations()
    assert four.categorizations() == (
        ("Britain", "non Britain"),
        ("UK", "non UK"),
        ("Britain", "Northern Ireland", "non UK"),
        ("England", "Scotland", "Wales", "non Britain"),
        ("England", "Northern Ireland", "Scotland", "Wales", "non UK"),
    )
    assert four.is_subcategory("Britain", "UK")
    assert not four.is_subcategory("non Britain", "UK")


def test_a_graph_is_a_value():
    graph = PartitionGraph(FIGURE_4)
    same = PartitionGraph.from_edges(graph.categories, reversed(graph.edges))
    assert graph == same
    assert hash(graph) == hash(same)
    assert graph != PartitionGraph(FIGURE_4, order=graph.sinks[::-1])
    assert graph != "a graph"
    assert "Wales" in graph
    assert "Cornwall" not in graph
    assert repr(graph) == "PartitionGraph(8 categories, 7 edges, 5 sinks)"


def test_lonely_categories_are_sinks():
    assert PartitionGraph.from_edges(["a", "b"], []).sinks == ("a", "b")
    assert PartitionGraph({"all": ["a", "b"]}).sinks == ("a", "b")


@pytest.mark.parametrize(
    ("children", "words"),
    [
        ({}, ["no categories"]),
        ({"a": ["a"]}, ["the cycle a → a"]),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, ["the cycle a → b → c → a"]),
        ({"a": ["b"], "b": ["a"], "x": ["y"], "y": ["x"]}, ["a → b → a", "x → y → x"]),
        ({"a": ["x", "y"], "b": ["a", "y"]}, ["the children 'a', 'y' of 'b' share 'y'"]),
        (
            {"a": ["x", "y"], "b": ["y", "z"], "c": ["a", "b"], "d": ["a", "y"]},
            ["'a', 'b' of 'c' share 'y'", "'a', 'y' of 'd' share 'y'"],
        ),
        ({"a": ["x", "x"]}, ["category 'a': names the same child twice: 'x'"]),
        ({"a": ["x", "x"], "b": ["b"]}, ["twice: 'x'", "the cycle b → b"]),
    ],
)
def test_what_is_no_partition_graph_is_refused_with_every_witness(children, words):
    with pytest.raises(InputError) as caught:
        PartitionGraph(children)
    assert caught.value.reason is Reason.NOT_A_PARTITION_GRAPH
    assert all(word in str(caught.value) for word in words)
    assert len(caught.value.problems) == (len(words) if children else 0)


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (["x"], "Sinks left out: 'y'"),
        (["x", "y", "z"], "Not a sink: 'z'"),
        (["x", "y", "a"], "Not a sink: 'a'"),
        (["x", "y", "x"], "Named twice: 'x'"),
        ([], "Sinks left out: 'x', 'y'"),
    ],
)
def test_an_order_must_name_every_sink_once(order, words):
    with pytest.raises(InputError) as caught:
        PartitionGraph({"a": ["x", "y"]}, order=order)
    assert caught.value.reason is Reason.NOT_A_PARTITION_GRAPH
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: graph.children("Wale"),
        lambda graph: graph.sink_set("Wale"),
        lambda graph: graph.sinks_of("Wale"),
        lambda graph: graph.is_subcategory("Wale", "UK"),
        lambda graph: graph.is_subcategory("UK", "Wale"),
        lambda graph: graph.reached(["UK", "Wale"]),
        lambda graph: graph.partition(["Wale"]),
        lambda graph: graph.remove(["Wale"]),
        lambda graph: graph.prune(["Wale"]),
        lambda graph: graph.prune(["Wale"], coarsen=True),
        lambda graph: graph.is_contiguous(["Wale"]),
    ],
)
def test_unknown_categories_are_refused_with_the_near_ones(ask):
    with pytest.raises(InputError) as caught:
        ask(PartitionGraph(FIGURE_4))
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "Near to it: 'Wales'" in str(caught.value)


def test_contiguity_is_asked_of_sinks():
    with pytest.raises(InputError) as caught:
        PartitionGraph(FIGURE_4).is_contiguous(["Britain"])
    assert caught.value.reason is Reason.UNKNOWN_NAME


def test_sets_with_faults_are_refused():
    with pytest.raises(InputError) as caught:
        PartitionGraph.from_sets({"young": "ab", "nobody": ""})
    assert caught.value.reason is Reason.NOT_A_PARTITION_GRAPH
    assert "'nobody'" in str(caught.value)
    with pytest.raises(InputError) as caught:
        PartitionGraph.from_sets({"a": "ab", "other": "b"})
    assert caught.value.reason is Reason.DUPLICATE
    assert "'a'" in str(caught.value)


def test_too_many_categorizations_are_refused():
    children = {f"pair{n:02}": [f"{n:02}a", f"{n:02}b"] for n in range(20)}
    with pytest.raises(LimitError) as caught:
        PartitionGraph(children).categorizations(limit=1_000)
    assert caught.value.reason is Reason.TOO_LARGE
    assert "1,000" in str(caught.value)
    few = PartitionGraph({f"pair{n}": [f"{n}a", f"{n}b"] for n in range(4)})
    assert len(few.categorizations(limit=16)) == 16


def test_five_thousand_levels_need_no_deep_recursion():
    names = [f"n{number:04}" for number in range(5_000)]
    graph = PartitionGraph({a: [b] for a, b in zip(names, [*names[1:], "end"], strict=True)})
    assert graph.sinks_of(names[0]) == graph.sinks == ("end",)
    assert len(graph.equal_categories()[0]) == 5_001
    assert graph.reached([names[0]]) == [[names[0]]]
    assert graph.flatten().children(names[0]) == ("end",)
    assert graph.deepen().sinks == ("end",)
    assert graph.prune([names[0]]).categories == ("end", names[0])
    assert graph.remove(names[1:]).edges == ((names[0], "end"),)
    with pytest.raises(InputError) as caught:
        PartitionGraph({**{a: graph.children(a) for a in names}, "end": [names[0]]})
    assert len(str(caught.value)) < 1_000


@pytest.mark.slow
def test_levels_that_each_split_off_a_sink_need_no_deep_recursion():
    n = 1_200
    children = {f"n{k:04}": [f"n{k + 1:04}", f"s{k:04}"] for k in range(n)}
    graph = PartitionGraph(children)
    assert len(graph.sinks_of("n0000")) == n + 1
    assert graph.is_subcategory(f"n{n - 1:04}", "n0000")
    assert len(graph.flatten().edges) == (n + 1) * (n + 2) // 2 - 1
    assert graph.prune(["n0000"], coarsen=True).sinks == ("n0000",)


def test_faults_in_a_geography_are_found_quickly():
    # Counting each name in the whole list would take minutes.
    places = [f"p{number:05}" for number in range(50_000)]
    with pytest.raises(InputError, match="names the same child twice: 'p00007'"):
        PartitionGraph({"country": [*places, places[7]]})
    with pytest.raises(InputError, match="Sinks left out: 'p00000'"):
        PartitionGraph({"country": places}, order=places[1:])


Children = Mapping[str, Sequence[str]]


def admitted(children: Children) -> set[frozenset[str]]:
    """Return every selection that reaches each sink once, by trying them all."""
    plain = {name: list(below) for name, below in children.items()}
    reach = {name: reach_of(plain, name) for name in plain}
    sinks = sorted(name for name, below in plain.items() if not below)
    return {
        chosen
        for chosen in map(frozenset, subsets(sorted(plain)))
        if sorted(sink for name in chosen for sink in reach[name]) == sinks
    }


def still_admitted(before: Children, after: Children, renamed: Mapping[str, str]) -> bool:
    now = admitted(after)
    return all(
        frozenset(renamed.get(name, name) for name in chosen) in now for chosen in admitted(before)
    )


def all_graphs(names: Sequence[str]) -> list[PartitionGraph]:
    """Return every partition graph over some names, whatever its edges."""
    graphs: list[PartitionGraph] = []
    for chosen in product(
        *(map(frozenset, subsets(n for n in names if n != name)) for name in names)
    ):
        try:
            graphs.append(PartitionGraph(dict(zip(names, chosen, strict=True))))
        except InputError:
            continue
    return graphs


def children_of(graph: PartitionGraph) -> dict[str, tuple[str, ...]]:
    return {name: graph.children(name) for name in graph.categories}


@pytest.mark.slow
def test_safe_is_exactly_that_every_categorization_stays_on_all_small_graphs() -> None:
    graphs = [graph for names in ("a", "ab", "abc", "abcd") for graph in all_graphs(names)]
    admitted_by = {graph: admitted(children_of(graph)) for graph in graphs}
    verdicts = {True: 0, False: 0}
    for before in graphs:
        for after in graphs:
            safe = not find_unsafe(before, after)
            assert safe == (admitted_by[before] <= admitted_by[after])
            verdicts[safe] += 1
    assert min(verdicts.values()) > 5_000


@st.composite
def renamings(draw: st.DrawFn, names: Sequence[str]) -> dict[str, str]:
    """Swap some names among themselves, and give others new ones."""
    moved = draw(st.lists(st.sampled_from(names), unique=True))
    targets = draw(st.permutations(moved))
    fresh = draw(st.integers(0, len(moved)))
    return {
        old: new if number >= fresh else f"new {old}"
        for number, (old, new) in enumerate(zip(moved, targets, strict=True))
        if number < fresh or new in moved[fresh:]
    }


@given(partition_graph_children(), st.data())
def test_random_changes(children: dict[str, list[str]], data: st.DataObject) -> None:
    """Change a graph at one or two places: often safe, often not."""
    changed = {name: list(below) for name, below in children.items()}
    for number in range(data.draw(st.integers(0, 2))):
        name = data.draw(st.sampled_from(sorted(changed)))
        match data.draw(st.sampled_from(["split", "children", "remove", "root"])):
            case "split" if not changed[name]:
                parts = [f"p{number}", f"q{number}"]
                changed[name] = parts
                changed |= {part: [] for part in parts}
            case "remove":
                del changed[name]
                changed = {n: [c for c in b if c != name] for n, b in changed.items()}
            case "root":
                changed[f"r{number}"] = [name]
            case _:
                changed[name] = data.draw(st.lists(st.sampled_from(sorted(changed)), unique=True))
        if not changed:
            return
    renamed = data.draw(renamings(sorted(children)))
    if len({renamed.get(name, name) for name in children}) < len(children):
        return
    named = {
        renamed.get(name, name): [renamed.get(child, child) for child in below]
        for name, below in changed.items()
    }
    try:
        after = PartitionGraph(named)
    except InputError:
        return
    before = PartitionGraph(children)
    safe = not find_unsafe(before, after, renamed)
    assert safe == still_admitted(children_of(before), children_of(after), renamed)


COUNTRY = PartitionGraph({name: [] for name in ("England", "Scotland", "Wales", "Other")})


def with_country(more: Mapping[str, Sequence[str]]) -> PartitionGraph:
    return PartitionGraph({**children_of(COUNTRY), **more})


@pytest.mark.parametrize(
    ("after", "unsafe", "words"),
    [
        (
            PartitionGraph({"England": [], "Scotland": [], "Wales": []}),
            [Unsafe(UnsafeKind.CATEGORY_LOST, ("Other",))],
            "the category 'Other' would be lost",
        ),
        (
            with_country({"World": ["Other", "Moon"]}),
            [Unsafe(UnsafeKind.SPACE_GROWS, (), ("Moon",))],
            "no earlier sink would reach 'Moon': the sample space would grow",
        ),
        (
            with_country({"Moon": []}),
            [Unsafe(UnsafeKind.SPACE_GROWS, (), ("Moon",))],
            "every earlier categorization would miss it",
        ),
        (
            with_country({"Wales": ["North", "South"], "Scotland": ["North", "Isles"]}),
            [Unsafe(UnsafeKind.SINKS_OVERLAP, ("Scotland", "Wales"), ("North",))],
            "the sinks 'Scotland', 'Wales' would share 'North'",
        ),
    ],
)
def test_every_way_has_its_witness(after: PartitionGraph, unsafe: list[Unsafe], words: str) -> None:
    assert list(find_unsafe(COUNTRY, after)) == unsafe
    assert words in str(unsafe[0])


def test_a_category_with_another_meaning_is_shown_with_what_it_gains_and_loses() -> None:
    before = with_country({"Britain": ["England", "Scotland", "Wales"]})
    after = with_country({"Britain": ["England", "Other"]})
    (unsafe,) = find_unsafe(before, after)
    assert unsafe == Unsafe(
        UnsafeKind.CATEGORY_CHANGES, ("Britain",), ("Other",), ("Scotland", "Wales")
    )
    assert str(unsafe) == (
        "the category 'Britain' would in addition reach 'Other'"
        " and no longer reach 'Scotland', 'Wales'"
    )


def test_everything_is_said_at_once_and_nothing_that_only_follows() -> None:
    before = with_country({"All": ["England", "Scotland", "Wales", "Other"]})
    after = PartitionGraph(
        {
            "All": ["England", "Abroad", "Wales"],
            "Wales": ["North", "South"],
            "Scotland": ["North"],
            "England": [],
            "Abroad": [],
        }
    )
    assert {(unsafe.kind, unsafe.categories) for unsafe in find_unsafe(before, after)} == {
        (UnsafeKind.CATEGORY_LOST, ("Other",)),
        (UnsafeKind.SINKS_OVERLAP, ("Scotland", "Wales")),
        (UnsafeKind.SPACE_GROWS, ()),
    }
