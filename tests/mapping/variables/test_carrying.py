from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import Band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.mapping.variables.carrying import carry_codes
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from tests.given.categorizations import partition_graph_children, partitions


def in_names(variable: Variable, meaning: Partition | Arbitrary) -> set[frozenset[str]]:
    assert isinstance(meaning, Partition)
    sinks = variable.graph.sinks
    return {frozenset(sinks[number] for number in block) for block in meaning.blocks()}


def register_of(*many: Partition | Arbitrary) -> CodeRegister:
    return CodeRegister().with_observed(many)


def nominal(children: Mapping[str, list[str]], *order: str) -> Variable:
    return Variable("X", PartitionGraph(children, order=order or None))


FLAT = {"a": [], "b": [], "c": []}


def test_a_split_sink_stays_together() -> None:
    before, after = nominal(FLAT), nominal({**FLAT, "b": ["b1", "b2"]})
    register = register_of(Partition.finest(3), Partition.from_labels([0, 1, 1]), ARBITRARY)
    carried = carry_codes(register, before, after, {})
    assert list(carried) == list(register)
    assert in_names(after, carried.meaning("C3.001")) == {
        frozenset({"a"}),
        frozenset({"b1", "b2"}),
        frozenset({"c"}),
    }
    assert in_names(after, carried.meaning("C2.001")) == {
        frozenset({"a"}),
        frozenset({"b1", "b2", "c"}),
    }
    assert carried.meaning("C0.001") is ARBITRARY
    assert not carried.retired


def test_sinks_that_are_merged_keep_the_codes_that_never_told_them_apart() -> None:
    before, after = nominal({"b": ["b1", "b2"], "a": [], "c": []}), nominal(FLAT)
    sinks = before.graph.sinks
    assert sinks == ("a", "b1", "b2", "c")
    register = register_of(
        Partition.finest(4),
        Partition.from_labels([0, 1, 1, 2]),
        Partition.from_labels([0, 1, 2, 2]),
    )
    carried = carry_codes(register, before, after, {})
    assert in_names(after, carried.meaning("C3.001")) == {frozenset(name) for name in "abc"}
    assert carried.retired == {"C4.001", "C3.002"}
    again = carry_codes(carried, after, before, {})
    assert again.meaning("C3.001") == register.meaning("C3.001")
    assert again.retired == carried.retired
    assert again.with_observed([Partition.finest(4)]).code(Partition.finest(4)) == "C4.002"


def test_another_order_and_other_names_change_nothing_but_numbers() -> None:
    before, after = nominal(FLAT), nominal({"z": [], "b": [], "c": []}, "c", "z", "b")
    register = register_of(Partition.from_labels([0, 1, 1]))
    carried = carry_codes(register, before, after, {"a": "z"})
    assert in_names(after, carried.meaning("C2.001")) == {frozenset("z"), frozenset("bc")}
    swapped = carry_codes(register, before, before, {"a": "b", "b": "a"})
    assert in_names(before, swapped.meaning("C2.001")) == {frozenset("b"), frozenset("ac")}


def test_without_the_same_sample_space_nothing_is_kept() -> None:
    register = register_of(Partition.finest(3), ARBITRARY)
    fewer, more = nominal({"a": [], "b": []}), nominal({**FLAT, "d": []})
    for after in (fewer, more, nominal({"x": [], "y": []})):
        carried = carry_codes(register, nominal(FLAT), after, {})
        assert carried.retired == {"C3.001"}
        assert list(carried) == ["C0.001"]


def test_sinks_that_come_to_overlap_are_told_apart_no_more() -> None:
    before = nominal({"a": [], "b": [], "c": [], "d": []})
    after = nominal({"a": ["x", "y"], "b": ["y", "z"], "c": [], "d": []})
    register = register_of(Partition.finest(4), Partition.from_labels([0, 0, 1, 2]))
    carried = carry_codes(register, before, after, {})
    assert carried.retired == {"C4.001"}
    assert in_names(after, carried.meaning("C3.001")) == {
        frozenset("xyz"),
        frozenset("c"),
        frozenset("d"),
    }


def test_a_category_that_means_something_else_leaves_the_codes_alone() -> None:
    before = nominal({**FLAT, "ab": ["a", "b"]})
    after = nominal({**FLAT, "ab": ["b", "c"]})
    register = register_of(Partition.finest(3), Partition.from_labels([0, 0, 1]))
    assert carry_codes(register, before, after, {}) == register


def test_bands_are_related_by_their_numbers() -> None:
    before = Variable.of_bands("Age", ["0-15", "16-24"])
    after = Variable.of_bands("Age", ["0-15", "16+", "18-20"])
    finest, adults = Partition.finest(3), Partition.from_labels([0, 1, 1])
    carried = carry_codes(register_of(finest, adults), before, after, {})
    assert carried.retired == {"C3.001"}
    assert after.words(carried.meaning("C2.001")) == ("0-15", "16+")
    wider = Variable.of_bands("Age", ["0-15", "16-24"], space=Band(0, 120))
    assert not list(carry_codes(register_of(finest), before, wider, {}))


@given(partition_graph_children(), st.data())
def test_safe_changes_carry_every_code(children: dict[str, list[str]], data: st.DataObject) -> None:
    """Split some sinks and rename some categories: the blocks are those of the parts."""
    before = nominal(children)
    sinks = before.graph.sinks
    split = data.draw(st.lists(st.sampled_from(sinks), unique=True))
    renamed = {
        name: f"new {name}" for name in data.draw(st.lists(st.sampled_from(sorted(children))))
    }
    parts = {sink: [f"{sink}.{n}" for n in range(2)] if sink in split else [] for sink in sinks}
    after = nominal(
        {
            renamed.get(name, name): [renamed.get(c, c) for c in below] or parts[name]
            for name, below in children.items()
        }
    )
    many = data.draw(st.lists(partitions(len(sinks)), min_size=1))
    register = register_of(*many).with_harmonizations([Partition.from_labels([0] * len(sinks))])
    carried = carry_codes(register, before, after, renamed)
    assert list(carried) == list(register)
    for code in register:
        assert in_names(after, carried.meaning(code)) == {
            frozenset(now for sink in block for now in parts[sink] or [renamed.get(sink, sink)])
            for block in in_names(before, register.meaning(code))
        }
    back = carry_codes(carried, after, before, {new: old for old, new in renamed.items()})
    assert back == register


@given(partition_graph_children(), partition_graph_children(), st.data())
def test_any_change_keeps_a_code_with_its_size_or_retires_it(
    one: dict[str, list[str]], other: dict[str, list[str]], data: st.DataObject
) -> None:
    before, after = nominal(one), nominal(other)
    many = data.draw(st.lists(partitions(len(before.graph.sinks)), min_size=1))
    register = register_of(*many)
    carried = carry_codes(register, before, after, {})
    assert set(carried) | carried.retired == set(register)
    assert not set(carried) & carried.retired
    for code in carried:
        meaning = carried.meaning(code)
        assert isinstance(meaning, Partition)
        assert meaning.n_sinks == len(after.graph.sinks)
        assert f"C{meaning.n_blocks}." in code
        # A sink that is a sink on both sides is with the same such sinks as before.
        both = set(before.graph.sinks) & set(after.graph.sinks)
        old = {block & both for block in in_names(before, register.meaning(code))}
        new = {block & both for block in in_names(after, meaning)}
        assert old - {frozenset()} == new - {frozenset()}
