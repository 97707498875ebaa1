"""Key variable mapping and its levels, held against the definition for each number of forms."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import harmonization
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Partition,
    SizeCurve,
    effective_categories,
    is_finer,
)
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables, map_levels
from gamekeeper.mapping.environment.asked import MapOptions, Mode
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import OUTSIDE, Variable
from gamekeeper.workbench.demo_place import TARGET, demo_environment
from tests.given.categorizations import (
    crossing_environment,
    disjoint_pairs,
    environments,
    labels_of,
    ring_and_pairs,
    variable_of,
)
from tests.twins import partitions as twins

SHARES = [Fraction(k, 12) for k in range(13)]
AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+", "0-17", "18+"])
CENSUS = Form("Census", {"Age": ("0-15", "16-64", "65+")})
BANK = Form("Bank", {"Age": ("0-17", "18+")})
SHOP = Form("Shop", {"Age": ("0-15", "16-64", "65+")})
CARD = Form("Card", {"Age": ()})
CLUB = Form("Club", {})
GROUPS = [Group("money", ("Bank", "Card")), Group("rest", ("Shop", "Club", "Census"))]
ENVIRONMENT = Environment([AGE], [CENSUS, BANK, SHOP, CARD, CLUB], GROUPS)


def analysed_by_definition(environment, variable, match, share):
    """Return N, the size and all maximal harmonizations, or None, as they are defined."""

    def blocks(form):
        return twins.blocks_of(environment.categorization(form, variable).partition)

    having = [form for form in match if variable in environment.form(form).instances]
    if not having or len(having) < len(match) * share:
        return None
    needed = max(1, math.floor(len(match) * share))
    outcomes = {
        twins.joined(map(blocks, ("target", *chosen))) for chosen in combinations(having, needed)
    }
    size = max(map(twins.size_of, outcomes))
    return needed, size, {outcome for outcome in outcomes if twins.size_of(outcome) == size}


def others(environment):
    return [form for form in environment.forms if form != "target"]


@given(environments(), st.sampled_from(SHARES))
def test_every_variable_has_the_maximal_harmonizations_of_the_definition(environment, share):
    outcome = map_key_variables(environment, "target", prevalence=share)
    match = others(environment)
    assert sorted(outcome.match_forms) == sorted(match)
    assert {v.variable for v in outcome.variables} == set(environment.form("target").instances)
    for found in outcome.variables:
        assert found.n_forms == len(match)
        assert found.n_having == sum(
            found.variable in environment.form(form).instances for form in match
        )
        expected = analysed_by_definition(environment, found.variable, match, share)
        if expected is None:
            assert (found.maximal, found.n_categories, found.codes) == ((), 0, ())
            assert found.why
        else:
            needed, size, outcomes = expected
            assert found.threshold == needed
            assert found.n_categories == size
            assert {twins.blocks_of(one.partition) for one in found.maximal} == outcomes


@given(environments())
def test_the_curve_is_the_analysis_at_every_prevalence(environment):
    curves = {v.variable: v.curve for v in map_key_variables(environment, "target").variables}
    for share in SHARES:
        for variable, curve in curves.items():
            expected = analysed_by_definition(environment, variable, others(environment), share)
            assert curve.at(share) == (0 if expected is None else expected[1])


@given(environments(), st.sampled_from(SHARES))
def test_the_evidence_counts_the_forms_that_can_be_matched(environment, share):
    for found in map_key_variables(environment, "target", prevalence=share).variables:
        own = environment.categorization("target", found.variable).partition
        assert environment.code(found.variable, own) == found.target_code
        for one in found.maximal:
            finer = [
                form
                for form in others(environment)
                if found.variable in environment.form(form).instances
                and is_finer(
                    environment.categorization(form, found.variable).partition, one.partition
                )
            ]
            assert one.n_forms == len(finer) >= found.threshold
            codes = [environment.code_of(form, found.variable) for form in finer]
            assert {e.code: e.n_forms for e in one.evidence} == {c: codes.count(c) for c in codes}
            assert is_finer(own, one.partition)
            assert one.code == environment.code(found.variable, one.partition)
            assert one.categories == environment.variable(found.variable).words(one.partition)


@given(environments(), st.sampled_from(SHARES))
def test_effective_categories_are_reached_by_enough_single_forms(environment, share):
    for found in map_key_variables(environment, "target", prevalence=share).variables:
        own = environment.categorization("target", found.variable).partition
        reached = sorted(
            (
                math.inf if number is ARBITRARY else number
                for form in others(environment)
                if found.variable in environment.form(form).instances
                for number in [
                    effective_categories(
                        own, environment.categorization(form, found.variable).partition
                    )
                ]
            ),
            reverse=True,
        )
        assert found.effective == (reached[found.threshold - 1] if found.maximal else 0)


@given(environments(), st.sampled_from(SHARES), st.randoms(use_true_random=False))
def test_the_order_of_forms_does_not_matter(environment, share, random):
    forms = list(environment.forms.values())
    random.shuffle(forms)
    shuffled = Environment(environment.variables.values(), forms)
    one = map_key_variables(environment, "target", prevalence=share)
    other = map_key_variables(shuffled, "target", prevalence=share)
    assert one.provenance.fingerprint == other.provenance.fingerprint
    for a, b in zip(one.variables, other.variables, strict=True):
        assert (a.variable, a.curve, a.n_categories) == (b.variable, b.curve, b.n_categories)
        assert {m.partition for m in a.maximal} == {m.partition for m in b.maximal}


@given(environments())
def test_variables_are_ranked_by_area(environment):
    outcome = map_key_variables(environment, "target")
    areas = [found.area for found in outcome.variables]
    assert areas == sorted(areas, reverse=True)
    assert outcome.to_arrow().column("rank").to_pylist() == list(range(1, len(areas) + 1))


@given(environments())
def test_the_target_never_matches_itself(environment):
    twin = dataclasses.replace(environment.form("target"), name="twin")
    with_twin = environment.with_form(twin)
    alone = map_key_variables(environment, "target")
    named = map_key_variables(environment, "target", forms=list(environment.forms))
    assert named.match_forms == alone.match_forms
    assert "left out" in named.notes[0]
    assert alone.notes == ()
    matched = map_key_variables(with_twin, "target", forms=[*others(environment), "twin"])
    for found in matched.variables:
        assert found.n_categories == twins.size_of(
            twins.blocks_of(environment.categorization("target", found.variable).partition)
        )


def test_unbounded_variables_come_first_and_longer_ones_before_shorter():
    wide, narrow = (Variable.of_bands(name, ["0-15"]) for name in ("Wide", "Narrow"))
    forms = [
        Form("target", {"Narrow": (), "Wide": (), "Age": ("0-17", "18+")}),
        Form("A", {"Narrow": (), "Wide": (), "Age": ("0-17", "18+")}),
        Form("B", {"Narrow": ("0-15", "16+"), "Wide": (), "Age": ("0-17", "18+")}),
        Form("C", {"Narrow": ("0-15", "16+"), "Wide": ("0-15", "16+")}),
    ]
    outcome = map_key_variables(Environment([AGE, wide, narrow], forms), "target")
    assert [found.variable for found in outcome.variables] == ["Wide", "Narrow", "Age"]
    assert [found.area for found in outcome.variables] == [math.inf, math.inf, Fraction(4, 3)]


def test_arbitrary_precision_may_count_as_levels():
    target = Form("target", {"Age": ()})
    environment = Environment([AGE], [target, CARD, SHOP])
    (unbounded,) = map_key_variables(environment, "target").variables
    assert unbounded.n_categories == unbounded.area == unbounded.effective == math.inf
    (counted,) = map_key_variables(environment, "target", levels=100).variables
    assert counted.n_categories == counted.effective == 100
    assert counted.curve.sizes == (100, 3)
    assert counted.area == Fraction(200, 2)
    assert counted.codes == ("C0.001",)
    assert counted.maximal[0].categories == ("any level of detail",)


def test_overlapping_bands_hide_matches_that_effective_categories_show():
    forms = [CENSUS, Form("Shifted", {"Age": ("0-17", "18+")})]
    (found,) = map_key_variables(Environment([AGE], forms), "Census").variables
    assert found.n_categories == 1
    assert found.effective == Fraction(3 * 2, 4)


def test_results_come_in_words():
    (found,) = map_key_variables(ENVIRONMENT, "Census", prevalence="1/2").variables
    assert (found.n_forms, found.n_having, found.threshold) == (4, 3, 2)
    assert found.codes == ("C3.001",)
    assert found.maximal[0].categories == ("0-15", "16-64", "65+")
    assert found.why == "2 of 4 forms can be matched at C3.001 (1 at C0.001, 1 at C3.001)"
    (all_of_them,) = map_key_variables(ENVIRONMENT, "Census", prevalence="3/4").variables
    assert all_of_them.codes == ("H1.001",)
    (too_many,) = map_key_variables(ENVIRONMENT, "Census", prevalence=1).variables
    assert too_many.codes == ()
    assert too_many.why == "3 of 4 forms have it, and 4 must"
    lonely = Environment([AGE], [CENSUS, CLUB])
    (nobody,) = map_key_variables(lonely, "Census").variables
    assert nobody.why == "0 of 1 forms have it, and 1 must"


class TestInconsistentCategorizations:
    bad = Form("Bad", {"Age": ("16-64", "65+")})
    worse = Form("Worse", {"Age": ("0-15", "0-17", "18+")})
    environment = Environment([AGE], [CENSUS, SHOP, bad, worse])

    def test_strictly_they_stop_the_result_and_are_named(self):
        outcome = map_key_variables(self.environment, "Census")
        (found,) = outcome.variables
        assert found.maximal == ()
        assert "'Bad' misses '0-15'" in found.message
        assert "'Worse' reaches '0-15' from '0-15', '0-17'" in found.message
        assert found.why == found.message
        assert set(found.set_aside or ()) == {"Bad", "Worse"}
        assert outcome.summary()["matchable"] == 0
        assert outcome.to_arrow().column("area").to_pylist() == [None]
        assert outcome.curves().curves == {}

    def test_otherwise_they_are_set_aside_with_a_warning(self):
        outcome = map_key_variables(self.environment, "Census", strict=False)
        (found,) = outcome.variables
        assert found.message == ""
        assert found.codes == ("C3.001",)
        assert (found.n_forms, found.n_having) == (3, 1)
        assert outcome.notes == (
            "'Age': 2 forms set aside for inconsistent categorizations ('Bad', 'Worse').",
        )

    @pytest.mark.parametrize("strict", [True, False])
    def test_a_target_with_one_has_no_result(self, strict):
        outcome = map_key_variables(self.environment, "Bad", forms=["Shop"], strict=strict)
        (found,) = outcome.variables
        assert "the target's own categorization is inconsistent" in found.message
        assert found.target_code == ""
        assert found.maximal == ()

    def test_however_many_all_of_them_are_named(self):
        many = [Form(f"Bad {n}", self.bad.instances) for n in range(9)]
        (found,) = map_key_variables(Environment([AGE], [CENSUS, *many]), "Census").variables
        assert all(f"'Bad {n}' misses '0-15'" in found.message for n in range(9))

    def test_forms_that_are_not_matched_do_not_matter(self):
        (found,) = map_key_variables(self.environment, "Census", forms=["Shop"]).variables
        assert found.message == ""


class TestModes:
    @pytest.mark.parametrize(
        ("forms", "groups", "mode"),
        [
            ((), (), Mode.TYPICAL),
            (("Bank",), (), Mode.SPECIFIC),
            (("Bank", "Shop"), (), Mode.TYPICAL),
            ((), ("money",), Mode.TYPICAL),
            (("Shop",), ("money",), Mode.TYPICAL),
            ((), ("money", "rest"), Mode.MULTIPLE),
        ],
    )
    def test_they_follow_from_what_is_matched_against(self, forms, groups, mode):
        outcome = map_key_variables(ENVIRONMENT, "Census", forms=forms, groups=groups)
        assert outcome.mode is mode
        named = map_key_variables(ENVIRONMENT, "Census", forms=forms, groups=groups, mode=mode)
        assert named.match_forms == outcome.match_forms
        written = map_key_variables(
            ENVIRONMENT, "Census", forms=forms, groups=groups, mode=mode.value
        )
        assert written.mode is mode

    def test_forms_and_groups_are_put_together(self):
        outcome = map_key_variables(ENVIRONMENT, "Census", forms=["Shop"], groups=["money", "rest"])
        assert outcome.match_forms == ("Shop", "Bank", "Card", "Club")
        assert outcome.provenance.parameters["match"] == "'money', 'rest', 'Shop'"

    @pytest.mark.parametrize(
        ("forms", "groups", "mode"),
        [
            ((), (), Mode.SPECIFIC),
            (("Bank", "Shop"), (), Mode.SPECIFIC),
            (("Bank",), ("money",), Mode.SPECIFIC),
            ((), ("money",), Mode.MULTIPLE),
            (("Bank", "Shop"), (), Mode.MULTIPLE),
        ],
    )
    def test_one_that_does_not_fit_is_refused(self, forms, groups, mode):
        with pytest.raises(InputError) as caught:
            map_key_variables(ENVIRONMENT, "Census", forms=forms, groups=groups, mode=mode)
        assert caught.value.reason is Reason.BAD_OPTION
        assert f"The mode '{mode.value}'" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason", "words"),
    [
        ({"target": "Cenus"}, Reason.UNKNOWN_NAME, "Near to it: 'Census'"),
        ({"forms": ["Bnak"]}, Reason.UNKNOWN_NAME, "Near to it: 'Bank'"),
        ({"groups": ["mony"]}, Reason.UNKNOWN_NAME, "Near to it: 'money'"),
        ({"prevalence": "abc"}, Reason.BAD_PREVALENCE, "'abc'"),
        ({"prevalence": "1.5"}, Reason.BAD_PREVALENCE, "'1.5'"),
        ({"prevalence": -0.1}, Reason.BAD_PREVALENCE, "'-0.1'"),
        ({"prevalence": math.nan}, Reason.BAD_PREVALENCE, "'nan'"),
        ({"mode": "typicle"}, Reason.UNKNOWN_NAME, "Near to it: 'typical'"),
        ({"levels": 0}, Reason.BAD_OPTION, "levels: 0 is less than 1"),
        ({"levels": -3}, Reason.BAD_OPTION, "levels: -3 is less than 1"),
        ({"forms": ["Census"]}, Reason.NOTHING_GIVEN, "no other form"),
    ],
)
def test_bad_questions_are_refused(options, reason, words):
    target = options.get("target", "Census")
    rest = {name: value for name, value in options.items() if name != "target"}
    with pytest.raises(InputError) as caught:
        map_key_variables(ENVIRONMENT, target, **rest)
    assert caught.value.reason is reason
    assert words in str(caught.value)


def test_a_lonely_target_is_refused():
    with pytest.raises(InputError) as caught:
        map_key_variables(Environment([AGE], [CENSUS]), "Census")
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_forty_independent_categorizations_are_analysed_without_their_graph():
    pairs = disjoint_pairs(40)
    forms = [Form("target", {"X": labels_of("X", pairs[0].finest(80))})]
    forms += [Form(f"form{n}", {"X": labels_of("X", pair)}) for n, pair in enumerate(pairs)]
    environment = Environment([variable_of("X", pairs, 80)], forms)
    with pytest.raises(LimitError):
        environment.harmonization_graph("X", max_nodes=5_000)
    (found,) = map_key_variables(environment, "target", prevalence="1/2").variables
    assert found.curve.sizes == tuple(range(79, 39, -1))
    assert found.n_categories == 60
    assert len(found.maximal) == 20
    assert all(one.n_forms == 20 and one.code.startswith("H60.") for one in found.maximal)


def test_progress_is_told_and_may_cancel():
    sex = variable_of("X", [], 2)
    forms = [Form(name, {"Age": ("0-17", "18+"), "X": ("X0", "X1")}) for name in ("a", "b")]
    environment = Environment([AGE, sex], forms)
    seen = []
    map_key_variables(environment, "a", progress=lambda done, of: seen.append((done, of)))
    assert seen == [(0, 2), (1, 2)]

    def stop(done, of):
        raise Cancelled("The key variables of 'a' were asked for.")

    with pytest.raises(Cancelled):
        map_key_variables(environment, "a", progress=stop)


def test_a_single_name_need_not_be_a_list():
    by_name = map_key_variables(ENVIRONMENT, "Census", forms="Shop")
    assert by_name.match_forms == ("Shop",)
    assert by_name.mode is Mode.SPECIFIC


def test_every_fault_of_a_question_is_reported_at_once():
    with pytest.raises(InputError) as caught:
        map_key_variables(
            ENVIRONMENT, "Cencus", forms=["Shpo"], groups=["x"], prevalence=2, mode="multiple"
        )
    assert len(caught.value.problems) == 5
    for part in ("'Census'", "'Shop'", "'x'", "'2'", "two groups or more"):
        assert part in str(caught.value)


def test_more_must_have_a_variable_than_must_be_matched():
    # With four forms and p = 3/10, E·p = 1.2: two must have it, one must be matched.
    (found,) = map_key_variables(ENVIRONMENT, "Census", prevalence="3/10").variables
    assert (found.threshold, found.n_needed) == (1, 2)


def test_beyond_the_limit_there_is_a_result_without_a_curve():
    environment = crossing_environment()
    outcome = map_key_variables(environment, "target", max_nodes=1)
    ranked, found = outcome.variables
    # One variable that is too much does not take the others along, and comes after them.
    assert (ranked.variable, ranked.codes, ranked.area) == ("Y", ("C2.001",), 2)
    assert (found.variable, found.n_categories, len(found.maximal)) == ("X", 5, 13)
    assert (found.curve, found.area, found.not_known) == (None, None, (2, 12))
    assert (found.message, found.over_limit) == ("", False)
    assert (found.has_more, found.may_have_more) == (False, False)
    (note,) = outcome.notes
    assert note.startswith("'X': the area under its curve is not known, so it is not ranked.")
    assert "known for up to 1 form and from 13 forms on. Raise max_nodes (--max-nodes)" in note
    assert list(outcome.curves().curves) == ["Y"]
    row = outcome.to_arrow().to_pylist()[1]
    assert (row["rank"], row["categories"], row["area"], row["area_exact"]) == (2, 5, None, "")


def test_beyond_the_limit_all_forms_have_a_result_too():
    outcome = map_key_variables(crossing_environment(), "target", prevalence=1, max_nodes=1)
    assert [(v.variable, v.n_categories, v.area) for v in outcome.variables] == [
        ("Y", 2, 2),
        ("X", 1, None),
    ]


def test_in_between_the_variable_is_refused_by_name():
    environment = crossing_environment()
    for prevalence in ("2/13", "1/2", "12/13"):
        outcome = map_key_variables(environment, "target", prevalence=prevalence, max_nodes=1)
        other, refused = outcome.variables
        assert other.codes == ("C2.001",)
        assert (refused.variable, refused.codes, refused.over_limit) == ("X", (), True)
        assert (refused.n_categories, refused.curve, refused.effective) == (0, None, 0)
        assert f"from 13 forms on, but not for {refused.threshold}." in refused.message
        assert "Raise max_nodes (--max-nodes)" in refused.message
        assert outcome.notes == ()
        assert outcome.to_arrow().to_pylist()[1]["area"] is None
    known = map_key_variables(environment, "target", max_nodes=1_000).variables[1]
    assert known.curve == SizeCurve(13, (5, 2, 2, 2, *[1] * 9))


def test_too_few_forms_is_said_before_any_limit():
    environment = crossing_environment()
    others = [Form(f"other{number}", {"Y": ("Y0", "Y1")}) for number in range(13)]
    more = Environment(environment.variables.values(), [*environment.forms.values(), *others])
    outcome = map_key_variables(more, "target", prevalence="3/4", max_nodes=1)
    found = outcome.variables[1]
    assert (found.variable, found.message, found.maximal, found.area) == ("X", "", (), None)


def test_variables_without_area_come_between_ranked_and_stopped_ones():
    environment = crossing_environment()
    faulty = Variable("A", PartitionGraph({"ab": ["a", "b"]}))
    forms = [
        Form(form.name, {"A": ("ab", "a"), **form.instances}) for form in environment.forms.values()
    ]
    both = Environment([faulty, *environment.variables.values()], forms)
    outcome = map_key_variables(both, "target", max_nodes=1)
    assert [item.variable for item in outcome.variables] == ["Y", "X", "A"]


def test_a_list_that_may_be_incomplete_says_so():
    rings = ring_and_pairs(14)
    forms = [Form("target", {"X": labels_of("X", Partition.finest(42))})]
    forms += [Form(f"form{n:02d}", {"X": labels_of("X", own)}) for n, own in enumerate(rings)]
    environment = Environment([variable_of("X", rings, 42)], forms)
    outcome = map_key_variables(environment, "target", prevalence="1/2", most=10_000, max_nodes=400)
    (found,) = outcome.variables
    # The sizes are exact all the same.
    assert found.curve is not None
    assert found.curve.sizes == (*range(40, 15, -2), 15)
    assert found.n_categories == 28
    assert (found.has_more, found.may_have_more) == (False, True)
    n_listed = len(found.maximal)
    (note,) = outcome.notes
    assert f"'X': there may be more maximal harmonizations than the {n_listed} listed." in note
    assert "(--max-nodes)" in note
    assert all(one.n_forms == 7 for one in found.maximal)
    few = map_key_variables(environment, "target", prevalence="1/2", most=3, max_nodes=400)
    assert (few.variables[0].has_more, few.variables[0].may_have_more) == (True, False)
    assert few.notes == ("'X': more than 3 maximal harmonizations; 3 are listed.",)


def test_too_many_links_stop_the_variable(monkeypatch):
    monkeypatch.setattr(harmonization, "_MAX_CELLS", 10)
    outcome = map_key_variables(crossing_environment(), "target", max_nodes=1)
    refused = outcome.variables[1]
    assert (refused.variable, refused.over_limit, refused.curve) == ("X", True, None)
    assert "different pairs of categories" in refused.message


def test_levels_leave_what_is_bounded_alone():
    # Against a target with bands, a form of arbitrary precision has no more than those.
    (found,) = map_key_variables(ENVIRONMENT, "Census", forms=["Card", "Bank"], levels=1).variables
    assert found.curve == SizeCurve(2, (3, 1))
    assert found.n_categories == 3


def test_more_maximal_harmonizations_than_asked_for_are_mentioned():
    blocks = {f"{a}{b}": [a, b] for a, b in ("ab", "cd")}
    letters = Variable("Letter", PartitionGraph({**blocks, "all": ["ab", "cd"]}))
    forms = [
        Form("first", {"Letter": ("ab", "c", "d")}),
        Form("second", {"Letter": ("a", "b", "cd")}),
        Form("target", {"Letter": ("a", "b", "c", "d")}),
    ]
    environment = Environment([letters], forms)
    (both,) = map_key_variables(environment, "target").variables
    assert (both.codes, both.has_more) == (("C3.001", "C3.002"), False)
    outcome = map_key_variables(environment, "target", most=1)
    assert (len(outcome.variables[0].codes), outcome.variables[0].has_more) == (1, True)
    assert "more than 1 maximal" in outcome.notes[0]


def test_curves_are_a_table_of_steps():
    curves = map_key_variables(ENVIRONMENT, "Census").curves()
    assert curves.to_arrow().to_pylist() == [
        {
            "variable": "Age",
            "from_prevalence": "0",
            "to_prevalence": "3/4",
            "from": 0.0,
            "to": 0.75,
            "categories": 3.0,
        },
        # All three of them can be matched at one category only: the last point is by itself.
        {
            "variable": "Age",
            "from_prevalence": "3/4",
            "to_prevalence": "3/4",
            "from": 0.75,
            "to": 0.75,
            "categories": 1.0,
        },
    ]
    assert curves.summary() == {"target": "Census", "variables": 1, "steps": 1}


def test_the_fingerprint_tells_inputs_apart():
    def fingerprint(*forms, **options):
        environment = Environment([AGE], forms)
        return map_key_variables(environment, "Census", **options).provenance.fingerprint

    base = fingerprint(CENSUS, SHOP, BANK)
    assert fingerprint(CENSUS, SHOP, BANK, prevalence="1/2") == base
    assert fingerprint(CENSUS, SHOP) != base
    assert fingerprint(CENSUS, SHOP, BANK, forms=["Shop"]) != base
    assert fingerprint(CENSUS, SHOP, Form("Bank", SHOP.instances)) != base
    assert fingerprint(Form("Census", {"Age": ()}), SHOP, BANK) != base


def test_levels_never_make_a_curve_rise():
    bands = [f"{low}-{low + 9}" for low in range(0, 70, 10)] + ["70+"]
    age = Variable.of_bands("Age", bands)
    forms = [Form("any", {"Age": ()}), Form("eight", {"Age": bands}), Form("T", {"Age": ()})]
    (found,) = map_key_variables(Environment([age], forms), "T", levels=3).variables
    assert found.curve.sizes == (8, 8)


CUTS = ("5", "10", "20", "40", "60")


@st.composite
def environments_of_cut_ages(draw: st.DrawFn) -> Environment:
    def bands() -> tuple[str, ...]:
        kept = draw(st.lists(st.sampled_from(range(5)), unique=True).map(sorted))
        starts = [0, *(int(CUTS[number]) for number in kept)]
        closed = pairwise(starts)
        return (*(f"{low}-{high - 1}" for low, high in closed), f"{starts[-1]}+")

    selections = [bands() for _ in range(draw(st.integers(1, 7)))]
    selections += [()] * draw(st.integers(0, 2))
    if draw(st.booleans()):
        selections.append((*selections[0][1:], OUTSIDE) if len(selections[0]) > 1 else ())
    own = draw(st.sampled_from([bands(), ()]))
    named = {band for labels in (*selections, own) for band in labels if band != OUTSIDE}
    age = Variable.of_bands("Age", sorted(named) or ["0+"])
    forms = [Form(f"F{n}", {"Age": labels}) for n, labels in enumerate(selections)]
    silent = [Form(f"S{n}") for n in range(draw(st.integers(0, 2)))]
    return Environment([age], [Form("Target", {"Age": own}), *forms, *silent])


@given(environments_of_cut_ages(), st.sampled_from([None, 7]), st.integers(1, 3), st.booleans())
def test_levels_are_what_is_found_one_by_one(
    environment: Environment, levels: int | None, most: int, within: bool
) -> None:
    asked = {"levels": levels, "most": most, "within_universe": within}
    (found,) = map_levels(environment, MapOptions("Target", **asked)).variables
    n_forms = found.outcome.n_forms
    covered = [k for level in found.levels for k in range(level.first, level.last + 1)]
    assert covered == list(range(1, found.outcome.n_having + 1))
    for level in found.levels:
        for k in range(level.first, level.last + 1):
            outcome = map_key_variables(
                environment, "Target", prevalence=Fraction(k, n_forms), **asked
            )
            (one,) = outcome.variables
            assert one.threshold == k
            assert one.codes == level.codes
            assert one.n_categories == level.n_categories
            assert one.effective == level.effective
            assert (one.has_more, one.may_have_more) == (level.has_more, level.may_have_more)
            for each in one.maximal:
                assert found.maximal[each.code] == each


@pytest.mark.parametrize("number", [1, 4, 9, 30])
def test_levels_of_the_demo(number: int) -> None:
    environment = demo_environment()
    found = map_levels(environment, MapOptions(TARGET, groups=["Commercial"], strict=False))
    n_forms = len(found.outcome.match_forms)
    share = Fraction(number, n_forms)
    single = map_key_variables(
        environment, TARGET, groups=["Commercial"], strict=False, prevalence=share
    )
    expected = {item.variable: (item.codes, item.n_categories) for item in single.variables}
    for item in found.variables:
        level = next((one for one in item.levels if one.first <= number <= one.last), None)
        told = ((), 0) if level is None else (level.codes, level.n_categories)
        assert told == expected[item.outcome.variable]


def test_a_limit_leaves_levels_that_are_not_known() -> None:
    environment = demo_environment()
    found = map_levels(environment, MapOptions(TARGET, strict=False, max_nodes=3))
    for item in found.variables:
        if item.outcome.not_known is not None:
            first, last = item.outcome.not_known
            unknown = [one for one in item.levels if one.n_categories is None]
            assert (unknown[0].first, unknown[-1].last) == (first, last)
            return
    pytest.fail("nothing is beyond the limit")
