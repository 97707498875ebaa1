"""A small file, its population and a scenario that fits it, for tests of stage two."""

from __future__ import annotations

from pathlib import Path

from gamekeeper import Environment, Form, Variable, map_key_variables
from gamekeeper.mapping import PartitionGraph
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.store.folder import write_environment

KEYS = ("Age", "Sex", "Status")
PEOPLE = """\
Age,Sex,Status,Region,w
16,f,widowed,North,10
34,f,married,North,10
34,f,married,South,5
34,m,married,North,10
34,m,married,South,5
52,f,single,South,5
52,f,single,South,5
52,m,married,South,5
52,m,married,North,10
71,f,widowed,South,5
71,f,widowed,South,5
71,m,,North,10
"""
OTHERS = (
    ("34,f,married,North,1\n",) * 20 + ("71,m,,South,1\n",) * 3 + ("71,m,single,South,1\n",) * 9
)

AGE = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+"])
SEX = Variable("Sex", PartitionGraph({"any sex": ["female", "male"]}))
STATUS = Variable(
    "Marital status",
    PartitionGraph(
        {
            "any": ["single", "married", "formerly married"],
            "formerly married": ["divorced", "widowed"],
        }
    ),
)
SCENARIO = "A clerk"
OF_SCENARIO = """\
AGE,sex,marital_status,Region,w
4,female,single,North,10
17,female,widowed,North,10
34,female,married,North,10
34,male,married,South,5
52,male,Married,South,5
70,male,divorced,South,5
71,female,widowed,South,5
"""
"""A file whose values are known by name; on the scenario's categories two of the men are alike."""


def world() -> Environment:
    """Return an environment with a scenario; Sex is matched at any detail."""
    single = ("single", "married", "divorced", "widowed")
    census = Form("Census", {"Age": (), "Sex": (), "Marital status": single})
    bank = Form(
        "Bank",
        {
            "Age": ("0-15", "16-64", "65+"),
            "Sex": (),
            "Marital status": ("single", "married", "formerly married"),
        },
    )
    plain = Environment([AGE, SEX, STATUS], [census, bank], name="small")
    return Environment([AGE, SEX, STATUS], [census, bank], name="small", scenarios=[made(plain)])


def made(environment: Environment) -> Scenario:
    """Return the scenario of a clerk at the bank."""
    outcome = map_key_variables(environment, "Census", forms=["Bank"])
    return propose_scenario(
        outcome,
        environment,
        name=SCENARIO,
        forms=["Bank"],
        attacker="Somebody at a bank",
        keys={"Age": "", "Sex": "", "Marital status": ""},
    )


def write(folder: Path, name: str, text: str) -> Path:
    """Write a text file and return where it is."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def write_world(folder: Path) -> Path:
    """Write the environment as a folder and return where it is."""
    place = folder / "world"
    write_environment(world(), place)
    return place
