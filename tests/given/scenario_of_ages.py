"""A census, three forms that ask for ages otherwise, and a scenario proposed for them."""

from __future__ import annotations

from datetime import UTC, datetime

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.variables.codes import Variable

AT = datetime(2029, 3, 1, tzinfo=UTC)
AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+", "0-17", "18+"])
SEX = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
CENSUS = Form("Census", {"Age": ("0-15", "16-64", "65+"), "Sex": ("female", "male")})
BANK = Form("Bank", {"Age": ("0-15", "16-64", "65+")}, {"sector": "trade"})
SHOP = Form("Shop", {"Age": ("0-15", "16+")}, {"sector": "trade"})
CLUB = Form("Club", {"Age": ("0-17", "18+")})
HERE = Environment(
    [AGE, SEX],
    [CENSUS, BANK, SHOP, CLUB],
    [Group("trade", where="sector = trade"), Group("hand", ("Bank", "Shop"))],
    name="Here",
)


def made(environment=HERE, *, keys=None, target="Census", revision=0, **asked):
    outcome = map_key_variables(environment, target, **asked)
    named = {name: asked[name] for name in ("forms", "groups") if name in asked}
    return propose_scenario(
        outcome, environment, name="s", keys=keys, at=AT, revision=revision, **named
    )
