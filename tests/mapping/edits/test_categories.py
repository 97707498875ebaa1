from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import (
    AddBands,
    AddCategory,
    Edit,
    OrderSinks,
    RemoveBands,
    RemoveCategory,
    RenameCategory,
    SetChildren,
    SplitCategory,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable
from tests.mapping.edits.conftest import refusal


def test_the_parts_of_an_ordinal_sink_take_its_place(environment: Environment) -> None:
    split = SplitCategory(variable="Health", category="fair", into=["so so", "bearable"])
    after = apply_edits(environment, [split])
    assert after.variable("Health").graph.sinks == ("good", "so so", "bearable", "poor")
    assert after.code_of("Shop", "Health") == environment.code_of("Shop", "Health")
    renamed = apply_edits(
        after, [RenameCategory(variable="Health", category="so so", to="alright")]
    )
    assert renamed.variable("Health").graph.sinks == ("good", "alright", "bearable", "poor")


def test_sinks_in_sorted_order_stay_so_and_others_keep_theirs() -> None:
    by_name = Variable("A", PartitionGraph({"x": [], "y": []}))
    by_hand = Variable("B", PartitionGraph({"x": [], "y": []}, order=["y", "x"]))
    environment = Environment([by_name, by_hand])
    for name, after_split, after_rename in (
        ("A", ("a", "x", "z"), ("0", "a", "x")),
        ("B", ("z", "a", "x"), ("0", "a", "x")),
    ):
        split = SplitCategory(variable=name, category="y", into=["z", "a"])
        after = apply_edits(environment, [split])
        assert after.variable(name).graph.sinks == after_split
        renamed = apply_edits(after, [RenameCategory(variable=name, category="z", to="0")])
        assert renamed.variable(name).graph.sinks == after_rename


def test_a_category_is_renamed_in_all_selections(environment: Environment) -> None:
    after = apply_edits(environment, [RenameCategory(variable="Country", category="UK", to="U.K.")])
    assert after.form("Bank").instances["Country"] == ("U.K.", "Abroad")
    assert after.form("Faulty").instances["Country"] == ("U.K.",)
    assert after.form("Shop") is environment.form("Shop")
    assert after.register("Country") == environment.register("Country")
    shouted = apply_edits(environment, [RenameCategory(variable="Country", category="UK", to="Uk")])
    assert "Uk" in shouted.variable("Country").graph


def test_another_order_of_sinks_keeps_the_codes(environment: Environment) -> None:
    order = ["poor", "fair", "good"]
    after = apply_edits(environment, [OrderSinks(variable="Health", order=order)])
    assert after.variable("Health").graph.sinks == tuple(order)
    for form in ("Clinic", "Shop"):
        assert after.code_of(form, "Health") == environment.code_of(form, "Health")
    error = refusal(environment, OrderSinks(variable="Health", order=["good", "poor", "fair"]))
    assert error.reason is Reason.NOT_CONTIGUOUS
    assert "it leaves out 'poor'" in str(error)


def test_a_category_is_only_removed_without_restriction(environment: Environment) -> None:
    edit = RemoveCategory(variable="Country", category="Britain")
    error = refusal(environment, edit)
    assert error.reason is Reason.UNSAFE_EDIT
    assert [problem.found for problem in error.problems] == [
        "the category 'Britain' would be lost."
    ]
    after = apply_edits(environment, [edit], unrestricted=True)
    graph = after.variable("Country").graph
    assert graph.children("UK") == ("England", "N. Ireland", "Scotland", "Wales")
    assert after.form("Shop").instances["Country"] == ("N. Ireland", "Abroad")
    assert not after.categorization("Shop", "Country").is_valid
    assert not after.register("Country").retired


def test_a_sink_goes_from_the_sample_space(environment: Environment) -> None:
    edit = RemoveCategory(variable="Health", category="fair")
    after = apply_edits(environment, [edit], unrestricted=True)
    assert after.variable("Health").graph.sinks == ("good", "poor")
    assert after.form("Clinic").instances["Health"] == ("good", "poor")
    before = environment.register("Health")
    assert after.register("Health").retired == {code for code in before if code != "C0.001"}
    assert after.code_of("Clinic", "Health") not in before


def test_parts_taken_away_one_by_one_leave_their_parent_as_sink(environment: Environment) -> None:
    edits = [RemoveCategory(variable="Health", category=name) for name in ("good", "fair")]
    after = apply_edits(environment, edits, unrestricted=True)
    assert after.variable("Health").graph.sinks == ("well", "poor")
    assert after.categorization("Shop", "Health").is_valid


def test_children_may_be_taken_away_without_restriction(environment: Environment) -> None:
    edit = SetChildren(variable="Health", category="well", children=[])
    assert refusal(environment, edit).reason is Reason.UNSAFE_EDIT
    after = apply_edits(environment, [edit], unrestricted=True)
    assert set(after.variable("Health").graph.sinks) == {"good", "well", "fair", "poor"}
    assert not after.categorization("Clinic", "Health").is_valid


def test_bands_are_added_and_removed(environment: Environment) -> None:
    edit = AddBands(variable="Age", bands=["18 to 64", "16-64", "75 and over"])
    after = apply_edits(environment, [edit])
    assert after.variable("Age").graph.sinks == ("0-15", "16-17", "18-64", "65-74", "75+")
    assert after.code_of("Bank", "Age") == environment.code_of("Bank", "Age")
    assert after.form("Bank") is environment.form("Bank")
    gone = RemoveBands(variable="Age", bands=["75 and over", "65-74"])
    assert refusal(after, gone).reason is Reason.UNSAFE_EDIT
    back = apply_edits(after, [gone], unrestricted=True)
    assert back.variable("Age").graph.sinks == ("0-15", "16-17", "18-64", "65+")
    assert back.code_of("Bank", "Age") == environment.code_of("Bank", "Age")
    # A form that has the band, in its own words, loses it.
    none = apply_edits(
        environment, [RemoveBands(variable="Age", bands=["65+", "16-64"])], unrestricted=True
    )
    assert none.form("Bank").instances["Age"] == ("0-15",)


def added(category: str, *children: str, to: str = "Country") -> Edit:
    return AddCategory(variable=to, category=category, children=children)


def split(category: str, *into: str, of: str = "Country") -> Edit:
    return SplitCategory(variable=of, category=category, into=into)


def renamed(category: str, to: str, of: str = "Country") -> Edit:
    return RenameCategory(variable=of, category=category, to=to)


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (added("UK", "Abroad"), Reason.DUPLICATE, "category of the name 'UK' already"),
        (added("uk", "UK"), Reason.DUPLICATE, "only in case"),
        (
            added("Isles", "Man", "Britian"),
            Reason.UNKNOWN_NAME,
            "Near to it: 'Britain'. To make new finest categories, split a sink.",
        ),
        (
            added("X", "UK", "Wales"),
            Reason.NOT_A_PARTITION_GRAPH,
            "the children 'UK', 'Wales' of 'X' share 'Wales'",
        ),
        (added("X", "UK", "UK"), Reason.NOT_A_PARTITION_GRAPH, "names the same child twice"),
        (added("ends", "good", "poor", to="Health"), Reason.NOT_CONTIGUOUS, "it leaves out 'fair'"),
        (
            split("UK", "a", "b"),
            Reason.UNSAFE_EDIT,
            "It is not a sink: its parts are 'Britain', 'N. Ireland'.",
        ),
        (split("Walse", "a", "b"), Reason.UNKNOWN_NAME, "Near to it: 'Wales'"),
        (split("Wales", "North", "Abroad"), Reason.DUPLICATE, "'Abroad' already"),
        (split("Wales", "North", "north"), Reason.DUPLICATE, "only in case"),
        (split("Wales", "North", "North"), Reason.NOT_A_PARTITION_GRAPH, "twice"),
        (
            SetChildren(variable="Country", category="Wales", children=["UK"]),
            Reason.NOT_A_PARTITION_GRAPH,
            "cycle",
        ),
        (
            SetChildren(variable="Country", category="Wales", children=["North"]),
            Reason.UNKNOWN_NAME,
            "split a sink",
        ),
        (renamed("UK", "Abroad"), Reason.DUPLICATE, "already"),
        (renamed("UK", "outside this form's universe"), Reason.BAD_NAME, "reserved"),
        (renamed("UK", "U\u202eK"), Reason.BAD_NAME, "U+202E"),
        (renamed("65+", "old", of="Age"), Reason.BAD_OPTION, "numbers"),
        (split("65+", "65-74", "75+", of="Age"), Reason.BAD_OPTION, "Add bands"),
        (OrderSinks(variable="Age", order=["65+"]), Reason.BAD_OPTION, "order of their numbers"),
        (
            OrderSinks(variable="Health", order=["good", "poor"]),
            Reason.NOT_A_PARTITION_GRAPH,
            "Sinks left out: 'fair'",
        ),
        (AddBands(variable="Health", bands=["0-1"]), Reason.BAD_OPTION, "ordinal scale"),
        (AddBands(variable="Age", bands=["65 and over"]), Reason.DUPLICATE, "has them already"),
        (AddBands(variable="Age", bands=["old", "-1-3"]), Reason.BAD_BAND, "'old'"),
        (RemoveBands(variable="Age", bands=["65-70"]), Reason.UNKNOWN_NAME, "is not a band"),
        (RemoveBands(variable="Age", bands=["old"]), Reason.UNKNOWN_NAME, "is not a band"),
        (RemoveBands(variable="Age", bands=["0+"]), Reason.NOT_REMOVABLE, "the whole range"),
        (
            RemoveBands(variable="Age", bands=["16-64"]),
            Reason.NOT_REMOVABLE,
            "is what other bands leave between them. Remove those as well.",
        ),
    ],
)
def test_refusals(environment: Environment, edit: Edit, reason: Reason, words: str) -> None:
    error = refusal(environment, edit)
    assert error.reason is reason
    assert words in str(error)


def test_a_label_that_nothing_holds_is_no_surprise() -> None:
    environment = Environment([Variable("X", PartitionGraph({"a": []}))], [Form("F", {"X": ["a"]})])
    edit = RemoveCategory(variable="X", category="a")
    error = refusal(environment, edit, unrestricted=True)
    assert error.reason is Reason.NOT_A_PARTITION_GRAPH
    assert "It has no categories." in str(error)
