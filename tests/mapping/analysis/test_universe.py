"""What can be told apart within the universe of a target, by the definition."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.edits import RenameForm, SaveScenario, apply_edits
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.forms.form import Universe
from gamekeeper.mapping.scenario.document import document_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import review_scenario
from gamekeeper.mapping.variables.codes import OUTSIDE, Variable

SINKS = 5
blocks = st.lists(st.integers(0, 2), min_size=SINKS, max_size=SINKS)


def slow_size(kept: list[int], target: list[int], forms: list[list[int]], needed: int) -> int:
    """Return the most classes of people of the target that `needed` forms tell apart together."""
    best = 0
    for some in combinations(forms, needed):
        classes = {sink: {sink} for sink in kept}
        for labels in (target, *some):
            for a, b in combinations(kept, 2):
                if labels[a] == labels[b] and classes[a] is not classes[b]:
                    classes[a] |= classes[b]
                    for sink in classes[b]:
                        classes[sink] = classes[a]
        best = max(best, len({id(one) for one in classes.values()}))
    return best


@given(
    blocks, st.lists(blocks, min_size=1, max_size=4), st.sets(st.integers(0, SINKS - 1), max_size=4)
)
def test_within_the_universe_is_what_the_definition_says(
    target: list[int], forms: list[list[int]], outside: set[int]
) -> None:
    sinks = [f"s{number}" for number in range(SINKS)]
    graph: dict[str, list[str]] = {sink: [] for sink in sinks}
    offered: list[list[str]] = []
    for number, labels in enumerate((target, *forms)):
        inside = [s for s in range(SINKS) if number or s not in outside]
        names: list[str] = []
        for block in sorted({labels[s] for s in inside}):
            names.append(f"{number}.{block}")
            graph[names[-1]] = [sinks[s] for s in inside if labels[s] == block]
        offered.append([*names, *([OUTSIDE] if len(inside) < SINKS else [])])
    environment = Environment(
        [Variable("X", PartitionGraph(graph))],
        [Form(f"form {number}", {"X": labels}) for number, labels in enumerate(offered)],
    )
    kept = [sink for sink in range(SINKS) if sink not in outside]
    (found,) = map_key_variables(environment, "form 0").variables
    assert found.outside == tuple(sinks[sink] for sink in sorted(outside))
    assert found.curve is not None
    expected = [slow_size(kept, target, forms, n) for n in range(1, len(forms) + 1)]
    assert [int(size) for size in found.curve.sizes] == expected
    for item in found.maximal:
        assert len(item.categories) == found.n_categories
        assert environment.register("X").meaning(item.code) == item.partition


def small() -> Environment:
    age = Variable.of_bands("Age", ["0-64", "65-79", "80+", "65+"])
    return Environment(
        [age],
        [
            Form("Pensioners", {"Age": ("65-79", "80+", OUTSIDE)}),
            Form("Bank", {"Age": ("0-64", "65+")}),
            Form("Clinic", {"Age": ("80+", OUTSIDE)}),
            Form("Diary", {"Age": ()}, universe=Universe(wording="Old", within={"Age": ("65+",)})),
        ],
    )


def test_sizes_words_and_notes() -> None:
    outcome = map_key_variables(small(), "Pensioners")
    (found,) = outcome.variables
    assert (found.n_categories, found.maximal[0].categories) == (2, ("65-79", "80+"))
    assert found.restricted == ("Clinic",)
    assert set(found.maximal[0].forms) == {"Clinic", "Diary"}
    assert outcome.notes == (
        "Counted among people whom the target asks: 'Age' without '0-64'.",
        "Forms that ask only some of these people: 1 of 3 with 'Age'.",
    )
    everybody = map_key_variables(small(), "Pensioners", within_universe=False)
    assert everybody.variables[0].n_categories == 3
    assert everybody.notes == ()
    (diary,) = map_key_variables(small(), "Diary").variables
    assert diary.outside == ("0-64",)
    assert diary.maximal[0].categories == ("65-79", "80+")


def test_a_scenario_keeps_how_it_was_counted_and_the_names_of_forms() -> None:
    environment = small()
    for within_universe in (True, False):
        outcome = map_key_variables(environment, "Pensioners", within_universe=within_universe)
        scenario = propose_scenario(outcome, environment, name="A clerk", who="ann")
        assert scenario.within_universe is within_universe
        review = review_scenario(scenario, environment, revision=0)
        assert review.is_current, review.sentences
        saved = apply_edits(
            environment,
            [SaveScenario(scenario=document_of(scenario)), RenameForm(form="Diary", to="Log")],
        )
        names = {form for item in saved.scenario("A clerk").keys[0].evidence for form in item.forms}
        assert names == ({"Clinic", "Log"} if within_universe else {"Log"})


def test_of_equal_areas_the_variable_that_tells_people_apart_comes_first() -> None:
    age = Variable.of_bands("Age", ["0-64", "65+"])
    sex = Variable("Sex", PartitionGraph({"any": ["f", "m"]}))
    asks = {"Age": ("65+", OUTSIDE), "Sex": ("f", "m")}
    both = [Form("Target", asks), Form("A", {"Age": ("0-64", "65+")}), Form("B", asks)]
    found = map_key_variables(Environment([age, sex], both), "Target")
    areas = {item.variable: item.curve.area for item in found.variables if item.curve}
    assert areas == {"Age": 1, "Sex": 1}
    assert [item.variable for item in found.variables] == ["Sex", "Age"]
