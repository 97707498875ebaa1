"""Every column of a result has its row in the reference: a new one without a row fails here."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gamekeeper.attack.measures import measure_risk
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.results import Result
from tests.contracts.test_result_contract import EXAMPLES, KEYS, made_once, people, released

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"

# Where the columns of a result are: a page, and the headings of its sections.
SECTIONS = {
    "mapping-results": {
        "KeyVariableMap": ["Key variables"],
        "MapLevels": ["Levels"],
        "SizeCurves": ["Curves"],
        "KeyEvidence": ["Evidence"],
        "CompositeKeys": ["Composite keys"],
        "EnvironmentDifference": ["Differences"],
        "EnvironmentCheck": ["Check"],
        "CodeTable": ["Codes"],
        "CategoryTable": ["Categories"],
        "Consequences": ["Consequences"],
        "Listing": ["Lists"],
        "ScenarioReview": ["Review of a scenario"],
    },
    "risk-results": {
        "FileLook": ["A first look"],
        "KeyTable": ["Key table"],
        "DisRisk": ["DIS"],
        "UniquesRisk": ["Uniques"],
        "RecordRisk": ["Records"],
        "FileRisk": ["DIS", "File"],
        "VariableRisk": ["Variables and categories"],
        "CategoryRisk": ["Variables and categories"],
        "SizeRisk": ["Sizes"],
        "Explanations": ["In words"],
        "RiskMeasures": ["Measures of the field", "DIS"],
        "SpecialUniques": ["Special uniques"],
        "SpecialProperties": ["Special uniques"],
        "MatchingRisk": ["Matching"],
        "SimulationResult": ["Simulations"],
        "StrategyExperiment": ["Simulations"],
        "FractionExperiment": ["Simulations"],
        "PilotStudy": ["Simulations"],
        "ModelFit": ["Models"],
        "ModelRisk": ["Inference from models"],
        "RelativeRisk": ["Relative risk"],
        "RankedAttack": ["Attacks and values"],
        "Inference": ["Attacks and values"],
        "Judgement": ["Judging of measures"],
        "Comparison": ["Judging of measures"],
        "AttackExperiment": ["Attacks by measures"],
    },
    "assessment": {"Assessment": ["Columns of the records"]},
    "recoding": {"WhatIf": ["What if"], "SearchedRecoding": ["Recoding by search"]},
    "protection": {
        "Protected": ["Columns"],
        "FileAttack": ["Columns"],
        "Plan": ["Columns"],
        "RiskUtilityMap": ["Columns"],
        "ReleasedFile": ["Columns"],
        "ReleaseAudit": ["Columns"],
    },
    "perturbation": {"Utility": ["Utility"]},
    "table-results": {
        "TableBounds": ["Bounds"],
        "TableAudit": ["Audits"],
        "MarkedTable": ["Marked tables"],
        "Attributions": ["Attributions"],
        "FeasibleTables": ["Feasible tables"],
        "SubtractionAttack": ["SAP"],
        "CellRecovery": ["SAP"],
        "ConditionalSubtraction": ["SAP of areas and keys"],
        "SchemeComparison": ["Comparison of schemes"],
    },
    "linkage-results": {
        "FileLinks": ["Links of two files"],
        "MaskingComparison": ["Masked versions compared"],
        "StructureLinks": ["Structure"],
    },
}
HOMES = {
    kind: (page, headings)
    for page, kinds in SECTIONS.items()
    for kind, headings in kinds.items()
}  # fmt: skip


@cache
def section(page: str, heading: str) -> str:
    """Return a section of a page of the reference, with the sections in it."""
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found, (page, heading)
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def is_written(column: str, text: str) -> bool:
    """Tell whether a section has a column: by its name, or by one with a word in capitals for a part."""
    if column in KEYS:
        return re.search(r"^\| one per ", text, re.MULTILINE) is not None
    for name in set(re.findall(r"`([^`\n]+)`", text)):
        pattern = re.sub(r"\b[A-Z]+\b|(?<=_)[A-Z]+\b", ".+", re.escape(name).replace(r"\ ", " "))
        if re.fullmatch(pattern, column):
            return True
    return False


def tables(result: Result) -> Iterator[tuple[str, list[str]]]:
    """Return the tables of a result: its own, those of its parts, and those that its methods give."""
    yield "to_arrow()", result.to_arrow().column_names
    for field in dataclasses.fields(result):
        if field.name == "frame":  # what the caller gave
            continue
        value: Any = getattr(result, field.name)
        if isinstance(value, pa.Table):
            yield field.name, value.column_names
        elif isinstance(value, Result):
            yield field.name, value.to_arrow().column_names
    for name, method in inspect.getmembers(type(result), inspect.isfunction):
        asked = list(inspect.signature(method).parameters.values())[1:]
        gives_a_table = method.__annotations__.get("return") == "pa.Table"
        is_asked = any(item.default is item.empty for item in asked)
        if gives_a_table and not is_asked and not name.startswith(("_", "to_")):
            yield f"{name}()", getattr(result, name)().column_names


def sections_of(result: Result) -> str:
    """Return the sections on a result and on its parts."""
    values = [getattr(result, field.name) for field in dataclasses.fields(result)]
    kinds = [type(item).__name__ for item in (result, *values) if isinstance(item, Result)]
    places = [(HOMES[kind][0], heading) for kind in kinds for heading in HOMES[kind][1]]
    return "\n".join(section(page, heading) for page, heading in places)


def missing(result: Result) -> list[str]:
    """Return the columns of a result that its sections do not have."""
    text = sections_of(result)
    found = {
        f"{table}: {column}"
        for table, columns in tables(result)
        for column in columns
        if not is_written(column, text)
    }
    return sorted(found)


def test_every_result_has_its_place_in_the_reference():
    assert sorted(HOMES) == sorted(kind.__name__ for kind in EXAMPLES)


def by_kind(**asked: Any) -> KeyTable:
    return count_keys(people(), ["Kind"], **(asked or {"fraction": "1/4"}))


# Some columns are there with an option only.
WITH_OPTIONS: dict[str, Callable[[], Result]] = {
    "class sizes": lambda: by_kind(missing="wildcard"),
    "diversity": lambda: measure_risk(by_kind(), sensitive=["Place"]),
    "households": lambda: measure_risk(by_kind(), household="Place"),
    "rules": lambda: bound_cells(released(), rules=["within:10"]),
}


@pytest.mark.parametrize("make", WITH_OPTIONS.values(), ids=WITH_OPTIONS)
def test_a_column_that_an_option_brings_has_its_row(make: Callable[[], Result]):
    assert missing(make()) == []


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_every_column_has_its_row(kind: type[Result]):
    assert missing(made_once(kind)) == []


def test_a_column_without_a_row_is_found():
    measures = measure_risk(by_kind())
    table = measures.records.table
    more = table.append_column("luck", pa.array([0.0] * table.num_rows))
    records = dataclasses.replace(measures.records, table=more)
    assert missing(dataclasses.replace(measures, records=records)) == ["records: luck"]
