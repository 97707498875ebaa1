"""The grammar of recodings: everything it reads it writes, and what it cannot read is one error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.recoding_rules import (
    Bands,
    Ends,
    First,
    Groups,
    Level,
    Neighbours,
    OfCode,
    OfForm,
    RecodeRule,
    Together,
    Width,
    parse_recode,
    parse_recodes,
)

numbers = st.integers(-500, 500).map(Fraction) | st.integers(-40, 40).map(lambda n: Fraction(n, 4))
words = st.text("abcXYZ 0é", min_size=1, max_size=6).map(str.strip).filter(bool)
members = st.lists(words, min_size=2, max_size=3, unique=True).map(tuple)


@st.composite
def ends(draw):
    low, high = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    return draw(st.sampled_from([Ends(low, high), Ends(bottom=low), Ends(top=high)]))


@st.composite
def groups(draw):
    names = draw(st.lists(words, min_size=2, max_size=6, unique=True))
    cut = draw(st.integers(1, len(names) - 1))
    return Groups((("one", tuple(names[:cut])), ("two", tuple(names[cut:]))))


WAYS = st.one_of(
    ends(),
    groups(),
    members.map(lambda m: Groups((("", m),))),
    st.builds(Width, numbers.filter(lambda n: n > 0), numbers),
    st.integers(1, 99).map(First),
    st.integers(2, 99).map(Neighbours),
    st.integers(1, 9).map(Level),
    st.sampled_from(
        [OfCode("C9.002"), OfForm("Census 2031"), Together(), Bands(("0-15", "16-64", "65+"))]
    ),
)


@given(WAYS)
def test_what_is_written_is_read(way):
    rule = RecodeRule("Age", way)
    assert parse_recode(rule.text) == rule


@pytest.mark.parametrize(
    ("typed", "way"),
    [
        ("Age = TOP 80 , bottom 15", Ends(Fraction(15), Fraction(80))),
        ("Age=h2.001", OfCode("H2.001")),
        ("Age=neighbors 2", Neighbours(2)),
        ("Age=under 16, 16 to 64, 65 and over", Bands(("under 16", "16 to 64", "65 and over"))),
        ("Region=a | b; rest: c", Groups((("", ("a", "b")), ("rest", ("c",))))),
    ],
)
def test_other_ways_of_writing(typed, way):
    assert parse_recode(typed).way == way


def test_everything_that_cannot_be_read_is_said_at_once():
    typed = [
        "Age", "Age=", "a=top 80, top 90", "b=bottom 5, top 5", "c=0-15, 10-20", "d=width 0",
        "e=first 0", "f=neighbours 1", "g=x: a | a", "h=one: a; one: b", "i=: a", "j=level 0",
        "k=young, old", "m=top 3", "M=top 4",
    ]  # fmt: skip
    with pytest.raises(InputError) as refused:
        parse_recodes(typed)
    assert len(refused.value.problems) == len(typed) - 1
    assert refused.value.problems[-1].reason is Reason.DUPLICATE
    assert "VARIABLE=" in refused.value.do
