"""A store to work on, and what makes two environments the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import OUTSIDE, Scale, Variable
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.loading import (
    form_document,
    header_document,
    scenario_document,
    text_of,
)
from gamekeeper.store.reading import group_tree

WHO = "ana"


def small_environment() -> Environment:
    country = {"UK": ["Britain", "NI"], "Britain": ["England", "Wales"], "Abroad": []}
    health = {"well": ["good", "fair"], "poor": []}
    return Environment(
        [
            Variable("Country", PartitionGraph(country)),
            Variable(
                "Health", PartitionGraph(health, order=["good", "fair", "poor"]), Scale.ORDINAL
            ),
            Variable.of_bands("Age", ["0-15", "16-64", "65+"], description="In years."),
        ],
        [
            Form(
                "Bank",
                {"Country": ("UK", "Abroad"), "Age": ("0-15", "16-64", "65 and over")},
                {"sector": "bank", "year": 2011, "share": 1.0, "online": True, "note": None},
            ),
            Form("Clinic", {"Health": ("good", "fair", "poor"), "Age": ()}, {"sector": "health"}),
            Form("Shop", {"Country": ("Britain", "NI", "Abroad"), "Health": ("well", "poor")}),
            Form("Club", {"Country": ("England", OUTSIDE)}),
            Form("École"),
        ],
        [
            Group("Trade", ("Bank", "Shop"), "Who sells."),
            Group("Banks", where="sector = bank"),
            Group("Either", union=("Trade", "Banks")),
        ],
        name="small",
        description="For tests.",
    )


@pytest.fixture
def environment() -> Environment:
    return small_environment()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "forms.gk"


@pytest.fixture
def store(path: Path, environment: Environment) -> Iterator[EnvironmentStore]:
    with EnvironmentStore.create(path, environment, who=WHO) as made:
        yield made


@pytest.fixture
def closed(path: Path, environment: Environment) -> Path:
    EnvironmentStore.create(path, environment, who=WHO).close()
    return path


def add(path: Path, name: str) -> None:
    """Add a form of this name, in a session of its own."""
    with EnvironmentStore.open(path) as store:
        store.apply([AddForm(name=name)], who=WHO)


def documents(environment: Environment) -> dict[str, object]:
    """All that makes an environment what it is but its codes; 1, 1.0 and true differ."""
    return {
        "header": header_document(environment),
        "variables": {n: definition_tree(v) for n, v in sorted(environment.variables.items())},
        "forms": {n: text_of(form_document(f)) for n, f in sorted(environment.forms.items())},
        "groups": {n: group_tree(g) for n, g in sorted(environment.groups.items())},
        "scenarios": {n: scenario_document(s) for n, s in sorted(environment.scenarios.items())},
    }


def everything(environment: Environment) -> dict[str, object]:
    """All that makes an environment what it is, codes and all."""
    codes = {name: environment.register(name) for name in environment.variables}
    return {**documents(environment), "codes": codes}


def refusal(work: Callable[[], object], reason: Reason) -> GamekeeperError:
    """Do what must be refused, and return the error, which hides what the database said."""
    with pytest.raises(GamekeeperError) as caught:
        work()
    error = caught.value
    assert error.reason is reason, str(error)
    assert error.asked
    assert error.found
    assert "sqlite" not in str(error).lower()
    assert "sqlite" not in repr(error.__context__).lower()
    return error


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder with what it holds."""
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
