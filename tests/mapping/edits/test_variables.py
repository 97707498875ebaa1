from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.bands import BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import (
    AddVariable,
    DescribeEnvironment,
    DescribeVariable,
    Edit,
    RemoveVariable,
    RenameVariable,
    ReplaceVariable,
    WidenVariable,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.forms.form import Answer, Question
from gamekeeper.mapping.variables.codes import ALSO, ELSE, OUTSIDE, Scale, Variable
from gamekeeper.mapping.variables.definitions import DEFINITION, definition_of
from tests.mapping.edits.conftest import refusal


def nominal(name: str, *categories: str) -> AddVariable:
    definition = {"name": name, "scale": "nominal", "categories": {c: [] for c in categories}}
    return AddVariable(definition=DEFINITION.validate_python(definition))


def replaced(variable: Variable) -> ReplaceVariable:
    return ReplaceVariable(variable=variable.name, definition=definition_of(variable))


def test_a_variable_is_added_described_and_removed(environment: Environment) -> None:
    added = apply_edits(environment, [nominal("Sex", "female", "male")])
    assert added.variable("Sex").graph.sinks == ("female", "male")
    described = apply_edits(added, [DescribeVariable(variable="Sex", description="As asked.")])
    assert described.variable("Sex").description == "As asked."
    removed = apply_edits(described, [RemoveVariable(variable="Sex")])
    assert removed.variables == environment.variables


def test_a_variable_in_use_is_not_removed(environment: Environment) -> None:
    error = refusal(environment, RemoveVariable(variable="Country"))
    assert error.reason is Reason.IN_USE
    assert "the query of the group 'Banks' asks for it" in str(error)
    assert "4 forms have it: 'Bank', 'Shop', 'Club', 'Faulty'" in str(error)
    # A group is easily changed, and what its query means without the variable is not to be guessed.
    error = refusal(environment, RemoveVariable(variable="Country"), unrestricted=True)
    assert [problem.reason for problem in error.problems] == [Reason.IN_USE]
    refusal(environment, RemoveVariable(variable="Age"))
    after = apply_edits(environment, [RemoveVariable(variable="Age")], unrestricted=True)
    assert "Age" not in after.variables
    assert not any("Age" in form.instances for form in after.forms.values())


def test_a_variable_is_renamed_on_forms_in_queries_and_with_its_codes(
    environment: Environment,
) -> None:
    before = environment.register("Country")
    after = apply_edits(environment, [RenameVariable(variable="Country", to="Land or sea")])
    assert after.register("Land or sea") == before
    assert (
        after.form("Shop").instances["Land or sea"] == environment.form("Shop").instances["Country"]
    )
    assert list(after.form("Bank").instances) == ["Land or sea", "Age"]
    assert after.groups["Banks"].where == "sector = bank and has 'Land or sea'"
    assert after.group("Banks").forms == ("Bank",)
    assert "Country" not in after.variables
    assert after.code_of("Bank", "Land or sea") == environment.code_of("Bank", "Country")
    back = apply_edits(after, [RenameVariable(variable="Land or sea", to="Country")])
    assert back.register("Country") == before
    assert apply_edits(environment, [RenameVariable(variable="Country", to="COUNTRY")])


def test_a_safe_replacement_keeps_labels_and_codes(environment: Environment) -> None:
    ordered = Variable(
        "Health",
        PartitionGraph(
            {"well": ["good", "fair"], "poor": ["bad", "dire"], "any": ["well", "poor"]},
            order=["good", "fair", "bad", "dire"],
        ),
        Scale.ORDINAL,
    )
    after = apply_edits(environment, [replaced(ordered)])
    for form in ("Clinic", "Shop"):
        assert after.code_of(form, "Health") == environment.code_of(form, "Health")
        assert after.form(form) is environment.form(form)


def test_bands_in_words_of_a_form_are_written_as_categories_when_bands_go(
    environment: Environment,
) -> None:
    graph = environment.variable("Age").graph
    flat = Variable("Age", PartitionGraph({c: graph.children(c) for c in graph.categories}))
    after = apply_edits(environment, [replaced(flat)])
    assert after.form("Bank").instances["Age"] == ("0-15", "16-64", "65+")
    assert after.code_of("Bank", "Age") == environment.code_of("Bank", "Age")


def test_another_style_of_bands_is_refused() -> None:
    age = Variable.of_bands("Age", ["0-20"])
    environment = Environment([age], [Form("Bank", {"Age": ["0-20", "21+"]})])
    half_open = Variable.of_bands("Age", ["0-20"], style=BandStyle.HALF_OPEN)
    error = refusal(environment, replaced(half_open))
    assert error.reason is Reason.UNSAFE_EDIT
    assert "read in the half-open style" in str(error)
    assert "'21+' would be lost" in str(error)


def test_lost_categories_are_dropped_without_restriction(environment: Environment) -> None:
    fewer = Variable("Country", PartitionGraph({"UK": ["Britain", "N. Ireland"], "Abroad": []}))
    assert refusal(environment, replaced(fewer)).reason is Reason.UNSAFE_EDIT
    after = apply_edits(environment, [replaced(fewer)], unrestricted=True)
    assert after.code_of("Bank", "Country") == environment.code_of("Bank", "Country")
    assert after.code_of("Shop", "Country") == environment.code_of("Shop", "Country")
    # England is gone, and everybody outside is not everybody inside.
    assert after.form("Club").instances["Country"] == ("outside this form's universe",)
    assert not after.categorization("Club", "Country").is_valid
    assert after.register("Country").retired == {environment.code_of("Club", "Country")}


def test_a_selection_with_nothing_left_is_not_any_level_of_detail() -> None:
    kind = Variable("Kind", PartitionGraph({"a": [], "b": []}))
    environment = Environment(
        [kind], [Form("Bank", {"Kind": ["a", "b"]}), Form("Shop", {"Kind": []})]
    )
    other = Variable("Kind", PartitionGraph({"c": [], "d": []}))
    after = apply_edits(environment, [replaced(other)], unrestricted=True)
    assert after.form("Bank").instances == {}
    assert after.form("Shop").instances == {"Kind": ()}
    assert after.register("Kind").retired == {"C2.001"}
    new = after.with_form(Form("New", {"Kind": ["c", "d"]}))
    assert new.code_of("New", "Kind") == "C2.002"


def test_the_environment_is_named_and_described(environment: Environment) -> None:
    after = apply_edits(environment, [DescribeEnvironment(name="big", description="All.")])
    assert (after.name, after.description) == ("big", "All.")
    assert apply_edits(after, [DescribeEnvironment(description="")]).name == "big"


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (nominal("Age", "a"), Reason.DUPLICATE, "already"),
        (nominal("ÂGE", "a"), Reason.DUPLICATE, "only in case, accents"),
        (nominal("Sex", "male", "Male"), Reason.DUPLICATE, "category 'male': differs from 'Male'"),
        (nominal("Sex", "a\tb"), Reason.BAD_NAME, "U+0009"),
        (nominal("Sex", "outside this form's universe"), Reason.BAD_NAME, "reserved"),
        (RemoveVariable(variable="Agee"), Reason.UNKNOWN_NAME, "Near to it: 'Age'"),
        (RenameVariable(variable="Age", to="health"), Reason.DUPLICATE, "differs from 'Health'"),
        (RenameVariable(variable="Age", to="Health"), Reason.DUPLICATE, "already"),
        (RenameVariable(variable="Age", to=""), Reason.BAD_NAME, "is empty"),
        (DescribeVariable(variable="Sex", description=""), Reason.UNKNOWN_NAME, "no such variable"),
        (
            ReplaceVariable(variable="Age", definition=nominal("Sex", "a").definition),
            Reason.BAD_NAME,
            "new definition is of 'Sex'",
        ),
        (DescribeEnvironment(), Reason.NOTHING_GIVEN, "Neither"),
        (DescribeEnvironment(name=" x"), Reason.BAD_NAME, "white space"),
    ],
)
def test_refusals(environment: Environment, edit: Edit, reason: Reason, words: str) -> None:
    error = refusal(environment, edit)
    assert error.reason is reason
    assert words in str(error)


def small() -> Environment:
    graph = {"partnered": ["married", "cohabiting"], "alone": ["single", "widowed"]}
    status = Variable("Status", PartitionGraph(graph))
    answers = [Answer(text=text, means=text) for text in ("partnered", "alone")]
    return Environment(
        [status],
        [
            Form("Fine", {"Status": ("married", "cohabiting", "single", "widowed")}),
            Form("Coarse", {"Status": ("partnered", "alone")}),
            Form("Club", {"Status": ("single", OUTSIDE)}),
            Form("Free", {"Status": ()}),
            Form("Rest", {"Status": ("single", ELSE)}),
            Form("Worded", questions=[Question(name="Q1", variable="Status", answers=answers)]),
            Form("Twice", {"Status": ("partnered", "alone", ALSO, "married", OUTSIDE)}),
        ],
    )


def valid(environment: Environment) -> bool:
    return not environment.faulty_instances("Status")


def words(environment: Environment, form: str) -> tuple[str, ...]:
    told = environment.categorization(form, "Status").partition
    assert told is not None
    return environment.variable("Status").words(told)


def test_people_whom_no_form_asked() -> None:
    before = small()
    after = apply_edits(before, [WidenVariable(variable="Status", category="other")])
    assert valid(after)
    assert after.form("Coarse").instances["Status"] == ("partnered", "alone", OUTSIDE)
    assert after.form("Worded").questions[0].outside
    assert after.categorization("Coarse", "Status").outside == ("other",)
    # Who has a place for all others has one for them.
    assert after.code_of("Club", "Status") == before.code_of("Club", "Status")
    assert after.code_of("Rest", "Status") == before.code_of("Rest", "Status")
    assert after.code_of("Coarse", "Status") != before.code_of("Coarse", "Status")
    assert after.code_of("Coarse", "Status") == after.code_of("Worded", "Status")
    assert before.code_of("Coarse", "Status") in after.register("Status").retired
    assert after.code_of("Free", "Status") == "C0.001"


def test_people_inside_a_finest_category() -> None:
    before = small()
    edit = WidenVariable(
        variable="Status",
        category="in civil partnership",
        inside="married",
        rest="in marriage",
        outside=["Fine"],
    )
    after = apply_edits(before, [edit])
    assert valid(after)
    assert after.form("Fine").instances["Status"][0] == "in marriage"
    assert after.categorization("Fine", "Status").outside == ("in civil partnership",)
    for form in ("Coarse", "Worded", "Twice", "Rest"):
        assert after.code_of(form, "Status") == before.code_of(form, "Status")
    assert after.code_of("Fine", "Status") != before.code_of("Fine", "Status")


def test_people_inside_a_coarser_category() -> None:
    before = small()
    edit = WidenVariable(variable="Status", category="betrothed", inside="partnered")
    after = apply_edits(before, [edit])
    assert valid(after)
    assert set(words(after, "Coarse")) == {"partnered", "alone"}
    assert after.code_of("Coarse", "Status") == before.code_of("Coarse", "Status")
    assert after.code_of("Worded", "Status") == before.code_of("Worded", "Status")
    # Whoever tells the partnered apart had no place for them.
    assert after.form("Fine").instances["Status"][-1] == OUTSIDE
    assert before.code_of("Fine", "Status") in after.register("Status").retired


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (WidenVariable(variable="Status", category="single"), "already"),
        (WidenVariable(variable="Status", category="x", inside="married"), "--rest"),
        (WidenVariable(variable="Status", category="x", inside="alone", rest="y"), "--rest away"),
        (WidenVariable(variable="Status", category="x", inside="nobody"), "nobody"),
        (WidenVariable(variable="Status", category="x", outside=["Fine"]), "--outside away"),
    ],
)
def test_what_does_not_fit_is_refused(edit: WidenVariable, found: str) -> None:
    with pytest.raises(InputError, match=found):
        apply_edits(small(), [edit])


def test_bands_are_not_widened() -> None:
    environment = Environment([Variable.of_bands("Age", ["0-15", "16+"])])
    with pytest.raises(InputError, match="interval"):
        apply_edits(environment, [WidenVariable(variable="Age", category="-1")])
