from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import gamekeeper as gk
from tests.given.categorizations import crossing_environment


def test_map_prints_a_table_for_people(run, folder):
    told = run("map", folder, "Census", "-g", "Commercial", "-p", "1", "--no-strict")
    assert told.exit_code == 0
    assert told.err == ""
    assert "at least 2 of them must be matched (prevalence 1)" in told.out
    assert "H2.001" in told.out
    assert "0-64; 65+" in told.out


@pytest.mark.parametrize("how", ["json", "csv"])
def test_map_prints_what_the_library_finds(run, folder, environment, how):
    told = run("map", folder, "Census", "-p", "50%", "--no-strict", "--format", how)
    expected = gk.map_key_variables(environment, "Census", prevalence="1/2", strict=False)
    if how == "json":
        document = json.loads(told.out)
        rows = document["rows"]
        assert document["summary"] == expected.summary()
        assert document["provenance"]["parameters"]["prevalence"] == "1/2"
        assert document["provenance"]["fingerprint"] == expected.provenance.fingerprint
    else:
        rows = list(csv.DictReader(io.StringIO(told.out)))
    assert told.exit_code == 0
    assert [row["variable"] for row in rows] == [item.variable for item in expected.variables]
    assert [row["code"] or None for row in rows] == [
        item.codes[0] if item.codes else None for item in expected.variables
    ]
    assert [row["area_exact"] for row in rows] == [str(item.area) for item in expected.variables]


def test_strict_names_the_forms_and_what_is_wrong(run, folder):
    told = run("map", folder, "Census")
    assert told.exit_code == 0
    assert "! Tenure: inconsistent categorizations: 'Landlord' misses 'owns'" in told.out
    assert "outside this form's universe" in told.out


def test_not_strict_sets_aside_with_a_warning(run, folder):
    told = run("map", folder, "Census", "--no-strict")
    assert "! 'Tenure': 1 form set aside" in told.out
    assert "inconsistent categorizations: 'Landlord'" not in told.out


@pytest.mark.parametrize("how", ["json", "csv"])
def test_notes_never_mix_with_what_is_piped(run, folder, how):
    told = run("map", folder, "Census", "--no-strict", "--format", how)
    assert "! 'Tenure': 1 form set aside" in told.err
    assert "! " not in told.out
    faults = run("check", folder, "--format", how)
    assert faults.exit_code == 2
    assert "! Tenure on 'Landlord' misses 'owns'" in faults.err


def test_both_rules_of_a_prevalence_are_said(run, folder):
    told = run("map", folder, "Census", "-p", "2/5", "--no-strict")
    assert "2 of them must have a variable, and 1 must be matched" in told.out


def test_nothing_is_written_when_one_destination_is_wrong(run, folder, tmp_path):
    report = tmp_path / "r.html"
    told = run("map", folder, "Census", "--report", report, "--plot", tmp_path / "p.gif")
    assert told.exit_code == 2
    assert not report.exists()


def test_curves_are_exact(run, folder):
    told = run("map", folder, "Census", "--no-strict", "--curves", "--format", "json")
    steps = [row for row in json.loads(told.out)["rows"] if row["variable"] == "Age"]
    assert [(row["from_prevalence"], row["to_prevalence"], row["categories"]) for row in steps] == [
        ("0", "3/4", 4),
        ("3/4", "3/4", 2),
    ]


def test_levels_bound_arbitrary_precision(run, folder):
    unbounded = run("map", folder, "Census", "-a", "Clinic", "--no-strict", "--format", "json")
    rows = {row["variable"]: row for row in json.loads(unbounded.out)["rows"]}
    assert rows["Sex"]["categories"] == 2.0
    assert rows["Age"]["categories"] == 4.0


def test_report_and_plot_are_written(run, folder, tmp_path):
    report, plot = tmp_path / "r.html", tmp_path / "curves.svg"
    told = run("map", folder, "Census", "--no-strict", "--report", report, "--plot", plot)
    assert told.exit_code == 0
    assert "Census" in report.read_text(encoding="utf-8")
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_graph_lists_codes_and_draws(run, folder, tmp_path):
    picture = tmp_path / "age.svg"
    told = run("graph", folder, "Age", "-o", picture)
    assert told.exit_code == 0
    assert "C0.001" in told.out
    assert "H2.001" in picture.read_text(encoding="utf-8")


def test_graph_looks_up_a_harmonization(run, folder):
    told = run("graph", folder, "Age", "-c", "C3.001", "-c", "C4.001", "--format", "json")
    assert [row["code"] for row in json.loads(told.out)["rows"]] == ["H2.001"]


def test_graph_of_categories(run, folder, tmp_path):
    picture = tmp_path / "tenure.png"
    told = run(
        "graph", folder, "Tenure", "--kind", "partition", "--form", "Census", "-o", picture,
        "--format", "csv",
    )  # fmt: skip
    assert told.exit_code == 0
    assert "rents,2,private; social" in told.out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_graph_of_a_single_file(run, tmp_path):
    file = tmp_path / "residence.json"
    file.write_text('{"nodes": ["UK", "England"], "edges": [["UK", "England"]]}', encoding="utf-8")
    told = run("check", file)
    assert told.exit_code == 0
    assert "categories 2" in told.out


def test_check_lists_faults_and_says_so_by_its_exit_code(run, folder):
    told = run("check", folder)
    assert told.exit_code == 2
    assert "! Tenure on 'Landlord' misses 'owns'" in told.out
    document = json.loads(run("check", folder, "--format", "json").out)
    assert [(item["variable"], item["form"]) for item in document["parts"]["faults"]["rows"]] == [
        ("Tenure", "Landlord")
    ]


def test_check_assigns_codes_that_stay(run, folder):
    run("check", folder, "--assign")
    first = json.loads(run("graph", folder, "Age", "--format", "json").out)["rows"]
    (folder / "forms" / "aaa.json").write_text(
        json.dumps({"name": "Aaa", "variables": {"Age": ["0-17", "18-24", "25-64", "65+"]}}),
        encoding="utf-8",
    )
    later = json.loads(run("graph", folder, "Age", "--format", "json").out)["rows"]
    meaning = {row["code"]: row["in_words"] for row in later}
    assert all(meaning[row["code"]] == row["in_words"] for row in first)
    assert len(later) > len(first)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("map", "FOLDER", "Cencus"), "Near to it: 'Census'"),
        (("map", "FOLDER", "Census", "-g", "Comercial"), "Near to it: 'Commercial'"),
        (("map", "FOLDER", "Census", "-a", "Bnak"), "Near to it: 'Bank'"),
        (("map", "FOLDER", "Census", "-p", "1.5"), "A prevalence is a share"),
        (("map", "FOLDER", "Census", "-p", "half"), "A prevalence is a share"),
        (("map", "FOLDER", "Census", "--mode", "specific"), "exactly one form and no group"),
        (("map", "FOLDER", "Census", "-g", "Care", "--mode", "multiple"), "two groups or more"),
        (("map", "FOLDER", "Census", "--levels", "0"), "equal to 1"),
        (("map", "FOLDER/nowhere", "Census"), "nowhere"),
        (("graph", "FOLDER", "Aeg"), "Near to it: 'Age'"),
        (("graph", "FOLDER"), "No variable was named"),
        (("graph", "FOLDER", "Age", "-c", "C9.009"), "no such code"),
        (("graph", "FOLDER", "Age", "-o", "FOLDER/age.gif"), ".svg"),
        (("graph", "FOLDER", "Age", "-o", "FOLDER/age.svg"), "lies within what is to be read"),
        (("graph", "FOLDER", "Age", "-o", "nowhere/age.svg"), "folder that does not exist"),
        (("graph", "FOLDER", "Age", "--form", "Bank"), "goes with the graph of categories"),
        (("graph", "FOLDER", "Age", "--kind", "partition", "-c", "C2.001"), "graph of codes"),
        (("map", "FOLDER", "Census", "--report", "FOLDER/environment.json"), ".html"),
        (("map", "FOLDER", "Cencus", "-p", "2", "-a", "Bnak"), "has 3 faults"),
        (("map", "FOLDER", "Census", "--format", "xml"), "xml"),
        (("nonsense",), "nonsense"),
    ],
)
def test_bad_input_gets_one_clear_error(run, folder, arguments, said):
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    told = run(*(argument.replace("FOLDER", str(folder)) for argument in arguments))
    assert told.exit_code == 2
    assert said in told.err
    assert "Traceback" not in told.err
    assert told.out == ""
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


def test_a_limit_has_its_own_exit_code(run, folder):
    told = run("graph", folder, "Age", "--max-nodes", "2")
    assert told.exit_code == 3
    assert "--max-nodes" in told.err


@pytest.mark.parametrize("command", ["map", "graph", "check", "demo"])
def test_help_teaches_with_examples(run, command):
    told = run(command, "--help")
    assert told.exit_code == 0
    assert f"gamekeeper {command}" in told.out
    assert "--format" in told.out


def test_output_can_be_read_back_by_the_same_words(run, folder: Path):
    table = run("map", folder, "Census", "--no-strict").out
    document = json.loads(run("map", folder, "Census", "--no-strict", "--format", "json").out)
    for row in document["rows"]:
        assert row["variable"] in table


def test_one_variable_beyond_the_limit_leaves_the_others_and_an_exit_code(run, tmp_path):
    gk.write_environment(crossing_environment(), tmp_path / "e")
    report = tmp_path / "r.html"
    asked = ["map", tmp_path / "e", "target", "--max-nodes", "1", "-p", "1/2"]
    told = run(*asked, "--report", report)
    assert told.exit_code == 3
    assert "C2.001" in told.out
    assert "! X: refused, because its 13 categorizations" in told.out
    assert "but not for 6. Raise max_nodes (--max-nodes)" in told.out
    page = report.read_text(encoding="utf-8")
    assert "too many harmonizations" in page
    assert "inconsistent." not in page
    assert "There is no result: refused" in page
    assert run(*asked[:-4], "--max-nodes", "1000", "-p", "1/2").exit_code == 0


def test_a_result_without_a_curve_is_a_result(run, tmp_path):
    gk.write_environment(crossing_environment(), tmp_path / "e")
    asked = ["map", tmp_path / "e", "target", "--max-nodes", "1"]
    told = run(*asked)
    assert told.exit_code == 0
    assert "! 'X': the area under its curve is not known" in told.out
    told = run(*asked, "--format", "json")
    assert told.exit_code == 0
    rows = {row["variable"]: row for row in json.loads(told.out)["rows"]}
    assert (rows["X"]["categories"], rows["X"]["area"], rows["Y"]["area"]) == (5, None, 2)
    told = run(*asked, "--curves", "--format", "json")
    assert told.exit_code == 0
    assert {row["variable"] for row in json.loads(told.out)["rows"]} == {"Y"}
    assert "'X': the area under its curve is not known" in told.err
