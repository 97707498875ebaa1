from __future__ import annotations

import pytest
from hypothesis import given

from gamekeeper.algorithms.categories.bands import BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, is_finer
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.overview import check_environment, list_categories, list_codes
from gamekeeper.mapping.variables.variable import Variable
from tests.given.categorizations import disjoint_pairs, environments, labels_of, variable_of

AGE = Variable.of_bands("Age", ["0-15", "16+", "0-17", "18+"])


@given(environments())
def test_codes_are_listed_with_the_forms_under_them(environment):
    for variable in environment.variables:
        table = list_codes(environment, variable)
        graph = environment.harmonization_graph(variable)
        partitions = {
            form.name: environment.categorization(form.name, variable).partition
            for form in environment.forms.values()
            if variable in form.instances
        }
        assert len(table.rows) == len(graph.nodes)
        assert table.summary()["edges"] == len(graph.edges)
        for row in table.rows:
            node = environment.register(variable).meaning(row["code"])
            assert row["categories"] == (0 if node is ARBITRARY else node.n_blocks)
            assert row["forms"] == sum(p == node for p in partitions.values())
            assert row["forms_below"] == sum(is_finer(p, node) for p in partitions.values())
            finer = {code for code in row["finer_codes"].split(", ") if code}
            assert finer == {
                environment.code(variable, graph.nodes[fine])
                for coarse, fine in graph.edges
                if graph.nodes[coarse] == node
            }


def test_one_code_may_be_listed_alone():
    forms = [Form("Bank", {"Age": ("0-17", "18+")}), Form("Shop", {"Age": ("0-15", "16+")})]
    environment = Environment([AGE], forms)
    (row,) = list_codes(environment, "Age", only="H1.001").rows
    assert row["finer_codes"] == "C2.001, C2.002"
    assert row["in_words"] == "0+"
    assert (row["forms"], row["forms_below"]) == (0, 2)


def test_an_unknown_variable_or_a_large_graph_is_refused():
    pairs = disjoint_pairs(6)
    forms = [Form(f"form{n}", {"X": labels_of("X", c)}) for n, c in enumerate(pairs)]
    environment = Environment([variable_of("X", pairs, 12)], forms)
    with pytest.raises(InputError) as caught:
        list_codes(environment, "Y")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    with pytest.raises(LimitError):
        list_codes(environment, "X", max_nodes=10)


def test_the_check_counts_what_is_there_and_names_what_is_wrong():
    country = Variable("Country", PartitionGraph({"GB": ["Britain"], "Rest": []}))
    forms = [
        Form("Bank", {"Age": ("0-17", "18+"), "Country": ("GB", "Rest")}),
        Form("Shop", {"Age": ("16+",)}),
        Form("Club", {"Age": ("0-17", "18+")}),
    ]
    check = check_environment(
        Environment([AGE, country], forms, [Group("some", ("Bank",))], name="small")
    )
    assert not check.is_consistent
    assert check.summary() == {
        "environment": "small",
        "forms": 3,
        "variables": 2,
        "groups": 1,
        "instances": 4,
        "inconsistent": 1,
    }
    assert "misses '0-15'" in check.faults["Age"]["Shop"]
    age, other = check.to_arrow().to_pylist()
    assert (age["forms"], age["codes"], age["inconsistent"], age["sinks"]) == (3, 1, 1, 3)
    assert (age["scale"], other["scale"]) == ("interval", "nominal")
    assert other["same_category"] == "Britain = GB"


@given(environments())
def test_random_environments_are_consistent(environment):
    check = check_environment(environment)
    assert check.is_consistent
    assert sum(row["forms"] for row in check.rows) == environment.n_instances


def test_categories_are_listed_the_largest_first():
    graph = PartitionGraph({"UK": ["Britain", "NI"], "Britain": ["England", "Wales"]})
    rows = list_categories("Residence", graph).to_arrow().to_pylist()
    assert [row["category"] for row in rows] == ["UK", "Britain", "England", "NI", "Wales"]
    assert [row["sinks"] for row in rows] == [3, 2, 1, 1, 1]
    assert rows[0]["children"] == "Britain; NI"


def test_bands_are_listed_in_their_order():
    age = Variable.of_bands("Age", ["0-4", "5-9", "10-15", "16-99", "100+", "0-15", "16+"])
    rows = list_categories("Age", age.graph).to_arrow().to_pylist()
    assert [row["category"] for row in rows] == [
        "0+", "0-15", "16+", "0-4", "5-9", "10-15", "16-99", "100+",
    ]  # fmt: skip
    assert [row["children"] for row in rows[:3]] == ["0-15; 16+", "0-4; 5-9; 10-15", "16-99; 100+"]
    whole = PartitionGraph({"0+": ["0-9", "10+"], "10+": ["10", "11+"], "0-9": []})
    rows = list_categories("From a file", whole).to_arrow().to_pylist()
    assert [row["category"] for row in rows] == ["0+", "10+", "0-9", "10", "11+"]


def test_half_open_bands_are_listed_in_their_order():
    income = Variable.of_bands("Income", ["0-2.5", "2.5-10", "10-inf"], style=BandStyle.HALF_OPEN)
    rows = list_categories("Income", income.graph).to_arrow().to_pylist()
    assert [row["category"] for row in rows[1:]] == ["0-2.5", "2.5-10", "10-inf"]


def test_categories_that_are_no_bands_are_listed_by_name():
    parts = {"fine": ["very good", "good"], "bad": []}
    health = PartitionGraph(parts, order=["very good", "good", "bad"])
    rows = list_categories("Health", health).to_arrow().to_pylist()
    assert [row["category"] for row in rows] == ["fine", "bad", "good", "very good"]
    assert rows[0]["children"] == "good; very good"
