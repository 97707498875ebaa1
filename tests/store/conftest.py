"""An environment to keep, its folder, and ways to spoil it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gamekeeper.algorithms.categories.bands import Band, BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Problem
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.variables.codes import OUTSIDE, Scale, Variable
from gamekeeper.store.folder import read_environment, write_environment


@pytest.fixture
def environment() -> Environment:
    age = Variable.of_bands(
        "Age", ["under 16", "16-24", "25-64", "65+", "0-17", "18-64"], description="In years."
    )
    temperature = Variable.of_bands(
        "Température (°C)",
        ["-5-0.5", "0.5-37", "<0"],
        style=BandStyle.HALF_OPEN,
        space=Band(float("-inf"), 100),
    )
    region = Variable(
        "Region",
        PartitionGraph(
            {"UK": ["Britain", "N. Ireland"], "Britain": ["England", "Scotland", "Wales"]},
            order=["Wales", "Scotland", "N. Ireland", "England"],
        ),
    )
    health = Variable(
        "Health",
        PartitionGraph({"well": ["good", "fair"], "poor": []}, order=["good", "fair", "poor"]),
        Scale.ORDINAL,
    )
    made = Environment(
        [age, temperature, region, health],
        [
            Form(
                "Bank",
                {"Region": ("Britain", "N. Ireland"), "Age": ("0-17", "18-64", "65 and over")},
                {"sector": "bank", "year": 2011, "share": 0.5, "online": True, "note": None},
            ),
            Form("Clinic", {"Age": (), "Health": ("good", "fair", "poor")}),
            Form("Shop", {"Age": ("16-24", "25-64", "65+", OUTSIDE), "Health": ("well", "poor")}),
            Form("École", {"Age": ("under 16", "16-24", "25-64", "65+")}),
            Form("Faulty", {"Age": ("16-24",), "Region": ("UK", "Wales")}),
            Form("Empty"),
        ],
        [
            Group("Trade", ("Bank", "Shop"), "Who sells."),
            Group("Nobody", ()),
            Group("Banks", where="sector = bank and has Age"),
            Group("Other trade", difference=("Trade", "Banks")),
        ],
        name="small",
        description="For tests.",
    )
    outcome = map_key_variables(made, "École", groups="Trade", prevalence="1/2")
    scenario = propose_scenario(
        outcome,
        made,
        name="A clerk",
        groups="Trade",
        attacker="Somebody at the shop",
        who="ann",
        at=datetime(2031, 5, 17, tzinfo=UTC),
    )
    return made.changed(scenarios={scenario.name: scenario})


@pytest.fixture
def folder(environment: Environment, tmp_path: Path) -> Path:
    place = tmp_path / "environment"
    write_environment(environment, place)
    return place


Edit = Callable[[str, Callable[[dict[str, Any]], None]], None]


@pytest.fixture
def edit(folder: Path) -> Edit:
    """Change what one file of the folder holds."""

    def change(name: str, how: Callable[[dict[str, Any]], None]) -> None:
        path = folder / name
        tree = json.loads(path.read_text(encoding="utf-8"))
        how(tree)
        path.write_text(json.dumps(tree), encoding="utf-8")

    return change


@pytest.fixture
def refused(folder: Path) -> Callable[[], InputError]:
    """Read the folder, which must be refused, and return the error."""

    def read() -> InputError:
        with pytest.raises(InputError) as caught:
            read_environment(folder)
        return caught.value

    return read


def the_only(error: InputError) -> Problem:
    (problem,) = error.problems
    return problem
