"""`gamekeeper link`: what people and programs read."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

import gamekeeper as gk
from gamekeeper.attack.linkage.columns import LinkVariable
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.truth import true_partners
from tests.given.linked_files import AGE
from tests.given.microdata import write

NAMES = ("age", "income", "sex")


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(4)
    n = 30
    age, income, sex = rng.integers(0, 90, n), rng.integers(0, 5_000, n), rng.choice(["f", "m"], n)

    def lines(order, noise):
        rows = [f"{k},{age[k] + noise[k]},{income[k] + 9 * noise[k]},{sex[k]}" for k in order]
        return "\n".join(["row,age,income,sex", *rows]) + "\n"

    write(tmp_path, "original.csv", lines(range(n), np.zeros(n, int)))
    write(tmp_path, "noise.csv", lines(rng.permutation(n), rng.integers(-2, 3, n)))
    write(tmp_path, "more.csv", lines(rng.permutation(n), rng.integers(-40, 41, n)))
    return tmp_path


def files(place, *names):
    return [place / f"{name}.csv" for name in names]


def test_links_are_the_same_in_python_as_json_and_as_csv(run, place):
    masked, original = files(place, "noise", "original")
    arguments = ("link", "files", masked, original, "--id", "row")
    told = run(*arguments, "--format", "json")
    assert told.exit_code == 0, told.err
    document = json.loads(told.out)
    a, b = (gk.code_source(gk.open_source(file), [*NAMES, "row"]) for file in (masked, original))
    variables = [LinkVariable(name) for name in NAMES]
    found = link_files(a, b, variables, truth=true_partners(a, b, "row"))
    assert document["rows"] == found.to_arrow().to_pylist()
    assert document["summary"] == found.summary()
    assert document["sentences"] == found.sentences()
    assert found.rate > 0.5
    listed = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").out)))
    assert [int(row["linked_to"]) for row in listed] == [
        row["linked_to"] for row in document["rows"]
    ]
    assert [float(row["cost"]) for row in listed] == [row["cost"] for row in document["rows"]]
    written = place / "links.csv"
    assert run(*arguments, "-o", written).exit_code == 0
    with written.open(encoding="utf-8", newline="") as file:
        assert [row["linked_to"] for row in csv.DictReader(file)] == [
            row["linked_to"] for row in listed
        ]


def test_links_are_told_and_drawn(run, place):
    picture = place / "links.svg"
    told = run(
        "link", "files", *files(place, "noise", "original"), "--id", "row", "--kind", "sex=text",
        "--measure", "age=absolute", "--missing", "sex=largest", "--objective", "weighted",
        "--weight", "sex=2", "--resamples", "2", "--top", "3", "--plot", picture,
    )  # fmt: skip
    assert told.exit_code == 0, told.err
    assert "30 of the 30 records of the first file are linked with the 30" in told.out
    assert "Compared: age as number; income as number; sex as text." in told.out
    assert "With a tenth of both files left out, 2 times" in told.out
    assert "The surest links:" in told.out
    assert "record linkage (optimal, weighted)" in told.out
    assert "<svg" in picture.read_text(encoding="utf-8")
    quiet = run("link", "files", *files(place, "noise", "original"), "--id", "row", "--top", "0")
    assert "The surest links" not in quiet.out


def test_columns_with_other_names_and_blocks(run, place):
    text = (place / "original.csv").read_text(encoding="utf-8").replace("age", "years")
    write(place, "original.csv", text)
    told = run(
        "link", "files", *files(place, "noise", "original"), "--on", "age=years,sex", "--on",
        "income", "--block", "sex", "--method", "nearest", "--objective", "equal",
    )  # fmt: skip
    assert told.exit_code == 0, told.err
    assert "age with years as number" in told.out


def test_near_records_are_compared(run, place):
    masked, original = files(place, "noise", "original")
    near = ("--window", "age=6", "--neighbours", "4", "--format", "json")
    document = json.loads(
        run("link", "files", masked, original, "--id", "row", "--everybody", *near).out
    )
    assert document["provenance"]["parameters"]["blocking"] == "age within 6 places, 4 neighbours"
    assert document["summary"]["recall"] > 0.5
    rates = json.loads(run("link", "evaluate", original, masked, "--id", "row", *near).out)
    assert rates["provenance"]["parameters"]["blocking"] == "age within 6 places, 4 neighbours"


def test_mapped_columns_take_an_environment(run, tmp_path):
    gk.write_environment(
        gk.Environment([AGE], [gk.Form("Bank", {"Age": ("0-24", "25-64")})]), tmp_path / "world"
    )
    write(tmp_path, "bank.csv", "Age\n0-24\n16+\n")
    write(tmp_path, "shop.csv", "Age\n70\n0-15\n")
    for block in ((), ("--block", "Age")):
        told = run(
            "link", "files", *files(tmp_path, "bank", "shop"), "--kind", "Age=mapped", "-e",
            tmp_path / "world", "--format", "json", "--everybody", *block,
        )  # fmt: skip
        assert told.exit_code == 0, told.err
        assert [row["linked_to"] for row in json.loads(told.out)["rows"]] == [2, 1]


def test_versions_are_compared(run, place):
    picture, table = place / "rates.svg", place / "rates.csv"
    arguments = (
        "link", "evaluate", *files(place, "original", "more", "noise"), "--id", "row",
        "--objective", "estimated", "--objective", "weighted", "--weight", "age=2", "--method",
        "optimal",
    )  # fmt: skip
    told = run(*arguments, "--plot", picture, "-o", table)
    assert told.exit_code == 0, told.err
    assert f"Written: {table}, {picture}" in told.out
    first, second = told.out.splitlines()[:2]
    assert first.startswith("noise: ")
    assert second.startswith("more: ")
    assert "by optimal links (" in first
    assert "<svg" in picture.read_text(encoding="utf-8")
    document = json.loads(run(*arguments, "--format", "json").out)
    with table.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [(row["version"], row["linked_by"], float(row["rate"])) for row in written] == [
        (row["version"], row["linked_by"], row["rate"]) for row in document["rows"]
    ]
    assert len(written) == 4
    assert document["summary"]["noise"] > document["summary"]["more"]


@pytest.mark.slow
def test_structure_is_told_drawn_and_written(run, place):
    one, two = files(place, "original", "noise")
    picture, table = place / "structure.svg", place / "structure.csv"
    arguments = (
        "link", "structure", one, two, "--columns", "age,income", "--others", "income,age", "--id",
        "row", "--clusters", "3,3,3,3,4,2",
    )  # fmt: skip
    told = run(*arguments, "--leave-out", "--plot", picture, "-o", table)
    assert told.exit_code == 0, told.err
    assert "6 clusterings divide the 30 and 30 records" in told.out
    assert "average, manhattan" in told.out
    assert "drop without it" in told.out
    document = json.loads(run(*arguments, "--format", "json").out)
    assert [row["clusters"] for row in document["parts"]["clusterings"]["rows"]] == [
        3,
        3,
        3,
        3,
        4,
        2,
    ]
    with table.open(encoding="utf-8", newline="") as file:
        assert [int(row["linked_to"]) for row in csv.DictReader(file)] == [
            row["linked_to"] for row in document["rows"]
        ]
    assert "<svg" in picture.read_text(encoding="utf-8")
    with_one = run("link", "structure", one, two, "--columns", "age", "--others", "age",
                   "--clusters", "2", "--one-to-one")  # fmt: skip
    assert with_one.exit_code == 0, with_one.err
    assert "(one to one)" in with_one.out


BAD = {
    "no file": ("files", "nowhere", "original"),
    "no common column": ("files", "other", "original", "--id", "row"),
    "unknown column": ("files", "noise", "original", "--on", "aeg"),
    "unknown id": ("files", "noise", "original", "--id", "name"),
    "two ids": ("files", "noise", "original", "--id", "row,sex"),
    "id given twice": ("files", "noise", "original", "--id", "row", "--id", "sex"),
    "seed given twice": ("structure", "noise", "original", "--seed", "1", "--seed=2"),
    "kind given twice": ("files", "noise", "original", "--kind", "age=number", "--kind", "age=text"),
    "ids twice": ("files", "noise", "original", "--id", "sex"),
    "no pair": ("files", "noise", "original", "--kind", "age"),
    "empty pair": ("files", "noise", "original", "--kind", "=number"),
    "unknown kind": ("files", "noise", "original", "--kind", "age=colour"),
    "unfit kind": ("files", "noise", "original", "--kind", "sex=number"),
    "unfit measure": ("files", "noise", "original", "--measure", "sex=absolute"),
    "no rule": ("files", "noise", "original", "--missing", "sex=never"),
    "idle steps": ("files", "noise", "original", "--steps", "age=2"),
    "half steps": ("files", "noise", "original", "--steps", "age=1.5", "--objective",
                   "lexicographic"),
    "order": ("files", "noise", "original", "--order", "sex=f|x"),
    "no number": ("files", "noise", "original", "--weight", "age=heavy"),
    "idle weight": ("files", "noise", "original", "--weight", "age=2"),
    "objective": ("files", "noise", "original", "--objective", "best"),
    "method": ("files", "noise", "original", "--method", "best"),
    "block": ("files", "noise", "original", "--block", "height"),
    "greedy block": ("files", "noise", "original", "--block", "sex", "--method", "greedy"),
    "mahalanobis": ("files", "noise", "original", "--objective", "mahalanobis"),
    "constant": ("files", "same", "same"),
    "no environment": ("files", "noise", "original", "--kind", "age=mapped"),
    "lengths": ("evaluate", "original", "part"),
    "no versions": ("evaluate", "original"),
    "clusters": ("structure", "noise", "original", "--columns", "age", "--others", "age",
                 "--clusters", "31"),
    "no clusters": ("structure", "noise", "original", "--clusters", "some"),
    "idle leave-out": ("structure", "noise", "original", "--leave-out"),
    "huge": ("files", "huge", "huge", "--kind", "x=number"),
    "huge structure": ("structure", "huge", "huge", "--columns", "x"),
    "window": ("files", "noise", "original", "--window", "height=5"),
    "no window": ("files", "noise", "original", "--window", "age=none"),
    "neighbours": ("files", "noise", "original", "--on", "sex", "--neighbours", "2"),
    "version block": ("evaluate", "original", "noise", "--block", "height"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_error(run, place, case):
    write(place, "other.csv", "row,height\n1,2\n")
    write(place, "part.csv", "row,age,income,sex\n1,2,3,f\n")
    write(place, "same.csv", "x,y\n1,a\n1,a\n")
    write(place, "gaps.csv", "x,y\n1,\n,2\n3,4\n")
    write(place, "huge.csv", "x,y\n1e400,1\n-1e9999,2\n3,4\n")
    command, *names = BAD[case]
    arguments = [place / f"{name}.csv" if not n else name for n, name in enumerate(names)]
    if len(names) > 1:
        arguments[1] = place / f"{names[1]}.csv"
    told = run("link", command, *arguments)
    assert told.exit_code == 2, told.out
    assert told.err
    assert "fault of ours" not in told.err
    assert "Traceback" not in told.err


def test_a_limit_has_its_own_exit_code(run, place):
    for block in ((), ("--block", "sex")):
        for command in ("files", "evaluate"):
            both = files(place, "noise", "original")
            told = run("link", command, *both, "--id", "row", "--max-pairs", "10", *block)
            assert told.exit_code == 3
            assert "raise max_pairs (--max-pairs)" in told.err


def test_limits_that_are_told_can_be_lifted(run, place):
    both = files(place, "noise", "original")
    chosen = ("--columns", "age,income", "--others", "age,income")
    told = run("link", "structure", *both, *chosen, "--most-records", "29")
    assert told.exit_code == 3
    assert "most_records (--most-records)" in told.err
    assert run("link", "structure", *both, *chosen, "--most-records", "30").exit_code == 0
    fine = ("--objective", "lexicographic", *(f"--kind={name}=number" for name in NAMES[:2]))
    steps = [f"--steps={name}=1000000000" for name in NAMES[:2]]
    told = run("link", "files", *both, *fine, *steps)
    assert told.exit_code == 3
    assert "fewer steps (--steps)" in told.err
    assert run("link", "files", *both, *fine, "--steps", "income=50").exit_code == 0


def test_files_are_read_as_is_said(run, place):
    for name in ("noise", "original"):
        text = (place / f"{name}.csv").read_text(encoding="utf-8")
        write(place, f"{name}.csv", text.replace(",", "|"))
    told = run(
        "link", "files", *files(place, "noise", "original"), "--delimiter", "|", "--id", "row",
        "--everybody",
        "--format", "json",
    )  # fmt: skip
    assert told.exit_code == 0, told.err
    assert json.loads(told.out)["summary"]["recall"] > 0.5


def test_files_of_different_sizes_are_linked(run, place):
    lines = (place / "noise.csv").read_text(encoding="utf-8").splitlines()
    write(place, "some.csv", "\n".join(lines[:8]) + "\n")
    few = run("link", "files", *files(place, "some", "original"), "--id", "row", "--format", "json")
    assert json.loads(few.out)["summary"]["links"] == 7
    many = run("link", "files", *files(place, "original", "some"), "--id", "row")
    assert "7 of the 30 records of the first file are linked with the 7" in many.out


def test_the_commands_are_there_without_what_they_need():
    heavy = "numpy", "pyarrow", "duckdb", "numba", "gamekeeper.workbench.linkage"
    code = f"import sys, gamekeeper.cli.link; print([n for n in {heavy} if n in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.slow
def test_reports_have_no_value_unless_asked(run, place):
    page = place / "page.html"
    for extra, has_values in ((), False), (("--report-values",), True):
        told = run(
            "link", "files", *files(place, "noise", "original"), "--id", "row", "--report", page,
            "--replace", "--everybody", *extra,
        )  # fmt: skip
        assert told.exit_code == 0, told.err
        text = page.read_text(encoding="utf-8")
        assert "Which variables carried the links" in text
        assert ("Their values" in text) == has_values
    for command, names, has in (
        (
            "evaluate",
            ("original", "noise"),
            ["In which variables linked records agree", "in words"],
        ),
        (
            "structure",
            ("noise", "original"),
            ["of the first file is linked to"],
        ),
    ):
        told = run(
            "link", command, *files(place, *names), "--id", "row", "--report", page, "--replace"
        )
        assert told.exit_code == 0, told.err
        text = page.read_text(encoding="utf-8")
        assert [words for words in ["How it was made", *has] if words not in text] == []


@pytest.mark.slow
def test_reports_have_no_records_where_none_are_wanted(run, place):
    page = place / "page.html"
    for command, names in (
        ("files", ("noise", "original")),
        ("evaluate", ("original", "noise")),
        ("structure", ("noise", "original")),
    ):
        asked = (
            "link",
            command,
            *files(place, *names),
            "--id",
            "row",
            "--report",
            page,
            "--replace",
        )
        lists = ('id="examples"', 'id="links"', 'id="records"', ">in words<")
        assert run(*asked).exit_code == 0
        assert any(one in page.read_text("utf-8") for one in lists)
        assert run(*asked, "--no-records").exit_code == 0
        assert not any(one in page.read_text("utf-8") for one in lists)
        assert "Single records are left out of this page." in page.read_text("utf-8")
    told = run("link", "files", *files(place, *names), "--no-records", "--report-values")
    assert told.exit_code == 2
    assert "'--report-values' asks for them" in told.err


def test_the_file_whose_identifier_repeats_is_named(run, place):
    twice = place / "twice.csv"
    lines = (place / "original.csv").read_text("utf-8").splitlines()
    twice.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
    told = run("link", "evaluate", twice, place / "noise.csv", "--id", "row")
    assert "1 record repeats one in the original." in told.err
    told = run("link", "evaluate", place / "noise.csv", twice, "--id", "row")
    assert "1 record repeats one in 'twice.csv'." in told.err
