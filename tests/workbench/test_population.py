from __future__ import annotations

from gamekeeper.data.population import CATEGORIES, HOUSEHOLD, make_population
from gamekeeper.workbench.demo_place import TARGET, demo_environment


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
