"""Whatever goes wrong with a file of microdata, nothing of what is in it may come out.

A canary is planted in every column of a CSV, a Parquet and an SPSS file. Every command is made to
fail in every way there is, and the canary is looked for in what the failure says.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pyreadstat
import pytest

import gamekeeper as gk
from gamekeeper.cli.app import main
from gamekeeper.errors import GamekeeperError
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.requests.records import MicrodataRequest, SampleDesign
from tests.given.canary import CANARY, command, everything_said, require_silence, said_of_a_fault
from tests.given.microdata import SCENARIO, write, write_world

NUMBER = 73417341
# The number as it begins, with and without commas and as a power of ten: seven digits and more,
# which no address in memory (a debug log of compiling has these) can hold by chance.
SIGNS = ("CANARY", "7341734", "73,417,34", "7.3417e")
ENDINGS = ("csv", "parquet", "sav")
COMMANDS = ("keys", "measures", "dis", "suda", "special", "match", "simulate")
KEYS = ("-k", "place,age,both")


def planted() -> pa.Table:
    """Return a table with the canary in key variables, weights, strata and columns not used."""
    n = 6
    places = [f"{CANARY} {number % 4}" for number in range(n)]
    return pa.table(
        {
            "place": places,
            "age": pa.array([NUMBER + number for number in range(n)], pa.int64()),
            "both": [f"{CANARY}", "x"] * (n // 2),
            "empty": pa.array([None] * n, pa.string()),
            "stratum": [f"{CANARY} north", f"{CANARY} south"] * (n // 2),
            "weight": pa.array([float(NUMBER + number) for number in range(n)]),
            "zero": pa.array([0.0, -float(NUMBER), None, float(NUMBER), 1.0, 1.0]),
            "heavy": [f"{CANARY} kg"] * n,
            "extra": [f"{CANARY} extra"] * n,
            "Sex": ["female", "male"] * (n // 2),
            "Marital_status": places,
        }
    )


def write_planted(folder: Path, name: str, table: pa.Table) -> None:
    pyarrow.csv.write_csv(table, folder / f"{name}.csv")
    pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    frame = table.to_pandas()
    frame["empty"] = np.nan
    labels = {"age": {float(NUMBER): f"{CANARY} label"}}
    pyreadstat.write_sav(frame, str(folder / f"{name}.sav"), variable_value_labels=labels)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    table = planted()
    write_planted(folder, "people", table)
    write_planted(folder, "others", table.slice(0, 2))
    for name in ("people.parquet", "people.sav"):
        (folder / f"cut-{name}").write_bytes((folder / name).read_bytes()[:-60])
    write(
        folder, "ragged.csv", f"place,age,both\n{CANARY},1,x\n{CANARY},2\n{CANARY},3,x,{CANARY}\n"
    )
    write(folder, "quotes.csv", f'place,age,both\n"{CANARY},1,x\n')
    write(folder, "twice.csv", f"place,place,both\n{CANARY},1,x\n")
    (folder / "latin.csv").write_bytes(f"place,age,both\n{CANARY} \xe4,1,x\n".encode("latin-1"))
    (folder / "text.sav").write_text(f"place {CANARY}", encoding="utf-8")
    (folder / "text.parquet").write_text(f"place {CANARY}", encoding="utf-8")
    write(folder, "values.csv", f"variable,value,category\nMarital status,{CANARY} 0,{CANARY} 0\n")
    write(folder, "two.csv", f"variable,value,category\nAge,{CANARY},65+\nAge,{CANARY},0-15\n")
    (folder / "latin-values.csv").write_bytes(f"variable,value\n{CANARY}\xe4,1\n".encode("latin-1"))
    write_world(folder)
    town = gk.Variable("place", gk.mapping.PartitionGraph({"any": ["town", "village"]}))
    gk.write_environment(gk.Environment([town], [gk.Form("F", {"place": ()})]), folder / "other")
    return folder


# Options that make every command fail, whatever the kind of the file.
OF_KEYS: dict[str, tuple[str, ...]] = {
    "wrong columns": ("-k", "place,aeg,bohT"),
    "twice": ("-k", "place,age,place"),
    "all missing": ("-k", "place,empty"),
    "no keys": (),
    "both ways": (*KEYS, "--scenario", SCENARIO),
    "an unknown scenario": ("--scenario", "A clark", "-e", "{place}/world"),
    "columns that are not there": ("--scenario", SCENARIO, "-e", "{place}/world"),
    "unmapped": ("--scenario", SCENARIO, "-e", "{place}/world", "--column", "Age=age"),
    "copied values": (
        "--scenario", SCENARIO, "-e", "{place}/world", "--column", "Age=age",
        "--values", "{place}/values.csv",
    ),
    "unlike values": (
        "--scenario", SCENARIO, "-e", "{place}/world", "--column", "Age=age",
        "--values", "{place}/two.csv",
    ),
    "unreadable values": (
        "--scenario", SCENARIO, "-e", "{place}/world", "--column", "Age=age",
        "--values", "{place}/latin-values.csv",
    ),
    "a file of data for an environment": ("--scenario", SCENARIO, "-e", "{file}"),
}  # fmt: skip
OF_SAMPLES: dict[str, tuple[str, ...]] = {
    "zero weights": (*KEYS, "--weight", "zero"),
    "weights in words": (*KEYS, "--weight", "heavy"),
    "no such weight": (*KEYS, "--weight", "wieght"),
    "no such strata": (*KEYS, "--strata", "startum", "--weight", "weight"),
    "strata alone": (*KEYS, "--strata", "stratum"),
    "strata without fractions": (*KEYS, "--strata", "stratum", "-f", "north=1%"),
    "a fraction": (*KEYS, "-f", "1.5"),
}
OF_COMMANDS: dict[str, tuple[str, ...]] = {
    "keys, sensitive": ("keys", *KEYS, "--sensitive", "age", "--sensitive", "sense"),
    "keys, output": ("keys", *KEYS, "-o", "{place}/nowhere/x.csv"),
    "measures, no column": ("measures", *KEYS, "--sensitive", "sense", "--household", "hose"),
    "measures, key": ("measures", *KEYS, "--sensitive", "age"),
    "measures, order": ("measures", *KEYS, "--ordered", "extra"),
    "measures, household": ("measures", *KEYS, "--household", "extra"),
    "measures, work": ("measures", *KEYS, "--max-work", "1"),
    "measures, population": ("measures", *KEYS, "--population", "{others}"),
    "dis, no fraction": ("dis", *KEYS),
    "dis, original": ("dis", *KEYS, "-f", "1/2", "--original", "{others}"),
    "dis, removed": ("dis", *KEYS, "-f", "1/2", "--method", "special", "--removed", "99"),
    "dis, plot": ("dis", *KEYS, "-f", "1/2", "--plot", "{place}/x.svg"),
    "suda, record": ("suda", *KEYS, "--explain", "99"),
    "suda, classes": ("suda", *KEYS, "--classes", "high=low"),
    "suda, ranking": ("suda", *KEYS, "--rank-by", "x"),
    "suda, population": ("suda", *KEYS, "--report", "{place}/x.html", "--population", "{others}"),
    "special, population": ("special", *KEYS, "--population", "{others}", "--rounds", "0"),
    "match, population": ("match", *KEYS, "--population", "{others}"),
    "match, nothing": ("match", *KEYS),
    "match, missing": ("match", *KEYS, "-f", "1/2", "--missing", "wildcard"),
    "simulate, measure": ("simulate", *KEYS, "-f", "1", "--experiment", "measures",
                          "--measure", "x"),
    "simulate, fraction": ("simulate", *KEYS, "-f", "1/99"),
    "simulate, missing": ("simulate", *KEYS, "-f", "1", "--missing", "ignore"),
    "simulate, strata": ("simulate", *KEYS, "-f", "1", "--stratify-by", "x"),
}  # fmt: skip
OF_FILES: dict[str, tuple[str, ...]] = {
    "ragged.csv": (),
    "quotes.csv": (),
    "twice.csv": (),
    "latin.csv": ("--encoding", "utf-8"),
    "cut-people.parquet": (),
    "cut-people.sav": (),
    "text.sav": (),
    "text.parquet": (),
}


def failing(arguments: tuple[str, ...], group: tuple[str, ...] = ("risk",)) -> GamekeeperError:
    with pytest.raises(GamekeeperError) as caught:
        command(*group, *arguments)
    return caught.value


def is_silent(*texts: str) -> None:
    require_silence(SIGNS, texts)


def test_signs_are_the_canary_and_nothing_else() -> None:
    """A debug log of compiling holds addresses in memory: no digits of these are a sign."""
    is_silent("compiled <function at 0x7f7341c18d0>", "at 0x7341f80536c0")
    for said in (str(NUMBER + 5), f"{NUMBER:,}", str(float(NUMBER)), f"{NUMBER:.4e}", CANARY):
        with pytest.raises(AssertionError):
            is_silent(f"found {said} there")


def filled(options: tuple[str, ...], place: Path, ending: str) -> tuple[str, ...]:
    names = {
        "place": place,
        "file": place / f"people.{ending}",
        "others": place / f"others.{ending}",
    }
    return tuple(option.format(**names) for option in options)


def cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, options in OF_KEYS.items():
        for attack in COMMANDS:
            yield f"{attack}, {name}", (attack, *options)
    for name, options in OF_SAMPLES.items():
        for attack in COMMANDS[:-1]:
            yield f"{attack}, {name}", (attack, *options)
    yield from OF_COMMANDS.items()


CASES = dict(cases())


def marked() -> Iterator[object]:
    """Mark as slow what several commands have in common, but for two or three of them."""
    for number, case in enumerate(CASES):
        attack = case.partition(",")[0]
        few = {"keys", "simulate", COMMANDS[1 + number // 6 % 4]}
        is_slow = case not in OF_COMMANDS and attack not in few
        yield pytest.param(case, marks=[pytest.mark.slow] if is_slow else [])


@pytest.mark.parametrize("case", list(marked()))
def test_errors_show_nothing(
    place: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    number = list(CASES).index(case)
    attack, *options = CASES[case]
    # What all commands share is tried with every kind of file by one of them.
    endings = ENDINGS if attack == "keys" else (ENDINGS[number % 3],)
    for ending in endings:
        file = str(place / f"people.{ending}")
        with caplog.at_level(logging.DEBUG):
            error = failing((attack, file, *filled(tuple(options), place, ending)))
        is_silent(*everything_said(error), caplog.text, *capsys.readouterr())


@pytest.mark.parametrize("name", OF_FILES)
def test_files_that_cannot_be_read_show_nothing(
    place: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    with caplog.at_level(logging.DEBUG):
        error = failing(("keys", str(place / name), *KEYS, *OF_FILES[name]))
    is_silent(*everything_said(error), caplog.text)


@pytest.mark.parametrize("name", OF_FILES)
def test_looks_at_files_that_cannot_be_read_show_nothing(
    place: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    for options in ((), ("--values",), ("--format", "json")):
        with caplog.at_level(logging.DEBUG):
            error = failing(("look", str(place / name), *OF_FILES[name], *options), ())
        is_silent(*everything_said(error), caplog.text, *capsys.readouterr())


# A look and an assessment, which belong to no group.
ALONE: dict[str, tuple[str, ...]] = {
    "look, scenario": ("look", "{file}", "--scenario", "A clark", "-e", "{place}/world"),
    "look, no environment": ("look", "{file}", "--scenario", SCENARIO),
    "look, an environment": ("look", "{file}", "--scenario", SCENARIO, "-e", "{file}"),
    "look, memory": ("look", "{file}", "--memory", "1b"),
    "look, a folder": ("look", "{place}"),
    "assess, columns": ("assess", "{file}", "-k", "place,aeg"),
    "assess, explain": ("assess", "{file}", *KEYS, "--explain", "99"),
    "assess, id": ("assess", "{file}", *KEYS, "--id", "no such column"),
    "assess, household": ("assess", "{file}", *KEYS, "--household", "hose"),
    "assess, policy": ("assess", "{file}", *KEYS, "--policy", "{place}/values.csv"),
    "assess, weights": ("assess", "{file}", *KEYS, "--weight", "zero"),
    "assess, bands": ("assess", "{file}", *KEYS, "--recode", "age=0-10, 11-20"),
    "assess, words": ("assess", "{file}", *KEYS, "--recode", "place=width 5"),
    "assess, groups": ("assess", "{file}", *KEYS, "--recode", "place=a: nobody | none"),
    "assess, unmapped": ("assess", "{file}", "--scenario", SCENARIO, "-e", "{place}/world",
                         "--column", "Age=age"),
    "infer, known": ("risk", "infer", "{file}", *KEYS, "-f", "1/2", "--known", "both=nobody",
                     "--ask", "age"),
    "infer, population": ("risk", "infer", "{file}", *KEYS, "-f", "1/2", "--population",
                          "{others}"),
    "model, method": ("risk", "model", "{file}", "-k", "place,empty"),
    "compare, fraction": ("risk", "compare", "{file}", *KEYS, "--fraction", "1/99"),
}  # fmt: skip


@pytest.mark.parametrize("case", ALONE)
def test_errors_of_looks_assessments_and_models_show_nothing(
    place: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    ending = ENDINGS[list(ALONE).index(case) % 3]
    with caplog.at_level(logging.DEBUG):
        error = failing(filled(ALONE[case], place, ending), ())
    is_silent(*everything_said(error), caplog.text, *capsys.readouterr())


@pytest.mark.parametrize("case", ["keys, zero weights", "suda, unmapped", "match, population"])
def test_what_is_printed_shows_nothing(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    attack, *options = CASES[case]
    file = place / "people.csv"
    arguments = ["gamekeeper", "risk", attack, file, *filled(tuple(options), place, "csv")]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("gamekeeper: ")
    is_silent(printed.err, printed.out)


PARTS = (
    "gamekeeper.workbench.microdata.open_source",
    "gamekeeper.workbench.microdata.code_source",
    "gamekeeper.workbench.microdata.count_keys",
    "gamekeeper.data.engine.duckdb_engine.DuckDBEngine.query",
    "gamekeeper.attack.uniques.suda.find_minimal_uniques",
    "gamekeeper.report.tables.write_table",
    "gamekeeper.cli.commands.show_explained",
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", [ValueError, KeyError, OSError, MemoryError])
def test_a_fault_of_ours_shows_nothing(
    place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    kind: type[Exception],
) -> None:
    fault = kind(f"{CANARY} cannot be {NUMBER}")
    arguments = ("suda", place / "people.csv", *KEYS, "--records", tmp_path / "records.csv")
    is_silent(said_of_a_fault(monkeypatch, capsys, part, fault, "risk", *arguments))


@pytest.mark.parametrize("ending", ENDINGS)
def test_reprs_show_nothing(place: Path, ending: str) -> None:
    data = open_microdata(
        MicrodataRequest(file=place / f"people.{ending}", keys=("place", "age", "both")),
        design=SampleDesign(weight="weight", strata="stratum"),
        sensitive=("extra",),
    )
    table = data.count()
    risk = gk.assess_uniques(table, workers=1)
    assert table.n_uniques == 6
    found = [
        data, data.source, data.coded, data.coded.codebook, data.coded.codebook["place"], table,
        risk, risk.records, risk.file, risk.variables, risk.categories, risk.sizes,
        risk.explanations(), risk.explainer, risk.explainer.found, gk.assess_dis(table),
        gk.assess_matching(table), gk.risk.assess_special_uniques(table, rounds=1),
    ]  # fmt: skip
    is_silent(*(repr(item) for item in found if item is not data))
    is_silent(repr(data).replace(str(place), ""))
    is_silent(*risk.sentences(), *table.sentences())


def test_a_library_call_shows_nothing(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    frame, nested = planted(), pd.DataFrame({"place": [{CANARY: 1}]})
    with caplog.at_level(logging.DEBUG):
        coded = gk.code_frame(frame, ["place", "age", "empty", "stratum"], numbers=["zero"])
        for call in (
            lambda: gk.code_frame(frame, ["palce"]),
            lambda: gk.code_frame(frame, ["place"], numbers=["heavy"]),
            lambda: gk.code_frame(nested, ["place"]),
            lambda: gk.count_keys(coded, ["place", "empty"]),
            lambda: gk.count_keys(coded, ["place"], weight="zero"),
            lambda: gk.count_keys(coded, ["place"], strata="stratum", fraction={"x": 1}),
            lambda: coded.codebook["palce"],
            lambda: gk.assess_uniques(gk.count_keys(coded, ["place"])).explain(99),
            lambda: gk.assess_matching(gk.count_keys(coded, ["place"]), population=[1, 2, 3]),
            lambda: gk.assess_dis(gk.count_keys(coded, ["place"])),
            lambda: gk.risk.simulate(coded, ["place", "empty"], fractions=1),
        ):
            with pytest.raises(GamekeeperError) as caught:
                call()
            is_silent(*everything_said(caught.value), caplog.text)


# Each ends in an error; {file} has six records and {others} its first two.
OF_LINKS: dict[str, tuple[str, ...]] = {
    "no such column": ("files", "{file}", "{others}", "--on", "palce"),
    "ids twice": ("files", "{file}", "{others}", "--id", "both"),
    "no id in common": ("files", "{file}", "{others}", "--on", "age", "--id", "empty"),
    "words as numbers": ("files", "{file}", "{others}", "--kind", "place=number"),
    "words as dates": ("files", "{file}", "{others}", "--kind", "place=date"),
    "words as measures": ("files", "{file}", "{others}", "--measure", "place=absolute"),
    "an order": ("files", "{file}", "{others}", "--order", "place=low|high"),
    "not in the environment": (
        "files", "{file}", "{others}", "--kind", "Marital_status=mapped", "-e", "{place}/world",
    ),
    "not categories of it": (
        "files", "{file}", "{others}", "--on", "place", "--kind", "place=mapped", "-e", "{place}/other",
    ),
    "mahalanobis": ("files", "{file}", "{others}", "--objective", "mahalanobis"),
    "constant": ("files", "{file}", "{others}", "--on", "extra"),
    "pairs": ("files", "{file}", "{others}", "--on", "both,age", "--max-pairs", "2"),
    "pairs of a block": ("files", "{file}", "{others}", "--block", "both", "--max-pairs", "2"),
    "lengths": ("evaluate", "{file}", "{others}"),
    "ids of versions": ("evaluate", "{file}", "{others}", "--id", "extra"),
    "a column of versions": ("evaluate", "{file}", "{others}", "--on", "palce"),
    "words in a structure": ("structure", "{file}", "{others}"),
    "gaps in a structure": ("structure", "{file}", "{others}", "--columns", "zero"),
    "clusters": (
        "structure", "{file}", "{others}", "--columns", "age", "--others", "age", "--clusters", "9",
    ),
    "ids of a structure": (
        "structure", "{file}", "{others}", "--columns", "age", "--others", "age", "--id", "stratum",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OF_LINKS)
def test_errors_of_links_show_nothing(
    place: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    ending = ENDINGS[list(OF_LINKS).index(case) % 3]
    with caplog.at_level(logging.DEBUG), pytest.raises(GamekeeperError) as caught:
        command("link", *filled(OF_LINKS[case], place, ending))
    is_silent(*everything_said(caught.value), caplog.text, *capsys.readouterr())


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_links_show_numbers_and_names_of_columns_only(
    place: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    names = ["place", "age", "both", "empty", "zero"]
    for options in (
        ("files", "{file}", "{others}", "--on", ",".join(names), "--resamples", "2"),
        ("files", "{file}", "{others}", "--on", "place,age", "--id", "age", "--block", "place",
         "--kind", "place=text"),
        ("files", "{file}", "{others}", "--on", "place,age", "--format", "json"),
        ("evaluate", "{file}", "{others}", "--on", "place,both", "--id", "age"),
        ("structure", "{file}", "{file}", "--columns", "age,weight", "--others", "weight", "--id",
         "age", "--clusters", "2", "--leave-out"),
    ):  # fmt: skip
        with caplog.at_level(logging.DEBUG):
            command("link", *filled(options, place, ending))
        printed = capsys.readouterr()
        assert printed.out
        # Fingerprints are made of any digits.
        lines = [line for line in printed.out.splitlines() if "input " not in line]
        lines = [line for line in lines if "fingerprint" not in line]
        is_silent(*lines, printed.err, caplog.text)


def test_reprs_of_links_show_nothing(place: Path) -> None:
    file = gk.open_source(place / "people.parquet")
    coded = gk.code_source(file, ["place", "age", "both"])
    variables = [gk.link.LinkVariable(name) for name in ("place", "age", "both")]
    truth = gk.link.true_partners(coded, coded, "age")
    found = gk.link.files(coded, coded, variables, truth=truth, resamples=2)
    rates = gk.link.compare_maskings(coded, {"same": coded}, variables, truths={"same": truth})
    numbers = [[float(NUMBER + k), float(k % 3)] for k in range(6)]
    matched = gk.link.structure(numbers, numbers, n_clusters=2, truth=truth)
    for result in (found, rates, matched):
        is_silent(repr(result), result._repr_html_(), *result.sentences())
    is_silent(repr(found.variables), repr(found.linked).replace("array", ""))


def test_the_canary_would_be_heard(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was asked for has the categories in it, so here the search must find the canary."""
    for ending in ENDINGS:
        command("risk", "keys", place / f"people.{ending}", *KEYS, "--format", "csv")
        printed = capsys.readouterr()
        assert printed.out.count(CANARY) >= 6
        assert str(NUMBER) in printed.out or f"{CANARY} label" in printed.out
        with pytest.raises(AssertionError):
            is_silent(printed.out)
