"""An environment to edit."""

from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import Edit, apply_edits
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import OUTSIDE, Scale, Variable


def small_environment() -> Environment:
    country = Variable(
        "Country",
        PartitionGraph(
            {
                "UK": ["Britain", "N. Ireland"],
                "Britain": ["England", "Scotland", "Wales"],
                "Abroad": [],
            }
        ),
    )
    health = Variable(
        "Health",
        PartitionGraph({"well": ["good", "fair"], "poor": []}, order=["good", "fair", "poor"]),
        Scale.ORDINAL,
    )
    age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    return Environment(
        [country, health, age],
        [
            Form(
                "Bank",
                {"Country": ("UK", "Abroad"), "Age": ("0-15", "16-64", "65 and over")},
                {"sector": "bank", "year": 2011},
            ),
            Form("Clinic", {"Health": ("good", "fair", "poor"), "Age": ()}, {"sector": "health"}),
            Form(
                "Shop", {"Country": ("Britain", "N. Ireland", "Abroad"), "Health": ("well", "poor")}
            ),
            Form("Club", {"Country": ("England", OUTSIDE)}),
            Form("Faulty", {"Country": ("UK",)}),
        ],
        [
            Group("Trade", ("Bank", "Shop")),
            Group("Banks", where="sector = bank and has country"),
            Group("Either", union=("Trade", "Banks")),
        ],
        name="small",
    )


@pytest.fixture
def environment() -> Environment:
    return small_environment()


def refusal(environment: Environment, *edits: Edit, unrestricted: bool = False) -> InputError:
    """Apply edits that must be refused, leaving all as it was, and return the error."""
    before = everything(environment)
    with pytest.raises(InputError) as caught:
        apply_edits(environment, edits, unrestricted=unrestricted)
    assert everything(environment) == before
    return caught.value


def everything(environment: Environment) -> dict[str, object]:
    """Return all that makes an environment what it is."""
    return {
        "name": environment.name,
        "description": environment.description,
        "rules": environment.rules,
        "variables": dict(environment.variables),
        "forms": dict(environment.forms),
        "groups": dict(environment.groups),
        "members": {name: environment.group(name).forms for name in environment.groups},
        "codes": {name: environment.register(name) for name in environment.variables},
    }
