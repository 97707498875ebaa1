"""Run the command line as a person does, and see what it prints and returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import gamekeeper as gk
from gamekeeper.cli.app import main
from tests.given.microdata import OTHERS, PEOPLE, write


@dataclass(frozen=True)
class Run:
    exit_code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def call(*arguments: object) -> Run:
        monkeypatch.setattr(sys, "argv", ["gamekeeper", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        code = stop.value.code
        return Run(code if isinstance(code, int) else 0, printed.out, printed.err)

    return call


@pytest.fixture
def environment() -> gk.Environment:
    age = gk.Variable.of_bands("Age", ["under 16", "16-24", "25-64", "65+", "0-17", "18-64"])
    sex = gk.Variable("Sex", gk.mapping.PartitionGraph({"any": ["female", "male"]}))
    tenure = gk.Variable(
        "Tenure", gk.mapping.PartitionGraph({"rents": ["private", "social"], "owns": []})
    )
    fine = ("under 16", "16-24", "25-64", "65+")
    return gk.Environment(
        [age, sex, tenure],
        [
            gk.Form("Bank", {"Age": ("0-17", "18-64", "65 and over"), "Sex": ("female", "male")}),
            gk.Form("Shop", {"Age": ("16-24", "25-64", "65+", gk.mapping.OUTSIDE)}),
            gk.Form("Clinic", {"Age": (), "Sex": ("female", "male")}),
            gk.Form("Landlord", {"Tenure": ("private", "social")}),
            gk.Form("Census", {"Age": fine, "Sex": (), "Tenure": ("owns", "rents")}),
        ],
        [gk.Group("Commercial", ("Bank", "Shop")), gk.Group("Care", ("Clinic",))],
        name="small",
    )


@pytest.fixture
def folder(environment: gk.Environment, tmp_path: Path) -> Path:
    place = tmp_path / "environment"
    gk.write_environment(environment, place)
    return place


@pytest.fixture
def people(tmp_path):
    return write(tmp_path, "people.csv", PEOPLE)


@pytest.fixture
def everybody(tmp_path):
    return write(tmp_path, "everybody.csv", PEOPLE + "".join(OTHERS))
