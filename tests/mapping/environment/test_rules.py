from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition, is_finer
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.environment.asked import Mode
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.document import SCENARIO, document_of, scenario_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.variables.categorization import blocks_of, categorization_of
from gamekeeper.mapping.variables.codes import Variable
from tests.given.categorizations import categorizations, environments, partitions, variable_of

AT = datetime(2029, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
PREVALENCES = st.sampled_from([0, "1/3", "1/2", "2/3", 1])

AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+", "0-17", "18+"])
SEX = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
FORMS = [
    Form("Census", {"Age": ("0-15", "16-64", "65+"), "Sex": ("female", "male")}),
    Form("Bank", {"Age": ("0-15", "16-64", "65+")}),
    Form("Shop", {"Age": ("0-15", "16+")}),
    Form("Club", {"Age": ("0-17", "18+")}),
]
GROUPS = [Group("trade", ("Bank", "Shop"))]


def made(*, prevalence="1/2", forms=(), groups=(), **given):
    environment = Environment([AGE, SEX], FORMS, GROUPS, name="Here")
    outcome = map_key_variables(
        environment, "Census", prevalence=prevalence, forms=forms, groups=groups
    )
    return propose_scenario(
        outcome, environment, **{"name": "s", "forms": forms, "groups": groups, "at": AT} | given
    )


def refusal(**given):
    with pytest.raises(InputError) as caught:
        made(**given)
    return caught.value


def test_a_scenario_says_everything():
    scenario = made(
        prevalence="50%",
        groups=["trade"],
        name="A clerk",
        attacker="a curious clerk",
        description="at the bank",
        revision=7,
        who="ann",
    )
    assert (scenario.name, scenario.attacker, scenario.description, scenario.who) == (
        "A clerk", "a curious clerk", "at the bank", "ann",
    )  # fmt: skip
    assert (scenario.target, scenario.forms, scenario.groups) == ("Census", (), ("trade",))
    assert scenario.match_forms == ("Bank", "Shop")
    assert (scenario.mode, scenario.prevalence) == (Mode.TYPICAL, Fraction(1, 2))
    assert (scenario.strict, scenario.levels, scenario.left_out) == (True, None, ())
    assert (scenario.environment, scenario.revision, scenario.at) == ("Here", 7, AT)
    assert len(scenario.fingerprint) == 16
    (age,) = scenario.keys
    assert (age.variable, age.code, age.n_categories) == ("Age", "C3.001", 3)
    assert age.categories == ("0-15", "16-64", "65+")
    assert age.blocks == (("0-15",), ("16-64",), ("65+",))
    assert age.why == "Age at C3.001, because 1 of 2 forms can be matched at it (1 at C3.001)."


def test_a_coarser_code_may_be_chosen():
    scenario = made(keys={"Age": "C2.001"})
    (age,) = scenario.keys
    assert (age.code, age.maximal, age.n_forms) == ("C2.001", ("C3.001",), 2)
    assert age.categories == ("0-15", "16+")
    assert age.why == (
        "Age at C2.001, because 2 of 3 forms can be matched at it (1 at C2.001, 1 at C3.001)."
    )


def test_variables_may_be_chosen_by_name():
    first = Environment([AGE, SEX], [*FORMS, Form("Post", {"Sex": ("female", "male")})])
    outcome = map_key_variables(first, "Census")
    assert {key.variable for key in propose_scenario(outcome, first, name="s").keys} == {
        "Age", "Sex",
    }  # fmt: skip
    for keys in ("Sex", ["Sex"], {"Sex": ""}, iter(["Sex"])):
        scenario = propose_scenario(outcome, first, name="s", keys=keys)
        assert [key.variable for key in scenario.keys] == ["Sex"]
        assert scenario.left_out == ("Age",)


def test_levels_and_strictness_are_kept():
    environment = Environment([AGE], [Form("Census", {"Age": ()}), Form("Any", {"Age": ()})])
    outcome = map_key_variables(environment, "Census", levels=100, strict=False)
    scenario = propose_scenario(outcome, environment, name="s")
    assert (scenario.levels, scenario.strict) == (100, False)
    (age,) = scenario.keys
    assert (age.code, age.blocks, age.categories) == ("C0.001", (), ("any level of detail",))
    assert age.n_categories == float("inf")
    assert scenario_of(document_of(scenario)) == scenario


def test_every_fault_of_a_choice_is_told_at_once_with_what_is_possible():
    error = refusal(keys={"Aeg": "", "Sex": "", "Age": "C9.001"})
    assert [problem.reason for problem in error.problems] == [
        Reason.UNKNOWN_NAME, Reason.UNKNOWN_NAME, Reason.BAD_OPTION,
    ]  # fmt: skip
    said = str(error)
    assert "key variable 'Aeg': is not on the target 'Census'. Near to it: 'Age'." in said
    assert "key variable 'Sex': cannot be matched: 0 of 3 forms have it, and 2 must." in said
    assert "code 'C9.001': is not a code of the variable. The finest possible: 'C3.001'." in said
    assert "Others: 'C2.001', 'H1.001'." in said


@pytest.mark.parametrize(
    ("prevalence", "code", "found"),
    [
        ("1", "C3.001", "can be matched with 1 of 3 forms; 3 must."),
        ("0", "C2.002", "tells apart what the target's own C3.001 does not."),
        ("0", "nonsense\x1b", "is not a code."),
    ],
)
def test_a_code_that_cannot_be_matched_is_refused(prevalence, code, found):
    error = refusal(prevalence=prevalence, keys={"Age": code})
    (problem,) = error.problems
    assert problem.found == found
    assert "The finest possible:" in problem.do
    assert "\x1b" not in str(error)


def test_nothing_to_match_on_is_refused():
    assert refusal(keys=[]).reason is Reason.NOTHING_GIVEN
    environment = Environment([SEX], [Form("Census", {"Sex": ("any",)}), Form("Bank")])
    outcome = map_key_variables(environment, "Census")
    with pytest.raises(InputError) as caught:
        propose_scenario(outcome, environment, name="s")
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_an_analysis_of_something_else_is_refused():
    environment = Environment([AGE, SEX], FORMS, GROUPS)
    outcome = map_key_variables(environment, "Census", groups="trade")
    with pytest.raises(InputError, match="which are not the 2 of the analysis"):
        propose_scenario(outcome, environment, name="s")
    with pytest.raises(InputError) as caught:
        propose_scenario(outcome, environment, name="s", groups=["trade", "tarde"], forms="Bnak")
    assert [problem.reason for problem in caught.value.problems] == [Reason.UNKNOWN_NAME] * 2
    for form in (
        Form("Bank", {"Age": ("0-15", "16+")}),
        Form("Census", {"Sex": ("female", "male")}),
    ):
        with pytest.raises(InputError) as caught:
            propose_scenario(outcome, environment.with_form(form), name="s", groups="trade")
        assert caught.value.reason is Reason.STALE
    with pytest.raises(InputError, match="no such form"):
        propose_scenario(outcome, environment.changed(forms={"Census": None}), name="s")


@pytest.mark.parametrize("name", ["", " x", "a\x1b[2J", "\u202eevil", "two\nlines", "\ud800"])
def test_a_bad_name_is_refused(name):
    error = refusal(name=name)
    assert error.reason is Reason.BAD_NAME
    assert str(error).replace("\n", "").isprintable()


def test_all_faults_of_a_scenario_are_told_at_once():
    scenario = made()
    with pytest.raises(InputError) as caught:
        replace(
            scenario,
            name="",
            attacker="\ud800",
            revision=-1,
            at=datetime(2029, 1, 1),  # noqa: DTZ001
            keys=(
                *scenario.keys,
                replace(scenario.keys[0], code="C7.001"),
                replace(scenario.keys[0], variable="X", blocks=(("a",), ("a",), ())),
                replace(scenario.keys[0], variable="Y", categories=("a",)),
                replace(scenario.keys[0], variable="Z", code="nonsense"),
            ),
        )
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.BAD_NAME,
        Reason.WRONG_ENCODING,
        Reason.BAD_OPTION,
        Reason.BAD_OPTION,
        Reason.DUPLICATE,
        *[Reason.INCONSISTENT_CODE] * 5,
    ]


def test_a_time_elsewhere_is_told_in_utc():
    there = AT.astimezone(timezone(timedelta(hours=5)))
    scenario = made(at=there)
    assert scenario == made()
    assert document_of(scenario).at == "2029-03-01T12:00:00.123456Z"
    assert abs(made(at=None).at - datetime.now(UTC)) < timedelta(minutes=1)


def test_key_variables_are_found_by_name():
    assert made().key("Age").code == "C3.001"
    with pytest.raises(InputError, match="Near to it: 'Age'"):
        made().key("Aeg")


@given(environments(), PREVALENCES, st.booleans())
def test_a_scenario_is_the_outcome_of_its_analysis(environment, prevalence, strict):
    outcome = map_key_variables(environment, "target", prevalence=prevalence, strict=strict)
    matchable = [item for item in outcome.variables if item.maximal]
    if not matchable:
        with pytest.raises(InputError) as caught:
            propose_scenario(outcome, environment, name="s")
        assert caught.value.reason is Reason.NOTHING_GIVEN
        return
    scenario = propose_scenario(outcome, environment, name="s", at=AT)
    assert scenario.match_forms == outcome.match_forms
    for key, item in zip(scenario.keys, matchable, strict=True):
        first = item.maximal[0]
        assert (key.variable, key.code) == (item.variable, first.code)
        assert (key.categories, key.evidence) == (first.categories, first.evidence)
        assert f"because {first.n_forms} of {item.n_forms} forms" in key.why
        variable = environment.variable(key.variable)
        assert categorization_of(variable, key.blocks) == first.partition


@given(environments(), PREVALENCES, st.data())
def test_what_can_be_chosen_is_what_enough_forms_refine(environment, prevalence, data):
    outcome = map_key_variables(environment, "target", prevalence=prevalence)
    matchable = [item for item in outcome.variables if item.maximal]
    assume(matchable)
    item = data.draw(st.sampled_from(matchable))
    register = environment.register(item.variable)
    code = data.draw(st.sampled_from(list(register)))
    meaning = register.meaning(code)
    finer = [
        form
        for form in outcome.match_forms
        if item.variable in environment.form(form).instances
        and is_finer(environment.categorization(form, item.variable).partition, meaning)
    ]
    own = environment.categorization("target", item.variable).partition
    expected = is_finer(own, meaning) and len(finer) >= item.threshold
    try:
        scenario = propose_scenario(outcome, environment, name="s", keys={item.variable: code})
    except InputError as error:
        scenario, said = None, str(error)
    assert (scenario is not None) == expected
    assert expected or not any(is_finer(one.partition, meaning) for one in item.maximal)
    if scenario is None:
        assert f"The finest possible: '{item.codes[0]}'" in said
    else:
        assert scenario.keys[0].n_forms == len(finer)
        assert categorization_of(environment.variable(item.variable), scenario.keys[0].blocks) == (
            meaning
        )


@pytest.mark.slow
@given(environments(), PREVALENCES, st.text(max_size=5), st.integers(0, 10**9), st.datetimes())
def test_a_document_is_the_scenario_and_nothing_else(environment, prevalence, text, revision, at):
    outcome = map_key_variables(environment, "target", prevalence=prevalence)
    assume(any(item.maximal for item in outcome.variables))
    scenario = propose_scenario(
        outcome, environment, name="s", attacker=text, description=text, who=text,
        revision=revision, at=at.replace(tzinfo=UTC),
    )  # fmt: skip
    document = document_of(scenario)
    assert scenario_of(document) == scenario
    written = document.model_dump_json()
    assert scenario_of(SCENARIO.validate_json(written)) == scenario
    assert SCENARIO.validate_python(json.loads(written)) == document
    jsonschema.validate(json.loads(written), SCENARIO.json_schema())


def test_hostile_names_survive():
    names = ["x" * 10_000, "<script>", 'a\' or "b"', "ن\u200d نص", "{{ 7 * 7 }}", "A, B; C"]
    graph = PartitionGraph({names[0]: [names[1], names[2]], names[3]: []})
    variable = Variable(names[4], graph)
    forms = [
        Form("Census", {names[4]: (names[1], names[2], names[3])}),
        Form(names[5], {names[4]: (names[0], names[3])}),
    ]
    environment = Environment([variable], forms, [Group(names[0], (names[5],))], name=names[1])
    outcome = map_key_variables(environment, "Census", groups=names[0])
    scenario = propose_scenario(
        outcome, environment, name=names[0], groups=names[0], attacker="\x1b[2J", at=AT
    )
    assert {frozenset(block) for block in scenario.keys[0].blocks} == {
        frozenset([names[0]]), frozenset([names[3]]),
    }  # fmt: skip
    assert scenario_of(SCENARIO.validate_json(document_of(scenario).model_dump_json())) == scenario


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"revision": -1},
        {"revision": "3"},
        {"levels": 0},
        {"mode": "other"},
        {"version": 2},
        {"key_variables": []},
        {"match_forms": []},
        {"strict": 1},
        {"prevalence": 0.5},
        {"name": None},
    ],
)
def test_a_document_of_another_shape_is_refused(change):
    tree = json.loads(document_of(made()).model_dump_json())
    with pytest.raises(ValidationError):
        SCENARIO.validate_python({**tree, **change})


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"prevalence": "2"}, "prevalence"),
        ({"prevalence": "a"}, "prevalence"),
        ({"at": "yesterday"}, "field 'at'"),
        ({"at": "2029-01-01T00:00:00"}, "field 'at'"),
        ({"at": "0001-01-01T00:00:00+14:00"}, "field 'at'"),
        ({"name": "a\nb"}, "scenario 'a�b'"),
        ({"fingerprint": "xyz"}, "fingerprint"),
    ],
)
def test_a_document_that_makes_no_scenario_is_refused(change, where):
    tree = json.loads(document_of(made()).model_dump_json())
    document = SCENARIO.validate_python({**tree, **change})
    with pytest.raises(InputError) as caught:
        scenario_of(document)
    assert [problem.where for problem in caught.value.problems] == [where]


def test_all_faults_of_a_document_are_told_at_once():
    tree = json.loads(document_of(made()).model_dump_json())
    tree["key_variables"][0]["code"] = "C9.001"
    document = SCENARIO.validate_python({**tree, "prevalence": "2", "at": "x", "name": ""})
    with pytest.raises(InputError) as caught:
        scenario_of(document)
    assert len(caught.value.problems) == 4


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(categorizations(n), partitions(n))))
def test_blocks_make_the_same_categorization(pair):
    categorization, other = pair
    variable = variable_of("X", [other], other.n_sinks)
    blocks = blocks_of(variable, categorization)
    assert categorization_of(variable, blocks) == categorization


def test_blocks_that_make_no_categorization():
    assert categorization_of(SEX, []) is ARBITRARY
    assert categorization_of(SEX, [["any"]]) == Partition.from_labels([0, 0])
    assert categorization_of(SEX, [["male"], ["female"]]) == Partition.finest(2)
    for blocks in (
        [["male"]],
        [["any"], ["male"]],
        [["male", "male"]],
        [["other"]],
        [["any"], []],
        [["female", "female"], ["male"]],
    ):
        assert categorization_of(SEX, blocks) is None
