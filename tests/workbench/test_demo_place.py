"""The demo environment: forms of an invented country, and people who fit them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from gamekeeper.algorithms.categories.partitions import ARBITRARY
from gamekeeper.data.population import CATEGORIES, HOUSEHOLD, make_population
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import OUTSIDE, Scale
from gamekeeper.store.folder import write_environment
from gamekeeper.workbench import demo_place
from gamekeeper.workbench.demo_place import TARGET, demo_environment

PLANNED_FAULTS = {
    ("Ostlery Research, motoring panel", "Number of cars"),
    ("University of Corvane, travel survey", "Travel to work"),
}
METADATA = {"sector", "kind", "organisation", "form_type", "year", "population", "area"}


@pytest.fixture(scope="module")
def norland() -> Environment:
    return demo_environment()


@pytest.fixture(scope="module")
def against_all(norland: Environment) -> KeyVariableMap:
    return map_key_variables(norland, TARGET, prevalence="0.1", strict=False)


def test_its_files_are_those_that_an_export_writes(norland: Environment, tmp_path: Path):
    write_environment(norland, tmp_path)
    kept = Path(demo_place.__file__).with_name("norland")
    assert _files(tmp_path) == _files(kept)


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_form_is_as_documents_quote_it(norland: Environment):
    form = norland.form("Quellin Savings Bank, personal loan")
    assert (form.metadata["form_type"], form.metadata["year"]) == ("paper", 2027)
    assert list(form.instances) == [
        "Age",
        "Country of birth",
        "Economic activity",
        "Income",
        "Marital status",
        "Place of residence",
        "Sex",
        "Tenure",
    ]
    assert form.instances["Age"] == ()


def test_counts(norland: Environment):
    assert len(norland.forms) >= 73
    assert len(norland.variables) >= 14
    scales = Counter(variable.scale for variable in norland.variables.values())
    assert scales[Scale.INTERVAL] >= 2
    assert scales[Scale.ORDINAL] >= 3
    assert scales[Scale.NOMINAL] >= 6
    assert all(variable.description for variable in norland.variables.values())


def test_two_forms_and_no_others_are_inconsistent(norland: Environment):
    faulty = {
        (form, variable)
        for variable in norland.variables
        for form in norland.faulty_instances(variable)
    }
    assert faulty == PLANNED_FAULTS


def test_one_fault_is_a_gap_and_the_other_an_overlap(norland: Environment):
    panel = norland.categorization("Ostlery Research, motoring panel", "Number of cars")
    survey = norland.categorization("University of Corvane, travel survey", "Travel to work")
    assert panel.is_exhaustive
    assert not panel.is_exclusive
    assert survey.is_exclusive
    assert not survey.is_exhaustive


def test_the_target_has_every_variable_in_detail(norland: Environment):
    target = norland.form(TARGET)
    assert set(target.instances) == set(norland.variables)
    for variable in norland.variables:
        own = norland.categorization(TARGET, variable)
        assert own.is_valid
        assert OUTSIDE not in own.categories
        assert own.partition is not ARBITRARY


def test_every_variable_is_on_several_other_forms(norland: Environment):
    for variable in norland.variables:
        having = [form for _, forms in norland.instances(variable) for form in forms]
        assert len(having) >= 6, variable


def test_prevalence_looks_like_life(norland: Environment):
    def share(variable: str, group: str) -> float:
        forms = norland.group(group).forms
        return sum(variable in norland.form(form).instances for form in forms) / len(forms)

    n_forms = len(norland.forms)
    for variable, least in (("Age", 0.9), ("Sex", 0.75), ("Place of residence", 0.85)):
        having = sum(len(forms) for _, forms in norland.instances(variable))
        assert having / n_forms >= least, variable
    for variable in ("Income", "Marital status", "Occupation"):
        assert share(variable, "Banks and insurers") >= 0.5, variable
    assert share("General health", "Health") >= 0.6
    assert share("General health", "Commercial") <= 0.3
    assert share("Ethnic group", "Public") > share("Ethnic group", "Commercial")
    assert share("Travel to work", "Banks and insurers") == 0


def test_some_forms_take_any_detail_and_some_cover_a_part_of_the_people(norland: Environment):
    instances = [
        (form.name, variable, labels)
        for form in norland.forms.values()
        for variable, labels in form.instances.items()
    ]
    assert len({form for form, _, labels in instances if not labels}) >= 20
    assert len({variable for _, variable, labels in instances if not labels}) >= 4
    assert len({form for form, _, labels in instances if OUTSIDE in labels}) >= 20
    assert len({variable for _, variable, labels in instances if OUTSIDE in labels}) >= 5


def test_metadata_and_groups(norland: Environment):
    for form in norland.forms.values():
        assert set(form.metadata) == METADATA
        assert form.name == TARGET or form.name.startswith(str(form.metadata["organisation"]))
        assert form.metadata["form_type"] in {"online", "paper", "telephone"}
        assert 2025 <= int(str(form.metadata["year"])) <= 2031
    groups = {name: norland.group(name) for name in norland.groups}
    assert all(TARGET not in group.forms for group in groups.values())
    assert all(len(group.forms) >= 4 and group.description for group in groups.values())
    assert len(groups["Commercial"].forms) >= 40
    online = [name for name in norland.forms if name in groups["Everything online"].forms]
    assert {norland.form(name).metadata["form_type"] for name in online} == {"online"}
    by_sector = [
        form
        for name in groups
        if groups[name].where.startswith("sector")
        for form in groups[name].forms
    ]
    assert sorted([*by_sector, TARGET]) == sorted(norland.forms)


def test_harmonization_graphs_are_small_and_several_have_harmonizations(norland: Environment):
    graphs = {v: norland.harmonization_graph(v) for v in norland.variables}
    assert max(len(graph.nodes) for graph in graphs.values()) <= 60
    overlapping = {v for v, graph in graphs.items() if len(graph.nodes) > len(graph.observed)}
    assert len(overlapping) >= 8
    assert {
        "Age",
        "Income",
        "Marital status",
        "General health",
        "Place of residence",
    } <= overlapping


def test_scales_of_health_overlap(norland: Environment):
    code: dict[str, str] = {}
    for _, forms in norland.instances("General health"):
        for form in forms:
            labels = norland.form(form).instances["General health"]
            own = norland.categorization(form, "General health")
            code["; ".join(labels)] = norland.code("General health", own.partition)
    five = code["very good (of five); good (of five); fair; bad (of five); very poor"]
    four = code["excellent; good (of four); fair (of four); poor (of four)"]
    three = code["good (of three); fairly good (of three); not good (of three)"]
    poor = code["not in poor health; not good (of three)"]
    assert norland.harmonize_codes("General health", [five, four]).startswith("H1.")
    assert norland.harmonize_codes("General health", [four, three]).startswith("H2.")
    assert norland.harmonize_codes("General health", [five, three]) == poor


def test_the_outcome_has_variety(norland: Environment, against_all: KeyVariableMap):
    found = against_all.variables
    assert found[0].variable == "Age"
    assert all(item.maximal for item in found)
    codes = [item.codes[0][0] for item in found]
    assert codes.count("C") >= 6
    assert codes.count("H") >= 2
    assert len({item.n_having for item in found}) >= 10
    assert sum(item.effective > item.n_categories for item in found) >= 3
    areas = [item.area for item in found]
    assert areas == sorted(areas, reverse=True)
    commercial = map_key_variables(
        norland, TARGET, groups=["Commercial"], prevalence="0.1", strict=False
    )
    assert any(not item.maximal for item in commercial.variables)
    assert [i.variable for i in commercial.variables] != [i.variable for i in found]


def test_curves_cross(against_all: KeyVariableMap):
    curves = {item.variable: item.curve for item in against_all.variables}
    sex, travel = curves["Sex"], curves["Travel to work"]
    early, late = sex.steps[0][0], sex.steps[-1][1] / 2
    assert travel.at(early) > sex.at(early)
    assert travel.at(late) < sex.at(late)


def test_strict_has_something_to_say_about_two_variables_only(norland: Environment):
    strict = map_key_variables(norland, TARGET, prevalence="0.1")
    told = {item.variable: item.message for item in strict.variables if item.message}
    assert set(told) == {variable for _, variable in PLANNED_FAULTS}
    assert all(form in told[variable] for form, variable in PLANNED_FAULTS)
    lenient = map_key_variables(norland, TARGET, prevalence="0.1", strict=False)
    last_half = {item.variable for item in lenient.variables[len(lenient.variables) // 2 :]}
    assert set(told) <= last_half
    assert len([note for note in lenient.notes if "set aside" in note]) == 2


def test_it_is_quick():
    # Some 70 ms; the bound leaves room for a busy machine.
    started = time.process_time()
    demo_environment()
    assert time.process_time() - started < 1


@pytest.mark.slow
def test_nothing_is_built_on_import():
    told = subprocess.run(
        [sys.executable, "-c", _COUNT_GRAPHS], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["0", "True"]


_COUNT_GRAPHS = """
from gamekeeper.algorithms.categories import partition_graph
made = []
begin = partition_graph.PartitionGraph.__init__
def counted(self, *args, **options):
    made.append(1)
    begin(self, *args, **options)
partition_graph.PartitionGraph.__init__ = counted
from gamekeeper.workbench import demo_place, demo_walk
print(len(made))
demo_place.demo_environment()
print(len(made) >= 18)
"""


def test_the_categories_are_those_of_the_target_form():
    target = demo_environment().forms[TARGET]
    assert dict(CATEGORIES) == dict(target.instances)


def test_the_columns_are_the_variables_of_the_target_form():
    target = demo_environment().forms[TARGET]
    people = make_population(300)
    assert people.column_names[0] == HOUSEHOLD
    assert sorted(people.column_names[1:]) == sorted(target.instances)
    for name, labels in target.instances.items():
        assert people[name].combine_chunks().dictionary.to_pylist() == list(labels)
        assert set(people[name].to_pylist()) <= set(labels)
