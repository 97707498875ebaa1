"""`gamekeeper tables`: what people and programs read, and what is refused."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import typer.main

import gamekeeper as gk
from gamekeeper.cli.app import app
from gamekeeper.data.tables.release_file import read_release_and_truth
from tests.given.microdata import write

PEOPLE = "Area,Age,Work\n" + "".join(
    f"{row}\n" * number
    for row, number in (
        ("n,16-17,no", 2), ("n,18+,yes", 2), ("n,18+,no", 1), ("s,16-17,no", 1), ("s,18+,yes", 3),
        ("s,18+,no", 1),
    )
)  # fmt: skip
KEYS = "Area,Age,Work"
FIGURE_18 = (
    "VAR1,VAR2,n\nA,D,0\nA,E,3\nA,F,0\nB,D,3\nB,E,0\nB,F,0\nC,D,3\nC,E,3\nC,F,0\n"
    "Total,D,9\nTotal,E,6\nTotal,F,0\nA,Total,3\nB,Total,3\nC,Total,6\nTotal,Total,12\n"
)
ALONE_18 = "".join(line for line in FIGURE_18.splitlines(keepends=True) if "Total" not in line)
TRUTH_17 = "VAR1,VAR2,n\nA,D,1\nA,E,3\nA,F,0\nB,D,4\nC,D,3\nC,E,2\n"
ROUNDED = ("--scheme", "conventional:3")
COMMANDS = ("release", "bounds", "feasible", "sap", "infer", "compare")


def figure(cells, rows=(4, 1, 7, 9), columns=(5, 5, 7, 4), total=21):
    """Return a 4 x 4 table with margins as text; None is hidden."""
    lines = ["R,C,n"]
    for r, row in zip("abcd", cells, strict=True):
        lines += [f"{r},{c},{shown(n)}" for c, n in zip("efgh", row, strict=True)]
    lines += [f"{r},Total,{shown(n)}" for r, n in zip("abcd", rows, strict=True)]
    lines += [f"Total,{c},{shown(n)}" for c, n in zip("efgh", columns, strict=True)]
    return "\n".join([*lines, f"Total,Total,{shown(total)}"]) + "\n"


def shown(count):
    return "x" if count is None else count


FIGURE_4 = [[0, 3, 0, 1], [0, None, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]]
FIGURE_6 = [[0, None, 0, None], [0, None, 0, None], [4, 1, 0, 2], [1, 0, 7, 1]]


@pytest.fixture
def place(tmp_path):
    write(tmp_path, "people.csv", PEOPLE)
    write(tmp_path, "all.csv", FIGURE_18)
    write(tmp_path, "table.csv", ALONE_18)
    write(tmp_path, "truth.csv", TRUTH_17)
    return tmp_path


def told(run, *arguments):
    done = run("tables", *arguments, "--format", "json")
    assert done.exit_code == 0, done.err
    return json.loads(done.out)


def limits(document):
    return [[row["lower"], row["upper"]] for row in document["rows"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    done = run("tables", command, "--help")
    assert done.exit_code == 0
    assert "Examples" in done.out
    assert f"gamekeeper tables {command} " in done.out


def test_bounds_are_the_same_in_python_at_the_prompt_and_on_the_page(run, place):
    page, rows, picture = place / "page.html", place / "rows.csv", place / "bounds.svg"
    document = told(
        run, "bounds", place / "all.csv", *ROUNDED, "--report", page, "-o", rows, "--plot", picture
    )
    release = gk.read_counts(place / "all.csv", scheme="conventional:3")
    found = gk.bound_cells(release)
    assert document["rows"] == found.to_arrow().to_pylist()
    assert document["summary"] == found.summary()
    assert document["sentences"] == found.sentences()
    assert document["provenance"]["fingerprint"] == release.fingerprint
    with rows.open(encoding="utf-8", newline="") as file:
        assert [int(row["upper"]) for row in csv.DictReader(file)] == found.upper.reshape(
            -1
        ).tolist()
    shown_page = page.read_text(encoding="utf-8")
    for sentence in found.sentences():
        assert sentence in shown_page
    assert gk.infer_attributions(release).sentences()[0] in shown_page
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_figures_4_to_6_of_the_thesis(run, place):
    file = place / "figure.csv"
    file.write_text(figure(FIGURE_4), encoding="utf-8")
    document = told(run, "bounds", file)
    assert document["summary"]["known_exactly"] == 16
    assert limits(document)[5] == [1, 1]
    file.write_text(figure(FIGURE_4, (4, None, 7, 9), (5, None, 7, 4), None), encoding="utf-8")
    document = told(run, "bounds", file)
    assert limits(document)[5] == [0, None]
    assert told(run, "feasible", file)["summary"]["endless"]
    file.write_text(figure(FIGURE_6), encoding="utf-8")
    document = told(run, "bounds", file)
    assert limits(document)[:8] == [
        [0, 0], [3, 4], [0, 0], [0, 1], [0, 0], [0, 1], [0, 0], [0, 1],
    ]  # fmt: skip
    document = told(run, "feasible", file, "--list", "2")
    assert document["summary"]["tables"] == 2
    assert [table[:2] for table in document["parts"]["tables"]] == [
        [[0, 3, 0, 1], [0, 1, 0, 0]], [[0, 4, 0, 0], [0, 0, 0, 1]],
    ]  # fmt: skip


def test_figures_18_to_22_of_the_thesis(run, place):
    alone = told(run, "bounds", place / "table.csv", *ROUNDED)
    assert limits(alone) == [
        [0, 1], [2, 4], [0, 1], [2, 4], [0, 1], [0, 1], [2, 4], [2, 4], [0, 1],
    ]  # fmt: skip
    assert told(run, "feasible", place / "table.csv", *ROUNDED)["summary"]["tables"] == 2592
    tight = [[0, 1], [2, 3], [0, 0], [3, 4], [0, 1], [0, 0], [3, 4], [2, 3], [0, 0]]
    for method in ("auto", "integer", "shuttle"):
        document = told(run, "bounds", place / "all.csv", *ROUNDED, "--method", method)
        assert limits(document) == tight
        assert document["summary"]["tight"] == 9
    document = told(run, "feasible", place / "all.csv", *ROUNDED, "--list", "9")
    assert len(document["parts"]["tables"]) == document["summary"]["tables"] == 7
    truth = ("--truth", place / "truth.csv")
    document = told(run, "sap", place / "table.csv", *ROUNDED, *truth)
    assert [row["exact"] for row in document["rows"]] == [
        "0", "1/13", "2/13", "3/13", "17/55", "503/1287", "205/429", "245/429", "862/1287",
        "551/715", "124/143", "37/39", "1", "1",
    ]  # fmt: skip
    document = told(run, "sap", place / "all.csv", *ROUNDED, *truth, "-n", "0-3")
    assert [row["exact"] for row in document["rows"]] == ["1"] * 4
    document = told(run, "infer", place / "all.csv", *ROUNDED)
    assert "Nobody has VAR2 F (13 people)." in document["sentences"]


def test_figure_23_of_the_thesis(run, place):
    table = write(place, "figure.csv", "Gender,n\nf,5\nm,5\nTotal,0\n")
    truth = write(place, "true.csv", "Gender,n\nm,1\nf,3\n")
    options = (table, "--scheme", "random:5")
    assert limits(told(run, "bounds", *options)) == [[1, 3], [1, 3]]
    assert told(run, "feasible", *options)["summary"]["tables"] == 6
    document = told(run, "sap", *options, "--truth", truth, "-n", "0-4,9,1000")
    assert [row["exact"] for row in document["rows"]] == ["0", "0", "0", "1/4", "1", "1", "1"]


def test_recoded_bounds(run, place):
    options = ("--keep", "VAR1,VAR2", "--group", "VAR1:A or B=A|B;C=C")
    document = told(run, "bounds", place / "all.csv", *ROUNDED, *options)
    release = gk.read_counts(place / "all.csv", scheme="conventional:3")
    found = gk.tables.bound_recoded(release, {"VAR1": {"A or B": ["A", "B"], "C": ["C"]}})
    assert document["rows"] == found.to_arrow().to_pylist()
    document = told(run, "bounds", place / "all.csv", *ROUNDED, "--keep", "VAR1")
    # The seven feasible tables of the thesis, by rows.
    assert limits(document) == [[2, 4], [3, 4], [5, 7]]


@pytest.mark.slow
def test_sap_is_the_same_in_python_at_the_prompt_and_on_the_page(run, place):
    page, picture, rows = place / "sap.html", place / "sap.png", place / "sap.csv"
    document = told(
        run, "sap", place / "table.csv", *ROUNDED, "--truth", place / "truth.csv", "-n", "0-13",
        "--at", "3", "--report", page, "--plot", picture, "-o", rows,
    )  # fmt: skip
    release = gk.read_counts(place / "table.csv", scheme="conventional:3")
    truth = gk.CountTable(release.axes, np.array([[1, 3, 0], [4, 0, 0], [3, 2, 0]]))
    found = gk.subtract_known(release, truth, n=range(14), at=3)
    assert document["rows"] == found.to_arrow().to_pylist()
    assert document["summary"] == found.summary()
    assert document["parts"]["where"]["rows"] == found.detail.to_arrow().to_pylist()
    assert document["parts"]["numbers_of_zeros"] == found.distribution.tolist()
    shown_page = page.read_text(encoding="utf-8")
    for sentence in found.sentences():
        assert sentence in shown_page
    for row in document["rows"]:
        assert f'data-value="{row["sap"]!r}"' in shown_page
    assert picture.stat().st_size > 0
    assert rows.read_text(encoding="utf-8").count("\n") == 15


def test_inferences_are_the_same_in_python_at_the_prompt_and_on_the_page(run, place):
    page = place / "infer.html"
    document = told(run, "infer", place / "all.csv", *ROUNDED, "--report", page)
    found = gk.infer_attributions(gk.read_counts(place / "all.csv", scheme="conventional:3"))
    assert document["rows"] == found.to_arrow().to_pylist()
    assert document["summary"] == found.summary()
    shown_page = page.read_text(encoding="utf-8")
    for row in document["rows"]:
        assert row["statement"] in shown_page
    one = told(run, "infer", place / "all.csv", *ROUNDED, "--about", "VAR2", "--conditions", "0")
    assert {row["about"] for row in one["rows"]} == {"VAR2"}


def test_schemes_are_compared(run, place):
    picture, rows = place / "schemes.svg", place / "schemes.csv"
    options = ("--tables", "30", "-n", "0-6", "--seed", "5", "--plot", picture, "-o", rows)
    document = told(run, "compare", "conventional:5", "random:3", *options)
    found = gk.tables.compare_schemes(["conventional:5", "random:3"], tables=30, n=range(7), seed=5)
    assert document["rows"] == found.to_arrow().to_pylist()
    assert document["summary"] == found.summary()
    assert "conventional:5" in picture.read_text(encoding="utf-8")
    assert rows.read_text(encoding="utf-8").count("\n") == 15
    margins = ("--margin", "1,2", "--margin", "2", "--margin", "")
    document = told(
        run, "compare", "random:3", "--shape", "2x2", *margins, "--tables", "4", "-n", "2"
    )
    found = gk.tables.compare_schemes(
        ["random:3"], shape=(2, 2), margins=[(0, 1), (1,), ()], tables=4, n=[2]
    )
    assert document["rows"] == found.to_arrow().to_pylist()


def test_a_release_of_microdata_goes_round(run, place):
    file = place / "release.json"
    margins = ("--margin", "Age,Work", "--margin", "Area", "--margin", "")
    done = run(
        "tables", "release", place / "people.csv", "-k", KEYS, *margins, "--scheme", "random:3",
        "--seed", "4", "--title", "A town", "--truth", "-o", file,
    )  # fmt: skip
    assert done.exit_code == 0, done.err
    assert "Counted 10 records by Area, Age, Work: 2 x 2 x 2 cells." in done.out
    assert "never publish it" in done.out
    release, truth = read_release_and_truth(file)
    assert release.title == "A town"
    assert truth.dense().tolist() == [[[2, 0], [1, 2]], [[1, 0], [1, 3]]]
    coded = gk.code_source(gk.open_source(place / "people.csv"), KEYS.split(","))
    made = gk.make_release(
        gk.tabulate(coded, KEYS.split(",")), [("Age", "Work"), ("Area",), ()], "random:3", seed=4
    )
    assert release.fingerprint == made.fingerprint
    document = told(run, "bounds", file)
    found = gk.bound_cells(made)
    assert document["rows"] == found.to_arrow().to_pylist()
    assert np.all(found.lower <= truth.dense())
    assert np.all(truth.dense() <= found.upper)
    assert told(run, "sap", file)["rows"] == gk.subtract_known(made, truth).to_arrow().to_pylist()


def test_a_release_without_the_truth(run, place):
    file = place / "release.json"
    done = run("tables", "release", place / "people.csv", "-k", "Age,Work", "-o", file)
    assert "never publish it" not in done.out
    assert json.loads(file.read_text(encoding="utf-8"))["truth"] is None
    done = run("tables", "sap", file)
    assert done.exit_code == 2
    assert "--truth" in done.err


def test_areas_within_a_release(run, place):
    file, rows, picture = place / "release.json", place / "areas.csv", place / "areas.svg"
    run("tables", "release", place / "people.csv", "-k", KEYS, *ROUNDED, "--truth", "-o", file)
    release, truth = read_release_and_truth(file)
    options = ("sap", file, "--within", "Area", "-n", "1,2", "-o", rows, "--plot", picture)
    document = told(run, *options)
    found = gk.tables.subtract_within(release, truth, ["Area"], n=[1, 2])
    assert document["rows"] == found.to_arrow().to_pylist()
    assert rows.read_text(encoding="utf-8").count("\n") == 3
    document = told(run, *options, "--anywhere", "--replace")
    found = gk.tables.subtract_within(release, truth, ["Area"], n=[1, 2], own_people=False)
    assert document["rows"] == found.to_arrow().to_pylist()
    assert "of the whole population" in document["sentences"][1]


def test_several_files_are_one_release(run, place):
    columns = write(place, "columns.csv", "VAR2,n\nF,0\nD,9\nE,6\n")
    rows = write(place, "rows.csv", "n,VAR1\n3,B\n6,C\n3,A\n")
    total = write(place, "total.csv", "VAR1,VAR2,n\n" + "Total,Total,12\n")
    files = [place / "table.csv", columns, rows]
    document = told(run, "bounds", *files, *ROUNDED)
    assert document["provenance"]["parameters"]["published"] == "3"
    joined = gk.data.join_releases(
        [gk.read_counts(file, scheme="conventional:3") for file in files]
    )
    assert document["rows"] == gk.bound_cells(joined).to_arrow().to_pylist()
    done = run("tables", "bounds", *files, total, *ROUNDED)
    assert done.exit_code == 2
    assert "has no categories" in done.err


def test_what_people_read(run, place):
    done = run("tables", "bounds", place / "all.csv", *ROUNDED, "--top", "2")
    assert done.exit_code == 0
    for words in ("Of 9 cells, 3 can be worked out exactly, and 3 are certainly empty.",
                  "6 cells have 2 possible counts each.", "known best"):  # fmt: skip
        assert words in done.out
    done = run("tables", "infer", place / "all.csv", *ROUNDED, "--top", "1")
    assert "  1. Nobody has VAR2 F (13 people)." in done.out
    assert "  2. " not in done.out
    done = run("tables", "feasible", place / "all.csv", *ROUNDED, "--list", "7")
    assert "Table 7: [[1, 3, 0], [4, 0, 0], [3, 2, 0]]" in done.out
    assert "p zero error" not in done.out
    done = run("tables", "sap", place / "table.csv", *ROUNDED, "--truth", place / "truth.csv")
    assert "Somebody who knows 1 person at random recovers a zero with" in done.out
    assert "1/13" in done.out
    assert "lower" not in done.out
    done = run("tables", "compare", "exact", "--tables", "3", "-n", "1")
    assert "Knowing 1 person, a zero is recovered with a mean probability of: exact" in done.out


BAD_COUNTS = "age,n\nyoung,-3\nmiddle,2.5\nold,4\n"
CONTRADICTION = "sex,work,n\nf,yes,3\nf,no,0\nm,yes,3\nm,no,3\nf,Total,9\nm,Total,6\n"
SUMS = "code,n\nA,5\nA01,3\nA02,*\n"
BAD = {
    "counts below 0 and not whole": (
        BAD_COUNTS, (), "bad-count",
        ("1 cell below 0 (record 1)", "1 cell with a number that is not whole (record 2)"),
    ),
    "margins that contradict each other": (
        CONTRADICTION, (), "conflicting-counts",
        ("sex=f, work=yes: published 3", "sex=f, work=no: published 0", "sex=f: published 9"),
    ),
    "labels that may be sums of others": (
        SUMS, (), "possible-subtotals",
        ("bad.csv", "axis 'code': 'A' may hold, by its code, 'A01', 'A02'.", "--disjoint"),
    ),
    "an axis that is said to be disjoint and is not there": (
        SUMS, ("--disjoint", "kode"), "unknown-name", ("axis 'kode'", "'code'"),
    ),
    "a count that its scheme never gives": (
        FIGURE_18.replace("B,D,3", "B,D,4"), ROUNDED, "impossible-count",
        ("VAR1=B, VAR2=D", "the published count 4 cannot come from 'conventional:3'"),
    ),
    "an even base without a rule for ties": (
        FIGURE_18, ("--scheme", "conventional:4"), "bad-option", ("conventional:4",),
    ),
    "an unknown scheme": (FIGURE_18, ("--scheme", "rounding:4"), "unknown-name", ("rounding",)),
    "cells without a row": (
        FIGURE_18.replace("B,D,3\n", ""), ROUNDED, "nothing-given", ("VAR1=B, VAR2=D", "'zero'"),
    ),
    "a cell twice": (FIGURE_18 + "A,D,0\n", ROUNDED, "duplicate", ("record 17",)),
    "a truth with other axes": (
        FIGURE_18, (*ROUNDED, "--truth", "{place}/other.csv"), "wrong-schema",
        ("axis 'VAR2'", "axis 'VAR3'"),
    ),
    "a truth that cannot be": (
        FIGURE_18, (*ROUNDED, "--truth", "{place}/wrong.csv"), "conflicting-counts",
        ("table 'VAR1 by VAR2'",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_error_with_a_witness(run, place, case):
    text, options, reason, witnesses = BAD[case]
    file = write(place, "bad.csv", text)
    write(place, "other.csv", "VAR1,VAR3,n\nA,D,1\n")
    write(place, "wrong.csv", TRUTH_17.replace("B,D,4", "B,D,9"))
    options = [str(option).format(place=place) for option in options]
    for command in ("bounds", "feasible", "infer"):
        done = run("tables", command, file, *options)
        assert done.exit_code == 2
        assert done.out == ""
        assert done.err.startswith("gamekeeper: ")
        assert "Traceback" not in done.err
        for witness in witnesses:
            assert witness in " ".join(done.err.split()), done.err
    with pytest.raises(gk.InputError) as caught:
        typer.main.get_command(app)(
            ["tables", "bounds", str(file), *options], standalone_mode=False
        )
    assert caught.value.reason == reason


def test_labels_that_may_be_sums_are_asked_about_and_the_answers_are_taken(run, place):
    file = write(place, "codes.csv", SUMS)
    truth = write(place, "true_codes.csv", SUMS.replace("*", "2"))
    for command in (("bounds",), ("infer",), ("feasible",), ("sap", "--truth", truth)):
        done = run("tables", command[0], file, *command[1:])
        assert (done.exit_code, done.out) == (2, "")
        assert "[possible-subtotals]" in done.err
    done = run("tables", "bounds", file, "--total", "A")
    assert "Of 2 cells, 2 can be worked out exactly" in done.out
    done = run("tables", "bounds", file, "--disjoint", "code", "--format", "json")
    assert json.loads(done.out)["provenance"]["parameters"]["disjoint"] == "code"
    done = run("tables", "bounds", file, "--disjoint", "code", "--report", place / "said.html")
    assert "said to be disjoint" in (place / "said.html").read_text(encoding="utf-8")
    release = place / "codes.json"
    gk.data.write_release(gk.read_counts(file, disjoint=["code"]), release)
    assert run("tables", "bounds", release).exit_code == 0
    text = release.read_text(encoding="utf-8").replace('"disjoint": ["code"],', "")
    release.write_text(text, encoding="utf-8")
    assert "[possible-subtotals]" in run("tables", "bounds", release).err
    assert run("tables", "bounds", release, "--disjoint", "code").exit_code == 0


def test_totals_of_several_names(run, place):
    file = write(place, "named.csv", "sex,age,n\nf,a,3\nf,b,*\nm,a,1\nm,b,2\nBoth,a,4\nBoth,b,7\n"
                                     "f,All ages,8\nm,All ages,3\nBoth,All ages,11\n")  # fmt: skip
    assert (
        "axis 'age': 'All ages' reads like a sum of the others."
        in run("tables", "bounds", file).err
    )
    done = run("tables", "bounds", file, "--total", "All ages", "--total", "both")
    assert "Of 4 cells, 4 can be worked out exactly" in done.out


def test_several_files_are_asked_about_together(run, place):
    one = write(place, "one.csv", "code,sex,n\nA,f,5\nA1,f,3\nA2,f,4\nA,m,9\nA1,m,2\nA2,m,1\n")
    two = write(place, "two.csv", "code,n\nA,14\nA1,5\nA2,5\n")
    assert "[possible-subtotals]" in run("tables", "bounds", two).err
    assert run("tables", "bounds", one, two).exit_code == 0
    done = run("tables", "bounds", two, write(place, "three.csv", "sex,n\nf,12\nm,12\n"))
    assert "[possible-subtotals]" in done.err
    assert run("tables", "bounds", two, place / "three.csv", "--disjoint", "code").exit_code == 0


def test_tables_of_records_are_never_asked_about(run, place, monkeypatch):
    monkeypatch.chdir(place)
    write(place, "cases.csv", "code,sex\n" + "A,f\n" * 5 + "A01,m\n" * 3 + "A02,f\n" * 2)
    assert (
        run("tables", "release", "cases.csv", "-k", "code,sex", "-o", "cases.json").exit_code == 0
    )
    assert run("tables", "bounds", "cases.json").exit_code == 0


def test_what_may_be_wrong_with_the_records_is_said_before_they_are_published(
    run, place, monkeypatch
):
    monkeypatch.chdir(place)
    write(place, "cases.csv", "age,sex\n" + "young,f\n" * 20 + "NA,m\n" * 15 + "old,f\n" * 20)
    done = run("tables", "release", "cases.csv", "-k", "age,sex", "-o", "cases.json")
    assert done.exit_code == 0
    assert done.out.startswith("! ")
    assert "'NA'" in done.out.splitlines()[0]


def test_a_contradiction_is_irreducible(run, place):
    file = write(place, "bad.csv", CONTRADICTION)
    done = run("tables", "bounds", file)
    assert done.err.count("published ") - done.err.count("published counts contradict") == 3
    assert "sex=m" not in done.err


def test_axes_that_do_not_match(run, place):
    other = write(place, "other.csv", "VAR2,n\nF,0\nD,9\nG,6\n")
    done = run("tables", "bounds", place / "table.csv", other, *ROUNDED)
    assert done.exit_code == 2
    assert "axis 'VAR2': 2 categories are not in all tables: 'E', 'G'." in done.err
    release = place / "release.json"
    gk.data.write_release(gk.read_counts(place / "table.csv"), release)
    text = release.read_text(encoding="utf-8")
    release.write_text(text.replace('"margin": ["VAR1", ', '"margin": ["VAR3", '), encoding="utf-8")
    done = run("tables", "bounds", release)
    assert done.exit_code == 2
    assert "'VAR3', which is not in the base table" in done.err


@pytest.mark.parametrize(
    ("arguments", "estimate", "option"),
    [
        (("bounds", "{all}", *ROUNDED, "--method", "shuttle", "--max-nodes", "9"), "49 sums",
         "max_nodes"),
        (("sap", "{all}", *ROUNDED, "--truth", "{truth}", "--method", "exact", "--max-samples", "2"),
         "samples to search with a limit of 2", "max_samples"),
        (("sap", "{all}", *ROUNDED, "--truth", "{truth}", "--method", "exact", "--max-bits", "2"),
         "bits with a limit of 2", "--max-bits"),
        (("infer", "{all}", *ROUNDED, "--max-combinations", "15"), "16 combinations",
         "max_combinations"),
        (("infer", "{truth}", "--absent", "zero", "--max-statements", "1"), "the limit is 1",
         "--max-statements"),
    ],
)  # fmt: skip
def test_a_search_that_would_not_end_is_refused(run, place, arguments, estimate, option):
    files = {"all": place / "all.csv", "truth": place / "truth.csv"}
    done = run("tables", *(argument.format(**files) for argument in arguments))
    assert done.exit_code == 3
    said = " ".join(done.err.split())
    assert estimate in said
    assert option in said


def rows_of(done):
    """Return how many rows of a table begin with a scheme or a number of people."""
    assert done.exit_code == 0, done.err
    rows = [line.split()[0] for line in done.out.splitlines() if line.startswith(" ")]
    return sum(first == "random:3" or first.isdecimal() for first in rows)


def test_every_number_of_people_that_is_asked_for_is_shown(run, place):
    compare = ("tables", "compare", "random:3", "--tables", "2")
    asked = run(*compare, "-n", "0-24")
    assert rows_of(asked) == 25
    assert "for each number of people known:" in asked.out
    some = run(*compare)
    assert rows_of(some) == 6
    assert "for 6 of 25 numbers of people known; -n chooses which are shown, --output has all:" in (
        " ".join(some.out.split())
    )
    assert "6 of 111 numbers of people" in run(*compare, "-n", "0-110").out
    sap = ("tables", "sap", place / "table.csv", *ROUNDED, "--truth", place / "truth.csv")
    assert rows_of(run(*sap, "-n", "0-40")) == 41
    assert rows_of(run(*sap)) == 14
    assert "15 of 202 numbers of people; -n chooses" in run(*sap, "-n", "0-201").out


def test_columns_that_are_no_axes(run, place):
    text = "area;note;n\nnorth;h\xf6her;3\nsouth;h\xf6her;*\nTotal;h\xf6her;7\n"
    (place / "notes.csv").write_bytes(text.encode("latin-1"))
    options = ("--axes", "area", "--encoding", "latin-1", "--delimiter", ";")
    document = told(run, "bounds", place / "notes.csv", *options)
    assert [row["upper"] for row in document["rows"]] == [3, 4]
    done = run("tables", "bounds", place / "notes.csv", "--axes", "aera")
    assert done.exit_code == 2
    assert "'area'" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("bounds", "{all}", "-o", "{place}/nowhere/x.csv"),
        ("bounds", "{all}", "-o", "{place}/x.txt"),
        ("bounds", "{all}", "-o", "{all}"),
        ("bounds", "{all}", "--plot", "{place}/x.csv"),
        ("infer", "{all}", "--report", "{place}/x.pdf"),
        ("feasible", "{all}", "-o", "{place}/nowhere/x.csv"),
        ("sap", "{all}", "-o", "{place}/nowhere/x.csv"),
        ("sap", "{all}", "--within", "VAR1", "--plot", "{place}/x.csv"),
        ("release", "{people}", "-k", "Age", "-o", "{place}/x.csv"),
        ("release", "{people}", "-k", "Age", "-o", "{place}/nowhere/x.json"),
        ("compare", "exact", "--tables", "1000000000", "-o", "{place}/nowhere/x.csv"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_work(run, place, arguments):
    names = {"all": place / "all.csv", "place": place, "people": place / "people.csv"}
    before = {file: file.read_bytes() for file in place.iterdir()}
    done = run("tables", *(argument.format(**names) for argument in arguments))
    assert done.exit_code == 2
    assert "Nothing was done." in done.err
    assert {file: file.read_bytes() for file in place.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bounds",), "Missing argument"),
        (("bounds", "{place}/gone.csv"), "gone.csv"),
        (("bounds", "{all}", "{json}"), "a release of its own"),
        (("bounds", "{json}", *ROUNDED), "has the scheme of each of its tables"),
        (("bounds", "{all}", "--keep", "VAR1", "--method", "shuttle"), "for the base table"),
        (("bounds", "{all}", "--keep", "VAR1", "--report", "{place}/x.html"), "for the base table"),
        (("bounds", "{all}", "--group", "VAR1=A"), "cannot be read"),
        (("bounds", "{all}", "--keep", "VAR"), "axis 'VAR'"),
        (("bounds", "{all}", "--absent", "one"), "There is no such rule."),
        (("sap", "{all}", "-n", "1-x"), "cannot be read"),
        (("sap", "{all}"), "--truth"),
        (("sap", "{all}", "--within", "VAR1", "--report", "{place}/x.html"), "--within"),
        (("sap", "{all}", "--anywhere"), "--within"),
        (("infer", "{all}", "--about", "VAR"), "'VAR'"),
        (("feasible", "{all}", "--prior", "flat"), "There is no such prior."),
        (("compare", "exact", "--shape", "2by6"), "Write it as 2x6."),
        (("compare", "exact", "--margin", "1,3"), "axes 1 to 2"),
        (("compare", "exact", "--margin", "x"), "axes 1 to 2"),
        (("compare",), "Missing argument"),
        (("release", "{people}", "-k", "Age", "--margin", "Wrok"), "'Wrok'"),
        (("release", "{people}", "-k", "Age", "--scheme", "exact", "--scheme", "random:3"),
         "2 schemes were given"),
        (("release", "{people}", "-k", "Age", "--scheme", "conventional:4"), "conventional:4"),
        (("release", "{people}", "-k", "Age", "--missing", "wildcard"), "one cell of a table"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for(run, place, arguments, said, monkeypatch):
    monkeypatch.chdir(place)
    json_file = place / "given.json"
    gk.data.write_release(gk.read_counts(place / "table.csv"), json_file)
    names = {
        "all": place / "all.csv", "place": place, "people": place / "people.csv", "json": json_file,
    }  # fmt: skip
    done = run("tables", *(argument.format(**names) for argument in arguments))
    assert done.exit_code == 2
    assert said in " ".join(done.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sap", "all.csv", "-n", "0-9000000"), "the limit is 1,000,000"),
        (("compare", "exact", "--shape", "900x900x900"), "Take fewer tables"),
    ],
)
def test_what_is_too_large(run, place, arguments, said, monkeypatch):
    monkeypatch.chdir(place)
    done = run("tables", *arguments)
    assert done.exit_code == 3
    assert said in " ".join(done.err.split())


def test_a_suppression_that_every_reader_can_undo_is_refused_and_fails_its_rule(run, place):
    figure_4 = ("release", place / "people.csv", "-k", "Age,Work", "--scheme", "suppressed:3")
    margins = [part for own in ("Age,Work", "Age", "Work", "") for part in ("--margin", own)]
    output = place / "own.json"
    done = run("tables", *figure_4, *margins, "-o", output)
    assert done.exit_code == 2
    assert "1 of 1 hidden cell can be recomputed" in " ".join(done.err.split())
    assert not output.exists()
    done = run(
        "tables", *figure_4, *margins, "-o", output, "--even-if-recomputed", "--format", "json"
    )
    assert done.exit_code == 0
    assert json.loads(done.out)["notices"] == [
        "1 of 1 hidden cell can be recomputed from what is published."
    ]
    for command in ("bounds", "audit"):
        assert run("tables", command, output).exit_code == 0
        done = run("tables", command, output, "--rule", "exact")
        assert done.exit_code == 4
        assert (
            "Rule exact is broken (no hidden cell can be recomputed): 1 cell breaks it." in done.out
        )
    done = run("tables", *figure_4, "-o", output, "--replace")
    assert done.exit_code == 0
    assert run("tables", "bounds", output, "--rule", "exact").exit_code == 0
    assert run("tables", "bounds", output, "--rule", "exakt").exit_code == 2


def test_rounded_subtotals_are_answered_by_both_questions(run, place):
    rows = ("N1,5,15", "N2,10,5", "North,15,20", "S1,20,5", "S2,15,10", "South,35,15")
    lines = [f"{n},young,{a}\n{n},old,{b}\n" for n, a, b in (row.split(",") for row in rows)]
    file = write(place, "rounded.csv", "Area,Age,n\n" + "".join(lines))
    tree = write(place, "areas.csv", "Area,parent\nN1,North\nN2,North\nS1,South\nS2,South\n")
    done = run("tables", "audit", file, "--hierarchy", f"Area={tree}", "--rule", "exact")
    assert done.exit_code == 4
    assert "all 12 published counts are multiples of 5" in done.out
    done = run("tables", "bounds", file, "--scheme", "conventional:5")
    assert "'North' could be the sum of 'N1', 'N2'" in done.out
    assert "tables audit" not in done.out
    assert "--hierarchy of tables bounds" in " ".join(done.out.split())
    told = ("--scheme", "conventional:5", "--hierarchy", f"Area={tree}", "--rule", "exact")
    for command in ("bounds", "audit"):
        done = run("tables", command, file, *told)
        assert done.exit_code == 0, done.out
        assert "Rule exact is met" in done.out
    total = write(place, "codes.csv", "Area,n\nA,50\nA1,25\nA2,*\n")
    done = run("tables", "bounds", total, "--scheme", "conventional:5")
    assert done.exit_code == 2
    assert "tables audit" not in done.err
    assert "--hierarchy" in done.err
    done = run(
        "tables", "bounds", total, "--scheme", "conventional:5", "--hierarchy", "codes=codes"
    )
    assert done.exit_code == 2
    assert "'codes'" in done.err
    done = run("tables", "bounds", total, "--scheme", "conventional:5", "--hierarchy", "Area=codes")
    assert done.exit_code == 0
    assert "1 label is taken as a sum" in " ".join(done.out.split())


def test_tables_under_schemes_of_their_own_are_put_together_by_both_questions(run, place):
    one = "Region,Age,n\nNorth,young,4\nNorth,old,*\nSouth,young,3\nSouth,old,8\nNorth,Total,9\n"
    one += "South,Total,11\nTotal,young,7\nTotal,old,13\nTotal,Total,20\n"
    first = write(place, "one.csv", one)
    two = "Region,Sex,n\nNorth,f,3\nNorth,m,6\nSouth,f,6\nSouth,m,6\n"
    second = write(place, "two.csv", two)
    page = place / "page.html"
    told = ("--scheme", "exact", "--scheme", "conventional:3", "--disjoint", "Region,Age,Sex")
    done = run("tables", "audit", first, second, *told, "--rule", "exact", "--report", page)
    assert done.exit_code == 4
    assert "1 of 5 hidden or perturbed cells can be recomputed" in done.out
    assert "≈ 3" in page.read_text(encoding="utf-8")
    tree = write(place, "r.csv", "code,parent\nNorth,\nSouth,\n")
    known = ("--hierarchy", f"Region={tree}")
    page.unlink()
    done = run("tables", "bounds", first, second, *told, *known, "--top", "0", "--report", page)
    assert done.exit_code == 0
    assert "Of 13 cells, 9 can be worked out exactly" in done.out
    assert "8 finest cells that no table has were not bounded." in done.out
    assert "published" in page.read_text(encoding="utf-8")
    done = run("tables", "bounds", first, second, *told[:4], "--format", "json")
    ends = {(row["Region"], row["Age"], row["Sex"]): (row["lower"], row["upper"])
            for row in json.loads(done.out)["rows"]}  # fmt: skip
    assert ends["South", "young", "f"] == (0, 3)
    done = run("tables", "audit", first, second, *told[:2], *told[:2], *told[:2])
    assert done.exit_code == 2
    assert "3 schemes were given" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--keep", "x"), "Leave out --group, --keep and --truth"),
        (("--method", "integer"), "are for tables without subtotals"),
    ],
)
def test_what_values_are_not_bounded_by_is_refused(run, place, options, said):
    file = write(place, "values.csv", "x,value\nTotal,100\nA,70\nB,30\n")
    scheme = ("--value", "value", "--scheme", "conventional:10:up")
    done = run("tables", "bounds", file, *scheme, *options)
    assert done.exit_code == 2
    assert said in " ".join(done.err.split())
    done = run("tables", "bounds", file, *scheme, "--format", "json")
    rows = {row["x"]: (row["lower"], row["upper"]) for row in json.loads(done.out)["rows"]}
    assert rows == {"Total": (95, 105), "A": (65, 75), "B": (25, 35)}


def test_subtotals_of_a_release_are_answered_by_a_hierarchy(run, place):
    made = {
        "format": "gamekeeper-release",
        "version": 1,
        "axes": [{"name": "Code", "categories": ["A", "A01", "A02", "B"]}],
        "published": [{"margin": ["Code"], "scheme": "conventional:3", "counts": [9, 3, None, 6]}],
    }
    file = write(place, "codes.json", json.dumps(made))
    for command in ("bounds", "audit"):
        done = run("tables", command, file)
        assert done.exit_code == 2
        assert "possible-subtotals" in done.err
        done = run("tables", command, file, "--hierarchy", "Code=codes", "--format", "json")
        rows = {row["Code"]: (row["lower"], row["upper"]) for row in json.loads(done.out)["rows"]}
        assert rows["A02"] == (4, 8)
        assert rows["A"] == (8, 10)
