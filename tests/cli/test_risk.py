"""`gamekeeper risk`: what people read, what programs read, and what is said of bad input."""

from __future__ import annotations

import csv
import io
import json

import pytest

import gamekeeper as gk
from gamekeeper.errors import Reason
from tests.given.microdata import KEYS, OF_SCENARIO, PEOPLE, SCENARIO, write, write_world

ATTACKS = ("keys", "dis", "suda", "special", "match")
COMMANDS = (*ATTACKS, "simulate")
ALL = ",".join(KEYS)


@pytest.fixture
def clerk(tmp_path):
    """The options of a file with a scenario."""
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    return (file, "--scenario", SCENARIO, "--environment", write_world(tmp_path))


def counted(file, **more):
    columns = [*KEYS, *([more["strata"]] if "strata" in more else [])]
    numbers = [more["weight"]] if "weight" in more else []
    return gk.count_keys(
        gk.code_source(gk.open_source(file), columns, numbers=numbers), KEYS, **more
    )


def attack(run, command, file, *options):
    """Run a command on one core; what is no sample has no weights and strata."""
    more = {
        "simulate": ("--workers", 1),
        "suda": ("--workers", 1),
        "special": ("--rounds", 2),
        "match": ("--r", 2),
    }
    return run("risk", command, file, *options, *more.get(command, ()))


def refused(told, reason, exit_code=2):
    assert told.exit_code == exit_code, told.err or told.out
    assert told.out == ""
    assert f"[{reason.value}]" in told.err
    return told.err


def test_keys_for_people(run, people):
    told = run("risk", "keys", people, "-k", ALL, "-f", "10%", "--sensitive", "Region")
    assert told.exit_code == 0, told.err
    assert told.err == ""
    assert "File people.csv (csv: delimiter ',', encoding 'utf-8', decimal '.')." in told.out
    assert "2 records (16.7%) are unique, and 10 records (83.3%) are like exactly one" in told.out
    assert "missing is a category of its own" in told.out
    assert "The sampling fraction is " in told.out
    assert "6 records (50.0%) are in a class with at most one value of 'Region'" in told.out
    assert "12 records in classes of fewer than 3 (3-anonymity)" in told.out


def test_suda_for_people(run, people):
    told = run("risk", "suda", people, "-k", ALL, "-f", "1/10", "--explain", 12, "--explain", 2)
    assert told.exit_code == 0, told.err
    assert "Of 12 records, 2 (16.7%) are unique in the file" in told.out
    assert "DIS-IS (Q = 1 + (8-K)/20)" in told.out
    assert "unique by Status missing; unique by Age 71 + Sex m" in told.out
    after = told.out.partition("Record 12:\n")[2]
    assert after.startswith("  unique by Status missing\n  unique by Age 71 + Sex m\n\nRecord 2:\n")
    # Those that are not unique are no risky records.
    before = told.out.partition("What each variable")[0]
    assert "not unique" not in before.partition("riskiest records")[2]


def test_suda_without_records(run, people):
    told = run("risk", "suda", people, "-k", ALL, "--top", 0)
    assert told.exit_code == 0, told.err
    assert "The riskiest records" not in told.out
    assert "no sampling fraction was given" in told.out
    told = run("risk", "suda", people, "-k", ALL, "--no-listing")
    assert told.exit_code == 0, told.err
    assert "unique by" not in told.out


def test_dis_special_and_match_for_people(run, people, everybody):
    told = run("risk", "dis", people, "-k", ALL, "-f", "1/10")
    assert told.exit_code == 0, told.err
    assert "1/46" in told.out
    told = run("risk", "special", people, "-k", ALL, "--rounds", 1)
    assert told.exit_code == 0, told.err
    assert "2 sample uniques among 12 records" in told.out
    assert "unique no longer without Sex" in told.out
    told = run("risk", "match", people, "-k", ALL, "--population", everybody, "--r", 2)
    assert told.exit_code == 0, told.err
    assert "sample to population" in told.out
    assert "6,r=2" in told.out
    assert "0.625" in told.out


LIBRARY = {
    "keys": lambda file: counted(file, fraction="1/10"),
    "dis": lambda file: gk.assess_dis(counted(file, fraction="1/10")),
    "suda": lambda file: gk.assess_uniques(counted(file, fraction="1/10")),
    "special": lambda file: gk.risk.assess_special_uniques(
        counted(file, fraction="1/10"), rounds=2
    ),
    "match": lambda file: gk.assess_matching(counted(file, fraction="1/10"), r=[2]),
    "simulate": lambda file: gk.risk.fraction_experiment(
        gk.code_source(gk.open_source(file), KEYS), KEYS, fractions=["1/10"]
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_how_missing_cells_were_read_is_always_said(run, people, command):
    options = ("-k", "Age,Sex,Status", "-f", "1", "--missing", "exclude")
    told = attack(run, command, people, *options)
    assert told.exit_code == 0, told.err
    assert "records with a missing cell are left out" in told.out
    told = attack(run, command, people, *options, "--format", "json")
    assert json.loads(told.out)["provenance"]["parameters"]["missing"] == "exclude"


@pytest.mark.parametrize("command", COMMANDS)
def test_programs_get_what_the_library_finds(run, people, command):
    expected = LIBRARY[command](people)
    options = ("-k", ALL, "-f", "1/10", "--format")
    told = attack(run, command, people, *options, "json")
    assert told.exit_code == 0, told.err
    document = json.loads(told.out)
    rows = expected.to_arrow().to_pylist()
    assert document["result"] == type(expected).__name__
    assert document["rows"] == rows
    assert document["summary"] == expected.summary()
    assert document["sentences"] == expected.sentences()
    parameters = dict(expected.provenance.parameters)
    assert document["provenance"]["parameters"] == parameters
    assert document["provenance"]["fingerprint"] == expected.provenance.fingerprint
    told = attack(run, command, people, *options, "csv")
    lines = list(csv.DictReader(io.StringIO(told.out)))
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        for name, cell in row.items():
            assert alike(line[name], cell), (name, cell)


def alike(text, cell):
    if cell is None or isinstance(cell, str | bool):
        return text == ("" if cell is None else str(cell))
    return float(text) == cell


def test_explanations_are_in_the_json(run, people):
    told = run("risk", "suda", people, "-k", ALL, "--explain", 1, "--format", "json")
    assert json.loads(told.out)["parts"]["explanations"] == {"1": ["unique by Age 16"]}


def test_files_are_written(run, people, tmp_path):
    classes, records, kinds = (tmp_path / f"{name}.csv" for name in ("classes", "records", "kinds"))
    numbers, plot = tmp_path / "numbers.parquet", tmp_path / "dis.svg"
    told = run("risk", "keys", people, "-k", ALL, "-o", classes)
    assert f"Classes: {classes}" in told.out
    told = run("risk", "suda", people, "-k", ALL, "--records", records)
    assert f"Risk of every record: {records}" in told.out
    told = run("risk", "special", people, "-k", ALL, "--rounds", 0, "--records", kinds)
    assert f"Every sample unique: {kinds}" in told.out
    told = attack(run, "simulate", people, "-k", ALL, "-f", "1/2", "-o", numbers)
    assert f"Every number: {numbers}" in told.out
    told = run("risk", "dis", people, "-k", ALL, "-f", "1/2", "--method", "special",
               "--rounds", 500, "--plot", plot)  # fmt: skip
    assert told.exit_code == 0, told.err
    assert classes.read_text(encoding="utf-8").count("\n") == 8
    assert records.read_text(encoding="utf-8").count("\n") == 13
    assert kinds.read_text(encoding="utf-8").count("\n") == 3
    assert numbers.read_bytes().startswith(b"PAR1")
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_weights_strata_and_fractions(run, people):
    told = run("risk", "keys", people, "-k", ALL, "--weight", "w", "--strata", "Region",
               "--format", "json")  # fmt: skip
    assert json.loads(told.out)["summary"]["fraction"] == pytest.approx(12 / 85)
    told = run("risk", "dis", people, "-k", ALL, "--strata", "Region",
               "-f", "North=10%, South=20%", "--format", "json")  # fmt: skip
    expected = counted(people, strata="Region", fraction={"North": "1/10", "South": "1/5"})
    rows = json.loads(told.out)["rows"]
    assert rows == gk.assess_dis(expected).to_arrow().to_pylist()


def test_the_original_of_a_perturbed_release(run, people, tmp_path):
    perturbed = write(tmp_path, "perturbed.csv", PEOPLE.replace("16,f", "52,f"))
    told = run("risk", "dis", perturbed, "-k", ALL, "-f", "1/10", "--original", people,
               "--rounds", 2000, "--tolerance", 0, "--format", "json")  # fmt: skip
    assert told.exit_code == 0, told.err
    expected = gk.assess_dis(
        counted(perturbed, fraction="1/10"), method="special", original=counted(people),
        rounds=2000, tolerance=0.0,
    )  # fmt: skip
    assert json.loads(told.out)["rows"] == expected.to_arrow().to_pylist()


@pytest.mark.parametrize("command", COMMANDS)
def test_one_record(run, tmp_path, command):
    file = write(tmp_path, "one.csv", "a,b\n1,x\n")
    told = attack(run, command, file, "-k", "a,b", "-f", "1")
    assert told.exit_code == 0, told.err
    assert "1 record" in told.out
    if command == "suda":
        assert "it is the only record" in told.out


@pytest.mark.parametrize("command", COMMANDS)
def test_no_uniques_at_all(run, tmp_path, command):
    file = write(tmp_path, "threes.csv", "a,b\n" + "1,x\n" * 3 + "2,y\n" * 3)
    told = attack(run, command, file, "-k", "a,b", "-f", "1")
    assert told.exit_code == 0, told.err
    said = {
        "keys": "0 records (0.0%) are unique",
        "dis": "DIS is not defined",
        "suda": "All scores are 0",
        "special": "None of 6 records is unique",
        "match": "Pr(CM|UM) is not known",
        "simulate": "0 of them unique",
    }
    assert said[command] in told.out


WIDE = [f"v{number}" for number in range(65)]
TYPED = {
    "empty": "",
    "no records": "a,b,w\n",
    "all missing": "a,b,w\n1,,1\n2,,1\n",
    "holes": "a,b\n1,\n,x\n",
    "weights": "a,b,w\n1,x,0\n2,y,-1\n3,z,\n4,x,2\n",
    "heavy": "a,b,w\n1,x,heavy\n2,y,1\n",
    "wide": f"{','.join(WIDE)}\n{','.join('1' * 65)}\n{','.join('2' * 65)}\n",
    "plain": "a,b,w\n1,x,1\n2,y,1\n",
}
BAD_INPUT = {
    "no file": ("nothing", ("-k", "a"), Reason.NOT_FOUND, "There is no such file"),
    "an empty file": ("empty", ("-k", "a"), Reason.NOTHING_GIVEN, "The file is empty"),
    "no records": ("no records", ("-k", "a,b"), Reason.NOTHING_GIVEN, "There are no records"),
    "wrong columns": ("plain", ("-k", "a,bb,cc"), Reason.UNKNOWN_NAME, "2 names cannot be used"),
    "a key twice": ("plain", ("-k", "a,b,a"), Reason.DUPLICATE, "'a': "),
    "no keys": ("plain", (), Reason.NOTHING_GIVEN, "key variables: none is given"),
    "two ways": (
        "plain",
        ("-k", "a", "--scenario", "x", "-e", "y"),
        Reason.BAD_OPTION,
        "by name and by a scenario",
    ),
    "all missing": (
        "all missing",
        ("-k", "a,b"),
        Reason.BAD_OPTION,
        "key variable 'b': all of its 2 cells are missing",
    ),
    "too many keys": ("wide", ("-k", ",".join(WIDE)), Reason.TOO_LARGE, "at most 64"),
    "nobody left": ("holes", ("-k", "a,b", "--missing", "exclude"), Reason.NOTHING_GIVEN, ""),
    "a delimiter": ("plain", ("-k", "a", "--delimiter", "ab"), Reason.BAD_OPTION, "delimiter"),
}
BAD_SAMPLES = {
    "fraction 0": (("-f", "0"), Reason.BAD_OPTION, "above 0 and"),
    "fraction above 1": (("-f", "101%"), Reason.BAD_OPTION, "above 0 and"),
    "no number": (("-f", "often"), Reason.BAD_OPTION, "above 0 and"),
    "no strata": (("-f", "x=1%"), Reason.BAD_OPTION, "no variable that tells the strata"),
    "a stratum too few": (("--strata", "b", "-f", "x=1%"), Reason.UNKNOWN_NAME, "1 of 2 strata"),
    "strata alone": (("--strata", "b"), Reason.BAD_OPTION, "neither fractions nor weights"),
    "no such weight": (("--weight", "ww"), Reason.UNKNOWN_NAME, "Near to it: 'w'"),
}


@pytest.fixture
def typed(tmp_path):
    for name, text in TYPED.items():
        write(tmp_path, f"{name}.csv", text)
    return tmp_path


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input(run, typed, case):
    file, options, reason, said = BAD_INPUT[case]
    for command in COMMANDS:
        more = ("-f", "1/2") if command == "simulate" else ()
        assert said in refused(attack(run, command, typed / f"{file}.csv", *options, *more), reason)


@pytest.mark.parametrize("case", BAD_SAMPLES)
def test_bad_samples(run, typed, case):
    options, reason, said = BAD_SAMPLES[case]
    for command in ("keys", "suda"):
        assert said in refused(
            run("risk", command, typed / "plain.csv", "-k", "a", *options), reason
        )


@pytest.mark.parametrize("command", ATTACKS)
def test_weights_that_weigh_nothing(run, typed, command):
    told = run("risk", command, typed / "weights.csv", "-k", "a", "--weight", "w")
    said = "1 weight zero, 1 weight below zero, 1 weight missing or not finite"
    assert said in refused(told, Reason.BAD_OPTION)
    told = run("risk", command, typed / "heavy.csv", "-k", "a", "--weight", "w")
    assert "column 'w': 1 of 2 cells is not a number" in refused(told, Reason.WRONG_SCHEMA)


OPTIONS = {
    "an ending": (("suda", "--report", "risk.pdf"), Reason.NOT_WRITABLE),
    "a folder": (("keys", "-o", "nowhere/classes.csv"), Reason.NOT_WRITABLE),
    "a population without a report": (("suda", "--population", "x.csv"), Reason.BAD_OPTION),
    "no such record": (("suda", "--explain", "13"), Reason.BAD_OPTION),
    "reasons without a list": (("suda", "--explain", "1", "--no-listing"), Reason.BAD_OPTION),
    "a ranking": (("suda", "--rank-by", "disis"), Reason.BAD_OPTION),
    "classes": (("suda", "--classes", "high"), Reason.BAD_OPTION),
    "nothing to match with": (("match",), Reason.NOTHING_GIVEN),
    "no fraction": (("dis",), Reason.NOTHING_GIVEN),
    "too many removed": (
        ("dis", "-f", "1/2", "--method", "special", "--removed", "13"),
        Reason.BAD_OPTION,
    ),
    "matching without classes": (
        ("match", "-f", "1/2", "--missing", "ignore"),
        Reason.BAD_OPTION,
    ),
    "a measure": (
        ("simulate", "-f", "1", "--experiment", "measures", "--measure", "dsi"),
        Reason.UNKNOWN_NAME,
    ),
    "an option of another": (("simulate", "-f", "1", "--r", "2"), Reason.BAD_OPTION),
    "a column without a scenario": (("keys", "--column", "Age=a"), Reason.BAD_OPTION),
    "no column": (("keys", "--column", "Age"), Reason.BAD_OPTION),
    "memory": (("keys", "--memory", "much"), Reason.BAD_OPTION),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options(run, people, case):
    (command, *options), reason = OPTIONS[case]
    refused(run("risk", command, people, "-k", ALL, *options), reason)


@pytest.mark.parametrize(
    "options",
    [
        ("suda", "--max-size", "0"),
        ("suda", "--power", "40"),
        ("simulate", "--samples", "0"),
        ("keys", "--missing", "none"),
    ],
)
def test_options_that_have_no_meaning(run, people, options):
    command, *more = options
    told = run("risk", command, people, "-k", ALL, *more)
    assert told.exit_code == 2
    assert told.out == ""


def test_a_search_beyond_its_limit_is_refused(run, people):
    told = run("risk", "suda", people, "-k", ALL, "--max-msus", 2)
    said = refused(told, Reason.TOO_LARGE, exit_code=3)
    assert "the limit is 2" in said
    # There are three; without the list, or without the limit, they are counted.
    for options in (("--max-msus", 2, "--no-listing"), ("--max-msus", 0), ("--max-msus", 3)):
        told = run("risk", "suda", people, "-k", ALL, *options, "--format", "json")
        assert told.exit_code == 0, told.err
        assert json.loads(told.out)["summary"]["msus"] == 3


def test_nothing_is_written_when_something_is_wrong(run, people, tmp_path):
    report, records = tmp_path / "risk.html", tmp_path / "records.csv"
    told = run("risk", "suda", people, "-k", "Aeg", "--report", report, "--records", records)
    refused(told, Reason.UNKNOWN_NAME)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_scenario(run, clerk, command):
    options = ("-f", "1") if command == "simulate" else ("-f", "1/10")
    told = attack(run, command, *clerk, *options)
    assert told.exit_code == 0, told.err
    assert {"match": "7 records, 5 of them unique"}.get(command, "3 key variables") in told.out or (
        "Sex, Age and Marital status" in told.out
    )


def test_a_scenario_speaks_in_its_categories(run, clerk):
    told = run("risk", "keys", *clerk, "--format", "json")
    rows = json.loads(told.out)["rows"]
    assert {row["Age"] for row in rows} == {"0-15", "16-64", "65+"}
    assert {row["Marital status"] for row in rows} == {"single", "married", "formerly married"}
    assert sum(row["count"] for row in rows) == 7
    told = run("risk", "suda", *clerk, "--explain", 1, "--top", 0)
    assert "unique by Age 0-15" in told.out


def test_a_column_is_named(run, clerk, tmp_path):
    other = write(tmp_path, "other.csv", OF_SCENARIO.replace("marital_status", "ms"))
    told = run("risk", "keys", other, *clerk[1:])
    said = refused(told, Reason.UNKNOWN_NAME)
    assert "key variable 'Marital status': the file has no column 'Marital status'" in said
    told = run("risk", "keys", other, *clerk[1:], "--column", "Marital status=ms")
    assert told.exit_code == 0, told.err


def test_unmapped_values_are_written_and_read_back(run, clerk, tmp_path):
    file = write(tmp_path, "odd.csv", OF_SCENARIO.replace("single", "Zanzibar"))
    listed = tmp_path / "list.csv"
    told = run("risk", "keys", file, *clerk[1:])
    said = refused(told, Reason.UNMAPPED_VALUES)
    assert "'Marital status': 1 value of the column 'marital_status' in 1 record" in said
    told = run("risk", "keys", file, *clerk[1:], "--unmapped", listed)
    said += refused(told, Reason.UNMAPPED_VALUES)
    before = listed.read_text(encoding="utf-8")
    assert (
        before
        == "variable,value,label,records,as a number,category\nMarital status,Zanzibar,,1,,\n"
    )
    said += refused(
        run("risk", "keys", file, *clerk[1:], "--unmapped", listed), Reason.NOT_WRITABLE
    )
    assert listed.read_text(encoding="utf-8") == before
    write(tmp_path, "list.csv", before.replace(",1,,\n", ",1,,single\n"))
    told = run("risk", "keys", file, *clerk[1:], "--values", listed, "--format", "json")
    assert told.exit_code == 0, told.err
    assert told.out.count('"single"') == 1
    assert "Zanzibar" not in said + told.out


def test_a_scenario_that_is_not_there(run, clerk, tmp_path):
    file, _, _, _, folder = clerk
    told = run("risk", "keys", file, "--scenario", "A clark", "-e", folder)
    assert "Near to it: 'A clerk'" in refused(told, Reason.UNKNOWN_NAME)
    told = run("risk", "keys", file, "--scenario", SCENARIO)
    assert "none is given" in refused(told, Reason.NOTHING_GIVEN)
    refused(
        run("risk", "keys", file, "--scenario", SCENARIO, "-e", tmp_path / "x"), Reason.NOT_FOUND
    )
