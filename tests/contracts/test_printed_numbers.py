"""Whatever people read, programs can read too: every number that a command prints is in its JSON.

Each command runs twice in this process, as a table and as JSON. A line is passed over where the
JSON has it word for word among its sentences. Of any other line, such as a row of a table, each
number must be a number of the JSON, rounded as it is printed, or stand in a text of it that is not
a sentence, such as the label of a category.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gamekeeper as gk
from gamekeeper.cli.app import PARTS as PARTS_OF_APP
from gamekeeper.cli.app import load, main
from gamekeeper.results import PARTS, document_schema
from gamekeeper.wording import (
    digits_text,
    duration_text,
    expected_text,
    fraction_text,
    large_text,
    magnitude_text,
    number_text,
    people_text,
    share_text,
    three_digits,
    times_text,
)
from tests.given.microdata import OF_SCENARIO, OTHERS, PEOPLE, SCENARIO, write, write_world

SCIENTIFIC = re.compile(r"(?<![\w.])[\d.,]*\d[eE][+-]?\d+\b")
NUMBER = re.compile(r"(?<![\w.])-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[+-]?\d+)?%?")
WORDS = ("sentences", "notices", "explanations")
KEYS = ("-k", "Age,Sex,Status")
CLERK = ("{place}/clerk.csv", "--scenario", SCENARIO, "-e", "{place}/world")
QUICK = ("--method", "annealing", "--chains", "1", "--workers", "1")
RELEASE = "{place}/release.json"
TWO = ("{place}/noise.csv", "{place}/original.csv", "--id", "row")
PEOPLE_CSV = "{place}/people.csv"

GROUPS = ("risk", "tables", "link", "protect")
# What they print has no form for programs: they change a study.
WITHOUT_FORMAT = {"protect choose", "protect undo"}
ALONE = ("map", "graph", "check", "look", "assess")

COMMANDS: dict[str, tuple[str, ...]] = {
    "map": ("{place}/world", "Census"),
    "map --curves": ("{place}/world", "Census", "--curves"),
    "graph": ("{place}/world", "Age"),
    "check": ("{place}/world",),
    "assess": (PEOPLE_CSV, *KEYS, "-f", "10%", "--sensitive", "Region", "--explain", "1"),
    "assess --fraction": ("{place}/larger.csv", "-k", "a,b,c", "-f", "5%", "--workers", "1"),
    "assess --policy": (
        PEOPLE_CSV, *KEYS, "--weight", "w", "--policy", "{place}/policy.json", "--sensitive",
        "Region", "--household", "Region", "--strata", "Sex", "--top", "2",
    ),
    "assess --recode": (
        "{place}/larger.csv", "-k", "a,b,c", "-f", "5%", "--workers", "1", "--recode", "a=top 4",
        "--policy", "hdx",
    ),
    "assess --scenario": (*CLERK, "-f", "100%", "--explain", "2"),
    "assess --missing": (PEOPLE_CSV, *KEYS, "--missing", "wildcard", "--no-records"),
    "look": (PEOPLE_CSV,),
    "look --values": (PEOPLE_CSV, "--values"),
    "risk keys": (PEOPLE_CSV, *KEYS, "-f", "10%", "--sensitive", "Region"),
    "risk keys --missing": (PEOPLE_CSV, *KEYS, "--missing", "wildcard"),
    "risk keys --scenario": CLERK,
    "risk measures": (PEOPLE_CSV, *KEYS, "-f", "10%", "--sensitive", "Region"),
    "risk measures --household": (
        PEOPLE_CSV, *KEYS, "--weight", "w", "--household", "Region", "--ordered", "w",
        "--population", "{place}/everybody.csv", "--dimension", "2", "--unsafe-below", "4",
    ),
    "risk keys --recode": (PEOPLE_CSV, *KEYS, "-f", "10%", "--recode", "age=0-40, 41+"),
    "risk suda --recode": (
        PEOPLE_CSV, *KEYS, "--workers", "1", "--id", "region", "--recode", "Age=top 60",
        "--recode", "Status=alone: single | widowed",
    ),
    "risk dis": (PEOPLE_CSV, *KEYS, "-f", "10%"),
    "risk suda": (PEOPLE_CSV, *KEYS, "-f", "10%", "--explain", "1", "--workers", "1"),
    "risk special": (*CLERK, "--rounds", "2", "-f", "10%"),
    "risk match": (PEOPLE_CSV, *KEYS, "--r", "2", "--population", "{place}/everybody.csv"),
    "risk model": (PEOPLE_CSV, *KEYS, *QUICK),
    "risk infer": (
        PEOPLE_CSV, *KEYS, *QUICK, "-f", "20%", "--categories", "Age", "--by", "collapsing",
        "--neighbours", "--known", "Sex=f", "--ask", "Status", "--population",
        "{place}/everybody.csv",
    ),
    "risk compare": (
        "{place}/everybody.csv", *KEYS, "--fraction", "50%", "--attack-fraction", "50%",
        "--measure", "is", "--workers", "1",
    ),
    "risk simulate": (
        "{place}/everybody.csv", *KEYS, "--fraction", "50%", "--samples", "2", "--workers", "1",
    ),
    "tables release": ("{place}/work.csv", "-k", "Area,Age,Work", "-o", "{place}/again.json", "--replace"),
    "tables audit": ("{place}/hidden.csv", "--hierarchy", "Code=codes"),
    "tables bounds": (RELEASE,),
    "tables records": ("{place}/counted.csv", "-o", "{place}/units.csv", "--replace"),
    "tables mark": ("{place}/work.csv", "--axes", "Area,Age", "--rule", "minimum:4"),
    "tables feasible": (RELEASE, "--list", "2"),
    "tables infer": (RELEASE, "--about", "Work"),
    "tables sap": (RELEASE, "-n", "0-4"),
    "tables sap --within": (RELEASE, "--within", "Area", "-n", "1,2"),
    "tables compare": ("conventional:3", "--shape", "2x2", "--tables", "4", "-n", "0-2"),
    "protect audit": (PEOPLE_CSV, PEOPLE_CSV, *KEYS, "-f", "10%", "--same-order"),
    "protect try": (
        PEOPLE_CSV, *KEYS, "-t", "both>=2", "-t", "linkage<=1%", "--method", "suppress", "--seed", "1",
    ),
    "protect map": ("{place}/people.gkp",),
    "protect apply": ("{place}/recipe.json", PEOPLE_CSV, "--attack", "linkage"),
    "protect replay": ("{place}/recipe.json", PEOPLE_CSV, "--anew"),
    "link files": (*TWO, "--top", "5"),
    "link evaluate": ("{place}/original.csv", "{place}/noise.csv", "--id", "row"),
    "link structure": (
        *TWO, "--columns", "age,income", "--others", "income,age", "--clusters", "3,2,2,2,2,2",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("printed")
    write(folder, "people.csv", PEOPLE)
    write(folder, "everybody.csv", PEOPLE + "".join(OTHERS))
    write(folder, "clerk.csv", OF_SCENARIO)
    write_world(folder)
    limits = {"k_anonymity": 3, "average_risk": 0.9, "household_risk": 0.2, "l_diversity": 2,
              "t_closeness": 0.4, "unsafe_combinations": 3, "right_matches": 2,
              "population_uniques": {"limit": 0.001, "source": "the board, May 2031"}}  # fmt: skip
    write(folder, "policy.json", json.dumps({"policy": "ours", "criteria": limits}))
    # Enough for models, which learn from records that are alike.
    codes = np.random.default_rng(1).integers(1, 8, (1_100, 3)).tolist()
    write(folder, "larger.csv", "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in codes))
    lines = ["Area,Age,Work"]
    for row, number in (("n,16-17,no", 2), ("n,18+,yes", 2), ("s,16-17,no", 1), ("s,18+,yes", 3)):
        lines += [row] * number
    counted = write(folder, "work.csv", "\n".join(lines) + "\n")
    names = ["Area", "Age", "Work"]
    truth = gk.tabulate(gk.code_source(gk.open_source(counted), names), names)
    gk.data.write_release(
        gk.make_release(truth, [names], "conventional:3"), folder / "release.json", truth
    )
    plan = gk.protection.microdata(
        folder / "people.csv", keys=["Age", "Sex", "Status"], targets="both>=2", methods=["suppress"],
        seed=1, study=folder / "people.gkp",
    )  # fmt: skip
    write(folder, "recipe.json", plan.recipe().text())
    write(folder, "counted.csv", "Area,n\nn,2\ns,3\n")
    write(folder, "hidden.csv", "Code,n\nTotal,18\nA,*\nA1,3\nA2,*\nB,4\nC,6\n")
    rng = np.random.default_rng(4)
    age, income = rng.integers(0, 90, 12), rng.integers(0, 5_000, 12)
    for name, noise in (("original", 0), ("noise", 2)):
        rows = [f"{k},{age[k] + noise * (k % 3)},{income[k] - 7 * noise}" for k in range(12)]
        write(folder, f"{name}.csv", "\n".join(["row,age,income", *rows]) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_number_that_is_printed_is_in_the_json(
    command: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [word for word in command.split() if not word.startswith("-")]
    arguments = [*names, *(text.replace("{place}", str(place)) for text in COMMANDS[command])]

    def told(*more: str) -> str:
        monkeypatch.setattr(sys, "argv", ["gamekeeper", *arguments, *more])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        # A policy that is not met is told with the result.
        assert stop.value.code in (0, None, 4), printed.err
        return printed.out

    printed, text = told(), told("--format", "json")
    document = json.loads(text)
    jsonschema.validate(document, document_schema())
    assert set(document["parts"]) <= set(PARTS.get(document["result"], ())), "an unnamed part"
    assert absent(printed, document) == []
    assert [text for text in sentences(document) if SCIENTIFIC.search(text)] == []


def sentences(document: dict[str, Any]) -> Iterator[str]:
    """Return whatever of a document is said: texts of several words, but how it came about."""
    for key, text in leaves(
        {name: part for name, part in document.items() if name != "provenance"}
    ):
        if key in WORDS or " " in text:
            yield text


# Where a number of few digits is drawn, typed or kept and not said, it may be a power of ten.
_NOT_SAID = {
    "report/page.py", "protection/utility/result.py",
    "attack/linkage/truth.py", "data/tables/cell_file.py", "mapping/recoding_rules.py",
    "mapping/recoding.py",
    "wording.py",
}  # fmt: skip


@pytest.mark.slow
def test_no_number_that_is_said_can_become_a_power_of_ten() -> None:
    """Formats that turn to powers of ten (g, e) stand in formatters of wording alone.

    Besides there are reprs, and what is kept for programs: parameters, ids, summaries.
    """
    root = Path(gk.__file__).parent
    found: list[str] = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name in _NOT_SAID:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kept = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Dict | ast.FunctionDef | ast.keyword)
            and (not isinstance(node, ast.FunctionDef) or node.name in ("__repr__", "summary"))
            and (not isinstance(node, ast.keyword) or node.arg in ("parameters", "fingerprint"))
            for part in ast.walk(node)
        }
        found += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.FormattedValue)
            and id(node) not in kept
            and isinstance(node.format_spec, ast.JoinedStr)
            and any(
                isinstance(part, ast.Constant) and re.search(r"[geGE]$", str(part.value))
                for part in node.format_spec.values
            )
        ]
    assert found == []


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 12))
def test_formatters_write_no_power_of_ten(number: float, digits: int) -> None:
    said = [digits_text(number, digits), three_digits(number), number_text(number)]
    if number >= 0:
        said += [
            share_text(number),
            expected_text(number),
            times_text(number),
            duration_text(number),
        ]
        said += [magnitude_text(number), large_text(int(number)), people_text(number)]
        said += [fraction_text(Fraction(number))]
    assert not any(SCIENTIFIC.search(text) or "10^" in text for text in said)


def test_every_command_that_attacks_or_maps_is_examined() -> None:
    known = {f"{group} {name}" for group in GROUPS for name in load(group).commands}
    known |= set(ALONE) & set(PARTS_OF_APP)
    known -= WITHOUT_FORMAT
    examined = {" ".join(w for w in name.split() if not w.startswith("-")) for name in COMMANDS}
    assert examined == known


def absent(printed: str, document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers that are printed and are not in a document, each with its line."""
    said = {line.strip() for text in words(document) for line in text.split("\n")}
    numbers = np.array(sorted(set(map(float, numbers_of(document)))))
    in_texts = {number for text in texts_of(document) for number in NUMBER.findall(text)}
    found: list[tuple[str, str]] = []
    for line in printed.splitlines():
        bare = re.sub(r"^(! |\s*\d+\. )", "", line).strip()
        if bare in said or bare.startswith("How:"):
            continue
        found += [
            (number, line)
            for number in NUMBER.findall(bare)
            if number not in in_texts and not is_among(number, numbers)
        ]
    return found


def is_among(printed: str, numbers: np.ndarray) -> bool:
    """Say whether a number is one of some, as far as its digits are printed."""
    bare = printed.rstrip("%").replace(",", "")
    mantissa, _, power = bare.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = 0.5 * 10.0 ** (int(power or 0) - decimals)
    value, scale = float(bare), 100.0 if printed.endswith("%") else 1.0
    return bool(np.any(np.abs(scale * numbers - value) <= half * (1 + 1e-9) + 1e-12 * abs(value)))


def numbers_of(part: Any) -> Iterator[float]:
    if isinstance(part, dict):
        for value in part.values():
            yield from numbers_of(value)
    elif isinstance(part, list):
        for value in part:
            yield from numbers_of(value)
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield part


def words(part: Any, name: str = "") -> Iterator[str]:
    """Return the sentences of a document."""
    for key, text in leaves(part, name):
        if key in WORDS:
            yield text


def texts_of(part: Any) -> Iterator[str]:
    """Return the texts of a document that are no sentences, and its keys, as headings have them."""
    for key, text in leaves(part):
        if key not in WORDS:
            yield text
    for key in keys_of(part):
        yield re.sub("[_-]", " ", key)


def keys_of(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from part
    for value in part.values() if isinstance(part, dict) else part:
        if isinstance(value, dict | list):
            yield from keys_of(value)


def leaves(part: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from leaves(value, name if name in WORDS else key)
    elif isinstance(part, list):
        for value in part:
            yield from leaves(value, name)
    elif isinstance(part, str):
        yield name, part


def test_a_power_of_ten_is_found_and_a_code_is_not() -> None:
    for text in ("about 6.21e-07 of them", "7.00E+400 tables", "1e6 records"):
        assert SCIENTIFIC.search(text), text
    for text in ("a1e5", "input 9f1e5ab", "C1e2 and 2 e 5"):
        assert not SCIENTIFIC.search(text), text


def test_a_number_that_is_left_out_is_found() -> None:
    document = {"sentences": ["There are 7."], "rows": [{"x": 0.12345, "label": "16-24"}]}
    assert absent("There are 7.\n 0.1235 12.3% 16-24", document) == []
    assert absent("0.1236", document) == [("0.1236", "0.1236")]
    assert absent("There are 8.", document) == [("8", "There are 8.")]
    assert absent("7", document) == [("7", "7")]
