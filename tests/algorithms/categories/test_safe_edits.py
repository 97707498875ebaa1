from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.safe_edits import Unsafe, UnsafeKind, find_unsafe
from gamekeeper.errors import InputError
from tests.given.categorizations import partition_graph_children
from tests.twins.partitions import reach_of

Children = Mapping[str, Sequence[str]]


def subsets(names: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(s) for n in range(len(names) + 1) for s in combinations(names, n)]


def admitted(children: Children) -> set[frozenset[str]]:
    """Return every selection that reaches each sink once, by trying them all."""
    plain = {name: list(below) for name, below in children.items()}
    reach = {name: reach_of(plain, name) for name in plain}
    sinks = sorted(name for name, below in plain.items() if not below)
    return {
        chosen
        for chosen in subsets(sorted(plain))
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
    for chosen in product(*(subsets([n for n in names if n != name]) for name in names)):
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
