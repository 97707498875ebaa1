from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import map_table, map_table_html
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable
from tests.given.categorizations import crossing_environment

COARSE, FINE = ("0-15", "16+"), ("0-15", "16-64", "65+")


@pytest.fixture
def environment() -> Environment:
    letters = PartitionGraph({"ab": ["a", "b"], "bc": ["b", "c"]})
    labels = ("a", "b", "c")
    variables = [
        Variable.of_bands("Age", [*COARSE, *FINE]),
        *(Variable(name, letters) for name in ("Rare", "Broken", "<b>Absent")),
    ]
    forms = [
        Form("T", {"Age": FINE, "Rare": labels, "Broken": labels, "<b>Absent": labels}),
        Form("U", {"Age": FINE, "Rare": labels}),
        Form("V", {"Age": FINE, "Broken": ("a", "ab", "c")}),
        Form("W", {"Age": COARSE}),
    ]
    return Environment(variables, forms)


@pytest.fixture
def ties() -> Environment:
    """Five codes of five categories that are as good as each other, in another order than named."""
    pairs = {f"{a}{b}": [a, b] for a, b in ["ef", "de", "cd", "bc", "ab"]}
    variable = Variable("X", PartitionGraph(pairs))
    forms = [Form(name, {"X": tuple(sorted({*"abcdef", name} - set(name)))}) for name in pairs]
    return Environment([variable], [*forms, Form("T", {"X": tuple("abcdef")})])


def test_rows_of_a_strict_analysis(environment: Environment):
    header, rows = map_table(map_key_variables(environment, "T", prevalence="1/2"))
    assert header == (
        "Rank", "Variable", "Code", "Categories", "Forms", "Area", "Effective", "In words",
    )  # fmt: skip
    too_few = "1 of 3 forms asks for it; at least 2 must"
    assert rows == [
        ("1", "Age", "C3.001", "3", "2 of 3", "3", "3", "0-15; 16-64; 65+"),
        ("2", "Rare", "—", "—", "—", "1", "—", too_few),
        ("3", "<b>Absent", "—", "—", "—", "0", "—", "none of 3 forms ask for it"),
        ("—", "Broken", "—", "—", "—", "—", "—", "no result: inconsistent categorizations"),
    ]


def test_forms_set_aside_are_counted_among_those_that_ask(environment: Environment):
    _, rows = map_table(map_key_variables(environment, "T", strict=False))
    [words] = [row[-1] for row in rows if row[1] == "Broken"]
    assert words == "1 of 3 forms asks for it, and is set aside; at least 1 must without fault"


def test_unbounded_is_a_sign_and_many_categories_are_counted():
    years = (*map(str, range(44)), "44+")
    age = Variable.of_bands("Age", years)
    forms = [Form("T", {"Age": ()}), Form("U", {"Age": ()}), Form("V", {"Age": years})]
    environment = Environment([age], forms)
    _, [row] = map_table(map_key_variables(environment, "T"))
    assert row[2:] == ("C0.001", "∞", "1 of 2", "∞", "∞", "any level of detail")
    _, [row] = map_table(map_key_variables(environment, "T", prevalence=1))
    assert row[2:4] == ("C45.001", "45")
    assert row[-1] == "0; 1; 2; 3; 4; 5; and 39 more"


def test_long_categories_are_cut_to_a_cell():
    names = [f"{letter}{'x' * 99}" for letter in "abc"]
    variable = Variable("X", PartitionGraph({"all": names}))
    forms = [Form("T", {"X": tuple(names)}), Form("U", {"X": tuple(names)})]
    _, [row] = map_table(map_key_variables(Environment([variable], forms), "T"))
    assert row[-1] == f"a{'x' * 78}…; and 2 more"


def test_codes_that_are_as_good_are_named_in_order(ties: Environment):
    outcome = map_key_variables(ties, "T")
    _, [row] = map_table(outcome)
    assert list(outcome.variables[0].codes) == [f"C5.00{number}" for number in range(1, 6)]
    assert row[2] == "C5.001, C5.002, C5.003 and 2 more"
    assert row[-1] == "for C5.001: a; b; c; d; ef"


def test_codes_that_were_not_looked_for_are_not_counted(ties: Environment):
    outcome = map_key_variables(ties, "T", most=1)
    assert outcome.variables[0].has_more
    _, [row] = map_table(outcome)
    assert row[2] == f"{outcome.variables[0].codes[0]} and more"
    assert row[-1].startswith(f"for {outcome.variables[0].codes[0]}: ")


def test_without_an_area_there_is_no_rank():
    outcome = map_key_variables(crossing_environment(), "target", max_nodes=1)
    _, [ranked, row] = map_table(outcome)
    assert ranked[:2] == ("1", "Y")
    assert row[:2] == ("—", "X")
    assert row[3:6] == ("5", "1 of 13", "—")
    refused = map_key_variables(crossing_environment(), "target", prevalence="1/2", max_nodes=1)
    assert map_table(refused)[1][1] == ("—", "X", *"—————", "no result: too many harmonizations")


def test_codes_that_may_be_missing_are_hinted_at(ties: Environment):
    outcome = map_key_variables(ties, "T", most=5)
    (item,) = outcome.variables
    for n_codes, said in ((1, "C5.001 and perhaps more"), (5, "C5.001, C5.002, C5.003 and more")):
        short = replace(item, maximal=item.maximal[:n_codes], may_have_more=True)
        _, [row] = map_table(replace(outcome, variables=(short,)))
        assert row[2] == said
        assert row[-1] == "for C5.001: a; b; c; d; ef"


def test_html_has_the_same_rows_escaped(environment: Environment):
    outcome = map_key_variables(environment, "T")
    header, rows = map_table(outcome)
    html = map_table_html(outcome)
    assert re.findall("<th>(.*?)</th>", html) == list(header)
    assert "<caption>Key variables of T</caption>" in html
    assert ">&lt;b&gt;Absent</td>" in html
    assert "<b>" not in html
    assert html.count("</td>") == len(header) * len(rows)
