from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.variables.codes import CodeRegister, is_code
from tests.given.categorizations import lists_of_categorizations

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
