from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition, meet
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.forms.form import Answer, Question, Universe, labels_fed
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.codes import ALSO, ELSE, OUTSIDE, Variable

HEALTH = Variable(
    "Health", PartitionGraph({"well": ["excellent", "very good", "good"], "poor": []})
)


def asked(name: str, **answers: str | None) -> Question:
    return Question(
        name=name,
        variable="Health",
        answers=[Answer(text=text, means=means) for text, means in answers.items()],
    )


def test_two_forms_print_the_same_word_and_mean_different_categories() -> None:
    """The example of Smith and Elliot, section 2.2: 'good' depends on what stands beside it."""
    graph = PartitionGraph({"Good": ["excellent", "very good"], "middling": [], "poor": []})
    health = Variable("Health", graph)
    three = Form("Three", questions=[asked("Q1", good="Good", fair="middling", poor="poor")])
    answers = {"excellent": "excellent", "very good": "very good", "good": "middling"}
    four = Form("Four", questions=[asked("Q1", **answers, poor=None)])
    environment = Environment([health], [three, four])
    words = [
        health.words(environment.categorization(form, "Health").partition or ARBITRARY)
        for form in ("Three", "Four")
    ]
    assert words == [("Good", "middling", "poor"), ("excellent", "middling", "poor", "very good")]


def test_what_is_no_answer_takes_part_in_nothing() -> None:
    plain = asked("Q1", Fine="well", Bad="poor")
    refused = plain.model_copy(
        update={
            "answers": (
                *plain.answers,
                Answer(text="Prefer not to say", no_answer="refused"),
                Answer(text="Don't know", no_answer="don't know"),
                Answer(text="Does not apply", no_answer="not applicable"),
            )
        }
    )
    one, other = (
        Environment([HEALTH], [Form("Clinic", questions=[question])])
        for question in (plain, refused)
    )
    assert one.code_of("Clinic", "Health") == other.code_of("Clinic", "Health") == "C2.001"
    assert one.register("Health") == other.register("Health")


def test_a_question_without_a_variable_is_words_alone() -> None:
    form = Form("Clinic", questions=[Question(name="Q1", text="Why?", answers=[Answer(text="x")])])
    assert form.instances == {}
    assert Environment([HEALTH], [form]).n_instances == 0


def test_boxes_tick_yes_no_variables() -> None:
    yes_no = [
        Variable(name, PartitionGraph({"yes": [], "no": []})) for name in ("Asthma", "Diabetes")
    ]
    boxes = [Answer(text=v.name, variable=v.name, means="yes") for v in yes_no]
    none = Answer(text="None of these", no_answer="not applicable")
    form = Form("Clinic", questions=[Question(name="Q1", multiple=True, answers=[*boxes, none])])
    environment = Environment(yes_no, [form])
    assert [environment.code_of("Clinic", v.name) for v in yes_no] == ["C2.001", "C2.001"]


def test_boxes_feed_one_variable_of_sets() -> None:
    sets = {"asthma": ["asthma only", "both"], "diabetes": ["diabetes only", "both"], "none": []}
    variable = Variable("Conditions", PartitionGraph(sets))
    boxes = [Answer(text="Asthma", means="asthma"), Answer(text="Diabetes", means="diabetes")]
    question = Question(name="Q1", variable="Conditions", multiple=True, answers=boxes)
    assert labels_fed([question]) == {"Conditions": ("asthma", ELSE, ALSO, "diabetes", ELSE)}
    environment = Environment([variable], [Form("Clinic", questions=[question])])
    assert environment.code_of("Clinic", "Conditions") == "C4.001"
    one = question.model_copy(update={"answers": (boxes[0],)})
    environment = Environment([variable], [Form("Clinic", questions=[one])])
    assert environment.code_of("Clinic", "Conditions") == "C2.001"


def test_country_and_town_feed_one_variable() -> None:
    place = Variable(
        "Place of birth", PartitionGraph({"UK": ["Leeds", "York", "elsewhere in UK"], "abroad": []})
    )
    country = Question(
        name="Q1",
        variable=place.name,
        answers=[Answer(text="UK"), Answer(text="Other", means="abroad")],
    )
    town = Question(
        name="Q2",
        variable=place.name,
        answers=[Answer(text="Leeds"), Answer(text="Other", means=ELSE)],
    )
    environment = Environment([place], [Form("Census", questions=[country, town])])
    told = environment.categorization("Census", place.name)
    assert isinstance(told.partition, Partition)
    assert place.words(told.partition) == ("Leeds", "York or elsewhere in UK", "abroad")
    write_in = Question(name="Q3", variable=place.name)
    environment = Environment([place], [Form("Census", questions=[country, town, write_in])])
    assert environment.code_of("Census", place.name) == "C0.001"


def test_outside_is_who_no_question_asks() -> None:
    residence = Variable("Residence", PartitionGraph({"UK": ["England", "Wales"], "abroad": []}))
    together = categorize(residence, ["UK", OUTSIDE, ALSO, "England", OUTSIDE])
    assert together.outside == ("abroad",)
    assert together.is_valid


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=3))
def test_questions_tell_together_what_their_partitions_overlap_in(told: list[list[int]]) -> None:
    sinks = [f"s{number}" for number in range(5)]
    graph: dict[str, list[str]] = {sink: [] for sink in sinks}
    labels: list[str] = []
    expected: object = None
    for part, numbers in enumerate(told):
        names = [f"q{part}.{block}" for block in sorted(set(numbers))]
        for block, name in zip(sorted(set(numbers)), names, strict=True):
            graph[name] = [s for s, own in zip(sinks, numbers, strict=True) if own == block]
        labels += [*([ALSO] if part else []), *names]
        partition = Partition.from_labels(numbers)
        expected = partition if expected is None else meet(expected, partition)  # pyright: ignore[reportArgumentType]
    assert categorize(Variable("V", PartitionGraph(graph)), labels).partition == expected


def test_an_answer_for_the_rest_needs_a_rest() -> None:
    told = categorize(HEALTH, ["well", "poor", ELSE])
    assert not told.is_valid
    assert "widen" in told.fault
    assert categorize(HEALTH, ["excellent", ELSE]).is_valid
    assert not categorize(HEALTH, ["excellent", ELSE, OUTSIDE]).is_valid
    with pytest.raises(InputError, match="reserved"):
        Variable("V", PartitionGraph({ELSE: [], "x": []}))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (Question(name="Q", answers=[Answer(text="x", means="y", no_answer="refused")]), "Choose"),
        (Question(name="Q", answers=[Answer(text="x", variable="V")]), "multiple"),
        (Question(name="Q", variable="V", outside=True), "no answer that means"),
        (Question(name="", variable="V"), "is empty"),
        (Question(name="Q", variable="V", answers=[Answer(text=OUTSIDE)]), "reserved"),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(question: Question, found: str) -> None:
    with pytest.raises(InputError, match=found):
        Form("Bank", questions=[question])


def test_labels_that_are_not_what_questions_mean_are_refused() -> None:
    question = asked("Q1", Fine="well", Bad="poor")
    with pytest.raises(InputError, match="not what its questions mean"):
        Form("Clinic", {"Health": ("good", "poor")}, questions=[question])
    with pytest.raises(InputError, match="twice"):
        Form("Clinic", questions=[question, question])
    form = Form("Clinic", {"Health": ("well", "poor"), "Age": ()}, questions=[question])
    assert form.by_hand == {"Age": ()}


def test_a_universe_names_what_there_is() -> None:
    form = Form("Clinic", universe=Universe(wording="The well", within={"Helth": ("well",)}))
    with pytest.raises(InputError) as caught:
        Environment([HEALTH], [form])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "'Health'" in str(caught.value)
    with pytest.raises(InputError, match="'wel'"):
        Environment([HEALTH], [Form("Clinic", universe=Universe(within={"Health": ("wel",)}))])
