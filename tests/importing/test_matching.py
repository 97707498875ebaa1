from __future__ import annotations

import pytest

from gamekeeper.importing.matching import Matcher
from gamekeeper.importing.questions import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
    no_answer,
)
from gamekeeper.mapping import PartitionGraph
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Answer, Form, Question
from gamekeeper.mapping.variables.codes import ELSE, Variable

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
        (asked("Age (years):", answering=Answering.TEXT), "Age"),
        (asked("Are you single, married, separated, divorced or widowed?", "Single", "Married",
               "Separated", "Divorced", "Widowed", name="marital_status", label="Marital status"),
         "Marital status"),
        (asked("Would you say that you are a man or a woman? Please tick one.", "Man", "Woman",
               label="Sex"), "Sex"),
        (asked("Which of these best describes your sex at birth? Read out.", "M", "F"), "Sex"),
        (asked("In welchem Jahr sind Sie geboren?", answering=Answering.NUMBER), "Age"),
        (asked("Quelle est votre situation familiale ?", "Célibataire", "Marié(e)", "Séparé(e)",
               "Divorcé(e)", "Veuf(ve)"), "Marital status"),
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
        asked("Income", "0-999 $", "1000+ $"),
        asked("Income", "0-999 € a week", "1000+ € a week"),
        asked("Marital status", "Single", "Married, spouse present", "Married, spouse absent",
              "Separated", "Divorced", "Widowed"),
        asked("What is your sex?", *(f"answer {n}" for n in range(10_000))),
        asked("Favourite colour", "Red", "Blue"),
        asked("Number of children", "eight or more"),
        asked("Are you employed?", "Yes", "No"),
        asked("Is this person male or female?", "Female", "Male"),
        asked("Sex", "Female", "Male", section="study_partner_demographics"),
        asked("Sex", "Female", "Male", name="sex_mother"),
        asked("Date of birth", answering=Answering.DATE, section="Emergency contact"),
        asked("Have you ever been married?", "Yes", "No"),
        asked("Are you not married?", "Yes", "No"),
        asked("Please specify your occupation", answering=Answering.TEXT),
        asked("Marital status", "Single", "Married", "Separated", "Divorced", "Widow", "Widower"),
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


@pytest.mark.parametrize(
    ("answers", "means"),
    [
        (["1. Never married", "2. Married", "3. Separated", "4. Divorced", "5. Widowed"],
         ["never married", "married", "separated", "divorced", "widowed"]),
        (["Single", "Married", "Divorced / separated", "Widowed"],
         ["never married", "married", "separated or divorced", "widowed"]),
        (["Never married", "Ever married: married", "Ever married: separated",
          "Ever married: divorced", "Ever married: widowed"],
         ["never married", "married", "separated", "divorced", "widowed"]),
        (["Married (now", "All other people"], ["married", ELSE]),
    ],
)  # fmt: skip
def test_answers_are_placed_by_what_they_say(answers, means):
    graph = PartitionGraph(
        {
            "any": ["never married", "ever married"],
            "ever married": ["married", "separated or divorced", "widowed"],
            "separated or divorced": ["separated", "divorced"],
        }
    )
    assert meant(asked("Marital status", *answers), Variable("Marital status", graph)) == (
        True,
        means,
    )


@pytest.mark.parametrize(
    "answers",
    [
        ["White", "Asian", "Chinese or other group"],  # wider than the rest
        ["White or Asian", "Other group"],  # no such category
        ["White", "Asian (Indian)", "Asian (other)", "Other group"],  # finer: whether to split
        ["White", "Not white", "Other group"],
    ],
)
def test_answers_that_are_wider_or_finer_are_not_placed(answers):
    graph = PartitionGraph({"any": ["white", "asian", "other group"]})
    assert not meant(asked("Ethnic group", *answers), Variable("Ethnic group", graph))[0]


def test_yes_means_the_category_that_the_question_names():
    asks = asked("Are you married?", "Yes", "No", "Prefer not to say")
    found = propose(asks)
    assert found.is_sure
    assert [m.means for m in found.best.fit.meanings] == ["married", ELSE, None]


def test_a_question_that_names_a_variable_is_not_about_a_category_of_another():
    student = Variable("Student", PartitionGraph({"any": ["yes", "no"]}))
    status = Variable(
        "Employment status", PartitionGraph({"any": ["employed", "student", "other"]})
    )
    found = propose(asked("Are you a student?", "Yes", "No"), Environment([status, student], []))
    assert (found.is_sure, found.best.variable) == (True, "Student")
    found = propose(asked("Are you employed?", "Yes", "No"), Environment([status, student], []))
    assert (found.is_sure, found.best.variable) == (True, "Employment status")


def test_a_variable_of_yes_and_no_is_answered_in_its_own_words():
    student = Variable("Student", PartitionGraph({"any": ["yes", "no"]}))
    asks = asked("In full-time education", "Student or schoolchild", "Not a student or schoolchild")
    assert meant(asks, student) == (True, ["yes", ELSE])


def test_a_form_that_asks_again_in_another_section_may_mean_somebody_else():
    first = asked("Sex", "F", "M", name="a", section="About you")
    again = asked("Sex", "F", "M", name="b", section="Page 9")
    same = asked("Sex", "F", "M", name="c", section="About you")
    form = Instrument("Form", "", (first, again, same))
    assert [p.is_sure for p in Matcher(ENVIRONMENT).propose_form(form)] == [True, False, True]


def test_words_to_write_after_a_list_are_for_those_whom_it_does_not_fit():
    asks = asked("Occupation", "Manager", "Clerk", "Other", name="a")
    text = asked("My occupation is:", name="b", answering=Answering.TEXT)
    matcher = Matcher(ENVIRONMENT)
    assert [p.is_sure for p in matcher.propose_form(Instrument("F", "", (asks, text)))] == [
        True,
        False,
    ]
    assert [p.is_sure for p in matcher.propose_form(Instrument("F", "", (text,)))] == [True]


def test_the_same_answers_mean_what_they_meant_before_and_leave_out_the_same_people():
    sex = Variable("Sex", PartitionGraph({"any": ["female", "male", "other"]}))
    asks = asked("What is your sex?", "Female", "Male")
    assert not propose(asks, Environment([sex], [])).is_sure
    answers = [Answer(text="Female", means="female"), Answer(text="Male", means="male")]
    form = Form("Bank", questions=(
        Question(name="x", text="You are", variable="Sex", answers=answers, outside=True),))  # fmt: skip
    found = propose(asks, Environment([sex], [form]))
    assert found.is_sure
    assert found.best.fit.outside


def test_a_yes_means_what_its_own_question_asks():
    answers = [Answer(text="Yes", means="married"), Answer(text="No", means=ELSE)]
    form = Form("Bank", questions=(
        Question(name="x", text="Are you married?", variable="Marital status", answers=answers),))  # fmt: skip
    known = Environment([MARITAL], [form])
    again = propose(asked("Are you divorced?", "Yes", "No"), known)
    assert [m.means for m in again.best.fit.meanings] == ["divorced", ELSE]
    other = propose(asked("Marital status", "Yes", "No"), known)
    assert not other.is_sure
    same = propose(asked("Are you married?", "Yes", "No"), known)
    assert same.is_sure
    assert [m.means for m in same.best.fit.meanings] == ["married", ELSE]


def test_what_the_answers_fit_decides_between_variables_of_the_same_wording():
    group = Variable("Ethnic group", PartitionGraph({"any": ["white", "black", "asian"]}))
    origin = Variable("Hispanic origin", PartitionGraph({"any": ["hispanic", "not hispanic"]}))
    both = Environment([group, origin], [])
    asks = asked(
        "Ethnicity", "Hispanic or Latino", "NOT Hispanic or Latino", "Unknown / Not Reported"
    )
    found = propose(asks, both)
    assert (found.is_sure, found.best.variable) == (True, "Hispanic origin")
    assert (
        propose(asked("Ethnicity", "White", "Black", "Asian"), both).best.variable == "Ethnic group"
    )
    assert not propose(asked("Ethnicity", answering=Answering.TEXT), both).is_sure


def test_what_identifies_people_is_proposed_too():
    asks = asked("Date of birth", answering=Answering.DATE, is_identifier=True)
    found = propose(asks)
    assert found.is_sure
    assert "identifying" in found.best.reason


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
