"""Coarser categorizations are nested, end, and follow the graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import Variable
from gamekeeper.mapping import Partition, PartitionGraph, is_finer
from gamekeeper.mapping.variables.coarsening import coarsenings


def test_places_become_regions_and_regions_the_country():
    place = Variable(
        "Place",
        PartitionGraph(
            {"country": ["north", "south"], "north": ["a", "b"], "south": ["c", "d", "e"]}
        ),
    )
    single = Partition.from_labels(range(5))
    steps = [place.words(step) for step in coarsenings(place, single)]
    assert [set(step) for step in steps] == [{"north", "south"}, {"country"}]


def test_overlapping_categories_are_taken_one_at_a_time():
    graph = PartitionGraph({"a or b": ["a", "b"], "b or c": ["b", "c"]})
    steps = list(coarsenings(Variable("X", graph), Partition.from_labels(range(3))))
    assert [set(map(tuple, step.blocks())) for step in steps] == [{(0, 1), (2,)}]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), min_size=1, max_size=8))
def test_every_step_is_coarser_than_the_one_before(bands):
    names = [f"{low}-{low + width}" for low, width in bands]
    variable = Variable.of_bands("X", names)
    before = Partition.from_labels(range(len(variable.graph.sinks)))
    for step in coarsenings(variable, before):
        assert is_finer(before, step)
        assert step != before
        before = step
    assert len(before.blocks()) == 1
