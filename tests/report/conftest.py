"""Environments that the tests of this room look at."""

from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import OUTSIDE, Variable

AGES = {
    "fine": ("0-15", "16-24", "25-44", "45-64", "65+"),
    "shifted": ("0-17", "18-24", "25-44", "45-64", "65+"),
    "coarse": ("0-15", "16-64", "65+"),
    "adults": ("16-24", "25-44", "45-64", "65+", OUTSIDE),
    "any": (),
}
SEXES = ("female", "male")
PLACES = ("England", "Northern Ireland", "Scotland", "Wales", "abroad")


@pytest.fixture(scope="session")
def residence() -> PartitionGraph:
    return PartitionGraph(
        {
            "UK": ["Britain", "Northern Ireland"],
            "Britain": ["England", "Scotland", "Wales"],
            "non Britain": ["Northern Ireland", "abroad"],
        }
    )


@pytest.fixture
def environment(residence: PartitionGraph) -> Environment:
    ages = [band for bands in AGES.values() for band in bands if band != OUTSIDE]
    variables = [
        Variable.of_bands("Age", ages, description="Age in completed years"),
        Variable("Sex", PartitionGraph({"anyone": SEXES})),
        Variable("Residence", residence),
        Variable("Shoe size", PartitionGraph({"any size": ["large", "small"]})),
    ]
    forms = [
        Form("Census", {"Age": AGES["fine"], "Sex": SEXES, "Residence": PLACES,
                        "Shoe size": ("large", "small")}),
        Form("Bank", {"Age": (), "Sex": SEXES, "Residence": ("UK", "abroad")}),
        Form("Shop", {"Age": AGES["shifted"], "Residence": ("Britain", "non Britain")}),
        Form("Clinic", {"Age": AGES["fine"], "Sex": SEXES}),
        Form("Survey", {"Age": AGES["coarse"], "Sex": SEXES, "Residence": PLACES}),
        Form("Club", {"Age": AGES["adults"]}),
        Form("Broken", {"Residence": ("UK", "Britain")}),
    ]  # fmt: skip
    return Environment(variables, forms, [Group("Firms", ("Bank", "Shop"))], name="Small world")


@pytest.fixture(scope="session")
def age_environment() -> Environment:
    """The example of Figure 11: five codes of Age on 104 forms."""
    cuts = {
        "C0": (21, None),
        "C2": (36, [16]),
        "C7": (7, [21, 25, 35, 45, 55, 65]),
        "C9": (30, [16, 20, 25, 30, 40, 50, 60, 65]),
        "C45": (10, [*range(1, 17), 20, 25, 30, 45, 60, 65, 70, *range(75, 96)]),
    }
    bands = {name: () if inner is None else _bands(inner) for name, (_, inner) in cuts.items()}
    age = Variable.of_bands("Age", [band for given in bands.values() for band in given])
    forms = [
        Form(f"{name} number {number}", {"Age": bands[name]})
        for name, (count, _) in cuts.items()
        for number in range(count)
    ]
    return Environment([age], forms)


def _bands(cuts: list[int]) -> tuple[str, ...]:
    starts = [0, *cuts]
    closed = [f"{low}-{high - 1}" for low, high in zip(starts, cuts, strict=False)]
    return (*closed, f"{cuts[-1]}+")
