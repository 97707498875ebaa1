from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.variables.codes import (
    OUTSIDE,
    CodeRegister,
    Scale,
    Variable,
    carry_codes,
    clashes,
    is_code,
    name_problems,
)
from gamekeeper.wording import count_of, folded, unfit_character
from tests.given.categorizations import (
    lists_of_categorizations,
    partition_graph_children,
    partitions,
)

ONE = Partition.from_labels([0, 0, 0])
TWO = Partition.from_labels([0, 0, 1])
ALSO_TWO = Partition.from_labels([0, 1, 1])


def size(categorization):
    return 0 if categorization is ARBITRARY else categorization.n_blocks


@given(lists_of_categorizations(most=12, most_sinks=4))
def test_codes_are_numbered_by_size_in_order_of_encounter(observed):
    register = CodeRegister().with_observed(observed)
    seen = Counter()
    for categorization in dict.fromkeys(observed):
        n = size(categorization)
        seen[n] += 1
        assert register.code(categorization) == f"C{n}.{seen[n]:03d}"
        assert register.meaning(f"C{n}.{seen[n]:03d}") == categorization
    assert len(register) == len(list(register)) == sum(seen.values())


def test_without_new_codes_the_register_stays_the_same():
    register = CodeRegister().with_observed([TWO])
    assert register.with_observed([]) is register
    assert register.with_observed([TWO, TWO]) is register
    assert register.with_harmonizations([TWO]) is register


@st.composite
def histories(draw):
    """Batches of categorizations of the same sinks, each seen on forms or harmonized."""
    pool = draw(lists_of_categorizations(least=3, most=8, most_sinks=4))
    batch = st.lists(st.sampled_from(pool), max_size=4)
    return draw(st.lists(st.tuples(st.sampled_from("CH"), batch), max_size=6))


@given(histories())
def test_codes_are_stable_and_never_reused(history):
    register = CodeRegister()
    meanings = {}
    for letter, batch in history:
        grow = register.with_observed if letter == "C" else register.with_harmonizations
        register = grow(batch)
        for code, categorization in meanings.items():
            assert register.meaning(code) == categorization
        meanings = {code: register.meaning(code) for code in register}
        assert all(int(code[1:].split(".")[0]) == size(c) for code, c in meanings.items())
        for categorization in batch:
            code = register.code(categorization)
            assert code is not None
            assert letter == "H" or code.startswith("C")
    observed = {c for letter, batch in history if letter == "C" for c in batch}
    for categorization in set(meanings.values()):
        own = {code for code, c in meanings.items() if c == categorization}
        assert register.code(categorization) in own
        assert (register.code(categorization)[0] == "C") == (categorization in observed)
        aliases = own - {register.code(categorization)}
        assert aliases == ({register.alias(categorization)} - {None})
        assert all(alias.startswith("H") for alias in aliases)
    assert CodeRegister(meanings.items()) == register


def test_a_harmonization_that_is_observed_later_keeps_its_code_as_an_alias():
    register = CodeRegister().with_harmonizations([TWO, ALSO_TWO])
    assert register.code(TWO) == "H2.001"
    later = register.with_observed([TWO])
    assert later.code(TWO) == "C2.001"
    assert later.alias(TWO) == "H2.001"
    assert later.meaning("H2.001") == later.meaning("C2.001") == TWO
    assert later.alias(ALSO_TWO) is None
    assert register.code(TWO) == "H2.001"
    assert later.with_harmonizations([TWO]) is later


def test_more_than_999_codes_take_more_digits():
    pairs = [
        Partition.from_labels([j if k == i else k for k in range(60)])
        for i in range(60)
        for j in range(i)
    ]
    register = CodeRegister().with_observed(pairs)
    assert register.code(pairs[998]) == "C59.999"
    assert register.code(pairs[999]) == "C59.1000"
    assert all(is_code(code) for code in register)
    again = CodeRegister((code, register.meaning(code)) for code in register)
    assert again.with_harmonizations([Partition.finest(60)]).code(Partition.finest(60)) == "H60.001"
    assert again == register


def test_numbers_go_on_after_the_highest_code_given_earlier():
    register = CodeRegister([("C2.007", TWO), ("H1.002", ONE)])
    grown = register.with_observed([ALSO_TWO, ONE])
    assert grown.code(ALSO_TWO) == "C2.008"
    assert grown.code(ONE) == "C1.001"
    assert grown.alias(ONE) == "H1.002"


def test_aliases_may_be_entered_in_any_order():
    one_way = CodeRegister([("H2.001", TWO), ("C2.001", TWO)])
    other_way = CodeRegister([("C2.001", TWO), ("H2.001", TWO)])
    for register in (one_way, other_way):
        assert register.code(TWO) == "C2.001"
        assert register.alias(TWO) == "H2.001"
    assert one_way == other_way
    assert one_way != "a register"
    assert "H2.001" in one_way
    assert "H2.002" not in one_way


@pytest.mark.parametrize(
    "codes",
    [
        [("C3.001", TWO)],
        [("C2.01", TWO)],
        [("X2.001", TWO)],
        [("C02.001", TWO)],
        [("c2.001", TWO)],
        [("C2.001 ", TWO)],
        [("C0.001", TWO)],
        [("C2.001", ARBITRARY)],
        [("C2.001", TWO), ("C2.001", ALSO_TWO)],
        [("C2.001", TWO), ("C2.002", TWO)],
        [("H2.001", TWO), ("H2.002", TWO)],
    ],
)
def test_codes_that_contradict_are_refused(codes):
    with pytest.raises(InputError) as caught:
        CodeRegister(codes)
    assert caught.value.reason is Reason.INCONSISTENT_CODE


def test_an_unknown_code_is_refused_with_the_near_ones():
    with pytest.raises(InputError) as caught:
        CodeRegister([("C2.001", TWO)]).meaning("C2.002")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "Near to it: 'C2.001'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, True) for text in ("C0.001", "H7.001", "C45.001", "C3.1000", "H12.0001")),
        *((text, False) for text in ("", "C7", "C7.1", "7.001", "D7.001", "C07.001", "C7.001\n")),
    ],
)
def test_the_form_of_a_code(text, expected):
    assert is_code(text) == expected


def test_a_retired_code_means_nothing_and_is_not_given_again():
    register = CodeRegister([("C2.001", TWO)], retired=["C2.004", "H1.001"])
    assert register.retired == {"C2.004", "H1.001"}
    assert "C2.004" not in register
    assert list(register) == ["C2.001"]
    with pytest.raises(InputError) as caught:
        register.meaning("C2.004")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "It is retired" in str(caught.value)
    grown = register.with_observed([ALSO_TWO]).with_harmonizations([ONE])
    assert grown.code(ALSO_TWO) == "C2.005"
    assert grown.code(ONE) == "H1.002"
    assert grown.retired == register.retired
    assert register != CodeRegister([("C2.001", TWO)])


@pytest.mark.parametrize("code", ["C0.001", "H0.001", "C2", "x"])
def test_what_cannot_be_retired(code):
    with pytest.raises(InputError) as caught:
        CodeRegister(retired=[code])
    assert caught.value.reason is Reason.INCONSISTENT_CODE


def test_a_code_is_not_retired_and_there():
    with pytest.raises(InputError) as caught:
        CodeRegister([("C2.001", TWO)], retired=["C2.001"])
    assert caught.value.reason is Reason.INCONSISTENT_CODE


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


names = st.text(st.characters(codec="utf-8"), max_size=12)


@given(st.lists(names, unique=True))
def test_clashes_are_exactly_the_names_that_fold_to_an_earlier_one(listed):
    found = clashes("form", listed, {})
    assert len(found) == len(listed) - len({folded(name) for name in listed})
    assert all(problem.reason is Reason.DUPLICATE for problem in found)


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
