from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.variables.codes import Scale, Variable
from gamekeeper.mapping.variables.definitions import (
    DEFINITION,
    definition_of,
    variable_of,
)
from tests.given.categorizations import band_variables, partition_graph_children


@given(band_variables())
def test_bands_survive(variable: Variable) -> None:
    definition = definition_of(variable)
    assert variable_of(definition) == variable
    text = DEFINITION.dump_json(definition, by_alias=True)
    assert DEFINITION.validate_json(text) == definition


@given(partition_graph_children(), st.sampled_from([Scale.NOMINAL, Scale.ORDINAL]), st.data())
def test_categories_survive(
    children: dict[str, list[str]], scale: Scale, data: st.DataObject
) -> None:
    sinks = [name for name, below in children.items() if not below]
    order = data.draw(st.permutations(sinks))
    try:
        variable = Variable("X", PartitionGraph(children, order=order), scale, "for tests")
    except InputError:
        return
    definition = definition_of(variable)
    assert variable_of(definition) == variable
    assert DEFINITION.validate_python(json.loads(definition.model_dump_json())) == definition


@pytest.mark.parametrize(
    ("tree", "reason", "n_problems"),
    [
        ({"scale": "nominal", "categories": {"a": ["b", "c"]}}, Reason.UNKNOWN_NAME, 2),
        ({"scale": "interval", "bands": [], "from": 9, "to": 3}, Reason.BAD_BAND, 1),
        ({"scale": "interval", "bands": [], "from": 0.5}, Reason.BAD_BAND, 1),
        ({"scale": "interval", "bands": ["x", "y"]}, Reason.BAD_BAND, 2),
    ],
)
def test_a_definition_of_nothing_is_refused(
    tree: dict[str, Any], reason: Reason, n_problems: int
) -> None:
    definition = DEFINITION.validate_python({"name": "X", **tree})
    with pytest.raises(InputError) as caught:
        variable_of(definition)
    assert caught.value.reason is reason
    assert len(caught.value.problems) == n_problems


def test_the_shape_is_strict() -> None:
    for tree in (
        {"name": "X", "scale": "nominal", "categories": {"a": []}, "more": 1},
        {"name": 1, "scale": "nominal", "categories": {"a": []}},
        {"name": "X", "scale": "ratio", "categories": {"a": []}},
    ):
        with pytest.raises(ValidationError):
            DEFINITION.validate_python(tree)
