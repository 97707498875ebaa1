from __future__ import annotations

import pytest
from hypothesis import given

from gamekeeper.algorithms.categories.bands import BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, is_finer
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.overview import (
    check_environment,
    find_forms,
    list_categories,
    list_codes,
    list_forms,
    list_groups,
    list_variables,
)
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.results import Page
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


AGE_OF_LISTING = Variable.of_bands("Age", ["0-15", "16+"], description="Years since birth")
ENVIRONMENT = Environment(
    [AGE_OF_LISTING, Variable.of_bands("Income", ["0-99", "100+"])],
    [
        Form("Bank", {"Age": ["0-15", "16+"]}, {"year": 2030, "sector": "bank", "form": "paper"}),
        Form("Shop", {"Age": [], "Income": []}, {"year": 2029}),
        Form("Club", {"Age": ["16+"]}, {"year": "unknown"}),
    ],
    [Group("Recent", where="year >= 2030"), Group("Two", ["Bank", "Shop"], "By hand")],
)


def test_forms_have_a_column_per_key():
    made = list_forms(ENVIRONMENT)
    assert made.columns == ("form", "variables", "year", "form (metadata)", "sector")
    assert made.rows[0] == ("Bank", 1, 2030, "paper", "bank")
    assert made.rows[1] == ("Shop", 2, 2029, None, None)
    assert made.summary()["total"] == 3


def test_forms_are_filtered_and_sorted():
    made = list_forms(ENVIRONMENT, where="has Age", page=Page("year", descending=True, size=2))
    assert [row[0] for row in made.rows] == ["Club", "Bank"]
    assert made.total == 3
    assert [form.name for form in find_forms(ENVIRONMENT, "has Income")] == ["Shop"]


def test_a_query_for_what_nobody_has_names_the_near_ones():
    with pytest.raises(InputError) as caught:
        find_forms(ENVIRONMENT, "yeer = 2030 and has Agge")
    assert [problem.reason for problem in caught.value.problems] == [Reason.UNKNOWN_NAME] * 2
    assert "'year'" in str(caught.value)
    assert "'Age'" in str(caught.value)


def test_variables_and_groups():
    made = list_variables(ENVIRONMENT, matching="AGE")
    assert made.rows == (("Age", "interval", 3, 2, 3, 2, "Years since birth"),)
    groups = list_groups(ENVIRONMENT, page=Page("group"))
    assert groups.rows == (
        ("Recent", 1, "where year >= 2030", ""),
        ("Two", 2, "by hand", "By hand"),
    )


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("code of Age finer than C9.001", "code 'C9.001' of 'Age'"),
        ("code of age in (C2.001, C8.001)", "code 'C8.001' of 'Age'"),
        ("category of Age = 99+", "category '99+' of 'Age'"),
        ("not category of Age in (16+, 12)", "category '12' of 'Age'"),
    ],
)
def test_codes_and_categories_that_are_not_known_are_named(where: str, named: str) -> None:
    age = Variable.of_bands("Age", ["0-15", "16+"])
    known = Environment([age], [Form("Bank", {"Age": ("0-15", "16+")})])
    assert [form.name for form in find_forms(known, "code of Age = C2.001")] == ["Bank"]
    assert [form.name for form in find_forms(known, "category of Age = '16 or over'")] == ["Bank"]
    with pytest.raises(InputError) as refused:
        find_forms(known, where)
    assert named in str(refused.value)
