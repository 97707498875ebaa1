from __future__ import annotations

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition, harmonize
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.mapping.environment import environment as module
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import CodeRegister, Variable
from tests.given.categorizations import (
    categorizations,
    disjoint_pairs,
    environments,
    labels_of,
    variable_of,
)

AGE = Variable.of_bands("Age", ["0-15", "16+", "0-17", "18+"])
SEX = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
BANK = Form("Bank", {"Age": ("0-17", "18+"), "Sex": ("female", "male")})
BANK_WITHOUT_AGE = Form("Bank", {"Sex": ("female", "male")})
OFFICE = Form("Office", {"Age": ("0-17", "18+")})
SHOP = Form("Shop", {"Age": ("0-15", "16+")})
CARD = Form("Card", {"Age": ()})


@st.composite
def growing(draw):
    """Forms over one variable that has every category that is needed."""
    n_sinks = draw(st.integers(1, 5))
    offered = draw(st.lists(categorizations(n_sinks), min_size=1, max_size=5))
    variable = variable_of("X", [c for c in offered if isinstance(c, Partition)], n_sinks)
    chosen = draw(st.lists(st.sampled_from(offered), min_size=1, max_size=7))
    forms = [Form(f"form{n}", {"X": labels_of("X", c)}) for n, c in enumerate(chosen)]
    return variable, forms


def observed_and_closure(environment):
    """Return the observed categorizations and the harmonizations of all of their subsets."""
    observed = {item.partition for item, _ in environment.instances("X")}
    closure = set(observed)
    while new := {harmonize([a, b]) for a in closure for b in closure} - closure:
        closure |= new
    return observed, closure


@given(growing())
def test_codes_name_all_observed_and_all_harmonizations(case):
    variable, forms = case
    environment = Environment([variable], forms)
    register = environment.register("X")
    observed, closure = observed_and_closure(environment)
    assert {register.meaning(code) for code in register} == closure
    for categorization in closure:
        letter = "C" if categorization in observed else "H"
        assert environment.code("X", categorization).startswith(letter)
    for form in forms:
        partition = environment.categorization(form.name, "X").partition
        assert environment.code_of(form.name, "X") == environment.code("X", partition)
    graph = environment.harmonization_graph("X")
    assert set(graph.nodes) == closure


@given(growing(), st.randoms(use_true_random=False))
def test_codes_stay_as_they_are_however_the_environment_grows(case, random):
    variable, forms = case
    random.shuffle(forms)
    environment = Environment([variable], forms[:1])
    given_so_far = {}
    for form in forms[1:]:
        register = environment.register("X")
        given_so_far |= {code: register.meaning(code) for code in register}
        environment = environment.with_form(form)
        later = environment.register("X")
        assert all(later.meaning(code) == means for code, means in given_so_far.items())
        _, closure = observed_and_closure(environment)
        for categorization in closure:
            known = [code for code, means in given_so_far.items() if means == categorization]
            code, alias = later.code(categorization), later.alias(categorization)
            assert all(old in (code, alias) for old in known)
    whole = Environment([variable], forms)
    _, closure = observed_and_closure(whole)
    assert {environment.code("X", c)[0] for c in closure} == {
        whole.code("X", c)[0] for c in closure
    }


@given(growing())
def test_a_form_may_be_replaced(case):
    variable, forms = case
    environment = Environment([variable], forms)
    before = {code: environment.register("X").meaning(code) for code in environment.register("X")}
    replaced = environment.with_form(Form(forms[0].name, {}))
    assert list(replaced.forms) == list(environment.forms)
    assert replaced.form(forms[0].name).instances == {}
    after = replaced.register("X")
    assert {code: after.meaning(code) for code in before} == before


def test_a_harmonization_that_a_new_form_uses_keeps_its_old_code_as_an_alias():
    environment = Environment([AGE], [OFFICE, SHOP])
    one = environment.register("Age").meaning("H1.001")
    assert one.n_blocks == 1
    later = environment.with_form(Form("Club", {"Age": ("0+",)}))
    assert later.code_of("Club", "Age") == "C1.001"
    assert later.register("Age").alias(one) == "H1.001"
    assert later.harmonize_codes("Age", ["C2.001", "C2.002"]) == "C1.001"
    assert environment.harmonize_codes("Age", ["C2.001", "C2.002"]) == "H1.001"
    assert environment.code_of(OFFICE.name, "Age") == "C2.001"


def test_codes_given_earlier_are_kept():
    two = Partition.from_labels([0, 0, 1])
    assert AGE.graph.sinks == ("0-15", "16-17", "18+")
    environment = Environment([AGE], [OFFICE], registers={"Age": CodeRegister([("C2.042", two)])})
    assert environment.code_of("Office", "Age") == "C2.042"
    assert environment.with_form(SHOP).code_of("Shop", "Age") == "C2.043"


def test_codes_do_not_depend_on_what_is_asked_first():
    forms = [Form(f"form{n}", {"X": labels_of("X", c)}) for n, c in enumerate(disjoint_pairs(4))]
    variable = variable_of("X", disjoint_pairs(4), 8)
    one, other = Environment([variable], forms), Environment([variable], forms)
    nodes = one.harmonization_graph("X").nodes
    asked_forwards = {node: one.code("X", node) for node in nodes}
    asked_backwards = {node: other.code("X", node) for node in reversed(nodes)}
    assert asked_forwards == asked_backwards


def test_a_graph_too_large_to_number_is_numbered_as_it_is_met(monkeypatch):
    monkeypatch.setattr(module, "_NUMBERED_AT_ONCE", 4)
    pairs = disjoint_pairs(4)
    forms = [Form(f"form{n}", {"X": labels_of("X", c)}) for n, c in enumerate(pairs)]
    environment = Environment([variable_of("X", pairs, 8)], forms)
    assert len(environment.register("X")) == 4
    merged = harmonize(pairs[2:])
    assert environment.code("X", merged) == "H6.001"
    assert environment.code("X", merged) == "H6.001"
    assert environment.code("X", harmonize(pairs[:2])) == "H6.002"
    assert environment.register("X").meaning("H6.001") == merged
    with pytest.raises(LimitError):
        environment.harmonization_graph("X", max_nodes=10)


@given(environments())
def test_instances_are_grouped_by_what_is_selected(environment):
    for name in environment.variables:
        grouped = environment.instances(name)
        listed = [form for _, forms in grouped for form in forms]
        having = [form.name for form in environment.forms.values() if name in form.instances]
        assert sorted(listed) == sorted(having)
        for categorization, forms in grouped:
            for form in forms:
                assert environment.categorization(form, name) is categorization
        assert environment.faulty_instances(name) == {}
    assert environment.n_instances == sum(
        len(form.instances) for form in environment.forms.values()
    )


def test_faulty_instances_are_kept_with_their_reasons():
    bad = Form("Club", {"Age": ("16+", "18+")})
    environment = Environment([AGE], [OFFICE, bad])
    (fault,) = environment.faulty_instances("Age").values()
    assert "misses '0-15'" in fault
    assert "reaches '18+' from '16+', '18+'" in fault
    assert environment.code_of("Club", "Age") is None
    assert environment.code_of(OFFICE.name, "Age") == "C2.001"
    assert len(environment.harmonization_graph("Age").nodes) == 1


def test_labels_may_come_as_lists_and_differ_in_writing():
    forms = [Form("A", {"Age": ["under 18", "18 and over"]}), Form("B", {"Age": ("0-17", "18+")})]
    environment = Environment([AGE], forms)
    assert environment.code_of("A", "Age") == environment.code_of("B", "Age") == "C2.001"
    assert environment.form("A").instances["Age"] == ("under 18", "18 and over")


def test_forms_and_groups_are_values():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BANK.name = "Other"
    given_labels = {"Age": ["0-17", "18+"]}
    form = Form("A", given_labels)
    given_labels["Age"].append("more")
    assert form == Form("A", {"Age": ("0-17", "18+")})
    assert Group("g", ("A",)) == Group("g", ("A",))


def test_an_environment_says_what_it_has():
    environment = Environment([AGE, SEX], [BANK, SHOP], [Group("both", ("Bank", "Shop"))], name="e")
    assert repr(environment) == "Environment('e', 2 forms, 2 variables, 1 groups)"
    assert environment.group("both").forms == ("Bank", "Shop")
    assert environment.variable("Sex") is SEX
    assert environment.form("Bank") == BANK
    assert environment.with_form(CARD).group("both").forms == ("Bank", "Shop")


@pytest.mark.parametrize(
    ("ask", "near"),
    [
        (lambda e: e.variable("Aeg"), "'Age'"),
        (lambda e: e.form("Bnak"), "'Bank'"),
        (lambda e: e.group("bothe"), "'both'"),
        (lambda e: e.instances("Aeg"), "'Age'"),
        (lambda e: e.faulty_instances("Aeg"), "'Age'"),
        (lambda e: e.harmonization_graph("Aeg"), "'Age'"),
        (lambda e: e.register("Aeg"), "'Age'"),
        (lambda e: e.code("Aeg", ARBITRARY), "'Age'"),
        (lambda e: e.code_of("Bank", "Aeg"), "'Age'"),
        (lambda e: e.code_of("Bnak", "Age"), "'Bank'"),
        (lambda e: e.categorization("Bank", "Aeg"), "'Age'"),
        (lambda e: e.harmonize_codes("Age", ["C2.01"]), "'C2.001'"),
    ],
)
def test_unknown_names_are_refused_with_the_near_ones(ask, near):
    environment = Environment([AGE, SEX], [BANK, SHOP], [Group("both", ("Bank", "Shop"))])
    with pytest.raises(InputError) as caught:
        ask(environment)
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert f"Near to it: {near}" in str(caught.value)


def test_a_variable_that_a_form_does_not_have_is_refused():
    with pytest.raises(InputError) as caught:
        Environment([AGE, SEX], [SHOP]).categorization("Shop", "Sex")
    assert caught.value.reason is Reason.NOT_FOUND


def test_no_codes_cannot_be_harmonized():
    with pytest.raises(InputError) as caught:
        Environment([AGE], [SHOP]).harmonize_codes("Age", [])
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_all_faults_of_an_environment_are_told_at_once():
    with pytest.raises(InputError) as caught:
        Environment(
            [AGE, SEX, AGE],
            [
                BANK,
                Form("Bank"),
                Form(" Shop", {"Aeg": ()}),
                Form("Club", {"Sex": ("femal", "male", "male")}),
            ],
            [Group("all", ("Bank", "Clubb")), Group("all", ())],
        )
    reasons = [problem.reason for problem in caught.value.problems]
    assert sorted(reasons) == sorted(
        [
            Reason.DUPLICATE,  # Age
            Reason.DUPLICATE,  # Bank
            Reason.DUPLICATE,  # all
            Reason.BAD_NAME,  # ' Shop'
            Reason.UNKNOWN_NAME,  # Aeg
            Reason.UNKNOWN_NAME,  # femal
            Reason.DUPLICATE,  # male
        ]
    )
    said = str(caught.value)
    assert "form ' Shop': has 'Aeg', which is not a variable. Near to it: 'Age'." in said
    assert "form 'Club', category 'femal': is not a category of 'Sex'. Near to it: 'female'" in said
    with pytest.raises(
        InputError, match=r"names 'Clubb', which is not a form\. Near to it: 'Club'"
    ):
        Environment([SEX], [Form("Club")], [Group("all", ("Clubb",))])


def test_equal_faulty_selections_are_faults_of_every_form():
    forms = [Form(f"Form {n}", {"Sex": ("femal", "male")}) for n in range(120)]
    with pytest.raises(InputError) as caught:
        Environment([SEX], [*forms, BANK_WITHOUT_AGE])
    assert [problem.where for problem in caught.value.problems] == [
        f"form 'Form {n}', category 'femal'" for n in range(120)
    ]


def test_one_string_is_not_a_list():
    with pytest.raises(InputError, match="one string for 'Age', 'Sex'") as caught:
        Form("Bank", {"Age": "16-24", "Club": ["a"], "Sex": "any"})
    assert caught.value.reason is Reason.BAD_OPTION
    with pytest.raises(InputError, match="Its forms are one string") as caught:
        Group("all", "Bank")
    assert caught.value.reason is Reason.BAD_OPTION
    assert Group("all", ["Bank"]).forms == ("Bank",)


def test_errors_never_disturb_a_terminal():
    bad = "a\x1b[2Jb"
    with pytest.raises(InputError) as caught:
        Environment(
            [SEX], [Form(bad, {bad: (), "Sex": (bad,)})], [Group(bad, (bad, f"{bad} 2"))], name=bad
        )
    assert len(caught.value.problems) == 6
    environment = Environment([SEX], [Form("Bank")])
    errors = [caught.value]
    for ask in (environment.variable, environment.form, environment.group):
        with pytest.raises(InputError) as caught:
            ask(bad)
        errors.append(caught.value)
    assert all(str(error).replace("\n", "").isprintable() for error in errors)


def test_a_code_keeps_its_meaning_when_forms_come_before_anybody_asked():
    letters = PartitionGraph(
        {"ab": ["a", "b"], "bc": ["b", "c"], "abc": ["ab", "c"], "cd": ["c", "d"], "de": ["d", "e"]}
    )

    def form(name: str, *labels: str) -> Form:
        return Form(name, {"L": labels})

    first = Environment(
        [Variable("L", letters)], [form("1", "ab", "c", "d", "e"), form("2", "a", "bc", "d", "e")]
    )
    grown = (
        first.with_form(form("3", "abc", "d", "e"))
        .with_form(form("4", "a", "b", "cd", "e"))
        .with_form(form("5", "a", "b", "c", "de"))
    )
    for code in first.register("L"):
        assert grown.register("L").meaning(code) == first.register("L").meaning(code)


def content(environment: Environment) -> dict[str, object]:
    """Everything that can be asked of an environment, orders aside."""
    return {
        "variables": environment.variables,
        "forms": environment.forms,
        "groups": {name: set(environment.group(name).forms) for name in environment.groups},
        "instances": {
            variable: {
                item.categories: (item, sorted(forms))
                for item, forms in environment.instances(variable)
            }
            for variable in environment.variables
        },
        "faults": {name: environment.faulty_instances(name) for name in environment.variables},
    }


@given(st.data())
def test_a_changed_environment_is_one_made_anew(data):
    environment = data.draw(environments())
    before = content(environment)
    names = sorted(environment.forms)
    pool = [form.instances for form in environment.forms.values()] + [{}]
    changes: dict[str, Form | None] = {}
    for name in data.draw(st.lists(st.sampled_from([*names, "new", "newer"]), unique=True)):
        taken = {
            variable: labels
            for instances in data.draw(st.lists(st.sampled_from(pool), max_size=3))
            for variable, labels in instances.items()
        }
        made = Form(name, taken)
        changes[name] = None if name in names and data.draw(st.booleans()) else made
    forms = {**environment.forms, **changes}
    kept = [form for form in forms.values() if form is not None]
    groups = {
        name: Group(name, [form for form in group.forms if forms[form] is not None])
        for name, group in environment.groups.items()
    }
    changed = environment.changed(forms=changes, groups=groups)
    anew = Environment(environment.variables.values(), kept, groups.values())
    assert content(changed) == content(anew)
    assert content(environment) == before
    for variable in environment.variables:
        register = changed.register(variable)
        assert all(
            register.meaning(code) == environment.register(variable).meaning(code)
            for code in environment.register(variable)
        )
        assert {register.code(item.partition) for item, _ in changed.instances(variable)} >= {
            register.code(item.partition)
            for item, _ in anew.instances(variable)
            if item.partition is not None
        }


def test_a_variable_and_its_forms_change_together():
    environment = Environment([AGE, SEX], [BANK, SHOP], [Group("all", ["Bank", "Shop"])])
    gender = Variable("Gender", SEX.graph)
    renamed = Form("Bank", {"Age": ("0-17", "18+"), "Gender": ("female", "male")})
    changed = environment.changed(
        variables={"Sex": None, "Gender": gender}, forms={"Bank": renamed}
    )
    assert changed.code_of("Bank", "Gender") == "C2.001"
    assert list(environment.variables) == ["Age", "Sex"]
    with pytest.raises(InputError) as caught:
        environment.changed(
            variables={"Sex": None, "Ages": AGE, "Height": None},
            forms={"Shop": None, "bank": Form("bank")},
        )
    assert [(problem.reason, problem.where) for problem in caught.value.problems] == [
        (Reason.BAD_NAME, "variable 'Age'"),
        (Reason.UNKNOWN_NAME, "variable 'Height'"),
        (Reason.DUPLICATE, "form 'bank'"),
        (Reason.UNKNOWN_NAME, "form 'Bank'"),
        (Reason.UNKNOWN_NAME, "group 'all'"),
    ]
    assert content(environment) == content(
        Environment([AGE, SEX], [BANK, SHOP], [Group("all", ["Bank", "Shop"])])
    )


@pytest.mark.parametrize("name", ["BANK", "Bänk", "bank ", "Bank\u00a0"])
def test_names_that_differ_in_case_or_accents_are_one_name(name):
    environment = Environment([], [Form("Bank")])
    with pytest.raises(InputError) as caught:
        environment.with_form(Form(name))
    assert any(
        problem.reason is Reason.DUPLICATE or "white space" in problem.found
        for problem in caught.value.problems
    )
    with pytest.raises(InputError):
        Environment([], [Form("Bank"), Form(name)])


def test_a_group_by_the_code_of_a_harmonization_needs_nobody_to_have_asked_for_it_before():
    age = Variable.of_bands("Age", ["0-15", "16+", "0-17", "18+"])
    forms = [Form("Bank", {"Age": ("0-15", "16+")}), Form("Shop", {"Age": ("0-17", "18+")})]
    group = Group("finer", where="code of Age finer than H1.001")
    assert Environment([age], forms, [group]).group("finer").forms == ("Bank", "Shop")


def test_readers_at_once_find_the_same_members_of_a_live_group(monkeypatch):
    age = Variable.of_bands("Age", ["0-15", "16-17", "18+", "0-17", "16+"])
    forms = [Form("Bank", {"Age": ("0-15", "16+")}), Form("Shop", {"Age": ("0-17", "18+")})]
    where = "code of Age finer than H1.001"
    groups = [Group("finer", where=where), Group("other", where=f"{where} or has Nope")]
    environment = Environment([age], forms, groups)
    begun, graph = Event(), Environment.harmonization_graph

    def slowly(self, *args, **options):
        begun.set()
        time.sleep(0.1)
        return graph(self, *args, **options)

    monkeypatch.setattr(Environment, "harmonization_graph", slowly)
    with ThreadPoolExecutor(1) as other:
        first = other.submit(lambda: environment.group("finer").forms)
        assert begun.wait(10)
        assert environment.group("other").forms == first.result() == ("Bank", "Shop")
