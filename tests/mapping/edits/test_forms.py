from __future__ import annotations

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import (
    AddForm,
    AllowCombination,
    AskQuestion,
    AskVariable,
    DeclareImpossible,
    DeclareMetadata,
    DropQuestion,
    DropVariable,
    Edit,
    MarkSensitive,
    RemoveCategory,
    RemoveForm,
    RemoveVariable,
    RenameCategory,
    RenameForm,
    RenameVariable,
    SetMetadata,
    SetUniverse,
    SplitCategory,
    UndeclareMetadata,
    UnmarkSensitive,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Answer, Question, Universe
from tests.mapping.edits.conftest import refusal


def test_a_form_is_added(environment: Environment) -> None:
    edit = AddForm(
        name="Library", metadata={"sector": "bank"}, variables={"Country": ["UK", "Abroad"]}
    )
    after = apply_edits(environment, [edit])
    assert after.code_of("Library", "Country") == environment.code_of("Bank", "Country")
    assert "Library" in after.group("Banks").forms
    assert "Library" not in environment.forms


def test_a_form_may_not_be_given_an_invalid_categorization(environment: Environment) -> None:
    edit = AddForm(name="New", variables={"Country": ["UK"], "Health": ["good", "well"], "Age": []})
    error = refusal(environment, edit)
    assert error.reason is Reason.NOT_A_CATEGORIZATION
    assert [problem.where for problem in error.problems] == [
        "form 'New', variable 'Country'",
        "form 'New', variable 'Health'",
    ]
    assert "misses 'Abroad'" in str(error)
    after = apply_edits(environment, [edit], unrestricted=True)
    assert not after.categorization("New", "Country").is_valid
    # The unrestricted editor does not invent categories either.
    unknown = AddForm(name="New", variables={"Country": ["Uk"], "Sex": []})
    error = refusal(environment, unknown, unrestricted=True)
    assert {problem.reason for problem in error.problems} == {Reason.UNKNOWN_NAME}
    assert len(error.problems) == 2


def test_a_fault_that_is_there_does_not_stop_other_edits(environment: Environment) -> None:
    assert not environment.categorization("Faulty", "Country").is_valid
    after = apply_edits(environment, [AskVariable(form="Faulty", variable="Age", labels=[])])
    assert not after.categorization("Faulty", "Country").is_valid
    mended = apply_edits(
        after, [AskVariable(form="Faulty", variable="Country", labels=["UK", "Abroad"])]
    )
    assert mended.categorization("Faulty", "Country").is_valid


def test_a_form_is_removed_from_the_groups_that_list_it(environment: Environment) -> None:
    after = apply_edits(environment, [RemoveForm(form="Bank")])
    assert "Bank" not in after.forms
    assert after.group("Trade").forms == ("Shop",)
    assert after.group("Banks").forms == ()
    assert after.register("Country").meaning("C2.001") == environment.register("Country").meaning(
        "C2.001"
    )


def test_a_form_is_renamed_everywhere(environment: Environment) -> None:
    after = apply_edits(environment, [RenameForm(form="Bank", to="Bank account")])
    assert after.form("Bank account").instances == environment.form("Bank").instances
    assert after.groups["Trade"].forms == ("Bank account", "Shop")
    assert after.group("Banks").forms == ("Bank account",)
    assert after.code_of("Bank account", "Age") == environment.code_of("Bank", "Age")
    shouted = apply_edits(environment, [RenameForm(form="Bank", to="BANK")])
    assert "BANK" in shouted.forms


def test_metadata_is_set_and_removed(environment: Environment) -> None:
    edit = SetMetadata(form="Bank", values={"sector": "shop", "online": True}, remove=["year"])
    after = apply_edits(environment, [edit])
    assert after.form("Bank").metadata == {"sector": "shop", "online": True}
    assert after.group("Banks").forms == ()
    assert environment.group("Banks").forms == ("Bank",)


def test_a_variable_is_asked_for_and_dropped(environment: Environment) -> None:
    asked = apply_edits(
        environment, [AskVariable(form="Club", variable="Health", labels=["well", "poor"])]
    )
    assert asked.code_of("Club", "Health") == environment.code_of("Shop", "Health")
    dropped = apply_edits(asked, [DropVariable(form="Club", variable="Country")])
    assert set(dropped.form("Club").instances) == {"Health"}


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (AddForm(name="Bank"), Reason.DUPLICATE, "form of the name 'Bank' already"),
        (AddForm(name="bänk"), Reason.DUPLICATE, "only in case, accents"),
        (AddForm(name=" "), Reason.BAD_NAME, "white space"),
        (RemoveForm(form="Bnak"), Reason.UNKNOWN_NAME, "Near to it: 'Bank'"),
        (RenameForm(form="Bank", to="Bank"), Reason.DUPLICATE, "already"),
        (RenameForm(form="Bank", to="shop"), Reason.DUPLICATE, "differs from 'Shop'"),
        (RenameForm(form="Bank", to="a\nb"), Reason.BAD_NAME, "U+000A"),
        (RenameForm(form="No", to="Yes"), Reason.UNKNOWN_NAME, "no such form"),
        (SetMetadata(form="Bank"), Reason.NOTHING_GIVEN, "nothing to set"),
        (SetMetadata(form="Bank", remove=["yaer"]), Reason.UNKNOWN_NAME, "Near to it: 'year'"),
        (
            SetMetadata(form="Bank", values={"year": 1}, remove=["year"]),
            Reason.BAD_OPTION,
            "set and removed",
        ),
        (
            AskVariable(form="Club", variable="Sex", labels=[]),
            Reason.UNKNOWN_NAME,
            "no such variable",
        ),
        (
            AskVariable(form="Club", variable="Health", labels=["god"]),
            Reason.UNKNOWN_NAME,
            "Near to it: 'good'",
        ),
        (
            AskVariable(form="Club", variable="Age", labels=["16-17"]),
            Reason.UNKNOWN_NAME,
            "add the band to the variable",
        ),
        (DropVariable(form="Club", variable="Age"), Reason.NOT_FOUND, "does not have it"),
    ],
)
def test_refusals(environment: Environment, edit: Edit, reason: Reason, words: str) -> None:
    error = refusal(environment, edit)
    assert error.reason is reason
    assert words in str(error)
    assert str(error).startswith("This edit was asked for: ")


def test_in_a_list_the_edit_that_is_refused_is_named(environment: Environment) -> None:
    error = refusal(environment, RemoveForm(form="Shop"), RemoveForm(form="Shop"))
    assert error.asked == "Edit 2 of 2 was asked for: remove the form 'Shop'."


HEALTH = Question(
    name="Q4",
    text="How is your health?",
    variable="Health",
    answers=[
        Answer(text="Fine", means="well"),
        Answer(text="So so", means="poor"),
        Answer(text="Rather not say", no_answer="refused"),
    ],
    metadata={"page": 2},
)


def with_question(environment: Environment) -> Environment:
    return apply_edits(environment, [AskQuestion(form="Bank", question=HEALTH)])


def test_a_question_tells_the_labels(environment: Environment) -> None:
    after = with_question(environment)
    assert after.form("Bank").instances["Health"] == ("well", "poor")
    assert after.code_of("Bank", "Health") == environment.code_of("Shop", "Health")
    finer = HEALTH.model_copy(
        update={"answers": tuple(Answer(text=t) for t in ("good", "fair", "poor"))}
    )
    after = apply_edits(after, [AskQuestion(form="Bank", question=finer)])
    assert len(after.form("Bank").questions) == 1
    assert after.form("Bank").instances["Health"] == ("good", "fair", "poor")
    after = apply_edits(after, [DropQuestion(form="Bank", question="Q4")])
    assert "Health" not in after.form("Bank").instances
    assert after.form("Bank") == environment.form("Bank")


def test_a_question_takes_the_place_of_labels_typed_by_hand(environment: Environment) -> None:
    after = apply_edits(environment, [AskQuestion(form="Clinic", question=HEALTH)])
    assert after.form("Clinic").instances["Health"] == ("well", "poor")
    error = refusal(after, AskVariable(form="Clinic", variable="Health", labels=["well", "poor"]))
    assert error.reason is Reason.IN_USE
    assert "'Q4'" in str(error)


def test_what_answers_mean_must_fit(environment: Environment) -> None:
    lacking = HEALTH.model_copy(update={"answers": HEALTH.answers[:1]})
    error = refusal(environment, AskQuestion(form="Bank", question=lacking))
    assert error.reason is Reason.NOT_A_CATEGORIZATION
    assert "what the answers mean" in str(error)
    outside = lacking.model_copy(update={"outside": True})
    after = apply_edits(environment, [AskQuestion(form="Bank", question=outside)])
    assert after.categorization("Bank", "Health").outside == ("poor",)
    unknown = HEALTH.model_copy(update={"answers": (Answer(text="Fine"),)})
    error = refusal(environment, AskQuestion(form="Bank", question=unknown), unrestricted=True)
    assert error.problems[0].reason is Reason.UNKNOWN_NAME


def test_words_stay_when_categories_are_renamed_split_or_removed(environment: Environment) -> None:
    start = with_question(environment)
    universe = Universe(wording="The well", within={"Health": ("well",), "Age": ("16-64",)})
    start = apply_edits(start, [SetUniverse(form="Bank", universe=universe)])
    edits = [
        RenameCategory(variable="Health", category="well", to="Well"),
        RenameVariable(variable="Health", to="Fitness"),
        SplitCategory(variable="Fitness", category="poor", into=["bad", "very bad"]),
    ]
    form = apply_edits(start, edits).form("Bank")
    (question,) = form.questions
    assert question.variable == "Fitness"
    assert [answer.text for answer in question.answers] == ["Fine", "So so", "Rather not say"]
    assert [answer.means for answer in question.answers] == ["Well", "poor", None]
    assert form.instances["Fitness"] == ("Well", "poor")
    assert form.universe == Universe(
        wording="The well", within={"Fitness": ("Well",), "Age": ("16-64",)}
    )
    removed = apply_edits(
        start, [RemoveCategory(variable="Health", category="well")], unrestricted=True
    )
    (question,) = removed.form("Bank").questions
    assert [answer.no_answer for answer in question.answers] == ["undecided", None, "refused"]
    assert removed.form("Bank").instances["Health"] == ("poor",)
    assert removed.form("Bank").universe == Universe(wording="The well", within={"Age": ("16-64",)})


@pytest.mark.parametrize("whole", [True, False])
def test_a_question_outlives_its_variable(environment: Environment, whole: bool) -> None:
    start = with_question(environment)
    edit = (
        RemoveVariable(variable="Health") if whole else DropVariable(form="Bank", variable="Health")
    )
    form = apply_edits(start, [edit], unrestricted=True).form("Bank")
    (question,) = form.questions
    assert question.variable is None
    assert [answer.text for answer in question.answers] == ["Fine", "So so", "Rather not say"]
    assert "Health" not in form.instances


def test_declared_metadata_binds_what_comes_and_not_what_was(environment: Environment) -> None:
    declare = [
        DeclareMetadata(key="sector", required=True, values=["bank", "health"]),
        DeclareMetadata(key="page", of="question", required=True, kind="number"),
    ]
    after = apply_edits(environment, declare)
    assert after.forms == environment.forms
    error = refusal(after, AddForm(name="New"))
    assert "has no 'sector', which is required." in str(error)
    error = refusal(after, AddForm(name="New", metadata={"sector": "banks"}))
    assert "Near to it: 'bank'" in str(error)
    error = refusal(after, SetMetadata(form="Bank", remove=["sector"]))
    assert error.reason is Reason.NOTHING_GIVEN
    # What is not touched does not stop anything.
    apply_edits(after, [SetMetadata(form="Shop", values={"year": 2000})])
    pageless = HEALTH.model_copy(update={"metadata": {"page": "two"}})
    error = refusal(after, AskQuestion(form="Bank", question=pageless))
    assert "not a number" in str(error)
    after = with_question(after)
    error = refusal(after, SetMetadata(form="Bank", question="Q4", remove=["page"]))
    assert "question 'Q4'" in str(error)
    free = apply_edits(after, [UndeclareMetadata(key="sector")])
    apply_edits(free, [AddForm(name="New")])
    assert refusal(free, UndeclareMetadata(key="sector")).reason is Reason.UNKNOWN_NAME
    assert refusal(after, declare[0]).reason is Reason.NOTHING_GIVEN
    error = refusal(after, DeclareMetadata(key="x", kind="number", values=["one"]))
    assert "not numbers" in str(error)


def test_impossible_combinations_follow_names(environment: Environment) -> None:
    combination = {"Age": ["0-15"], "Health": ["poor"]}
    after = apply_edits(environment, [DeclareImpossible(combination=combination, why="A rule.")])
    renamed = apply_edits(
        after,
        [
            RenameVariable(variable="Health", to="Fitness"),
            RenameCategory(variable="Fitness", category="poor", to="bad"),
        ],
    )
    (rule,) = renamed.rules.impossible
    assert rule.combination == {"Age": ("0-15",), "Fitness": ("bad",)}
    assert refusal(after, DeclareImpossible(combination=combination)).reason is Reason.NOTHING_GIVEN
    gone = apply_edits(after, [RemoveVariable(variable="Age")], unrestricted=True)
    assert gone.rules.impossible == ()
    assert apply_edits(after, [AllowCombination(combination=combination)]).rules.impossible == ()
    error = refusal(environment, AllowCombination(combination=combination))
    assert error.reason is Reason.NOT_FOUND
    error = refusal(environment, DeclareImpossible(combination={"Age": ["0-15"], "Sex": ["f"]}))
    assert "'Sex', which is not a variable" in str(error)


def test_sensitive_categories_follow_names(environment: Environment) -> None:
    after = apply_edits(environment, [MarkSensitive(variable="Health", categories=["poor"])])
    assert after.variable("Health").sensitive == {"poor"}
    assert after.register("Health") == environment.register("Health")
    after = apply_edits(after, [RenameCategory(variable="Health", category="poor", to="bad")])
    assert after.variable("Health").sensitive == {"bad"}
    bands = apply_edits(environment, [MarkSensitive(variable="Age", categories=["65 and over"])])
    assert bands.variable("Age").sensitive == {"65+"}
    after = apply_edits(after, [UnmarkSensitive(variable="Health", categories=["bad"])])
    assert after.variable("Health").sensitive == frozenset()
    error = refusal(after, UnmarkSensitive(variable="Health", categories=["bad"]))
    assert error.reason is Reason.NOTHING_GIVEN
    error = refusal(after, MarkSensitive(variable="Health", categories=["worst"]))
    assert error.reason is Reason.UNKNOWN_NAME
