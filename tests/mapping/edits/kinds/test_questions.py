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
    MarkSensitive,
    RemoveCategory,
    RemoveVariable,
    RenameCategory,
    RenameVariable,
    SetMetadata,
    SetUniverse,
    SplitCategory,
    UndeclareMetadata,
    UnmarkSensitive,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.questions import Answer, Question, Universe
from tests.mapping.edits.conftest import refusal

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
