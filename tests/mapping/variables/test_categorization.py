from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition, is_finer
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.variables.categorization import categorize, coarsenings
from gamekeeper.mapping.variables.codes import OUTSIDE, Variable
from tests.given.categorizations import partition_graph_children

AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+"])
RESIDENCE = Variable(
    "Residence",
    PartitionGraph(
        {
            "Britain": ["England", "Scotland", "Wales"],
            "UK": ["Britain", "Northern Ireland"],
            "non Britain": ["Northern Ireland", "non UK"],
        }
    ),
)


@given(partition_graph_children(), st.booleans(), st.data())
def test_a_selection_is_judged_sink_by_sink(children, with_outside, data):
    variable = Variable("X", PartitionGraph(children))
    graph = variable.graph
    some = st.lists(st.sampled_from(graph.categories), unique=True, min_size=1)
    selected = data.draw(some)
    found = categorize(variable, [*selected, *([OUTSIDE] if with_outside else [])])
    reached = {sink: [c for c in selected if sink in graph.sinks_of(c)] for sink in graph.sinks}
    unreached = [sink for sink, names in reached.items() if not names]
    twice = {sink: names for sink, names in reached.items() if len(names) > 1}
    assert list(found.missed) == ([] if with_outside else unreached)
    assert list(found.outside) == (unreached if with_outside else [])
    assert {k: sorted(v) for k, v in (found.overlaps or {}).items()} == {
        k: sorted(v) for k, v in twice.items()
    }
    assert found.is_exhaustive == (with_outside or not unreached)
    assert found.is_exclusive == (not twice)
    good = not twice and (bool(unreached) if with_outside else not unreached)
    assert found.is_valid == good == (found.fault == "")
    if good:
        blocks = {frozenset(graph.sinks_of(c)) for c in selected}
        blocks |= {frozenset(unreached)} if unreached else set()
        assert found.partition is not None
        assert {
            frozenset(graph.sinks[number] for number in block) for block in found.partition.blocks()
        } == blocks


def test_no_categories_mean_arbitrary_precision():
    found = categorize(AGE, [])
    assert found.partition is ARBITRARY
    assert found.is_valid
    assert found.fault == ""


def test_a_form_for_some_people_says_who_is_outside():
    plain = categorize(AGE, ["16-64", "65+"])
    assert plain.missed == ("0-15",)
    assert f'add the category "{OUTSIDE}"' in plain.fault
    meant = categorize(AGE, ["16-64", "65+", OUTSIDE])
    assert meant.outside == ("0-15",)
    assert meant.partition == categorize(AGE, ["0-15", "16-64", "65+"]).partition


@pytest.mark.parametrize(
    ("selected", "said"),
    [([OUTSIDE], "has only"), (["0-15", "16+", OUTSIDE], "nobody is left outside")],
)
def test_outside_needs_people_on_both_sides(selected, said):
    found = categorize(AGE, selected)
    assert not found.is_valid
    assert said in found.fault


def test_faults_name_the_sinks_and_where_they_are_reached_from():
    found = categorize(RESIDENCE, ["Britain", "England", "UK"])
    assert found.missed == ("non UK",)
    assert found.overlaps == {
        "England": ("Britain", "England", "UK"),
        "Scotland": ("Britain", "UK"),
        "Wales": ("Britain", "UK"),
    }
    assert "misses 'non UK'" in found.fault
    assert "reaches 'England' from 'Britain', 'England', 'UK'" in found.fault


def test_many_faults_are_cut():
    many = Variable("X", PartitionGraph({"all": [f"s{n}" for n in range(20)]}))
    found = categorize(many, ["all", *(f"s{n}" for n in range(20))])
    assert found.overlaps is not None
    assert len(found.overlaps) == 20
    assert "and 14 more faults" in found.fault


def test_labels_are_resolved_to_categories():
    found = categorize(AGE, ["under 16", "16 to 64", "65 and over"])
    assert found.categories == ("0-15", "16-64", "65+")
    assert found.is_valid


def test_unknown_and_repeated_labels_are_refused_together():
    with pytest.raises(InputError) as caught:
        categorize(AGE, ["16-46", "0-15", "under 16", "old"])
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.UNKNOWN_NAME,
        Reason.DUPLICATE,
        Reason.UNKNOWN_NAME,
    ]
    assert "Near to it: '16-64'" in str(caught.value)
    assert "'under 16': is selected twice" in str(caught.value)


def test_a_band_that_is_not_there_could_be_added():
    with pytest.raises(InputError) as caught:
        categorize(AGE, ["16-24", "pensioners", "-5-3"])
    band, other, beyond = (problem.do for problem in caught.value.problems)
    assert "Near to it: '16-" in band
    assert band.endswith("or add the band to the variable.")
    assert "add the band" not in other + beyond
    with pytest.raises(InputError) as caught:
        categorize(RESIDENCE, ["16-24"])
    assert "add the band" not in str(caught.value)


def test_one_string_is_not_a_list_of_labels():
    with pytest.raises(InputError, match="Its labels are one string") as caught:
        categorize(AGE, "16-64")
    assert caught.value.reason is Reason.BAD_OPTION


def test_errors_never_disturb_a_terminal():
    with pytest.raises(InputError) as caught:
        categorize(AGE, ["a\x1b[2Jb"])
    assert str(caught.value).replace("\n", "").isprintable()


def test_a_categorization_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        categorize(AGE, []).variable = "Sex"


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
