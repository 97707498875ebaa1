from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gamekeeper.algorithms.partition_graph import PartitionGraph
from gamekeeper.mapping.analysis import map_key_variables
from gamekeeper.mapping.environment import Environment, Form
from gamekeeper.mapping.variable import Variable
from gamekeeper.mapping.words import listed, number_text, percent_text, short
from gamekeeper.report.tables import key_table


def test_rows_of_a_strict_analysis(environment: Environment):
    outcome = map_key_variables(environment, "Census", prevalence="1/3")
    header, rows = key_table(outcome)
    assert header == (
        "Rank", "Variable", "Code", "Categories", "Forms", "Area", "Effective", "In words",
    )  # fmt: skip
    assert rows == [
        ("1", "Age", "C5.001", "5", "3 of 6", "4", "5", "0-15; 16-24; 25-44; 45-64; 65+"),
        ("2", "Sex", "C2.001", "2", "3 of 6", "1", "2", "female; male"),
        ("3", "Shoe size", "—", "—", "—", "0", "—", outcome.variables[2].why),
        ("—", "Residence", "—", "—", "—", "—", "—", "no result: inconsistent categorizations"),
    ]


def test_unbounded_is_a_sign_and_many_categories_are_counted(age_environment: Environment):
    environment = age_environment.with_form(Form("Register", {"Age": ()}))
    _, [row] = key_table(map_key_variables(environment, "Register"))
    assert row[2:] == ("C0.001", "∞", "21 of 104", "∞", "∞", "any level of detail")
    _, [row] = key_table(map_key_variables(environment, "Register", prevalence="30%"))
    assert row[2:4] == ("C45.001", "45")
    assert row[-1] == "0; 1; 2; 3; 4; 5; and 39 more"


def test_long_categories_are_cut_to_a_cell():
    names = [f"{letter}{'x' * 99}" for letter in "abc"]
    variable = Variable("X", PartitionGraph({"all": names}))
    forms = [Form("T", {"X": tuple(names)}), Form("U", {"X": tuple(names)})]
    _, [row] = key_table(map_key_variables(Environment([variable], forms), "T"))
    assert row[-1] == f"a{'x' * 78}…; and 2 more"


def test_codes_that_are_as_good_are_named():
    pairs = {f"{a}{b}": [a, b] for a, b in ["ab", "bc", "cd", "de", "ef"]}
    variable = Variable("X", PartitionGraph(pairs))
    forms = [Form(name, {"X": tuple(sorted({*"abcdef", name} - set(name)))}) for name in pairs]
    outcome = map_key_variables(
        Environment([variable], [*forms, Form("T", {"X": tuple("abcdef")})]), "T"
    )
    _, [row] = key_table(outcome)
    assert len(outcome.variables[0].codes) == 5
    assert row[2].startswith("C5.00")
    assert row[2].endswith(" and 2 more")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (Fraction(1, 3), "0.33"),
        (2.5, "2.5"),
        (100, "100"),
        (12_345.678, "12,345.68"),
        (math.inf, "∞"),
    ],
)
def test_numbers_for_people(value: float, text: str):
    assert number_text(value) == text


def test_shares_for_people():
    assert percent_text(Fraction(0)) == "0%"
    assert percent_text(Fraction(1, 8)) == "12.5%"
    assert percent_text(Fraction(29, 100)) == "29%"
    assert percent_text(Fraction(2, 3)) == "2/3, about 66.67%"


def test_texts_are_cut():
    assert short("a  b\tc\x07") == "a b c\N{REPLACEMENT CHARACTER}"
    assert short("x" * 10_000) == "x" * 79 + "…"
    assert listed([], 3) == ""
    assert listed(["a"] * 1_003, 3) == "a; a; a; and 1,000 more"
