from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.names import name_problems
from gamekeeper.mapping.variables.variable import OUTSIDE, Scale, Variable
from gamekeeper.wording import count_of, unfit_character
from tests.given.categorizations import partition_graph_children, partitions

AGES = ["0-15", "16-24", "25 to 64", "65+", "under 18", "18 and over"]


@st.composite
def bands(draw):
    low = draw(st.integers(0, 29))
    high = draw(st.integers(low + 1, 30) | st.just(math.inf))
    return Band(low, high)


@given(st.lists(bands(), max_size=6), st.randoms(use_true_random=False))
def test_bands_make_the_same_variable_in_any_order_and_again(given_ones, random):
    names = [band.name(BandStyle.INCLUSIVE) for band in given_ones]
    shuffled = [*names, *names[:1]]
    random.shuffle(shuffled)
    age = Variable.of_bands("Age", names)
    assert Variable.of_bands("Age", shuffled) == age
    assert Variable.of_bands("Age", age.graph.categories) == age


@given(st.lists(bands(), max_size=6), st.sampled_from(list(BandStyle)))
def test_bands_mean_what_lies_between_their_bounds(given_ones, style):
    age = Variable.of_bands("Age", [band.name(style) for band in given_ones], style=style)
    assert age.scale is Scale.INTERVAL
    assert age.space == Band(0, math.inf)
    cuts = sorted({0, math.inf, *(x for b in given_ones for x in (b.low, b.high))})
    sinks = [Band(a, b) for a, b in pairwise(cuts)]
    assert [age.bands[name] for name in age.graph.sinks] == sinks
    for band in given_ones:
        inside = [sink.name(style) for sink in sinks if band.holds(sink)]
        assert list(age.graph.sinks_of(band.name(style))) == inside
    wanted = {b.name(style) for b in (*given_ones, *sinks, Band(0, math.inf))}
    assert set(age.graph.categories) == wanted == set(age.bands)


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("0-15", "0-15"),
        ("under 16", "0-15"),
        ("<16", "0-15"),
        ("up to 15", "0-15"),
        ("65 and over", "65+"),
        ("Aged 25–64 years", "25-64"),
        ("over 64", "65+"),
        ("0-17", "0-17"),
        ("any", "0+"),
        ("66+", None),
        ("pensioners", None),
        ("", None),
    ],
)
def test_labels_may_be_written_in_any_way(label, category):
    assert Variable.of_bands("Age", AGES).resolve(label) == category


def test_labels_of_other_variables_are_taken_as_they_are():
    sex = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
    assert sex.resolve("female") == "female"
    assert sex.resolve("Female") is None
    assert sex.space is None


def test_the_range_may_be_any():
    loss = Variable.of_bands("Profit", ["under 0", "0+"], space=Band(-math.inf, math.inf))
    assert loss.graph.sinks == ("under 0", "0+")
    share = Variable.of_bands("Share", ["0-0.5"], style=BandStyle.HALF_OPEN, space=Band(0, 1))
    assert share.graph.sinks == ("0-0.5", "0.5-1")
    assert share.bands["0-0.5"] == Band(0, Fraction(1, 2))


def test_blocks_of_bands_are_put_in_words_as_bands():
    age = Variable.of_bands("Age", AGES)
    assert age.graph.sinks == ("0-15", "16-17", "18-24", "25-64", "65+")
    assert age.words(Partition.from_labels([0, 0, 1, 1, 2])) == ("0-17", "18-64", "65+")
    assert age.words(Partition.from_labels([0, 1, 1, 1, 0])) == ("0-15 or 65+", "16-64")
    assert age.words(Partition.from_labels([0, 0, 0, 1, 0])) == ("0-24 or 65+", "25-64")
    assert age.words(Partition.from_labels([0, 1, 0, 1, 0])) == (
        "0-15 or 18-24 or 65+",
        "16-17 or 25-64",
    )
    assert age.words(ARBITRARY) == ("any level of detail",)


def test_other_blocks_are_put_in_the_words_of_the_largest_categories():
    residence = Variable(
        "Residence",
        PartitionGraph({"Britain": ["England", "Scotland", "Wales"], "UK": ["Britain", "NI"]}),
    )
    sinks = residence.graph.sinks
    assert sinks == ("England", "NI", "Scotland", "Wales")
    assert residence.words(Partition.from_labels([0, 1, 0, 0])) == ("Britain", "NI")
    assert residence.words(Partition.from_labels([0, 0, 0, 0])) == ("UK",)
    assert residence.words(Partition.from_labels([0, 1, 1, 0])) == (
        "England or Wales",
        "NI or Scotland",
    )


@given(partition_graph_children(), st.data())
def test_words_name_every_sink_of_a_block_once(children, data):
    variable = Variable("X", PartitionGraph(children))
    graph = variable.graph
    partition = data.draw(partitions(len(graph.sinks)))
    for block, words in zip(partition.blocks(), variable.words(partition), strict=True):
        reached = [sink for name in words.split(" or ") for sink in graph.sinks_of(name)]
        assert sorted(reached) == sorted(graph.sinks[number] for number in block)


@given(partition_graph_children(), st.data())
def test_ordinal_variables_have_runs_of_neighbours_only(children, data):
    sinks = [name for name, below in children.items() if not below]
    order = data.draw(st.permutations(sinks))
    graph = PartitionGraph(children, order=order)
    runs = [set(order[i:j]) for i in range(len(order)) for j in range(i + 1, len(order) + 1)]
    torn = [name for name in graph.categories if set(graph.sinks_of(name)) not in runs]
    if not torn:
        assert Variable("X", graph, Scale.ORDINAL).scale is Scale.ORDINAL
        return
    with pytest.raises(InputError) as caught:
        Variable("X", graph, Scale.ORDINAL)
    assert caught.value.reason is Reason.NOT_CONTIGUOUS
    assert [problem.where for problem in caught.value.problems] == [f"category '{n}'" for n in torn]


def test_what_tears_a_category_apart_is_named():
    graph = PartitionGraph({"young or old": ["0-15", "65+"]} | {"16-64": []})
    assert graph.is_contiguous(["0-15", "16-64"])
    with pytest.raises(InputError) as caught:
        Variable("Age", graph, Scale.ORDINAL)
    assert "'young or old': is not a run of neighbours: it leaves out '16-64'" in str(caught.value)
    assert Variable("Age", graph, Scale.NOMINAL).graph == graph


@given(st.lists(bands(), min_size=1, max_size=6), st.data())
def test_words_of_bands_hold_the_numbers_of_a_block_and_never_touch(given_ones, data):
    age = Variable.of_bands("Age", [band.name(BandStyle.INCLUSIVE) for band in given_ones])
    partition = data.draw(partitions(len(age.graph.sinks)))
    for block, words in zip(partition.blocks(), age.words(partition), strict=True):
        said = [parse_band(text, BandStyle.INCLUSIVE) for text in words.split(" or ")]
        assert all(one.high < other.low for one, other in pairwise(said))
        for number, sink in enumerate(age.graph.sinks):
            assert any(band.holds(age.bands[sink]) for band in said) == (number in block)


def test_ordinal_blocks_are_put_in_the_words_of_the_cover():
    graph = PartitionGraph({"well": ["good", "fair"], "poor": []}, order=["good", "fair", "poor"])
    health = Variable("Health", graph, Scale.ORDINAL)
    assert health.words(Partition.from_labels([0, 0, 1])) == ("well", "poor")
    assert health.words(Partition.from_labels([0, 1, 0])) == ("good or poor", "fair")


@pytest.mark.parametrize(
    "name",
    [
        "می\u200cخواهم",  # Persian, with a zero width non-joiner
        "क्\u200dष",  # Hindi, with a zero width joiner
        "Family \U0001f468\u200d\U0001f469\u200d\U0001f467",
        "Heart \u2764\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "10\u00a0000 €",
        "10\u202f000 €",
        "Ein\u00adkommen",
        "\u05d0\u200f!",
        "年\u3000齢",
    ],
)
def test_names_may_hold_what_writing_systems_need(name):
    assert name_problems("variable", [name]) == []
    assert Variable(name, PartitionGraph({"all": [f"{name} 1", f"{name} 2"]})).name == name


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("", "is empty."),
        (" Age", "starts or ends with white space."),
        ("Age\u00a0", "starts or ends with white space."),
        ("A\x1b[31mge", "holds U+001B, a control character."),
        ("A\x9bge", "holds U+009B, a control character."),
        ("Age\n", "holds U+000A, a control character."),
        ("A\u2028ge", "holds U+2028, a line break."),
        ("A\u2029ge", "holds U+2029, a line break."),
        ("A\ud800ge", "holds U+D800, half of a character."),
        ("A\uffffge", "holds U+FFFF, which stands for no character."),
        *(
            (f"A{letter}ge", f"holds U+{ord(letter):04X}, a character that changes the text")
            for letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
        ),
        ("\u200d\u00a0\u200d", "has no character that shows by itself."),
        ("\ufe0f", "has no character that shows by itself."),
    ],
)
def test_unfit_names_are_refused_with_the_character(name, found):
    (problem,) = name_problems("variable", [name])
    assert problem.found.startswith(found)
    assert not unfit_character(str(problem))


@pytest.mark.parametrize("name", ["", " Age", "Age ", "A\nge", "Age\x00", "\ufeffAge"])
def test_names_that_cannot_be_told_apart_by_eye_are_refused(name):
    graph = PartitionGraph({"a": [], "b": []})
    with pytest.raises(InputError) as caught:
        Variable(name, graph)
    assert caught.value.reason is Reason.BAD_NAME
    with pytest.raises(InputError) as caught:
        Variable("Age", PartitionGraph({"all": ["good", name]}))
    assert [problem.reason for problem in caught.value.problems] == [Reason.BAD_NAME]


def test_the_reserved_name_is_refused():
    with pytest.raises(InputError) as caught:
        Variable("Age", PartitionGraph({"all": ["a", OUTSIDE]}))
    assert caught.value.reason is Reason.BAD_NAME
    assert "reserved" in str(caught.value)


def test_all_faults_are_told_at_once():
    graph = PartitionGraph({"x": ["a", "c"], " b": [], OUTSIDE: []})
    with pytest.raises(InputError) as caught:
        Variable("", graph, Scale.ORDINAL)
    reasons = [problem.reason for problem in caught.value.problems]
    assert reasons.count(Reason.BAD_NAME) == 3
    assert len(reasons) == len(caught.value.problems)
    assert f"{len(reasons)} faults" in str(caught.value)


@pytest.mark.parametrize("given_ones", [["old"], ["24-16"], ["0-15", "-5-5"]])
def test_bands_with_faults_are_refused(given_ones):
    with pytest.raises(InputError) as caught:
        Variable.of_bands("Age", given_ones)
    assert caught.value.reason is Reason.BAD_BAND
    assert len(caught.value.problems) == 1
    assert f"of {count_of(len(given_ones), 'band')} was asked for" in str(caught.value)


def test_one_string_is_not_a_list_of_bands():
    with pytest.raises(InputError, match="Its bands are one string") as caught:
        Variable.of_bands("Age", "0-15")
    assert caught.value.reason is Reason.BAD_OPTION


def test_errors_never_disturb_a_terminal():
    bad = "a\x1b[2Jb"
    graph = PartitionGraph({"x": [bad, "c"], "b": []}, order=[bad, "b", "c"])
    with pytest.raises(InputError) as caught:
        Variable(bad, graph, Scale.ORDINAL)
    with pytest.raises(InputError) as of_bands:
        Variable.of_bands("Age", [bad])
    for error in (caught.value, of_bands.value):
        assert str(error).replace("\n", "").isprintable()
