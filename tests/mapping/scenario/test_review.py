from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import is_finer
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.document import staleness
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import renew_scenario, review_scenario
from gamekeeper.mapping.variables.codes import CodeRegister, Variable
from tests.given.categorizations import disjoint_pairs, environments, labels_of, variable_of
from tests.given.scenario_of_ages import AGE, AT, BANK, CENSUS, CLUB, HERE, SEX, SHOP, made

PREVALENCES = st.sampled_from([0, "1/3", "1/2", "2/3", 1])


def test_nothing_changed_in_a_store():
    review = review_scenario(made(revision=3), HERE, revision=3)
    assert review.is_current
    assert not review.has_environment_changed
    assert review.sentences == (
        "The environment is at revision 3, as it was.",
        "Nothing has changed for the scenario 's'.",
    )
    assert review.to_arrow().to_pylist() == [
        {
            "variable": "Age",
            "code_then": "C3.001",
            "code_now": "C3.001",
            "maximal_then": "C3.001",
            "maximal_now": "C3.001",
            "forms_then": 1,
            "forms_now": 1,
            "match_forms_then": 3,
            "match_forms_now": 3,
            "in_words_then": "0-15; 16-64; 65+",
            "in_words_now": "0-15; 16-64; 65+",
            "changed": False,
            "what": "nothing",
        }
    ]


def test_an_environment_that_changed_elsewhere():
    later = HERE.with_form(Form("Post", {"Sex": ("any",)}))
    review = review_scenario(made(groups="trade", revision=3), later, revision=4)
    assert review.is_current
    assert review.has_environment_changed
    assert review.sentences[0] == "The environment has changed: revision 3 then, 4 now."
    # Without revisions, what matters is what the analysis looks at.
    review = review_scenario(made(groups="trade"), later, revision=4)
    assert not review.has_environment_changed
    assert review.sentences[0] == "What the analysis looks at is as it was."


def test_forms_that_are_new_or_gone():
    scenario = made(groups="trade")
    post = Form("Post", {"Age": ("0-15", "16+"), "Sex": ("any",)}, {"sector": "trade"})
    later = HERE.changed(forms={"Post": post, "Bank": None}, groups={"hand": None})
    review = review_scenario(scenario, later, revision=0)
    assert review.sentences == (
        "The environment has changed since.",
        "1 form is new among those to match against: 'Post'; 2 then, 2 now.",
        "1 form is gone among those to match against: 'Bank'; 2 then, 2 now.",
        "'Sex' can now be matched, and could not be then.",
        f"'Age': {'; '.join(review.keys[0].changes)}.",
        "It is marked as stale until it is renewed.",
    )
    assert review.keys[0].changes == (
        "1 of 2 forms could be matched at C3.001, 0 of 2 can now",
        "C3.001 cannot be matched with enough forms any more",
        "the finest possible was C3.001, and is C2.001",
    )
    (age,) = review.keys
    assert (age.code_now, age.categories_now, age.n_forms_now) == ("C2.001", ("0-15", "16+"), 0)


def test_names_that_are_gone():
    scenario = made(forms=["Club", "Shop"], groups=["hand", "trade"])
    later = HERE.changed(forms={"Club": None}, groups={"hand": None})
    review = review_scenario(scenario, later, revision=0)
    assert review.changes[:2] == (
        "1 form that it was to be matched against is gone: 'Club'.",
        "1 group that it was to be matched against is gone: 'hand'.",
    )
    assert review.outcome is not None
    assert set(review.outcome.match_forms) == {"Bank", "Shop"}


@pytest.mark.parametrize(
    ("asked", "later", "changes"),
    [
        ({}, {"forms": {"Census": None}}, ("The target 'Census' is gone.",)),
        (
            {"groups": "trade"},
            {"groups": {"trade": None}},
            (
                "1 group that it was to be matched against is gone: 'trade'.",
                "No form is left to match against.",
            ),
        ),
        (
            {"groups": "trade"},
            {"groups": {"trade": Group("trade", where="sector = none")}},
            ("No form is left to match against.",),
        ),
    ],
)
def test_an_analysis_that_cannot_be_made(asked, later, changes):
    review = review_scenario(made(**asked), HERE.changed(**later), revision=0)
    assert review.outcome is None
    assert review.has_environment_changed
    assert not review.is_current
    assert review.changes == changes
    (age,) = review.keys
    assert age.changes == ("there is no analysis now",)
    assert (age.code_now, age.maximal_now, age.n_forms_now) == ("", (), None)
    assert review.to_arrow().to_pylist()[0]["code_now"] is None


def test_a_variable_that_is_gone_from_the_target_or_altogether():
    scenario = made()
    bare = Form("Census", {"Sex": ("any",)})
    (age,) = review_scenario(scenario, HERE.with_form(bare), revision=0).keys
    assert age.changes == ("the target 'Census' does not ask for it any more",)
    nobody = {form.name: Form(form.name) for form in (BANK, SHOP, CLUB)}
    later = HERE.changed(variables={"Age": None}, forms={**nobody, "Census": bare})
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert age.changes == ("the environment has no such variable any more",)


def test_a_target_that_tells_less():
    scenario = made()
    later = HERE.with_form(Form("Census", {"Age": ("0-15", "16+")}))
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert age.changes == (
        "C3.001 tells apart what the target's own C2.001 does not",
        "the finest possible was C3.001, and is C2.001",
    )


def test_a_variable_without_a_result_now():
    scenario = made()
    later = HERE.with_form(Form("Club", {"Age": ("0-17",)}))
    (age,) = review_scenario(scenario, later, revision=0).keys
    (change,) = age.changes
    assert change.startswith(
        "there is no result now: inconsistent categorizations: 'Club' misses '18-64', '65+'"
    )
    few = HERE.with_form(Form("Bank"))
    (age,) = review_scenario(made(prevalence=1), few, revision=0).keys
    assert age.changes[-1] == "it cannot be matched any more: 2 of 3 forms have it, and 3 must"
    assert age.code_now == ""


def test_a_retired_code():
    scenario = made()
    coarse = Variable.of_bands("Age", ["0-15", "16+"])
    labels = {"Age": ("0-15", "16+")}
    forms = {form.name: Form(form.name, labels, form.metadata) for form in (BANK, SHOP, CLUB)}
    later = HERE.changed(
        variables={"Age": coarse}, forms={**forms, "Census": Form("Census", labels)}
    )
    assert "C3.001" in later.register("Age").retired
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert age.changes == (
        "C3.001 is retired: the categories that it stood for were changed",
        "the finest possible was C3.001, and is C2.001",
    )
    assert (age.code_now, age.n_forms_now) == ("C2.001", None)


def test_codes_that_were_given_anew():
    """A folder whose codes were deleted: what the categories say still holds."""
    scenario = made(keys={"Age": "C2.001"})
    anew = Environment(
        HERE.variables.values(), [CLUB, CENSUS, BANK, SHOP], HERE.groups.values(), name="Here"
    )
    assert anew.code_of("Shop", "Age") != "C2.001"
    (age,) = review_scenario(scenario, anew, revision=0).keys
    assert age.changes[0] == (
        "the categories of C2.001 have other names now, or are others: 0-17; 18+"
    )
    without = Environment(
        [AGE, SEX],
        [CENSUS, BANK, SHOP, CLUB],
        HERE.groups.values(),
        registers={"Age": CodeRegister([("C2.007", HERE.register("Age").meaning("C2.001"))])},
    )
    (age,) = review_scenario(scenario, without, revision=0).keys
    assert "C2.001" not in without.register("Age")
    assert (age.code_now, age.n_forms_now) == ("C2.007", 2)


def test_renamed_categories():
    labels = {"Sex": ("female", "male")}
    before = Environment([SEX], [Form("Census", labels), Form("Post", labels)])
    scenario = made(before)
    graph = PartitionGraph({"any": ["woman", "man"]}, order=["woman", "man"])
    labels = {"Sex": ("woman", "man")}
    later = before.changed(
        variables={"Sex": Variable("Sex", graph)},
        forms={"Census": Form("Census", labels), "Post": Form("Post", labels)},
        registers={"Sex": before.register("Sex")},
    )
    review = review_scenario(scenario, later, revision=0)
    (sex,) = review.keys
    assert sex.changes == (
        "the categories of C2.001 have other names now, or are others: woman; man",
    )
    assert (sex.code_now, sex.categories_now) == ("C2.001", ("woman", "man"))


def test_a_harmonization_that_was_observed_since_is_the_same():
    scenario = made(prevalence=1, groups="hand", keys={"Age": "H1.001"})
    later = HERE.with_form(Form("Post", {"Age": ("0+",)}))
    assert later.code_of("Post", "Age") == "C1.001"
    review = review_scenario(scenario, later, revision=0)
    assert review.is_current
    assert review.keys[0].code_now == "C1.001"


def test_a_finer_split_changes_nothing():
    scenario = made()
    finer = Variable.of_bands("Age", [*AGE.bands, "0-4", "5-15"])
    later = HERE.changed(variables={"Age": finer})
    review = review_scenario(scenario, later, revision=0)
    assert review.is_current
    assert review.has_environment_changed


def test_a_coarser_choice_stays():
    scenario = made(keys={"Age": "C2.001"})
    later = HERE.with_form(Form("Post", {"Age": ("0-15", "16+")}))
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert (age.code_now, age.maximal_now, age.n_forms_now) == ("C2.001", ("C3.001",), 3)
    assert age.changes == ("2 of 3 forms could be matched at C2.001, 3 of 4 can now",)


def test_another_maximal_harmonization_besides():
    before = HERE.with_form(Form("Census", {"Age": ("0+",)}))
    scenario = made(before, target="Bank", forms=["Shop", "Census"])
    later = before.changed(
        variables={"Age": Variable.of_bands("Age", [*AGE.bands, "0-64"])},
        forms={"Census": Form("Census", {"Age": ("0-64", "65+")})},
    )
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert age.changes == ("the finest possible was C2.001, and is C2.001 and C2.003",)
    assert age.code_now == "C2.001"


def test_a_finer_maximal_harmonization_is_taken():
    scenario = made(target="Bank", forms=["Shop", "Club"])
    assert scenario.keys[0].code == "C2.001"
    later = HERE.with_form(Form("Club", BANK.instances))
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert age.changes == (
        "1 of 2 forms could be matched at C2.001, 2 of 2 can now",
        "the finest possible was C2.001, and is C3.001",
    )
    assert age.code_now == "C3.001"


def test_other_codes_under_the_same_number():
    scenario = made(keys={"Age": "C2.001"}, forms=["Bank", "Shop"])
    later = HERE.with_form(Form("Bank", {"Age": ("0-15", "16+")}, BANK.metadata)).with_form(
        Form("Shop", BANK.instances, SHOP.metadata)
    )
    assert review_scenario(scenario, later, revision=0).is_current
    later = HERE.with_form(Form("Shop", {"Age": ("0-15", "16-64", "65+")}, SHOP.metadata))
    (age,) = review_scenario(scenario, later, revision=0).keys
    assert age.changes == ("the forms that it rests on have other codes now",)


@pytest.mark.parametrize("most", [1, 3, 20, 50])
def test_lists_that_were_cut_are_compared_by_what_they_mean(most):
    pairs = disjoint_pairs(8)
    variable = variable_of("X", pairs, 16)
    fine = [f"X{n}" for n in range(16)]
    forms = [Form("target", {"X": fine})]
    forms += [Form(f"f{n}", {"X": labels_of("X", pair)}) for n, pair in enumerate(pairs)]
    environment = Environment([variable], forms)
    outcome = map_key_variables(environment, "target", prevalence="1/4", most=most)
    assert len(outcome.variables[0].maximal) == min(most, 28)
    scenario = propose_scenario(outcome, environment, name="s")
    review = review_scenario(scenario, environment, revision=0)
    assert review.is_current
    assert review.keys[0].code_now == scenario.keys[0].code
    fewer = environment.changed(forms={"f7": None})
    assert not review_scenario(scenario, fewer, revision=0).is_current


def test_a_search_that_ended_early_tells_of_no_change():
    variable = Variable.of_bands("Age", [*AGE.bands, "0-64"])
    split = Form("Club", {"Age": ("0-64", "65+")})
    environment = Environment([variable], [BANK, SHOP, split])
    scenario = made(environment, target="Bank")
    (age,) = scenario.keys
    assert age.maximal == ("C2.001", "C2.002")
    for may_have_more in (True, False):
        key = replace(age, maximal=("C2.001",), may_have_more=may_have_more)
        review = review_scenario(replace(scenario, keys=(key,)), environment, revision=0)
        assert review.is_current == may_have_more


def test_the_order_of_variables_and_forms_makes_no_difference():
    environment = Environment([AGE, SEX], [CENSUS, Form("Post", CENSUS.instances), BANK])
    other = Environment(
        [SEX, AGE],
        [
            BANK,
            Form("Post", dict(reversed(CENSUS.instances.items()))),
            Form("Census", dict(reversed(CENSUS.instances.items()))),
        ],
        registers={name: environment.register(name) for name in ("Age", "Sex")},
    )
    review = review_scenario(made(environment), other, revision=0)
    assert review.is_current
    assert not review.has_environment_changed


def test_bad_options_are_not_taken_for_a_change():
    with pytest.raises(InputError) as caught:
        review_scenario(made(), HERE, revision=0, max_nodes=0)
    assert caught.value.reason is Reason.BAD_OPTION


@st.composite
def changed(draw, environment):
    """Draw an environment with a few changes: forms gone, new, or like another form."""
    for number in range(draw(st.integers(0, 3))):
        names = list(environment.forms)
        others = [name for name in names if name != "target"]
        like = environment.forms[draw(st.sampled_from(names))].instances
        kept = {variable: like[variable] for variable in like if draw(st.integers(0, 4))}
        match draw(st.sampled_from(["add", "replace", "remove"])):
            case "add":
                environment = environment.with_form(Form(f"new{number}", kept))
            case "replace":
                environment = environment.with_form(Form(draw(st.sampled_from(names)), kept))
            case _ if others:
                gone = draw(st.sampled_from(others))
                environment = environment.changed(forms={gone: None})
            case _:
                pass
    return environment


@given(environments(), PREVALENCES, st.booleans(), st.data())
def test_then_and_now_are_two_analyses(environment, prevalence, strict, data):
    asked = {"prevalence": prevalence, "strict": strict}
    then = map_key_variables(environment, "target", **asked)
    assume(any(item.maximal for item in then.variables))
    scenario = propose_scenario(then, environment, name="s")
    same = review_scenario(scenario, environment, revision=0)
    assert same.is_current
    assert not same.has_environment_changed
    later = data.draw(changed(environment))
    review = review_scenario(scenario, later, revision=0)
    if len(later.forms) == 1:
        assert review.outcome is None
        return
    now = map_key_variables(later, "target", **asked)
    assert review.outcome.variables == now.variables
    found = {item.variable: item for item in now.variables}
    before = {item.variable: item for item in then.variables}
    for key in review.keys:
        old, new = before[key.key.variable], found.get(key.key.variable)
        assert key.key.maximal == old.codes
        assert key.maximal_now == (new.codes if new else ())
        if new is None or not new.maximal:
            assert key.code_now == ""
            assert key.changes
            continue
        # The first maximal harmonization then is taken again where it is one still.
        meanings = {one.partition: one.code for one in new.maximal}
        assert key.code_now == meanings.get(old.maximal[0].partition, new.codes[0])
        meaning = old.maximal[0].partition
        assert key.n_forms_now == sum(
            is_finer(later.categorization(form, new.variable).partition, meaning)
            for form in now.match_forms
            if new.variable in later.form(form).instances
        )
        is_same = (
            {one.partition for one in old.maximal} == set(meanings)
            and old.maximal[0].n_forms == key.n_forms_now
            and old.n_forms == new.n_forms
            and old.maximal[0].evidence
            == next(one.evidence for one in new.maximal if one.partition == meaning)
        )
        assert bool(key.changes) != is_same
    rows = review.to_arrow().to_pylist()
    assert [row["match_forms_now"] for row in rows] == [len(now.match_forms)] * len(rows)
    if not review.has_environment_changed:
        assert review.is_current
    assert all(sentence.endswith(".") for sentence in review.sentences)


def test_a_review_that_finds_nothing_is_accepted_and_the_scenario_is_fresh():
    # One more form asks a variable that was left out: nothing for this scenario, yet it is marked.
    here = HERE.with_form(Form("Bank", {"Age": ("0-15", "16-64", "65+"), "Sex": ("any",)}))
    scenario = made(here, keys=["Age"])
    later = here.with_form(Form("Club", {"Age": ("0-17", "18+"), "Sex": ("any",)}))
    reviewed = review_scenario(scenario, later, revision=0)
    assert reviewed.is_current
    assert reviewed.is_stale
    assert reviewed.sentences[-1] == "It is marked as stale until it is renewed."
    renewed = renew_scenario(reviewed, later, at=AT)
    assert not staleness(renewed, later)
    assert renewed == replace(scenario, fingerprint=renewed.fingerprint)
    again = review_scenario(renewed, later, revision=0)
    assert again.is_current
    assert not again.is_stale


def test_what_changed_is_taken_up_where_a_review_is_accepted():
    scenario = made(forms=["Bank", "Club"], prevalence=1, keys={"Age": ""})
    later = HERE.with_form(Form("Club", {"Age": ("0-15", "16-64", "65+")}))
    reviewed = review_scenario(scenario, later, revision=7)
    renewed = renew_scenario(reviewed, later, who="ben", at=AT)
    assert renewed == replace(
        made(later, forms=["Bank", "Club"], prevalence=1, revision=7), who="ben"
    )
    assert renewed.key("Age").code != scenario.key("Age").code


def test_a_key_variable_that_is_lost_is_never_dropped_in_silence():
    scenario = made(forms=["Bank"])
    later = HERE.with_form(Form("Bank", {"Sex": ("female", "male")}))
    with pytest.raises(InputError) as caught:
        renew_scenario(review_scenario(scenario, later, revision=0), later)
    assert "key variable 'Age'" in str(caught.value)
    later = HERE.changed(forms={"Census": None})
    with pytest.raises(InputError, match="no analysis to accept"):
        renew_scenario(review_scenario(scenario, later, revision=0), later)


@given(environments(), environments(), PREVALENCES)
def test_a_renewed_scenario_is_fresh_whatever_changed(environment, later, prevalence):
    try:
        scenario = made(environment, target=next(iter(environment.forms)), prevalence=prevalence)
        renewed = renew_scenario(review_scenario(scenario, later, revision=0), later)
    except InputError:
        assume(False)
    assert not staleness(renewed, later)
    reviewed = review_scenario(renewed, later, revision=0)
    assert reviewed.is_current
    assert not reviewed.has_environment_changed
