from __future__ import annotations

import pytest

from gamekeeper.attack.linkage.columns.dates import read_dates
from gamekeeper.attack.linkage.columns.guessing import guess_kinds, identifiers, telling_alone
from gamekeeper.attack.linkage.columns.variables import Kind, LinkVariable
from tests.given.linked_files import file_of

MANY = [f"2{n:03}" for n in range(40)]
CASES = {
    "names": (["anna", "bert", *(f"name{n}" for n in range(40))], Kind.TEXT),
    "mistyped": ([*"abcdefgh", "aa", "bb", "cc"], Kind.TEXT),
    "sex": (["f", "m"], Kind.CATEGORY),
    "iso": ([f"2031-05-{n:02}" for n in range(1, 21)], Kind.DATE),
    "bare": ([f"203105{n:02}" for n in range(1, 21)], Kind.DATE),
    "three ways": (
        [*(f"2031-05-{n:02}" for n in range(1, 11)), "20310511", "12.5.2031", "13.5.2031"],
        Kind.DATE,
    ),
    "mostly dates": ([*(f"2031-05-{n:02}" for n in range(1, 21)), "unknown"], Kind.DATE),
    "half dates": ([*(f"2031-05-{n:02}" for n in range(1, 11)), *"abcdefghij"], Kind.CATEGORY),
    "postcodes": (["0200", *MANY], Kind.TEXT),
    "years": ([str(year) for year in range(1950, 1990)], Kind.NUMBER),
    "numbers": ([str(n * 37) for n in range(40)], Kind.NUMBER),
    "decimals": ([f"{n}.5" for n in range(1000, 1040)], Kind.NUMBER),
    "few numbers": (["1", "2", "3"], Kind.CATEGORY),
    "open end": ([*(str(n) for n in range(60, 90)), "90+"], Kind.ORDINAL),
    "mixed": ([*(str(n) for n in range(60, 90)), "old"], Kind.TEXT),
    "nothing": ([None, None], Kind.CATEGORY),
}


@pytest.mark.parametrize("case", CASES)
def test_kinds_are_guessed_by_values(case):
    values, kind = CASES[case]
    # Of mistyped names, some are in one file alone.
    other = values[:8] if case == "mistyped" else values
    a, b = file_of({"x": values}), file_of({"x": other})
    found, notes = guess_kinds(a, b, [LinkVariable("x")])
    assert found[0].kind is kind
    assert bool(notes) == (kind is Kind.ORDINAL)


def test_what_was_said_is_not_guessed():
    a, b = file_of({"x": MANY, "y": MANY}), file_of({"x": MANY, "y": MANY})
    said = [LinkVariable("x", kind=Kind.NUMBER), LinkVariable("y", measure="squared")]
    assert guess_kinds(a, b, said)[0] == said
    assert guess_kinds(a, b, [LinkVariable("z")])[0] == [LinkVariable("z")]


def test_identifiers_are_found_and_shared_codes_are_none():
    n = 30
    left = {
        "rec": [f"a-{k}" for k in range(n)],
        "row": range(n),
        "social": [f"{7919 * k % 90000 + 10000}" for k in range(n)],
        "income": [f"{1000.25 + 31 * k}" for k in range(n)],
        "name": ["anna", "bert", "carl"] * 10,
    }
    right = {
        "rec": [f"b-{k}" for k in range(n)],
        "row": range(5, 5 + n),
        "social": left["social"],
        "income": [f"{1001.75 + 31 * k}" for k in range(n)],
        "name": ["anna", "bert", "carl"] * 10,
    }
    variables = [LinkVariable(name) for name in left]
    marks = (".", ".")
    assert identifiers(file_of(left), file_of(right), variables, marks) == ["rec", "row"]
    # Few records are no ground to tell.
    few = [{name: list(values)[:5] for name, values in side.items()} for side in (left, right)]
    assert identifiers(file_of(few[0]), file_of(few[1]), variables, marks) == []


def test_dates_are_read_month_first_where_more_are_dates_so():
    found = read_dates(["5/13/2031", "1/2/2031"])
    assert found.days.tolist() == read_dates(["2031-05-13", "2031-01-02"]).days.tolist()
    assert found.ways == ("month/day/year",)
    assert not found.is_ambiguous
    guess = read_dates(["1/2/2031"])
    assert guess.is_ambiguous
    assert guess.days.tolist() == read_dates(["2031-02-01"]).days.tolist()
    assert read_dates(["31.12.31", "0001-01-01", "2031-02-30", "x"]).n_bad == 4


def test_day_or_month_first_is_told_for_each_mark():
    found = read_dates(["1.5.2031", "13.5.2031", "5/1/2031", "5/13/2031", "2031-05-01"])
    assert found.ways == ("day.month.year", "month/day/year", "year-month-day")
    assert found.days[0] == found.days[2] == found.days[4]
    assert found.days[1] == found.days[3]
    assert not found.is_ambiguous
    assert read_dates(["13.5.2031", "5/1/2031"]).is_ambiguous


def test_what_links_by_itself_is_found():
    n = 30
    left = {
        "nr": range(5001, 5001 + n),
        "social": [f"{7919 * k % 90000 + 10000}" for k in range(n)],
        "rec": [f"a-{k}" for k in range(n)],
        "income": [f"{1000.25 + 31 * k}" for k in range(n)],
        "spread": range(100, 100 + 37 * n, 37),
        "sex": ["f", "m"] * (n // 2),
    }
    right = {**left, "rec": [f"b-{k}" for k in range(n)]}
    names = [LinkVariable(name) for name in left]
    tables = file_of(left), file_of(right)
    assert telling_alone(*tables, names, (".", ".")) == ["nr", "social"]
    assert identifiers(*tables, names, (".", ".")) == ["rec"]
    # Values that repeat in one file tell no single record of it.
    right["nr"] = [5001, 5001, *range(5003, 5001 + n)]
    assert telling_alone(tables[0], file_of(right), names, (".", ".")) == ["social"]
