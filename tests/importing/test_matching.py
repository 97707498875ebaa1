from __future__ import annotations

import pytest

from gamekeeper.importing.matching.proposal import Matcher
from gamekeeper.importing.matching.texts import no_answer
from gamekeeper.importing.proposed_question import Answering, ProposedAnswer, ProposedQuestion
from gamekeeper.mapping import PartitionGraph
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.questions import Answer, Question
from gamekeeper.mapping.variables.variable import ELSE, Variable

AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
INCOME = Variable.of_bands("Income", ["0-999"], description="€ a month")
SEX = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
MARITAL = Variable(
    "Marital status",
    PartitionGraph({"any": ["never married", "married", "separated", "divorced", "widowed"]}),
)
CHILDREN = Variable.of_bands("Number of children", ["0", "1", "2+"])
JOB = Variable("Occupation", PartitionGraph({"any": ["manager", "clerk", "other job"]}))
ENVIRONMENT = Environment([AGE, INCOME, SEX, MARITAL, CHILDREN, JOB], [])


def asked(text, *answers, name="q", answering=Answering.ONE, **more):
    return ProposedQuestion(
        name, text, answering=answering, answers=tuple(map(ProposedAnswer, answers)), **more
    )


def propose(question, environment=ENVIRONMENT):
    return Matcher(environment).propose(question)


@pytest.mark.parametrize(
    ("question", "variable"),
    [
        (asked("What is your sex?", "F", "M"), "Sex"),
        (asked("Please select your gender", "Woman", "Man", "Prefer not to say"), "Sex"),
        (asked("Geschlecht", "Weiblich", "Männlich", "Keine Angabe"), "Sex"),
        (asked("Płeć", "Kobieta", "Mężczyzna"), "Sex"),
        (asked("¿Cuál es su estado civil?", "Soltero", "Casado", "Separado", "Divorciado", "Viudo"),
         "Marital status"),
        (asked("How old are you?", "Under 18", "18-34", "35 or over"), "Age"),
        (asked("", "0-15", "16+", name="AGE"), "Age"),
        (asked("Date of birth", answering=Answering.DATE), "Age"),
        (asked("How many children do you have?", "None", "1", "2", "3 or more"), "Number of children"),
        (asked("What is your job title?", answering=Answering.TEXT), "Occupation"),
    ],
)  # fmt: skip
def test_what_is_said_plainly_is_sure(question, variable):
    found = propose(question)
    assert found.is_sure, found.best
    assert found.best.variable == variable
    assert found.best.reason


@pytest.mark.parametrize(
    "question",
    [
        asked("Age of youngest child", "0-5", "6-10"),
        asked("What was your job title?", answering=Answering.TEXT),
        asked("Sex of your partner", "F", "M"),
        asked("How old is {name}?", answering=Answering.NUMBER),
        asked("How old are you?", "Young", "Old"),
        asked("How old are you?", "0-15", "14-20", "21+"),
        asked("How old are you?", "0-5 months", "6 months or more"),
        asked("What is your sex?", "Female", "Male", "Intersex"),
        asked("What is your sex?", "Female", "Male", answering=Answering.SEVERAL),
        asked("What is your age?", answering=Answering.TEXT),
        asked("Income", "0-999 $", "1000+ $"),
        asked("Income", "0-999 € a week", "1000+ € a week"),
        asked("Marital status", "Single", "Married, spouse present", "Married, spouse absent",
              "Separated", "Divorced", "Widowed"),
        asked("What is your sex?", *(f"answer {n}" for n in range(10_000))),
        asked("Favourite colour", "Red", "Blue"),
        asked("Number of children", "eight or more"),
        asked("Are you employed?", "Yes", "No"),
    ],
)  # fmt: skip
def test_what_leaves_a_doubt_is_not_sure(question):
    assert not propose(question).is_sure


def test_bands_that_are_new_are_added_and_ends_are_outside():
    found = propose(asked("Age", "18-29", "30-64", "65 and over", "Refused")).best.fit
    assert (found.new_bands, found.outside) == (("18-29", "30-64"), True)
    assert [m.no_answer for m in found.meanings] == [None, None, None, "refused"]


def test_other_takes_what_is_left_and_unplaced_answers_are_asked_for():
    job = propose(asked("Occupation", "Manager", "Clerk", "Other")).best.fit
    assert [m.means for m in job.meanings] == ["manager", "clerk", ELSE]
    found = propose(asked("Marital status", "Single", "Married", "It's complicated"))
    assert found.says_variable
    assert not found.is_sure
    assert "It's complicated" in found.best.reason


def test_earlier_decisions_are_remembered():
    answers = [Answer(text="A", means="female"), Answer(text="B", means="male")]
    form = Form("Bank", questions=(
        Question(name="x", text="Which are you?", variable="Sex", answers=answers),
        Question(name="y", text="Age of spouse?"),
    ))  # fmt: skip
    known = Environment([AGE, SEX], [form])
    again = propose(asked("Which are you?", "A", "B"), known)
    assert again.is_sure
    assert "decided before" in again.best.reason
    assert not propose(asked("Which are you?", "A", "C"), known).is_sure
    assert propose(asked("Age of spouse?", answering=Answering.NUMBER), known).was_left_out
    # What words meant on one form helps to place them on another, unless two forms differ.
    assert propose(asked("Sex", "A", "B"), known).is_sure
    other = Form("Shop", questions=(Question(name="x", text="Pick", variable="Sex", answers=[
        Answer(text="A", means="male"), Answer(text="B", means="female")]),))  # fmt: skip
    assert not propose(asked("Sex", "A", "B"), Environment([SEX], [form, other])).is_sure


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Prefer not to say", "refused"),
        ("No contesta", "refused"),
        ("Weiß nicht", "don't know"),
        ("Nie wiem", "don't know"),
        ("NIU (Not in universe)", "not applicable"),
        ("No code required (aged under 16)", "not applicable"),
        ("Unknown", "not stated"),
        ("No", None),
        ("Unemployed", None),
    ],
)
def test_answers_that_are_none_are_known(text, why):
    assert no_answer(text) == why


LANGUAGE = Variable("Main language", PartitionGraph({"any": ["english", "welsh", "polish"]}))
PLACE = Variable("Residence type", PartitionGraph({"any": ["communal establishment", "household"]}))


def meant(question, variable):
    found = propose(question, Environment([variable], []))
    return found.is_sure, [meaning.means for meaning in found.best.fit.meanings]


def test_of_two_answers_other_is_the_rest_only_beside_a_category_to_the_word():
    asks = "What is your main language?"
    assert meant(asked(asks, "English", "Other"), LANGUAGE) == (True, ["english", ELSE])
    # Welsh is not English: 'English or Welsh' is not taken for one of them.
    assert not meant(asked(asks, "English or Welsh", "Other"), LANGUAGE)[0]


def test_an_answer_that_denies_the_other_means_everybody_else():
    lives, not_so = (
        "Resident in a communal establishment",
        "Not resident in a communal establishment",
    )
    assert meant(asked("Residence type", lives, not_so), PLACE) == (
        True,
        ["communal establishment", ELSE],
    )
    assert not meant(asked("Residence type", lives, "Not resident here"), PLACE)[0]


def test_an_answer_begins_with_what_it_means():
    answers = ("Single", "Married", "Separated, but still legally married", "Divorced", "Widowed")
    sure, means = meant(asked("Marital status", *answers), MARITAL)
    assert sure
    assert means == ["never married", "married", "separated", "divorced", "widowed"]
    # Two answers that tell more than a category are left to a person.
    finer = ("Separated, but still married", "Separated, but in one household", *answers[:2])
    assert not meant(asked("Marital status", *finer, "Divorced", "Widowed"), MARITAL)[0]
